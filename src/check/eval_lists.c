/* SPDX-License-Identifier: MIT */
/* eval_lists.c - the functions of lists and permutations. */
#include "check/check.h"
#include "glenside/expr_functions.h"
#include <string.h>

typedef struct items {
  bs_value *v; /* room for one more */
  uint32_t n;
} items;

static bool
read(const ck_env *e, const ck_val *a, items *out) {
  const bs_values *values = e->ctx->values;
  if (a->is_term || bs_kind_of(values, a->v) != BS_KIND_LIST)
    return false;
  out->n = bs_len(values, a->v);
  out->v = BS_NEWS(e->ctx->arena, bs_value, out->n + 1);
  for (uint32_t k = 0; k < out->n; k++)
    out->v[k] = bs_item(values, a->v, k);
  return true;
}

static bool
give(const ck_env *e, const bs_value *v, uint32_t n, ck_val *out) {
  return n <= GS_MAX_LIST && ck_give(out, bs_list(e->ctx->values, v, n));
}

static bool
give_int(const ck_env *e, int64_t i, ck_val *out) {
  return ck_give(out, bs_int(e->ctx->values, i));
}

static bool
give_bool(const ck_env *e, bool b, ck_val *out) {
  return ck_give(out, bs_bool(e->ctx->values, b));
}

static bool
index_of(const ck_env *e, const ck_val *a, uint32_t n, int64_t *at) {
  return ck_int(e, a, at) && *at >= 0 && *at < n;
}

static bool
ints(const ck_env *e, const items *l, int64_t *out) {
  for (uint32_t k = 0; k < l->n; k++) {
    ck_val one = {.v = l->v[k]};
    if (!ck_int(e, &one, &out[k]))
      return false;
  }
  return true;
}

static uint32_t
place_of(const ck_env *e, const items *l, const ck_val *item) {
  uint32_t k = 0;
  while (k < l->n &&
         (item->is_term || !ck_same(e->ctx->values, l->v[k], item->v)))
    k++;
  return k;
}

/* ---- from one list ---- */

static bool
total(const ck_env *e, const items *l, bool product, ck_val *out) {
  int64_t acc = product, i;
  for (uint32_t k = 0; k < l->n; k++) {
    ck_val one = {.v = l->v[k]};
    if (!ck_int(e, &one, &i) ||
        (product ? __builtin_mul_overflow(acc, i, &acc)
                 : __builtin_add_overflow(acc, i, &acc)))
      return false;
  }
  return give_int(e, acc, out);
}

static bool
reversed(const ck_env *e, const items *l, ck_val *out) {
  for (uint32_t i = 0, k = l->n; i < k; i++) {
    bs_value v = l->v[i];
    l->v[i] = l->v[--k];
    l->v[k] = v;
  }
  return give(e, l->v, l->n, out);
}

/* Items `from` to `to` - 1, and `item` instead, when there is one. */
static bool
splice(const ck_env *e, const items *l, int64_t from, int64_t to,
       const ck_val *item, ck_val *out) {
  if (from < 0 || to < from || to > l->n || (item && item->is_term))
    return false;
  bs_value *v = BS_NEWS(e->ctx->arena, bs_value, l->n + 1);
  uint32_t n = 0;
  for (int64_t k = 0; k < from; k++)
    v[n++] = l->v[k];
  if (item)
    v[n++] = item->v;
  for (int64_t k = to; k < l->n; k++)
    v[n++] = l->v[k];
  return give(e, v, n, out);
}

static bool
part(const ck_env *e, const items *l, int64_t lo, int64_t hi, ck_val *out) {
  return lo >= 0 && lo <= hi && hi <= l->n &&
         give(e, l->v + lo, (uint32_t)(hi - lo), out);
}

static bool
all_equal(const ck_env *e, const items *l, const ck_val *item, ck_val *out) {
  bool all = true;
  for (uint32_t k = 0; k < l->n; k++)
    all &= ck_same(e->ctx->values, l->v[k], item ? item->v : l->v[0]);
  return give_bool(e, all, out);
}

/* ---- permutations ---- */

static bool
permutation(const ck_env *e, const items *l, int64_t *p) {
  uint64_t seen = 0;
  if (l->n > 64 || !ints(e, l, p))
    return false;
  for (uint32_t k = 0; k < l->n; k++) {
    if (p[k] < 0 || p[k] >= l->n || seen >> p[k] & 1)
      return false;
    seen |= UINT64_C(1) << p[k];
  }
  return true;
}

static bool
is_permutation(const ck_env *e, const items *l, ck_val *out) {
  int64_t p[64];
  return give_bool(e, permutation(e, l, p), out);
}

