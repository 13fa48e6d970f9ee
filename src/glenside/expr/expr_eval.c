/* SPDX-License-Identifier: MIT */
/* expr_eval.c - evaluation of expressions.
 *
 * A plain tree walk: an expression nests at most GS_MAX_NESTING deep and a
 * call has at most GS_MAX_ARGUMENTS arguments, so the stack is bounded.  Only
 * `and`, `or` and `if` look at arguments one by one; the logic is Kleene's. */
#include "glenside/expr/expr_functions.h"

static bool eval(const gs_expr *, const gs_env *, gs_datum *out);

/* What has the sort of real numbers is one.  Where it is kept as a value, a
 * whole number is an integer. */
static void
take_sort(const gs_expr *e, gs_datum *d) {
  if (e->sort == GS_SORT_REAL && d->kind == GS_D_INT)
    *d = (gs_datum){GS_D_REAL, {.r = (double)d->i}};
}

static bool
eval_var(const gs_expr *e, const gs_env *env, gs_datum *out) {
  if (e->slot >= env->n_slots || env->slots[e->slot] == UINT32_MAX)
    return false;
  if (e->sort == GS_SORT_CLASS) {
    *out = (gs_datum){GS_D_CLASS, {.c = env->slots[e->slot]}};
    return true;
  }
  bs_value v = {env->slots[e->slot]};
  *out = gs_datum_of(env->values, v);
  return v.i != 0;
}

/* `and` (decides on false) and `or` (decides on true). */
static bool
eval_logic(const gs_expr *e, const gs_env *env, bool decides, gs_datum *out) {
  bool defined = true;
  *out = (gs_datum){GS_D_BOOL, {.b = decides}};
  for (uint32_t k = 0; k < e->n_args; k++) {
    gs_datum d;
    if (!eval(e->args[k], env, &d) || d.kind != GS_D_BOOL)
      defined = false;
    else if (d.b == decides)
      return true;
  }
  out->b = !decides;
  return defined;
}

static bool
eval_if(const gs_expr *e, const gs_env *env, gs_datum *out) {
  gs_datum condition;
  if (!eval(e->args[0], env, &condition) || condition.kind != GS_D_BOOL)
    return false;
  return eval(e->args[condition.b ? 1 : 2], env, out);
}

static bool
eval_call(const gs_expr *e, const gs_env *env, gs_datum *out) {
  gs_datum args[GS_MAX_ARGUMENTS];
  if (e->n_args > GS_MAX_ARGUMENTS)
    return false;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (!eval(e->args[k], env, &args[k]))
      return false;
  return gs_apply(e->function, env, args, e->n_args, out);
}

static bool
eval_any(const gs_expr *e, const gs_env *env, gs_datum *out) {
  if (e->kind == GS_X_LITERAL) {
    *out = gs_datum_of(env->values, e->literal);
    return true;
  }
  if (e->kind == GS_X_VAR)
    return eval_var(e, env, out);
  switch (e->function) {
  case GS_F_AND:
    return eval_logic(e, env, false, out);
  case GS_F_OR:
    return eval_logic(e, env, true, out);
  case GS_F_IF:
    return eval_if(e, env, out);
  default:
    return eval_call(e, env, out);
  }
}

static bool
eval(const gs_expr *e, const gs_env *env, gs_datum *out) {
  bool ok = eval_any(e, env, out);
  if (ok)
    take_sort(e, out);
  return ok;
}

bool
gs_expr_eval(const gs_expr *e, const gs_env *env, bs_value *out) {
  gs_datum d;
  if (e->kind == GS_X_LITERAL) {
    *out = e->literal;
    return true;
  }
  return eval(e, env, &d) && gs_datum_value(env->values, &d, out);
}

bool
gs_expr_test(const gs_expr *e, const gs_env *env) {
  gs_datum d;
  return eval(e, env, &d) && d.kind == GS_D_BOOL && d.b;
}
