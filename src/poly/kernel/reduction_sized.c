/* SPDX-License-Identifier: MIT */
/* reduction_sized.c - the box and the addresses of a reduction whose extents
 * are made of sizes.
 *
 * Whatever is found holds for all sizes: extents and strides are polynomials
 * over them.  Of a loop whose last iteration is no one function of the sizes,
 * as that of a window in an image that may be smaller than it, the most is
 * taken, where that is little: conditions say which iterations there are. */
#include "glenside/target/tuned.h"
#include "poly/kernel/reduction.h"
#include "poly/loops/affine.h"
#include "poly/loops/loops_number.h"
#include "poly/loops/loops_sizes.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <isl/ilp.h>

/* The last iteration of loop k is one function of the sizes. */
static bool
find_last(po_reduction *l, uint32_t k, const po_stmt *s) {
  gs_number last;
  if (!po_last_number(l->p, l->sizes, s, k, &last))
    return false;
  l->extent[k] = gs_plus(po_over(l->sizes), last, 1 - l->lo[k]);
  return gs_least_of(l->sizes, l->extent[k]) >= 1;
}

bool
po_find_sized_extent(po_reduction *l, uint32_t k, const po_stmt *s) {
  assert(k < l->n && l->n <= PO_MAX_DIMS);
  int64_t most;
  if (!po_int(isl_set_dim_min_val(isl_set_copy(s->domain), (int)k),
              &l->lo[k]) ||
      l->lo[k] < -INT32_MAX || l->lo[k] > INT32_MAX)
    return false;
  if (find_last(l, k, s))
    return true;
  if (!po_int(isl_set_dim_max_val(isl_set_copy(s->domain), (int)k), &most) ||
      most - l->lo[k] >= GS_KERNEL_SHORT_LOOP)
    return false;
  l->extent[k] = most - l->lo[k] + 1;
  return l->extent[k] >= 1;
}

/* 0 <= index < extent, of the first n loops, within the bounds of the sizes. */
static __isl_give isl_set *
box_of(const po_reduction *l, uint32_t n) {
  isl_set *box =
      isl_set_universe(po_space_with_sizes(l->p, po_space(l->p->isl, n)));
  for (uint32_t k = 0; k < n; k++) {
    isl_aff *end = po_aff_of_number(l->p, l->sizes, n, l->extent[k]);
    isl_aff *index = po_aff_with_sizes(l->p, po_index(l->p->isl, n, k, 1, 0));
    box = isl_set_intersect(box, isl_aff_lt_set(isl_aff_copy(index), end));
    box = isl_set_intersect(
        box, isl_aff_ge_set(index, po_aff_with_sizes(
                                       l->p, po_index(l->p->isl, n, n, 0, 0))));
  }
  return po_within_sizes(l->p, box);
}

bool
po_fills_sized_box(const po_reduction *l, const po_stmt *init) {
  for (uint32_t k = 0; k < l->n_outer; k++)
    if (!gs_is_affine(l->sizes, l->extent[k]))
      return false;
  isl_set *box = box_of(l, l->n_outer);
  isl_set *domain = isl_set_reset_tuple_id(isl_set_copy(init->domain));
  domain = po_within_sizes(l->p, domain);
  bool full = isl_set_is_equal(domain, box) == isl_bool_true;
  isl_set_free(domain);
  isl_set_free(box);
  return full;
}

/* ---- addresses ---- */

/* stride * (index along dimension d) is added. */
static bool
add_index(const po_reduction *l, const po_array *a, uint32_t d,
          __isl_keep isl_pw_multi_aff *index, uint32_t n, gs_number stride,
          po_walk *out) {
  const gs_numbers *over = po_over(l->sizes);
  int64_t factor[PO_MAX_DIMS];
  gs_number rest = 0;
  isl_pw_aff *along = po_place_along(a, d, index);
  isl_aff *aff = along ? po_only_piece(l->p, along) : NULL;
  bool ok = aff && isl_aff_dim(aff, isl_dim_in) == (isl_size)n &&
            po_split_affine(l->p, l->sizes, aff, &rest, factor);
  isl_aff_free(aff);
  for (uint32_t k = 0; k < n && ok; k++)
    out->factor[k] = gs_combine(over, 1, out->factor[k], factor[k], stride, 0);
  if (ok)
    out->base = gs_sum(over, out->base, gs_product(over, stride, rest));
  return ok;
}

static bool
is_small(const gs_sizes *s, gs_number x) {
  return (gs_is_sized(x) || (x > -GS_MOST_PLAIN && x < GS_MOST_PLAIN)) &&
         gs_least_of(s, x) > -GS_MOST_PLAIN && gs_most_of(s, x) < GS_MOST_PLAIN;
}

bool
po_find_sized_address(const po_reduction *l, uint32_t array,
                      __isl_keep isl_pw_multi_aff *index, uint32_t n,
                      po_walk *out) {
  assert(array < l->p->arrays.len);
  const po_array *a = &l->p->arrays.data[array];
  gs_number stride = 1, extent;
  *out = (po_walk){0};
  for (uint32_t d = a->rank; d-- > 0;) {
    if (!add_index(l, a, d, index, n, stride, out) ||
        !po_extent_number(l->p, l->sizes, a, d, &extent))
      return false;
    stride = gs_product(po_over(l->sizes), stride, extent);
  }
  bool small = is_small(l->sizes, out->base);
  for (uint32_t k = 0; k < n; k++)
    small = small && is_small(l->sizes, out->factor[k]);
  return small;
}
