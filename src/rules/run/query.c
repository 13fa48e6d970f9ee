/* SPDX-License-Identifier: MIT */
/* query.c - patterns looked for by tests, and terms added by them.
 *
 * A bare name in a pattern is a slot that must hold the class of what the
 * program calls so. */
#include "rules/rule/rule_internal.h"
#include <assert.h>
#include <string.h>

/* --- names of the program ------------------------------------------------- */

typedef struct names {
  const rl_run *run;
  const rl_rules *rules;
  gs_scope *scope;
  rl_query *query;
} names;

static gs_term
named_in(const gs_named *list, uint32_t n, const char *name) {
  for (uint32_t k = 0; k < n; k++)
    if (!strcmp(list[k].name, name))
      return list[k].term;
  return GS_NO_TERM;
}

static gs_term
constant_named(const gs_program *p, const char *name) {
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    const gs_node *n = &p->nodes.data[k];
    if (n->op == GS_CONST &&
        !strcmp(bs_as_sym(p->ctx.values, bs_item(p->ctx.values, n->attr, 0)),
                name))
      return (gs_term){k};
  }
  return GS_NO_TERM;
}

static gs_term
term_named(const gs_program *p, const char *name) {
  gs_term t = named_in(p->lets.data, p->lets.len, name);
  if (!gs_term_ok(t))
    t = named_in(p->inputs.data, p->inputs.len, name);
  if (!gs_term_ok(t))
    t = named_in(p->outputs.data, p->outputs.len, name);
  return gs_term_ok(t) ? t : constant_named(p, name);
}

eg_class
rl_class_named(const rl_run *run, const char *name) {
  gs_term t = term_named(run->session->program, name);
  return gs_term_ok(t) ? run->session->class_of[t.i] : EG_NO_CLASS;
}

/* The slot of a bare name; a name with a blank is out of an author's reach. */
static int
slot_named(void *ctx, const char *name) {
  names *n = ctx;
  const gs_context *gs = &n->run->session->ctx;
  eg_class c = rl_class_named(n->run, name);
  if (c.i == UINT32_MAX)
    return -1;
  const char *hidden = bs_arena_printf(gs->arena, "the %s", name);
  int slot = gs_scope_find(n->scope, hidden);
  if (slot >= 0)
    return slot;
  slot = gs_scope_add(gs, n->scope, hidden, GS_SORT_CLASS, BS_NOWHERE);
  bs_push(gs->heap, &n->query->named_slots, (uint32_t)slot);
  bs_push(gs->heap, &n->query->named_classes, c);
  return slot;
}

static bs_value
param_of(void *ctx, const char *name) {
  return rl_param_value(((names *)ctx)->rules, name);
}

/* --- patterns ------------------------------------------------------------- */

static bool
parse_where(const names *n, const rl_file *f, uint32_t where, rl_clauses *out) {
  bs_heap *heap = n->run->heap;
  *out = (rl_clauses){.ctx = &n->run->session->ctx,
                      .rules = n->rules,
                      .file = f,
                      .scope = n->scope};
  if (where)
    rl_add_where(out, where);
  bool ok = rl_order_clauses(out);
  bs_vec_done(heap, &out->conjuncts);
  return ok;
}

/* Compiles the skeleton in q->left; `where` may be 0. */
static bool
compile_query(const names *n, const rl_file *f, uint32_t where, rl_query *q) {
  const gs_context *ctx = &n->run->session->ctx;
  rl_compiler c = {.ctx = ctx, .scope = n->scope};
  rl_clauses clauses = {0};
  eg_term term = rl_compile_left(&c, q->left);
  uint32_t root = UINT32_MAX;
  q->bound = n->scope->vars.len;
  bool ok = !where || parse_where(n, f, where, &clauses);
  if (ok) {
    q->condition =
        rl_condition_new(ctx, c.steps.data, c.steps.len, clauses.steps.data,
                         clauses.steps.len, n->scope->vars.len);
    q->pattern =
        eg_pattern_new(ctx->heap, ctx->values, &term, &root, 1, q->bound);
  }
  bs_vec_done(ctx->heap, &c.steps);
  bs_vec_done(ctx->heap, &clauses.steps);
  return ok;
}

