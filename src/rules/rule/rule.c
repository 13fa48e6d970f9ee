/* SPDX-License-Identifier: MIT */
/* rule.c - one (rule ...) form to one compiled rule, or two for <=>.
 *
 * The clauses are taken apart first, then each direction is parsed in a scope
 * of its own: left side and :with patterns bind variables, the condition
 * defines more, the right sides may use them all. */
#include "glenside/type/elsewhere.h"
#include "rules/rule/rule_internal.h"
#include <string.h>

static const char *const kind_names[] = {"exploratory", "composition",
                                         "cleanup", "lowering", "algebra"};
#define KINDS (sizeof kind_names / sizeof kind_names[0])

bool
rl_kind_find(const char *name, rl_kind *out) {
  for (size_t k = 0; k < KINDS; k++)
    if (!strcmp(kind_names[k], name)) {
      *out = (rl_kind)k;
      return true;
    }
  return false;
}

/* A form taken apart; nodes of its file. */
typedef struct outline {
  rl_rules *rules;
  const rl_file *file;
  const rl_form *form;
  const char *intent;
  rl_kind kind;
  uint32_t left, right, arrow;
  bool both_ways, wrong_arrow;
  int64_t match_limit;
  BS_VEC(uint32_t) with, lets, also, fors, wheres;
} outline;

/* One direction being compiled. */
typedef struct direction {
  const outline *o;
  rl_compiled *out;
  gs_scope *scope;
  rl_compiler compiler;
  bool reverse;
} direction;

static const bs_sx *
at(const outline *o, uint32_t node) {
  return rl_sx(o->file, node);
}

static bs_diags *
diags(const outline *o) {
  return o->rules->ctx.diags;
}

/* --- clauses -------------------------------------------------------------- */

static bool
clause_kind(outline *o, uint32_t value) {
  const char *name = rl_symbol(o->rules, o->file, value);
  if (name && rl_kind_find(name, &o->kind))
    return true;
  bs_error(diags(o), at(o, value)->span, "unknown-kind",
           "a rule is of the kind exploratory, composition, cleanup, lowering "
           "or algebra");
  if (name)
    rl_suggest(o->rules, name, kind_names, KINDS);
  return false;
}

static bool
clause_match_limit(outline *o, uint32_t value) {
  if (rl_integer(o->rules, o->file, value, &o->match_limit) &&
      o->match_limit > 0)
    return true;
  return bs_error(diags(o), at(o, value)->span, "bad-form",
                  "':match-limit' takes a positive integer");
}

static bool
clause_with(outline *o, uint32_t value) {
  bs_push(o->rules->ctx.heap, &o->with, value);
  return true;
}

static bool
clause_let(outline *o, uint32_t value) {
  bs_push(o->rules->ctx.heap, &o->lets, value);
  return true;
}

static bool
clause_also(outline *o, uint32_t value) {
  bs_push(o->rules->ctx.heap, &o->also, value);
  return true;
}

static bool
clause_for(outline *o, uint32_t value) {
  bs_push(o->rules->ctx.heap, &o->fors, value);
  return true;
}

static bool
clause_where(outline *o, uint32_t value) {
  bs_push(o->rules->ctx.heap, &o->wheres, value);
  return true;
}

static const struct {
  const char *name;
  bool (*take)(outline *, uint32_t value);
} clause_table[] = {
    {":kind", clause_kind},
    {":with", clause_with},
    {":let", clause_let},
    {":also", clause_also},
    {":for", clause_for},
    {":where", clause_where},
    {":match-limit", clause_match_limit},
};
#define CLAUSES (sizeof clause_table / sizeof clause_table[0])

static bool
unknown_clause(const outline *o, uint32_t node, const char *name) {
  const char *names[CLAUSES];
  for (size_t k = 0; k < CLAUSES; k++)
    names[k] = clause_table[k].name;
  bs_error(diags(o), at(o, node)->span, "unknown-clause",
           "a rule has no clause '%s'", name);
  if (!gs_hint_elsewhere(diags(o), GS_AS_RULE_CLAUSE, name))
    rl_suggest(o->rules, name, names, CLAUSES);
  return false;
}

