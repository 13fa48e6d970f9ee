/* SPDX-License-Identifier: MIT */
/* lint_names.c - names that nothing uses, that hide others, that no strategy
 * runs.
 *
 * A variable named ?_x is not meant to be used.  What the left side binds and
 * nothing uses is no mistake in itself: a remark. */
#include "rules/lint/lint_internal.h"
#include <string.h>

/* --- variables ------------------------------------------------------------ */

/* How often the rule has the variable of this node. */
static uint32_t
occurrences(const rl_linter *l, const rl_written *w, uint32_t node) {
  bs_value name = rl_at_node(w, node)->value;
  uint32_t end = rl_end(w->file, w->form->node), n = 0;
  for (uint32_t x = w->form->node; x < end; x++)
    n +=
        rl_variable_at(l, w->file, x) && bs_same(rl_at_node(w, x)->value, name);
  return n;
}

static bool
is_unused(const rl_linter *l, const rl_written *w, uint32_t node) {
  const char *name = rl_variable_at(l, w->file, node);
  return name && name[1] != '_' && occurrences(l, w, node) == 1;
}

static bs_span
span_at(const rl_written *w, uint32_t node) {
  return rl_at_node(w, node)->span;
}

/* (= ?new EXPR) where nothing else has ?new. */
static void
check_definitions(const rl_linter *l, const rl_written *w) {
  const bs_sexps *sx = &w->file->sx;
  for (uint32_t k = 0; k < w->conjuncts.len; k++) {
    uint32_t node = w->conjuncts.data[k];
    const char *head = bs_sx_head(sx, l->ctx->values, node);
    if (!head || strcmp(head, "=") || rl_at_node(w, node)->count != 3)
      continue;
    for (uint32_t i = 1; i <= 2; i++) {
      uint32_t var = bs_sx_item(sx, node, i);
      if (!is_unused(l, w, var))
        continue;
      bs_warning(l->ctx->diags, span_at(w, var), "unused-variable",
                 "'%s' is defined and never used",
                 rl_variable_at(l, w->file, var));
      bs_hint(l->ctx->diags,
              "this only asks that the value is defined; if that is intended, "
              "name it ?_%s",
              rl_variable_at(l, w->file, var) + 1);
    }
  }
}

static bool
is_repeated_for(const rl_written *w, uint32_t k) {
  for (uint32_t i = 0; i < k; i++)
    if (bs_same(rl_at_node(w, w->fors.data[i] + 1)->value,
                rl_at_node(w, w->fors.data[k] + 1)->value))
      return true;
  return false;
}

static void
check_fors(const rl_linter *l, const rl_written *w) {
  for (uint32_t k = 0; k < w->fors.len; k++) {
    uint32_t var = w->fors.data[k] + 1;
    const char *name = rl_variable_at(l, w->file, var);
    if (is_repeated_for(w, k)) {
      bs_warning(l->ctx->diags, span_at(w, var), "shadowed-variable",
                 "'%s' hides the variable of the :for before it", name);
    } else if (is_unused(l, w, var)) {
      bs_warning(l->ctx->diags, span_at(w, var), "unused-variable",
                 "'%s' is never used: each item gives the same right side",
                 name);
      bs_hint(l->ctx->diags, "leave out the :for, or name it ?_%s", name + 1);
    }
  }
}

static bool
shares_variable(const rl_linter *l, const rl_written *w, uint32_t node) {
  uint32_t end = rl_end(w->file, node);
  for (; node < end; node++)
    if (rl_variable_at(l, w->file, node) && occurrences(l, w, node) > 1)
      return true;
  return false;
}

/* A :with that nothing ties to the rest. */
static void
check_withs(const rl_linter *l, const rl_written *w) {
  for (uint32_t k = 0; k < w->with.len; k++) {
    uint32_t node = w->with.data[k], var = node + 1;
    if (!is_unused(l, w, var) || shares_variable(l, w, node))
      continue;
    bs_warning(l->ctx->diags, span_at(w, node), "unused-variable",
               "nothing ties this to the rest of the rule: it only asks that "
               "there is such a term somewhere");
    bs_hint(l->ctx->diags, "if that is intended, name it ?_%s",
            rl_variable_at(l, w->file, var) + 1);
  }
}

static void
check_lets(const rl_linter *l, const rl_written *w) {
  for (uint32_t k = 0; k < w->lets.len; k++) {
    uint32_t var = w->lets.data[k] + 1;
    if (is_unused(l, w, var))
      bs_warning(l->ctx->diags, span_at(w, var), "unused-variable",
                 "'%s' names a term that is never used",
                 rl_variable_at(l, w->file, var));
  }
}

static void
remark_left(const rl_linter *l, const rl_written *w) {
  uint32_t end = rl_end(w->file, w->left);
  for (uint32_t x = w->left; l->remarks && x < end; x++)
    if (is_unused(l, w, x))
      rl_remark(l, span_at(w, x), "unused-variable",
                "'%s' is used nowhere else; name it ?_%s if that is meant",
                rl_variable_at(l, w->file, x),
                rl_variable_at(l, w->file, x) + 1);
}

/* --- names of rules and sets ---------------------------------------------- */

static bool
ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n > m && !strcmp(s + n - m, end);
}

