/* SPDX-License-Identifier: MIT */
/* explain_terms.c - terms of the engine's explainer made terms of a program.
 *
 * Each is made once, children first; the explainer has all of them
 * hash-consed, and so has the program. */
#include "rules/explain/explain_terms.h"
#include <assert.h>

/* --- terms ---------------------------------------------------------------- */

static void
make_term(rl_terms *e, uint32_t t) {
  uint32_t n;
  gs_fault fault;
  const uint32_t *kids = eg_term_kids(e->x, t, &n);
  gs_op op = (gs_op)eg_term_op(e->x, t);
  bs_value attr = eg_term_attr(e->x, t);
  gs_term few[8], *own = few;
  if (op == GS_CONST) {
    e->term_of.data[t] = gs_copy_constant(e->a, attr, e->program, BS_NOWHERE);
    return;
  }
  if (n > 8)
    own = bs_alloc(e->ctx->heap, n * sizeof *own);
  for (uint32_t k = 0; k < n; k++)
    own[k] = e->term_of.data[kids[k]];
  e->term_of.data[t] = gs_add(e->program, op, attr, own, n, BS_NOWHERE, &fault);
  if (own != few)
    bs_free(e->ctx->heap, own);
}

/* Children first, with a stack. */
gs_term
rl_term_of(rl_terms *e, uint32_t t) {
  assert(t < eg_count_terms(e->x));
  bs_heap *heap = e->ctx->heap;
  while (e->term_of.len < eg_count_terms(e->x))
    bs_push(heap, &e->term_of, GS_NO_TERM);
  bs_push(heap, &e->todo, t);
  while (e->todo.len) {
    uint32_t top = bs_last(&e->todo), n, waiting = e->todo.len;
    const uint32_t *kids = eg_term_kids(e->x, top, &n);
    for (uint32_t k = 0; k < n && !gs_term_ok(e->term_of.data[top]); k++)
      if (!gs_term_ok(e->term_of.data[kids[k]]))
        bs_push(heap, &e->todo, kids[k]);
    if (e->todo.len > waiting)
      continue;
    if (!gs_term_ok(e->term_of.data[top]))
      make_term(e, top);
    e->todo.len--;
  }
  return e->term_of.data[t];
}

uint32_t *
rl_output_terms(rl_terms *e, const gs_program *p) {
  bs_heap *heap = e->ctx->heap;
  uint32_t *of = bs_alloc(heap, (p->nodes.len + (size_t)1) * sizeof *of);
  uint32_t *out = BS_NEWS(e->ctx->arena, uint32_t, p->outputs.len + 1);
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    const gs_node *n = &p->nodes.data[k];
    uint32_t few[8], *kids = few;
    if (n->n_kids > 8)
      kids = bs_alloc(heap, n->n_kids * sizeof *kids);
    for (uint32_t j = 0; j < n->n_kids; j++)
      kids[j] = of[n->kids[j].i];
    of[k] = eg_explain_term(e->x, n->op, n->attr, kids, n->n_kids);
    if (kids != few)
      bs_free(heap, kids);
  }
  for (uint32_t k = 0; k < p->outputs.len; k++)
    out[k] = of[p->outputs.data[k].term.i];
  bs_free(heap, of);
  return out;
}

uint32_t
rl_witness(rl_terms *e, eg_node node) {
  const eg_graph *g = e->run->graph;
  BS_VEC(eg_node) stack = {0};
  BS_VEC(uint32_t) made = {0};
  uint32_t n, out = EG_NO_TERM, budget = 4096;
  bs_heap *heap = e->ctx->heap;
  if (!e->smallest)
    e->smallest = rl_smallest(heap, g, &e->n_smallest);
  /* Post-order: a node is built when it is met again over its children. */
  bs_push(heap, &stack, node);
  bs_push(heap, &stack, EG_NO_NODE);
  while (stack.len && budget--) {
    eg_node top = bs_pop(&stack);
    bool fresh = top.i == UINT32_MAX;
    if (fresh)
      top = bs_last(&stack);
    const eg_class *kids = eg_kids(g, top, &n);
    if (fresh) {
      for (uint32_t k = n; k-- > 0;) {
        eg_node kid = e->smallest[eg_find(g, kids[k]).i];
        if (kid.i == UINT32_MAX)
          budget = 0;
        bs_push(heap, &stack, kid);
        bs_push(heap, &stack, EG_NO_NODE);
      }
      continue;
    }
    made.len -= n;
    bs_reserve(heap, &made, (uint64_t)made.len + n + 1);
    out = eg_explain_term(e->x, eg_op(g, top), eg_attr(g, top),
                          made.data + made.len, n);
    bs_push(heap, &made, out);
  }
  bs_vec_done(heap, &stack);
  bs_vec_done(heap, &made);
  return budget == UINT32_MAX ? EG_NO_TERM : out;
}

const uint32_t *
rl_slot_terms(rl_terms *e, const uint32_t *slots, const uint8_t *is_class,
              uint32_t n) {
  assert((slots && is_class) || !n);
  uint32_t *out = BS_NEWS(e->ctx->arena, uint32_t, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    out[k] = slots[k];
    if (is_class[k] && slots[k] != UINT32_MAX)
      out[k] = rl_term_of(e, slots[k]).i;
  }
  return out;
}

static void
declare_inputs(rl_terms *e) {
  for (uint32_t k = 0; k < e->a->inputs.len; k++) {
    const gs_named *input = &e->a->inputs.data[k];
    gs_type type;
    gs_type_at(e->a, input->term, &type);
    gs_add_tensor(e->program, input->name, &type, input->span);
  }
  gs_copy_data(e->a, e->program);
}

void
rl_terms_init(rl_terms *e, const gs_context *ctx, const rl_run *run,
              const gs_program *a) {
  *e = (rl_terms){.ctx = ctx, .run = run, .a = a};
  const rl_rules *rules = run->rules;
  uint32_t n = rules->compiled.len;
  e->shapes = bs_calloc(ctx->heap, n + (size_t)1, sizeof *e->shapes);
  for (uint32_t k = 0; k < n; k++) {
    const rl_compiled *c = rules->compiled.data[k];
    e->shapes[k] = (eg_shape){c->parts, c->part_roots, c->n_parts, c->results,
                              c->rule.n_right};
  }
  e->x = eg_explainer_new(run->graph, e->shapes, n);
  e->program = gs_program_new(ctx, run->session->target);
  declare_inputs(e);
}

void
rl_terms_done(rl_terms *e) {
  bs_heap *heap = e->ctx->heap;
  eg_explainer_free(e->x);
  bs_free(heap, e->shapes);
  bs_free(heap, e->smallest);
  bs_vec_done(heap, &e->term_of);
  bs_vec_done(heap, &e->todo);
}