/* Takes the clause at *node and moves on to its value. */
static bool
take_clause(outline *o, uint32_t *node) {
  const char *name = rl_symbol(o->rules, o->file, *node);
  uint32_t value = at(o, *node)->next;
  for (size_t k = 0; k < CLAUSES; k++) {
    if (strcmp(clause_table[k].name, name))
      continue;
    if (!value)
      return bs_error(diags(o), at(o, *node)->span, "bad-form",
                      "a value is expected after '%s'", name);
    *node = value;
    return clause_table[k].take(o, value);
  }
  unknown_clause(o, *node, name);
  if (value)
    *node = value;
  return false;
}

/* --- the outline ---------------------------------------------------------- */

static bool
surplus(outline *o, uint32_t node) {
  const char *word = rl_symbol(o->rules, o->file, node);
  bool arrow = word && !o->arrow && (strstr(word, "->") || strchr(word, '='));
  if (o->wrong_arrow)
    return false; /* what follows it */
  bs_error(
      diags(o), at(o, node)->span, "bad-form",
      "a rule has an intent, a left side, => and a right side, then clauses");
  o->wrong_arrow = arrow;
  if (arrow)
    bs_meant(diags(o), "`", *word == '<' ? "<=>" : "=>");
  else
    bs_hint(diags(o), "(rule %s \"why\" LEFT => RIGHT :where COND)",
            o->form->name);
  return false;
}

static bool
no_left_side(outline *o, uint32_t arrow) {
  bs_error(diags(o), at(o, arrow)->span, "bad-form",
           "the rule '%s' has no left side", o->form->name);
  bs_hint(diags(o), "(rule %s \"why\" LEFT => RIGHT)", o->form->name);
  o->wrong_arrow = true;
  return false;
}

/* An item that is no clause: intent, left side, arrow, right side. */
static bool
take_item(outline *o, uint32_t node) {
  const char *name = rl_symbol(o->rules, o->file, node);
  bool both = name && !strcmp(name, "<=>");
  if (at(o, node)->kind == BS_SX_STRING && !o->intent && !o->left)
    o->intent = rl_string(o->rules, o->file, node);
  else if (both || (name && !strcmp(name, "=>"))) {
    if (!o->left && !o->arrow)
      return no_left_side(o, node);
    if (o->arrow)
      return surplus(o, node);
    o->arrow = node;
    o->both_ways = both;
  } else if (!o->left)
    o->left = node;
  else if (o->arrow && !o->right)
    o->right = node;
  else
    return surplus(o, node);
  return true;
}

static bool
check_outline(const outline *o) {
  bs_span span = o->form->span;
  bool ok = true;
  if (o->left && !o->arrow)
    ok = bs_error(diags(o), span, "no-arrow", "the rule '%s' has no => or <=>",
                  o->form->name);
  else if (!o->left || !o->right)
    ok = bs_error(diags(o), span, "bad-form", "the rule '%s' has no %s side",
                  o->form->name, o->left ? "right" : "left");
  if (!ok)
    bs_hint(diags(o), "(rule %s \"why\" LEFT => RIGHT)", o->form->name);
  return ok;
}

static bool
read_outline(outline *o) {
  bool ok = true;
  uint32_t name = bs_sx_item(&o->file->sx, o->form->node, 1);
  for (uint32_t x = at(o, name)->next; x; x = at(o, x)->next) {
    const char *word = rl_symbol(o->rules, o->file, x);
    ok &= word && word[0] == ':' && word[1] ? take_clause(o, &x)
                                            : take_item(o, x);
  }
  return ok && check_outline(o);
}

static void
outline_done(outline *o) {
  bs_heap *heap = o->rules->ctx.heap;
  bs_vec_done(heap, &o->with);
  bs_vec_done(heap, &o->lets);
  bs_vec_done(heap, &o->also);
  bs_vec_done(heap, &o->fors);
  bs_vec_done(heap, &o->wheres);
}

