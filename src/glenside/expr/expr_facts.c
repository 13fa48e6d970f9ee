/* SPDX-License-Identifier: MIT */
/* expr_facts.c - what is known of a term, a dtype or a compute operator.
 *
 * Facts of a term come through the callbacks of the environment; a fact that
 * nobody knows is undefined, so that a condition over it fails. */
#include "glenside/expr/expr_apply.h"
#include <assert.h>

/* --- facts of a term ------------------------------------------------------ */

static bool
type_of(const gs_env *env, const gs_datum *d, bs_value *type) {
  if (d->kind != GS_D_CLASS || !env->type_of)
    return false;
  *type = env->type_of(env->facts, d->c);
  return type->i != 0;
}

/* Part 0 (S), 1 (C) or 2 (dtype) of the type. */
static bool
type_part(const gs_env *env, const gs_datum *d, uint32_t part, bs_value *out) {
  bs_value type;
  if (!type_of(env, d, &type))
    return false;
  *out = bs_item(env->values, type, part);
  return true;
}

static bool
dimensions(const gs_env *env, const gs_datum *d, int64_t *dims, uint32_t *n) {
  bs_value s, c;
  uint32_t m;
  if (!type_part(env, d, 0, &s) || !type_part(env, d, 1, &c) ||
      !bs_to_ints(env->values, s, dims, GS_MAX_RANK, n) ||
      !bs_to_ints(env->values, c, dims + *n, GS_MAX_RANK - *n, &m))
    return false;
  *n += m;
  return true;
}

FN(ACCESS_SHAPE) {
  UNUSED;
  bs_value s;
  return type_part(env, a, 0, &s) && give_value(out, s);
}

FN(COMPUTE_SHAPE) {
  UNUSED;
  bs_value c;
  return type_part(env, a, 1, &c) && give_value(out, c);
}

FN(SHAPE) {
  UNUSED;
  int64_t dims[GS_MAX_RANK];
  uint32_t rank;
  return dimensions(env, a, dims, &rank) && give_ints(env, dims, rank, out);
}

FN(DIM) {
  UNUSED;
  int64_t dims[GS_MAX_RANK];
  uint32_t rank;
  return dimensions(env, a, dims, &rank) && index_in(&a[1], rank) &&
         give_int(out, dims[a[1].i]);
}

FN(DTYPE) {
  UNUSED;
  bs_value dtype;
  return type_part(env, a, 2, &dtype) && give_value(out, dtype);
}

FN(ACCESS_RANK) {
  UNUSED;
  bs_value s;
  return type_part(env, a, 0, &s) && give_int(out, bs_len(env->values, s));
}

FN(COMPUTE_RANK) {
  UNUSED;
  bs_value c;
  return type_part(env, a, 1, &c) && give_int(out, bs_len(env->values, c));
}

FN(RANK) {
  int64_t dims[GS_MAX_RANK];
  uint32_t rank;
  if (a[0].kind != GS_D_CLASS)
    return gs_fn_LEN(env, a, n, out);
  return dimensions(env, a, dims, &rank) && give_int(out, rank);
}

FN(AXES) {
  UNUSED;
  int64_t dims[GS_MAX_RANK];
  uint32_t rank;
  return dimensions(env, a, dims, &rank) && gs_give_range(env, 0, rank, 1, out);
}

FN(ELEMENTS) {
  UNUSED;
  int64_t dims[GS_MAX_RANK], count = 1;
  uint32_t rank;
  if (!dimensions(env, a, dims, &rank))
    return false;
  for (uint32_t k = 0; k < rank; k++)
    if (!gs_mul_ints(count, dims[k], &count))
      return false;
  return give_int(out, count);
}

/* The list of (axis lo hi), NIL when none is known. */
static bs_value
zeros_of(const gs_env *env, const gs_datum *d) {
  if (d->kind != GS_D_CLASS || !env->zeros_of)
    return BS_NIL;
  return env->zeros_of(env->facts, d->c);
}

FN(ZEROS) {
  UNUSED;
  bs_value z = zeros_of(env, a);
  return give_value(out, z.i ? z : bs_list(env->values, NULL, 0));
}

/* The end of the known zeros of `axis` that cover place `at`, or `at`. */
static int64_t
zero_until(const gs_env *env, bs_value zeros, int64_t axis, int64_t at) {
  for (uint32_t k = 0; zeros.i && k < bs_len(env->values, zeros); k++) {
    int64_t region[3];
    uint32_t n;
    if (bs_to_ints(env->values, bs_item(env->values, zeros, k), region, 3,
                   &n) &&
        n == 3 && region[0] == axis && region[1] <= at && at < region[2])
      return region[2];
  }
  return at;
}

static bool
zero_between(const gs_env *env, bs_value zeros, int64_t axis, int64_t lo,
             int64_t hi) {
  while (lo < hi) {
    int64_t to = zero_until(env, zeros, axis, lo);
    if (to <= lo)
      return false;
    lo = to;
  }
  return true;
}

/* Is it known to be zero where a dimension lies in a range? */
static bool
zero_slab(const gs_env *env, const gs_datum *a, gs_datum *out) {
  int64_t dims[GS_MAX_RANK];
  uint32_t rank;
  if (!all_ints(a + 1, 3) || !dimensions(env, a, dims, &rank) ||
      !index_in(&a[1], rank) || a[2].i < 0 || a[3].i < a[2].i ||
      a[3].i > dims[a[1].i])
    return false;
  return give_bool(out,
                   zero_between(env, zeros_of(env, a), a[1].i, a[2].i, a[3].i));
}

