/* SPDX-License-Identifier: MIT */
/* footprint.c - footprints: the box around the elements that one iteration of
 * the loops around touches.
 *
 * Its first element is, in each dimension, that affine lower bound of which
 * the box comes out smallest; bounds that only hold at the rim of an array
 * (0, where elsewhere it is 16 t - 1) thus do not make it large. */
#include "glenside/target/tuned.h"
#include "poly/loops/affine.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>
#include <isl/constraint.h>
#include <isl/fixed_box.h>
#include <isl/ilp.h>
#include <isl/val.h>

/* Elements that are counted to compare a shape with another. */
enum { MOST_COUNTED = 1000000 };

typedef struct candidates {
  isl_aff *list[16];
  uint32_t n, n_outer; /* of the list; of o */
} candidates;

/* x >= -(c0 + sum of c * o, and of sizes) / cx, from a constraint on [o, x]. */
static __isl_give isl_aff *
solved(__isl_keep isl_constraint *c, uint32_t n, __isl_take isl_val *cx) {
  isl_ctx *isl = isl_constraint_get_ctx(c);
  isl_aff *sum = po_index(isl, n, n, 0, 0);
  sum = isl_aff_align_params(sum, isl_constraint_get_space(c));
  isl_size sizes = isl_constraint_dim(c, isl_dim_param);
  for (isl_size d = 0; d < sizes; d++)
    sum = isl_aff_set_coefficient_val(
        sum, isl_dim_param, (int)d,
        isl_constraint_get_coefficient_val(c, isl_dim_param, (int)d));
  for (uint32_t d = 0; d < n; d++)
    sum = isl_aff_set_coefficient_val(
        sum, isl_dim_in, (int)d,
        isl_constraint_get_coefficient_val(c, isl_dim_set, (int)d));
  sum = isl_aff_set_constant_val(sum, isl_constraint_get_constant_val(c));
  sum = isl_aff_scale_down_val(isl_aff_neg(sum), cx);
  return isl_aff_ceil(sum);
}

static isl_stat
add_candidate(__isl_take isl_constraint *c, void *user) {
  candidates *all = user;
  isl_val *cx =
      isl_constraint_get_coefficient_val(c, isl_dim_set, (int)all->n_outer);
  bool equality = isl_constraint_is_equality(c) == isl_bool_true;
  bool lower = isl_val_is_pos(cx) == isl_bool_true ||
               (equality && isl_val_is_neg(cx) == isl_bool_true);
  if (lower && all->n < 16)
    all->list[all->n++] = solved(c, all->n_outer, cx);
  else
    isl_val_free(cx);
  isl_constraint_free(c);
  return isl_stat_ok;
}

/* How many values x - first(o) may take from 0 on. */
static int64_t
width(__isl_keep isl_map *one, __isl_keep isl_aff *first) {
  isl_map *start = isl_map_from_aff(isl_aff_copy(first));
  start = isl_map_align_params(start, isl_map_get_space(one));
  isl_map *apart = isl_map_sum(isl_map_copy(one), isl_map_neg(start));
  isl_set *range = isl_map_range(apart);
  int64_t lo = po_int_or(isl_set_dim_min_val(isl_set_copy(range), 0), -1);
  int64_t hi = po_int_or(isl_set_dim_max_val(range, 0), -1);
  return lo < 0 || hi < 0 || hi >= INT64_C(1) << 40 ? INT64_MAX : hi + 1;
}

/* The best first element of dimension d; its size. NULL: there is none. */
static __isl_give isl_aff *
best_first(__isl_keep isl_map *elements, uint32_t rank, uint32_t d,
           int64_t *size) {
  isl_map *one = isl_map_copy(elements);
  one = isl_map_project_out(one, isl_dim_out, d + 1, rank - d - 1);
  one = isl_map_project_out(one, isl_dim_out, 0, d);
  one = isl_map_reset_tuple_id(isl_map_coalesce(one), isl_dim_out);
  isl_set *both = isl_set_flatten(isl_map_wrap(isl_map_copy(one)));
  isl_basic_set *hull = isl_basic_set_remove_divs(isl_set_simple_hull(both));
  isl_size n = isl_map_dim(one, isl_dim_in);
  candidates all = {.n = 0, .n_outer = n < 0 ? 0 : (uint32_t)n};
  isl_basic_set_foreach_constraint(hull, add_candidate, &all);
  isl_basic_set_free(hull);
  isl_aff *best = NULL,
          *least = po_single(isl_map_dim_min(isl_map_copy(one), 0));
  if (least && all.n < 16)
    all.list[all.n++] = least;
  else
    isl_aff_free(least);
  *size = INT64_MAX;
  for (uint32_t k = 0; k < all.n; k++) {
    isl_aff *aff = all.list[k];
    isl_size out = isl_aff_dim(aff, isl_dim_in);
    int64_t wide = out < 0 ? INT64_MAX : width(one, aff);
    if (wide < *size) {
      *size = wide;
      isl_aff_free(best);
      best = isl_aff_copy(aff);
    }
    isl_aff_free(aff);
  }
  isl_map_free(one);
  return best;
}

