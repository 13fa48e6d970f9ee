/* SPDX-License-Identifier: MIT */
/* index.c - isl AST expressions as C.
 *
 * Binary operators are printed with as few parentheses as their precedence
 * asks for.  isl distinguishes quotients whose operands are known not to be
 * negative, which are C's, from floors, which need a function.  The nesting
 * of these expressions is bounded by the ranks of the language. */
#include "codegen/emit.h"
#include <string.h>

enum {
  LEVEL_COND,
  LEVEL_OR,
  LEVEL_AND,
  LEVEL_EQUAL,
  LEVEL_COMPARE,
  LEVEL_ADD,
  LEVEL_MUL,
  LEVEL_UNARY
};

typedef struct infix {
  const char *text;
  int level;
} infix;

static bool
infix_of(enum isl_ast_expr_op_type op, infix *out) {
  static const struct {
    enum isl_ast_expr_op_type op;
    infix infix;
  } table[] = {
      {isl_ast_expr_op_or, {" || ", LEVEL_OR}},
      {isl_ast_expr_op_or_else, {" || ", LEVEL_OR}},
      {isl_ast_expr_op_and, {" && ", LEVEL_AND}},
      {isl_ast_expr_op_and_then, {" && ", LEVEL_AND}},
      {isl_ast_expr_op_eq, {" == ", LEVEL_EQUAL}},
      {isl_ast_expr_op_le, {" <= ", LEVEL_COMPARE}},
      {isl_ast_expr_op_lt, {" < ", LEVEL_COMPARE}},
      {isl_ast_expr_op_ge, {" >= ", LEVEL_COMPARE}},
      {isl_ast_expr_op_gt, {" > ", LEVEL_COMPARE}},
      {isl_ast_expr_op_add, {" + ", LEVEL_ADD}},
      {isl_ast_expr_op_sub, {" - ", LEVEL_ADD}},
      {isl_ast_expr_op_mul, {" * ", LEVEL_MUL}},
      {isl_ast_expr_op_div, {" / ", LEVEL_MUL}},
      {isl_ast_expr_op_pdiv_q, {" / ", LEVEL_MUL}},
      {isl_ast_expr_op_pdiv_r, {" % ", LEVEL_MUL}},
      {isl_ast_expr_op_zdiv_r, {" % ", LEVEL_MUL}},
  };
  for (size_t k = 0; k < sizeof table / sizeof *table; k++)
    if (table[k].op == op) {
      *out = table[k].infix;
      return true;
    }
  return false;
}

static void put(cg_emitter *, __isl_keep isl_ast_expr *, int level);

static void
put_arg(cg_emitter *e, __isl_keep isl_ast_expr *expr, int k, int level) {
  uint32_t mark = po_pool_mark(&e->pool);
  isl_ast_expr *arg =
      po_keep_ast_expr(&e->pool, isl_ast_expr_get_op_arg(expr, k));
  put(e, arg, level);
  po_pool_release(&e->pool, mark);
}

static void
put_number(cg_emitter *e, __isl_keep isl_ast_expr *expr, int level) {
  isl_val *val = isl_ast_expr_get_val(expr);
  long n = isl_val_get_num_si(val);
  bool exact = isl_val_is_int(val) == isl_bool_true && !isl_val_cmp_si(val, n);
  isl_val_free(val);
  e->failed |= !exact;
  bs_putf(&e->body, n < 0 && level > LEVEL_ADD ? "(%ld)" : "%ld", n);
}

/* glen_max(a, glen_max(b, c)) */
static void
put_nested(cg_emitter *e, __isl_keep isl_ast_expr *expr, cg_helper helper) {
  int n = isl_ast_expr_get_op_n_arg(expr);
  for (int k = 0; k + 1 < n; k++) {
    bs_putf(&e->body, "%s(", cg_helper_used(e, helper));
    put_arg(e, expr, k, LEVEL_COND);
    bs_put(&e->body, ", ");
  }
  put_arg(e, expr, n - 1, LEVEL_COND);
  for (int k = 0; k + 1 < n; k++)
    bs_putc(&e->body, ')');
}

static void
put_infix(cg_emitter *e, __isl_keep isl_ast_expr *expr, infix op, int level) {
  int n = isl_ast_expr_get_op_n_arg(expr);
  bool parens = op.level < level;
  bool chains = op.level >= LEVEL_ADD || op.level <= LEVEL_AND;
  bs_put(&e->body, parens ? "(" : "");
  for (int k = 0; k < n; k++) {
    bs_put(&e->body, k ? op.text : "");
    put_arg(e, expr, k,
            op.level == LEVEL_OR ? LEVEL_EQUAL /* compilers ask for it */
                                 : op.level + (k > 0 || !chains));
  }
  bs_put(&e->body, parens ? ")" : "");
}

static void
put_conditional(cg_emitter *e, __isl_keep isl_ast_expr *expr) {
  bs_putc(&e->body, '(');
  put_arg(e, expr, 0, LEVEL_OR);
  bs_put(&e->body, " ? ");
  put_arg(e, expr, 1, LEVEL_OR);
  bs_put(&e->body, " : ");
  put_arg(e, expr, 2, LEVEL_OR);
  bs_putc(&e->body, ')');
}

