/* SPDX-License-Identifier: MIT */
/* mend.h - keys of nodes made again after unions; private.
 *
 * Classes that lost a union are taken some at a time: their edges go over to
 * the winners, and the nodes on these leave the table under their old keys and
 * enter it under their new ones.  Those that turn out equal are twins, whose
 * classes are united when all these nodes have been seen.  So order matters
 * among nodes with one key only. */
#ifndef EGRAPH_MEND_H
#define EGRAPH_MEND_H

#include "egraph/hashcons.h"
#include "egraph/runner.h"

/* Mends what is above strands[0 .. n) of lost[0 .. n); there is room for the
 * edges and as many twins.  Returns how many classes were united. */
uint32_t eg_mend(eg_graph *, const eg_lost *lost, uint32_t n);
/* What is left of twins where memory ran out among them. */
uint32_t eg_unite_twins(eg_graph *);

enum { EG_MEND_LEAST = 1 << 8, EG_MEND_MOST = 1 << 12 };

/* How many edges are taken at a time: few beside what the graph has. */
static inline uint32_t
eg_mend_room(const eg_graph *g) {
  uint32_t n = g->live_nodes / 64;
  return n < EG_MEND_LEAST  ? EG_MEND_LEAST
         : n < EG_MEND_MOST ? n
                            : EG_MEND_MOST;
}

static inline uint32_t
eg_edge_node(const eg_graph *g, uint32_t edge) {
  return edge & EG_POOL_EDGE ? g->pool_owner[edge & ~EG_POOL_EDGE] : edge / 2;
}

/* The children that a plain node shall have instead of `was`; false when these
 * are they.  A node whose first child is lost, too, is that edge's. */
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
