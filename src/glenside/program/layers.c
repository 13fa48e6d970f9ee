/* SPDX-License-Identifier: MIT */
/* layers.c - which named part of a program a term belongs to: the first let
 * that needs it.  An operator that rules or lowering made keeps so the name of
 * the layer that it was made from.
 *
 * Terms stand behind their operands, so that one walk from the last term to the
 * first has met all that use a term before it comes to it. */
#include "glenside/program/program.h"

/* Of two lets, each one more than its number, the one whose term stands first;
 * 0 is none. */
static uint32_t
first_of(const gs_program *p, uint32_t a, uint32_t b) {
  if (!a || !b)
    return a ? a : b;
  return p->lets.data[a - 1].term.i <= p->lets.data[b - 1].term.i ? a : b;
}

uint32_t *
gs_layers(const gs_program *p, bs_arena *arena) {
  uint32_t *layer = BS_NEWS(arena, uint32_t, p->nodes.len + 1u);
  uint32_t *own = BS_NEWS(arena, uint32_t, p->nodes.len + 1u);
  for (uint32_t k = p->lets.len; k-- > 0;)
    own[p->lets.data[k].term.i] = k + 1;
  for (uint32_t i = p->nodes.len; i-- > 0;) {
    const gs_node *node = &p->nodes.data[i];
    layer[i] = own[i] ? own[i] : layer[i];
    for (uint32_t k = 0; k < node->n_kids; k++)
      layer[node->kids[k].i] = first_of(p, layer[node->kids[k].i], layer[i]);
  }
  return layer;
}
