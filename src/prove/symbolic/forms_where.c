/* SPDX-License-Identifier: MIT */
/* forms_where.c - what a condition makes of a form while forms are listed.
 *
 * Clauses whose value follows from the form are evaluated, as in a run: one
 * that is false rules the form out, and a definition or a choice of a list
 * gives a variable its value.  All others ask for sizes. */
#include "prove/symbolic/listing.h"
#include "glenside/expr/expr_functions.h"
#include <assert.h>

static bool
is_class(const gs_expr *e) {
  return e->kind == GS_X_VAR && e->sort == GS_SORT_CLASS;
}

static bool
is_form_fact(const gs_expr *e) {
  static const gs_function_id facts[] = {
      GS_F_RANK, GS_F_ACCESS_RANK, GS_F_COMPUTE_RANK, GS_F_DTYPE, GS_F_AXES};
  for (size_t k = 0; k < sizeof facts / sizeof *facts; k++)
    if (gs_expr_calls(e, facts[k]))
      return e->n_args == 1 && is_class(e->args[0]);
  return false;
}

/* What is one for all values that a variable stands for. */
static bool
is_shared_fact(const gs_expr *e) {
  return gs_expr_calls(e, GS_F_LEN) || gs_expr_calls(e, GS_F_RANK) ||
         gs_expr_calls(e, GS_F_OP_KIND) || gs_expr_calls(e, GS_F_OP_NAME) ||
         gs_expr_calls(e, GS_F_IS_ASSOCIATIVE);
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
    return is_shared_fact(e);
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
  if (!gs_expr_calls(e, GS_F_EQ) || e->n_args != 2)
    return false;
  for (uint32_t k = 0; k < 2; k++) {
    const gs_expr *x = e->args[k], *y = e->args[1 - k];
    if (ls_is_any(w, x) && w->classes[x->slot].made && ls_follows(w, y) &&
        gs_expr_eval(y, env, &v) && bs_kind_of(w->values, v) == BS_KIND_SYM)
      return true;
  }
  return false;
}

/* (dtype ?VARIABLE) */
static bool
is_dtype_of(const gs_expr *e, uint32_t slot) {
  return gs_expr_calls(e, GS_F_DTYPE) && is_class(e->args[0]) &&
         e->args[0]->slot == slot;
}

/* The dtype of a term that is chosen, among what an expression sets equal. */
static bool
chosen_dtype(const ls_walk *w, const gs_expr *e, gs_dtype *out) {
  for (uint32_t k = 0; k < e->n_args; k++) {
    const gs_expr *x = e->args[k];
    if (!gs_expr_calls(x, GS_F_DTYPE) || !is_class(x->args[0]) ||
        !ls_is_bound(w, x->args[0]->slot))
      continue;
    gs_type type;
    gs_type_at(w->p, (gs_term){w->slots[x->args[0]->slot]}, &type);
    *out = type.dtype;
    return true;
  }
  return false;
}

bool
ls_has_dtype_of_other(const ls_walk *w, uint32_t slot, gs_dtype *out) {
  assert(slot < PV_RULE_SLOTS);
  for (uint32_t k = 0; k < rl_asked_count(w->l->rule); k++) {
    rl_asked c = rl_asked_at(w->l->rule, k);
    if (c.kind != RL_ASKS_TEST || !gs_expr_calls(c.expr, GS_F_EQ))
      continue;
    for (uint32_t i = 0; i < c.expr->n_args; i++)
      if (is_dtype_of(c.expr->args[i], slot) && chosen_dtype(w, c.expr, out))
        return true;
  }
  return false;
}

/* Does it ask for a dtype, or for what is defined by one? */
static bool
is_of_dtype(const ls_walk *w, const gs_expr *e) {
  if (e->kind == GS_X_VAR)
    return e->slot < PV_RULE_SLOTS && w->of_dtype >> e->slot & 1;
  if (e->kind == GS_X_CALL && gs_function_at(e->function)->result == 't')
    return true;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (is_of_dtype(w, e->args[k]))
      return true;
  return false;
}

void
ls_find_dtypes(ls_walk *w) {
  for (uint32_t k = 0; k < rl_asked_count(w->l->rule); k++) {
    rl_asked c = rl_asked_at(w->l->rule, k);
    bool gives = c.kind == RL_ASKS_DEFINE || c.kind == RL_ASKS_FOR;
    if (gives && c.slot < PV_RULE_SLOTS && is_of_dtype(w, c.expr))
      w->of_dtype |= (uint64_t)1 << c.slot;
  }
}

static void
take_definition(ls_walk *w, const rl_asked *c, const gs_env *env) {
  bs_value v;
  if (!gs_expr_eval(c->expr, env, &v)) {
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

static void
take_clause(ls_walk *w, uint32_t k, const rl_asked *c) {
  gs_env env = {.values = w->values,
                .slots = w->slots,
                .n_slots = w->l->rule->scope.vars.len,
                .facts = w,
                .type_of = type_of};
  bool test = c->kind == RL_ASKS_TEST;
  w->dead |= test && is_other_operator(w, c->expr, &env);
  if (c->kind == RL_ASKS_OTHER || !c->expr || !ls_follows(w, c->expr))
    return;
  if (test)
    w->dead |= !gs_expr_test(c->expr, &env);
  else
    take_definition(w, c, &env);
  w->whatever = w->dead && !is_of_dtype(w, c->expr);
  if (c->kind != RL_ASKS_FOR && k < LS_EARLY)
    w->held |= UINT64_C(1) << k;
}

/* A test that has been seen to hold is not made again.  What is `sure` is not
 * chosen from several. */
static void
take(ls_walk *w, bool sure) {
  uint32_t n = rl_asked_count(w->l->rule);
  for (uint32_t k = 0; k < n && !w->dead; k++) {
    rl_asked c = rl_asked_at(w->l->rule, k);
    if ((k >= LS_EARLY || !(w->held >> k & 1)) &&
        (!sure || c.kind != RL_ASKS_FOR))
      take_clause(w, k, &c);
  }
}

void
ls_take_clauses(ls_walk *w) {
  take(w, false);
}

void
ls_test_early(ls_walk *w) {
  take(w, true);
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
