/* SPDX-License-Identifier: MIT */
/* fit_search.h - what is found for one compute node; private to fit.c and
 * fit_wide.c. */
#ifndef RULES_FIT_SEARCH_H
#define RULES_FIT_SEARCH_H

#include "rules/instr/fit.h"

/* In how many ways digits are joined. */
enum { FIT_WAYS = FIT_JOIN_LYING + 1 };
/* Of a space: with the digits of one element that may be padded. */
enum { FIT_ONES = 1 << 30 };

typedef struct fit_candidate {
  fit_assignment a;
  uint32_t space; /* FIT_WAYS * swaps + how digits are joined, or FIT_ONES */
  uint32_t order;
  uint32_t cut; /* 0: none, else of cuts the one before */
  rl_fit calls;
} fit_candidate;

typedef struct fitting {
  rl_guard *guard; /* NULL: nothing is added to the graph */
  const rl_compiled *rule;
  fit_match m;
  fit_space space, others[FIT_WAYS];
  uint32_t at; /* the space of what is being found */
  bool fed;    /* other calls leave the operand in its memory */
  BS_VEC(fit_candidate) all;
  BS_VEC(fit_cut) cuts;
} fitting;

/* fit.c: NULL: no meaning begins so.  Without candidates; those, cheapest
 * first; and one way to join digits, for one order of operands. */
fitting *fit_begin(rl_session *, eg_graph *, rl_guard *, const rl_compiled *,
                   eg_class root, eg_class kid, bs_value spec);
void fit_find_all(fitting *);
void fit_sort(fitting *);
bool fit_enter(fitting *, uint32_t space);
void fit_note_cut(fitting *, fit_cut *);
fit_mode fit_mode_of(const fitting *);
void fit_end(fitting *);
/* Calls that take more than this many times the least are not added. */
extern const double fit_dearest;

/* fit_wide.c: candidates that take what calls leave between zeros; false: there
 * are none.  Notes whether calls leave the operand there at all. */
bool fit_find_wide(fitting *);
/* Whether operand 0 can leave its memory only converted. */
bool fit_is_kept(const fitting *);
/* Notes what other calls leave of operand 0, where it is read, or the result
 * stored, in another order than that of the array. */
void fit_find_left(fitting *);

#endif
