/* SPDX-License-Identifier: MIT */
/* graft.c - what was found for a part of a program is put into the e-graph of
 * the whole.
 *
 * The nodes of all parts are added first and united with what they stand for
 * afterwards: as long as nothing is united, nodes are numbered in the order of
 * their making, and each keeps the place of the source it came from. */
#include "rules/rule/rule_internal.h"
#include <assert.h>
#include <string.h>

void
rl_graft_init(rl_graft *x, bs_heap *heap, rl_run *whole) {
  *x = (rl_graft){.heap = heap, .run = whole};
}

void
rl_graft_done(rl_graft *x) {
  bs_vec_done(x->heap, &x->equal);
}

static void
unite_later(rl_graft *x, eg_class a, eg_class b) {
  bs_push(x->heap, &x->equal, a);
  bs_push(x->heap, &x->equal, b);
}

static eg_class
add(rl_graft *x, uint32_t op, bs_value attr, const eg_class *kids, uint32_t n,
    bs_span span) {
  rl_run *run = x->run;
  uint32_t before = eg_count_nodes(run->graph);
  eg_class c = eg_add(run->graph, op, attr, kids, n);
  if (eg_count_nodes(run->graph) > before)
    bs_push(run->heap, &run->session->places, span);
  return c;
}

static eg_class
access(rl_graft *x, eg_class of, uint32_t at, bs_span span) {
  bs_values *values = x->run->session->ctx.values;
  bs_value attr = bs_int(values, at);
  return add(x, GS_ACCESS, bs_list(values, &attr, 1), &of, 1, span);
}

static eg_class
class_of(const rl_graft *x, gs_term t) {
  assert(t.i < x->run->session->program->nodes.len);
  return x->run->session->class_of[t.i];
}

/* An input of a part is an array without items; the term of the whole may be
 * one with items, of which a view makes such an array, and another one makes
 * it again. */
static eg_class
input_class(rl_graft *x, gs_term of) {
  const gs_node *n = gs_at(x->run->session->program, of);
  gs_type type;
  gs_type_read(x->run->session->ctx.values, n->type, &type);
  eg_class own = class_of(x, of);
  if (type.access == type.rank)
    return own;
  eg_class flat = access(x, own, type.rank, n->span);
  unite_later(x, access(x, flat, type.access, n->span), own);
  return flat;
}

static eg_class
constant_class(const rl_graft *x, const rl_piece *p, const gs_node *n) {
  bs_value name = bs_item(p->found->ctx.values, n->attr, 0);
  const char *text = bs_as_sym(p->found->ctx.values, name);
  for (uint32_t k = 0; k < p->part->constants.len; k++)
    if (!strcmp(p->part->constants.data[k].name, text))
      return class_of(x, p->constants[k]);
  return EG_NO_CLASS;
}

static eg_class
add_term(rl_graft *x, const rl_piece *p, uint32_t t, const eg_class *made) {
  assert(t < p->found->nodes.len);
  const gs_node *n = &p->found->nodes.data[t];
  bs_heap *heap = x->run->heap;
  eg_class few[8], *kids = few;
  if (n->op == GS_CONST)
    return constant_class(x, p, n);
  if (n->n_kids > 8)
    kids = bs_alloc(heap, n->n_kids * sizeof *kids);
  for (uint32_t k = 0; k < n->n_kids; k++)
    kids[k] = made[n->kids[k].i];
  bs_span span = p->place ? p->place(p->place_ctx, n->span) : n->span;
  eg_class c = add(x, n->op, n->attr, kids, n->n_kids, span);
  if (kids != few)
    bs_free(heap, kids);
  return c;
}

bool
rl_graft_piece(rl_graft *x, const rl_piece *p) {
  assert(p->found->outputs.len == p->part->outputs.len);
  bs_heap *heap = x->run->heap;
  uint32_t n = p->found->nodes.len;
  bool ok = true;
  eg_class *made = bs_alloc(heap, (n + (size_t)1) * sizeof *made);
  for (uint32_t k = 0; k < n; k++)
    made[k] = EG_NO_CLASS;
  for (uint32_t k = 0; k < p->found->inputs.len; k++)
    made[p->found->inputs.data[k].term.i] = input_class(x, p->inputs[k]);
  for (uint32_t k = 0; k < n && ok; k++)
    if (made[k].i == UINT32_MAX) {
      made[k] = add_term(x, p, k, made);
      ok = made[k].i != UINT32_MAX;
    }
  for (uint32_t k = 0; k < p->found->outputs.len && ok; k++)
    unite_later(x, class_of(x, p->outputs[k]),
                made[p->found->outputs.data[k].term.i]);
  bs_free(heap, made);
  return ok;
}

bool
rl_graft_join(rl_graft *x) {
  assert(x->equal.len % 2 == 0);
  rl_run *run = x->run;
  eg_reason reason = {EG_BY_CLIENT, 0};
  for (uint32_t k = 0; k < x->equal.len; k += 2)
    eg_union(run->graph, x->equal.data[k], x->equal.data[k + 1], reason);
  eg_rebuild(run->graph);
  for (uint32_t k = 0; k < run->n_outputs; k++)
    run->outputs[k] = eg_find(run->graph, run->outputs[k]);
  if (eg_fault(run->graph) == EG_FINE)
    return true;
  run->stop = EG_STOP_FAULT;
  rl_report_fault(run);
  return false;
}

/* ---- what the runs of the parts did ---- */

static void
credit_phases(rl_run *whole, const rl_run *part) {
  for (uint32_t k = 0; k < whole->n_phases && k < part->n_phases; k++) {
    rl_phase *sum = &whole->phases[k];
    const rl_phase *one = &part->phases[k];
    sum->ran |= one->ran;
    sum->iterations += one->iterations;
    sum->nodes += one->nodes;
    if (sum->cut == EG_STOP_SATURATED)
      sum->cut = one->cut;
  }
}

static bool
quiet(const rl_run *run) {
  return run->stop == EG_STOP_SATURATED || run->finished;
}

void
rl_credit(rl_run *whole, const rl_run *part) {
  assert(whole->n_rules == part->n_rules);
  eg_runner_credit(whole->runner, part->runner);
}

static void
credit_rules(rl_run *whole, const rl_run *part) {
  const eg_rule_stats *stats = eg_runner_stats(whole->runner);
  whole->n_allowed = part->n_allowed;
  whole->n_never_ran = 0;
  for (uint32_t k = 0; k < whole->n_rules; k++) {
    whole->n_never_ran += part->allowed[k] && !stats[k].searches;
  }
}

void
rl_credit_end(rl_run *whole, const rl_run *part) {
  assert(whole->n_rules == part->n_rules);
  bool first = !whole->n_allowed;
  credit_phases(whole, part);
  credit_rules(whole, part);
  if (!first && !quiet(whole))
    return;
  if (first || part->stop != EG_STOP_SATURATED)
    whole->stop = part->stop;
  whole->finished = quiet(part) && (part->finished || whole->finished);
}
