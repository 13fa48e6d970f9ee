/* SPDX-License-Identifier: MIT */
/* body.h - a statement's body being made (private to its files). */
#ifndef CODEGEN_BUILD_BODY_H
#define CODEGEN_BUILD_BODY_H

#include "codegen/build/build.h"

typedef struct cg_body {
  cg_emitter *e;
  const cg_scope *scope;
  const po_stmt *stmt;
  const cg_origin *origin;
  /* By expression: the element that it reads; NULL: by the origin. */
  const cg_expr *const *places;
} cg_body;

/* An operand of a binary operator: an expression, a literal, or the target. */
typedef struct cg_side {
  enum { SIDE_EXPR, SIDE_LITERAL, SIDE_TARGET } kind;
  uint32_t expr;
  double literal;
} cg_side;

static inline bool
cg_is_integer(gs_dtype dtype) {
  return gs_dtype_table[dtype].integer;
}

static inline bool
cg_is_double(gs_dtype dtype) {
  return dtype == GS_F64;
}

/* body.c: expression k, as an operand; as an argument or a right-hand side,
 * without parentheses; the element that the statement writes. */
const cg_expr *cg_make_kid(const cg_body *, uint32_t k);
const cg_expr *cg_make_value(const cg_body *, uint32_t k);
const cg_expr *cg_make_target_value(const cg_body *);
/* A helper of one argument or two. */
const cg_expr *cg_make_helper(const cg_body *, cg_helper, const cg_expr *a,
                              const cg_expr *b);

/* known.c: an expression whose value is known; whether it is this one. */
bool cg_known_value(const cg_body *, uint32_t k, double *out);
bool cg_is_factor(const cg_body *, uint32_t k, double value);

/* operator.c */
const cg_expr *cg_make_unary(const cg_body *, const po_expr *);
/* The operator of C that a fold is; CG_OP_NONE: it has none. */
cg_op cg_infix_of_compute(gs_compute);
const cg_expr *cg_make_binary(const cg_body *, gs_compute, gs_dtype, cg_side,
                              cg_side);
gs_dtype cg_dtype_of(const cg_body *, uint32_t kid);
/* The bits of expression k in a float of 16 bits; the helpers that widen one,
 * and round to one from f32, or from what is wider. */
const cg_expr *cg_make_rounded(const cg_body *, uint32_t k, gs_dtype half);
cg_helper cg_widening(gs_dtype half);
cg_helper cg_rounding(gs_dtype half, bool wide);

/* build_pattern.c: the text of ops.def for an operator, with `$` for the
 * operand and
 * @f for a function f of the dtype. */
const cg_expr *cg_make_pattern(const cg_body *, const char *text, gs_dtype,
                               uint32_t kid);

#endif
