/* SPDX-License-Identifier: MIT */
/* quasi.h - quasi-affine functions as numbers, to print and to evaluate.
 *
 * A function of n indices with m quotients is m + 1 rows of 1 + n + m numbers:
 * a constant, a factor of each index, a factor of each quotient.  The first
 * n_sizes of the indices are the parameters of isl's space.  Row k < m is
 * what quotient k divides, by below[k], rounding down; it names earlier ones
 * only.  The last row is the function. */
#ifndef POLY_QUASI_H
#define POLY_QUASI_H

#include "base/arena.h"
#include <assert.h>
#include <isl/aff.h>

typedef struct po_quasi {
  uint32_t n, m, n_sizes;
  int64_t *below; /* [m] */
  int64_t *rows;  /* [m + 1][1 + n + m] */
} po_quasi;

/* False when a number does not fit in 62 bits. */
bool po_quasi_make(bs_arena *, __isl_keep isl_aff *, po_quasi *out);

static inline uint32_t
po_quasi_width(const po_quasi *q) {
  return 1 + q->n + q->m;
}
static inline int64_t *
po_quasi_row(const po_quasi *q, uint32_t k) {
  assert(k <= q->m);
  return q->rows + (size_t)k * po_quasi_width(q);
}

/* `room`: m numbers to work with. */
int64_t po_quasi_at(const po_quasi *, const int64_t *index, int64_t *room);

#endif
