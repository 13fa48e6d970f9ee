/* SPDX-License-Identifier: MIT */
/* step.c - one rule application, from the rule as it is written.
 *
 * Bindings are given: the left side laid on the one term must agree with them,
 * every condition must hold, and the right side under them must be the other
 * term.  So the order in which a condition defines its variables says
 * nothing. */
#include "check/check.h"
#include <string.h>

enum { MOST_FACTS = 16 };

typedef struct step {
  ck_proof *x;
  ck_rule *rule;
  ck_env env;
  ck_fact facts[MOST_FACTS];
  uint32_t premises; /* the form, or 0 */
  gs_term root;      /* of a result that is not about the whole */
} step;

static const bs_sx *
at(const step *s, uint32_t node) {
  return &s->x->sx.nodes.data[node];
}

/* ---- what is given ---- */

static const char *
take_binding(step *s, uint32_t node) {
  uint32_t var = bs_sx_first(&s->x->sx, node);
  const char *name = bs_as_sym(s->x->ctx->values, at(s, var)->value);
  int slot = gs_scope_find(&s->rule->scope, name);
  uint32_t value = at(s, var)->next;
  if (slot < 0 || at(s, node)->count != 2)
    return "a binding of a variable that the rule does not have";
  uint32_t *bound = &s->env.slots[slot];
  if (*bound != UINT32_MAX)
    return "a variable is bound twice";
  if (s->rule->scope.vars.data[slot].sort == GS_SORT_CLASS)
    *bound = ck_term(s->x, value).i;
  else
    *bound =
        bs_sx_value(s->x->ctx->heap, s->x->ctx->values, &s->x->sx, value).i;
  return *bound == UINT32_MAX ? "there is no such term" : NULL;
}

static const char *
take_facts(step *s, uint32_t node) {
  for (uint32_t c = at(s, node + 1)->next; c; c = at(s, c)->next) {
    ck_fact *f = &s->facts[s->env.n_facts];
    if (s->env.n_facts == MOST_FACTS || !ck_cited(s->x, c, &f->term, &f->shows))
      return "a fact cites no earlier lemma";
    s->env.n_facts++;
  }
  return NULL;
}

static const char *
take_given(step *s, uint32_t first) {
  const char *why = NULL;
  for (uint32_t node = first; node && !why; node = at(s, node)->next) {
    const char *head = bs_sx_head(&s->x->sx, s->x->ctx->values, node);
    if (head && head[0] == '?')
      why = take_binding(s, node);
    else if (head && !strcmp(head, "facts"))
      why = take_facts(s, node);
    else if (head && !strcmp(head, "premises") && !s->premises)
      s->premises = node;
    else if (head && !strcmp(head, "root") && at(s, node)->count == 2)
      s->root = ck_term(s->x, at(s, node + 1)->next);
    else
      why = "a step has no such clause";
  }
  return why;
}

/* ---- what must hold ---- */

/* What the variable of each further part stands for is cited to be equal to an
 * instance of the part. */
static const char *
check_parts(step *s) {
  uint32_t c = s->premises ? at(s, s->premises + 1)->next : 0;
  for (uint32_t k = 1; k < s->rule->n_parts; k++, c = c ? at(s, c)->next : 0) {
    const ck_side *part = &s->rule->parts[k];
    gs_term of = {s->env.slots[part->slot]}, to;
    if (!gs_term_ok(of) || !c)
      return "a premise is missing";
    if (!ck_cited_or_same(s->x, c, of, &to))
      return "a premise cites no lemma about its variable";
    if (!ck_match(&s->env, part->term, to, true))
      return "a premise is about something else";
  }
  return c ? "there are too many premises" : NULL;
}

/* A value of a loop is one of its list. */
static const char *
check_condition(const step *s, const ck_condition *c) {
  const bs_values *values = s->x->ctx->values;
  bs_value made = ck_eval(&s->env, c->expr);
  if (c->slot == UINT32_MAX)
    return bs_as_bool(values, made) ? NULL : "the condition does not hold";
  bs_value item = {s->env.slots[c->slot]};
  if (item.i == UINT32_MAX || !made.i)
    return "a loop of the condition has no value";
  for (uint32_t k = 0; k < bs_len(values, made); k++)
    if (ck_same(values, bs_item(values, made, k), item))
      return NULL;
  return "a value that the loop of the condition does not take";
}

static const char *
check_result(const step *s, uint32_t result, gs_term from, gs_term to) {
  const ck_side *side = &s->rule->results[result];
  if (result && s->env.slots[side->slot] != from.i)
    return "the result is about something else";
  return ck_match(&s->env, side->term, to, false)
             ? NULL
             : "the rule gives something else";
}

static const char *
check_rule(step *s, uint32_t result, uint32_t first, gs_term from, gs_term to) {
  const ck_rule *rule = s->rule;
  const char *why = take_given(s, first);
  if (why)
    return why;
  if (result >= rule->n_results)
    return "the rule has no such result";
  gs_term whole = result ? s->root : from;
  if (!gs_term_ok(whole) ||
      !ck_match(&s->env, rule->parts[0].term, whole, true))
    return "the left side does not match";
  why = check_parts(s);
  for (uint32_t k = 0; k < rule->n_conditions && !why; k++)
    why = check_condition(s, &rule->conditions[k]);
  return why ? why : check_result(s, result, from, to);
}

/* (rule FROM TO NAME RESULT ...) */
const char *
ck_check_step(ck_proof *x, uint32_t node, gs_term from, gs_term to) {
  uint32_t name = bs_sx_item(&x->sx, node, 3);
  uint32_t result = bs_sx_item(&x->sx, node, 4);
  const bs_sx *all = x->sx.nodes.data;
  const char *called = bs_sx_symbol(&x->sx, x->ctx->values, name);
  if (!result || !called || all[result].kind != BS_SX_INT)
    return "a step has a rule and a result";
  int64_t which = bs_as_int(x->ctx->values, all[result].value);
  ck_rule *rule = ck_find_rule(x->rules, called);
  x->n_applied++;
  if (!rule || which < 0 || which > UINT32_MAX - 1)
    return "no rule has this name";
  rule->used++;
  if (rule->instr && (which || all[result].next))
    return "an instruction has one result";
  if (rule->instr)
    return ck_check_call(x->p, rule->instr, from, to, strchr(called, '.'));
  if (!ck_parse_rule(x->rules, rule))
    return "the rule cannot be read";
  uint32_t n = rule->scope.vars.len;
  step s = {.x = x, .rule = rule, .root = GS_NO_TERM};
  s.env =
      (ck_env){x->ctx,       x->p,    BS_NEWS(x->ctx->arena, uint32_t, n + 1),
               &rule->scope, s.facts, 0};
  memset(s.env.slots, 0xff, n * sizeof *s.env.slots);
  return check_rule(&s, (uint32_t)which, all[result].next, from, to);
}
