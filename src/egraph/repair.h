/* SPDX-License-Identifier: MIT */
/* repair.h - congruence repair: nodes re-hashed after unions; private.
 *
 * Merged classes are taken a chunk at a time: their parents go over to the
 * canonical classes, and the nodes on these leave the hashcons under their old
 * keys and enter it under their new ones.  A node whose new key is there
 * already is congruent to the one that has it; the classes of such pairs are
 * united when all nodes of the chunk have been seen.  So the order of nodes
 * matters only among those with one key. */
#ifndef EGRAPH_REPAIR_H
#define EGRAPH_REPAIR_H

#include "egraph/hashcons.h"
#include "egraph/runner.h"

/* Repairs congruence above merged[0 .. n), whose parents are in chunks[0 .. n);
 * there is room for the edges and for as many congruent pairs.  Returns how
 * many classes were united. */
uint32_t eg_repair(eg_graph *, const eg_merged *merged, uint32_t n);
/* Unites what is left of the congruent pairs where memory ran out among them.
 */
uint32_t eg_unite_congruent(eg_graph *);

enum { EG_REPAIR_LEAST = 1 << 8, EG_REPAIR_MOST = 1 << 12 };

/* How many edges are taken at a time: few beside what the graph has. */
static inline uint32_t
eg_repair_chunk(const eg_graph *g) {
  uint32_t n = g->live_nodes / 64;
  return n < EG_REPAIR_LEAST  ? EG_REPAIR_LEAST
         : n < EG_REPAIR_MOST ? n
                              : EG_REPAIR_MOST;
}

static inline uint32_t
eg_edge_node(const eg_graph *g, uint32_t edge) {
  return edge & EG_POOL_EDGE ? g->pool_owner[edge & ~EG_POOL_EDGE] : edge / 2;
}

/* The children that a plain node shall have instead of `was`; false when these
 * are they.  A node whose first child was merged, too, is re-hashed by that
 * edge. */
static inline bool
eg_new_kids(const eg_graph *g, uint32_t edge, const eg_class was[2],
            eg_class kids[2]) {
  uint32_t a = was[0].i, b = was[1].i;
  kids[0].i = a == EG_NONE ? a : eg_root(g, a);
  kids[1].i = b == EG_NONE ? b : eg_root(g, b);
  return kids[0].i == a ? kids[1].i != b : !(edge & 1);
}

/* The row changed. */
static inline void
eg_stamp_now(eg_graph *g, uint32_t node) {
  eg_stamp *s = &g->stamps[node];
  if (*s != EG_PRUNED)
    *s = g->pins ? (eg_stamp)(*s | EG_MOVED) : (eg_stamp)g->epoch;
}

#endif