bool
rl_query_parse(const rl_run *run, const rl_rules *rules, const rl_file *f,
               uint32_t pattern, uint32_t where, rl_query *q) {
  const gs_context *ctx = &run->session->ctx;
  *q = (rl_query){0};
  names n = {run, rules, &q->scope, q};
  q->scope = (gs_scope){.question_marks = true,
                        .open = true,
                        .param = param_of,
                        .named = slot_named,
                        .ctx = &n};
  q->left = gs_skeleton_parse(ctx, rules->target, &f->sx, pattern, &q->scope);
  q->scope.open = false;
  return q->left && gs_skeleton_is_pattern(ctx, q->left) &&
         compile_query(&n, f, where, q);
}

void
rl_query_done(const rl_run *run, rl_query *q) {
  bs_heap *heap = run->heap;
  eg_pattern_free(heap, q->pattern);
  bs_vec_done(heap, &q->scope.vars);
  bs_vec_done(heap, &q->named_slots);
  bs_vec_done(heap, &q->named_classes);
}

/* --- counting ------------------------------------------------------------- */

typedef struct counter {
  const rl_run *run;
  const rl_query *query;
  rl_guard guard;
  uint32_t *slots;
  uint64_t n, max;
} counter;

static bool
names_hold(counter *c) {
  const rl_query *q = c->query;
  assert(q->named_slots.len == q->named_classes.len);
  const eg_graph *g = c->run->graph;
  for (uint32_t k = 0; k < q->named_slots.len; k++) {
    uint32_t *slot = &c->slots[q->named_slots.data[k]];
    uint32_t wanted = eg_find(g, q->named_classes.data[k]).i;
    if (*slot == UINT32_MAX)
      *slot = wanted;
    if (eg_find(g, (eg_class){*slot}).i != wanted)
      return false;
  }
  return true;
}

static bool
count_match(void *ctx, eg_class root, eg_node node, const uint32_t *slots) {
  counter *c = ctx;
  const rl_query *q = c->query;
  assert(q->bound <= q->condition->n_slots);
  (void)root;
  (void)node;
  memset(c->slots, 0xff, q->condition->n_slots * sizeof *c->slots);
  memcpy(c->slots, slots, q->bound * sizeof *slots);
  if (names_hold(c) &&
      rl_guard_ask(&c->guard, c->run->graph, c->slots, 0) == EG_GUARD_EMIT)
    c->n++;
  return c->n < c->max;
}

uint64_t
rl_query_count(const rl_run *run, const rl_query *q, eg_class root,
               uint64_t max) {
  counter c = {.run = run, .query = q, .max = max};
  bs_heap *heap = run->heap;
  if (!max)
    return 0;
  rl_guard_init(&c.guard, heap, run->session, q->condition, NULL);
  c.slots =
      bs_alloc(heap, (q->condition->n_slots + (size_t)1) * sizeof *c.slots);
  if (root.i == UINT32_MAX)
    eg_search(run->graph, q->pattern, count_match, &c);
  else
    eg_search_class(run->graph, q->pattern, root, count_match, &c);
  bs_free(heap, c.slots);
  rl_guard_done(&c.guard, heap);
  return c.n;
}

/* --- terms ---------------------------------------------------------------- */

static eg_class
class_of_node(const rl_run *run, const gs_node *n, const eg_class *of) {
  eg_class few[8], *kids = few, out;
  if (n->n_kids > 8)
    kids = bs_alloc(run->heap, n->n_kids * sizeof *kids);
  for (uint32_t j = 0; j < n->n_kids; j++)
    kids[j] = of[n->kids[j].i];
  out = eg_lookup(run->graph, n->op, n->attr, kids, n->n_kids);
  if (kids != few)
    bs_free(run->heap, kids);
  return out;
}

void
rl_classes_of(const rl_run *run, const gs_program *p, eg_class *out) {
  for (uint32_t k = 0; k < p->nodes.len; k++)
    out[k] = class_of_node(run, &p->nodes.data[k], out);
}

/* --- the program itself --------------------------------------------------- */

