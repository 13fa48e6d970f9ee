/* SPDX-License-Identifier: MIT */
/* flow.h - graphs inside nodes: If, Loop and Scan (private to src/onnx).
 *
 * Such a graph is walked in place of its node: a branch once, a body as often
 * as the node says, each time with other inputs.  Its names end with it. */
#ifndef ONNX_FLOW_H
#define ONNX_FLOW_H

#include "onnx/onnx_import.h"

/* How deep graphs may nest, and how many nodes of them may be walked. */
enum { ON_DEEPEST = 16, ON_MOST_INNER = 1 << 16 };

typedef struct on_body {
  const Onnx__Graph *graph;
  uint32_t depth;    /* 0: the model's */
  uint8_t *needed;   /* nodes that an output needs; NULL: not found yet */
  on_value **stored; /* its initializers, once they were defined */
} on_body;

struct on_loop;

/* A graph that is walked. */
typedef struct on_frame {
  struct on_frame *outer;
  on_body *body;
  size_t at;              /* the node that is next */
  const Onnx__Node *node; /* that holds the graph; NULL: the model's */
  const on_row *row;
  uint32_t first;       /* of the values that end with the graph */
  struct on_loop *loop; /* NULL: it is walked once */
  uint32_t errors;      /* that were told before it */
} on_frame;

/* The graph of an attribute, decoded once; NULL: it cannot be read, or is too
 * deep. */
on_body *on_body_of(on_import *, const Onnx__Attribute *, uint32_t depth);
/* Which of its nodes an output of it needs (onnx_graph.c). */
void on_mark_needed(on_import *, on_body *);
/* After the last node of a graph: walks it again, or gives the results of the
 * node that holds it. */
void on_leave(on_import *);
/* Whether a node more may be walked; leaves the graph if not. */
bool on_may_walk(on_import *);

#endif
