/* SPDX-License-Identifier: MIT */
/* ordered.c - the program as it is written: what is dead is left out, and terms
 * stand in an order that follows from the program alone.
 *
 * In which order the operands of a term were made is up to the compiler of this
 * code.  So terms are added once more: those of each let, in the order of the
 * lets, each behind its operands from left to right.  Weights and constants
 * then stand in the order of their first use, and get their names in it. */
#include "onnx/ordered.h"
#include "glenside/type/sizes.h"

#include <string.h>

typedef struct visit {
  gs_term term;
  uint32_t kid; /* the next one */
} visit;

typedef struct orderer {
  on_import *im;
  const gs_program *from;
  gs_program *to;
  gs_term *made;      /* by term of `from` */
  bs_map weight_of;   /* by term of `from`: index in `weights` */
  uint32_t n_weights; /* that were put in order */
  on_weight *weights; /* in order */
  BS_VEC(visit) open;
} orderer;

/* ---- names ---- */

/* Names of outputs, sizes, inputs and lets stay as they are. */
static void
take_names(orderer *x, const uint8_t *live) {
  on_import *im = x->im;
  const gs_program *p = x->from;
  bs_map_done(im->ctx->heap, &im->taken);
  im->taken = (bs_map){0};
  for (uint32_t k = 0; k < p->outputs.len; k++)
    on_take_name(im, p->outputs.data[k].name);
  for (uint32_t k = 0; p->sizes && k < p->sizes->n; k++)
    on_take_name(im, p->sizes->list[k].name);
  for (uint32_t k = 0; k < p->inputs.len; k++)
    if (gs_term_ok(x->made[p->inputs.data[k].term.i]))
      on_take_name(im, p->inputs.data[k].name);
  for (uint32_t k = 0; k < p->lets.len; k++)
    if (live[p->lets.data[k].term.i])
      on_take_name(im, p->lets.data[k].name);
}

static const char *
name_of(orderer *x, gs_term t) {
  on_import *im = x->im;
  return on_fresh_name(im, im->leaves.data[bs_map_get(&im->leaf_of, t.i)]);
}

/* ---- terms ---- */

static gs_term
add_weight(orderer *x, gs_term t) {
  gs_type type;
  on_weight w = x->im->weights.data[bs_map_get(&x->weight_of, t.i)];
  gs_type_at(x->from, t, &type);
  w.name = name_of(x, t);
  w.term = gs_add_tensor(x->to, w.name, &type, BS_NOWHERE);
  x->weights[x->n_weights++] = w;
  return w.term;
}

static gs_term
add_constant(orderer *x, gs_term t) {
  const gs_constant *c = gs_constant_of(x->from, gs_at(x->from, t)->attr);
  return gs_add_constant(x->to, name_of(x, t), &c->type, c->data, BS_NOWHERE);
}

static gs_term
add_again(orderer *x, gs_term t) {
  const gs_node *node = gs_at(x->from, t);
  return node->op == GS_TENSOR  ? add_weight(x, t)
         : node->op == GS_CONST ? add_constant(x, t)
                                : gs_add_like(x->to, node, x->made);
}

static void
visit_term(orderer *x, gs_term t) {
  bs_heap *heap = x->im->ctx->heap;
  if (gs_term_ok(x->made[t.i]))
    return;
  bs_push(heap, &x->open, (visit){t, 0});
  while (x->open.len) {
    visit *v = &bs_last(&x->open);
    const gs_node *node = gs_at(x->from, v->term);
    while (v->kid < node->n_kids && gs_term_ok(x->made[node->kids[v->kid].i]))
      v->kid++;
    if (v->kid < node->n_kids) {
      const visit kid = {node->kids[v->kid], 0};
      bs_push(heap, &x->open, kid); /* which moves what v is in */
      continue;
    }
    gs_term done = bs_pop(&x->open).term;
    x->made[done.i] = add_again(x, done);
  }
}

/* ---- inputs, lets, outputs ---- */

static void
start(orderer *x, on_import *im) {
  bs_heap *heap = im->ctx->heap;
  uint32_t n = im->p->nodes.len;
  *x = (orderer){.im = im,
                 .from = im->p,
                 .to = gs_program_new(im->ctx, NULL),
                 .made = bs_alloc(heap, (n + (size_t)1) * sizeof *x->made),
                 .weights = BS_NEWS(im->ctx->arena, on_weight,
                                    im->weights.len + (size_t)1)};
  x->to->sizes = im->p->sizes;
  for (uint32_t k = 0; k < n; k++)
    x->made[k] = GS_NO_TERM;
  for (uint32_t k = 0; k < im->weights.len; k++)
    bs_map_put(heap, &x->weight_of, im->weights.data[k].term.i, k);
}

/* An input of the model stays one, even if nothing reads it. */
static void
add_inputs(orderer *x) {
  for (uint32_t k = 0; k < x->from->inputs.len; k++) {
    const gs_named *input = &x->from->inputs.data[k];
    gs_type type;
    if (bs_map_get(&x->weight_of, input->term.i) != BS_NO_ENTRY)
      continue;
    gs_type_at(x->from, input->term, &type);
    x->made[input->term.i] =
        gs_add_tensor(x->to, input->name, &type, input->span);
  }
}

static void
add_lets(orderer *x, const uint8_t *live) {
  for (uint32_t k = 0; k < x->from->lets.len; k++) {
    gs_named let = x->from->lets.data[k];
    if (!live[let.term.i])
      continue;
    visit_term(x, let.term);
    let.term = x->made[let.term.i];
    bs_push(x->im->ctx->heap, &x->to->lets, let);
  }
}

static void
add_outputs(orderer *x) {
  for (uint32_t k = 0; k < x->from->outputs.len; k++) {
    const gs_named *output = &x->from->outputs.data[k];
    visit_term(x, output->term);
    gs_add_output(x->to, output->name, x->made[output->term.i], output->span);
  }
}

void
on_put_in_order(on_import *im) {
  bs_heap *heap = im->ctx->heap;
  orderer x;
  uint8_t *live = bs_calloc(heap, (size_t)im->p->nodes.len + 1, 1);
  gs_mark_live(im->p, live);
  start(&x, im);
  add_inputs(&x);
  take_names(&x, live);
  add_lets(&x, live);
  add_outputs(&x);
  im->p = x.to;
  if (x.n_weights)
    memcpy(im->weights.data, x.weights, x.n_weights * sizeof *x.weights);
  im->weights.len = x.n_weights;
  bs_free(heap, live);
  bs_free(heap, x.made);
  bs_map_done(heap, &x.weight_of);
  bs_vec_done(heap, &x.open);
}
