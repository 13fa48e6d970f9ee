/* SPDX-License-Identifier: MIT */
/* run_apply.c - see rule_apply.h.  No rule runs: the terms of the program are
 * the only nodes of the e-graph, so that each class is one term. */
#include "rules/rule/rule_apply.h"
#include "rules/rule/rule_internal.h"
#include <assert.h>
#include <string.h>

typedef struct applier {
  const gs_context *ctx;
  const rl_compiled *rule;
  gs_program *p;
  eg_graph *graph;
  rl_guard guard;
  gs_term root;
  gs_term *term_of; /* by class */
  uint32_t n_classes;
  uint32_t *slots, *shown;
  rl_equation *equations;
  rl_found found;
  void *found_ctx;
  bool go_on;
  uint64_t choices; /* of conditions, so far */
  bool cut;         /* there were too many */
} applier;

/* A rule stands at the start of its compiled form. */
static const rl_compiled *
compiled(const rl_rule *rule) {
  return (const rl_compiled *)(const void *)rule;
}

bool
rl_makes_right_side(const rl_rule *rule) {
  return compiled(rule)->fit != NULL;
}

static void
note_literal(const bs_values *values, bs_value v, rl_parts *out) {
  bs_kind kind = bs_kind_of(values, v);
  if ((kind != BS_KIND_INT && kind != BS_KIND_REAL) ||
      out->n_literals == RL_NUMBERS)
    return;
  for (uint32_t k = 0; k < out->n_literals; k++)
    if (bs_same(out->literals[k], v))
      return;
  out->literals[out->n_literals++] = v;
}

static void
note_number(const bs_values *values, bs_value v, rl_parts *out) {
  int64_t n = bs_kind_of(values, v) == BS_KIND_INT ? bs_as_int(values, v) : 0;
  if (n < 2 || n > RL_MAX_NUMBER || out->n_numbers == RL_NUMBERS)
    return;
  for (uint32_t k = 0; k < out->n_numbers; k++)
    if (out->numbers[k] == n)
      return;
  out->numbers[out->n_numbers++] = n;
}

/* An expression nests no deeper than GS_MAX_NESTING. */
static void
note_numbers(const bs_values *values, const gs_expr *e, rl_parts *out) {
  if (e->kind == GS_X_LITERAL) {
    note_number(values, e->literal, out);
    note_literal(values, e->literal, out);
  }
  for (uint32_t k = 0; k < e->n_args; k++)
    note_numbers(values, e->args[k], out);
}

/* What a right side compares and computes with; that it says plainly stands
 * there whatever was matched. */
static void
note_skeleton(const bs_values *values, const gs_skeleton *sk, rl_parts *out) {
  for (uint32_t k = 0; k < sk->n; k++)
    for (uint32_t i = 0; i < sk->nodes[k].n_attrs; i++) {
      const gs_expr *e = sk->nodes[k].attrs[i];
      if (e && e->kind == GS_X_CALL)
        note_numbers(values, e, out);
    }
}

/* A rule with parameters is read as it is written, since what a parameter is
 * compared with is gone once its value stands there.  A reverse has the name
 * of its rule and an ending. */
static const rl_form *
form_of(const rl_rules *rules, const rl_rule *rule) {
  for (uint32_t k = 0; k < rules->rule_forms.len; k++) {
    const char *name = rules->rule_forms.data[k].name;
    size_t n = strlen(name);
    if (!strncmp(rule->name, name, n) &&
        (!rule->name[n] || !strcmp(rule->name + n, "~rev")))
      return &rules->rule_forms.data[k];
  }
  return NULL;
}

static void
note_written(const rl_rules *rules, const rl_rule *rule, rl_parts *out) {
  const rl_form *form = form_of(rules, rule);
  const rl_file *f = form ? &rules->forms.files.data[form->file] : NULL;
  uint32_t end = form ? rl_end(f, form->node) : 0;
  for (uint32_t x = form ? form->node : 0; x < end; x++) {
    const char *name = rl_symbol(rules, f, x);
    out->asks_params |= name && name[0] == '$';
  }
  for (uint32_t x = form ? form->node : 0; x < end && out->asks_params; x++) {
    const bs_sx *sx = rl_sx(f, x);
    if (sx->kind != BS_SX_INT && sx->kind != BS_SX_REAL)
      continue;
    note_number(rules->ctx.values, sx->value, out);
    note_literal(rules->ctx.values, sx->value, out);
  }
}

