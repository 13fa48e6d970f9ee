/* SPDX-License-Identifier: MIT */
/* params.c - parameters of rules: defaults, and what overrules them. */
#include "rules/rule/rule_internal.h"
#include <string.h>

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
  if (rules->forms.files.len && !find_param(rules, name))
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

/* The command line before the target before the default. */
bs_value
rl_param_value(const rl_rules *rules, const char *name) {
  const rl_param *param = find_param(rules, name);
  if (!param)
    return BS_NIL;
  const rl_override *over = find_override(rules, name);
  bs_value set =
      rules->target ? gs_target_setting(rules->target, name) : BS_NIL;
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
                  "the parameter %s is %s, but it was set to %s", p->name,
                  kind_name(wanted), kind_name(found));
}

bool
rl_no_param(const rl_rules *rules, const char *name) {
  uint32_t n = rules->params.len;
  const char **names = BS_NEWS(rules->ctx.arena, const char *, n + (size_t)1);
  for (uint32_t k = 0; k < n; k++)
    names[k] = rules->params.data[k].name;
  bs_error(rules->ctx.diags, BS_NOWHERE, "unknown-param",
           "no rule file has a parameter named %s", name);
  bs_hint_names(rules->ctx.diags, name, names, n);
  return false;
}

bool
rl_check_params(const rl_rules *rules) {
  bool ok = true;
  for (uint32_t k = 0; k < rules->params.len; k++)
    ok &= check_param(rules, &rules->params.data[k]);
  for (uint32_t k = 0; k < rules->overrides.len; k++)
    if (!find_param(rules, rules->overrides.data[k].name))
      ok = rl_no_param(rules, rules->overrides.data[k].name);
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
