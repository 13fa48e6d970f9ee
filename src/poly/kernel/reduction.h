/* SPDX-License-Identifier: MIT */
/* reduction.h - a reduction whose addresses are linear in its loops.
 *
 * What kernels are made of: each loop has an extent, each access moves by so
 * many elements a step of it, and conditions of the domain that the box of the
 * extents does not imply are linear, too.  While a program has sizes, all of
 * these but the factors of conditions are numbers over them
 * (loops_number.h). */
#ifndef POLY_REDUCTION_H
#define POLY_REDUCTION_H

#include "poly/loops/loops.h"
#include "poly/loops/loops_number.h"

#define PO_MAX_DIMS   (2 * GS_MAX_RANK)
#define PO_MAX_GUARDS 32
#define PO_MAX_EXTRAS 6

/* Elements from the array's first at the box's origin, and from step to step of
 * each loop. */
typedef struct po_walk {
  int64_t base, factor[PO_MAX_DIMS];
} po_walk;

/* constant + sum of factor * index >= 0; indices count from 0. */
typedef struct po_guard {
  int64_t constant, factor[PO_MAX_DIMS];
} po_guard;

/* What else a formula reads: an expression of it, an array's element. */
typedef struct po_cextra {
  uint32_t expr, array;
  int64_t base;
} po_cextra;

typedef struct po_reduction {
  po_program *p;
  gs_sizes *sizes; /* NULL: all is integers */
  const po_stmt *update;
  uint32_t n, n_outer; /* loops of the update; those that make elements */
  int64_t lo[PO_MAX_DIMS], extent[PO_MAX_DIMS];
  uint32_t n_guards;
  po_guard guards[PO_MAX_GUARDS];
} po_reduction;

/* The extents: reduced loops have the box of the update, the others that of
 * `init`, which sets all elements of it, or of the update where it is NULL;
 * false where that is no box from 0 on. */
bool po_find_box(po_reduction *, const po_stmt *init);
/* Once the box is found: what starts the sums and what stores them, NULL where
 * there is none, name the element that the sum is of, by the order of loops. */
bool po_sums_agree(const po_reduction *, const po_stmt *init,
                   const po_stmt *store);
/* The address of an access over the first n loops; false: it is not linear. */
bool po_find_address(const po_reduction *, uint32_t array,
                     __isl_keep isl_pw_multi_aff *index, uint32_t n,
                     po_walk *out);
/* The conditions of the update, in an order of their own; false: they have
 * quotients, or are too many. */
bool po_find_guards(po_reduction *);
/* The statement that makes one element of each that `last` stores in `sums`:
 * where it stores that (at[0]), and what else it reads (at[1] on), in terms of
 * the loops around the sums. */
bool po_find_formula(const po_reduction *, uint32_t last, uint32_t formula,
                     uint32_t sums, po_walk at[1 + PO_MAX_EXTRAS],
                     po_cextra extras[PO_MAX_EXTRAS], uint32_t *n_extras);
/* contraction_formula.c: the instances of statement `formula` as a function of
 * those of `last`, each of whose results it reads once, and nobody else; NULL
 * where that is not so, or what it writes is not linear in the loops. */
__isl_give isl_pw_multi_aff *
po_formula_instances(const po_reduction *, uint32_t last, uint32_t formula);
/* formula_points.c: false where some points show that what `to` writes of the
 * results of `last`, which it reads there, is not linear in the loops. */
bool po_may_be_linear(const po_reduction *, const po_stmt *last,
                      const po_stmt *to, const po_expr *read);

/* reduction_sized.c: the same where there are sizes. */
bool po_find_sized_extent(po_reduction *, uint32_t k, const po_stmt *);
bool po_fills_sized_box(const po_reduction *, const po_stmt *init);
bool po_find_sized_address(const po_reduction *, uint32_t array,
                           __isl_keep isl_pw_multi_aff *index, uint32_t n,
                           po_walk *out);

#endif
