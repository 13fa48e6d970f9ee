/* SPDX-License-Identifier: MIT */
/* loops_sizes.c - see loops_sizes.h. */
#include "poly/loops/loops_sizes.h"
#include "poly/loops/affine.h"
#include <assert.h>
#include <isl/point.h>
#include <isl/val.h>

bool
po_is_sized(const po_array *array) {
  for (uint32_t d = 0; d < array->rank; d++)
    if (array->extent[d])
      return true;
  return false;
}

/* { [] : least <= size <= most and size is a multiple } */
static __isl_give isl_set *
bounds_of(const po_size *s, __isl_take isl_space *space, uint32_t k) {
  isl_ctx *isl = isl_space_get_ctx(space);
  isl_set *set = isl_set_universe(isl_space_copy(space));
  isl_local_space *on = isl_local_space_from_space(space);
  isl_aff *size = isl_aff_var_on_domain(on, isl_dim_param, k);
  set = isl_set_lower_bound_val(set, isl_dim_param, k,
                                isl_val_int_from_si(isl, s->least));
  set = isl_set_upper_bound_val(set, isl_dim_param, k,
                                isl_val_int_from_si(isl, s->most));
  if (s->multiple > 1) {
    size = isl_aff_mod_val(size, isl_val_int_from_si(isl, s->multiple));
    return isl_set_intersect(
        set, isl_set_from_basic_set(isl_aff_zero_basic_set(size)));
  }
  isl_aff_free(size);
  return set;
}

void
po_add_size(po_program *p, const po_size *size) {
  assert(size->name && size->least <= size->most && size->multiple >= 1 &&
         p->sizes.len < PO_MAX_SIZES);
  bs_push(p->ctx.heap, &p->sizes, *size);
  isl_space *space = po_space(p->isl, 0);
  for (uint32_t k = 0; k < p->sizes.len; k++) {
    space = isl_space_add_dims(space, isl_dim_param, 1);
    space =
        isl_space_set_dim_name(space, isl_dim_param, k, p->sizes.data[k].name);
  }
  isl_set *all = isl_set_universe(isl_space_copy(space));
  for (uint32_t k = 0; k < p->sizes.len; k++)
    all = isl_set_intersect(
        all, bounds_of(&p->sizes.data[k], isl_space_copy(space), k));
  isl_space_free(space);
  po_pool_reserve(&p->pool, 1);
  p->at_sizes = po_keep_set(&p->pool, all);
}

/* ---- with sizes ---- */

isl_space *
po_space_with_sizes(const po_program *p, isl_space *space) {
  return po_has_sizes(p)
             ? isl_space_align_params(space, isl_set_get_space(p->at_sizes))
             : space;
}

isl_aff *
po_aff_with_sizes(const po_program *p, isl_aff *aff) {
  return po_has_sizes(p)
             ? isl_aff_align_params(aff, isl_set_get_space(p->at_sizes))
             : aff;
}

isl_multi_aff *
po_map_with_sizes(const po_program *p, isl_multi_aff *map) {
  return po_has_sizes(p)
             ? isl_multi_aff_align_params(map, isl_set_get_space(p->at_sizes))
             : map;
}

isl_set *
po_within_sizes(const po_program *p, isl_set *set) {
  return po_has_sizes(p) ? isl_set_intersect_params(
                               set, isl_set_params(isl_set_copy(p->at_sizes)))
                         : set;
}

isl_aff *
po_size_aff(const po_program *p, uint32_t size, uint32_t n) {
  assert(size < p->sizes.len);
  isl_space *space = po_space_with_sizes(p, po_space(p->isl, n));
  return isl_aff_var_on_domain(isl_local_space_from_space(space), isl_dim_param,
                               size);
}

/* index d < extent */
static __isl_give isl_set *
below_extent(const po_program *p, const po_array *array, uint32_t d) {
  isl_aff *extent =
      isl_aff_add_dims(isl_aff_copy(array->extent[d]), isl_dim_in, array->rank);
  isl_aff *index = po_aff_with_sizes(p, po_index(p->isl, array->rank, d, 1, 0));
  return isl_aff_lt_set(index, extent);
}

