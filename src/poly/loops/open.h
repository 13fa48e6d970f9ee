/* SPDX-License-Identifier: MIT */
/* open.h - sizes of a program of the language, while it is lowered.
 *
 * Dimensions are then numbers of glenside/type/sizes.h, where they are no
 * integers. Between po_open_sizes and po_close_sizes what affine.h makes in
 * that isl has the sizes as parameters, and takes such numbers for dimensions
 * and offsets; all boxes lie within the bounds of the sizes.  One program a
 * thread is lowered at a time. */
#ifndef POLY_OPEN_H
#define POLY_OPEN_H

#include "glenside/type/sizes.h"
#include "poly/loops/loops.h"

/* Adds the sizes of its source to the program, by these names. */
void po_open_sizes(po_program *, const char *const *names);
void po_close_sizes(void);

/* NULL where none are open in this isl, and integers are all that there is. */
gs_sizes *po_open_in(isl_ctx *);
static inline const gs_numbers *
po_numbers_in(isl_ctx *isl) {
  gs_sizes *s = po_open_in(isl);
  return s ? &s->over : NULL;
}
/* The space with the sizes, if any are open. */
__isl_give isl_space *po_with_open(__isl_take isl_space *);
__isl_give isl_set *po_within_open(__isl_take isl_set *);
/* A number that is a sum (gs_is_affine), as a function of n indices. */
__isl_give isl_aff *po_open_aff(isl_ctx *, uint32_t n, gs_number);
/* The most that a number can be. */
int64_t po_most_in(isl_ctx *, gs_number);
/* po_slab_in, of from <= index d < to. */
__isl_give isl_set *po_range_in(isl_ctx *, const int64_t *dim, uint32_t n,
                                uint32_t d, gs_number from, gs_number to);
/* from <= index d < to, over n indices. */
__isl_give isl_set *po_between(isl_ctx *, uint32_t n, uint32_t d,
                               gs_number from, gs_number to);

#endif
