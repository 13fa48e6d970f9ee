/* SPDX-License-Identifier: MIT */
/* rules.c - rule files, read for their rules and parameters only.
 *
 * Sides and conditions are parsed by the reader of terms and expressions; what
 * a form means is told here. */
#include "check/check.h"
#include <string.h>

static const bs_sexps *
forms(const ck_rules *r, uint32_t file) {
  return &r->forms.files.data[file].sx;
}

static const bs_sx *
at(const ck_rules *r, uint32_t file, uint32_t node) {
  return bs_sx_at(forms(r, file), node);
}

static const char *
symbol(const ck_rules *r, uint32_t file, uint32_t node) {
  return bs_sx_symbol(forms(r, file), r->ctx->values, node);
}

static bool
bad(const ck_rules *r, bs_span span, const char *what) {
  return bs_error(r->ctx->diags, span, "bad-form", "%s", what);
}

/* ---- parameters ---- */

static ck_param *
find_param(const ck_rules *r, const char *name) {
  for (uint32_t k = 0; k < r->params.len; k++)
    if (!strcmp(r->params.data[k].name, name))
      return &r->params.data[k];
  return NULL;
}

static bs_value
param_of(void *ctx, const char *name) {
  const ck_rules *r = ctx;
  const ck_param *p = find_param(r, name);
  bs_value set = r->target ? gs_target_setting(r->target, name) : BS_NIL;
  return !p ? BS_NIL : !p->given && set.i ? set : p->value;
}

static bool
read_param(ck_rules *r, uint32_t file, uint32_t node) {
  const char *name = symbol(r, file, bs_sx_item(forms(r, file), node, 1));
  uint32_t value = bs_sx_item(forms(r, file), node, 2);
  if (!name || !value)
    return bad(r, at(r, file, node)->span, "a param has a name and a value");
  if (!find_param(r, name))
    bs_push(
        r->ctx->heap, &r->params,
        (ck_param){name, gs_data_value(r->ctx, forms(r, file), value), false});
  return true;
}

bool
ck_give_param(ck_rules *r, const char *text) {
  ck_param given = {.given = true};
  if (!gs_read_setting(r->ctx, text, &given.name, &given.value))
    return bad(r, BS_NOWHERE, "-p takes NAME=VALUE");
  bs_push(r->ctx->heap, &r->params, given);
  return true;
}

/* ---- outlines ---- */

