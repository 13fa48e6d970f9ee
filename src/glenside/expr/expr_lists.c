/* SPDX-License-Identifier: MIT */
/* expr_lists.c - lists, permutations and cut points.
 *
 * A list is read in place (`view`) and built in a buffer of GS_MAX_LIST items
 * (`build`), so nothing is allocated but the interned result.  A view must not
 * be used after a value was interned. */
#include "glenside/expr/expr_apply.h"

/* --- lists, read ---------------------------------------------------------- */

FN(LEN) {
  UNUSED;
  view v;
  return view_list(env, a, &v) && give_int(out, v.n);
}

FN(NTH) {
  UNUSED;
  view v;
  if (!view_list(env, a, &v) || !index_in(&a[1], v.n))
    return false;
  *out = gs_datum_of(env->values, v.items[a[1].i]);
  return true;
}

FN(LAST) {
  UNUSED;
  view v;
  if (!view_list(env, a, &v) || !v.n)
    return false;
  *out = gs_datum_of(env->values, v.items[v.n - 1]);
  return true;
}

/* The place of an item, or the length. */
static uint32_t
find(const gs_env *env, const view *v, const gs_datum *item) {
  for (uint32_t k = 0; k < v->n; k++) {
    gs_datum d = gs_datum_of(env->values, v->items[k]);
    if (gs_same_datum(&d, item))
      return k;
  }
  return v->n;
}

FN(INDEX_OF) {
  UNUSED;
  view v;
  if (!view_list(env, a, &v))
    return false;
  uint32_t k = find(env, &v, &a[1]);
  return k < v.n && give_int(out, k);
}

FN(MEMBER) {
  UNUSED;
  view v;
  return view_list(env, a, &v) && give_bool(out, find(env, &v, &a[1]) < v.n);
}

static bool
every_item(const gs_env *env, const view *v, const gs_datum *item) {
  for (uint32_t k = 0; k < v->n; k++) {
    gs_datum d = gs_datum_of(env->values, v->items[k]);
    if (!gs_same_datum(&d, item))
      return false;
  }
  return true;
}

FN(ALL_EQUAL) {
  UNUSED;
  view v;
  if (!view_list(env, a, &v))
    return false;
  if (!v.n)
    return give_bool(out, true);
  gs_datum first = gs_datum_of(env->values, v.items[0]);
  return give_bool(out, every_item(env, &v, n == 2 ? &a[1] : &first));
}

FN(ALL_ONES) {
  UNUSED;
  view v;
  gs_datum one = {GS_D_INT, {.i = 1}};
  return view_list(env, a, &v) && give_bool(out, every_item(env, &v, &one));
}

/* --- lists, made ---------------------------------------------------------- */

FN(LIST) {
  UNUSED;
  build b = {.n = n};
  for (uint32_t k = 0; k < n; k++)
    if (!gs_datum_value(env->values, &a[k], &b.items[k]))
      return false;
  return give_list(env, &b, out);
}

FN(CONS) {
  UNUSED;
  build b = {.n = 0};
  bs_value head;
  view v;
  return gs_datum_value(env->values, &a[0], &head) &&
         view_list(env, &a[1], &v) && build_add(&b, &head, 1) &&
         build_add(&b, v.items, v.n) && give_list(env, &b, out);
}

FN(APPEND) {
  UNUSED;
  build b = {.n = 0};
  for (uint32_t k = 0; k < n; k++) {
    view v;
    if (!view_list(env, &a[k], &v) || !build_add(&b, v.items, v.n))
      return false;
  }
  return give_list(env, &b, out);
}

/* Items lo .. hi - 1. */
static bool
part(const gs_env *env, const view *v, int64_t lo, int64_t hi, gs_datum *out) {
  build b = {.n = 0};
  return lo <= hi && build_add(&b, v->items + lo, (uint32_t)(hi - lo)) &&
         give_list(env, &b, out);
}

FN(TAKE) {
  UNUSED;
  view v;
  return view_list(env, a, &v) && count_in(&a[1], v.n) &&
         part(env, &v, 0, a[1].i, out);
}

FN(DROP) {
  UNUSED;
  view v;
  return view_list(env, a, &v) && count_in(&a[1], v.n) &&
         part(env, &v, a[1].i, v.n, out);
}

FN(SLICE_LIST) {
  UNUSED;
  view v;
  return view_list(env, a, &v) && count_in(&a[1], v.n) &&
         count_in(&a[2], v.n) && part(env, &v, a[1].i, a[2].i, out);
}

/* a with `removed` items from place a[1] replaced by `item` (none if NIL) */
static bool
splice(const gs_env *env, const gs_datum *a, bs_value item, uint32_t removed,
       gs_datum *out) {
  build b = {.n = 0};
  view v;
  if (!view_list(env, a, &v) || a[1].kind != GS_D_INT || a[1].i < 0 ||
      a[1].i > (int64_t)v.n - removed)
    return false;
  uint32_t at = (uint32_t)a[1].i;
  return build_add(&b, v.items, at) && build_add(&b, &item, item.i != 0) &&
         build_add(&b, v.items + at + removed, v.n - at - removed) &&
         give_list(env, &b, out);
}

FN(SET_NTH) {
  UNUSED;
  bs_value item;
  return gs_datum_value(env->values, &a[2], &item) &&
         splice(env, a, item, 1, out);
}

FN(INSERT_NTH) {
  UNUSED;
  bs_value item;
  return gs_datum_value(env->values, &a[2], &item) &&
         splice(env, a, item, 0, out);
}