static bool
inverted(const ck_env *e, const items *l, ck_val *out) {
  int64_t p[64];
  bs_value v[64];
  if (!permutation(e, l, p))
    return false;
  for (uint32_t k = 0; k < l->n; k++)
    v[p[k]] = bs_int(e->ctx->values, k);
  return give(e, v, l->n, out);
}

static bool
permuted(const ck_env *e, const items *a, const items *b, bool both,
         ck_val *out) {
  int64_t p[64], q[64];
  bs_value v[64];
  if (a->n != b->n || !permutation(e, b, q) || (both && !permutation(e, a, p)))
    return false;
  for (uint32_t k = 0; k < a->n; k++)
    v[k] = a->v[q[k]];
  return give(e, v, a->n, out);
}

/* ---- made from numbers ---- */

static bool
range(const ck_env *e, int64_t lo, int64_t hi, int64_t step, ck_val *out) {
  bs_value v[GS_MAX_LIST];
  uint32_t n = 0;
  if (step < 1)
    return false;
  for (int64_t i = lo; i < hi; n++) {
    if (n == GS_MAX_LIST)
      return false;
    v[n] = bs_int(e->ctx->values, i);
    if (__builtin_add_overflow(i, step, &i))
      i = hi;
  }
  return give(e, v, n, out);
}

static bool
filled(const ck_env *e, const ck_val *a, ck_val *out) {
  bs_value v[GS_MAX_LIST];
  int64_t n;
  if (!ck_int(e, &a[0], &n) || n < 0 || n > GS_MAX_LIST || a[1].is_term)
    return false;
  for (int64_t k = 0; k < n; k++)
    v[k] = a[1].v;
  return give(e, v, (uint32_t)n, out);
}

static bool
halvings(const ck_env *e, const ck_val *a, uint32_t n, ck_val *out) {
  int64_t size, least = 1;
  if (!ck_int(e, &a[0], &size) || (n == 2 && !ck_int(e, &a[1], &least)))
    return false;
  bs_value half = bs_int(e->ctx->values, size / 2);
  return give(e, &half, size > 0 && size % 2 == 0 && size / 2 >= least, out);
}

/* The multiple of q nearest to n/2, the lower one of two, below n. */
static bool
cuts(const ck_env *e, const ck_val *a, ck_val *out) {
  int64_t n, q;
  if (!ck_int(e, &a[0], &n) || !ck_int(e, &a[1], &q) || q < 1 ||
      n > INT64_MAX / 4)
    return false;
  if (n <= q)
    return give(e, NULL, 0, out);
  int64_t low = n / 2 / q * q, high = low + q;
  bool lower = low >= q && n - 2 * low <= 2 * high - n;
  bs_value at = bs_int(e->ctx->values, lower ? low : high);
  return give(e, &at, 1, out);
}

/* ---- from two lists ---- */

static bool
item_by_item(const ck_env *e, uint16_t f, const items *a, const items *b,
             ck_val *out) {
  bool ok = a->n == b->n;
  for (uint32_t k = 0; ok && k < a->n; k++) {
    int64_t x, y, q = 0;
    ck_val u = {.v = a->v[k]}, w = {.v = b->v[k]};
    ok = ck_int(e, &u, &x) && ck_int(e, &w, &y);
    if (f == GS_F_DIV_LISTS || f == GS_F_MOD_LISTS) {
      ok = ok && y && !(x == INT64_MIN && y == -1);
      q = ok ? x / y - (x % y != 0 && (x < 0) != (y < 0)) : 0;
      q = f == GS_F_MOD_LISTS ? x - y * q : q;
    } else {
      ok = ok && !(f == GS_F_ADD_LISTS   ? __builtin_add_overflow(x, y, &q)
                   : f == GS_F_SUB_LISTS ? __builtin_sub_overflow(x, y, &q)
                                         : __builtin_mul_overflow(x, y, &q));
    }
    a->v[k] = bs_int(e->ctx->values, q);
  }
  return ok && give(e, a->v, a->n, out);
}

static bool
appended(const ck_env *e, const ck_val *a, uint32_t n, ck_val *out) {
  bs_value v[GS_MAX_LIST];
  uint32_t len = 0;
  for (uint32_t k = 0; k < n; k++) {
    items l;
    if (!read(e, &a[k], &l) || l.n > GS_MAX_LIST - len)
      return false;
    memcpy(v + len, l.v, l.n * sizeof *v);
    len += l.n;
  }
  return give(e, v, len, out);
}

static bool
listed(const ck_env *e, const ck_val *a, uint32_t n, ck_val *out) {
  bs_value v[GS_MAX_ARGUMENTS];
  for (uint32_t k = 0; k < n; k++) {
    if (a[k].is_term)
      return false;
    v[k] = a[k].v;
  }
  return give(e, v, n, out);
}

