/* SPDX-License-Identifier: MIT */
/* extract_egraph.c - from an e-graph to an extraction problem and back.
 *
 * The classes that the roots reach are found first, then numbered in the order
 * of their ids, then their nodes are priced and written, once each; so the
 * problem does not depend on the walk. */
#include "extract/extract_egraph.h"
#include "extract/cost.h"
#include "extract/internal.h"
#include "extract/stranded.h"
#include <assert.h>

typedef struct builder {
  const eg_graph *graph;
  bs_heap *heap;
  ex_price_fn price;
  void *ctx;
  uint32_t *number; /* by class id: 0 not met, else a number + 1 */
  BS_VEC(eg_class) work;
  BS_VEC(eg_class) classes;
  BS_VEC(eg_node) nodes;
  BS_VEC(uint32_t) class_of;
  BS_VEC(uint32_t) kid_first;
  BS_VEC(uint32_t) kids;
  BS_VEC(double) cost;
} builder;

static bool
usable(double price) {
  return price >= 0 && !isinf(price);
}

static uint32_t
count_ids(const eg_graph *g) {
  uint32_t n = 0;
  for (eg_class c = eg_first_class(g); c.i != EG_NO_CLASS.i;
       c = eg_next_class(g, c))
    n = c.i + 1;
  return n;
}

static void
meet(builder *b, eg_class c) {
  c = eg_find(b->graph, c);
  if (b->number[c.i])
    return;
  b->number[c.i] = 1;
  bs_push(b->heap, &b->work, c);
}

enum { LOOK = 1 << 12 }; /* classes between two looks at the limits */

static void
reach(builder *b) {
  for (uint32_t done = 0; done < b->work.len; done++) {
    uint32_t n, n_kids;
    if (done % LOOK == 0)
      bs_stage_check(b->heap);
    const eg_node *nodes = eg_class_nodes(b->graph, b->work.data[done], &n);
    for (uint32_t i = 0; i < n; i++) {
      const eg_class *kids = eg_kids(b->graph, nodes[i], &n_kids);
      for (uint32_t k = 0; k < n_kids; k++)
        meet(b, kids[k]);
    }
  }
}

static void
number_classes(builder *b) {
  const eg_graph *g = b->graph;
  for (eg_class c = eg_first_class(g); c.i != EG_NO_CLASS.i;
       c = eg_next_class(g, c))
    if (b->number[c.i]) {
      bs_push(b->heap, &b->classes, c);
      b->number[c.i] = b->classes.len;
    }
}

static uint32_t
number_of(const builder *b, eg_class c) {
  return b->number[eg_find(b->graph, c).i] - 1;
}

static void
write_node(builder *b, uint32_t class, eg_node node) {
  uint32_t n_kids;
  double price = b->price(b->ctx, b->graph, node);
  const eg_class *kids = eg_kids(b->graph, node, &n_kids);
  if (!usable(price))
    return;
  bs_push(b->heap, &b->nodes, node);
  bs_push(b->heap, &b->class_of, class);
  bs_push(b->heap, &b->cost, price);
  bs_push(b->heap, &b->kid_first, b->kids.len);
  for (uint32_t k = 0; k < n_kids; k++)
    bs_push(b->heap, &b->kids, number_of(b, kids[k]));
}

static void
write_rows(builder *b) {
  for (uint32_t c = 0; c < b->classes.len; c++) {
    uint32_t n;
    if (c % LOOK == 0)
      bs_stage_check(b->heap);
    const eg_node *nodes = eg_class_nodes(b->graph, b->classes.data[c], &n);
    for (uint32_t i = 0; i < n; i++)
      write_node(b, c, nodes[i]);
  }
  bs_push(b->heap, &b->kid_first, b->kids.len);
}

void
ex_from_egraph(bs_heap *heap, const eg_graph *g, const eg_class *roots,
               uint32_t n_roots, ex_price_fn price, void *ctx, ex_bridge *out) {
  assert((roots || !n_roots) && eg_is_clean(g));
  builder b = {.graph = g, .heap = heap, .price = price, .ctx = ctx};
  uint32_t *root = EX_NEW(heap, uint32_t, n_roots);
  out->n_ids = count_ids(g);
  b.number = EX_ZERO(heap, uint32_t, out->n_ids);
  for (uint32_t r = 0; r < n_roots; r++)
    meet(&b, roots[r]);
  reach(&b);
  number_classes(&b);
  write_rows(&b);
  for (uint32_t r = 0; r < n_roots; r++)
    root[r] = number_of(&b, roots[r]);
  ex_draft draft = {.n_classes = b.classes.len,
                    .n_nodes = b.nodes.len,
                    .n_roots = n_roots,
                    .class_of = b.class_of.data,
                    .cost = b.cost.data,
                    .kid_first = b.kid_first.data,
                    .kids = b.kids.data,
                    .roots = root};
  ex_problem_build(heap, &draft, NULL, &out->problem);
  out->classes = b.classes.data;
  out->nodes = b.nodes.data;
  bs_free(heap, root);
  bs_free(heap, b.number);
  bs_vec_done(heap, &b.work);
  bs_vec_done(heap, &b.class_of);
  bs_vec_done(heap, &b.kid_first);
  bs_vec_done(heap, &b.kids);
  bs_vec_done(heap, &b.cost);
}

void
ex_bridge_done(ex_bridge *b) {
  bs_heap *heap = b->problem.heap;
  bs_free(heap, b->classes);
  bs_free(heap, b->nodes);
  ex_problem_done(&b->problem);
}

eg_node *
ex_chosen(bs_heap *heap, const ex_bridge *b, const ex_solution *s) {
  eg_node *chosen = EX_NEW(heap, eg_node, b->n_ids);
  for (uint32_t i = 0; i < b->n_ids; i++)
    chosen[i] = EG_NO_NODE;
  for (uint32_t c = 0; c < b->problem.n_classes; c++)
    if (s->choice[c] != EX_NONE)
      chosen[b->classes[c].i] = b->nodes[s->choice[c]];
  return chosen;
}

static void
read_type(const ex_pricer *p, const eg_graph *g, eg_class c, gs_type *out) {
  gs_type_read(p->values, p->type_of(p->type_ctx, g, eg_find(g, c)), out);
}

double
ex_price_enode(void *pricer, const eg_graph *g, eg_node node) {
  assert(node.i != EG_NO_NODE.i);
  const ex_pricer *p = pricer;
  gs_type types[EX_MAX_KIDS + 1];
  const gs_type *of[EX_MAX_KIDS];
  uint32_t n;
  ex_cost cost;
  const eg_class *kids = eg_kids(g, node, &n);
  if (n > EX_MAX_KIDS ||
      ex_is_stranded(p->target, p->values, g, node, p->stranded))
    return INFINITY;
  for (uint32_t k = 0; k < n; k++) {
    read_type(p, g, kids[k], &types[k]);
    of[k] = &types[k];
  }
  read_type(p, g, eg_class_of(g, node), &types[n]);
  ex_price_node(p->target, p->limit, p->values, (gs_op)eg_op(g, node),
                eg_attr(g, node), of, n, &types[n], &cost);
  bool once = p->once && p->once[eg_class_of(g, node).i];
  if (p->kept && !once && n == 1)
    ex_price_resident(p->target, p->values, (gs_op)eg_op(g, node),
                      eg_attr(g, node), p->kept[eg_find(g, kids[0]).i], &cost);
  return ex_cost_total(&cost) * (once ? EX_ONCE : 1);
}
