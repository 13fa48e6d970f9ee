/* SPDX-License-Identifier: MIT */
/* loops_sizes.h - sizes that are known when the function is called.
 *
 * A size is a parameter of isl's objects, between two bounds and a multiple of
 * a number.  The domain of every statement says so of all of them, so that a
 * question to isl about instances is one about all sizes at once: what is empty
 * is so at each of them, and what has a point has it at one that can be named.
 *
 * An extent of an array that is no number is an affine function of sizes
 * (po_array.extent); po_array.dim is then the most that it can be.  Arrays that
 * are passed to the function, and those of its workspace, lie as dense as their
 * extents are; a local has room for the most of each.
 *
 * A program without sizes has isl objects without parameters. */
#ifndef POLY_SIZES_H
#define POLY_SIZES_H

#include "poly/loops/loops.h"

/* Sizes that a program may have. */
#define PO_MAX_SIZES 16

static inline bool
po_has_sizes(const po_program *p) {
  return p->sizes.len > 0;
}
/* Some extent is no number. */
bool po_is_sized(const po_array *);
/* Extents say where its elements lie in memory. */
static inline bool
po_lies_by_sizes(const po_array *array) {
  return array->role != PO_LOCAL && po_is_sized(array);
}

/* Before anything else is made of the program. */
void po_add_size(po_program *, const po_size *);
/* The space, function or set with the program's sizes as its parameters. */
__isl_give isl_space *po_space_with_sizes(const po_program *,
                                          __isl_take isl_space *);
__isl_give isl_aff *po_aff_with_sizes(const po_program *, __isl_take isl_aff *);
__isl_give isl_multi_aff *po_map_with_sizes(const po_program *,
                                            __isl_take isl_multi_aff *);
__isl_give isl_set *po_within_sizes(const po_program *, __isl_take isl_set *);
/* The size, over n indices. */
__isl_give isl_aff *po_size_aff(const po_program *, uint32_t size, uint32_t n);
/* The elements of an array, without a name. */
__isl_give isl_set *po_elements_of(const po_program *, const po_array *);
/* The least sizes, the first ones first, at which a set has points; false where
 * it has none at any, or isl gives up. */
bool po_least_sizes(const po_program *, __isl_keep isl_set *, int64_t *at);
/* A set at these sizes, without parameters. */
__isl_give isl_set *po_fix_sizes(const po_program *, __isl_take isl_set *,
                                 const int64_t *at);
/* The set at the greatest sizes, without parameters.  Choices between programs
 * that are right at all sizes are made by it. */
__isl_give isl_set *po_at_greatest(const po_program *, __isl_take isl_set *);
/* What the statement computes differs from size to size. */
bool po_stmt_needs_sizes(const po_program *, const po_stmt *);
/* " at n = 5, m = 1" */
void po_put_sizes(const po_program *, const int64_t *at, bs_text *out);
/* Writes the sizes that po_least_sizes finds, in the same form; nothing where
 * the program has no sizes. */
void po_put_sizes_of(const po_program *, __isl_keep isl_set *, bs_text *out);

#endif