static void
check_rule_name(const rl_linter *l, const rl_form *form) {
  rl_kind kind;
  bs_diags *d = l->ctx->diags;
  if (rl_kind_find(form->name, &kind) || !strcmp(form->name, "all")) {
    bs_warning(
        d, form->span, "shadowed-name",
        "in strategies and sets '%s' means %s, not this rule", form->name,
        strcmp(form->name, "all") ? "all rules of that kind" : "every rule");
  } else if (ends_with(form->name, "~rev") || ends_with(form->name, "~fwd")) {
    bs_warning(d, form->span, "shadowed-name",
               "NAME~fwd and NAME~rev are the directions of a rule NAME; '%s' "
               "cannot be named so",
               form->name);
  }
}

static void
check_set_name(const rl_linter *l, const rl_set *set) {
  if (!strcmp(set->name, "all"))
    bs_warning(l->ctx->diags, set->form.span, "shadowed-name",
               "'all' means every rule in strategies; this set hides that");
}

/* --- parameters ----------------------------------------------------------- */

static bool
is_param_used(const rl_linter *l, const char *name) {
  const gs_context *ctx = l->ctx;
  bs_value wanted =
      bs_sym(ctx->values, bs_arena_printf(ctx->arena, "$%s", name));
  for (uint32_t k = 0; k < l->rules->forms.files.len; k++) {
    const rl_file *f = &l->rules->forms.files.data[k];
    for (uint32_t x = 1; x < f->sx.nodes.len; x++)
      if (f->sx.nodes.data[x].kind == BS_SX_SYM &&
          bs_same(f->sx.nodes.data[x].value, wanted))
        return true;
  }
  return false;
}

static void
check_params(const rl_linter *l) {
  for (uint32_t k = 0; k < l->rules->params.len; k++) {
    const rl_param *p = &l->rules->params.data[k];
    if (!is_param_used(l, p->name))
      bs_warning(l->ctx->diags, p->span, "unused-param",
                 "nothing in these files uses $%s", p->name);
    if (!p->doc[0])
      rl_remark(l, p->span, "no-doc",
                "the parameter '%s' does not say what "
                "it is",
                p->name);
  }
}

/* --- rules that are never run --------------------------------------------- */

/* Adds the rules of a strategy to the mask; no deeper than it may nest. */
static void
add_plan(const rl_plan *p, uint8_t *mask, uint32_t n) {
  for (uint32_t k = 0; p->mask && k < n; k++)
    mask[k] |= p->mask[k];
  for (uint32_t k = 0; k < p->n_kids; k++)
    add_plan(p->kids[k], mask, n);
}

/* In a file with strategies a rule that none runs is hardly meant; other files
 * are collections to choose from. */
static void
report_never_run(const rl_linter *l, const rl_written *w) {
  const rl_rules *rules = l->rules;
  bs_diags *d = l->ctx->diags;
  for (uint32_t k = 0; k < rules->strategies.len; k++) {
    const rl_strategy *s = &rules->strategies.data[k];
    if (s->form.file != w->form->file)
      continue;
    bs_warning(d, w->form->span, "never-run", "no strategy runs '%s'",
               w->form->name);
    bs_hint(d, "put it into a set that '%s' runs, or into another file",
            s->name);
    return;
  }
  rl_remark(l, w->form->span, "never-run", "no strategy runs '%s'",
            w->form->name);
}

static void
check_strategies(const rl_linter *l) {
  const rl_rules *rules = l->rules;
  uint32_t n = rules->compiled.len;
  if (!rules->finished || !rules->strategies.len)
    return;
  uint8_t *mask = bs_calloc(l->ctx->heap, n + (size_t)1, 1);
  for (uint32_t k = 0; k < rules->strategies.len; k++)
    add_plan(rules->strategies.data[k].plan, mask, n);
  for (uint32_t k = 0; k < l->list.len; k++) {
    const rl_written *w = &l->list.data[k];
    uint32_t at = w->index;
    if (!mask[at] && !(w->compiled[1] && mask[at + 1]))
      report_never_run(l, w);
  }
  bs_free(l->ctx->heap, mask);
}

/* --- clean-up ------------------------------------------------------------- */

static uint32_t
count_operators(const gs_skeleton *s) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < s->n; k++)
    n += !s->nodes[k].hole;
  return n;
}

/* The eighth law of rules. */
static void
check_cleanup(const rl_linter *l, const rl_written *w) {
  for (int way = 0; way < 2; way++) {
    const rl_compiled *c = w->compiled[way];
    if (!c || c->rule.kind != RL_CLEANUP ||
        count_operators(c->right[0].skeleton) <= count_operators(c->rule.left))
      continue;
    bs_warning(l->ctx->diags, w->form->span, "cleanup-grows",
               "'%s' is a cleanup, but its right side%s has more nodes than "
               "its left",
               w->form->name, way ? " (from right to left)" : "");
    bs_hint(l->ctx->diags,
            "choose another kind, for example :kind composition");
  }
}

void
rl_lint_names(rl_linter *l) {
  for (uint32_t k = 0; k < l->rules->rule_forms.len; k++)
    check_rule_name(l, &l->rules->rule_forms.data[k]);
  for (uint32_t k = 0; k < l->rules->sets.len; k++)
    check_set_name(l, &l->rules->sets.data[k]);
  for (uint32_t k = 0; k < l->list.len; k++) {
    const rl_written *w = &l->list.data[k];
    check_definitions(l, w);
    check_fors(l, w);
    check_withs(l, w);
    check_lets(l, w);
    remark_left(l, w);
    check_cleanup(l, w);
  }
  check_params(l);
  check_strategies(l);
}
