/* SPDX-License-Identifier: MIT */
/* lint.c - what is wrong in rule files: the checks one after the other.
 *
 * Rules are looked at twice: as they are written, since names and parameters
 * are gone from what is compiled, and compiled, to be tried.  The findings are
 * put into the order of the files at the end. */
#include "rules/lint/lint_internal.h"
#include <stdlib.h>
#include <string.h>

/* --- rules as they are written -------------------------------------------- */

static void
take_where(rl_linter *l, rl_written *w, uint32_t node) {
  rl_clauses c = {.ctx = l->ctx, .rules = l->rules, .file = w->file};
  rl_add_where(&c, node);
  for (uint32_t k = 0; k < c.conjuncts.len; k++)
    bs_push(l->ctx->heap, &w->conjuncts, c.conjuncts.data[k]);
  bs_vec_done(l->ctx->heap, &c.conjuncts);
}

static void
take_clause(rl_linter *l, rl_written *w, const char *name, uint32_t value) {
  bs_heap *heap = l->ctx->heap;
  if (!strcmp(name, ":with"))
    bs_push(heap, &w->with, value);
  else if (!strcmp(name, ":let"))
    bs_push(heap, &w->lets, value);
  else if (!strcmp(name, ":also"))
    bs_push(heap, &w->also, value);
  else if (!strcmp(name, ":for"))
    bs_push(heap, &w->fors, value);
  else if (!strcmp(name, ":where"))
    take_where(l, w, value);
  w->has_limit |= !strcmp(name, ":match-limit");
}

/* Of a form that was compiled, so its outline is as it should be. */
static void
read_outline(rl_linter *l, rl_written *w) {
  uint32_t name = bs_sx_item(&w->file->sx, w->form->node, 1);
  for (uint32_t x = rl_at_node(w, name)->next; x; x = rl_at_node(w, x)->next) {
    const char *word = rl_symbol(l->rules, w->file, x);
    uint32_t value = rl_at_node(w, x)->next;
    bool arrow = word && (!strcmp(word, "=>") || !strcmp(word, "<=>"));
    if (word && word[0] == ':' && word[1] && value) {
      take_clause(l, w, word, value);
      x = value;
    } else if (rl_at_node(w, x)->kind != BS_SX_STRING && !arrow) {
      *(w->left ? &w->right : &w->left) = x;
    }
  }
}

static rl_compiled *
compiled_at(const rl_rules *rules, bs_span span, uint32_t from) {
  for (uint32_t k = from; k < rules->compiled.len && k < from + 2; k++) {
    bs_span s = rules->compiled.data[k]->rule.span;
    if (s.file == span.file && s.lo == span.lo)
      return rules->compiled.data[k];
  }
  return NULL;
}

/* Compiled rules stand in the order of their forms, where both were read. */
static void
list_rules(rl_linter *l) {
  const rl_rules *rules = l->rules;
  uint32_t at = 0;
  for (uint32_t k = 0; k < rules->rule_forms.len; k++) {
    const rl_form *form = &rules->rule_forms.data[k];
    rl_written w = {.form = form, .file = &rules->forms.files.data[form->file]};
    w.compiled[0] = compiled_at(rules, form->span, at);
    if (!w.compiled[0])
      continue;
    while (rules->compiled.data[at] != w.compiled[0])
      at++;
    w.index = at;
    if (w.compiled[0]->rule.both_ways)
      w.compiled[1] = compiled_at(rules, form->span, ++at);
    read_outline(l, &w);
    l->counts.rules += 1 + (w.compiled[1] != NULL);
    bs_push(l->ctx->heap, &l->list, w);
  }
}

static void
drop_rules(rl_linter *l) {
  bs_heap *heap = l->ctx->heap;
  for (uint32_t k = 0; k < l->list.len; k++) {
    rl_written *w = &l->list.data[k];
    bs_vec_done(heap, &w->with);
    bs_vec_done(heap, &w->lets);
    bs_vec_done(heap, &w->also);
    bs_vec_done(heap, &w->fors);
    bs_vec_done(heap, &w->conjuncts);
  }
  bs_vec_done(heap, &l->list);
}

/* --- other values of parameters ------------------------------------------- */

static bool
has_parameter(const rl_linter *l, const rl_form *form) {
  const rl_file *f = &l->rules->forms.files.data[form->file];
  uint32_t end = rl_end(f, form->node);
  for (uint32_t x = form->node; x < end; x++) {
    const char *name = rl_symbol(l->rules, f, x);
    if (name && name[0] == '$')
      return true;
  }
  return false;
}

