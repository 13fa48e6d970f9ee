/* SPDX-License-Identifier: MIT */
/* flow.h - graphs inside nodes: If, Loop and Scan, and functions of the model
 * (private to src/onnx).
 *
 * Such a graph is walked in place of its node: a branch or a function once, a
 * body as often as the node says, each time with other inputs.  Its names end
 * with it, and a function does not see those around it. */
#ifndef ONNX_FLOW_H
#define ONNX_FLOW_H

#include "onnx/onnx_import.h"

/* How deep graphs may nest, how deep functions may call others, and how many
 * nodes of both may be walked. */
enum { ON_DEEPEST = 16, ON_MOST_CALLS = 64, ON_MOST_INNER = 1 << 16 };

typedef struct on_body {
  const Onnx__Graph *graph;
  uint32_t depth;    /* 0: the model's */
  uint8_t *needed;   /* nodes that an output needs; NULL: not found yet */
  on_value **stored; /* its initializers, once they were defined */
} on_body;

/* A function that the model defines. */
typedef struct on_function {
  const Onnx__Function *proto;
  on_body body;
} on_function;

/* A call of one. */
typedef struct on_call {
  const on_function *function;
  const Onnx__Node *node; /* that calls it */
  struct on_call *outer;  /* whose function the node is of */
  const char *path;       /* what names of its nodes begin with */
  uint32_t depth;
  /* What is around it. */
  bs_map values;
  int64_t opset;
} on_call;

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
  on_call *call;        /* NULL: it is no function */
  uint32_t errors;      /* that were told before it */
} on_frame;

/* The graph of an attribute, decoded once; NULL: it cannot be read, or is too
 * deep. */
on_body *on_body_of(on_import *, const Onnx__Attribute *, uint32_t depth);
/* Which of its nodes an output of it needs (onnx_graph.c). */
void on_mark_needed(on_import *, on_body *);
/* A graph that the node that is looked at has is walked from here on; `row` is
 * NULL for the body of a function. */
on_frame *on_enter_graph(on_import *, on_body *, const on_row *row,
                         uint32_t errors);
/* After the last node of a graph: walks it again, or gives the results of the
 * node that holds it. */
void on_leave(on_import *);
/* Whether a node more may be walked; leaves the graph if not. */
bool on_may_walk(on_import *);
/* A value of the graph that is walked, under a name of its own; a fault where
 * the name is taken. */
bool on_define_as(on_import *, const char *name, const on_value *from);
/* The value of output k of the graph; NULL after a fault. */
on_value *on_given(on_import *, const on_frame *, size_t k);
/* Result k of the node that is looked at is this value, unless it failed. */
void on_give_as(on_import *, size_t k, const on_value *from);
/* Ends the names of the graph; results that were not given stay poison. */
void on_leave_graph(on_import *);

/* ---- functions of the model (onnx_function.c) ---- */

/* Takes all of them; false with a diagnostic. */
bool on_take_functions(on_import *);
/* The one that the node calls; NULL: none. */
on_function *on_called(const on_import *);
/* Enters it with the inputs of the node. */
void on_call_function(on_import *, on_function *);
/* After its last node: gives the results of the node that calls it. */
void on_return(on_import *, const on_frame *);
/* A node as the call that it belongs to means it: with the attributes that the
 * call gives, without the inputs that it leaves out. */
const Onnx__Node *on_own_node(on_import *, const Onnx__Node *);

#endif
