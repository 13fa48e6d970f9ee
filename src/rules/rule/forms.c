/* SPDX-License-Identifier: MIT */
/* forms.c - what stands in a rule file: each form is checked for its outline,
 * named and listed.
 *
 * One table tells the forms.  All faults of a file are reported. */
#include "glenside/type/elsewhere.h"
#include "rules/rule/rule_internal.h"
#include <assert.h>
#include <string.h>

typedef struct reader {
  rl_rules *rules;
  uint32_t file;
} reader;

static const rl_file *
file_of(const reader *r) {
  return &r->rules->forms.files.data[r->file];
}

static const bs_sx *
at(const reader *r, uint32_t node) {
  return rl_sx(file_of(r), node);
}

static uint32_t
item(const reader *r, uint32_t list, uint32_t index) {
  return bs_sx_item(&file_of(r)->sx, list, index);
}

static bs_diags *
diags(const reader *r) {
  return r->rules->ctx.diags;
}

/* --- looking at nodes ----------------------------------------------------- */

const char *
rl_symbol(const rl_rules *rules, const rl_file *f, uint32_t node) {
  return bs_sx_symbol(&f->sx, rules->ctx.values, node);
}

const char *
rl_string(const rl_rules *rules, const rl_file *f, uint32_t node) {
  const bs_sx *x = rl_sx(f, node);
  if (!node || x->kind != BS_SX_STRING)
    return NULL;
  return bs_as_sym(rules->ctx.values, x->value);
}

uint32_t
rl_end(const rl_file *f, uint32_t node) {
  assert(node < f->sx.nodes.len);
  uint64_t left = 1;
  for (; left; node++)
    left += (uint64_t)rl_sx(f, node)->count - 1;
  return node;
}

void
rl_suggest(const rl_rules *rules, const char *word, const char *const *names,
           size_t n) {
  const char *near = bs_nearest(word, names, n);
  if (near)
    bs_meant(rules->ctx.diags, "'", near);
}

/* --- names ---------------------------------------------------------------- */

/* A rule without its name, or with it behind what it is for. */
static void
hint_name(const reader *r, uint32_t first) {
  uint32_t next = first ? at(r, first)->next : 0;
  const char *name = next ? rl_symbol(r->rules, file_of(r), next) : NULL;
  bool behind =
      name && at(r, first)->kind == BS_SX_STRING && !strchr("?:$=<", name[0]);
  bs_hint(diags(r), "%s(rule %s \"why\" LEFT => RIGHT)",
          behind ? "the name comes first: " : "", behind ? name : "NAME");
}

/* The name of a form, or NULL with a diagnostic. */
static const char *
form_name(const reader *r, uint32_t node, const char *what) {
  uint32_t name = item(r, node, 1);
  const char *text = name ? rl_symbol(r->rules, file_of(r), name) : NULL;
  if (text && text[0] != '?' && text[0] != ':' && text[0] != '$')
    return text;
  bs_error(diags(r), at(r, name ? name : node)->span, "bad-form",
           "the name of a %s is expected after '%s'", what, what);
  if (!strcmp(what, "rule"))
    hint_name(r, name);
  return NULL;
}

static bool
twice(const reader *r, bs_span span, const char *what, const char *name,
      bs_span first) {
  bs_error(diags(r), span, "duplicate-name", "there is a %s named '%s' already",
           what, name);
  bs_note(diags(r), first, "the first one is here");
  return false;
}

/* Rules and sets share their names: both may be items of sets. */
static bool
rule_name_free(const reader *r, const char *name, bs_span span) {
  const rl_rules *rules = r->rules;
  uint64_t symbol = bs_sym(rules->ctx.values, name).i;
  uint32_t form = bs_map_get(&rules->form_named, symbol);
  uint32_t set = bs_map_get(&rules->set_named, symbol);
  if (form != BS_NO_ENTRY)
    return twice(r, span, "rule", name, rules->rule_forms.data[form].span);
  if (set != BS_NO_ENTRY)
    return twice(r, span, "ruleset", name, rules->sets.data[set].form.span);
  return true;
}

static rl_form
form_of(const reader *r, uint32_t node, const char *name, uint32_t set) {
  uint32_t named = item(r, node, 1);
  return (rl_form){.name = name,
                   .span = at(r, named ? named : node)->span,
                   .file = r->file,
                   .node = node,
                   .set = set};
}

/* --- one function a form -------------------------------------------------- */

static bool
read_rule_in(const reader *r, uint32_t node, uint32_t set) {
  const char *name = form_name(r, node, "rule");
  if (!name)
    return false;
  rl_form form = form_of(r, node, name, set);
  if (!rule_name_free(r, name, form.span))
    return false;
  bs_map_put_first(r->rules->ctx.heap, &r->rules->form_named,
                   bs_sym(r->rules->ctx.values, name).i,
                   r->rules->rule_forms.len);
  bs_push(r->rules->ctx.heap, &r->rules->rule_forms, form);
  return true;
}

static bool
read_rule(const reader *r, uint32_t node) {
  return read_rule_in(r, node, 0);
}