static void
put_op(cg_emitter *e, __isl_keep isl_ast_expr *expr, int level) {
  enum isl_ast_expr_op_type op = isl_ast_expr_op_get_type(expr);
  infix found;
  if (infix_of(op, &found)) {
    put_infix(e, expr, found, level);
    return;
  }
  switch ((int)op) {
  case isl_ast_expr_op_max:
    put_nested(e, expr, CG_MAX_INDEX);
    break;
  case isl_ast_expr_op_min:
    put_nested(e, expr, CG_MIN_INDEX);
    break;
  case isl_ast_expr_op_fdiv_q:
    put_nested(e, expr, CG_FLOOR_DIV);
    break;
  case isl_ast_expr_op_minus:
    bs_put(&e->body, level > LEVEL_ADD ? "(-" : "-");
    put_arg(e, expr, 0, LEVEL_UNARY);
    bs_put(&e->body, level > LEVEL_ADD ? ")" : "");
    break;
  case isl_ast_expr_op_cond:
  case isl_ast_expr_op_select:
    put_conditional(e, expr);
    break;
  default:
    e->failed = true;
  }
}

static void
put(cg_emitter *e, isl_ast_expr *expr, int level) {
  switch ((int)isl_ast_expr_get_type(expr)) {
  case isl_ast_expr_op:
    put_op(e, expr, level);
    break;
  case isl_ast_expr_int:
    put_number(e, expr, level);
    break;
  case isl_ast_expr_id: {
    isl_id *id = isl_ast_expr_get_id(expr);
    const char *name = isl_id_get_name(id);
    isl_id_free(id); /* the expression still holds it */
    bs_put(&e->body, name);
    break;
  }
  default:
    e->failed = true;
  }
}

void
cg_put_index(cg_emitter *e, isl_ast_expr *expr) {
  put(e, expr, LEVEL_COND);
}

/* ---- numbers and coefficients ---- */

bool
cg_constant_index(isl_ast_expr *expr, int64_t *out) {
  if (isl_ast_expr_get_type(expr) != isl_ast_expr_int)
    return false;
  isl_val *val = isl_ast_expr_get_val(expr);
  *out = isl_val_get_num_si(val);
  isl_val_free(val);
  return true;
}

static bool
coefficient_of_arg(cg_emitter *e, __isl_keep isl_ast_expr *expr, int k,
                   const char *iterator, int64_t *out) {
  uint32_t mark = po_pool_mark(&e->pool);
  po_pool_reserve(&e->pool, 1);
  isl_ast_expr *arg =
      po_keep_ast_expr(&e->pool, isl_ast_expr_get_op_arg(expr, k));
  bool ok = cg_coefficient(e, arg, iterator, out);
  po_pool_release(&e->pool, mark);
  return ok;
}

/* The constant that argument k is. */
static bool
constant_arg(__isl_keep isl_ast_expr *expr, int k, int64_t *out) {
  isl_ast_expr *arg = isl_ast_expr_get_op_arg(expr, k);
  bool is = cg_constant_index(arg, out);
  isl_ast_expr_free(arg);
  return is;
}

static bool
coefficient_of_op(cg_emitter *e, __isl_keep isl_ast_expr *expr,
                  const char *iterator, int64_t *out) {
  enum isl_ast_expr_op_type op = isl_ast_expr_op_get_type(expr);
  int n = isl_ast_expr_get_op_n_arg(expr);
  int64_t arg[2] = {0, 0}, factor;
  for (int k = 0; k < n; k++)
    if (!coefficient_of_arg(e, expr, k, iterator, &arg[k > 0]) ||
        (k > 1 && arg[1]))
      return false;
  *out = 0;
  if (!arg[0] && !arg[1])
    return true;
  switch ((int)op) {
  case isl_ast_expr_op_add:
    return !__builtin_add_overflow(arg[0], arg[1], out);
  case isl_ast_expr_op_sub:
    return !__builtin_sub_overflow(arg[0], arg[1], out);
  case isl_ast_expr_op_minus:
    return !__builtin_sub_overflow(0, arg[0], out);
  case isl_ast_expr_op_mul:
    return (constant_arg(expr, 0, &factor) || constant_arg(expr, 1, &factor)) &&
           !__builtin_mul_overflow(arg[0] + arg[1], factor, out);
  default:
    return false;
  }
}

bool
cg_coefficient(cg_emitter *e, isl_ast_expr *expr, const char *iterator,
               int64_t *out) {
  if (isl_ast_expr_get_type(expr) == isl_ast_expr_op)
    return coefficient_of_op(e, expr, iterator, out);
  *out = 0;
  if (isl_ast_expr_get_type(expr) != isl_ast_expr_id)
    return isl_ast_expr_get_type(expr) == isl_ast_expr_int;
  isl_id *id = isl_ast_expr_get_id(expr);
  *out = !strcmp(isl_id_get_name(id), iterator);
  isl_id_free(id);
  return true;
}
