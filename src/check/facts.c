/* SPDX-License-Identifier: MIT */
/* facts.c - functions that ask about a term, a dtype or a compute operator. */
#include "check/check.h"
#include "glenside/expr_functions.h"
#include <string.h>

static bool
give_int(const ck_env *e, int64_t i, ck_val *out) {
  return ck_give(out, bs_int(e->ctx->values, i));
}

static bool
give_bool(const ck_env *e, bool b, ck_val *out) {
  return ck_give(out, bs_bool(e->ctx->values, b));
}

static bool
give_name(const ck_env *e, const char *name, ck_val *out) {
  return name && ck_give(out, bs_sym(e->ctx->values, name));
}

static bool
give_dims(const ck_env *e, const gs_type *t, uint32_t lo, uint32_t hi,
          ck_val *out) {
  return ck_give(out, bs_ints(e->ctx->values, t->dim + lo, hi - lo));
}

/* ---- types ---- */

static bool
axes(const ck_env *e, uint32_t rank, ck_val *out) {
  int64_t all[GS_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++)
    all[k] = k;
  return ck_give(out, bs_ints(e->ctx->values, all, rank));
}

static bool
dim(const ck_env *e, const gs_type *t, const ck_val *a, ck_val *out) {
  int64_t at;
  return ck_int(e, a, &at) && at >= 0 && at < t->rank &&
         give_int(e, t->dim[at], out);
}

/* All axes of a term, or one range of one of them. */
static bool
is_zero(const ck_env *e, const gs_type *t, const ck_val *a, uint32_t n,
        ck_val *out) {
  int64_t axis, lo, hi;
  if (n != 4)
    return give_bool(e, ck_all_zero(e, a[0].t), out);
  if (!ck_int(e, &a[1], &axis) || !ck_int(e, &a[2], &lo) ||
      !ck_int(e, &a[3], &hi) || axis < 0 || axis >= t->rank || lo < 0 ||
      hi < lo || hi > t->dim[axis])
    return false;
  return give_bool(e, ck_is_zero(e, a[0].t, (uint32_t)axis, lo, hi), out);
}

static bool
of_term(const ck_env *e, uint16_t f, const ck_val *a, uint32_t n, ck_val *out) {
  gs_type t;
  gs_type_at(e->p, a[0].t, &t);
  switch (f) {
  case GS_F_ACCESS_SHAPE:
    return give_dims(e, &t, 0, t.access, out);
  case GS_F_COMPUTE_SHAPE:
    return give_dims(e, &t, t.access, t.rank, out);
  case GS_F_SHAPE:
    return give_dims(e, &t, 0, t.rank, out);
  case GS_F_DIM:
    return dim(e, &t, &a[1], out);
  case GS_F_DTYPE:
    return give_name(e, gs_dtype_table[t.dtype].name, out);
  case GS_F_ACCESS_RANK:
    return give_int(e, t.access, out);
  case GS_F_COMPUTE_RANK:
    return give_int(e, t.rank - t.access, out);
  case GS_F_RANK:
    return give_int(e, t.rank, out);
  case GS_F_AXES:
    return axes(e, t.rank, out);
  case GS_F_ELEMENTS:
    return give_int(e, gs_elements(&t), out);
  case GS_F_IS_ZERO:
    return is_zero(e, &t, a, n, out);
  case GS_F_IS_CONST:
    return give_bool(e, ck_constant(e, a[0].t).i != 0, out);
  case GS_F_CONSTANT:
    return ck_give(out, ck_constant(e, a[0].t));
  default:
    return false;
  }
}

/* ---- dtypes ---- */

static bool
of_dtype(const ck_env *e, uint16_t f, const ck_val *a, ck_val *out) {
  gs_dtype t;
  if (bs_kind_of(e->ctx->values, a->v) != BS_KIND_SYM ||
      !gs_dtype_find(bs_as_sym(e->ctx->values, a->v), &t))
    return false;
  switch (f) {
  case GS_F_DTYPE_BYTES:
    return give_int(e, gs_dtype_table[t].bytes, out);
  case GS_F_SUM_DTYPE:
    return give_name(e, gs_dtype_table[gs_sum_dtype(t)].name, out);
  case GS_F_IS_INTEGER:
    return give_bool(e, gs_dtype_table[t].integer, out);
  default:
    return false;
  }
}

/* ---- compute operators ---- */

static const char *
kind_of(gs_compute op) {
  switch (gs_compute_table[op].kind) {
  case GS_REDUCE:
    return "reduce";
  case GS_DOT:
    return "dot";
  case GS_FOLD:
    return "fold";
  case GS_ELEMENTWISE:
    return "elementwise";
  case GS_CAST:
    return "cast";
  case GS_SOFTMAX:
    return "softmax";
  case GS_SELECT:
    return "select";
  case GS_GATHER:
    return "gather";
  case GS_LOOKUP:
    return "lookup";
  }
  return NULL;
}

/* The tuple's operator that a reduction applies again and again. */
static const char *
fold_of(gs_compute op) {
  const gs_compute_info *info = &gs_compute_table[op];
  bool folds =
      info->kind == GS_DOT || (info->kind == GS_REDUCE && info->is_associative);
  return folds ? gs_compute_table[gs_fold_operator(info->fold)].name : NULL;
}

static const char *
reduce_of(gs_compute op) {
  for (int k = 0; k < GS_COMPUTE_COUNT; k++) {
    const gs_compute_info *info = &gs_compute_table[k];
    if (info->kind == GS_REDUCE && info->is_associative &&
        gs_compute_table[op].kind == GS_FOLD &&
        info->fold == gs_compute_table[op].fold)
      return info->name;
  }
  return NULL;
}

static bool
of_operator(const ck_env *e, uint16_t f, const ck_val *a, ck_val *out) {
  gs_compute op;
  int64_t k;
  if (!gs_compute_of(e->ctx->values, a->v, &op))
    return false;
  switch (f) {
  case GS_F_OP_KIND:
    return give_name(e, kind_of(op), out);
  case GS_F_OP_NAME:
    return give_name(e, gs_compute_table[op].name, out);
  case GS_F_OP_PARAM:
    return ck_int(e, &a[1], &k) && k >= 0 &&
           (size_t)k < strlen(gs_compute_table[op].params) &&
           ck_give(out, gs_compute_param(e->ctx->values, a->v, (uint32_t)k));
  case GS_F_FOLD_OF:
    return give_name(e, fold_of(op), out);
  case GS_F_REDUCE_OF:
    return give_name(e, reduce_of(op), out);
  case GS_F_IS_ASSOCIATIVE:
    return give_bool(e, gs_compute_table[op].is_associative, out);
  case GS_F_IS_MONOTONE:
    return give_bool(e, gs_compute_table[op].rises, out);
  case GS_F_MAPS_ZERO:
    return give_bool(e, gs_compute_keeps_zero(e->ctx->values, a->v, op), out);
  default:
    return false;
  }
}

bool
ck_eval_fact(const ck_env *e, uint16_t f, const ck_val *a, uint32_t n,
             ck_val *out) {
  if (!n)
    return false;
  if (a->is_term)
    return of_term(e, f, a, n, out);
  return of_dtype(e, f, a, out) || of_operator(e, f, a, out);
}
