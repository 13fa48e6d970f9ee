/* SPDX-License-Identifier: MIT */
/* extracted.c - a choice of nodes back to a program.
 *
 * A term keeps the place in the source that its node descends from by the
 * origins of nodes. */
#include "rules/rule/rule_internal.h"
#include <string.h>

/* --- programs ------------------------------------------------------------- */

/* The place of the client's node that this one descends from. */
static bs_span
place_of(const rl_run *run, eg_node node) {
  const rl_session *s = run->session;
  while (node.i != UINT32_MAX && node.i >= s->places.len)
    node = rl_came_from(run->graph, node);
  return node.i < s->places.len ? s->places.data[node.i] : BS_NOWHERE;
}

typedef struct builder {
  rl_walk w;
  const gs_program *original;
  gs_program *out;
  gs_term *terms; /* by class */
} builder;

static gs_term
build_node(builder *b, eg_node node) {
  const eg_graph *g = b->w.run->graph;
  bs_heap *heap = b->w.run->heap;
  uint32_t n, op = eg_op(g, node);
  const eg_class *classes = eg_kids(g, node, &n);
  bs_span span = place_of(b->w.run, node);
  gs_term few[8], *kids = few, out;
  gs_fault fault;
  if (op == GS_CONST)
    return gs_copy_constant(b->original, eg_attr(g, node), b->out, span);
  if (n > 8)
    kids = bs_alloc(heap, n * sizeof *kids);
  for (uint32_t k = 0; k < n; k++)
    kids[k] = b->terms[eg_find(g, classes[k]).i];
  out = gs_add(b->out, (gs_op)op, eg_attr(g, node), kids, n, span, &fault);
  if (kids != few)
    bs_free(heap, kids);
  return out;
}

static void
declare_inputs(builder *b) {
  for (uint32_t k = 0; k < b->original->inputs.len; k++) {
    const gs_named *input = &b->original->inputs.data[k];
    gs_type type;
    gs_type_at(b->original, input->term, &type);
    gs_add_tensor(b->out, input->name, &type, input->span);
  }
  gs_copy_data(b->original, b->out);
}

static bool
build_terms(builder *b) {
  bool ok = true;
  for (;;) {
    uint32_t c = rl_walk_next(&b->w, &ok);
    if (c == UINT32_MAX)
      return ok;
    b->terms[c] = build_node(b, b->w.choice[c]);
    if (!gs_term_ok(b->terms[c]))
      return false;
  }
}

gs_program *
rl_extracted(const gs_context *ctx, const gs_program *original,
             const rl_run *run, const eg_node *choice) {
  builder b = {.original = original};
  rl_walk_init(&b.w, run, choice);
  b.out = gs_program_new(ctx, original->target ? original->target
                                               : run->session->target);
  b.terms = bs_alloc(run->heap, (b.w.n + (size_t)1) * sizeof *b.terms);
  declare_inputs(&b);
  bool ok = build_terms(&b);
  for (uint32_t k = 0; ok && k < run->n_outputs; k++) {
    const gs_named *o = &original->outputs.data[k];
    gs_add_output(b.out, o->name,
                  b.terms[eg_find(run->graph, run->outputs[k]).i], o->span);
  }
  bs_free(run->heap, b.terms);
  rl_walk_done(&b.w);
  if (ok)
    return b.out;
  bs_error(ctx->diags, BS_NOWHERE, "no-program",
           "the choice of nodes is not a program");
  return NULL;
}