/* --- the left side -------------------------------------------------------- */

static bs_value
param_of(void *ctx, const char *name) {
  return rl_param_value(ctx, name);
}

/* (?x TERM): the nodes of both; false with a diagnostic. */
static bool
split_clause(const direction *d, uint32_t node, const char *clause,
             uint32_t *var, uint32_t *term) {
  const outline *o = d->o;
  *var = bs_sx_first(&o->file->sx, node);
  *term = *var ? at(o, *var)->next : 0;
  const char *name = *var ? rl_symbol(o->rules, o->file, *var) : NULL;
  if (at(o, node)->kind == BS_SX_LIST && at(o, node)->count == 2 &&
      rl_is_variable(name) && strcmp(name, "?_"))
    return true;
  bs_error(diags(o), at(o, node)->span, "bad-form",
           "'%s' takes a variable and a term", clause);
  bs_hint(diags(o), "%s (?x (access ?a ?n))", clause);
  return false;
}

/* The slot of a class variable, bound here when it is new and may be. */
static bool
class_slot(const direction *d, uint32_t var, bool may_bind, uint32_t *slot) {
  const outline *o = d->o;
  const char *name = rl_symbol(o->rules, o->file, var);
  bs_span span = at(o, var)->span;
  int have = gs_scope_find(d->scope, name);
  if (have < 0 && may_bind)
    have = gs_scope_add(&o->rules->ctx, d->scope, name, GS_SORT_CLASS, span);
  if (have < 0)
    return rl_check_bound(o->rules, o->file, d->scope, var, "':also'");
  *slot = (uint32_t)have;
  gs_var *v = &d->scope->vars.data[have];
  if (v->sort == GS_SORT_ANY)
    v->sort = GS_SORT_CLASS;
  if (v->sort == GS_SORT_CLASS)
    return true;
  return bs_error(diags(o), span, "sort-mismatch",
                  "expected a term, but '%s' is a value of sort %s", name,
                  gs_sort_name(v->sort));
}

static const gs_skeleton *
parse_pattern(direction *d, uint32_t node) {
  const outline *o = d->o;
  const gs_context *ctx = &o->rules->ctx;
  const gs_skeleton *s =
      gs_skeleton_parse(ctx, o->rules->target, &o->file->sx, node, d->scope);
  return s && gs_skeleton_is_pattern(ctx, s) ? s : NULL;
}

/* The pattern that a :with wants its class to hold. */
static bool
parse_with(direction *d, uint32_t node, uint32_t part) {
  uint32_t var, term;
  if (!split_clause(d, node, ":with", &var, &term) ||
      !class_slot(d, var, true, &d->out->part_roots[part]))
    return false;
  const gs_skeleton *s = parse_pattern(d, term);
  if (!s)
    return false;
  if (s->n == 1 && s->nodes[0].hole)
    return bs_error(diags(d->o), at(d->o, term)->span, "bad-form",
                    "a variable alone says nothing about a class");
  d->out->parts[part] = rl_compile_left(&d->compiler, s);
  return true;
}

static bool
parse_left(direction *d, uint32_t node) {
  rl_compiled *out = d->out;
  const gs_context *ctx = &d->o->rules->ctx;
  out->n_parts = 1 + d->o->with.len;
  out->parts = BS_NEWS(ctx->arena, eg_term, out->n_parts);
  out->part_roots = BS_NEWS(ctx->arena, uint32_t, out->n_parts);
  out->part_roots[0] = UINT32_MAX;
  d->scope->open = true;
  const gs_skeleton *s = parse_pattern(d, node);
  bool ok = s != NULL;
  if (ok) {
    out->rule.left = s;
    out->parts[0] = rl_compile_left(&d->compiler, s);
  }
  for (uint32_t k = 0; k < d->o->with.len; k++)
    ok &= parse_with(d, d->o->with.data[k], k + 1);
  d->scope->open = false;
  return ok;
}

