/* SPDX-License-Identifier: MIT */
/* affine.c - small constructors over isl's spaces.
 *
 * Everything here returns a new isl object and allocates nothing else. */
#include "poly/loops/affine.h"
#include "poly/loops/open.h"
#include <assert.h>
#include <isl/ilp.h>
#include <isl/val.h>

isl_space *
po_space(isl_ctx *isl, uint32_t n) {
  return po_with_open(isl_space_set_alloc(isl, 0, n));
}

isl_space *
po_map_space(isl_ctx *isl, uint32_t n, uint32_t m) {
  return po_with_open(isl_space_alloc(isl, 0, n, m));
}

/* The box within the greatest dimensions, less what is beyond their sizes. */
static __isl_give isl_set *
below_sizes(__isl_take isl_set *box, const int64_t *dim, uint32_t n) {
  isl_ctx *isl = isl_set_get_ctx(box);
  for (uint32_t d = 0; d < n; d++)
    if (gs_is_sized(dim[d]))
      box = isl_set_intersect(box, po_between(isl, n, d, 0, dim[d]));
  return po_within_open(box);
}

isl_set *
po_box(isl_ctx *isl, const int64_t *dim, uint32_t n) {
  assert(n == 0 || dim);
  isl_basic_set *box = isl_basic_set_universe(po_space(isl, n));
  for (uint32_t d = 0; d < n; d++) {
    box = isl_basic_set_lower_bound_val(box, isl_dim_set, d, isl_val_zero(isl));
    box = isl_basic_set_upper_bound_val(
        box, isl_dim_set, d,
        isl_val_int_from_si(isl, po_most_in(isl, dim[d]) - 1));
  }
  return below_sizes(isl_set_from_basic_set(box), dim, n);
}

__isl_give isl_set *
po_within_box(__isl_take isl_set *hull, __isl_keep isl_set *set) {
  isl_size n = isl_set_dim(set, isl_dim_set);
  for (int d = 0; d < n; d++) {
    isl_val *lo = isl_set_dim_min_val(isl_set_copy(set), d);
    isl_val *hi = isl_set_dim_max_val(isl_set_copy(set), d);
    if (isl_val_is_int(lo) == isl_bool_true)
      hull = isl_set_lower_bound_val(hull, isl_dim_set, d, isl_val_copy(lo));
    if (isl_val_is_int(hi) == isl_bool_true)
      hull = isl_set_upper_bound_val(hull, isl_dim_set, d, isl_val_copy(hi));
    isl_val_free(lo);
    isl_val_free(hi);
  }
  return hull;
}

isl_set *
po_slab(isl_ctx *isl, uint32_t n, uint32_t d, int64_t lo, int64_t hi) {
  assert(d < n);
  isl_set *set = isl_set_universe(po_space(isl, n));
  set = isl_set_lower_bound_val(set, isl_dim_set, d,
                                isl_val_int_from_si(isl, lo));
  return isl_set_upper_bound_val(set, isl_dim_set, d,
                                 isl_val_int_from_si(isl, hi));
}

isl_set *
po_slab_in(isl_ctx *isl, const int64_t *dim, uint32_t n, uint32_t d, int64_t lo,
           int64_t hi) {
  assert(d < n);
  isl_set *set = isl_set_universe(po_space(isl, n));
  if (lo > 0)
    set = isl_set_lower_bound_val(set, isl_dim_set, d,
                                  isl_val_int_from_si(isl, lo));
  if (hi < dim[d] - 1)
    set = isl_set_upper_bound_val(set, isl_dim_set, d,
                                  isl_val_int_from_si(isl, hi));
  return set;
}

isl_aff *
po_index(isl_ctx *isl, uint32_t n, uint32_t d, int64_t factor, int64_t offset) {
  assert(d <= n);
  isl_aff *aff =
      isl_aff_zero_on_domain(isl_local_space_from_space(po_space(isl, n)));
  if (d < n)
    aff = isl_aff_set_coefficient_val(aff, isl_dim_in, d,
                                      isl_val_int_from_si(isl, factor));
  if (gs_is_sized(offset) && po_open_in(isl))
    return isl_aff_add(aff, po_open_aff(isl, n, offset));
  return isl_aff_set_constant_val(aff, isl_val_int_from_si(isl, offset));
}

isl_multi_aff *
po_identity(isl_ctx *isl, uint32_t n) {
  return isl_multi_aff_identity(po_map_space(isl, n, n));
}

bool
po_int(isl_val *val, int64_t *out) {
  int64_t n = 0;
  bool fits = val && isl_val_is_int(val) == isl_bool_true &&
              isl_val_n_abs_num_chunks(val, sizeof n) <= 1;
  if (fits) {
    n = isl_val_get_num_si(val);
    isl_val *back = isl_val_int_from_si(isl_val_get_ctx(val), n);
    fits = isl_val_eq(back, val) == isl_bool_true;
    isl_val_free(back);
  }
  isl_val_free(val);
  *out = fits ? n : 0;
  return fits;
}

int64_t
po_int_or(isl_val *val, int64_t otherwise) {
  int64_t n;
  return po_int(val, &n) ? n : otherwise;
}

isl_multi_aff *
po_part(isl_ctx *isl, uint32_t all, uint32_t from, uint32_t n) {
  assert(from + n <= all);
  isl_multi_aff *map = isl_multi_aff_zero(po_map_space(isl, all, n));
  for (uint32_t d = 0; d < n; d++)
    map =
        isl_multi_aff_set_aff(map, (int)d, po_index(isl, all, from + d, 1, 0));
  return map;
}