static bool
is_clause(const char *name) {
  static const char *const names[] = {":with",  ":also", ":let",        ":for",
                                      ":where", ":kind", ":match-limit"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (!strcmp(names[k], name))
      return true;
  return false;
}

/* Clauses in their order; else a text, a side, an arrow, a side. */
static bool
read_items(ck_rules *r, ck_rule *rule, uint32_t first) {
  bool arrow = false;
  for (uint32_t x = first; x; x = at(r, rule->file, x)->next) {
    const char *word = symbol(r, rule->file, x);
    if (word && word[0] == ':') {
      uint32_t value = at(r, rule->file, x)->next;
      if (!value || !is_clause(word))
        return bad(r, at(r, rule->file, x)->span, "an unknown clause");
      bs_push(r->ctx->heap, &rule->clauses, (ck_clause){word, value});
      x = value;
    } else if (word && (!strcmp(word, "=>") || !strcmp(word, "<=>"))) {
      arrow = true;
      rule->both_ways = word[0] == '<';
    } else if (at(r, rule->file, x)->kind == BS_SX_STRING && !rule->left) {
      continue;
    } else if (arrow ? rule->right : rule->left) {
      return bad(r, at(r, rule->file, x)->span, "a rule has two sides");
    } else {
      *(arrow ? &rule->right : &rule->left) = x;
    }
  }
  return (rule->left && rule->right) ||
         bad(r, rule->span, "a rule has two sides");
}

/* The next clause of that name from *at on, which is moved behind it; or 0. */
static uint32_t
next_clause(const ck_rule *rule, const char *name, uint32_t *at) {
  while (*at < rule->clauses.len) {
    const ck_clause *c = &rule->clauses.data[(*at)++];
    if (!strcmp(c->name, name))
      return c->node;
  }
  return 0;
}

static bool
read_rule(ck_rules *r, uint32_t file, uint32_t node) {
  uint32_t name = bs_sx_item(forms(r, file), node, 1);
  ck_rule *rule = BS_NEW(r->ctx->arena, ck_rule);
  *rule = (ck_rule){.name = symbol(r, file, name), .file = file};
  rule->span = at(r, file, node)->span;
  if (!rule->name)
    return bad(r, rule->span, "a rule has a name");
  if (!read_items(r, rule, at(r, file, name)->next))
    return false;
  bs_push(r->ctx->heap, &r->list, rule);
  if (!rule->both_ways)
    return true;
  ck_rule *back = BS_NEW(r->ctx->arena, ck_rule);
  *back = *rule;
  back->name = bs_arena_printf(r->ctx->arena, "%s~rev", rule->name);
  back->left = rule->right;
  back->right = rule->left;
  bs_push(r->ctx->heap, &r->list, back);
  return true;
}

/* ---- files ---- */

static bool
read_ruleset(ck_rules *r, uint32_t file, uint32_t node) {
  bool ok = true;
  for (uint32_t x = bs_sx_item(forms(r, file), node, 2); x;
       x = at(r, file, x)->next) {
    const char *head = bs_sx_head(forms(r, file), r->ctx->values, x);
    if (head && !strcmp(head, "rule"))
      ok &= read_rule(r, file, x);
  }
  return ok;
}

/* Strategies, runs and tests say nothing of meaning. */
static bool
read_form(void *rules, uint32_t file, uint32_t node) {
  ck_rules *r = rules;
  const char *head = bs_sx_head(forms(r, file), r->ctx->values, node);
  return !head ? bad(r, at(r, file, node)->span, "a form is expected")
         : !strcmp(head, "rule")    ? read_rule(r, file, node)
         : !strcmp(head, "ruleset") ? read_ruleset(r, file, node)
         : !strcmp(head, "param")   ? read_param(r, file, node)
                                    : true;
}

void
ck_rules_init(ck_rules *r, const gs_context *ctx, const gs_target *target) {
  *r = (ck_rules){.ctx = ctx, .target = target};
  r->forms = (gs_form_files){.ctx = ctx, .take = read_form, .arg = r};
}

void
ck_add_instrs(ck_rules *r) {
  for (uint32_t k = 0; r->target && k < r->target->instrs.len; k++) {
    const gs_instr *instr = r->target->instrs.data[k];
    ck_rule *rule = BS_NEW(r->ctx->arena, ck_rule);
    *rule = (ck_rule){.name = instr->name, .span = instr->span, .instr = instr};
    bs_push(r->ctx->heap, &r->list, rule);
  }
}

ck_rule *
ck_find_rule(ck_rules *r, const char *name) {
  for (uint32_t k = 0; k < r->list.len; k++) {
    ck_rule *rule = r->list.data[k];
    size_t n = rule->instr ? strcspn(name, ".") : strlen(name);
    if (strlen(rule->name) == n && !memcmp(rule->name, name, n))
      return rule;
  }
  return NULL;
}

/* ---- sides and conditions ---- */

/* The variable that a clause begins with; false: none. */
static bool
slot_of(const ck_rules *r, ck_rule *rule, uint32_t node, gs_sort sort,
        uint32_t *slot, uint32_t *behind) {
  uint32_t var = bs_sx_first(forms(r, rule->file), node);
  const char *name = symbol(r, rule->file, var);
  *behind = var ? at(r, rule->file, var)->next : 0;
  if (!name || !*behind)
    return bad(r, at(r, rule->file, node)->span,
               "a clause has a variable and what it is");
  int found = gs_scope_find(&rule->scope, name);
  if (found < 0)
    found = gs_scope_add(r->ctx, &rule->scope, name, sort,
                         at(r, rule->file, var)->span);
  *slot = (uint32_t)found;
  return found >= 0;
}

static bool
read_term(const ck_rules *r, ck_rule *rule, uint32_t node, ck_side *out) {
  out->term = gs_skeleton_parse(r->ctx, r->target, forms(r, rule->file), node,
                                &rule->scope);
  return out->term != NULL;
}

/* The whole, and each (?x TERM) of the clauses of a name. */
static bool
read_sides(const ck_rules *r, ck_rule *rule, uint32_t whole, const char *name,
           ck_side **sides, uint32_t *n) {
  uint32_t node, from = 0, term;
  *n = 1;
  *sides = BS_NEWS(r->ctx->arena, ck_side, rule->clauses.len + 1);
  (*sides)[0].slot = UINT32_MAX;
  bool ok = read_term(r, rule, whole, &(*sides)[0]);
  while (ok && (node = next_clause(rule, name, &from))) {
    ck_side *side = &(*sides)[(*n)++];
    ok = slot_of(r, rule, node, GS_SORT_CLASS, &side->slot, &term) &&
         read_term(r, rule, term, side);
  }
  return ok;
}

static bool
read_lets(const ck_rules *r, ck_rule *rule) {
  gs_let *lets = BS_NEWS(r->ctx->arena, gs_let, rule->clauses.len + 1);
  uint32_t node, from = 0;
  rule->scope.lets = lets;
  while ((node = next_clause(rule, ":let", &from))) {
    uint32_t var = bs_sx_first(forms(r, rule->file), node);
    gs_let let = {symbol(r, rule->file, var),
                  var ? at(r, rule->file, var)->next : 0};
    if (!let.name || !let.node)
      return bad(r, rule->span, "a :let has a variable and a term");
    lets[rule->scope.n_lets++] = let;
  }
  return true;
}

static bool
read_condition(const ck_rules *r, ck_rule *rule, uint32_t node, bool loop) {
  ck_condition *c = &rule->conditions[rule->n_conditions++];
  c->slot = UINT32_MAX;
  if (loop && !slot_of(r, rule, node, GS_SORT_ANY, &c->slot, &node))
    return false;
  c->expr = gs_expr_parse_as(r->ctx, forms(r, rule->file), node, &rule->scope,
                             loop ? GS_SORT_LIST : GS_SORT_BOOL);
  return c->expr != NULL;
}

static bool
read_conditions(const ck_rules *r, ck_rule *rule) {
  uint32_t node, n = rule->clauses.len + 1;
  bool ok = true;
  rule->conditions = BS_NEWS(r->ctx->arena, ck_condition, n);
  for (uint32_t from = 0; ok && (node = next_clause(rule, ":where", &from));)
    ok = read_condition(r, rule, node, false);
  for (uint32_t from = 0; ok && (node = next_clause(rule, ":for", &from));)
    ok = read_condition(r, rule, node, true);
  return ok;
}

/* Conditions may name what they define in any order: the scope stays open. */
bool
ck_parse_rule(ck_rules *r, ck_rule *rule) {
  if (rule->parsed)
    return !rule->bad;
  rule->parsed = true;
  rule->scope = (gs_scope){
      .question_marks = true, .open = true, .param = param_of, .ctx = r};
  rule->bad =
      !read_sides(r, rule, rule->left, ":with", &rule->parts, &rule->n_parts) ||
      !read_conditions(r, rule) || !read_lets(r, rule) ||
      !read_sides(r, rule, rule->right, ":also", &rule->results,
                  &rule->n_results);
  return !rule->bad;
}