/* --- the right side ------------------------------------------------------- */

/* An array is the program's: a rule cannot make one up. */
static bool
makes_no_array(const outline *o, const gs_skeleton *right) {
  for (uint32_t k = 0; k < right->n; k++) {
    const gs_sk_node *n = &right->nodes[k];
    if (n->hole || (n->op != GS_TENSOR && n->op != GS_CONST))
      continue;
    bs_error(o->rules->ctx.diags, n->span, "invented-array",
             "the right side makes a %s of its own", gs_op_table[n->op].name);
    bs_hint(o->rules->ctx.diags,
            "match the array on the left with a variable and use that");
    return false;
  }
  return true;
}

static bool
parse_right(direction *d, uint32_t node, rl_template *out) {
  const outline *o = d->o;
  if (!rl_check_bound(o->rules, o->file, d->scope, node, "the right side"))
    return false;
  out->skeleton = gs_skeleton_parse(&o->rules->ctx, o->rules->target,
                                    &o->file->sx, node, d->scope);
  if (!out->skeleton || !makes_no_array(o, out->skeleton))
    return false;
  out->term = rl_compile_right(&d->compiler, out->skeleton);
  out->may_grow = rl_may_grow(out->skeleton);
  return true;
}

/* The names of :let, each for what comes after it. */
static bool
take_lets(direction *d) {
  const outline *o = d->o;
  gs_let *lets = BS_NEWS(o->rules->ctx.arena, gs_let, o->lets.len + (size_t)1);
  uint32_t var, term;
  for (uint32_t k = 0; k < o->lets.len; k++) {
    if (!split_clause(d, o->lets.data[k], ":let", &var, &term) ||
        !rl_check_bound(o->rules, o->file, d->scope, term, "':let'"))
      return false;
    const char *name = rl_symbol(o->rules, o->file, var);
    if (rl_is_bound(d->scope, name))
      return bs_error(diags(o), at(o, var)->span, "duplicate-name",
                      "'%s' already means something", name);
    lets[k] = (gs_let){name, term};
    d->scope->lets = lets;
    d->scope->n_lets = k + 1;
  }
  return true;
}

static bool
parse_rights(direction *d, uint32_t node) {
  const outline *o = d->o;
  rl_compiled *out = d->out;
  uint32_t n = 1 + o->also.len, var, term;
  if (!take_lets(d))
    return false;
  out->right = BS_NEWS(o->rules->ctx.arena, rl_template, n);
  out->right[0].target = UINT32_MAX;
  bool ok = parse_right(d, node, &out->right[0]);
  for (uint32_t k = 0; k < o->also.len; k++) {
    rl_template *t = &out->right[k + 1];
    ok &= split_clause(d, o->also.data[k], ":also", &var, &term) &&
          class_slot(d, var, false, &t->target) && parse_right(d, term, t);
  }
  out->rule.n_right = n;
  return ok;
}

/* --- the condition -------------------------------------------------------- */

static bool
parse_condition(direction *d, rl_clauses *c) {
  const outline *o = d->o;
  bs_heap *heap = o->rules->ctx.heap;
  *c = (rl_clauses){.ctx = &o->rules->ctx,
                    .rules = o->rules,
                    .file = o->file,
                    .scope = d->scope,
                    .reverse = d->reverse};
  for (uint32_t k = 0; k < o->wheres.len; k++)
    rl_add_where(c, o->wheres.data[k]);
  for (uint32_t k = 0; k < o->fors.len; k++)
    bs_push(heap, &c->fors, o->fors.data[k]);
  bool ok = rl_order_clauses(c);
  bs_vec_done(heap, &c->conjuncts);
  bs_vec_done(heap, &c->fors);
  return ok;
}

/* --- engine code ---------------------------------------------------------- */