static bool
is_term(const rl_run *run, const gs_node *n, eg_node node) {
  const eg_graph *g = run->graph;
  uint32_t n_kids;
  const eg_class *kids = eg_kids(g, node, &n_kids);
  if (eg_op(g, node) != n->op || !bs_same(eg_attr(g, node), n->attr) ||
      n_kids != n->n_kids)
    return false;
  for (uint32_t k = 0; k < n_kids; k++)
    if (eg_find(g, kids[k]).i !=
        eg_find(g, run->session->class_of[n->kids[k].i]).i)
      return false;
  return true;
}

static eg_node
node_of_term(const rl_run *run, const gs_node *n, eg_class c) {
  uint32_t count;
  const eg_node *nodes = eg_class_nodes(run->graph, c, &count);
  for (uint32_t k = 0; k < count; k++)
    if (is_term(run, n, nodes[k]))
      return nodes[k];
  return EG_NO_NODE;
}

/* Terms stand after their children, so what the first term of a class chooses
 * needs only what was chosen before it: there is no cycle. */
void
rl_choose_own(const rl_run *run, uint32_t n, eg_node *choice) {
  assert(n >= eg_class_ids(run->graph));
  const gs_program *p = run->session->program;
  for (uint32_t k = 0; k < n; k++)
    choice[k] = EG_NO_NODE;
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    eg_class c = run->session->class_of[k];
    if (c.i == EG_NO_CLASS.i)
      continue;
    c = eg_find(run->graph, c);
    if (choice[c.i].i == EG_NO_NODE.i)
      choice[c.i] = node_of_term(run, &p->nodes.data[k], c);
  }
}

static eg_class
add_nodes(const rl_run *run, const gs_skeleton *s, const uint32_t *slots,
          uint32_t n_slots, eg_class *made) {
  const gs_context *ctx = &run->session->ctx;
  gs_env env = rl_env(run->session, run->graph, slots, n_slots);
  eg_class out = EG_NO_CLASS;
  for (uint32_t k = 0; k < s->n; k++) {
    const gs_sk_node *n = &s->nodes[k];
    eg_class kids[GS_MAX_NESTING];
    bs_value attr;
    for (uint32_t j = 0; j < n->n_kids; j++)
      kids[j] = made[n->kids[j]];
    run->session->refused.set = false;
    if (n->hole)
      out = (eg_class){slots[n->slot]};
    else if (gs_skeleton_attr(n, &env, &attr))
      out =
          eg_add(run->graph, n->op, gs_canonical_attr(ctx->values, n->op, attr),
                 kids, n->n_kids);
    else
      out = EG_NO_CLASS;
    if (out.i == UINT32_MAX) {
      bool typed = run->session->refused.set;
      bs_error(ctx->diags, n->span,
               typed ? run->session->refused.fault.code : "undefined", "%s",
               typed ? run->session->refused.fault.message
                     : "an attribute is undefined");
      return out;
    }
    made[k] = out;
  }
  return out;
}

eg_class
rl_add_term(const rl_run *run, const rl_rules *rules, const rl_file *f,
            uint32_t node) {
  const gs_context *ctx = &run->session->ctx;
  bs_heap *heap = run->heap;
  rl_query q = {0};
  names n = {run, rules, &q.scope, &q};
  eg_class out = EG_NO_CLASS;
  q.scope = (gs_scope){.question_marks = true,
                       .param = param_of,
                       .named = slot_named,
                       .ctx = &n};
  const gs_skeleton *s =
      gs_skeleton_parse(ctx, rules->target, &f->sx, node, &q.scope);
  if (s) {
    uint32_t n_slots = q.scope.vars.len;
    uint32_t *slots = bs_alloc(heap, (n_slots + (size_t)1) * sizeof *slots);
    eg_class *made = bs_alloc(heap, s->n * sizeof *made);
    for (uint32_t k = 0; k < q.named_slots.len; k++)
      slots[q.named_slots.data[k]] = q.named_classes.data[k].i;
    out = add_nodes(run, s, slots, n_slots, made);
    bs_free(heap, made);
    bs_free(heap, slots);
  }
  rl_query_done(run, &q);
  return out;
}
