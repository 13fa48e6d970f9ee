/* SPDX-License-Identifier: MIT */
/* api_reach.c - how far a run came from one program towards another. */
#include "api/api_explain.h"

static void
reach(const eg_graph *g, eg_class c, uint8_t *seen, bs_heap *heap) {
  BS_VEC(eg_class) todo = {0};
  bs_push(heap, &todo, eg_find(g, c));
  while (todo.len) {
    eg_class at = bs_pop(&todo);
    uint32_t n, m;
    if (seen[at.i])
      continue;
    seen[at.i] = 1;
    const eg_node *nodes = eg_class_nodes(g, at, &n);
    for (uint32_t k = 0; k < n; k++) {
      const eg_class *kids = eg_kids(g, nodes[k], &m);
      for (uint32_t j = 0; j < m; j++)
        bs_push(heap, &todo, eg_find(g, kids[j]));
    }
  }
  bs_vec_done(heap, &todo);
}

uint32_t
api_reached(const rl_run *run, const gs_program *a, const gs_program *b,
            gs_term *frontier, uint32_t max, uint32_t *n) {
  const eg_graph *g = run->graph;
  bs_heap *heap = b->ctx.heap;
  uint8_t *seen = bs_calloc(heap, eg_class_ids(g) + (size_t)1, 1);
  eg_class *of = bs_alloc(heap, (b->nodes.len + (size_t)1) * sizeof *of);
  uint32_t reached = 0;
  *n = 0;
  for (uint32_t k = 0; k < a->outputs.len && k < run->n_outputs; k++)
    reach(g, run->outputs[k], seen, heap);
  rl_classes_of(run, b, of);
  for (uint32_t k = 0; k < b->nodes.len; k++) {
    const gs_node *node = &b->nodes.data[k];
    bool have = of[k].i != UINT32_MAX && seen[of[k].i], kids = true;
    reached += have;
    for (uint32_t j = 0; j < node->n_kids; j++) {
      eg_class c = of[node->kids[j].i];
      kids = kids && c.i != UINT32_MAX && seen[c.i];
    }
    if (!have && kids && *n < max)
      frontier[(*n)++] = (gs_term){k};
  }
  bs_free(heap, seen);
  bs_free(heap, of);
  return reached;
}