/* The steps: ones first, the written ones, then the right sides' attributes. */
static void
build_condition(direction *d, const rl_clauses *c, uint32_t n_ones) {
  const gs_context *ctx = &d->o->rules->ctx;
  rl_compiler *k = &d->compiler;
  BS_VEC(rl_step) rest = {0};
  bool may_grow = false;
  for (uint32_t i = 0; i < c->steps.len; i++)
    bs_push(ctx->heap, &rest, c->steps.data[i]);
  for (uint32_t i = n_ones; i < k->steps.len; i++)
    bs_push(ctx->heap, &rest, k->steps.data[i]);
  for (uint32_t i = 0; i < d->out->rule.n_right; i++)
    may_grow |= d->out->right[i].may_grow;
  d->out->n_slots = d->scope->vars.len;
  if (n_ones || rest.len || may_grow)
    d->out->condition = rl_condition_new(ctx, k->steps.data, n_ones, rest.data,
                                         rest.len, d->out->n_slots);
  d->out->rule.condition = d->out->condition;
  bs_vec_done(ctx->heap, &rest);
}

static void
build_results(rl_compiled *out, const gs_context *ctx) {
  uint32_t n = out->rule.n_right;
  const gs_skeleton **right = BS_NEWS(ctx->arena, const gs_skeleton *, n);
  out->results = BS_NEWS(ctx->arena, eg_result, n);
  for (uint32_t k = 0; k < n; k++) {
    right[k] = out->right[k].skeleton;
    out->results[k] = (eg_result){out->right[k].term, out->right[k].target};
  }
  out->rule.right = right;
}

static bool
compile_direction(const outline *o, bool reverse) {
  const gs_context *ctx = &o->rules->ctx;
  rl_compiled *out = BS_NEW(ctx->arena, rl_compiled);
  rl_clauses clauses = {0};
  direction d = {.o = o, .out = out, .scope = &out->rule.scope};
  *d.scope =
      (gs_scope){.question_marks = true, .param = param_of, .ctx = o->rules};
  d.compiler = (rl_compiler){.ctx = ctx, .scope = d.scope};
  d.reverse = reverse;
  bool ok = parse_left(&d, reverse ? o->right : o->left);
  uint32_t n_ones = d.compiler.steps.len, bound = d.scope->vars.len;
  ok = ok && parse_condition(&d, &clauses) &&
       parse_rights(&d, reverse ? o->left : o->right);
  if (ok) {
    build_condition(&d, &clauses, n_ones);
    build_results(out, ctx);
    out->n_bound = bound;
    out->pattern = eg_pattern_new(ctx->heap, ctx->values, out->parts,
                                  out->part_roots, out->n_parts, bound);
    out->match_limit = (uint64_t)o->match_limit;
    out->set = o->form->set;
    out->rule.name = reverse
                         ? bs_arena_printf(ctx->arena, "%s~rev", o->form->name)
                         : o->form->name;
    out->rule.intent = o->intent;
    out->rule.span = o->form->span;
    out->rule.kind = o->kind;
    out->rule.both_ways = o->both_ways;
    bs_map_put_first(ctx->heap, &o->rules->rule_named,
                     bs_sym(ctx->values, out->rule.name).i,
                     o->rules->compiled.len);
    bs_push(ctx->heap, &o->rules->compiled, out);
  }
  bs_vec_done(ctx->heap, &clauses.steps);
  bs_vec_done(ctx->heap, &d.compiler.steps);
  return ok;
}

/* What :with asks and :also and :let make has no meaning backwards. */
static bool
check_both_ways(const outline *o) {
  if (!o->both_ways || !(o->also.len || o->with.len || o->lets.len))
    return true;
  return bs_error(diags(o), at(o, o->arrow)->span, "bad-form",
                  "a rule with :with, :let or :also goes one way: write =>");
}

bool
rl_parse_rule(rl_rules *rules, const rl_form *form) {
  outline o = {.rules = rules,
               .file = &rules->forms.files.data[form->file],
               .form = form,
               .kind = RL_COMPOSITION};
  bool ok = read_outline(&o) && check_both_ways(&o) &&
            compile_direction(&o, false) &&
            (!o.both_ways || compile_direction(&o, true));
  outline_done(&o);
  return ok;
}
