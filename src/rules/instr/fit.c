/* SPDX-License-Identifier: MIT */
/* fit.c - the rule of an instruction that is found by its meaning.
 *
 * The rule looks at each compute node.  Its guard walks the class down, finds
 * the assignments, adds their terms and names them, one an alternative, so that
 * the engine, explanations and proofs see a rule whose right side is a
 * variable.  The assignments whose calls take the least come first, and those
 * that take many times as long are left out. */
#include "rules/instr/fit_search.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

const double fit_dearest = 8;

void
fit_attach(const gs_context *ctx, rl_compiled *c, const fit_instr *f,
           const gs_instr *into) {
  gs_scope *scope = &c->rule.scope;
  rl_condition *condition = BS_NEW(ctx->arena, rl_condition);
  gs_skeleton *right = BS_NEW(ctx->arena, gs_skeleton);
  gs_sk_node *hole = BS_NEW(ctx->arena, gs_sk_node);
  eg_term_node *node = BS_NEW(ctx->arena, eg_term_node);
  const gs_skeleton **rights = BS_NEWS(ctx->arena, const gs_skeleton *, 1);
  int slot = gs_scope_add(ctx, scope, "call", GS_SORT_CLASS, c->rule.span);
  *condition = (rl_condition){.steps = BS_NEWS(ctx->arena, rl_step, 1),
                              .n_for = 1,
                              .n_slots = scope->vars.len,
                              .steady = true};
  *hole =
      (gs_sk_node){.hole = true, .slot = (uint32_t)slot, .span = c->rule.span};
  *right = (gs_skeleton){hole, 1};
  *node = (eg_term_node){.is_slot = true, .slot = (uint32_t)slot};
  rights[0] = right;
  c->right[0] = (rl_template){right, {node, 1}, UINT32_MAX, false};
  c->results[0] = (eg_result){{node, 1}, UINT32_MAX};
  c->rule.right = rights;
  c->rule.condition = c->condition = condition;
  c->n_slots = scope->vars.len;
  c->fit = f;
  c->into = into;
}

/* ---- candidates ---- */

static bool
adds_over(const fitting *x, const fit_assignment *a) {
  for (uint32_t i = 0; i < x->space.n; i++)
    if (x->space.atom[i].group && a->rest[i] > 1)
      return true;
  return false;
}

/* A call that sees one element of each operand does not use the instruction. */
static bool
uses_any(const fitting *x, const fit_assignment *a) {
  for (uint32_t i = 0; i < x->space.n; i++)
    for (uint32_t j = 0; j < x->m.f->n_ids; j++)
      if (a->part[i][j] > 1)
        return true;
  return !x->m.f->n_ids;
}

static bool
note(void *ctx, const fit_assignment *a) {
  fitting *x = ctx;
  fit_candidate c = {.a = *a, .space = x->at, .order = x->all.len};
  const gs_instr *into = x->rule->into;
  if (!uses_any(x, a) || (into && !adds_over(x, a)))
    return true;
  eg_class made = fit_build(&x->m, &x->space, a, into, FIT_PRICE, &c.calls);
  if (made.i != UINT32_MAX)
    bs_push(x->m.session->ctx.heap, &x->all, c);
  return x->all.len < FIT_MOST;
}

static void
find_lies(fit_match *m) {
  bool asked = m->f->in_memory || m->f->staged;
  for (uint32_t k = 0; k < m->f->n_seen && asked; k++)
    fit_lie_below(m, k, &m->lie[k]);
}

/* One way to join digits, for one order of operands. */
bool
fit_enter(fitting *x, uint32_t space) {
  fit_match *m = &x->m;
  uint32_t way = space & ~FIT_ONES;
  memset(&x->space, 0, sizeof x->space);
  x->at = space;
  if (!fit_walk(m, way / FIT_WAYS))
    return false;
  find_lies(m);
  if (!fit_space_of(m, (fit_joins)(way % FIT_WAYS), &x->space))
    return false;
  if (x->rule->n_feeds)
    fit_find_left(x);
  return way == space || fit_add_ones(m->f, &x->space);
}

void
fit_note_cut(fitting *x, fit_cut *cut) {
  bs_heap *heap = x->m.session->ctx.heap;
  fit_candidate c = {.space = x->at, .order = x->all.len};
  if (!fit_find_cut(&x->m, &x->space, x->rule->into, cut, &c.calls))
    return;
  bs_push(heap, &x->cuts, *cut);
  c.cut = x->cuts.len;
  bs_push(heap, &x->all, c);
}

/* The cut as it is, and with each digit of a sum behind the others. */
static void
note_cuts(fitting *x, fit_cut cut, const fit_cut *sums) {
  uint32_t n = cut.n;
  if (n)
    fit_note_cut(x, &cut);
  for (uint32_t k = 0; k < sums->n; k++) {
    cut.n = n + 1;
    cut.sums = true;
    cut.atom[n] = sums->atom[k];
    cut.at[n] = sums->at[k];
    fit_note_cut(x, &cut);
  }
}

