/* SPDX-License-Identifier: MIT */
/* onnx_graph.c - the nodes of a model, each looked at once, in their order.
 *
 * The format lists a node behind those that give its inputs.  A name that is
 * read before a node gives it is a fault, so that a cycle is one, too.  Which
 * nodes an output needs is found first, backward from the outputs: what is
 * wrong with others does not matter. */
#include "onnx/onnx_graph.h"
#include "onnx/flow.h"
#include "onnx/sized.h"

#include <string.h>

on_value *
on_find(on_import *im, const char *name) {
  uint32_t at = bs_map_get(&im->values, bs_sym(im->ctx->values, name).i);
  return at == BS_NO_ENTRY ? NULL : im->list.data[at];
}

on_value *
on_define(on_import *im, const char *name) {
  if (on_find(im, name))
    return NULL;
  on_value *v = BS_NEW(im->ctx->arena, on_value);
  v->name = name;
  v->term = GS_NO_TERM;
  bs_map_put(im->ctx->heap, &im->values, bs_sym(im->ctx->values, name).i,
             im->list.len);
  bs_push(im->ctx->heap, &im->list, v);
  return v;
}

gs_term
on_term_of(on_import *im, on_value *v) {
  on_read_stored(im, v);
  if (v->poison) {
    im->failed = true;
    return GS_NO_TERM;
  }
  return v->array ? t_constant(im, v->array) : v->term;
}

/* ---- what is needed ---- */

static void
note_producer(on_import *im, bs_map *map, const on_body *body, const char *name,
              uint32_t node) {
  uint32_t symbol = bs_sym(im->ctx->values, name).i;
  if (bs_map_get(map, symbol) == BS_NO_ENTRY && !on_find(im, name)) {
    bs_map_put(im->ctx->heap, map, symbol, node);
    return;
  }
  im->node = body->graph->node[node];
  im->failed = false;
  on_fail(im, "another node or an input has the name %.100s, too", name);
  on_advise(im);
}

/* The node that gives a name, by symbol id; a name is given once. */
static bs_map
producers(on_import *im, const on_body *body) {
  bs_map map = {0};
  for (size_t k = 0; k < body->graph->n_node; k++) {
    const Onnx__Node *n = body->graph->node[k];
    for (size_t o = 0; o < n->n_output; o++)
      if (*n->output[o])
        note_producer(im, &map, body, n->output[o], (uint32_t)k);
  }
  return map;
}

typedef BS_VEC(const on_body *) on_bodies;

typedef struct marker {
  on_import *im;
  bs_map producers;
  uint8_t *needed;
  BS_VEC(uint32_t) open;
  on_bodies inside;
} marker;

static void
need(marker *m, const char *name) {
  uint32_t k = bs_map_get(&m->producers, bs_sym(m->im->ctx->values, name).i);
  if (k == BS_NO_ENTRY || m->needed[k])
    return;
  m->needed[k] = 1;
  bs_push(m->im->ctx->heap, &m->open, k);
}

static void
need_inputs(marker *m, const Onnx__Node *n) {
  for (size_t k = 0; k < n->n_input; k++)
    need(m, n->input[k]);
}

static void
need_outputs(marker *m, const Onnx__Graph *g) {
  for (size_t k = 0; k < g->n_output; k++)
    if (g->output[k]->name)
      need(m, g->output[k]->name);
}

static void
open_inside(marker *m, const Onnx__Node *n, uint32_t depth) {
  for (size_t k = 0; k < n->n_attribute; k++) {
    const Onnx__Attribute *a = n->attribute[k];
    const on_body *b = a->has_g ? on_body_of(m->im, a, depth) : NULL;
    if (b)
      bs_push(m->im->ctx->heap, &m->inside, b);
  }
}

/* What the graphs inside a node read may stand outside of them. */
static void
need_inside(marker *m, const Onnx__Node *node, uint32_t depth) {
  open_inside(m, node, depth + 1);
  while (m->inside.len) {
    const on_body *b = bs_pop(&m->inside);
    need_outputs(m, b->graph);
    for (size_t k = 0; k < b->graph->n_node; k++) {
      need_inputs(m, b->graph->node[k]);
      open_inside(m, b->graph->node[k], b->depth + 1);
    }
  }
}

void
on_mark_needed(on_import *im, on_body *body) {
  bs_heap *heap = im->ctx->heap;
  const Onnx__Graph *g = body->graph;
  if (body->needed)
    return;
  marker m = {
      im, producers(im, body), bs_calloc(heap, g->n_node + 1, 1), {0}, {0}};
  need_outputs(&m, g);
  while (m.open.len) {
    const Onnx__Node *n = g->node[bs_pop(&m.open)];
    need_inputs(&m, n);
    need_inside(&m, n, body->depth);
  }
  bs_vec_done(heap, &m.open);
  bs_vec_done(heap, &m.inside);
  bs_map_done(heap, &m.producers);
  body->needed = m.needed;
}