FN(REMOVE_NTH) {
  UNUSED;
  return splice(env, a, BS_NIL, 1, out);
}

FN(REVERSE) {
  UNUSED;
  build b = {.n = 0};
  view v;
  if (!view_list(env, a, &v))
    return false;
  for (uint32_t k = v.n; k-- > 0;)
    b.items[b.n++] = v.items[k];
  return give_list(env, &b, out);
}

bool
gs_give_range(const gs_env *env, int64_t lo, int64_t hi, int64_t step,
              gs_datum *out) {
  int64_t items[GS_MAX_LIST];
  uint32_t n = 0;
  if (step <= 0)
    return false;
  while (lo < hi) {
    if (n == GS_MAX_LIST)
      return false;
    items[n++] = lo;
    if (!gs_add_ints(lo, step, &lo))
      break;
  }
  return give_ints(env, items, n, out);
}

FN(IOTA) {
  UNUSED;
  return all_ints(a, 1) && a[0].i >= 0 && gs_give_range(env, 0, a[0].i, 1, out);
}

FN(RANGE) {
  UNUSED;
  return all_ints(a, n) &&
         gs_give_range(env, a[0].i, a[1].i, n == 3 ? a[2].i : 1, out);
}

FN(FILL) {
  UNUSED;
  build b = {.n = 0};
  bs_value item;
  if (!count_in(&a[0], GS_MAX_LIST) ||
      !gs_datum_value(env->values, &a[1], &item))
    return false;
  while (b.n < a[0].i)
    b.items[b.n++] = item;
  return give_list(env, &b, out);
}

static bool
zip(const gs_env *env, const gs_datum *a, int_step *step, gs_datum *out) {
  int64_t x[GS_MAX_LIST], y[GS_MAX_LIST];
  uint32_t n, m;
  if (!read_ints(env, &a[0], x, &n) || !read_ints(env, &a[1], y, &m) || n != m)
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (!step(x[k], y[k], &x[k]))
      return false;
  return give_ints(env, x, n, out);
}

FN(ADD_LISTS) {
  UNUSED;
  return zip(env, a, gs_add_ints, out);
}

FN(SUB_LISTS) {
  UNUSED;
  return zip(env, a, gs_sub_ints, out);
}

FN(MUL_LISTS) {
  UNUSED;
  return zip(env, a, gs_mul_ints, out);
}

FN(DIV_LISTS) {
  UNUSED;
  return zip(env, a, gs_div_ints, out);
}

FN(MOD_LISTS) {
  UNUSED;
  return zip(env, a, gs_mod_ints, out);
}

/* --- permutations and cut points ------------------------------------------ */

static bool
is_permutation(const int64_t *p, uint32_t n) {
  bool seen[GS_MAX_LIST] = {false};
  for (uint32_t k = 0; k < n; k++) {
    if (p[k] < 0 || p[k] >= n || seen[p[k]])
      return false;
    seen[p[k]] = true;
  }
  return true;
}

FN(IS_PERMUTATION) {
  UNUSED;
  int64_t p[GS_MAX_LIST];
  uint32_t len;
  return give_bool(out, read_ints(env, a, p, &len) && is_permutation(p, len));
}

FN(COMPOSE) {
  UNUSED;
  int64_t p[GS_MAX_LIST], q[GS_MAX_LIST];
  uint32_t len, m;
  if (!read_ints(env, &a[0], p, &len) || !read_ints(env, &a[1], q, &m) ||
      len != m || !is_permutation(p, len) || !is_permutation(q, len))
    return false;
  for (uint32_t k = 0; k < len; k++)
    q[k] = p[q[k]];
  return give_ints(env, q, len, out);
}

FN(INVERT) {
  UNUSED;
  int64_t p[GS_MAX_LIST], q[GS_MAX_LIST];
  uint32_t len;
  if (!read_ints(env, a, p, &len) || !is_permutation(p, len))
    return false;
  for (uint32_t k = 0; k < len; k++)
    q[p[k]] = k;
  return give_ints(env, q, len, out);
}

FN(PERMUTE) {
  UNUSED;
  build b = {.n = 0};
  int64_t p[GS_MAX_LIST];
  view v;
  if (!read_ints(env, &a[1], p, &b.n) || !view_list(env, a, &v) || b.n != v.n ||
      !is_permutation(p, v.n))
    return false;
  for (uint32_t k = 0; k < v.n; k++)
    b.items[k] = v.items[p[k]];
  return give_list(env, &b, out);
}

FN(HALVINGS) {
  UNUSED;
  if (!all_ints(a, n))
    return false;
  int64_t half = a[0].i / 2, least = n == 2 ? a[1].i : 1;
  bool cut = a[0].i > 0 && a[0].i % 2 == 0 && half >= least;
  return give_ints(env, &half, cut, out);
}

/* The multiple of q nearest n/2, the lower one of two, within q .. n - 1. */
static int64_t
middle_multiple(int64_t n, int64_t q) {
  int64_t below = n / 2 / q * q;
  int64_t above = below + q;
  bool lower = below >= q && n - 2 * below <= 2 * above - n;
  return lower ? below : above;
}

FN(CUTS) {
  UNUSED;
  if (!all_ints(a, 2) || a[1].i < 1 || a[0].i > INT64_MAX / 4)
    return false;
  if (a[0].i <= a[1].i)
    return give_ints(env, NULL, 0, out);
  int64_t at = middle_multiple(a[0].i, a[1].i);
  return give_ints(env, &at, 1, out);
}