/* Functions whose arguments are no list first. */
static bool
of_numbers(const ck_env *e, uint16_t f, const ck_val *a, uint32_t n,
           ck_val *out, bool *known) {
  int64_t x, y, step = 1;
  items l;
  *known = true;
  switch (f) {
  case GS_F_LIST:
    return listed(e, a, n, out);
  case GS_F_IOTA:
    return ck_int(e, a, &x) && x >= 0 && range(e, 0, x, 1, out);
  case GS_F_RANGE:
    return ck_int(e, &a[0], &x) && ck_int(e, &a[1], &y) &&
           (n < 3 || ck_int(e, &a[2], &step)) && range(e, x, y, step, out);
  case GS_F_FILL:
    return filled(e, a, out);
  case GS_F_HALVINGS:
    return halvings(e, a, n, out);
  case GS_F_CUTS:
    return cuts(e, a, out);
  case GS_F_CONS:
    return read(e, &a[1], &l) && splice(e, &l, 0, 0, &a[0], out);
  case GS_F_APPEND:
    return appended(e, a, n, out);
  default:
    *known = false;
    return false;
  }
}

static bool
of_two_lists(const ck_env *e, uint16_t f, const items *l, const ck_val *b,
             ck_val *out) {
  items m;
  if (!read(e, b, &m))
    return false;
  switch (f) {
  case GS_F_COMPOSE:
    return permuted(e, l, &m, true, out);
  case GS_F_PERMUTE:
    return permuted(e, l, &m, false, out);
  default:
    return item_by_item(e, f, l, &m, out);
  }
}

static bool
of_places(const ck_env *e, uint16_t f, const items *l, const ck_val *a,
          ck_val *out) {
  int64_t i, j;
  if (!ck_int(e, &a[1], &i))
    return false;
  switch (f) {
  case GS_F_NTH:
    return index_of(e, &a[1], l->n, &i) && ck_give(out, l->v[i]);
  case GS_F_TAKE:
    return part(e, l, 0, i, out);
  case GS_F_DROP:
    return part(e, l, i, l->n, out);
  case GS_F_SLICE_LIST:
    return ck_int(e, &a[2], &j) && part(e, l, i, j, out);
  case GS_F_SET_NTH:
    return i < l->n && splice(e, l, i, i + 1, &a[2], out);
  case GS_F_INSERT_NTH:
    return splice(e, l, i, i, &a[2], out);
  default:
    return i < l->n && splice(e, l, i, i + 1, NULL, out);
  }
}

bool
ck_eval_list(const ck_env *e, uint16_t f, const ck_val *a, uint32_t n,
             ck_val *out) {
  bool known;
  items l;
  bool ok = of_numbers(e, f, a, n, out, &known);
  if (known || !n || !read(e, a, &l))
    return ok;
  switch (f) {
  case GS_F_PROD:
  case GS_F_SUM:
    return total(e, &l, f == GS_F_PROD, out);
  case GS_F_LEN:
  case GS_F_RANK:
    return give_int(e, l.n, out);
  case GS_F_LAST:
    return l.n && ck_give(out, l.v[l.n - 1]);
  case GS_F_REVERSE:
    return reversed(e, &l, out);
  case GS_F_INDEX_OF:
    return place_of(e, &l, &a[1]) < l.n &&
           give_int(e, place_of(e, &l, &a[1]), out);
  case GS_F_MEMBER:
    return give_bool(e, place_of(e, &l, &a[1]) < l.n, out);
  case GS_F_ALL_EQUAL:
    return all_equal(e, &l, n == 2 ? &a[1] : NULL, out);
  case GS_F_ALL_ONES: {
    ck_val one = {.v = bs_int(e->ctx->values, 1)};
    return all_equal(e, &l, &one, out);
  }
  case GS_F_IS_PERMUTATION:
    return is_permutation(e, &l, out);
  case GS_F_INVERT:
    return inverted(e, &l, out);
  case GS_F_COMPOSE:
  case GS_F_PERMUTE:
  case GS_F_ADD_LISTS:
  case GS_F_SUB_LISTS:
  case GS_F_MUL_LISTS:
  case GS_F_DIV_LISTS:
  case GS_F_MOD_LISTS:
    return of_two_lists(e, f, &l, &a[1], out);
  case GS_F_NTH:
  case GS_F_TAKE:
  case GS_F_DROP:
  case GS_F_SLICE_LIST:
  case GS_F_SET_NTH:
  case GS_F_INSERT_NTH:
  case GS_F_REMOVE_NTH:
    return of_places(e, f, &l, a, out);
  default:
    return false;
  }
}
