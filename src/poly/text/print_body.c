/* SPDX-License-Identifier: MIT */
/* print_body.c - what a statement does, as text.
 *
 * The root of a body has the dtype of the array that is written, a read that
 * of its array, every other expression that of the one around it; where it has
 * another, `: dtype` in parentheses says so.  Bodies nest no deeper than
 * PO_MAX_NESTING, so that the walk is recursive. */
#include "poly/text/poly_text.h"
#include <assert.h>
#include <math.h>

typedef struct body {
  po_writer *w;
  const po_stmt *stmt;
  const char *const *names;
} body;

enum { LEVEL_ANY, LEVEL_ADD, LEVEL_MUL, LEVEL_ATOM };

static const gs_fold_info *
fold_of(gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  return &gs_fold_table[gs_compute_table[op].fold];
}

/* ---- accesses ---- */

static void
put_access(const body *b, uint32_t array, isl_pw_multi_aff *index) {
  assert(array < b->w->p->arrays.len);
  po_writer *w = b->w;
  uint32_t mark = po_pool_mark(&w->pool);
  po_pool_reserve(&w->pool, 1);
  isl_multi_aff *map = po_keep_multi_aff(
      &w->pool, isl_pw_multi_aff_as_multi_aff(isl_pw_multi_aff_copy(index)));
  isl_size n = map ? isl_multi_aff_dim(map, isl_dim_out) : 0;
  bs_putf(w->out, "%s[", w->p->arrays.data[array].name);
  for (isl_size d = 0; d < n; d++) {
    po_pool_reserve(&w->pool, 1);
    isl_aff *aff = po_keep_aff(&w->pool, isl_multi_aff_get_aff(map, (int)d));
    bs_put(w->out, d ? ", " : "");
    po_write_aff(w, aff, b->names);
  }
  bs_putc(w->out, ']');
  po_pool_release(&w->pool, mark);
}

/* ---- expressions ---- */

static void put_expr(const body *, uint32_t k, gs_dtype expected, int level);

static void
put_literal(bs_text *out, double literal) {
  if (isinf(literal))
    bs_put(out, literal < 0 ? "lowest" : "highest");
  else
    bs_put_real(out, literal);
}

static void
put_arguments(const body *b, const po_expr *e) {
  for (uint32_t j = 0; j < e->n_kids; j++) {
    bs_put(b->w->out, j ? ", " : "");
    put_expr(b, e->kids[j], e->dtype, LEVEL_ANY);
  }
}

/* clip(x, 0, 6); cast(x, i8); reduceMean(x, 9) */
static void
put_unary(const body *b, const po_expr *e) {
  bs_text *out = b->w->out;
  const bs_values *values = b->w->p->ctx.values;
  bs_putf(out, "%s(", gs_compute_table[e->op].name);
  put_arguments(b, e);
  if (e->op == GS_C_CAST) {
    bs_putf(out, ", %s", gs_dtype_table[e->dtype].name);
  } else if (e->op == GS_C_REDUCE_MEAN) {
    bs_put(out, ", ");
    if (e->by)
      po_write_aff(b->w, e->by, NULL);
    else
      bs_putf(out, "%.0f", e->literal);
  } else if (e->param.i) {
    bs_value param;
    for (uint32_t j = 0; (param = gs_compute_param(values, e->param, j)).i;
         j++) {
      bs_put(out, ", ");
      bs_put_value(out, values, param);
    }
  }
  bs_putc(out, ')');
}

static void
put_binary(const body *b, const po_expr *e, int level) {
  bs_text *out = b->w->out;
  const gs_fold_info *fold = fold_of(e->op);
  if (!fold->infix) {
    bs_putf(out, "%s(", gs_compute_table[e->op].name);
    put_arguments(b, e);
    bs_putc(out, ')');
    return;
  }
  bool parens = fold->binds < level;
  bs_put(out, parens ? "(" : "");
  put_expr(b, e->kids[0], e->dtype, fold->binds);
  bs_putf(out, " %s ", fold->infix);
  put_expr(b, e->kids[1], e->dtype, fold->binds + 1);
  bs_put(out, parens ? ")" : "");
}

