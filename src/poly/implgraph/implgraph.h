/* SPDX-License-Identifier: MIT */
/* implgraph.h - what a loop nest does, said in axes: the hint graph as it was
 * lowered, and impl graphs made of it by transforms of axis.h.
 *
 * A node is one statement.  It runs over the axes it has, in the graph's
 * order; those up to and including `loop_axis` are loops, the rest is what one
 * call of its operation computes.  A tensor of a node is an array it reads or
 * writes: its view in memory (a repeat and a stride for every axis), and the
 * buffer that holds what is in use of it.
 *
 *   R5  calls = product of the loops; elements of a call = product of the rest
 *   R6  vectorized axes contain every axis of a call, in order; strides are
 *       those of a dense box of their repeats, 0 for a repeat of 1; the buffer
 *       lives in the innermost loop that is not vectorized
 *   R7  the last repeat of a buffer is padded to whole units of `align`
 * bytes */
#ifndef POLY_AXIS_IMPLGRAPH_H
#define POLY_AXIS_IMPLGRAPH_H

#include "base/json.h"
#include "glenside/type/op.h"
#include "poly/axis/axis.h"

typedef struct po_dim {
  uint32_t axis;
  int64_t repeat, stride; /* elements */
} po_dim;

typedef struct po_tensor {
  const char *name;
  gs_dtype dtype;
  bool output;
  bool local;                /* never in memory */
  BS_VEC(po_dim) view;       /* in memory, outermost first */
  BS_VEC(int64_t) repeat;    /* by axis id: 1 where it does not depend on it */
  BS_VEC(po_dim) vectorized; /* in the buffer */
  int64_t elements, bytes;   /* of the buffer; 0: not vectorized */
  uint32_t level;            /* the loop it lives in; PO_NO_AXIS: none */
} po_tensor;

typedef struct po_graph_node {
  const char *name;
  BS_VEC(bool) has;   /* by axis id */
  uint32_t loop_axis; /* PO_NO_AXIS: no loop, one call */
  int64_t calls, api_elements;
  double operations; /* for one element; 1 by default */
  BS_VEC(po_tensor) tensors;
} po_graph_node;

typedef struct po_graph {
  const char *name;
  bs_arena *arena;
  po_axes axes;
  BS_VEC(po_graph_node) nodes;
} po_graph;

void po_graph_init(po_graph *, bs_arena *, const char *name);
void po_graph_done(po_graph *);
/* Texts are shared: `from` and its arena must live as long. */
void po_graph_copy(po_graph *, const po_graph *from, bs_arena *);

/* A node over these axes, all of it loops; its number. */
uint32_t po_graph_add_node(po_graph *, const char *name, const uint32_t *axes,
                           uint32_t n);
/* A tensor with a repeat and a stride for each axis of the node, in order. */
uint32_t po_graph_add_tensor(po_graph *, uint32_t node, const char *name,
                             gs_dtype, bool output, const int64_t *repeats,
                             const int64_t *strides);
/* How much of it lies along an axis; 1: it is the same for all of it. */
void po_tensor_set_repeat(po_graph *, po_tensor *, uint32_t axis,
                          int64_t repeat);
/* The node's axes in order; their number. */
uint32_t po_graph_node_axes(const po_graph *, uint32_t node,
                            uint32_t axes[PO_MAX_AXES]);

/* The transforms of axis.h, also of nodes and views; refusals are kept in
 * `axes`.  A merge keeps the axes of a view apart where they do not lie one
 * after the other in memory. */
uint32_t po_graph_tile_split(po_graph *, uint32_t axis, int64_t inner);
uint32_t po_graph_block_split(po_graph *, uint32_t axis, int64_t inner);
uint32_t po_graph_merge(po_graph *, const uint32_t *axes, uint32_t n);
bool po_graph_reorder(po_graph *, const uint32_t *axes, uint32_t n);

/* R5; PO_NO_AXIS: no loop. */
bool po_graph_set_loop(po_graph *, uint32_t node, uint32_t axis);
/* R6 and, with align > 0 bytes, R7; after po_graph_set_loop. */
bool po_graph_vectorize(po_graph *, uint32_t node, uint32_t tensor,
                        const uint32_t *axes, uint32_t n, int64_t align);
/* The bytes of all buffers, a tensor that several nodes use in the same way
 * counted once; -1 beyond 64 bits. */
int64_t po_graph_buffer_bytes(const po_graph *);
/* How often a tensor's buffer is filled from or emptied to memory: once for
 * every value of the loops it depends on, and of those around them; blocks have
 * buffers of their own. */
double po_graph_transfers(const po_graph *, uint32_t node, uint32_t tensor);

/* Blocks that a node is cut into; 1: it is not. */
int64_t po_graph_blocks(const po_graph *, uint32_t node);

/* implgraph_print.c */
void po_graph_print(const po_graph *, bs_text *);
void po_graph_json(const po_graph *, bs_json *, const char *key);

#endif