/* --- equations ------------------------------------------------------------ */

static const struct {
  const char *name;
  rl_side_kind kind;
} side_table[] = {
    {"rank", RL_SIDE_RANK},
    {"access-rank", RL_SIDE_ACCESS_RANK},
    {"compute-rank", RL_SIDE_COMPUTE_RANK},
    {"dtype", RL_SIDE_DTYPE},
    {"shape", RL_SIDE_SHAPE},
    {"access-shape", RL_SIDE_ACCESS_SHAPE},
    {"compute-shape", RL_SIDE_COMPUTE_SHAPE},
    {"dim", RL_SIDE_DIM},
};

/* A fact of a class variable. */
static bool
fact_side(const bs_values *values, const gs_expr *e, rl_side *out) {
  const char *name = gs_function_name(e->function);
  if (e->args[0]->kind != GS_X_VAR || e->args[0]->sort != GS_SORT_CLASS)
    return false;
  for (size_t k = 0; k < sizeof side_table / sizeof side_table[0]; k++) {
    if (strcmp(side_table[k].name, name))
      continue;
    out->kind = side_table[k].kind;
    out->slot = e->args[0]->slot;
    if (out->kind != RL_SIDE_DIM)
      return e->n_args == 1;
    out->axis = bs_as_int(values, e->args[1]->literal);
    return e->args[1]->kind == GS_X_LITERAL && out->axis >= 0;
  }
  return false;
}

/* (* ?n 16) */
static bool
multiple_side(const bs_values *values, const gs_expr *e, rl_side *out) {
  if (strcmp(gs_function_name(e->function), "*") || e->n_args != 2 ||
      e->args[0]->kind != GS_X_VAR || e->args[1]->kind != GS_X_LITERAL ||
      bs_kind_of(values, e->args[1]->literal) != BS_KIND_INT)
    return false;
  *out = (rl_side){.kind = RL_SIDE_MULTIPLE,
                   .slot = e->args[0]->slot,
                   .axis = bs_as_int(values, e->args[1]->literal)};
  return out->axis > 0;
}

static bool
read_side(const bs_values *values, const gs_expr *e, rl_side *out) {
  *out = (rl_side){.slot = UINT32_MAX};
  if (e->kind == GS_X_LITERAL) {
    out->kind = RL_SIDE_VALUE;
    out->value = e->literal;
    return true;
  }
  if (e->kind == GS_X_CALL)
    return e->n_args > 0 &&
           (multiple_side(values, e, out) || fact_side(values, e, out));
  out->kind = RL_SIDE_VARIABLE;
  out->slot = e->slot;
  return e->sort != GS_SORT_CLASS;
}

static void
note_equal(rl_parts *out, const rl_side *a, const rl_side *b) {
  if (out->n_equal < RL_EQUALITIES)
    out->equal[out->n_equal++] = (rl_equality){*a, *b};
}

static void
note_step(const bs_values *values, const rl_step *s, rl_parts *out) {
  rl_side a, b;
  if (s->kind == RL_DEFINE) {
    a = (rl_side){.kind = RL_SIDE_VARIABLE, .slot = s->slot};
    if (read_side(values, s->expr, &b))
      note_equal(out, &a, &b);
    return;
  }
  if (s->kind != RL_TEST || s->expr->kind != GS_X_CALL ||
      strcmp(gs_function_name(s->expr->function), "="))
    return;
  for (uint32_t k = 1; k < s->expr->n_args; k++)
    if (read_side(values, s->expr->args[0], &a) &&
        read_side(values, s->expr->args[k], &b))
      note_equal(out, &a, &b);
}

void
rl_parts_of(const rl_rules *rules, const rl_rule *rule, rl_parts *out) {
  const rl_compiled *c = compiled(rule);
  *out = (rl_parts){.parts = c->parts,
                    .root_slots = c->part_roots,
                    .n_parts = c->n_parts,
                    .n_slots = c->n_slots,
                    .scope = &rule->scope,
                    .asks_values = c->condition && !c->condition->steady};
  for (uint32_t k = 0; c->condition && k < c->condition->n; k++) {
    if (!c->condition->steps[k].expr)
      continue;
    note_numbers(rules->ctx.values, c->condition->steps[k].expr, out);
    note_step(rules->ctx.values, &c->condition->steps[k], out);
  }
  for (uint32_t k = 0; k < rule->n_right; k++)
    note_skeleton(rules->ctx.values, c->right[k].skeleton, out);
  note_written(rules, rule, out);
}