static void
put_gather(const body *b, const po_expr *e) {
  bs_put(b->w->out, "gather(");
  put_access(b, e->array, e->index);
  bs_putf(b->w->out, ", %lld, %lld, ", (long long)e->stride,
          (long long)e->count);
  put_arguments(b, e);
  bs_putc(b->w->out, ')');
}

static void
put_bare(const body *b, const po_expr *e, int level) {
  switch (e->kind) {
  case PO_LITERAL:
    put_literal(b->w->out, e->literal);
    break;
  case PO_READ:
    put_access(b, e->array, e->index);
    break;
  case PO_GATHER:
    put_gather(b, e);
    break;
  case PO_SELECT:
    bs_put(b->w->out, "select(");
    put_arguments(b, e);
    bs_putc(b->w->out, ')');
    break;
  case PO_UNARY:
    put_unary(b, e);
    break;
  case PO_BINARY:
    put_binary(b, e, level);
    break;
  }
}

static void
put_expr(const body *b, uint32_t k, gs_dtype expected, int level) {
  assert(k < b->stmt->n_exprs);
  const po_expr *e = &b->stmt->exprs[k];
  if (e->kind == PO_READ)
    expected = b->w->p->arrays.data[e->array].dtype;
  else if (e->kind == PO_UNARY && e->op == GS_C_CAST)
    expected = e->dtype;
  bool told = e->dtype != expected;
  bs_put(b->w->out, told ? "(" : "");
  put_bare(b, e, told ? LEVEL_ANY : level);
  if (told)
    bs_putf(b->w->out, ": %s)", gs_dtype_table[e->dtype].name);
}

/* ---- calls ---- */

/* t0 + 16 [4 by 32, 8 by 1]; in loops t0[i, 0] over [4 by 32, 8 by 1] */
static void
put_operand(const body *b, const po_operand *operand) {
  po_writer *w = b->w;
  if (operand->base)
    put_access(b, operand->array, operand->base);
  else
    bs_putf(w->out, "%s + %lld", w->p->arrays.data[operand->array].name,
            (long long)operand->offset);
  bs_put(w->out, operand->base ? " over [" : " [");
  for (uint32_t d = 0; d < operand->rank; d++)
    bs_putf(w->out, "%s%lld by %lld", d ? ", " : "", (long long)operand->dim[d],
            (long long)operand->stride[d]);
  bs_putc(w->out, ']');
}

static void
put_call(const body *b) {
  po_writer *w = b->w;
  const po_stmt *stmt = b->stmt;
  const gs_instr *instr = stmt->instr;
  put_operand(b, &stmt->operands[instr->n_operands]);
  bs_putf(w->out, " = call %s{", instr->name);
  for (uint32_t k = 0; k < instr->scope.vars.len; k++) {
    bs_put(w->out, k ? ", " : "");
    bs_value value = {stmt->slots[k]};
    gs_sort sort = instr->scope.vars.data[k].sort;
    if (sort == GS_SORT_INT || sort == GS_SORT_REAL)
      bs_put_value(w->out, w->p->ctx.values, value);
    else
      bs_putc(w->out, '_');
  }
  bs_put(w->out, "}(");
  for (uint32_t k = 0; k < instr->n_operands; k++) {
    bs_put(w->out, k ? ", " : "");
    put_operand(b, &stmt->operands[k]);
  }
  bs_putc(w->out, ')');
}

/* `max` in `max=` */
static const char *
update_sign(gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  const gs_fold_info *fold = fold_of(op);
  return fold->infix ? fold->infix : gs_compute_table[op].name;
}

void
po_write_body(po_writer *w, const po_stmt *stmt, const char *const *names) {
  body b = {w, stmt, names};
  if (stmt->kind == PO_CALL) {
    put_call(&b);
    return;
  }
  put_access(&b, stmt->array, stmt->write);
  bs_putf(w->out,
          " %s= ", stmt->kind == PO_UPDATE ? update_sign(stmt->op) : "");
  put_expr(&b, stmt->n_exprs - 1, w->p->arrays.data[stmt->array].dtype,
           LEVEL_ANY);
}