isl_set *
po_elements_of(const po_program *p, const po_array *array) {
  isl_set *box = po_box(p->isl, array->dim, array->rank);
  for (uint32_t d = 0; d < array->rank; d++)
    if (array->extent[d])
      box = isl_set_intersect(box, below_extent(p, array, d));
  return po_within_sizes(p, box);
}

/* Beyond what is known of them. */
static bool
set_needs_sizes(const po_program *p, __isl_keep isl_set *set) {
  isl_set *rest = isl_set_gist_params(
      isl_set_copy(set), isl_set_params(isl_set_copy(p->at_sizes)));
  bool needs = isl_set_involves_dims(rest, isl_dim_param, 0,
                                     (unsigned)p->sizes.len) != isl_bool_false;
  isl_set_free(rest);
  return needs;
}

static bool
index_needs_sizes(const po_program *p, __isl_keep isl_pw_multi_aff *index) {
  return isl_pw_multi_aff_involves_dims(
             index, isl_dim_param, 0, (unsigned)p->sizes.len) != isl_bool_false;
}

bool
po_stmt_needs_sizes(const po_program *p, const po_stmt *s) {
  if (!po_has_sizes(p))
    return false;
  bool needs = set_needs_sizes(p, s->domain) || index_needs_sizes(p, s->write);
  for (uint32_t k = 0; k < s->n_exprs && !needs; k++) {
    const po_expr *e = &s->exprs[k];
    needs = e->by || (e->index && index_needs_sizes(p, e->index));
  }
  return needs;
}

/* ---- for people ---- */

bool
po_least_sizes(const po_program *p, isl_set *set, int64_t *at) {
  assert(po_has_sizes(p) && p->sizes.len <= PO_MAX_SIZES);
  uint32_t n = p->sizes.len;
  isl_set *sizes = po_within_sizes(p, isl_set_params(isl_set_copy(set)));
  sizes = isl_set_from_params(sizes);
  sizes = isl_set_move_dims(sizes, isl_dim_set, 0, isl_dim_param, 0, n);
  isl_point *point = isl_set_sample_point(isl_set_lexmin(sizes));
  bool found = point && isl_point_is_void(point) == isl_bool_false;
  for (uint32_t k = 0; k < n && found; k++)
    found = po_int(isl_point_get_coordinate_val(point, isl_dim_set, (int)k),
                   &at[k]);
  isl_point_free(point);
  return found;
}

isl_set *
po_fix_sizes(const po_program *p, isl_set *set, const int64_t *at) {
  assert(p->sizes.len <= PO_MAX_SIZES);
  set = po_within_sizes(p, set);
  for (uint32_t k = 0; k < p->sizes.len; k++)
    set = isl_set_fix_val(set, isl_dim_param, k,
                          isl_val_int_from_si(p->isl, at[k]));
  return isl_set_project_out(set, isl_dim_param, 0, p->sizes.len);
}

isl_set *
po_at_greatest(const po_program *p, isl_set *set) {
  assert(p->sizes.len <= PO_MAX_SIZES);
  int64_t at[PO_MAX_SIZES];
  if (!po_has_sizes(p))
    return set;
  for (uint32_t k = 0; k < p->sizes.len; k++)
    at[k] = p->sizes.data[k].most -
            p->sizes.data[k].most % p->sizes.data[k].multiple;
  return po_fix_sizes(p, set, at);
}

void
po_put_sizes(const po_program *p, const int64_t *at, bs_text *out) {
  for (uint32_t k = 0; k < p->sizes.len; k++)
    bs_putf(out, "%s%s = %lld", k ? ", " : " at ", p->sizes.data[k].name,
            (long long)at[k]);
}

void
po_put_sizes_of(const po_program *p, isl_set *set, bs_text *out) {
  int64_t at[PO_MAX_SIZES];
  if (po_has_sizes(p) && po_least_sizes(p, set, at))
    po_put_sizes(p, at, out);
}