uint32_t
rl_asked_count(const rl_rule *rule) {
  const rl_condition *c = compiled(rule)->condition;
  return c ? c->n : 0;
}

rl_asked
rl_asked_at(const rl_rule *rule, uint32_t k) {
  assert(k < rl_asked_count(rule));
  const rl_step *s = &compiled(rule)->condition->steps[k];
  rl_asked c = {RL_ASKS_OTHER, s->slot, s->expr};
  if (s->kind == RL_TEST)
    c.kind = RL_ASKS_TEST;
  else if (s->kind == RL_DEFINE)
    c.kind = RL_ASKS_DEFINE;
  else if (s->kind == RL_FOR)
    c.kind = RL_ASKS_FOR;
  return c;
}

const gs_target *
rl_target(const rl_rules *rules) {
  return rules->target;
}

/* The copy has this one form, so that no other is read again. */
rl_rules *
rl_under(const gs_context *ctx, const rl_rules *rules, const rl_rule *rule,
         int64_t value) {
  rl_rules *copy = rl_copy(rules, ctx, NULL);
  const rl_form *form = form_of(rules, rule);
  const rl_file *f = form ? &rules->forms.files.data[form->file] : NULL;
  uint32_t end = form ? rl_end(f, form->node) : 0;
  bool any = false;
  for (uint32_t x = form ? form->node : 0; x < end; x++) {
    const char *name = rl_symbol(rules, f, x);
    if (!name || name[0] != '$' ||
        bs_kind_of(ctx->values, rl_param_value(rules, name + 1)) != BS_KIND_INT)
      continue;
    any |= rl_set_param(copy, name + 1, bs_int(ctx->values, value));
  }
  if (!any)
    return NULL;
  copy->rule_forms.len = 0;
  bs_push(ctx->heap, &copy->rule_forms, *form);
  return rl_parse_rule(copy, form) ? copy : NULL;
}

/* --- the e-graph ---------------------------------------------------------- */

static void
add_terms(applier *a, rl_session *s) {
  bs_heap *heap = a->ctx->heap;
  uint32_t n = a->p->nodes.len;
  s->class_of = bs_calloc(heap, n + (size_t)1, sizeof *s->class_of);
  a->term_of = bs_calloc(heap, n + (size_t)1, sizeof *a->term_of);
  for (uint32_t k = 0; k < n; k++) {
    const gs_node *node = &a->p->nodes.data[k];
    eg_class *kids = bs_alloc(heap, (node->n_kids + (size_t)1) * sizeof *kids);
    for (uint32_t i = 0; i < node->n_kids; i++)
      kids[i] = s->class_of[node->kids[i].i];
    eg_class c = eg_add(a->graph, node->op, node->attr, kids, node->n_kids);
    bs_free(heap, kids);
    s->class_of[k] = c;
    if (c.i < n)
      a->term_of[c.i] = (gs_term){k};
  }
  a->n_classes = n;
}

/* --- one match ------------------------------------------------------------ */

static gs_term
term_of_slot(const applier *a, uint32_t slot) {
  uint32_t c = a->slots[slot];
  return c < a->n_classes ? a->term_of[c] : GS_NO_TERM;
}

static gs_term
build(const applier *a, const eg_term *t, gs_fault *fault) {
  gs_term *built = bs_alloc(a->ctx->heap, t->n * sizeof *built);
  gs_term root = GS_NO_TERM;
  for (uint32_t k = 0; k < t->n; k++) {
    const eg_term_node *n = &t->nodes[k];
    gs_term kids[GS_MAX_NESTING];
    root = GS_NO_TERM;
    if (n->is_slot) {
      root = term_of_slot(a, n->slot);
    } else if (n->n_kids <= GS_MAX_NESTING) {
      for (uint32_t i = 0; i < n->n_kids; i++)
        kids[i] = built[n->kids[i]];
      bs_value attr = eg_attr_build(a->ctx->values, &n->attr, a->slots);
      root = gs_add(a->p, n->op, attr, kids, n->n_kids, BS_NOWHERE, fault);
    }
    built[k] = root;
    if (!gs_term_ok(root))
      break;
  }
  bs_free(a->ctx->heap, built);
  return root;
}