/* Where digits of the result, and of sums, are worth to be cut. */
static void
list_cuts(const fitting *x, fit_cut *all, fit_cut *sums) {
  *all = *sums = (fit_cut){0};
  for (uint32_t i = 0; i < x->space.n; i++) {
    int64_t at = fit_cut_at(x->m.f, x->rule->into, &x->space, i);
    fit_cut *to = x->space.atom[i].group ? sums : all;
    if (!at || to->n == FIT_SLICED)
      continue;
    to->atom[to->n] = i;
    to->at[to->n++] = at;
  }
}

/* Terms of parts, where one digit or two are cut, and one of a sum. */
static void
find_cuts(fitting *x) {
  fit_cut all, sums, cut = {0};
  list_cuts(x, &all, &sums);
  note_cuts(x, cut, &sums);
  for (uint32_t i = 0; i < all.n; i++) {
    cut.n = 1;
    cut.atom[0] = all.atom[i];
    cut.at[0] = all.at[i];
    note_cuts(x, cut, &sums);
    for (uint32_t j = 0; j < i; j++) {
      cut.n = 2;
      cut.atom[1] = all.atom[j];
      cut.at[1] = all.at[j];
      note_cuts(x, cut, &sums);
    }
  }
}

/* Whether another way gave the same for this order of operands. */
static bool
was_there(fitting *x, uint32_t way) {
  assert(way < FIT_WAYS);
  x->others[way] = x->space;
  for (uint32_t k = 0; k < way; k++)
    if (!memcmp(&x->others[k], &x->space, sizeof x->space))
      return true;
  return false;
}

static void
find_plain(fitting *x) {
  uint32_t ways = x->m.f->in_memory ? FIT_WAYS : FIT_WAYS - 1;
  uint32_t orders = 1u << (x->m.f->n_swaps + x->m.f->goes_on);
  for (uint32_t s = 0; s < orders; s++) {
    memset(x->others, 0, sizeof x->others);
    for (uint32_t way = 0; way < ways; way++)
      if (fit_enter(x, FIT_WAYS * s + way) && !was_there(x, way)) {
        fit_assign(&x->m.session->ctx, x->m.f, x->rule->into, &x->space, note,
                   x);
        if (!x->fed)
          find_cuts(x);
      }
  }
}

static void
find_padded_of(fitting *x, uint32_t ones) {
  uint32_t orders = 1u << (x->m.f->n_swaps + x->m.f->goes_on);
  for (uint32_t space = 0; space < FIT_WAYS * orders; space++) {
    fit_cut cut;
    if (fit_enter(x, space | ones) && fit_find_pads(x->m.f, &x->space, &cut))
      fit_note_cut(x, &cut);
  }
}

/* What has no assignment may have one between zeros; what the host copies for
 * that is a part of the price. */
static void
find_padded(fitting *x) {
  find_padded_of(x, 0);
  find_padded_of(x, FIT_ONES);
}

