/* SPDX-License-Identifier: MIT */
/* forms_where.c - what a condition makes of a form while forms are listed.
 *
 * Clauses whose value follows from the form are evaluated, as in a run: one
 * that is false rules the form out, and a definition or a choice of a list
 * gives a variable its value.  All others ask for sizes. */
#include "prove/symbolic/listing.h"

static bool
is_class(const gs_expr *e) {
  return e->kind == GS_X_VAR && e->sort == GS_SORT_CLASS;
}

static bool
is_form_fact(const gs_expr *e) {
  static const char *const names[] = {"rank", "access-rank", "compute-rank",
                                      "dtype", "axes"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (gs_expr_is_call(e, names[k]))
      return e->n_args == 1 && is_class(e->args[0]);
  return false;
}

bool
ls_follows(const ls_walk *w, const gs_expr *e) {
  if (e->settable || is_class(e))
    return false;
  if (e->kind == GS_X_LITERAL)
    return true;
  if (is_form_fact(e))
    return ls_is_bound(w, e->args[0]->slot);
  if (e->kind == GS_X_VAR)
    return ls_is_bound(w, e->slot) && !w->sizes[e->slot];
  if (e->n_args && ls_is_any(w, e->args[0]))
    return gs_expr_is_call(e, "len") || gs_expr_is_call(e, "rank") ||
           gs_expr_is_call(e, "op-kind") || gs_expr_is_call(e, "op-name") ||
           gs_expr_is_call(e, "is-associative");
  for (uint32_t k = 0; k < e->n_args; k++)
    if (!ls_follows(w, e->args[k]))
      return false;
  return true;
}

static bs_value
type_of(void *facts, uint32_t term) {
  const ls_walk *w = facts;
  gs_type type;
  gs_type_at(w->p, (gs_term){term}, &type);
  return gs_type_intern(w->values, &type);
}

static void
define(ls_walk *w, uint32_t slot, bs_value v) {
  if (!w->sizes[slot])
    ls_set(w, slot, v);
}

/* (= ?op NAME), of an operator with numbers: it is none that is written without
 * any. */
static bool
is_other_operator(const ls_walk *w, const gs_expr *e, gs_env *env) {
  bs_value v;
  if (!gs_expr_is_call(e, "=") || e->n_args != 2)
    return false;
  for (uint32_t k = 0; k < 2; k++) {
    const gs_expr *x = e->args[k], *y = e->args[1 - k];
    if (ls_is_any(w, x) && w->classes[x->slot].made && ls_follows(w, y) &&
        gs_expr_eval(y, env, &v) && bs_kind_of(w->values, v) == BS_KIND_SYM)
      return true;
  }
  return false;
}

void
ls_take_clause(ls_walk *w, const rl_asked *c) {
  gs_env env = {.values = w->values,
                .slots = w->slots,
                .n_slots = w->l->rule->scope.vars.len,
                .facts = w,
                .type_of = type_of};
  bs_value v;
  if (c->kind == RL_ASKS_TEST && is_other_operator(w, c->expr, &env))
    w->dead = true;
  if (c->kind == RL_ASKS_OTHER || !c->expr || !ls_follows(w, c->expr))
    return;
  if (c->kind == RL_ASKS_TEST) {
    w->dead |= !gs_expr_test(c->expr, &env);
    return;
  }
  if (!gs_expr_eval(c->expr, &env, &v)) {
    w->dead = true;
    return;
  }
  if (c->kind == RL_ASKS_FOR) {
    if (bs_kind_of(w->values, v) != BS_KIND_LIST ||
        bs_len(w->values, v) > 500) {
      w->unknown = w->dead = true;
      return;
    }
    uint32_t k = ls_pick(w, bs_len(w->values, v));
    if (w->dead)
      return;
    v = bs_item(w->values, v, k);
  }
  define(w, c->slot, v);
}

/* Clauses that are false already leave nothing behind them to be counted. */
void
ls_test_early(ls_walk *w) {
  for (uint32_t k = 0; k < rl_asked_count(w->l->rule) && !w->dead; k++) {
    rl_asked c = rl_asked_at(w->l->rule, k);
    if (c.kind == RL_ASKS_TEST)
      ls_take_clause(w, &c);
  }
}

/* --- dtypes -----------------------------------------------------------------
 */

static bool
asks_dtype(const gs_expr *e) {
  if (e->kind != GS_X_CALL)
    return false;
  if (gs_function_at(e->function)->result == 't')
    return true;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (asks_dtype(e->args[k]))
      return true;
  return false;
}

static bool
computes(const gs_skeleton *s) {
  for (uint32_t k = 0; k < s->n; k++)
    if (!s->nodes[k].hole && s->nodes[k].op == GS_COMPUTE)
      return true;
  return false;
}

bool
pv_asks_dtype(const rl_rule *rule) {
  for (uint32_t k = 0; k < rl_asked_count(rule); k++) {
    rl_asked c = rl_asked_at(rule, k);
    if (c.expr && asks_dtype(c.expr))
      return true;
  }
  return false;
}

bool
pv_tells_dtypes(const rl_rule *rule) {
  bool tells = computes(rule->left) || pv_asks_dtype(rule);
  for (uint32_t k = 0; k < rule->n_right; k++)
    tells |= computes(rule->right[k]);
  return tells;
}
