/* SPDX-License-Identifier: MIT */
/* rule_words.h - sequences of words, each kept once, with a number.
 *
 * They are told apart by all of their words, never by a hash alone.
 *
 *   pv_words_open(&set);
 *   pv_words_put(heap, &set, 7);
 *   uint32_t *number = pv_words_close(heap, &set);
 */
#ifndef PROVE_WORDS_H
#define PROVE_WORDS_H

#include "base/map.h"
#include "base/vec.h"

typedef struct pv_words_row {
  uint32_t at, n;  /* in the pool */
  uint32_t number; /* BS_NO_ENTRY for a new one */
  uint32_t next;   /* of the same hash, or BS_NO_ENTRY */
} pv_words_row;

typedef struct pv_words {
  BS_VEC(uint32_t) pool;
  BS_VEC(pv_words_row) rows;
  bs_map first; /* rows, by hash */
  uint32_t open;
} pv_words;

/* Begins a sequence; one that was not closed is forgotten. */
void pv_words_open(pv_words *);
void pv_words_put(bs_heap *, pv_words *, uint32_t word);
/* The number of the sequence, to be read or set before the next one is
 * closed. */
uint32_t *pv_words_close(bs_heap *, pv_words *);
void pv_words_done(bs_heap *, pv_words *);

#endif