static bs_value
constant_of(const gs_env *env, const gs_datum *d) {
  if (d->kind != GS_D_CLASS || !env->constant_of)
    return BS_NIL;
  return env->constant_of(env->facts, d->c);
}

FN(IS_ZERO) {
  int64_t dims[GS_MAX_RANK];
  uint32_t rank;
  if (n == 4)
    return zero_slab(env, a, out);
  if (!dimensions(env, a, dims, &rank))
    return false;
  bs_value constant = constant_of(env, a), zeros = zeros_of(env, a);
  bool zero = constant.i && bs_as_real(env->values, constant) == 0;
  for (uint32_t d = 0; d < rank && !zero; d++)
    zero = zero_between(env, zeros, d, 0, dims[d]);
  return give_bool(out, zero);
}

FN(IS_CONST) {
  UNUSED;
  return give_bool(out, constant_of(env, a).i != 0);
}

FN(CONSTANT) {
  UNUSED;
  bs_value v = constant_of(env, a);
  *out = gs_datum_of(env->values, v);
  return v.i != 0;
}

/* --- dtypes and compute operators ----------------------------------------- */

static bool
dtype_arg(const gs_env *env, const gs_datum *d, gs_dtype *out) {
  return d->kind == GS_D_VALUE &&
         bs_kind_of(env->values, d->v) == BS_KIND_SYM &&
         gs_dtype_find(bs_as_sym(env->values, d->v), out);
}

static bool
give_name(const gs_env *env, const char *name, gs_datum *out) {
  return give_value(out, bs_sym(env->values, name));
}

FN(DTYPE_BYTES) {
  UNUSED;
  gs_dtype t;
  return dtype_arg(env, a, &t) && give_int(out, gs_dtype_table[t].bytes);
}

FN(SUM_DTYPE) {
  UNUSED;
  gs_dtype t;
  return dtype_arg(env, a, &t) &&
         give_name(env, gs_dtype_table[gs_sum_dtype(t)].name, out);
}

FN(IS_INTEGER) {
  UNUSED;
  gs_dtype t;
  return dtype_arg(env, a, &t) && give_bool(out, gs_dtype_table[t].integer);
}

static bool
op_arg(const gs_env *env, const gs_datum *d, gs_compute *out) {
  return d->kind == GS_D_VALUE && gs_compute_of(env->values, d->v, out);
}

const char *const gs_kind_words[GS_COMPUTE_KINDS] = {
    [GS_REDUCE] = "reduce", [GS_DOT] = "dot",
    [GS_FOLD] = "fold",     [GS_ELEMENTWISE] = "elementwise",
    [GS_CAST] = "cast",     [GS_SOFTMAX] = "softmax",
    [GS_SELECT] = "select", [GS_GATHER] = "gather",
    [GS_LOOKUP] = "lookup"};

FN(OP_KIND) {
  UNUSED;
  gs_compute op;
  return op_arg(env, a, &op) &&
         give_name(env, gs_kind_words[gs_compute_table[op].kind], out);
}

FN(OP_NAME) {
  UNUSED;
  gs_compute op;
  return op_arg(env, a, &op) && give_name(env, gs_compute_table[op].name, out);
}

FN(OP_PARAM) {
  UNUSED;
  gs_compute op;
  if (!op_arg(env, a, &op) ||
      !index_in(&a[1], (uint32_t)strlen(gs_compute_table[op].params)))
    return false;
  bs_value v = gs_compute_param(env->values, a[0].v, (uint32_t)a[1].i);
  *out = gs_datum_of(env->values, v);
  return v.i != 0;
}

/* A reduction that is the fold of a tuple's operator, over all of C. */
static bool
is_fold_of_items(gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  const gs_compute_info *info = &gs_compute_table[op];
  return info->kind == GS_DOT ||
         (info->kind == GS_REDUCE && info->is_associative);
}

FN(FOLD_OF) {
  UNUSED;
  gs_compute op;
  if (!op_arg(env, a, &op) || !is_fold_of_items(op))
    return false;
  gs_compute fold = gs_fold_operator(gs_compute_table[op].fold);
  return give_name(env, gs_compute_table[fold].name, out);
}

FN(REDUCE_OF) {
  UNUSED;
  gs_compute op;
  if (!op_arg(env, a, &op) || gs_compute_table[op].kind != GS_FOLD)
    return false;
  for (int k = 0; k < GS_COMPUTE_COUNT; k++)
    if (gs_compute_table[k].kind == GS_REDUCE &&
        is_fold_of_items((gs_compute)k) &&
        gs_compute_table[k].fold == gs_compute_table[op].fold)
      return give_name(env, gs_compute_table[k].name, out);
  return false;
}

FN(IS_ASSOCIATIVE) {
  UNUSED;
  gs_compute op;
  return op_arg(env, a, &op) &&
         give_bool(out, gs_compute_table[op].is_associative);
}

FN(IS_MONOTONE) {
  UNUSED;
  gs_compute op;
  return op_arg(env, a, &op) && give_bool(out, gs_compute_table[op].rises);
}

FN(MAPS_ZERO) {
  UNUSED;
  gs_compute op;
  return op_arg(env, a, &op) &&
         give_bool(out, gs_compute_keeps_zero(env->values, a[0].v, op));
}
