/* SPDX-License-Identifier: MIT */
/* body.h - a statement's body being written (private to its files). */
#ifndef CODEGEN_BODY_H
#define CODEGEN_BODY_H

#include "codegen/emit.h"

typedef struct cg_body {
  cg_emitter *e;
  const cg_scope *scope;
  const po_stmt *stmt;
  const cg_user_note *note;
  bs_text *out; /* e->body */
  /* By expression: the text of the element that it reads; NULL: by the note. */
  const char *const *places;
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
void cg_put_kid(const cg_body *, uint32_t k);
void cg_put_bare(const cg_body *, uint32_t k);
void cg_put_target(const cg_body *);
void cg_put_target_value(const cg_body *);

/* constant.c: an expression whose value is known; whether it is this one. */
bool cg_known_value(const cg_body *, uint32_t k, double *out);
bool cg_is_factor(const cg_body *, uint32_t k, double value);

/* operator.c */
void cg_put_unary(const cg_body *, const po_expr *);
void cg_put_binary(const cg_body *, gs_compute, gs_dtype, cg_side, cg_side);
gs_dtype cg_dtype_of(const cg_body *, uint32_t kid);
void cg_put_rounded(const cg_body *, uint32_t k);

#endif
