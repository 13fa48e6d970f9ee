/* SPDX-License-Identifier: MIT */
/* loops_count.c - how many points a set has, and a statement instances.
 *
 * Dimensions that no condition relates are counted apart, a box by its
 * extents; what is left is walked over. */
#include "poly/loops/affine.h"
#include "poly/loops/bounds.h"
#include "poly/loops/limit.h"
#include "poly/loops/loops.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>
#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/ilp.h>
#include <isl/local_space.h>
#include <isl/val.h>

/* Points that isl may walk over one by one. */
#define MAX_WALK 50000000

/* The extents of the box around a set; -1 where there is none. */
static bool
extents_of(__isl_keep isl_set *set, uint32_t n, int64_t *lo, int64_t *size) {
  for (uint32_t d = 0; d < n; d++) {
    int64_t hi;
    if (!po_bounds(set, d, &lo[d], &hi) ||
        __builtin_sub_overflow(hi, lo[d], &size[d]) || size[d] >= INT64_MAX / 2)
      return false;
    size[d]++;
  }
  return true;
}

static bool
is_box(__isl_keep isl_set *set, uint32_t n, const int64_t *lo,
       const int64_t *size) {
  isl_ctx *isl = isl_set_get_ctx(set);
  isl_set *box = isl_set_universe(isl_set_get_space(set));
  for (uint32_t d = 0; d < n; d++) {
    box = isl_set_lower_bound_val(box, isl_dim_set, d,
                                  isl_val_int_from_si(isl, lo[d]));
    box = isl_set_upper_bound_val(
        box, isl_dim_set, d, isl_val_int_from_si(isl, lo[d] + size[d] - 1));
  }
  bool same = isl_set_is_subset(box, set) == isl_bool_true;
  isl_set_free(box);
  return same;
}

static int64_t
times(int64_t a, int64_t b) {
  int64_t out;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &out) ||
      out > INT64_C(1) << 62)
    return -1;
  return out;
}

/* The set is the product of what it is over dimension d and over the rest. */
static bool
splits_off(__isl_keep isl_set *set, uint32_t n, uint32_t d) {
  isl_set *rest = isl_set_project_out(isl_set_copy(set), isl_dim_set, d, 1);
  rest = isl_set_insert_dims(rest, isl_dim_set, d, 1);
  isl_set *alone =
      isl_set_project_out(isl_set_copy(set), isl_dim_set, d + 1, n - d - 1);
  alone = isl_set_project_out(alone, isl_dim_set, 0, d);
  alone = isl_set_insert_dims(alone, isl_dim_set, 0, d);
  alone = isl_set_add_dims(alone, isl_dim_set, n - d - 1);
  isl_set *product = isl_set_intersect(rest, alone);
  bool same = isl_set_is_subset(product, set) == isl_bool_true;
  isl_set_free(product);
  return same;
}

/* The other dimensions say what value dimension d has. */
static bool
is_determined(__isl_keep isl_set *set, uint32_t n, uint32_t d) {
  isl_map *map = isl_map_from_domain(isl_set_copy(set));
  map = isl_map_move_dims(map, isl_dim_out, 0, isl_dim_in, d, 1);
  bool is = n > 1 && isl_map_is_single_valued(map) == isl_bool_true;
  isl_map_free(map);
  return is;
}

/* As many points in fewer dimensions. */
static __isl_give isl_set *
without_determined(__isl_take isl_set *set) {
  isl_size dim = isl_set_dim(set, isl_dim_set);
  uint32_t n = dim < 0 ? 0 : (uint32_t)dim;
  for (uint32_t d = n; d-- > 0;)
    if (is_determined(set, n, d)) {
      set = isl_set_project_out(set, isl_dim_set, d, 1);
      n--;
    }
  return isl_set_coalesce(set);
}

/* Walks over all dimensions but the last one. */
static int64_t
count_by_walk(__isl_keep isl_set *set, const int64_t *size, uint32_t n,
              int64_t most) {
  int64_t walk = 1;
  for (uint32_t d = 0; d + 1 < n; d++)
    walk = times(walk, size[d]);
  if (walk < 0 || walk > most)
    return -1;
  return po_int_or(isl_set_count_val(set), -1);
}

