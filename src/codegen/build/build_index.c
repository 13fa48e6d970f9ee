/* SPDX-License-Identifier: MIT */
/* build_index.c - isl's AST expressions as those of the code tree.
 *
 * Operands are put in parentheses where their precedence asks for them.  isl
 * distinguishes quotients whose operands are known not to be negative, which
 * are C's, from floors, which need a function.  The nesting of these
 * expressions is bounded by the ranks of the language. */
#include "codegen/build/build.h"
#include <isl/val.h>

/* CG_OP_NONE: the operation is not one between operands. */
static cg_op
operator_of(enum isl_ast_expr_op_type op) {
  static const struct {
    enum isl_ast_expr_op_type op;
    cg_op infix;
  } table[] = {
      {isl_ast_expr_op_or, CG_OP_OR},
      {isl_ast_expr_op_or_else, CG_OP_OR},
      {isl_ast_expr_op_and, CG_OP_AND},
      {isl_ast_expr_op_and_then, CG_OP_AND},
      {isl_ast_expr_op_eq, CG_OP_EQUAL},
      {isl_ast_expr_op_le, CG_OP_AT_MOST},
      {isl_ast_expr_op_lt, CG_OP_LESS},
      {isl_ast_expr_op_ge, CG_OP_AT_LEAST},
      {isl_ast_expr_op_gt, CG_OP_GREATER},
      {isl_ast_expr_op_add, CG_OP_ADD},
      {isl_ast_expr_op_sub, CG_OP_SUBTRACT},
      {isl_ast_expr_op_mul, CG_OP_MULTIPLY},
      {isl_ast_expr_op_div, CG_OP_DIVIDE},
      {isl_ast_expr_op_pdiv_q, CG_OP_DIVIDE},
      {isl_ast_expr_op_pdiv_r, CG_OP_REMAINDER},
      {isl_ast_expr_op_zdiv_r, CG_OP_REMAINDER},
  };
  for (size_t k = 0; k < sizeof table / sizeof *table; k++)
    if (table[k].op == op)
      return table[k].infix;
  return CG_OP_NONE;
}

static const cg_expr *make(cg_emitter *, __isl_keep isl_ast_expr *, int level);

static const cg_expr *
make_arg(cg_emitter *e, __isl_keep isl_ast_expr *expr, int k, int level) {
  uint32_t mark = po_pool_mark(&e->pool);
  po_pool_reserve(&e->pool, 1);
  isl_ast_expr *arg =
      po_keep_ast_expr(&e->pool, isl_ast_expr_get_op_arg(expr, k));
  const cg_expr *out = make(e, arg, level);
  po_pool_release(&e->pool, mark);
  return out;
}

static const cg_expr *
make_number(cg_emitter *e, __isl_keep isl_ast_expr *expr, int level) {
  isl_val *val = isl_ast_expr_get_val(expr);
  long n = isl_val_get_num_si(val);
  bool exact = isl_val_is_int(val) == isl_bool_true && !isl_val_cmp_si(val, n);
  isl_val_free(val);
  e->failed |= !exact;
  const cg_expr *out = cg_number(&e->arena, n);
  return n < 0 && level > CG_LEVEL_ADD ? cg_paren(&e->arena, out) : out;
}

/* glen_max(a, glen_max(b, c)) */
static const cg_expr *
make_nested(cg_emitter *e, __isl_keep isl_ast_expr *expr, cg_helper helper) {
  int n = isl_ast_expr_get_op_n_arg(expr);
  const cg_expr *out = make_arg(e, expr, n - 1, CG_LEVEL_CHOICE);
  for (int k = n - 1; k-- > 0;)
    out = cg_called(
        &e->arena, cg_helper_names[helper], 2,
        (const cg_expr *const[]){make_arg(e, expr, k, CG_LEVEL_CHOICE), out});
  return out;
}

static const cg_expr *
make_infix(cg_emitter *e, __isl_keep isl_ast_expr *expr, cg_op op, int level) {
  int n = isl_ast_expr_get_op_n_arg(expr), own = cg_level_of_operator(op);
  bool chains = own >= CG_LEVEL_ADD || own <= CG_LEVEL_AND;
  const cg_expr **args = BS_NEWS(&e->arena, const cg_expr *, (uint32_t)n);
  for (int k = 0; k < n; k++)
    args[k] =
        make_arg(e, expr, k,
                 own == CG_LEVEL_OR ? CG_LEVEL_EQUAL /* compilers ask for it */
                                    : own + (k > 0 || !chains));
  const cg_expr *out = cg_infix_of(&e->arena, op, (uint32_t)n, args);
  return own < level ? cg_paren(&e->arena, out) : out;
}

static const cg_expr *
make_minus(cg_emitter *e, __isl_keep isl_ast_expr *expr, int level) {
  const cg_expr *out =
      cg_prefix(&e->arena, CG_OP_NEGATE, make_arg(e, expr, 0, CG_LEVEL_UNARY));
  return level > CG_LEVEL_ADD ? cg_paren(&e->arena, out) : out;
}

static const cg_expr *
make_choice(cg_emitter *e, __isl_keep isl_ast_expr *expr) {
  const cg_expr *arg[3];
  for (int k = 0; k < 3; k++)
    arg[k] = make_arg(e, expr, k, CG_LEVEL_OR);
  return cg_paren(&e->arena, cg_choice(&e->arena, arg[0], arg[1], arg[2]));
}

static const cg_expr *
fail(cg_emitter *e) {
  e->failed = true;
  return cg_number(&e->arena, 0);
}

static const cg_expr *
make_operation(cg_emitter *e, __isl_keep isl_ast_expr *expr, int level) {
  enum isl_ast_expr_op_type op = isl_ast_expr_op_get_type(expr);
  cg_op infix = operator_of(op);
  if (infix != CG_OP_NONE)
    return make_infix(e, expr, infix, level);
  switch ((int)op) {
  case isl_ast_expr_op_max:
    return make_nested(e, expr, CG_MAX_INDEX);
  case isl_ast_expr_op_min:
    return make_nested(e, expr, CG_MIN_INDEX);
  case isl_ast_expr_op_fdiv_q:
    return make_nested(e, expr, CG_FLOOR_DIV);
  case isl_ast_expr_op_minus:
    return make_minus(e, expr, level);
  case isl_ast_expr_op_cond:
  case isl_ast_expr_op_select:
    return make_choice(e, expr);
  default:
    return fail(e);
  }
}

static const cg_expr *
make_name(cg_emitter *e, __isl_keep isl_ast_expr *expr) {
  isl_id *id = isl_ast_expr_get_id(expr);
  const char *name = bs_arena_strdup(&e->arena, isl_id_get_name(id));
  isl_id_free(id);
  return cg_name(&e->arena, name);
}

static const cg_expr *
make(cg_emitter *e, isl_ast_expr *expr, int level) {
  switch ((int)isl_ast_expr_get_type(expr)) {
  case isl_ast_expr_op:
    return make_operation(e, expr, level);
  case isl_ast_expr_int:
    return make_number(e, expr, level);
  case isl_ast_expr_id:
    return make_name(e, expr);
  default:
    return fail(e);
  }
}

const cg_expr *
cg_make_index(cg_emitter *e, isl_ast_expr *expr) {
  return make(e, expr, CG_LEVEL_CHOICE);
}
