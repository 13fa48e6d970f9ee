/* SPDX-License-Identifier: MIT */
/* layers.c - which named part of the program a term belongs to: the first let
 * that needs it.  An operator that rules or lowering made keeps so the name of
 * the layer that it was made from. */
#include "poly/loops/loops.h"

typedef BS_VEC(gs_term) terms;

static void
name_below(const gs_program *p, gs_term top, const char *name, terms *todo,
           const char **names) {
  bs_heap *heap = p->ctx.heap;
  bs_push(heap, todo, top);
  while (todo->len) {
    gs_term t = bs_pop(todo);
    if (names[t.i])
      continue;
    names[t.i] = name;
    const gs_node *node = gs_at(p, t);
    for (uint32_t k = 0; k < node->n_kids; k++)
      if (!names[node->kids[k].i])
        bs_push(heap, todo, node->kids[k]);
  }
}

const char **
po_layers(const po_program *p, bs_arena *arena) {
  const gs_program *source = p->source;
  terms todo = {0};
  const char **names = BS_NEWS(arena, const char *, source->nodes.len + 1u);
  for (uint32_t k = 0; k < source->lets.len; k++)
    name_below(source, source->lets.data[k].term, source->lets.data[k].name,
               &todo, names);
  for (uint32_t k = 0; k < source->outputs.len; k++)
    name_below(source, source->outputs.data[k].term,
               source->outputs.data[k].name, &todo, names);
  bs_vec_done(p->ctx.heap, &todo);
  return names;
}