static bool
read_param(const reader *r, uint32_t node) {
  rl_rules *rules = r->rules;
  const char *name = form_name(r, node, "param");
  uint32_t value = item(r, node, 2), doc = item(r, node, 3);
  if (!name)
    return false;
  if (!value || at(r, node)->count > 4 ||
      (doc && at(r, doc)->kind != BS_SX_STRING)) {
    bs_error(
        diags(r), at(r, node)->span, "bad-form",
        "a param has a name, a default and at most a line of documentation");
    bs_hint(diags(r), "(param %s 16 \"what it is\")", name);
    return false;
  }
  bs_span span = at(r, item(r, node, 1))->span;
  for (uint32_t k = 0; k < rules->params.len; k++)
    if (!strcmp(rules->params.data[k].name, name))
      return twice(r, span, "param", name, rules->params.data[k].span);
  rl_param p = {.name = name,
                .doc = doc ? rl_string(rules, file_of(r), doc) : "",
                .value = gs_data_value(&rules->ctx, &file_of(r)->sx, value),
                .span = span};
  bs_push(rules->ctx.heap, &rules->params, p);
  return true;
}

static bool
read_ruleset(const reader *r, uint32_t node) {
  rl_rules *rules = r->rules;
  const char *name = form_name(r, node, "ruleset");
  if (!name)
    return false;
  rl_set set = {.name = name, .form = form_of(r, node, name, 0)};
  bool ok = rule_name_free(r, name, set.form.span);
  bs_map_put_first(rules->ctx.heap, &rules->set_named,
                   bs_sym(rules->ctx.values, name).i, rules->sets.len);
  bs_push(rules->ctx.heap, &rules->sets, set);
  uint32_t index = rules->sets.len;
  for (uint32_t x = at(r, item(r, node, 1))->next; x; x = at(r, x)->next) {
    const char *head = bs_sx_head(&file_of(r)->sx, rules->ctx.values, x);
    if (head && !strcmp(head, "rule"))
      ok &= read_rule_in(r, x, index);
    else if (at(r, x)->kind != BS_SX_SYM)
      ok = bs_error(diags(r), at(r, x)->span, "bad-form",
                    "an item of a ruleset is a (rule ...) or a name");
  }
  return ok;
}

static bool
add_strategy(const reader *r, uint32_t node, const char *name) {
  rl_rules *rules = r->rules;
  rl_strategy s = {.name = name, .form = form_of(r, node, name, 0)};
  for (uint32_t k = 0; k < rules->strategies.len; k++)
    if (!strcmp(rules->strategies.data[k].name, name))
      return twice(r, s.form.span, "strategy", name,
                   rules->strategies.data[k].form.span);
  bs_push(rules->ctx.heap, &rules->strategies, s);
  return true;
}

static bool
read_strategy(const reader *r, uint32_t node) {
  const char *name = form_name(r, node, "strategy");
  if (!name)
    return false;
  if (at(r, node)->count == 3)
    return add_strategy(r, node, name);
  bs_error(diags(r), at(r, node)->span, "bad-form",
           "a strategy needs a name and one step");
  bs_hint(diags(r), "steps are put in order by (seq ...)");
  return false;
}

static bool
read_run(const reader *r, uint32_t node) {
  if (at(r, node)->count == 2)
    return add_strategy(r, node, "main");
  bs_error(diags(r), at(r, node)->span, "bad-form", "'run' takes one step");
  bs_hint(diags(r), "steps are put in order by (seq ...)");
  return false;
}

static bool
read_test(const reader *r, uint32_t node) {
  return rl_read_test(r->rules, r->file, node);
}

/* --- all forms ------------------------------------------------------------ */

static const struct {
  const char *name;
  bool (*read)(const reader *, uint32_t node);
} form_table[] = {
    {"rule", read_rule},       {"param", read_param},
    {"include", NULL}, /* the reader of files has followed it */
    {"ruleset", read_ruleset}, {"strategy", read_strategy},
    {"run", read_run},         {"test", read_test},
};
#define FORMS (sizeof form_table / sizeof form_table[0])

static bool
unknown_form(const reader *r, uint32_t node, const char *head) {
  const char *names[FORMS];
  bs_span span = at(r, node)->span;
  if (!head) {
    bs_error(diags(r), span, "unknown-form",
             "expected a form such as (rule ...)");
    bs_hint(diags(r), "(rule NAME \"why\" LEFT => RIGHT)");
    return false;
  }
  for (size_t k = 0; k < FORMS; k++)
    names[k] = form_table[k].name;
  bs_error(diags(r), at(r, node + 1)->span, "unknown-form",
           "a rule file has no form '%s'", head);
  if (!gs_hint_elsewhere(diags(r), GS_AS_RULE_FORM, head))
    rl_suggest(r->rules, head, names, FORMS);
  return false;
}

static bool
read_form(void *rules, uint32_t file, uint32_t node) {
  const reader of = {rules, file}, *r = &of;
  const char *head = bs_sx_head(&file_of(r)->sx, r->rules->ctx.values, node);
  for (size_t k = 0; head && k < FORMS; k++)
    if (!strcmp(form_table[k].name, head))
      return form_table[k].read(r, node);
  return unknown_form(r, node, head);
}

void
rl_forms_init(rl_rules *rules) {
  rules->forms =
      (gs_form_files){.ctx = &rules->ctx, .take = read_form, .arg = rules};
}

bool
rl_load(rl_rules *rules, const char *path) {
  bool ok = gs_forms_load(&rules->forms, path);
  rules->failed |= !ok;
  return ok;
}

bool
rl_load_source(rl_rules *rules, uint32_t source) {
  assert(source <= rules->ctx.diags->sources.len);
  bool ok = gs_forms_load_source(&rules->forms, source);
  rules->failed |= !ok;
  return ok;
}