/* ---- dimensions that have nothing to do with each other ---- */

enum { MOST_DIVS = 64 };

/* Which dimensions and divisions of a basic set are related; a forest. */
typedef struct relation {
  uint32_t up[PO_MAX_DEPTH + MOST_DIVS], n_dims, n_divs;
} relation;

static uint32_t
top_of(const relation *r, uint32_t k) {
  while (r->up[k] != k)
    k = r->up[k];
  return k;
}

/* Of two, the first is the top: that of a dimension is a dimension. */
static void
relate(relation *r, uint32_t *last, uint32_t k) {
  uint32_t a = top_of(r, k), b = *last == UINT32_MAX ? a : top_of(r, *last);
  r->up[a > b ? a : b] = a > b ? b : a;
  *last = k;
}

static void
relate_constraint(relation *r, __isl_keep isl_constraint *c) {
  uint32_t last = UINT32_MAX;
  for (uint32_t d = 0; d < r->n_dims; d++)
    if (isl_constraint_involves_dims(c, isl_dim_set, d, 1) != isl_bool_false)
      relate(r, &last, d);
  for (uint32_t d = 0; d < r->n_divs; d++)
    if (isl_constraint_involves_dims(c, isl_dim_div, d, 1) != isl_bool_false)
      relate(r, &last, r->n_dims + d);
}

static void
relate_division(relation *r, __isl_keep isl_local_space *space, uint32_t k) {
  uint32_t last = r->n_dims + k;
  isl_aff *div = isl_local_space_get_div(space, (int)k);
  for (uint32_t d = 0; d < r->n_dims; d++)
    if (isl_aff_involves_dims(div, isl_dim_in, d, 1) == isl_bool_true)
      relate(r, &last, d);
  for (uint32_t d = 0; d < k; d++)
    if (isl_aff_involves_dims(div, isl_dim_div, d, 1) == isl_bool_true)
      relate(r, &last, r->n_dims + d);
  isl_aff_free(div);
}

/* False where the set is no single conjunction, or too large a one. */
static bool
find_relation(__isl_keep isl_set *set, uint32_t n, relation *r) {
  if (isl_set_n_basic_set(set) != 1 || n > PO_MAX_DEPTH)
    return false;
  isl_basic_set_list *parts = isl_set_get_basic_set_list(set);
  isl_basic_set *part = isl_basic_set_list_get_basic_set(parts, 0);
  isl_size divs = isl_basic_set_dim(part, isl_dim_div);
  isl_constraint_list *all = isl_basic_set_get_constraint_list(part);
  isl_size m = isl_constraint_list_n_constraint(all);
  isl_local_space *space = isl_basic_set_get_local_space(part);
  *r = (relation){.n_dims = n, .n_divs = divs < 0 ? 0 : (uint32_t)divs};
  bool ok = divs >= 0 && divs <= MOST_DIVS && m >= 0;
  for (uint32_t k = 0; ok && k < n + r->n_divs; k++)
    r->up[k] = k;
  for (isl_size k = 0; ok && k < m; k++) {
    isl_constraint *c = isl_constraint_list_get_constraint(all, (int)k);
    relate_constraint(r, c);
    isl_constraint_free(c);
  }
  for (uint32_t k = 0; ok && k < r->n_divs; k++)
    relate_division(r, space, k);
  isl_local_space_free(space);
  isl_constraint_list_free(all);
  isl_basic_set_free(part);
  isl_basic_set_list_free(parts);
  return ok;
}

static bool
is_one_part(const relation *r) {
  for (uint32_t d = 0; d < r->n_dims; d++)
    if (top_of(r, d) != 0)
      return false;
  return true;
}

/* Over the dimensions below `top` alone. */
static __isl_give isl_set *
part_of(__isl_keep isl_set *set, const relation *r, uint32_t top) {
  isl_set *part = isl_set_copy(set);
  for (uint32_t d = r->n_dims; d-- > 0;)
    if (top_of(r, d) != top)
      part = isl_set_project_out(part, isl_dim_set, d, 1);
  return part;
}

