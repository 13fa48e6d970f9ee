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
  uint32_t *slots;
  ck_fact facts[MOST_FACTS];
  uint32_t n_facts;
  uint32_t premises; /* the form, or 0 */
  gs_term root;      /* of a result that is not about the whole */
} step;

static const bs_sx *
at(const step *s, uint32_t node) {
  return &s->x->sx.nodes.data[node];
}

static ck_env
env_of(const step *s) {
  return (ck_env){.ctx = s->x->ctx,
                  .p = s->x->p,
                  .slots = s->slots,
                  .scope = &s->rule->scope,
                  .facts = s->facts,
                  .n_facts = s->n_facts};
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
  if (s->slots[slot] != UINT32_MAX)
    return "a variable is bound twice";
  if (s->rule->scope.vars.data[slot].sort == GS_SORT_CLASS)
    s->slots[slot] = ck_term(s->x, value).i;
  else
    s->slots[slot] =
        bs_sx_value(s->x->ctx->heap, s->x->ctx->values, &s->x->sx, value).i;
  return s->slots[slot] == UINT32_MAX ? "a term that is not there" : NULL;
}

static const char *
take_facts(step *s, uint32_t node) {
  for (uint32_t c = at(s, node + 1)->next; c; c = at(s, c)->next) {
    ck_fact *f = &s->facts[s->n_facts];
    if (s->n_facts == MOST_FACTS || !ck_cited(s->x, c, &f->term, &f->shows))
      return "a fact cites no earlier lemma";
    s->n_facts++;
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
      why = "a clause that a step does not have";
  }
  return why;
}

/* ---- what must hold ---- */

static bool
matches(const step *s, const gs_skeleton *pattern, gs_term t) {
  ck_env e = env_of(s);
  return gs_term_ok(t) && ck_match(&e, s->slots, pattern, t);
}

/* What the variable of each further part stands for is cited to be equal to an
 * instance of the part. */
static const char *
check_parts(step *s) {
  uint32_t c = s->premises ? at(s, s->premises + 1)->next : 0;
  for (uint32_t k = 1; k < s->rule->n_parts; k++, c = c ? at(s, c)->next : 0) {
    gs_term of = {s->slots[s->rule->parts[k].slot]}, from = of, to = of;
    if (!gs_term_ok(of) || !c)
      return "a premise is missing";
    if (at(s, c)->kind != BS_SX_INT)
      return "a premise is not a number";
    if (bs_as_int(s->x->ctx->values, at(s, c)->value) &&
        !ck_cited(s->x, c, &from, &to))
      return "a premise cites no earlier lemma";
    if (from.i != of.i || !matches(s, s->rule->parts[k].term, to))
      return "a premise is about something else";
  }
  return c ? "there are too many premises" : NULL;
}

static const char *
check_condition(const step *s) {
  ck_env e = env_of(s);
  const bs_values *values = s->x->ctx->values;
  for (uint32_t k = 0; k < s->rule->n_tests; k++)
    if (!ck_holds(&e, s->rule->tests[k]))
      return "the condition does not hold";
  for (uint32_t k = 0; k < s->rule->n_fors; k++) {
    bs_value list = ck_eval(&e, s->rule->for_lists[k]);
    bs_value item = {s->slots[s->rule->for_slots[k]]};
    bool found = false;
    if (item.i == UINT32_MAX || !list.i)
      return "a loop of the condition has no value";
    for (uint32_t j = 0; j < bs_len(values, list); j++)
      found |= ck_same(values, bs_item(values, list, j), item);
    if (!found)
      return "a value that the loop of the condition does not take";
  }
  return NULL;
}

static const char *
check_result(const step *s, uint32_t result, gs_term from, gs_term to) {
  ck_env e = env_of(s);
  const ck_side *side = &s->rule->results[result];
  if (result && s->slots[side->slot] != from.i)
    return "the result is about something else";
  return ck_build(&e, s->x->p, side->term).i == to.i
             ? NULL
             : "the rule gives something else";
}

static const char *
check_rule(step *s, uint32_t result, uint32_t first, gs_term from, gs_term to) {
  uint32_t n = s->rule->scope.vars.len;
  s->slots = BS_NEWS(s->x->ctx->arena, uint32_t, n + 1);
  memset(s->slots, 0xff, (n + (size_t)1) * sizeof *s->slots);
  const char *why = take_given(s, first);
  if (why)
    return why;
  if (result >= s->rule->n_results)
    return "the rule has no such result";
  if (!matches(s, s->rule->parts[0].term, result ? s->root : from))
    return "the left side does not match";
  why = check_parts(s);
  why = why ? why : check_condition(s);
  return why ? why : check_result(s, result, from, to);
}

/* ---- instructions ---- */

/* Behind a dot stands of which of its rules a step is. */
static const gs_instr *
instruction(const ck_proof *x, const char *name, uint32_t *at) {
  const gs_target *t = x->rules->target;
  size_t n = strcspn(name, ".");
  for (uint32_t k = 0; t && k < t->instrs.len; k++)
    if (strlen(t->instrs.data[k]->name) == n &&
        !memcmp(t->instrs.data[k]->name, name, n)) {
      *at = k;
      return t->instrs.data[k];
    }
  return NULL;
}

static void
count_use(ck_proof *x, uint32_t instr) {
  while (x->rules->instr_used.len <= instr)
    bs_push(x->ctx->heap, &x->rules->instr_used, 0);
  x->rules->instr_used.data[instr]++;
}

/* (rule FROM TO NAME RESULT ...) */
const char *
ck_check_step(ck_proof *x, uint32_t node, gs_term from, gs_term to) {
  uint32_t name = bs_sx_item(&x->sx, node, 3), index;
  uint32_t result = bs_sx_item(&x->sx, node, 4);
  const bs_sx *all = x->sx.nodes.data;
  if (!result || all[name].kind != BS_SX_SYM || all[result].kind != BS_SX_INT)
    return "a step has a rule and a result";
  const char *called = bs_as_sym(x->ctx->values, all[name].value);
  int64_t which = bs_as_int(x->ctx->values, all[result].value);
  ck_rule *rule = ck_find_rule(x->rules, called);
  const gs_instr *instr = rule ? NULL : instruction(x, called, &index);
  x->n_applied++;
  if (instr) {
    count_use(x, index);
    if (which || all[result].next)
      return "an instruction has one result";
    return ck_check_call(x->p, instr, from, to, strchr(called, '.') != NULL);
  }
  if (!rule || which < 0 || which > UINT32_MAX - 1)
    return "no rule has this name";
  if (!ck_parse_rule(x->rules, rule))
    return "the rule cannot be read";
  rule->used++;
  step s = {.x = x, .rule = rule, .root = GS_NO_TERM};
  return check_rule(&s, (uint32_t)which, all[result].next, from, to);
}