static void
mark_classes(const eg_term *t, const applier *a, uint32_t *shown) {
  for (uint32_t k = 0; k < t->n; k++)
    if (t->nodes[k].is_slot)
      shown[t->nodes[k].slot] = term_of_slot(a, t->nodes[k].slot).i;
}

/* The slots with terms for classes. */
static void
show_slots(const applier *a) {
  const rl_compiled *c = a->rule;
  memcpy(a->shown, a->slots, c->n_slots * sizeof *a->shown);
  for (uint32_t k = 0; k < c->n_parts; k++) {
    mark_classes(&c->parts[k], a, a->shown);
    if (c->part_roots[k] != UINT32_MAX)
      a->shown[c->part_roots[k]] = term_of_slot(a, c->part_roots[k]).i;
  }
}

static void
apply(applier *a) {
  const rl_compiled *c = a->rule;
  for (uint32_t k = 0; k < c->rule.n_right; k++) {
    const rl_template *t = &c->right[k];
    rl_equation *e = &a->equations[k];
    *e = (rl_equation){
        .left = t->target == UINT32_MAX ? a->root : term_of_slot(a, t->target)};
    e->right = build(a, &t->term, &e->fault);
  }
  show_slots(a);
  a->go_on = a->found(a->found_ctx, a->equations, c->rule.n_right, a->shown);
}

/* The search asks for the limits between its nodes, and this between the steps
 * of conditions, of which a single match may take many. */
static void
count(applier *a, uint32_t steps) {
  uint64_t before = a->choices >> 14;
  a->choices += steps;
  if (a->choices >> 14 != before)
    bs_limits_check(a->ctx->heap);
  a->cut |= a->choices > RL_MOST_CHOICES;
  a->go_on &= !a->cut;
}

/* All alternatives of one match. */
static void
choose(applier *a) {
  eg_guard_result r = EG_GUARD_EMIT;
  a->guard.taken = 0;
  for (uint32_t k = 0; a->go_on && r != EG_GUARD_END; k++) {
    uint32_t before = a->guard.taken;
    r = rl_guard_ask(&a->guard, a->graph, a->slots, k);
    if (r == EG_GUARD_EMIT)
      apply(a);
    count(a, a->guard.taken - before);
    if (!a->rule->condition->n_for)
      break;
  }
}

static bool
on_match(void *ctx, eg_class root, eg_node node, const uint32_t *slots) {
  applier *a = ctx;
  (void)root;
  (void)node;
  memset(a->slots, 0xff, (a->rule->n_slots + (size_t)1) * sizeof *a->slots);
  uint32_t n = 0;
  for (; n < a->rule->n_slots; n++)
    a->slots[n] = n < a->rule->n_bound ? slots[n] : UINT32_MAX;
  if (a->rule->condition)
    choose(a);
  else
    apply(a);
  return a->go_on;
}

bool
rl_each_application(const gs_context *ctx, const rl_rules *rules,
                    const rl_rule *rule, gs_program *p, gs_term root,
                    rl_found found, void *found_ctx) {
  applier a = {.ctx = ctx,
               .rule = compiled(rule),
               .p = p,
               .root = root,
               .found = found,
               .found_ctx = found_ctx,
               .go_on = true};
  eg_options options;
  rl_session *s = rl_session_new(ctx, rules->target, p);
  rl_session_options(s, &options);
  a.graph = eg_new(ctx->heap, ctx->values, &options);
  add_terms(&a, s);
  a.slots = bs_calloc(ctx->heap, a.rule->n_slots + (size_t)1, sizeof *a.slots);
  a.shown = bs_calloc(ctx->heap, a.rule->n_slots + (size_t)1, sizeof *a.shown);
  a.equations =
      bs_calloc(ctx->heap, rule->n_right + (size_t)1, sizeof *a.equations);
  if (a.rule->condition)
    rl_guard_init(&a.guard, ctx->heap, s, a.rule->condition, a.rule);
  if (eg_fault(a.graph) == EG_FINE)
    a.cut |= !eg_search_within(a.graph, a.rule->pattern, s->class_of[root.i],
                               RL_MOST_CHOICES, on_match, &a);
  if (a.rule->condition)
    rl_guard_done(&a.guard, ctx->heap);
  bs_free(ctx->heap, a.equations);
  bs_free(ctx->heap, a.shown);
  bs_free(ctx->heap, a.slots);
  bs_free(ctx->heap, a.term_of);
  eg_free(a.graph);
  rl_session_free(s);
  return !a.cut;
}
