/* SPDX-License-Identifier: MIT */
/* check_rules.c - rule files, read for their rules and parameters only.
 *
 * Sides and conditions are parsed by the reader of terms and expressions; what
 * a form means is told here. */
#include "check/check.h"
#include <string.h>

static const char *
symbol(const ck_rules *r, const bs_sexps *sx, uint32_t node) {
  return bs_sx_symbol(sx, r->ctx->values, node);
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
read_param(ck_rules *r, const bs_sexps *sx, uint32_t node) {
  const char *name = symbol(r, sx, bs_sx_item(sx, node, 1));
  uint32_t value = bs_sx_item(sx, node, 2);
  if (!name || !value)
    return bad(r, bs_sx_at(sx, node)->span, "a param needs a name and a value");
  ck_param *p = find_param(r, name);
  if (p)
    p->declared = true;
  else
    bs_push(r->ctx->heap, &r->params,
            (ck_param){name, gs_data_value(r->ctx, sx, value), false, true});
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

bool
ck_know_params(const ck_rules *r) {
  const char **names = BS_NEWS(r->ctx->arena, const char *, r->params.len + 1);
  uint32_t n = 0;
  const ck_param *wrong = NULL;
  for (uint32_t k = 0; k < r->params.len; k++)
    if (r->params.data[k].declared)
      names[n++] = r->params.data[k].name;
    else
      wrong = &r->params.data[k];
  if (!wrong)
    return true;
  bs_error(r->ctx->diags, BS_NOWHERE, "unknown-param",
           "no rule file has a parameter named %s", wrong->name);
  bs_hint_names(r->ctx->diags, wrong->name, names, n);
  return false;
}

/* ---- outlines ---- */

static const char clauses[] = ":with :also :let :for :where :kind :match-limit";

/* A text, a side, an arrow and a side, with clauses anywhere among them. */
static bool
read_items(ck_rules *r, ck_rule *rule) {
  const bs_sexps *sx = &rule->sx;
  bool arrow = false;
  for (uint32_t x = rule->first; x; x = bs_sx_at(sx, x)->next) {
    const char *word = symbol(r, sx, x);
    if (word && word[0] == ':') {
      x = bs_sx_at(sx, x)->next;
      if (!x || !bs_has_word(clauses, word))
        return bad(r, rule->span, "the clause is unknown");
      rule->n_clauses++;
    } else if (word && (!strcmp(word, "=>") || !strcmp(word, "<=>"))) {
      arrow = true;
      rule->both_ways = word[0] == '<';
    } else if (arrow ? rule->right : rule->left) {
      return bad(r, bs_sx_at(sx, x)->span,
                 "a rule has two sides, and => between them");
    } else if (rule->left || bs_sx_at(sx, x)->kind != BS_SX_STRING) {
      *(arrow ? &rule->right : &rule->left) = x;
    }
  }
  return (rule->left && rule->right) ||
         bad(r, rule->span, "a rule needs two sides");
}

/* What the next clause of that name says from item *at on, which is moved
 * behind it; or 0. */
static uint32_t
next_clause(const ck_rules *r, const ck_rule *rule, const char *name,
            uint32_t *at) {
  while (*at) {
    const char *word = symbol(r, &rule->sx, *at);
    uint32_t said = bs_sx_at(&rule->sx, *at)->next;
    bool clause = word && word[0] == ':';
    *at = clause ? bs_sx_at(&rule->sx, said)->next : said;
    if (clause && !strcmp(word, name))
      return said;
  }
  return 0;
}

static bool
read_rule(ck_rules *r, const bs_sexps *sx, uint32_t node) {
  uint32_t name = bs_sx_item(sx, node, 1);
  ck_rule *rule = BS_NEW(r->ctx->arena, ck_rule);
  *rule = (ck_rule){.name = symbol(r, sx, name), .sx = *sx};
  rule->span = bs_sx_at(sx, node)->span;
  rule->first = bs_sx_at(sx, name)->next;
  if (!rule->name)
    return bad(r, rule->span, "a rule needs a name");
  if (!read_items(r, rule))
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
read_ruleset(ck_rules *r, const bs_sexps *sx, uint32_t node) {
  bool ok = true;
  for (uint32_t x = bs_sx_item(sx, node, 2); x; x = bs_sx_at(sx, x)->next) {
    const char *head = bs_sx_head(sx, r->ctx->values, x);
    if (head && !strcmp(head, "rule"))
      ok &= read_rule(r, sx, x);
  }
  return ok;
}

/* Strategies, runs and tests say nothing of meaning. */
static bool
read_form(void *rules, uint32_t file, uint32_t node) {
  ck_rules *r = rules;
  const bs_sexps *sx = &r->forms.files.data[file].sx;
  const char *head = bs_sx_head(sx, r->ctx->values, node);
  return !head ? bad(r, bs_sx_at(sx, node)->span, "a form is expected")
         : !strcmp(head, "rule")    ? read_rule(r, sx, node)
         : !strcmp(head, "ruleset") ? read_ruleset(r, sx, node)
         : !strcmp(head, "param")   ? read_param(r, sx, node)
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

/* The name that a clause begins with, and what is behind it; NULL: none. */
static const char *
pair_of(const ck_rules *r, const ck_rule *rule, uint32_t node, uint32_t *var,
        uint32_t *behind) {
  *var = bs_sx_first(&rule->sx, node);
  *behind = *var ? bs_sx_at(&rule->sx, *var)->next : 0;
  if (*behind && symbol(r, &rule->sx, *var))
    return symbol(r, &rule->sx, *var);
  bad(r, rule->span, "a clause needs a variable and what it stands for");
  return NULL;
}

/* The variable that a clause begins with; false: none. */
static bool
slot_of(const ck_rules *r, ck_rule *rule, uint32_t node, gs_sort sort,
        uint32_t *slot, uint32_t *behind) {
  uint32_t var;
  const char *name = pair_of(r, rule, node, &var, behind);
  int found = name ? gs_scope_find(&rule->scope, name) : -1;
  if (name && found < 0)
    found = gs_scope_add(r->ctx, &rule->scope, name, sort,
                         bs_sx_at(&rule->sx, var)->span);
  *slot = (uint32_t)found;
  return found >= 0;
}

/* The whole, and each (?x TERM) of the clauses of a name. */
static bool
read_sides(const ck_rules *r, ck_rule *rule, uint32_t term, const char *name,
           ck_side **sides, uint32_t *n) {
  uint32_t slot = UINT32_MAX, node, from = rule->first;
  bool ok = true;
  *sides = BS_NEWS(r->ctx->arena, ck_side, rule->n_clauses + 1);
  do {
    const gs_skeleton *side =
        gs_skeleton_parse(r->ctx, r->target, &rule->sx, term, &rule->scope);
    (*sides)[(*n)++] = (ck_side){slot, side};
    node = next_clause(r, rule, name, &from);
    ok = side && (!node || slot_of(r, rule, node, GS_SORT_CLASS, &slot, &term));
  } while (ok && node);
  return ok;
}

static bool
read_lets(const ck_rules *r, ck_rule *rule) {
  gs_let *lets = BS_NEWS(r->ctx->arena, gs_let, rule->n_clauses + 1);
  uint32_t node, from = rule->first, var;
  rule->scope.lets = lets;
  while ((node = next_clause(r, rule, ":let", &from))) {
    gs_let *let = &lets[rule->scope.n_lets++];
    let->name = pair_of(r, rule, node, &var, &let->node);
    if (!let->name)
      return false;
  }
  return true;
}

/* Tests, or the loops, each with its variable. */
static bool
read_conditions(const ck_rules *r, ck_rule *rule, const char *name,
                gs_sort sort) {
  uint32_t node, from = rule->first;
  bool ok = true;
  while (ok && (node = next_clause(r, rule, name, &from))) {
    ck_condition *c = &rule->conditions[rule->n_conditions++];
    c->slot = UINT32_MAX;
    ok = sort == GS_SORT_BOOL ||
         slot_of(r, rule, node, GS_SORT_ANY, &c->slot, &node);
    if (ok)
      c->expr = gs_expr_parse_as(r->ctx, &rule->sx, node, &rule->scope, sort);
    ok = c->expr != NULL;
  }
  return ok;
}

/* Conditions may name what they define in any order: the scope stays open. */
bool
ck_parse_rule(ck_rules *r, ck_rule *rule) {
  if (rule->parsed)
    return !rule->bad;
  rule->parsed = true;
  rule->conditions = BS_NEWS(r->ctx->arena, ck_condition, rule->n_clauses + 1);
  rule->scope = (gs_scope){
      .question_marks = true, .open = true, .param = param_of, .ctx = r};
  rule->bad =
      !read_sides(r, rule, rule->left, ":with", &rule->parts, &rule->n_parts) ||
      !read_conditions(r, rule, ":where", GS_SORT_BOOL) ||
      !read_conditions(r, rule, ":for", GS_SORT_LIST) || !read_lets(r, rule) ||
      !read_sides(r, rule, rule->right, ":also", &rule->results,
                  &rule->n_results);
  return !rule->bad;
}
