/* SPDX-License-Identifier: MIT */
/* bounds.c - see bounds.h. */
#include "poly/loops/bounds.h"
#include "glenside/program/program.h"
#include "poly/loops/affine.h"
#include <assert.h>
#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/ilp.h>
#include <isl/map.h>

/* A box: the least and the most of each index. */
typedef struct box {
  uint32_t n;
  int64_t lo[GS_MAX_RANK], hi[GS_MAX_RANK];
} box;

/* The union of boxes so far, along one index. */
typedef struct reach {
  uint32_t d;
  bool any;
  int64_t lo, hi;
} reach;

static void
raise_to(int64_t *lo, int64_t value) {
  *lo = *lo < value ? value : *lo;
}

static void
lower_to(int64_t *hi, int64_t value) {
  *hi = *hi > value ? value : *hi;
}

/* by * index + constant >= 0, or = 0, where by is 1 or -1. */
static bool
bound(box *b, uint32_t d, int64_t by, int64_t constant, bool equal) {
  if ((by != 1 && by != -1) || constant == INT64_MIN)
    return false;
  if (by == 1 || equal)
    raise_to(&b->lo[d], -by * constant);
  if (by == -1 || equal)
    lower_to(&b->hi[d], -by * constant);
  return true;
}

static isl_stat
take(__isl_take isl_constraint *c, void *arg) {
  box *b = arg;
  int64_t constant, by[GS_MAX_RANK + 1];
  isl_aff *aff = isl_constraint_get_aff(c);
  uint32_t d = 0, others = 0;
  bool ok = po_affine_terms(aff, &constant, by);
  for (uint32_t k = 0; ok && k < b->n; k++) {
    others += by[k] != 0;
    d = by[k] ? k : d;
  }
  ok = ok && others == 1 &&
       bound(b, d, by[d], constant,
             isl_constraint_is_equality(c) == isl_bool_true);
  isl_aff_free(aff);
  isl_constraint_free(c);
  return ok ? isl_stat_ok : isl_stat_error;
}

static bool
is_empty(const box *b) {
  for (uint32_t k = 0; k < b->n; k++)
    if (b->lo[k] > b->hi[k])
      return true;
  return false;
}

static isl_stat
join(__isl_take isl_basic_set *basic, void *arg) {
  reach *r = arg;
  isl_size n = isl_basic_set_dim(basic, isl_dim_set);
  box b = {.n = n < 0 ? 0 : (uint32_t)n};
  for (uint32_t k = 0; k < b.n && k < GS_MAX_RANK; k++) {
    b.lo[k] = INT64_MIN;
    b.hi[k] = INT64_MAX;
  }
  bool ok = n > 0 && n <= GS_MAX_RANK &&
            isl_basic_set_dim(basic, isl_dim_div) == 0 &&
            isl_basic_set_foreach_constraint(basic, take, &b) == isl_stat_ok;
  isl_basic_set_free(basic);
  if (!ok)
    return isl_stat_error;
  if (is_empty(&b))
    return isl_stat_ok;
  r->lo = r->any && r->lo < b.lo[r->d] ? r->lo : b.lo[r->d];
  r->hi = r->any && r->hi > b.hi[r->d] ? r->hi : b.hi[r->d];
  r->any = true;
  return isl_stat_ok;
}

static bool
ask_isl(__isl_keep isl_set *set, uint32_t d, int64_t *lo, int64_t *hi) {
  bool ok = po_int(isl_set_dim_max_val(isl_set_copy(set), (int)d), hi);
  return po_int(isl_set_dim_min_val(isl_set_copy(set), (int)d), lo) && ok;
}

bool
po_bounds(__isl_keep isl_set *set, uint32_t d, int64_t *lo, int64_t *hi) {
  assert((isl_size)d < isl_set_dim(set, isl_dim_set) || !set);
  reach r = {.d = d};
  bool boxes = isl_set_dim(set, isl_dim_param) == 0 &&
               isl_set_foreach_basic_set(set, join, &r) == isl_stat_ok;
  if (!boxes)
    return ask_isl(set, d, lo, hi);
  *lo = r.lo;
  *hi = r.hi;
  return r.any && r.lo > INT64_MIN && r.hi < INT64_MAX;
}

bool
po_bounds_of_values(isl_pw_aff *function, int64_t *lo, int64_t *hi) {
  isl_set *values = isl_map_range(isl_map_from_pw_aff(function));
  bool ok = po_bounds(values, 0, lo, hi);
  isl_set_free(values);
  return ok;
}
