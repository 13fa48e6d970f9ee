/* SPDX-License-Identifier: MIT */
/* contraction_plan.h - what the files that plan contractions share. */
#ifndef POLY_CONTRACTION_PLAN_H
#define POLY_CONTRACTION_PLAN_H

#include "poly/kernel/contraction.h"

static inline int64_t
round_up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

static inline int64_t
ceil_div(int64_t n, int64_t by) {
  return (n + by - 1) / by;
}

static inline int64_t
min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t
max64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static inline int64_t
cache_bytes(const gs_target *t, uint32_t level, int64_t otherwise) {
  return t->caches.len > level ? t->caches.data[level].bytes : otherwise;
}

static inline int64_t
size_of(const po_contraction *c, po_dim_role role) {
  return max64(po_cdims_size(&c->dims[role]), 1);
}

/* Iterations of k in one of its outermost loop. */
static inline int64_t
inner_of(const po_contraction *c) {
  return size_of(c, PO_DIM_K) / c->dims[PO_DIM_K].d[0].extent;
}

static inline int64_t
bytes_of(const po_contraction *c) {
  return gs_dtype_table[c->dtype].bytes;
}

static inline const po_cdim *
last_of(const po_contraction *c, po_dim_role role) {
  const po_cdims *dims = &c->dims[role];
  return dims->n ? &dims->d[dims->n - 1] : NULL;
}

/* contraction_plan.c: y is read where it lies, from the first cache. */
bool po_y_is_direct(const po_contraction *, const gs_target *);

/* contraction_blocks.c: iterations of the outermost k loop in a block. */
int64_t po_depth_of(const gs_target *, const po_contraction *, int64_t nv);
/* The tile and the blocks, once the kernel is chosen and how operands reach
 * it; false where the image of x is too large. */
bool po_choose_blocks(const gs_target *, po_contraction *);

#endif
