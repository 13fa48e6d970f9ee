/* SPDX-License-Identifier: MIT */
/* expr_apply.h - what the function bodies share (private to expr_*.c).
 *
 * A body is written `FN(ID) { ... }` for row ID of the table; it gets `env`,
 * `n` evaluated arguments `a`, and gives `*out` or returns false. */
#ifndef GLENSIDE_EXPR_APPLY_H
#define GLENSIDE_EXPR_APPLY_H

#include "glenside/expr/expr_functions.h"
#include <math.h>
#include <string.h>

#define FN(id)                                                                 \
  bool gs_fn_##id(const gs_env *env, const gs_datum *a, uint32_t n,            \
                  gs_datum *out)
#define UNUSED (void)env, (void)a, (void)n, (void)out

#define X(id, name, args, min, max, result, doc) FN(id);
GS_FUNCTIONS(X)
#undef X

static inline bool
give_int(gs_datum *out, int64_t i) {
  *out = (gs_datum){GS_D_INT, {.i = i}};
  return true;
}

static inline bool
give_real(gs_datum *out, double r) {
  *out = (gs_datum){GS_D_REAL, {.r = r}};
  return !isnan(r);
}

static inline bool
give_bool(gs_datum *out, bool b) {
  *out = (gs_datum){GS_D_BOOL, {.b = b}};
  return true;
}

static inline bool
give_value(gs_datum *out, bs_value v) {
  *out = (gs_datum){GS_D_VALUE, {.v = v}};
  return v.i != 0;
}

static inline bool
is_number(const gs_datum *d) {
  return d->kind == GS_D_INT || d->kind == GS_D_REAL;
}

static inline double
as_real(const gs_datum *d) {
  return d->kind == GS_D_INT ? (double)d->i : d->r;
}

static inline bool
all_ints(const gs_datum *args, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (args[k].kind != GS_D_INT)
      return false;
  return true;
}

static inline bool
all_numbers(const gs_datum *args, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (!is_number(&args[k]))
      return false;
  return true;
}

/* A list being read; `items` is valid until the next value is interned. */
typedef struct view {
  const bs_value *items;
  uint32_t n;
} view;

static inline bool
view_list(const gs_env *env, const gs_datum *d, view *out) {
  if (d->kind != GS_D_VALUE || bs_kind_of(env->values, d->v) != BS_KIND_LIST)
    return false;
  out->n = bs_len(env->values, d->v);
  out->items = bs_items(env->values, d->v);
  return out->n <= GS_MAX_LIST;
}

/* A list under construction. */
typedef struct build {
  bs_value items[GS_MAX_LIST];
  uint32_t n;
} build;

static inline bool
build_add(build *b, const bs_value *items, uint32_t n) {
  if (n > GS_MAX_LIST - b->n)
    return false;
  if (n)
    memcpy(b->items + b->n, items, n * sizeof *items);
  b->n += n;
  return true;
}

static inline bool
give_list(const gs_env *env, const build *b, gs_datum *out) {
  return give_value(out, bs_list(env->values, b->items, b->n));
}

static inline bool
give_ints(const gs_env *env, const int64_t *items, uint32_t n, gs_datum *out) {
  return give_value(out, bs_ints(env->values, items, n));
}

static inline bool
read_ints(const gs_env *env, const gs_datum *d, int64_t *out, uint32_t *n) {
  return d->kind == GS_D_VALUE &&
         bs_kind_of(env->values, d->v) == BS_KIND_LIST &&
         bs_to_ints(env->values, d->v, out, GS_MAX_LIST, n);
}

static inline bool
index_in(const gs_datum *d, uint32_t n) {
  return d->kind == GS_D_INT && d->i >= 0 && d->i < n;
}

static inline bool
count_in(const gs_datum *d, uint32_t n) {
  return d->kind == GS_D_INT && d->i >= 0 && d->i <= n;
}

/* Checked integer steps: false on overflow or division by zero. */
typedef bool int_step(int64_t, int64_t, int64_t *);
int_step gs_add_ints, gs_sub_ints, gs_mul_ints, gs_div_ints, gs_mod_ints;

/* lo, lo + step, ... below hi; undefined when longer than GS_MAX_LIST. */
bool gs_give_range(const gs_env *, int64_t lo, int64_t hi, int64_t step,
                   gs_datum *out);
/* Are two data equal?  1 and 1.0 are. */
bool gs_same_datum(const gs_datum *, const gs_datum *);

#endif
