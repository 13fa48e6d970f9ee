/* SPDX-License-Identifier: MIT */
/* pair.h - the accesses of two statements whose bodies are equal, but for the
 * order of factors and terms. */
#ifndef POLY_SCHEDULE_PAIR_H
#define POLY_SCHEDULE_PAIR_H

#include "poly/loops/loops.h"

enum { PO_MOST_FLIPS = 8, PO_MOST_PAIRS = 64 };

typedef struct po_pair {
  uint32_t pattern, nest; /* accesses of the two statements */
} po_pair;

/* Pairs up what the bodies read, and what the statements write; false when the
 * bodies differ.  flips: by commutative node of the pattern, in the order they
 * are met, *n_flips of them; pairs: PO_MOST_PAIRS. */
bool po_pair_bodies(const po_stmt *pattern, const po_stmt *nest, uint32_t flips,
                    po_pair *pairs, uint32_t *n, uint32_t *n_flips);

#endif