/* ---- one node ---- */

/* Each input that is not left out was given before. */
static bool
has_inputs(on_import *im) {
  for (uint32_t k = 0; k < on_inputs(im); k++)
    if (*im->node->input[k] && !on_find(im, im->node->input[k]))
      return on_fail(im,
                     "no node before it computes its input %.100s: the graph "
                     "has a cycle, is out of order, or is incomplete",
                     im->node->input[k]);
  return true;
}

static bool
check_inputs(on_import *im) {
  uint32_t n = on_inputs(im);
  if (n < im->row->least || (im->row->most < 255 && n > im->row->most))
    return on_fail(im, "it has %u inputs, which is too %s", n,
                   n < im->row->least ? "few" : "many");
  for (uint32_t k = 0; k < im->row->least && im->row->most < 255; k++)
    if (!*im->node->input[k])
      return on_fail(im, "its input %u is missing", k);
  return has_inputs(im);
}

static bool
find_row(on_import *im) {
  const Onnx__Node *n = im->node;
  im->row = on_find_row(n->op_type ? n->op_type : "");
  if (n->domain && *n->domain && strcmp(n->domain, "ai.onnx"))
    on_fail(im, "operators of the domain %.60s are not supported", n->domain);
  else if (!im->row)
    on_fail(im, "this operator is not supported");
  on_hint(im, "glen import --list-operators prints those that are");
  if (im->failed)
    return false;
  int64_t since = on_row_since(im->row);
  if (im->opset >= since)
    return true;
  on_fail(im, "this operator is supported from version %lld on",
          (long long)since);
  on_hint(im,
          "the onnx package for Python converts the model: "
          "onnx.version_converter.convert_version(model, %d)",
          ON_NEWEST);
  return false;
}

/* Whether something that it reads was given up; that was told already. */
static bool
reads_poison(on_import *im, bool *arrays) {
  bool poison = false;
  *arrays = true;
  for (uint32_t k = 0; k < on_inputs(im); k++) {
    const on_value *v = on_in(im, k);
    poison |= v && v->poison;
    *arrays &= !v || v->array;
  }
  return poison;
}

/* Results are poison until the node gives them, and after a fault. */
static void
define_results(on_import *im) {
  for (size_t k = 0; k < im->node->n_output; k++) {
    const char *name = im->node->output[k];
    on_value *v = *name ? on_define(im, name) : NULL;
    if (v)
      v->poison = true;
    else if (*name)
      im->failed = true; /* it was told that the name is given twice */
  }
}

/* What is asked for and was not given is a fault: nothing may be lost. */
static void
check_results(on_import *im) {
  for (size_t k = 0; k < im->node->n_output && !im->failed; k++) {
    const on_value *v =
        *im->node->output[k] ? on_find(im, im->node->output[k]) : NULL;
    if (v && v->poison)
      on_fail(im, "its result %zu is not supported", k);
  }
}

static void
translate_call(on_import *im, on_function *f) {
  bool arrays, fine = has_inputs(im) && !reads_poison(im, &arrays);
  define_results(im);
  if (fine && !im->failed)
    on_call_function(im, f);
}

static void
translate(on_import *im) {
  bool arrays = false;
  on_function *called = on_called(im);
  if (called) {
    translate_call(im, called);
    return;
  }
  bool fine = find_row(im) && check_inputs(im) && !reads_poison(im, &arrays) &&
              on_check_attributes(im) && on_check_types(im) &&
              on_take_sizes(im, &arrays);
  define_results(im);
  if (!fine || im->failed)
    return;
  if (arrays && im->row->fold) {
    im->summary->folded++;
    im->row->fold(im);
  } else if (im->row->emit) {
    im->row->emit(im);
  } else {
    on_fail(im, "it is supported only where its inputs are known while "
                "importing");
  }
  if (!im->entered)
    check_results(im);
}

/* The next node of the graph that is walked. */
static void
walk_one(on_import *im) {
  on_frame *f = im->frame;
  size_t k = f->at++;
  if (!f->body->needed[k]) {
    im->summary->dead += !f->node;
    return;
  }
  if (!on_may_walk(im))
    return;
  im->node = on_own_node(im, f->body->graph->node[k]);
  im->row = NULL;
  im->failed = im->told = im->entered = false;
  translate(im);
  on_advise(im);
}

void
on_walk(on_import *im) {
  on_body whole = {.graph = im->graph};
  on_frame model = {.body = &whole};
  on_mark_needed(im, &whole);
  im->summary->nodes = (uint32_t)im->graph->n_node;
  im->frame = &model;
  while (im->frame) {
    bs_limits_check(im->ctx->heap);
    if (im->frame->at < im->frame->body->graph->n_node)
      walk_one(im);
    else
      on_leave(im);
  }
  bs_free(im->ctx->heap, whole.needed);
}