/* The rules with parameters, all integers of which are `value`. */
static const rl_rules *
variant(rl_linter *l, int64_t value) {
  rl_rules *v = rl_copy(l->rules, &l->quiet, NULL);
  uint32_t n = 0;
  for (uint32_t k = 0; k < v->params.len; k++)
    if (bs_kind_of(l->ctx->values, v->params.data[k].value) == BS_KIND_INT)
      rl_set_param(v, v->params.data[k].name, bs_int(l->ctx->values, value));
  for (uint32_t k = 0; k < v->rule_forms.len; k++)
    if (has_parameter(l, &v->rule_forms.data[k]))
      v->rule_forms.data[n++] = v->rule_forms.data[k];
  v->rule_forms.len = n;
  for (uint32_t k = 0; k < n; k++)
    rl_parse_rule(v, &v->rule_forms.data[k]);
  return v;
}

static void
make_variants(rl_linter *l) {
  bs_arena_init(&l->arena, &l->own);
  bs_diags_init(&l->quiet_diags, &l->own);
  l->quiet = (gs_context){&l->own, &l->arena, l->ctx->values, &l->quiet_diags};
  l->variants[0] = l->rules;
  for (int k = 1; k < RL_VARIANTS; k++)
    l->variants[k] = variant(l, k + 1);
}

/* --- checks on canonical forms -------------------------------------------- */

/* Reports tell of a rule by this line. */
static void
lint_intent(const rl_written *w, bs_diags *diags) {
  const rl_compiled *rule = w->compiled[0];
  if (!rule || (rule->rule.intent && *rule->rule.intent))
    return;
  bs_warning(diags, w->form->span, "no-intent",
             "the rule '%s' does not say what it is for", w->form->name);
  bs_hint(diags, "put one line in quotes after the name");
}

static void
lint_forms(rl_linter *l) {
  bs_heap *heap = l->ctx->heap;
  BS_VEC(rl_canon) forms = {0};
  for (uint32_t k = 0; k < l->list.len; k++) {
    uint32_t first = forms.len;
    lint_intent(&l->list.data[k], l->ctx->diags);
    for (int reverse = 0; reverse < 2; reverse++) {
      rl_canon c;
      if (!l->list.data[k].compiled[reverse])
        continue;
      rl_canon_of(l, &l->list.data[k], reverse, &c);
      rl_lint_conditions(l, &c);
      bs_push(heap, &forms, c);
    }
    rl_lint_idle(l, forms.data + first, forms.len - first);
  }
  rl_lint_same(l, forms.data, forms.len);
  for (uint32_t k = 0; k < forms.len; k++)
    rl_canon_done(l, &forms.data[k]);
  bs_vec_done(heap, &forms);
}

/* --- order ---------------------------------------------------------------- */

/* A finding with the notes that follow it. */
typedef struct group {
  uint32_t first, n;
  bs_span span;
} group;

static int
by_place(const void *a, const void *b) {
  const group *x = a, *y = b;
  if (x->span.file != y->span.file)
    return x->span.file < y->span.file ? -1 : 1;
  if (x->span.lo != y->span.lo)
    return x->span.lo < y->span.lo ? -1 : 1;
  return x->first < y->first ? -1 : 1;
}

static void
sort_findings(const rl_linter *l, uint32_t first) {
  bs_heap *heap = l->ctx->heap;
  bs_diags *d = l->ctx->diags;
  BS_VEC(group) groups = {0};
  uint32_t n = d->list.len - first;
  for (uint32_t k = first; k < d->list.len; k++) {
    const bs_diag *one = &d->list.data[k];
    if (one->severity == BS_NOTE && !one->code && groups.len)
      bs_last(&groups).n++;
    else
      bs_push(heap, &groups, (group){k, 1, one->span});
  }
  if (n) {
    bs_diag *sorted = bs_alloc(heap, n * sizeof *sorted);
    uint32_t at = 0;
    qsort(groups.data, groups.len, sizeof *groups.data, by_place);
    for (uint32_t k = 0; k < groups.len; k++)
      for (uint32_t i = 0; i < groups.data[k].n; i++)
        sorted[at++] = d->list.data[groups.data[k].first + i];
    memcpy(d->list.data + first, sorted, n * sizeof *sorted);
    bs_free(heap, sorted);
  }
  bs_vec_done(heap, &groups);
}

/* --- from outside --------------------------------------------------------- */

static void
check_all(void *linter) {
  rl_linter *l = linter;
  uint32_t first = l->ctx->diags->list.len;
  list_rules(l);
  make_variants(l);
  rl_lint_names(l);
  lint_forms(l);
  rl_lint_types(l);
  rl_lint_growth(l);
  drop_rules(l);
  sort_findings(l, first);
}

/* Variants of the rules are on memory of its own, as rules are given back with
 * their heap alone. */
void
rl_lint(const gs_context *ctx, const rl_rules *rules, bool remarks,
        rl_lint_counts *out) {
  rl_linter l = {.ctx = ctx, .rules = rules, .remarks = remarks};
  l.counts.files = rules->forms.files.len;
  bs_heap_init_child(&l.own, ctx->heap, 0);
  bool whole = bs_protect(&l.own, check_all, &l);
  bs_heap_done(&l.own);
  if (!whole)
    bs_out_of_memory(ctx->heap);
  *out = l.counts;
}