/* ---- all ---- */

/* Takes the set, of which no dimension is determined by the others. */
static int64_t
count_whole(__isl_take isl_set *set, int64_t most) {
  isl_size dim = isl_set_dim(set, isl_dim_set);
  uint32_t n = dim < 0 ? 0 : (uint32_t)dim;
  int64_t lo[PO_MAX_DEPTH], size[PO_MAX_DEPTH], count = 1;
  if (dim < 0 || n > PO_MAX_DEPTH || isl_set_is_empty(set) != isl_bool_false ||
      !extents_of(set, n, lo, size)) {
    bool empty = set && isl_set_is_empty(set) == isl_bool_true;
    isl_set_free(set);
    return empty ? 0 : -1;
  }
  bool box = is_box(set, n, lo, size);
  for (uint32_t d = n; !box && d-- > 0;) {
    if (n < 2 || !splits_off(set, n, d))
      continue;
    isl_set *alone =
        isl_set_project_out(isl_set_copy(set), isl_dim_set, d + 1, n - d - 1);
    alone = isl_set_project_out(alone, isl_dim_set, 0, d);
    count = times(count, count_by_walk(alone, &size[d], 1, most));
    isl_set_free(alone);
    set = isl_set_project_out(set, isl_dim_set, d, 1);
    for (uint32_t k = d; k + 1 < n; k++)
      size[k] = size[k + 1];
    n--;
  }
  for (uint32_t d = 0; box && d < n; d++)
    count = times(count, size[d]);
  if (!box)
    count = times(count, count_by_walk(set, size, n, most));
  isl_set_free(set);
  return count;
}

int64_t
po_count_points_within(isl_set *set, int64_t most) {
  assert(most >= 0);
  relation r;
  int64_t count = 1;
  if (isl_set_dim(set, isl_dim_param) > 0) { /* as many as the sizes say */
    isl_set_free(set);
    return -1;
  }
  set = without_determined(isl_set_coalesce(set));
  isl_size n = isl_set_dim(set, isl_dim_set);
  if (n < 2 || !find_relation(set, (uint32_t)n, &r) || is_one_part(&r))
    return count_whole(set, most);
  for (uint32_t d = 0; d < (uint32_t)n && count; d++)
    if (top_of(&r, d) == d)
      count = times(count, count_whole(part_of(set, &r, d), most));
  isl_set_free(set);
  return count;
}

int64_t
po_count_points(isl_set *set) {
  return po_count_points_within(set, MAX_WALK);
}

double
po_estimate_instances(const po_program *p, uint32_t stmt) {
  assert(stmt < p->stmts.len);
  const po_stmt *s = &p->stmts.data[stmt];
  int64_t lo[PO_MAX_DEPTH], size[PO_MAX_DEPTH];
  double product = 1;
  if (s->n_iters > PO_MAX_DEPTH || !extents_of(s->domain, s->n_iters, lo, size))
    return 0;
  for (uint32_t d = 0; d < s->n_iters; d++)
    product *= (double)size[d];
  return product;
}

int64_t
po_likely_points(const po_program *p, isl_set *set) {
  return po_count_points(po_at_greatest(p, set));
}

int64_t
po_likely_instances(const po_program *p, uint32_t stmt) {
  assert(stmt < p->stmts.len);
  return po_has_sizes(p)
             ? po_likely_points(p, isl_set_copy(p->stmts.data[stmt].domain))
             : po_count_instances(p, stmt);
}

int64_t
po_count_instances(const po_program *p, uint32_t stmt) {
  assert(stmt < p->stmts.len);
  po_stmt *s = &p->stmts.data[stmt];
  if (s->counted != s->domain) {
    s->instances = po_count_points(isl_set_copy(s->domain));
    s->counted = po_is_exhausted(p->isl) ? NULL : s->domain;
  }
  return s->instances;
}
