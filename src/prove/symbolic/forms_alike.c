/* SPDX-License-Identifier: MIT */
/* forms_alike.c - operators that a rule does not tell apart.
 *
 * A rule with an operator of its own, `?op`, mostly holds because of what the
 * operator is applied to, whatever it computes.  Operators of one kind then
 * are one form, in which the operator is a function of which nothing is known
 * but that equal operands have equal results (symbolic.h).  They must be alike
 * in all that types say of them, and the rule must not tell them apart: all
 * that it asks of the operator are calls (f ?op), and these have one answer. */
#include "prove/symbolic/listing.h"
#include <assert.h>

/* --- does the rule ask for no more? --------------------------------------- */

/* A fact of the operator: (f ?op). */
static bool
is_fact(const gs_expr *e, uint32_t slot) {
  return e->kind == GS_X_CALL && e->n_args == 1 &&
         e->args[0]->kind == GS_X_VAR && e->args[0]->slot == slot;
}

/* Does the variable stand anywhere but in a fact?  Expressions nest no deeper
 * than GS_MAX_NESTING. */
static bool
is_read(const gs_expr *e, uint32_t slot) {
  if (e->kind == GS_X_VAR)
    return e->slot == slot;
  if (is_fact(e, slot))
    return false;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (is_read(e->args[k], slot))
      return true;
  return false;
}

static bool
is_operator_at(const gs_sk_node *n, uint32_t slot) {
  return n->op == GS_COMPUTE && n->attrs[0]->kind == GS_X_VAR &&
         n->attrs[0]->slot == slot;
}

static bool
side_reads(const gs_skeleton *s, uint32_t slot) {
  for (uint32_t k = 0; k < s->n; k++) {
    const gs_sk_node *n = &s->nodes[k];
    if (n->hole || is_operator_at(n, slot))
      continue;
    for (uint32_t i = 0; i < n->n_attrs; i++)
      if (n->attrs[i] && is_read(n->attrs[i], slot))
        return true;
  }
  return false;
}

/* Is all that the rule says of it, beside applying it, facts? */
static bool
asks_facts_only(const rl_rule *rule, uint32_t slot) {
  if (side_reads(rule->left, slot))
    return false;
  for (uint32_t k = 0; k < rule->n_right; k++)
    if (side_reads(rule->right[k], slot))
      return false;
  for (uint32_t k = 0; k < rl_asked_count(rule); k++) {
    rl_asked c = rl_asked_at(rule, k);
    bool binds =
        (c.kind == RL_ASKS_DEFINE || c.kind == RL_ASKS_FOR) && c.slot == slot;
    if (c.kind == RL_ASKS_OTHER || binds || (c.expr && is_read(c.expr, slot)))
      return false;
  }
  return true;
}

/* --- dtypes --------------------------------------------------------------- */

static bool
applies_only(const gs_skeleton *s, uint32_t slot) {
  for (uint32_t k = 0; k < s->n; k++)
    if (!s->nodes[k].hole && s->nodes[k].op == GS_COMPUTE &&
        !is_operator_at(&s->nodes[k], slot))
      return false;
  return true;
}

/* One term, to which operators and views are applied one after another. */
static bool
is_chain(const gs_skeleton *s) {
  for (uint32_t k = 0; k < s->n; k++)
    if (!s->nodes[k].hole && s->nodes[k].n_kids != 1)
      return false;
  return true;
}

/* Is the rule about this operator alone, applied to views of one term, and
 * about no dtype?  Then there are two dtypes, that of the term and that of the
 * result, and nothing is computed in either. */
static bool
is_blind(const ls_walk *w, uint32_t slot) {
  const rl_rule *rule = w->l->rule;
  if (!is_chain(rule->left) || !applies_only(rule->left, slot))
    return false;
  for (uint32_t k = 0; k < rule->n_right; k++)
    if (!applies_only(rule->right[k], slot))
      return false;
  return !pv_asks_dtype(rule);
}

/* --- classes -------------------------------------------------------------- */

/* What is said of an operator: the answer to a fact, or nil where it depends
 * on parameters, or there is none. */
static bs_value
answer(ls_walk *w, const gs_expr *fact) {
  gs_env env = {.values = w->values,
                .slots = w->slots,
                .n_slots = w->l->rule->scope.vars.len};
  bs_value v;
  return ls_follows(w, fact) && gs_expr_eval(fact, &env, &v) ? v : BS_NIL;
}

/* With the variable standing for one operator. */
static bs_value
answer_of(ls_walk *w, const gs_expr *fact, uint32_t slot, bs_value o) {
  assert(slot < PV_RULE_SLOTS);
  uint32_t was = w->slots[slot];
  bool any = w->sizes[slot];
  w->slots[slot] = o.i;
  w->sizes[slot] = ls_has_numbers(w, o);
  bs_value v = answer(w, fact);
  w->slots[slot] = was;
  w->sizes[slot] = any;
  return v;
}

static bool
expr_tells(ls_walk *w, const gs_expr *e, uint32_t slot, bs_value a,
           bs_value b) {
  if (is_fact(e, slot))
    return answer_of(w, e, slot, a).i != answer_of(w, e, slot, b).i;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (expr_tells(w, e->args[k], slot, a, b))
      return true;
  return false;
}