static bool
find_outer(__isl_keep isl_map *elements, uint32_t n, po_footprint *out) {
  isl_set *outer = isl_map_domain(isl_map_copy(elements));
  bool ok = true;
  for (uint32_t d = 0; ok && d < n; d++) {
    int64_t lo =
        po_int_or(isl_set_dim_min_val(isl_set_copy(outer), (int)d), INT64_MIN);
    int64_t hi =
        po_int_or(isl_set_dim_max_val(isl_set_copy(outer), (int)d), INT64_MAX);
    ok = lo > -(INT64_C(1) << 40) && hi < INT64_C(1) << 40;
    out->lo[d] = lo;
    out->count[d] = hi - lo + 1;
  }
  isl_set_free(outer);
  return ok;
}

bool
po_find_footprint(po_program *p, isl_map *elements, uint32_t n,
                  po_footprint *out) {
  isl_size rank = isl_map_dim(elements, isl_dim_out);
  out->n = n;
  if (rank < 0 || rank > GS_MAX_RANK || !find_outer(elements, n, out))
    return false;
  out->rank = (uint32_t)rank;
  po_pool_reserve(&p->pool, 1);
  isl_multi_aff *first = isl_multi_aff_zero(po_map_space(p->isl, n, out->rank));
  for (uint32_t d = 0; d < out->rank; d++) {
    isl_aff *one = best_first(elements, out->rank, d, &out->size[d]);
    if (!one || out->size[d] == INT64_MAX) {
      isl_aff_free(one);
      isl_multi_aff_free(first);
      return false;
    }
    first = isl_multi_aff_set_aff(first, (int)d, one);
  }
  out->first = po_keep_multi_aff(&p->pool, first);
  return out->first != NULL;
}

bool
po_shape_by_footprint(po_program *p, const po_step_call *call, uint32_t array,
                      const po_footprint *f) {
  assert(array < p->arrays.len);
  po_array *a = &p->arrays.data[array];
  int64_t elements = 1;
  if (f->n + f->rank > GS_MAX_RANK)
    return po_refuse(p, call, "too-deep", "%s would have %u dimensions",
                     a->name, f->n + f->rank);
  a->rank = f->n + f->rank;
  for (uint32_t d = 0; d < a->rank; d++) {
    a->dim[d] = d < f->n ? f->count[d] : f->size[d - f->n];
    a->extent[d] = NULL; /* room for the most of it */
    a->fold[d] = d < f->n;
    a->pad[d] = 0;
    if (__builtin_mul_overflow(elements, a->dim[d], &elements) ||
        elements > INT64_C(1) << 40)
      return po_refuse(p, call, "too-large", "%s would be too large", a->name);
  }
  return true;
}

isl_pw_multi_aff *
po_lay_in_footprint(po_program *p, uint32_t k, isl_pw_multi_aff *index,
                    uint32_t array, const po_footprint *f) {
  assert(k < p->stmts.len && array < p->arrays.len);
  const po_stmt *stmt = &p->stmts.data[k];
  po_pool_reserve(&p->pool, 1);
  isl_multi_aff *outer = isl_multi_aff_copy(stmt->time);
  isl_size all = isl_multi_aff_dim(outer, isl_dim_out);
  if (all < (isl_size)f->n) {
    isl_multi_aff_free(outer);
    return po_keep_pw_multi_aff(&p->pool, NULL);
  }
  outer =
      isl_multi_aff_drop_dims(outer, isl_dim_out, f->n, (unsigned)all - f->n);
  outer = isl_multi_aff_reset_tuple_id(outer, isl_dim_out);
  isl_multi_aff *first = isl_multi_aff_pullback_multi_aff(
      isl_multi_aff_copy(f->first), isl_multi_aff_copy(outer));
  isl_pw_multi_aff *in = isl_pw_multi_aff_reset_tuple_id(
      isl_pw_multi_aff_copy(index), isl_dim_out);
  in = isl_pw_multi_aff_sub(in, isl_pw_multi_aff_from_multi_aff(first));
  for (uint32_t d = 0; d < f->n; d++) {
    isl_aff *aff = isl_multi_aff_get_aff(outer, (int)d);
    aff = isl_aff_add_constant_val(
        aff, isl_val_neg(isl_val_int_from_si(p->isl, f->lo[d])));
    outer = isl_multi_aff_set_aff(outer, (int)d, aff);
  }
  in = isl_pw_multi_aff_flat_range_product(
      isl_pw_multi_aff_from_multi_aff(outer), in);
  in = isl_pw_multi_aff_set_tuple_id(
      in, isl_dim_out, isl_id_alloc(p->isl, p->arrays.data[array].name, NULL));
  isl_multi_aff *one = isl_pw_multi_aff_as_multi_aff(in);
  one = po_simplify_on(one, stmt->domain);
  return po_keep_pw_multi_aff(&p->pool, isl_pw_multi_aff_from_multi_aff(one));
}

