/* SPDX-License-Identifier: MIT */
/* check_step.c - one rule application, from the rule as it is written.
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
  ck_lemma facts[MOST_FACTS];
  uint32_t premises; /* the form, or 0 */
  gs_term root;      /* of a result that is not about the whole */
} step;

static uint32_t
next(const step *s, uint32_t node) {
  return bs_sx_at(&s->x->sx, node)->next;
}

/* ---- what is given ---- */

static const char *
take_binding(step *s, uint32_t node, const char *name) {
  const gs_context *ctx = s->x->ctx;
  const bs_sexps *sx = &s->x->sx;
  int slot = gs_scope_find(&s->rule->scope, name);
  uint32_t value = bs_sx_item(sx, node, 1);
  if (slot < 0 || bs_sx_at(sx, node)->count != 2)
    return "a binding of a variable that the rule does not have";
  uint32_t *bound = &s->env.slots[slot];
  if (*bound != UINT32_MAX)
    return "a variable is bound twice";
  *bound =
      s->rule->scope.vars.data[slot].sort == GS_SORT_CLASS
          ? ck_term(s->x, value).i
          : ck_kept(ctx->values, bs_sx_value(ctx->heap, ctx->values, sx, value))
                .i;
  return *bound == UINT32_MAX ? "there is no such term" : NULL;
}

static const char *
take_facts(step *s, uint32_t node) {
  for (uint32_t c = next(s, node + 1); c; c = next(s, c))
    if (s->env.n_facts == MOST_FACTS ||
        !ck_cited(s->x, c, GS_NO_TERM, &s->facts[s->env.n_facts++]))
      return "a fact cites no earlier lemma";
  return NULL;
}

static const char *
take_given(step *s, uint32_t first) {
  const char *why = NULL;
  for (uint32_t node = first; node && !why; node = next(s, node)) {
    const char *head = bs_sx_head(&s->x->sx, s->x->ctx->values, node);
    if (head && head[0] == '?')
      why = take_binding(s, node, head);
    else if (head && !strcmp(head, "facts"))
      why = take_facts(s, node);
    else if (head && !strcmp(head, "premises") && !s->premises)
      s->premises = node;
    else if (head && !strcmp(head, "root") &&
             bs_sx_at(&s->x->sx, node)->count == 2)
      s->root = ck_term(s->x, next(s, node + 1));
    else
      why = "a step cannot have this clause";
  }
  return why;
}

/* ---- what must hold ---- */

/* What the variable of each further part stands for is cited to be equal to an
 * instance of the part. */
static const char *
check_parts(step *s) {
  uint32_t c = s->premises ? bs_sx_at(&s->x->sx, s->premises + 1)->next : 0;
  for (uint32_t k = 1; k < s->rule->parts.len; k++, c = c ? next(s, c) : 0) {
    const ck_side *part = &s->rule->parts.data[k];
    gs_term of = {s->env.slots[part->slot]};
    ck_lemma shown;
    if (!gs_term_ok(of) || !c)
      return "a premise is missing";
    if (!ck_cited(s->x, c, of, &shown))
      return "a premise cites no lemma about its variable";
    if (!ck_match(&s->env, part->term, shown.to, true))
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
check_rule(step *s, uint32_t result, uint32_t first, gs_term from, gs_term to) {
  const ck_rule *rule = s->rule;
  const char *why = take_given(s, first);
  if (why)
    return why;
  if (result >= rule->results.len)
    return "the rule has no such result";
  gs_term whole = result ? s->root : from;
  if (!gs_term_ok(whole) ||
      !ck_match(&s->env, rule->parts.data[0].term, whole, true))
    return "the left side does not match";
  why = check_parts(s);
  for (uint32_t k = 0; k < rule->conditions.len && !why; k++)
    why = check_condition(s, &rule->conditions.data[k]);
  const ck_side *side = &rule->results.data[result];
  if (!why && result && s->env.slots[side->slot] != from.i)
    why = "the result is about something else";
  if (!why && !ck_match(&s->env, side->term, to, false))
    why = "the rule gives something else";
  return why;
}

/* (rule FROM TO NAME RESULT ...) */
const char *
ck_check_step(ck_proof *x, uint32_t node, gs_term from, gs_term to) {
  uint32_t name = bs_sx_item(&x->sx, node, 3);
  uint32_t result = bs_sx_item(&x->sx, node, 4);
  const bs_sx *all = x->sx.nodes.data;
  const char *called = bs_sx_symbol(&x->sx, x->ctx->values, name);
  if (!result || !called || all[result].kind != BS_SX_INT)
    return "a step needs a rule and a result";
  int64_t which = bs_as_int(x->ctx->values, all[result].value);
  ck_rule *rule = ck_find_rule(x->rules, called);
  x->n_applied++;
  if (!rule || which < 0 || which > UINT32_MAX - 1)
    return "no rule has this name";
  rule->used++;
  if (rule->instr && (which || all[result].next))
    return "an instruction has one result";
  if (rule->instr)
    return ck_check_call(x->p, rule->instr, from, to);
  if (!ck_parse_rule(x->rules, rule))
    return "the rule cannot be read";
  uint32_t n = rule->scope.vars.len;
  uint32_t *slots = BS_NEWS(x->ctx->arena, uint32_t, n + 1);
  step s = {.x = x, .rule = rule, .root = GS_NO_TERM};
  s.env = (ck_env){x->ctx, x->p, slots, &rule->scope, s.facts, 0};
  memset(slots, 0xff, n * sizeof *slots);
  return check_rule(&s, (uint32_t)which, all[result].next, from, to);
}
