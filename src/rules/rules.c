/* SPDX-License-Identifier: MIT */
/* rules.c - the collection of rules: parameters, compilation, look-up.
 *
 * A rule's id, in the e-graph's origins and statistics, is its index here: the
 * rules of the files in order, a reverse behind its rule, then those derived
 * from the target's instructions. */
#include "rules/internal.h"
#include <string.h>

rl_rules *
rl_new(const gs_context *ctx, const gs_target *target) {
  rl_rules *rules = BS_NEW(ctx->arena, rl_rules);
  rules->ctx = *ctx;
  rules->target = target ? target : gs_target_default(ctx);
  return rules;
}

/* --- parameters ----------------------------------------------------------- */

static const rl_param *
find_param(const rl_rules *rules, const char *name) {
  for (uint32_t k = 0; k < rules->params.len; k++)
    if (!strcmp(rules->params.data[k].name, name))
      return &rules->params.data[k];
  return NULL;
}

static rl_override *
find_override(const rl_rules *rules, const char *name) {
  for (uint32_t k = 0; k < rules->overrides.len; k++)
    if (!strcmp(rules->overrides.data[k].name, name))
      return &rules->overrides.data[k];
  return NULL;
}

bool
rl_set_param(rl_rules *rules, const char *name, bs_value value) {
  if (rules->files.len && !find_param(rules, name))
    return false;
  rl_override *have = find_override(rules, name);
  if (have) {
    have->value = value;
    return true;
  }
  rl_override o = {bs_arena_strdup(rules->ctx.arena, name), value};
  bs_push(rules->ctx.heap, &rules->overrides, o);
  return true;
}

static bs_value
setting_of(const gs_target *target, const char *name) {
  for (uint32_t k = 0; target && k < target->settings.len; k++)
    if (!strcmp(target->settings.data[k].name, name))
      return target->settings.data[k].value;
  return BS_NIL;
}

/* The command line before the target before the default. */
bs_value
rl_param_value(const rl_rules *rules, const char *name) {
  const rl_param *param = find_param(rules, name);
  if (!param)
    return BS_NIL;
  const rl_override *over = find_override(rules, name);
  bs_value set = setting_of(rules->target, name);
  return over ? over->value : set.i ? set : param->value;
}

static bool
is_number(bs_kind k) {
  return k == BS_KIND_INT || k == BS_KIND_REAL;
}

static const char *
kind_name(bs_kind k) {
  static const char *const names[] = {"nothing",   "an integer", "a number",
                                      "a boolean", "a name",     "a list"};
  return names[k];
}

/* A value given from outside has the kind of the default. */
static bool
check_param(const rl_rules *rules, const rl_param *p) {
  bs_values *values = rules->ctx.values;
  bs_kind wanted = bs_kind_of(values, p->value);
  bs_kind found = bs_kind_of(values, rl_param_value(rules, p->name));
  if (found == wanted || (wanted == BS_KIND_REAL && is_number(found)))
    return true;
  return bs_error(rules->ctx.diags, p->span, "bad-param",
                  "the parameter %s is %s, it was set to %s", p->name,
                  kind_name(wanted), kind_name(found));
}

static bool
check_params(const rl_rules *rules) {
  bool ok = true;
  for (uint32_t k = 0; k < rules->params.len; k++)
    ok &= check_param(rules, &rules->params.data[k]);
  for (uint32_t k = 0; k < rules->overrides.len; k++)
    if (!find_param(rules, rules->overrides.data[k].name))
      ok = bs_error(rules->ctx.diags, BS_NOWHERE, "unknown-param",
                    "no rule file has a parameter named %s",
                    rules->overrides.data[k].name);
  return ok;
}

bool
rl_integer(const rl_rules *rules, const rl_file *f, uint32_t node,
           int64_t *out) {
  const bs_sx *x = rl_sx(f, node);
  const char *name = rl_symbol(rules, f, node);
  bs_value v = x->value;
  if (name && name[0] == '$')
    v = rl_param_value(rules, name + 1);
  else if (x->kind != BS_SX_INT)
    return false;
  *out = bs_as_int(rules->ctx.values, v);
  return bs_kind_of(rules->ctx.values, v) == BS_KIND_INT;
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
    bs_note(rules->ctx.diags, b->span, "the first one stands here");
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
  bool ok = check_params(rules);
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
  COPY(files);
  COPY(includes);
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
