/* SPDX-License-Identifier: MIT */
/* body.c - statement bodies as C expressions: reads, writes, statements.
 *
 * bf16 is rounded where it is stored and where it is cast to. */
#include "codegen/body.h"
#include "codegen/simd.h"
#include "codegen/stream.h"
#include "poly/loops/infix.h"
#include <math.h>

/* ---- memory ---- */

/* The element that access k of the statement names. */
static void
put_element(const cg_body *b, uint32_t array, uint32_t k) {
  if (b->places) {
    bs_put(b->out, b->places[k]);
    return;
  }
  bs_put(b->out, cg_array_name(b->e, b->scope, array));
  if (!b->note->index[k])
    return;
  bool by_name = cg_is_by_name(b->e, array);
  bs_putc(b->out, by_name ? '_' : '[');
  cg_put_index(b->e, b->note->index[k]);
  bs_put(b->out, by_name ? "" : "]");
}

static gs_dtype
array_dtype(const cg_body *b, uint32_t array) {
  return b->e->p->arrays.data[array].dtype;
}

static void
put_read(const cg_body *b, const po_expr *x, uint32_t k) {
  bool bf16 = array_dtype(b, x->array) == GS_BF16;
  double value;
  if (cg_known_value(b, k, &value)) {
    cg_put_literal(b->e, x->dtype, value);
    return;
  }
  if (bf16)
    bs_putf(b->out, "%s(", cg_helper_used(b->e, CG_BF16_TO_F32));
  put_element(b, x->array, k);
  bs_put(b->out, bf16 ? ")" : "");
}

static void
put_gather(const cg_body *b, const po_expr *x, uint32_t k) {
  bool bf16 = array_dtype(b, x->array) == GS_BF16;
  cg_helper clamp = cg_is_integer(cg_dtype_of(b, x->kids[0])) ? CG_CLAMP_INDEX
                                                              : CG_CLAMP_REAL;
  if (bf16)
    bs_putf(b->out, "%s(", cg_helper_used(b->e, CG_BF16_TO_F32));
  bs_putf(b->out, "%s[", cg_array_name(b->e, b->scope, x->array));
  cg_put_index(b->e, b->note->index[k]);
  bs_put(b->out, " + ");
  if (x->stride != 1)
    bs_putf(b->out, "%lld * ", (long long)x->stride);
  bs_putf(b->out, "%s(", cg_helper_used(b->e, clamp));
  cg_put_bare(b, x->kids[0]);
  bs_putf(b->out, ", %lld)]%s", (long long)x->count, bf16 ? ")" : "");
}

/* No call, no branch and few operators below. */
static bool
is_cheap(const cg_body *b, uint32_t k, uint32_t *operators) {
  const po_expr *x = &b->stmt->exprs[k];
  if (x->kind == PO_LITERAL || x->kind == PO_READ)
    return true;
  if (cg_has_branch_or_call(b->e, b->stmt, x) || !(*operators)--)
    return false;
  for (uint32_t j = 0; j < x->n_kids; j++)
    if (!is_cheap(b, x->kids[j], operators))
      return false;
  return true;
}

/* Values that cost little are computed whatever the condition is: elements
 * read in a branch alone would be read under a mask where loops become
 * vectors, which is slower, and which gcc 12 gets wrong at -O3 where it also
 * writes a short loop out. */
static void
put_select(const cg_body *b, const po_expr *x) {
  uint32_t operators = 4;
  if (cg_dtype_of(b, x->kids[0]) == x->dtype &&
      is_cheap(b, x->kids[1], &operators) &&
      is_cheap(b, x->kids[2], &operators)) {
    bs_putf(b->out, "%s(",
            cg_helper_used(b->e, cg_is_integer(x->dtype)  ? CG_SELECT_I32
                                 : cg_is_double(x->dtype) ? CG_SELECT_F64
                                                          : CG_SELECT_F32));
    for (uint32_t j = 0; j < 3; j++) {
      bs_put(b->out, j ? ", " : "");
      cg_put_bare(b, x->kids[j]);
    }
    bs_putc(b->out, ')');
    return;
  }
  cg_put_kid(b, x->kids[0]);
  bs_put(b->out, cg_is_integer(x->dtype) ? " > 0 ? " : " > 0.0f ? ");
  cg_put_kid(b, x->kids[1]);
  bs_put(b->out, " : ");
  cg_put_kid(b, x->kids[2]);
}

