/* SPDX-License-Identifier: MIT */
/* memo.h - what was computed lately of the times and accesses of statements.
 *
 * What statements have for domains, times and indices stays, from copy to copy
 * of a program, but for those that a step changed: the same few questions are
 * asked again and again.  Entries hold what they were asked of, so that an
 * object's address names it; an isl object does not change while others have
 * it.  The oldest goes when there are too many, so that what is remembered, and
 * with it how much isl has to do, depends on no address. */
#ifndef POLY_MEMO_H
#define POLY_MEMO_H

#include <isl/aff.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  PO_MEMO_ENTRIES = 2048,
  PO_MEMO_BUCKETS = 4096,
  PO_MEMO_PARTS = 48,
  PO_MEMO_WORDS = 512
};

typedef enum po_memo_question {
  PO_MEMO_VALUES,  /* of the first n functions of times: a set */
  PO_MEMO_CARRIED, /* storage.c: yes or no */
  PO_MEMO_HANDED_ON,
  PO_MEMO_FLOW, /* access.c: two relations */
  PO_MEMO_PLAN  /* kernel/contraction_memo.c: whether there is one, bytes */
} po_memo_question;

/* A statement, or an access of it; what is not asked of is NULL. */
typedef struct po_memo_part {
  isl_set *domain;
  isl_multi_aff *time;
  isl_pw_multi_aff *index;
  uint64_t how; /* whatever else matters of it */
} po_memo_part;

typedef struct po_memo_key {
  po_memo_question question;
  uint32_t number; /* whatever else matters of all */
  uint32_t n;
  bool too_long; /* it cannot be remembered */
  po_memo_part part[PO_MEMO_PARTS];
  uint32_t n_words;
  uint64_t word[PO_MEMO_WORDS]; /* numbers that matter */
} po_memo_key;

typedef struct po_memo_answer {
  isl_set *set;
  isl_union_map *map[2];
  bool yes;
  const void *bytes; /* n_bytes of them, or NULL; copied */
  size_t n_bytes;
} po_memo_answer;

typedef struct po_memo {
  struct po_memo_entry *bucket[PO_MEMO_BUCKETS];
  struct po_memo_entry *oldest, *newest;
  uint32_t n;
} po_memo;

/* Starts a key, and adds to it. */
void po_memo_ask(po_memo_key *, po_memo_question, uint32_t number);
void po_memo_of(po_memo_key *, isl_set *domain, isl_multi_aff *time,
                isl_pw_multi_aff *index, uint64_t how);
void po_memo_word(po_memo_key *, uint64_t);
/* What was put, to be copied; NULL: nothing was, or it is gone. */
const po_memo_answer *po_memo_find(const po_memo *, const po_memo_key *);
/* Takes copies. */
void po_memo_put(po_memo *, const po_memo_key *, po_memo_answer);
void po_memo_clear(po_memo *);

#endif
