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

static void
put_param(const ck_rules *r, ck_params *to, const char *name, bs_value value) {
  bs_push(r->ctx->heap, &to->names, name);
  bs_push(r->ctx->heap, &to->values, value);
}

/* The first of that name; BS_NIL. */
static bs_value
find_param(const ck_params *in, const char *name) {
  for (uint32_t k = 0; k < in->names.len; k++)
    if (!strcmp(in->names.data[k], name))
      return in->values.data[k];
  return BS_NIL;
}

static bs_value
param_of(void *ctx, const char *name) {
  const ck_rules *r = ctx;
  bs_value given = find_param(&r->given, name);
  bs_value own = find_param(&r->declared, name);
  bs_value set = r->target ? gs_target_setting(r->target, name) : BS_NIL;
  return given.i ? given : own.i && set.i ? set : own;
}

static bool
read_param(ck_rules *r, const bs_sexps *sx, uint32_t node) {
  const char *name = symbol(r, sx, bs_sx_item(sx, node, 1));
  uint32_t value = bs_sx_item(sx, node, 2);
  if (!name || !value)
    return bad(r, bs_sx_at(sx, node)->span, "a param needs a name and a value");
  put_param(r, &r->declared, name, gs_data_value(r->ctx, sx, value));
  return true;
}

bool
ck_give_param(ck_rules *r, const char *text) {
  const char *name;
  bs_value value;
  if (!gs_read_setting(r->ctx, text, &name, &value))
    return bad(r, BS_NOWHERE, "-p takes NAME=VALUE");
  put_param(r, &r->given, name, value);
  return true;
}

bool
ck_know_params(const ck_rules *r) {
  for (uint32_t k = 0; k < r->given.names.len; k++) {
    const char *name = r->given.names.data[k];
    if (find_param(&r->declared, name).i)
      continue;
    bs_error(r->ctx->diags, BS_NOWHERE, "unknown-param",
             "no rule file has a parameter named %s", name);
    bs_hint_names(r->ctx->diags, name, r->declared.names.data,
                  r->declared.names.len);
    return false;
  }
  return true;
}

/* ---- outlines ---- */

static const char clauses[] = ":with :also :let :for :where :kind :match-limit";

/* A text, a side, an arrow and a side, with clauses anywhere among them. */
static bool
read_items(ck_rules *r, ck_rule *rule, uint32_t x) {
  const bs_sexps *sx = &rule->sx;
  bool arrow = false;
  for (; x; x = bs_sx_at(sx, x)->next) {
    const char *word = symbol(r, sx, x);
    if (word && word[0] == ':') {
      x = bs_sx_at(sx, x)->next;
      if (!x || !bs_has_word(clauses, word))
        return bad(r, rule->span, "the clause is unknown");
      bs_push(r->ctx->heap, &rule->clauses, ((ck_clause){word, x}));
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

static bool
read_rule(ck_rules *r, const bs_sexps *sx, uint32_t node) {
  uint32_t name = bs_sx_item(sx, node, 1);
  ck_rule *rule = BS_NEW(r->ctx->arena, ck_rule);
  *rule = (ck_rule){.name = symbol(r, sx, name), .sx = *sx};
  rule->span = bs_sx_at(sx, node)->span;
  if (!rule->name)
    return bad(r, rule->span, "a rule needs a name");
  if (!read_items(r, rule, bs_sx_at(sx, name)->next))
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
  for (uint32_t x = bs_sx_item(sx, node, 2); x; x = bs_sx_at(sx, x)->next)
    if (bs_sx_is_form(sx, r->ctx->values, x, "rule"))
      ok &= read_rule(r, sx, x);
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

/* The variable of that name, at a node; false: it cannot be one. */
static bool
find_slot(const ck_rules *r, ck_rule *rule, const char *name, uint32_t node,
          gs_sort sort, uint32_t *slot) {
  int found = gs_scope_find(&rule->scope, name);
  if (found < 0)
    found = gs_scope_add(r->ctx, &rule->scope, name, sort,
                         bs_sx_at(&rule->sx, node)->span);
  *slot = (uint32_t)found;
  return found >= 0;
}

static bool
read_side(const ck_rules *r, ck_rule *rule, uint32_t slot, uint32_t node,
          ck_sides *to) {
  const gs_skeleton *term =
      gs_skeleton_parse(r->ctx, r->target, &rule->sx, node, &rule->scope);
  bs_push(r->ctx->heap, to, ((ck_side){slot, term}));
  return term != NULL;
}

/* (?x TERM) of a let or a side, (?x LIST) of a loop, or a test. */
static bool
read_clause(const ck_rules *r, ck_rule *rule, const char *word, uint32_t node) {
  bool test = !strcmp(word, ":where"), loop = !strcmp(word, ":for");
  uint32_t slot = UINT32_MAX, var = test ? 0 : bs_sx_first(&rule->sx, node);
  const char *name = symbol(r, &rule->sx, var);
  if (var)
    node = bs_sx_at(&rule->sx, var)->next;
  if (!test && (!name || !node))
    return bad(r, rule->span,
               "a clause needs a variable and what it stands for");
  if (!strcmp(word, ":let")) {
    bs_push(r->ctx->heap, &rule->lets, ((gs_let){name, node}));
    return true;
  }
  gs_sort sort = loop ? GS_SORT_ANY : GS_SORT_CLASS;
  if (!test && !find_slot(r, rule, name, var, sort, &slot))
    return false;
  if (!test && !loop)
    return read_side(r, rule, slot, node,
                     strcmp(word, ":with") ? &rule->results : &rule->parts);
  const gs_expr *expr = gs_expr_parse_as(r->ctx, &rule->sx, node, &rule->scope,
                                         test ? GS_SORT_BOOL : GS_SORT_LIST);
  bs_push(r->ctx->heap, &rule->conditions, ((ck_condition){slot, expr}));
  return expr != NULL;
}

static bool
read_clauses(const ck_rules *r, ck_rule *rule, const char *word) {
  bool ok = true;
  for (uint32_t k = 0; k < rule->clauses.len && ok; k++)
    if (!strcmp(rule->clauses.data[k].word, word))
      ok = read_clause(r, rule, word, rule->clauses.data[k].node);
  rule->scope.lets = rule->lets.data;
  rule->scope.n_lets = rule->lets.len;
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
      !read_side(r, rule, UINT32_MAX, rule->left, &rule->parts) ||
      !read_clauses(r, rule, ":with") || !read_clauses(r, rule, ":where") ||
      !read_clauses(r, rule, ":for") || !read_clauses(r, rule, ":let") ||
      !read_side(r, rule, UINT32_MAX, rule->right, &rule->results) ||
      !read_clauses(r, rule, ":also");
  return !rule->bad;
}
