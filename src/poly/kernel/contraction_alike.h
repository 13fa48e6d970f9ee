/* SPDX-License-Identifier: MIT */
/* contraction_alike.h - sums that differ in their arrays alone.
 *
 * Layers of a network are alike, and whether a sum is a kernel takes isl a
 * while to say. What it said of one holds for another whose statements do the
 * same to arrays that are alike; one array in two places must be one array
 * there, too. */
#ifndef POLY_CONTRACTION_ALIKE_H
#define POLY_CONTRACTION_ALIKE_H

#include "poly/kernel/contraction.h"
#include "poly/loops/memo.h"

/* The statements of a sum, and the one that may be its formula; PO_NO_STMT:
 * there is none. */
typedef struct po_sum {
  po_sum_parts parts;
  uint32_t formula;
} po_sum;

/* What stands for the arrays of a sum. */
enum { PO_MOST_ALIKE = 32 };
typedef struct po_sum_arrays {
  uint32_t from[PO_MOST_ALIKE], to[PO_MOST_ALIKE], n;
} po_sum_arrays;

/* The program has no sizes, and no schedule says anything of their kernels. */
bool po_sums_are_alike(const po_program *, const po_sum *from, const po_sum *to,
                       po_sum_arrays *out);
/* The plan of the first, which stands in `plan`, becomes that of the second. */
void po_plan_becomes(po_contraction *plan, const po_sum *to,
                     const po_sum_arrays *);
/* Its statements are those of the sum. */
void po_plan_is_of(po_contraction *plan, const po_sum *);

/* contraction_memo.c: what a plan depends on; false where that cannot be
 * remembered.  What was planned of it: false where that is not known, or
 * whether the sum is a kernel, and then its plan.  Keeps a copy; NULL: it is
 * none. */
bool po_plan_key(const po_program *, const po_sum *, po_memo_key *);
bool po_known_plan(const po_program *, const po_sum *, const po_memo_key *,
                   bool *planned, po_contraction *out);
void po_keep_plan(const po_program *, const po_memo_key *,
                  const po_contraction *plan);

#endif
