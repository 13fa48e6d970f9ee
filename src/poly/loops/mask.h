/* SPDX-License-Identifier: MIT */
/* mask.h - updates that change nothing beyond an end which data tells.
 *
 *   y[i] += select(end[i] - count[k], x[i, k], 0)
 *
 * is the sum of as many elements of row i as `end` says, where the constant
 * `count` holds 0, 1, 2, ...  The statement's domain is that of the longest
 * row, which is known, so that dependences and all that follows from them are
 * right whatever the data is; code need not run what is beyond the end. */
#ifndef POLY_MASK_H
#define POLY_MASK_H

#include "poly/loops/loops.h"

typedef struct po_mask {
  uint32_t end, count; /* expressions: the end; the read of the constant */
  double first;        /* element 0 of the constant; each is one more */
} po_mask;

/* Whether the statement is such an update.  Nothing is said of what `end` and
 * the index of `count` depend on. */
bool po_mask_of(const po_program *, const po_stmt *, po_mask *out);

#endif
