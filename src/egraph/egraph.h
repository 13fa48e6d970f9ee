/* SPDX-License-Identifier: MIT */
/* egraph.h - a generic e-graph: e-nodes {op, attribute, children}, e-classes,
 * congruence by deferred rebuilding (Willsey et al., POPL 2021).
 *
 * It knows no tensor: an operator is a small integer, an attribute an interned
 * value; their meaning, and the analysis data of a class, belong to the client.
 *
 * Ids are 32 bits in one-member structs.  A node id stays valid as long as its
 * node is live and no run goes on, and for ever in a graph with origins or
 * explanations, else it may be given to another; a class id stays valid for
 * ever and is made canonical by `eg_find`.
 *
 * Invariants (asserted by eg_check after every rebuild in a debug build):
 *  I1  find is idempotent; the canonical id of a class is its leader.
 *  I2  after a rebuild every live node's children are canonical.
 *  I3  after a rebuild no two live nodes are equal (op, attribute, children).
 *  I4  the hashcons finds every live node, and finds it alone.
 *  I5  each live node is in the list of exactly one canonical class.
 *  I6  a class's parent list covers every live node with it as a child.
 *  I7  analysis data of a class is the join over its nodes (client's check).
 *  I8  the per-operator index lists exactly the live nodes of that operator. */
#ifndef EGRAPH_EGRAPH_H
#define EGRAPH_EGRAPH_H

#include "base/heap.h"
#include "base/text.h"
#include "base/value.h"

typedef struct eg_class {
  uint32_t i;
} eg_class;

typedef struct eg_node {
  uint32_t i;
} eg_node;

#define EG_NO_CLASS ((eg_class){UINT32_MAX})
#define EG_NO_NODE  ((eg_node){UINT32_MAX})

typedef struct eg_graph eg_graph;

typedef enum eg_fault_kind {
  EG_FINE,
  EG_FAULT_NODE,  /* the analysis refused a node (make) */
  EG_FAULT_MERGE, /* the analysis refused a merge */
  EG_FAULT_IDS    /* out of 32-bit ids */
} eg_fault_kind;

/* A semilattice per class (egg's Analysis).  data: `size` bytes a class, moved
 * freely with memcpy.  Any callback may be NULL. */
typedef struct eg_analysis {
  void *ctx;
  uint32_t size;
  /* Data of a new node from its children's data; false refuses the node: it is
   * not added and the caller gets EG_NO_CLASS. */
  bool (*make)(void *ctx, eg_graph *, uint32_t op, bs_value attr,
               const eg_class *kids, uint32_t n_kids, void *data);
  /* into := into join from.  Returns bit 0 when into changed, bit 1 when the
   * result differs from `from`, and EG_MERGE_CONFLICT when they cannot be
   * equal: the graph then stops with EG_FAULT_MERGE. */
  uint32_t (*merge)(void *ctx, eg_graph *, void *into, const void *from);
  /* Called when a class's data was made or changed; may add and union. */
  void (*modify)(void *ctx, eg_graph *, eg_class);
  /* Data that is zero throughout says nothing: joining it changes nothing, and
   * `modify` does nothing; so neither need be called for it. */
  bool zero_is_nothing;
} eg_analysis;

#define EG_MERGE_CONFLICT 4u

/* Why two classes were united. */
typedef struct eg_reason {
  uint32_t rule;  /* the client's rule number; EG_BY_* for none */
  uint32_t match; /* the match of the rule, for explanations */
} eg_reason;

#define EG_BY_CLIENT     UINT32_MAX
#define EG_BY_CONGRUENCE (UINT32_MAX - 1)

typedef struct eg_options {
  eg_analysis analysis;
  bool origins;    /* keep, for each node, the rule and node it came from */
  bool explain;    /* keep what explanations need (egraph_explain.h) */
  bool wide_index; /* as if the graph had many ids: for tests */
  uint32_t ids; /* at most so many node ids; 0: 2^30 - 16, what 32 bits give */
} eg_options;

eg_graph *eg_new(bs_heap *, bs_values *, const eg_options *);
void eg_free(eg_graph *);

/* Adds or finds a node; children may be stale.  EG_NO_CLASS when the analysis
 * refused it or ids ran out (see eg_fault). */
eg_class eg_add(eg_graph *, uint32_t op, bs_value attr, const eg_class *kids,
                uint32_t n_kids);
/* The class of a node if it is there, else EG_NO_CLASS; adds nothing. */
eg_class eg_lookup(const eg_graph *, uint32_t op, bs_value attr,
                   const eg_class *kids, uint32_t n_kids);
eg_class eg_find(const eg_graph *, eg_class);
/* True when two classes became one.  Congruence is restored by eg_rebuild. */
bool eg_union(eg_graph *, eg_class, eg_class, eg_reason);
/* Restores I1-I8; returns the number of unions it made. */
uint32_t eg_rebuild(eg_graph *);
bool eg_is_clean(const eg_graph *); /* no union since the last rebuild */

uint32_t eg_count_nodes(const eg_graph *);   /* distinct canonical, I3 */
uint32_t eg_count_classes(const eg_graph *); /* canonical */
size_t eg_bytes(const eg_graph *);

/* Iteration, after a rebuild.  Classes: every canonical class in id order. */
eg_class eg_first_class(const eg_graph *);
eg_class eg_next_class(const eg_graph *, eg_class); /* EG_NO_CLASS at the end */
/* One more than the largest id of a canonical class. */
uint32_t eg_class_ids(const eg_graph *);
/* The nodes of a class, in id order; *n of them, contiguous.  Before a rebuild,
 * and while rules are applied, as of the last index. */
const eg_node *eg_class_nodes(const eg_graph *, eg_class, uint32_t *n);
uint32_t eg_op(const eg_graph *, eg_node);
bs_value eg_attr(const eg_graph *, eg_node);
const eg_class *eg_kids(const eg_graph *, eg_node, uint32_t *n);
eg_class eg_class_of(const eg_graph *, eg_node);
/* The analysis data of a class (canonical or not). */
static inline void *eg_data(const eg_graph *, eg_class);
/* Marks a class's data changed, so that parents are made again. */
void eg_touch(eg_graph *, eg_class);

/* The fault that stopped the graph, and the place. */
eg_fault_kind eg_fault(const eg_graph *);
void eg_fault_merge(const eg_graph *, eg_class *a, eg_class *b,
                    eg_reason *reason);

/* Origin of a node: the rule whose application made it and the node its match
 * was rooted at; rule EG_BY_CLIENT when it was added by the client. */
typedef struct eg_origin {
  uint32_t rule;
  eg_node root;
} eg_origin;
eg_origin eg_origin_of(const eg_graph *, eg_node);

/* What a graph begins with, for eg_data alone: the union-find, where a leader
 * has EG_LEADS and the place of its data, and the data, `size` bytes each. */
typedef struct __attribute__((may_alias)) eg_graph_prefix {
  uint32_t *up;
  char *data;
  uint32_t size;
} eg_graph_prefix;

#define EG_LEADS 0x80000000u

void *eg_data_of_leader(const eg_graph *, eg_class); /* of any class */

static inline void *
eg_data(const eg_graph *g, eg_class c) {
  const eg_graph_prefix *k = (const eg_graph_prefix *)(const void *)g;
  uint32_t up = k->up[c.i];
  return up & EG_LEADS ? k->data + (size_t)(up & ~EG_LEADS) * k->size
                       : eg_data_of_leader(g, c);
}

/* Asserts I1-I8; returns NULL, or a static text naming the broken one. */
const char *eg_check(const eg_graph *);

#endif