/* ---- unions ---- */

/* The elements of the least box of one size around what each [o] relates to;
 * -1 where there is none. */
static double
volume(__isl_keep isl_map *map) {
  isl_fixed_box *box = isl_map_get_range_simple_fixed_box_hull(map);
  double all = isl_fixed_box_is_valid(box) == isl_bool_true ? 1 : -1;
  isl_multi_val *size = all > 0 ? isl_fixed_box_get_size(box) : NULL;
  isl_size n = size ? isl_multi_val_size(size) : 0;
  for (isl_size d = 0; d < n; d++) {
    isl_val *v = isl_multi_val_get_val(size, d);
    all *= isl_val_get_d(v);
    isl_val_free(v);
  }
  isl_multi_val_free(size);
  isl_fixed_box_free(box);
  return n < 0 ? -1 : all;
}

typedef struct largest {
  double most;
  uint32_t n;
} largest;

static isl_stat
look_at_part(__isl_take isl_basic_map *part, void *user) {
  largest *l = user;
  isl_map *map = isl_map_from_basic_map(part);
  double v = volume(map);
  l->most = v > l->most ? v : l->most;
  l->n++;
  isl_map_free(map);
  return isl_stat_ok;
}

/* The hull, for no more of [o] than the box around those of the map. */
static __isl_give isl_map *
hull_of(__isl_keep isl_map *map) {
  isl_set *o = isl_map_domain(isl_map_copy(map));
  o = isl_set_from_basic_set(isl_set_bounded_simple_hull(o));
  isl_map *hull =
      isl_map_from_basic_map(isl_map_simple_hull(isl_map_copy(map)));
  return isl_map_coalesce(isl_map_intersect_domain(hull, o));
}

isl_map *
po_fill_up(isl_map *map) {
  largest l = {.most = -1};
  map = isl_map_coalesce(map);
  if (!map || isl_map_foreach_basic_map(map, look_at_part, &l) < 0 || l.n < 2)
    return map;
  isl_map *hull = hull_of(map);
  double v = hull ? volume(hull) : -1;
  double most = l.n < GS_HULL_PIECES ? GS_HULL_FILLED : GS_HULL_OF_MANY;
  if (v < 0 || v > l.most * most) {
    isl_map_free(hull);
    return map;
  }
  isl_map_free(map);
  return hull;
}

static isl_stat
find_division(__isl_take isl_basic_map *part, void *user) {
  bool *any = user;
  *any |= isl_basic_map_dim(part, isl_dim_div) > 0;
  isl_basic_map_free(part);
  return isl_stat_ok;
}

static int64_t
points_of(__isl_keep isl_map *map) {
  return po_count_points_within(isl_map_wrap(isl_map_copy(map)), MOST_COUNTED);
}

/* { [o] -> [x] }, x in the least box of one size around what o relates to;
 * NULL where there is none. */
static __isl_give isl_map *
box_around(__isl_keep isl_map *map) {
  isl_fixed_box *box = isl_map_get_range_simple_fixed_box_hull(map);
  isl_map *all = NULL;
  if (isl_fixed_box_is_valid(box) == isl_bool_true) {
    isl_multi_val *size = isl_fixed_box_get_size(box);
    isl_size n = isl_multi_val_size(size);
    all = isl_map_universe(isl_map_get_space(map));
    for (isl_size d = 0; d < n; d++) {
      isl_val *last = isl_val_sub_ui(isl_multi_val_get_val(size, d), 1);
      all = isl_map_lower_bound_si(all, isl_dim_out, (unsigned)d, 0);
      all = isl_map_upper_bound_val(all, isl_dim_out, (unsigned)d, last);
    }
    isl_multi_val_free(size);
    all =
        isl_map_sum(isl_map_from_multi_aff(isl_fixed_box_get_offset(box)), all);
    all = isl_map_intersect_domain(all, isl_map_domain(isl_map_copy(map)));
  }
  isl_fixed_box_free(box);
  return all;
}

/* Whether the shape has few points more than the exact one; it is freed where
 * it has more. */
static bool
is_filled(__isl_keep isl_map *exact, isl_map **shape) {
  int64_t n = points_of(exact), filled = *shape ? points_of(*shape) : -1;
  if (n > 0 && filled > 0 && (double)filled <= (double)n * GS_HULL_FILLED)
    return true;
  *shape = isl_map_free(*shape);
  return false;
}

isl_map *
po_drop_divisions(isl_map *map) {
  bool any = false;
  if (!map || isl_map_foreach_basic_map(map, find_division, &any) < 0 || !any)
    return map;
  isl_map *shape = box_around(map);
  if (!is_filled(map, &shape)) {
    shape = isl_map_remove_divs(hull_of(map));
    if (!is_filled(map, &shape))
      return map;
  }
  isl_map_free(map);
  return shape;
}
