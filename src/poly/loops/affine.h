/* SPDX-License-Identifier: MIT */
/* affine.h - index spaces, boxes and quasi-affine functions over them. */
#ifndef POLY_AFFINE_H
#define POLY_AFFINE_H

#include "glenside/type/type.h"
#include <isl/aff.h>
#include <isl/set.h>
#include <isl/space.h>

/* While a program with sizes is lowered (open.h), dimensions and offsets may be
 * numbers of its sizes, which are parameters. */

/* The anonymous space of n indices, and the one of functions from n to m. */
__isl_give isl_space *po_space(isl_ctx *, uint32_t n);
__isl_give isl_space *po_map_space(isl_ctx *, uint32_t n, uint32_t m);
/* 0 <= index k < dim[k] */
__isl_give isl_set *po_box(isl_ctx *, const int64_t *dim, uint32_t n);
/* What of `hull` lies between the least and the greatest value of each index of
 * `set`, as far as there are such. */
__isl_give isl_set *po_within_box(__isl_take isl_set *hull,
                                  __isl_keep isl_set *set);
/* lo <= index d <= hi, over n indices */
__isl_give isl_set *po_slab(isl_ctx *, uint32_t n, uint32_t d, int64_t lo,
                            int64_t hi);
/* A slab without the bounds that 0 <= index d < dim implies. */
__isl_give isl_set *po_slab_in(isl_ctx *, const int64_t *dim, uint32_t n,
                               uint32_t d, int64_t lo, int64_t hi);
/* factor * index d + offset, over n indices; d == n: the constant alone */
__isl_give isl_aff *po_index(isl_ctx *, uint32_t n, uint32_t d, int64_t factor,
                             int64_t offset);
__isl_give isl_multi_aff *po_identity(isl_ctx *, uint32_t n);
/* { [x0, ..., x(all-1)] -> [x(from), ..., x(from+n-1)] } */
__isl_give isl_multi_aff *po_part(isl_ctx *, uint32_t all, uint32_t from,
                                  uint32_t n);

/* Whether a value is an integer of 64 bits, and which (0 where it is not).
 * Takes the value, which may be NULL. */
bool po_int(__isl_take isl_val *, int64_t *out);
/* The integer that a value is, or `otherwise` where it is none. */
int64_t po_int_or(__isl_take isl_val *, int64_t otherwise);

/* Row-major strides of an array, in elements. */
void po_strides(const int64_t *dim, uint32_t n, int64_t *stride);
/* The row-major address of an array element as a function of `map`'s domain */
__isl_give isl_aff *po_linear(__isl_keep isl_multi_aff *map,
                              const int64_t *dim);
__isl_give isl_pw_aff *po_linear_pw(__isl_keep isl_pw_multi_aff *map,
                                    const int64_t *dim);
/* Index into `from` -> index into `to`, two shapes of equal products in each
 * group of dimensions, elements in row-major order. */
__isl_give isl_multi_aff *po_reshape(isl_ctx *, const int64_t *from,
                                     uint32_t n_from, const int64_t *to,
                                     uint32_t n_to);

/* Whether it is a function of sums of sizes: those that are open stand at the
 * front of a group only. */
bool po_has_reshape(isl_ctx *, const int64_t *from, uint32_t n_from,
                    const int64_t *to, uint32_t n_to);

/* simplify.c: equal functions on the box 0 <= index k < dim[k], with fewer
 * and smaller floors. */
__isl_give isl_aff *po_simplify(__isl_take isl_aff *, const int64_t *dim);
__isl_give isl_multi_aff *po_simplify_multi(__isl_take isl_multi_aff *,
                                            const int64_t *dim);
/* An affine function without floors: its constant, and its coefficient of
 * every index.  False when it has floors or does not fit in 64 bits. */
bool po_affine_terms(__isl_keep isl_aff *, int64_t *constant,
                     int64_t *coefficient);

#endif