void
cg_put_bare(const cg_body *b, uint32_t k) {
  const po_expr *x = &b->stmt->exprs[k];
  switch (x->kind) {
  case PO_LITERAL:
    cg_put_literal(b->e, x->dtype, x->literal);
    break;
  case PO_READ:
    put_read(b, x, k);
    break;
  case PO_UNARY:
    cg_put_unary(b, x);
    break;
  case PO_BINARY:
    if (x->op == GS_C_MUL && !gs_dtype_table[x->dtype].integer) {
      uint32_t one = cg_is_factor(b, x->kids[1], 1);
      if (one || cg_is_factor(b, x->kids[0], 1)) {
        cg_put_bare(b, x->kids[!one]);
        break;
      }
    }
    cg_put_binary(b, x->op, x->dtype, (cg_side){.expr = x->kids[0]},
                  (cg_side){.expr = x->kids[1]});
    break;
  case PO_SELECT:
    put_select(b, x);
    break;
  case PO_GATHER:
    put_gather(b, x, k);
    break;
  }
}

/* Whether the text of an expression is one operand as it stands. */
static bool
is_primary(const cg_body *b, uint32_t k) {
  po_expr_kind kind = b->stmt->exprs[k].kind;
  double value;
  if (cg_known_value(b, k, &value))
    return !signbit(value);
  return kind == PO_READ || kind == PO_GATHER;
}

void
cg_put_kid(const cg_body *b, uint32_t k) {
  bool primary = is_primary(b, k);
  bs_put(b->out, primary ? "" : "(");
  cg_put_bare(b, k);
  bs_put(b->out, primary ? "" : ")");
}

/* ---- statements ---- */

/* The root as a value of the array's element type; bf16 that is only copied
 * keeps its bits. */
static void
put_stored(const cg_body *b, uint32_t root) {
  const po_expr *x = &b->stmt->exprs[root];
  if (array_dtype(b, b->stmt->array) != GS_BF16)
    cg_put_bare(b, root);
  else if (x->kind == PO_READ && array_dtype(b, x->array) == GS_BF16)
    put_element(b, x->array, root);
  else
    cg_put_rounded(b, root);
}

void
cg_put_target(const cg_body *b) {
  if (cg_is_streamed_here(b->scope->stream, b->note))
    cg_put_stream_element(b->scope->stream, b->note, b->out);
  else
    put_element(b, b->stmt->array, b->note->n - 1);
}

void
cg_put_target_value(const cg_body *b) {
  bool bf16 = array_dtype(b, b->stmt->array) == GS_BF16;
  if (bf16)
    bs_putf(b->out, "%s(", cg_helper_used(b->e, CG_BF16_TO_F32));
  cg_put_target(b);
  bs_put(b->out, bf16 ? ")" : "");
}

/* `acc += x` where C's own operator serves. */
static bool
has_compound(gs_compute op, gs_dtype dtype) {
  return po_infix_of(op) && !cg_is_integer(dtype) && dtype != GS_BF16;
}

static void
put_update(const cg_body *b, gs_dtype dtype, uint32_t root) {
  bool bf16 = dtype == GS_BF16;
  if (bf16)
    bs_putf(b->out, "%s(", cg_helper_used(b->e, CG_F32_TO_BF16));
  cg_put_binary(b, b->stmt->op, dtype, (cg_side){.kind = SIDE_TARGET},
                (cg_side){.expr = root});
  bs_put(b->out, bf16 ? ")" : "");
}

void
cg_put_stmt(cg_emitter *e, const cg_scope *scope, const cg_user_note *note) {
  const po_stmt *stmt = &e->p->stmts.data[note->stmt];
  cg_body b = {e, scope, stmt, note, &e->body, NULL};
  uint32_t root = stmt->n_exprs - 1;
  cg_put_target(&b);
  gs_dtype dtype = array_dtype(&b, stmt->array);
  if (stmt->kind == PO_UPDATE && has_compound(stmt->op, dtype)) {
    bs_putf(b.out, " %s= ", po_infix_of(stmt->op));
    cg_put_bare(&b, root);
  } else {
    bs_put(b.out, " = ");
    if (stmt->kind == PO_UPDATE)
      put_update(&b, dtype, root);
    else
      put_stored(&b, root);
  }
  bs_put(b.out, ";\n");
}