static bool
side_tells(ls_walk *w, const gs_skeleton *s, uint32_t slot, bs_value a,
           bs_value b) {
  for (uint32_t k = 0; k < s->n; k++)
    for (uint32_t i = 0; !s->nodes[k].hole && i < s->nodes[k].n_attrs; i++)
      if (s->nodes[k].attrs[i] &&
          expr_tells(w, s->nodes[k].attrs[i], slot, a, b))
        return true;
  return false;
}

static bool
rule_tells(ls_walk *w, uint32_t slot, bs_value a, bs_value b) {
  const rl_rule *rule = w->l->rule;
  if (side_tells(w, rule->left, slot, a, b))
    return true;
  for (uint32_t k = 0; k < rule->n_right; k++)
    if (side_tells(w, rule->right[k], slot, a, b))
      return true;
  for (uint32_t k = 0; k < rl_asked_count(rule); k++) {
    rl_asked c = rl_asked_at(rule, k);
    if (c.expr && expr_tells(w, c.expr, slot, a, b))
      return true;
  }
  return false;
}

/* Is this the only variable that is read? */
static bool
is_about(const gs_expr *e, uint32_t slot) {
  if (e->kind == GS_X_VAR)
    return e->slot == slot;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (!is_about(e->args[k], slot))
      return false;
  return true;
}

/* Kinds whose results may be those of any function of their items: what the
 * others make of items is more than that, or there is but one of them. */
static bool
may_be_any(gs_compute_kind kind) {
  return kind == GS_ELEMENTWISE || kind == GS_REDUCE || kind == GS_FOLD;
}

static bool
are_alike(ls_walk *w, uint32_t slot, bs_value a, bs_value b) {
  gs_compute p, q;
  if (!gs_compute_of(w->values, a, &p) || !gs_compute_of(w->values, b, &q))
    return false;
  const gs_compute_info *x = &gs_compute_table[p], *y = &gs_compute_table[q];
  return (may_be_any(x->kind) || (x->kind == GS_CAST && is_blind(w, slot))) &&
         x->kind == y->kind && x->floats_only == y->floats_only &&
         x->widens == y->widens &&
         gs_compute_takes_any(p) == gs_compute_takes_any(q) &&
         !rule_tells(w, slot, a, b);
}

/* Does a test say that the variable is no such operator, whatever else is
 * chosen? */
static bool
is_ruled_out(ls_walk *w, uint32_t slot, bs_value o) {
  for (uint32_t k = 0; k < rl_asked_count(w->l->rule); k++) {
    rl_asked c = rl_asked_at(w->l->rule, k);
    if (c.kind != RL_ASKS_TEST || !is_about(c.expr, slot))
      continue;
    bs_value v = answer_of(w, c.expr, slot, o);
    if (v.i && bs_kind_of(w->values, v) == BS_KIND_BOOL &&
        !bs_as_bool(w->values, v))
      return true;
  }
  return false;
}

static void
make_classes(ls_walk *w, uint32_t slot) {
  assert(slot < PV_RULE_SLOTS);
  ls_classes *c = &w->classes[slot];
  bool alike = w->l->alike && asks_facts_only(w->l->rule, slot);
  c->made = true;
  for (uint32_t k = 0; k < w->n_operators; k++) {
    if (is_ruled_out(w, slot, w->operators[k]))
      continue;
    uint32_t i = alike ? 0 : c->n;
    while (i < c->n &&
           !are_alike(w, slot, w->operators[c->first[i]], w->operators[k]))
      i++;
    if (i == c->n)
      c->first[c->n++] = (uint8_t)k;
    else
      c->several |= (uint64_t)1 << i;
  }
}

bs_value
ls_pick_operator(ls_walk *w, uint32_t slot) {
  assert(slot < PV_RULE_SLOTS);
  ls_classes *c = &w->classes[slot];
  if (!c->made)
    make_classes(w, slot);
  uint32_t k = ls_pick(w, c->n);
  if (w->dead)
    return BS_NIL;
  if (k < 64 && c->several >> k & 1)
    w->alike |= (uint64_t)1 << slot;
  return w->operators[c->first[k]];
}

/* Of forms that dtypes alone tell apart, those of i8 and of bf16 stand for all:
 * sums are of a wider dtype than these, so that where two dtypes are equal for
 * them, both are the term's or both are the result's, and they are equal for
 * the others, too.  A cast to f32 stands for all casts, since f32 is neither of
 * the two. */
bool
ls_is_other_dtype(const ls_walk *w) {
  const gs_skeleton *left = w->l->rule->left;
  bool other = false;
  for (uint32_t k = 0; k < left->n; k++) {
    const gs_sk_node *n = &left->nodes[k];
    if (n->hole)
      other |= w->node[k].dtype != GS_I8 && w->node[k].dtype != GS_BF16;
    else if (n->op == GS_COMPUTE && (n->attrs[0]->kind != GS_X_VAR ||
                                     !(w->alike >> n->attrs[0]->slot & 1) ||
                                     !is_blind(w, n->attrs[0]->slot)))
      return false;
  }
  return w->alike && other;
}
