/* SPDX-License-Identifier: MIT */
/* rules.c - rule files, read for their rules and parameters only.
 *
 * Sides and conditions are parsed by the reader of terms and expressions; what
 * a form means is told here. */
#include "base/file.h"
#include "check/check.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 100000, MOST_DEPTH = 64 };

static const char reverse[] = "~rev";

static const bs_sx *
at(const bs_sexps *sx, uint32_t node) {
  return &sx->nodes.data[node];
}

static const char *
symbol(const ck_rules *r, const bs_sexps *sx, uint32_t node) {
  return node && at(sx, node)->kind == BS_SX_SYM
             ? bs_as_sym(r->ctx->values, at(sx, node)->value)
             : NULL;
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
setting(const ck_rules *r, const char *name) {
  for (uint32_t k = 0; r->target && k < r->target->settings.len; k++)
    if (!strcmp(r->target->settings.data[k].name, name))
      return r->target->settings.data[k].value;
  return BS_NIL;
}

static bs_value
param_of(void *ctx, const char *name) {
  const ck_rules *r = ctx;
  const ck_param *p = find_param(r, name);
  bs_value set = setting(r, name);
  return !p ? BS_NIL : !p->given && set.i ? set : p->value;
}

static bs_value
data_of(const ck_rules *r, const bs_sexps *sx, uint32_t node) {
  bs_values *values = r->ctx->values;
  bs_value v = bs_sx_value(r->ctx->heap, values, sx, node);
  const char *head = bs_sx_head(sx, values, node);
  if (!head || (strcmp(head, "list") && strcmp(head, "shape")))
    return v;
  uint32_t n = bs_len(values, v);
  bs_value *items = BS_NEWS(r->ctx->arena, bs_value, n);
  for (uint32_t k = 1; k < n; k++)
    items[k - 1] = bs_item(values, v, k);
  return bs_list(values, items, n - 1);
}

static bool
read_param(ck_rules *r, const bs_sexps *sx, uint32_t node) {
  const char *name = symbol(r, sx, bs_sx_item(sx, node, 1));
  uint32_t value = bs_sx_item(sx, node, 2);
  if (!name || !value)
    return bad(r, at(sx, node)->span, "a param has a name and a value");
  if (!find_param(r, name))
    bs_push(r->ctx->heap, &r->params,
            (ck_param){name, data_of(r, sx, value), false});
  return true;
}

bool
ck_give_param(ck_rules *r, const char *text) {
  const char *equals = strchr(text, '=');
  bs_sexps *sx = BS_NEW(r->ctx->arena, bs_sexps);
  uint32_t source = equals ? bs_source_add(r->ctx->diags, "-p", equals + 1,
                                           strlen(equals + 1))
                           : 0;
  if (!source ||
      !bs_sexp_read(r->ctx->heap, r->ctx->values, r->ctx->diags, source, sx) ||
      sx->roots.len != 1)
    return bad(r, BS_NOWHERE, "-p takes NAME=VALUE");
  const char *name =
      bs_arena_printf(r->ctx->arena, "%.*s", (int)(equals - text), text);
  bs_push(r->ctx->heap, &r->params,
          (ck_param){name, data_of(r, sx, sx->roots.data[0]), true});
  return true;
}

/* ---- outlines ---- */

static bool
read_clause(const ck_rules *r, ck_rule *rule, const char *name,
            uint32_t value) {
  static const char *const names[] = {":with",  ":also", ":let",        ":for",
                                      ":where", ":kind", ":match-limit"};
  bs_push(r->ctx->heap, &rule->clauses, (ck_clause){name, value});
  for (size_t k = 0; k < sizeof names / sizeof *names && value; k++)
    if (!strcmp(names[k], name))
      return true;
  return false;
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
read_items(ck_rules *r, ck_rule *rule, uint32_t first) {
  bool arrow = false;
  for (uint32_t x = first; x; x = at(rule->sx, x)->next) {
    const char *word = symbol(r, rule->sx, x);
    if (word && word[0] == ':') {
      uint32_t value = at(rule->sx, x)->next;
      if (!read_clause(r, rule, word, value))
        return bad(r, at(rule->sx, x)->span, "a clause that is not known");
      x = value;
    } else if (word && (!strcmp(word, "=>") || !strcmp(word, "<=>"))) {
      arrow = true;
      rule->both_ways = word[0] == '<';
    } else if (at(rule->sx, x)->kind == BS_SX_STRING && !rule->left) {
      continue;
    } else if (!rule->left && !arrow) {
      rule->left = x;
    } else if (!rule->right && arrow) {
      rule->right = x;
    } else {
      return bad(r, at(rule->sx, x)->span, "a rule has two sides");
    }
  }
  return (rule->left && rule->right) ||
         bad(r, rule->span, "a rule has two sides");
}

static bool
read_rule(ck_rules *r, const bs_sexps *sx, uint32_t node) {
  uint32_t name = bs_sx_item(sx, node, 1);
  ck_rule *rule = BS_NEW(r->ctx->arena, ck_rule);
  *rule = (ck_rule){.name = symbol(r, sx, name), .sx = sx};
  rule->span = at(sx, node)->span;
  if (!rule->name)
    return bad(r, rule->span, "a rule has a name");
  if (!read_items(r, rule, at(sx, name)->next))
    return false;
  bs_push(r->ctx->heap, &r->list, rule);
  if (!rule->both_ways)
    return true;
  ck_rule *back = BS_NEW(r->ctx->arena, ck_rule);
  *back = *rule;
  back->reverse = true;
  back->name = bs_arena_printf(r->ctx->arena, "%s%s", rule->name, reverse);
  back->left = rule->right;
  back->right = rule->left;
  bs_push(r->ctx->heap, &r->list, back);
  return true;
}

/* ---- files ---- */

static bool load_file(ck_rules *, const char *path, uint32_t depth);

static bool
read_ruleset(ck_rules *r, const bs_sexps *sx, uint32_t node) {
  bool ok = true;
  for (uint32_t x = bs_sx_item(sx, node, 2); x; x = at(sx, x)->next) {
    const char *head = bs_sx_head(sx, r->ctx->values, x);
    if (head && !strcmp(head, "rule"))
      ok &= read_rule(r, sx, x);
  }
  return ok;
}

static bool
read_form(ck_rules *r, const bs_sexps *sx, uint32_t node, const char *path,
          uint32_t depth) {
  const char *head = bs_sx_head(sx, r->ctx->values, node);
  if (!head)
    return bad(r, at(sx, node)->span, "a form is expected");
  if (!strcmp(head, "rule"))
    return read_rule(r, sx, node);
  if (!strcmp(head, "ruleset"))
    return read_ruleset(r, sx, node);
  if (!strcmp(head, "param"))
    return read_param(r, sx, node);
  if (strcmp(head, "include"))
    return true; /* strategies, runs and tests say nothing of meaning */
  uint32_t name = bs_sx_item(sx, node, 1);
  if (!name || at(sx, name)->kind != BS_SX_STRING)
    return bad(r, at(sx, node)->span, "an include has a file");
  const char *file = bs_as_sym(r->ctx->values, at(sx, name)->value);
  return load_file(r, bs_path_beside(r->ctx->arena, path, file), depth + 1);
}

static bool
is_new(ck_rules *r, const char *path) {
  char real[PATH_MAX];
  const char *name = realpath(path, real) ? real : path;
  for (uint32_t k = 0; k < r->loaded.len; k++)
    if (!strcmp(r->loaded.data[k], name))
      return false;
  bs_push(r->ctx->heap, &r->loaded, bs_arena_strdup(r->ctx->arena, name));
  return r->loaded.len < MOST_FILES;
}

static bool
load_file(ck_rules *r, const char *path, uint32_t depth) {
  if (depth > MOST_DEPTH)
    return bad(r, BS_NOWHERE, "files include each other too deep");
  if (!is_new(r, path))
    return true;
  uint32_t source = bs_source_read(r->ctx->diags, path, BS_NOWHERE);
  bs_sexps *sx = BS_NEW(r->ctx->arena, bs_sexps);
  if (!source ||
      !bs_sexp_read(r->ctx->heap, r->ctx->values, r->ctx->diags, source, sx))
    return false;
  bool ok = true;
  for (uint32_t k = 0; k < sx->roots.len; k++)
    ok &= read_form(r, sx, sx->roots.data[k], path, depth);
  return ok;
}

bool
ck_load(ck_rules *r, const char *path) {
  const char *const *names;
  uint32_t n;
  bool ok = true;
  if (!bs_is_dir(path))
    return load_file(r, path, 0);
  if (!bs_dir_list(r->ctx->diags, path, ".rules", &names, &n))
    return false;
  for (uint32_t k = 0; k < n; k++)
    ok &= load_file(r, names[k], 0);
  return ok;
}

ck_rule *
ck_find_rule(ck_rules *r, const char *name) {
  for (uint32_t k = 0; k < r->list.len; k++)
    if (!strcmp(r->list.data[k]->name, name))
      return r->list.data[k];
  return NULL;
}

/* ---- sides and conditions ---- */

/* The variable that a clause begins with; false: none. */
static bool
slot_of(const ck_rules *r, ck_rule *rule, uint32_t node, gs_sort sort,
        uint32_t *slot, uint32_t *behind) {
  uint32_t var = bs_sx_first(rule->sx, node);
  const char *name = symbol(r, rule->sx, var);
  *behind = var ? at(rule->sx, var)->next : 0;
  if (!name || !*behind)
    return bad(r, at(rule->sx, node)->span,
               "a clause has a variable and what it is");
  int found = gs_scope_find(&rule->scope, name);
  if (found < 0)
    found =
        gs_scope_add(r->ctx, &rule->scope, name, sort, at(rule->sx, var)->span);
  *slot = (uint32_t)found;
  return found >= 0;
}

static bool
read_term(const ck_rules *r, ck_rule *rule, uint32_t node, ck_side *out) {
  out->term =
      gs_skeleton_parse(r->ctx, r->target, rule->sx, node, &rule->scope);
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
    uint32_t var = bs_sx_first(rule->sx, node);
    gs_let let = {symbol(r, rule->sx, var), var ? at(rule->sx, var)->next : 0};
    if (!let.name || !let.node)
      return bad(r, rule->span, "a :let has a variable and a term");
    lets[rule->scope.n_lets++] = let;
  }
  return true;
}

static bool
read_conditions(const ck_rules *r, ck_rule *rule) {
  uint32_t node, from = 0, list, n = rule->clauses.len + 1;
  rule->for_slots = BS_NEWS(r->ctx->arena, uint32_t, n);
  rule->for_lists = BS_NEWS(r->ctx->arena, const gs_expr *, n);
  rule->tests = BS_NEWS(r->ctx->arena, const gs_expr *, n);
  bool ok = true;
  while (ok && (node = next_clause(rule, ":for", &from))) {
    uint32_t k = rule->n_fors++;
    ok = slot_of(r, rule, node, GS_SORT_ANY, &rule->for_slots[k], &list) &&
         (rule->for_lists[k] = gs_expr_parse_as(r->ctx, rule->sx, list,
                                                &rule->scope, GS_SORT_LIST));
  }
  for (from = 0; ok && (node = next_clause(rule, ":where", &from));)
    ok = (rule->tests[rule->n_tests++] = gs_expr_parse_as(
              r->ctx, rule->sx, node, &rule->scope, GS_SORT_BOOL));
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
