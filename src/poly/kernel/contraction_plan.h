/* SPDX-License-Identifier: MIT */
/* contraction_plan.h - what the files that plan contractions share. */
#ifndef POLY_CONTRACTION_PLAN_H
#define POLY_CONTRACTION_PLAN_H

#include "poly/kernel/contraction.h"
#include "base/whole.h"
#include <stdarg.h>

static inline int64_t
min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t
max64(int64_t a, int64_t b) {
  return a > b ? a : b;
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

/* contraction_plan.c: rows can be read where they lie: one linear walk along k,
 * or n. */
bool po_x_can_be_direct(const po_contraction *);
bool po_y_can_be_direct(const po_contraction *);
/* y is read where it lies, from the first cache. */
bool po_y_is_direct(const po_contraction *, const gs_target *);

/* contraction_blocks.c: iterations of the outermost k loop in a block. */
int64_t po_depth_of(const gs_target *, const po_contraction *, int64_t nv);
/* Rows of which tiles and blocks are made. */
int64_t po_unit_of(const po_contraction *);
/* The tile and the blocks, once the kernel is chosen and how operands reach
 * it, but for what is fixed of them; false where the image of x is too large.
 */
bool po_choose_blocks(const gs_target *, const po_contract_choice *fixed,
                      po_contraction *);

#endif
