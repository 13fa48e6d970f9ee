/* SPDX-License-Identifier: MIT */
/* run_rules.c - the collection of rules: compilation, look-up.
 *
 * A rule's id, in the e-graph's origins and statistics, is its index here: the
 * rules of the files in order, a reverse behind its rule, then those derived
 * from the target's instructions. */
#include "rules/rule/rule_internal.h"
#include <assert.h>

rl_rules *
rl_new(const gs_context *ctx, const gs_target *target) {
  rl_rules *rules = BS_NEW(ctx->arena, rl_rules);
  rules->ctx = *ctx;
  rules->target = target ? target : gs_target_default(ctx);
  rl_forms_init(rules);
  return rules;
}

/* --- compilation ---------------------------------------------------------- */

/* NAME~rev may be taken, and instructions and rules may share a name. */
static bool
check_names(const rl_rules *rules) {
  bool ok = true;
  for (uint32_t k = 0; k < rules->compiled.len; k++) {
    const rl_rule *a = &rules->compiled.data[k]->rule;
    const rl_rule *b = rl_find(rules, a->name);
    if (a == b)
      continue;
    ok = bs_error(rules->ctx.diags, a->span, "duplicate-name",
                  "there is a rule named '%s' already", a->name);
    bs_note(rules->ctx.diags, b->span, "the first one is here");
  }
  return ok;
}

/* Sets may have moved while they were listed. */
static void
link_sets(rl_rules *rules) {
  for (uint32_t k = 0; k < rules->compiled.len; k++) {
    rl_compiled *c = rules->compiled.data[k];
    c->rule.set = c->set ? &rules->sets.data[c->set - 1] : NULL;
  }
}

bool
rl_finish(rl_rules *rules) {
  bool ok = rl_check_params(rules);
  for (uint32_t k = 0; k < rules->rule_forms.len; k++)
    ok &= rl_parse_rule(rules, &rules->rule_forms.data[k]);
  ok &= rl_derive_rules(rules);
  ok &= check_names(rules);
  link_sets(rules);
  ok &= rl_resolve_sets(rules);
  ok &= rl_parse_strategies(rules);
  rules->failed |= !ok;
  rules->finished = !rules->failed;
  return rules->finished;
}

/* Plans hold masks over the rules of their own collection. */
static void
forget_plans(rl_rules *rules) {
  for (uint32_t k = 0; k < rules->strategies.len; k++)
    rules->strategies.data[k].plan = NULL;
}

/* The lists of forms are shared in content, so the copy reads no file. */
#define COPY(field)                                                            \
  do {                                                                         \
    for (uint32_t i = 0; i < from->field.len; i++)                             \
      bs_push(ctx->heap, &to->field, from->field.data[i]);                     \
  } while (0)

static void
name_forms(rl_rules *rules) {
  const gs_context *ctx = &rules->ctx;
  for (uint32_t k = 0; k < rules->rule_forms.len; k++)
    bs_map_put_first(ctx->heap, &rules->form_named,
                     bs_sym(ctx->values, rules->rule_forms.data[k].name).i, k);
  for (uint32_t k = 0; k < rules->sets.len; k++)
    bs_map_put_first(ctx->heap, &rules->set_named,
                     bs_sym(ctx->values, rules->sets.data[k].name).i, k);
}

rl_rules *
rl_copy(const rl_rules *from, const gs_context *ctx, const gs_target *target) {
  rl_rules *to = rl_new(ctx, target ? target : from->target);
  COPY(forms.files);
  COPY(forms.includes);
  COPY(params);
  COPY(overrides);
  COPY(rule_forms);
  COPY(sets);
  COPY(strategies);
  COPY(tests);
  name_forms(to);
  forget_plans(to);
  return to;
}

/* --- look-up -------------------------------------------------------------- */

uint32_t
rl_count(const rl_rules *rules) {
  return rules->compiled.len;
}

const rl_rule *
rl_at(const rl_rules *rules, uint32_t index) {
  assert(index < rules->compiled.len);
  return &rules->compiled.data[index]->rule;
}

uint32_t
rl_index_of(const rl_rules *rules, const char *name) {
  return bs_map_get(&rules->rule_named, bs_sym(rules->ctx.values, name).i);
}

const rl_rule *
rl_find(const rl_rules *rules, const char *name) {
  uint32_t k = rl_index_of(rules, name);
  return k == BS_NO_ENTRY ? NULL : rl_at(rules, k);
}