static int
by_cycles(const void *a, const void *b) {
  const fit_candidate *x = a, *y = b;
  if (x->calls.cycles != y->calls.cycles)
    return x->calls.cycles < y->calls.cycles ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

static void
keep(rl_guard *g, eg_class made) {
  assert(g->n_made < FIT_MOST_ADDED);
  for (uint32_t k = 0; k < g->n_made; k++)
    if (g->made[k].i == made.i)
      return;
  g->made[g->n_made++] = made;
}

void
fit_sort(fitting *x) {
  if (x->all.len)
    qsort(x->all.data, x->all.len, sizeof *x->all.data, by_cycles);
}

static eg_class
build(fitting *x, const fit_candidate *c, fit_mode mode) {
  const gs_instr *into = x->rule->into;
  rl_fit calls;
  return c->cut ? fit_build_cut(&x->m, &x->space, &x->cuts.data[c->cut - 1],
                                into, mode)
                : fit_build(&x->m, &x->space, &c->a, into, mode, &calls);
}

/* One that is cut is worth it only if it takes less than all that are not.  Of
 * one that takes what other calls leave, those are a part of the price. */
static bool
may_be_cheapest(const fitting *x, uint32_t at) {
  assert(at < x->all.len);
  uint32_t cut = x->all.data[at].cut;
  for (uint32_t k = 0; cut && !x->cuts.data[cut - 1].is_wide && k < at; k++)
    if (!x->all.data[k].cut)
      return false;
  return true;
}

fit_mode
fit_mode_of(const fitting *x) {
  return x->m.adds ? FIT_ADD : FIT_LOOK_UP;
}

static void
add_best(fitting *x) {
  rl_guard *g = x->guard;
  fit_mode mode = fit_mode_of(x);
  fit_sort(x);
  for (uint32_t k = 0; k < x->all.len && g->n_made < FIT_MOST_ADDED; k++) {
    const fit_candidate *best = &x->all.data[k];
    if (best->calls.cycles > fit_dearest * x->all.data[0].calls.cycles)
      break;
    if (!may_be_cheapest(x, k) || !fit_enter(x, best->space))
      continue;
    eg_class made = build(x, best, mode);
    if (made.i != UINT32_MAX)
      keep(g, eg_find(x->m.graph, made));
  }
}

/* ---- the guard ---- */

/* Whether a node of the operator can be the root of the meaning. */
static bool
can_be_root(const fit_instr *f, gs_compute op) {
  const fit_node *n = &f->node[0];
  if (op == n->op || (n->op == GS_C_REDUCE_SUM && op == GS_C_DOT_PROD))
    return true;
  if ((n->op == GS_C_CLIP && op == GS_C_RELU) ||
      (n->op == GS_C_RELU && op == GS_C_CLIP))
    return true; /* bounds, which the walk compares */
  return n->reduces && gs_compute_table[n->op].is_associative &&
         f->node[n->kid[0]].op == op && !f->node[n->kid[0]].is_operand;
}

fitting *
fit_begin(rl_session *s, eg_graph *graph, rl_guard *guard,
          const rl_compiled *rule, eg_class root, eg_class kid, bs_value spec) {
  assert(rule->fit);
  gs_compute op;
  if (!gs_compute_of(s->ctx.values, spec, &op) || !can_be_root(rule->fit, op))
    return NULL;
  fitting *x = bs_calloc(s->ctx.heap, 1, sizeof *x);
  x->guard = guard;
  x->rule = rule;
  x->m.f = rule->fit;
  x->m.session = s;
  x->m.graph = graph;
  x->m.ranks = fit_ranks_new(s->ctx.heap);
  x->m.root = eg_find(graph, root);
  x->m.kid = eg_find(graph, kid);
  x->m.spec = spec;
  x->m.op = op;
  x->m.adds = guard && !s->finished;
  if (rule->fit->in_memory)
    fit_lie_above(&x->m, &x->m.lie[FIT_OPERANDS]);
  return x;
}

/* What other calls leave in a memory is taken there as they left it, or else
 * it has to come from elsewhere. */
void
fit_find_all(fitting *x) {
  if (x->rule->n_feeds && fit_is_kept(x) && fit_find_wide(x))
    return;
  find_plain(x);
  if (!x->all.len)
    find_padded(x);
}

void
fit_end(fitting *x) {
  bs_heap *heap = x->m.session->ctx.heap;
  bs_vec_done(heap, &x->all);
  bs_vec_done(heap, &x->cuts);
  fit_ranks_free(heap, x->m.ranks);
  bs_free(heap, x);
}

static void
find_made(rl_guard *g, eg_graph *graph, const uint32_t *slots) {
  bs_heap *heap = g->session->ctx.heap;
  bs_value op = {slots[0]};
  eg_class kid = {slots[1]};
  g->n_made = 0;
  eg_class root = eg_lookup(graph, GS_COMPUTE,
                            bs_list(g->session->ctx.values, &op, 1), &kid, 1);
  if (root.i == UINT32_MAX)
    return;
  fitting *x = fit_begin(g->session, graph, g, g->rule, root, kid, op);
  if (!x)
    return;
  if (!g->made)
    g->made = bs_alloc(heap, FIT_MOST_ADDED * sizeof *g->made);
  fit_find_all(x);
  add_best(x);
  fit_end(x);
}

eg_guard_result
fit_ask(rl_guard *g, eg_graph *graph, uint32_t *slots, uint32_t alternative) {
  if (!alternative)
    find_made(g, graph, slots);
  if (alternative >= g->n_made)
    return EG_GUARD_END;
  slots[g->rule->right[0].term.nodes[0].slot] = g->made[alternative].i;
  return EG_GUARD_EMIT;
}

/* ---- for reports ---- */

static uint32_t
list_of_node(const rl_run *run, const rl_compiled *rule, eg_class root,
             eg_node node, rl_fit *out, uint32_t most) {
  uint32_t n, k = 0;
  bs_value spec =
      bs_item(run->session->ctx.values, eg_attr(run->graph, node), 0);
  fitting *x = fit_begin(run->session, run->graph, NULL, rule, root,
                         eg_kids(run->graph, node, &n)[0], spec);
  if (!x)
    return 0;
  fit_find_all(x);
  fit_sort(x);
  for (; k < x->all.len && k < most; k++)
    out[k] = x->all.data[k].calls;
  fit_end(x);
  return k;
}

uint32_t
rl_list_fits(const rl_run *run, uint32_t rule, eg_class root, rl_fit *out,
             uint32_t most) {
  assert(rule < run->rules->compiled.len);
  const rl_compiled *c = run->rules->compiled.data[rule];
  uint32_t n, found = 0;
  const eg_node *nodes = eg_class_nodes(run->graph, root, &n);
  for (uint32_t k = 0; k < n && c->fit; k++)
    if (eg_op(run->graph, nodes[k]) == GS_COMPUTE)
      found += list_of_node(run, c, root, nodes[k], out + found, most - found);
  return found;
}