void
po_strides(const int64_t *dim, uint32_t n, int64_t *stride) {
  assert(n <= GS_MAX_RANK);
  uint64_t step = 1; /* of dimensions that are no numbers: of no use */
  for (uint32_t d = n; d-- > 0;) {
    stride[d] = (int64_t)step;
    step *= (uint64_t)dim[d];
  }
}

isl_aff *
po_linear(isl_multi_aff *map, const int64_t *dim) {
  assert(dim);
  isl_ctx *isl = isl_multi_aff_get_ctx(map);
  isl_size n = isl_multi_aff_dim(map, isl_dim_out);
  isl_aff *sum = isl_aff_zero_on_domain(isl_local_space_from_space(
      isl_space_domain(isl_multi_aff_get_space(map))));
  int64_t step = 1;
  for (isl_size d = n; d-- > 0;) {
    isl_aff *index = isl_multi_aff_get_aff(map, d);
    sum = isl_aff_add(sum,
                      isl_aff_scale_val(index, isl_val_int_from_si(isl, step)));
    step *= dim[d];
  }
  return sum;
}

isl_pw_aff *
po_linear_pw(isl_pw_multi_aff *map, const int64_t *dim) {
  isl_ctx *isl = isl_pw_multi_aff_get_ctx(map);
  isl_size n = isl_pw_multi_aff_dim(map, isl_dim_out);
  isl_space *space = isl_space_domain(isl_pw_multi_aff_get_space(map));
  isl_pw_aff *sum = isl_pw_aff_from_aff(
      isl_aff_zero_on_domain(isl_local_space_from_space(space)));
  int64_t step = 1;
  for (isl_size d = n; d-- > 0;) {
    isl_pw_aff *index = isl_pw_multi_aff_get_pw_aff(map, d);
    sum = isl_pw_aff_add(
        sum, isl_pw_aff_scale_val(index, isl_val_int_from_si(isl, step)));
    step *= dim[d];
  }
  return sum;
}

/* floor(aff / by) */
static isl_aff *
floor_div(isl_aff *aff, int64_t by) {
  isl_ctx *isl = isl_aff_get_ctx(aff);
  if (by == 1)
    return aff;
  return isl_aff_floor(
      isl_aff_scale_down_val(aff, isl_val_int_from_si(isl, by)));
}

/* Index k of group [lo, hi) of `to`, given the group's address. */
static isl_aff *
digit(isl_aff *address, const int64_t *to, uint32_t lo, uint32_t k,
      uint32_t hi) {
  isl_ctx *isl = isl_aff_get_ctx(address);
  int64_t below = gs_prod(to + k + 1, hi - k - 1);
  bool leading = true;
  for (uint32_t d = lo; d < k; d++)
    leading = leading && to[d] == 1;
  isl_aff *quotient = floor_div(isl_aff_copy(address), below);
  if (leading)
    return quotient;
  isl_aff *above = floor_div(isl_aff_copy(address), below * to[k]);
  above = isl_aff_scale_val(above, isl_val_int_from_si(isl, to[k]));
  return isl_aff_sub(quotient, above);
}

/* Whether a <= b, as far as it is known. */
static bool
is_at_most(isl_ctx *isl, int64_t a, int64_t b) {
  gs_sizes *s = po_open_in(isl);
  return s ? gs_ask(s, gs_minus(&s->over, b, a), false) == 1 : a <= b;
}

/* Ends of the shortest groups from `lo` whose products agree. */
static void
next_group(isl_ctx *isl, const int64_t *from, uint32_t n_from, uint32_t *i,
           const int64_t *to, uint32_t n_to, uint32_t *j) {
  const gs_numbers *over = po_numbers_in(isl);
  int64_t a = 1, b = 1;
  while (*i < n_from && from[*i] == 1)
    ++*i;
  while (*j < n_to && to[*j] == 1)
    ++*j;
  do {
    if (*i < n_from && (*j == n_to || is_at_most(isl, a, b)))
      a = gs_product(over, a, from[(*i)++]);
    else if (*j < n_to)
      b = gs_product(over, b, to[(*j)++]);
    else
      return;
  } while (a != b);
}

bool
po_has_reshape(isl_ctx *isl, const int64_t *from, uint32_t n_from,
               const int64_t *to, uint32_t n_to) {
  uint32_t i = 0, j = 0;
  while (i < n_from && j < n_to) {
    uint32_t i_lo = i, j_lo = j;
    next_group(isl, from, n_from, &i, to, n_to, &j);
    bool first = true;
    for (uint32_t d = i_lo; d < i; first &= from[d++] == 1)
      if (gs_is_sized(from[d]) && !first)
        return false;
    first = true;
    for (uint32_t d = j_lo; d < j; first &= to[d++] == 1)
      if (gs_is_sized(to[d]) && !first)
        return false;
  }
  return true;
}

isl_multi_aff *
po_reshape(isl_ctx *isl, const int64_t *from, uint32_t n_from,
           const int64_t *to, uint32_t n_to) {
  assert(po_has_reshape(isl, from, n_from, to, n_to));
  isl_multi_aff *map = isl_multi_aff_zero(po_map_space(isl, n_from, n_to));
  uint32_t i = 0, j = 0;
  while (i < n_from && j < n_to) {
    uint32_t i_lo = i, j_lo = j;
    next_group(isl, from, n_from, &i, to, n_to, &j);
    isl_aff *address = po_index(isl, n_from, n_from, 0, 0);
    for (uint32_t d = i; d-- > i_lo;)
      address =
          isl_aff_add(address, po_index(isl, n_from, d,
                                        gs_prod(from + d + 1, i - d - 1), 0));
    for (uint32_t k = j_lo; k < j; k++)
      if (to[k] > 1)
        map =
            isl_multi_aff_set_aff(map, (int)k, digit(address, to, j_lo, k, j));
    isl_aff_free(address);
  }
  return map;
}
