/* SPDX-License-Identifier: MIT */
/* loops_number.h - what is computed from the sizes of a loop program, as
 * numbers.
 *
 * A product of extents is no affine function, so isl cannot say it; as a
 * polynomial over the sizes (glenside/type/sizes.h) it is compared, multiplied
 * and bounded for all of them. */
#ifndef POLY_NUMBER_H
#define POLY_NUMBER_H

#include "poly/loops/loops.h"

/* The program's sizes, in their order; NULL: it has none.  Made anew: equal
 * numbers over the same sizes and values are the same. */
gs_sizes *po_numbers_of(const po_program *, bs_arena *);

/* "over" of the sizes, for gs_product and the like; NULL for integers. */
static inline const gs_numbers *
po_over(const gs_sizes *sizes) {
  return sizes ? &sizes->over : NULL;
}

/* The function of the sizes, whatever its indices: it has none.  False: it is
 * none, or too large. */
bool po_number_of(const po_program *, gs_sizes *, __isl_keep isl_aff *,
                  gs_number *out);
/* An affine function: its coefficient of each index, which is an integer, and
 * what is left. */
bool po_split_affine(const po_program *, gs_sizes *, __isl_keep isl_aff *,
                     gs_number *rest, int64_t *coefficient);
/* The function of a sum of sizes, over n indices. */
__isl_give isl_aff *po_aff_of_number(const po_program *, const gs_sizes *,
                                     uint32_t n, gs_number);
/* Places of dimension d in memory. */
bool po_extent_number(const po_program *, gs_sizes *, const po_array *,
                      uint32_t d, gs_number *out);
/* The last value of a statement's index, where it is one function of the sizes;
 * false: it is several, or too large. */
bool po_last_number(const po_program *, gs_sizes *, const po_stmt *, uint32_t k,
                    gs_number *out);
/* Instances of the box around the statement's: of the indices that do not
 * follow from others. */
gs_number po_box_number(const po_program *, gs_sizes *, const po_stmt *);
/* The one function that it is at all sizes within their bounds, or NULL. */
__isl_give isl_aff *po_only_piece(const po_program *, __isl_take isl_pw_aff *);

#endif
