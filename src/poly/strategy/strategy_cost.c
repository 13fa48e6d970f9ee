/* SPDX-License-Identifier: MIT */
/* strategy_cost.c - cycles of a scheduled program, predicted.
 *
 * A statement's arrays are looked at over its loops (hint.h).  The outermost
 * loop below which all that is touched fits a core's second cache is where
 * data stays; everything is fetched once for each iteration of the loops
 * around that which move it.  The price of a statement is the larger of that
 * traffic at the memory's rate and its operations at the rate of a core,
 * divided among the cores where some loop around it is parallel; operations
 * are slower where no loop runs along contiguous elements, and every entry of
 * an innermost loop costs some.  Sums of products cost what their plan says.
 *
 * It ranks schedules of one program; it is no time. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/implgraph/hint.h"
#include "poly/kernel/contraction.h"
#include "poly/schedule/change.h"
#include "poly/strategy/strategy.h"
#include <assert.h>
#include <math.h>

typedef struct pricing {
  po_program *p;
  const po_hint *hint;
  const gs_target *target;
  po_graph_machine machine;
  double buffer; /* bytes that stay near a core */
} pricing;

/* ---- one statement ---- */

typedef struct stmt_loops {
  const po_graph_node *node;
  uint32_t axis[PO_MAX_AXES], n;
} stmt_loops;

static double
size_at(const pricing *c, const stmt_loops *s, uint32_t at) {
  assert(at < s->n);
  return (double)po_axis_at(&c->hint->graph.axes, s->axis[at])->value;
}

static double
repeat_at(const po_tensor *t, const stmt_loops *s, uint32_t at) {
  assert(at < s->n);
  uint32_t id = s->axis[at];
  return id < t->repeat.len ? (double)t->repeat.data[id] : 1;
}

/* Bytes of a tensor that the loops from `at` on touch. */
static double
touched(const po_tensor *t, const stmt_loops *s, uint32_t at) {
  assert(at <= s->n);
  double bytes = gs_dtype_table[t->dtype].bytes;
  for (uint32_t k = at; k < s->n; k++)
    bytes *= repeat_at(t, s, k);
  return bytes;
}

/* The first of the loops that all that is below it stays near. */
static uint32_t
stays_at(const pricing *c, const stmt_loops *s) {
  for (uint32_t at = 0; at < s->n; at++) {
    double sum = 0;
    for (uint32_t k = 0; k < s->node->tensors.len; k++)
      sum += touched(&s->node->tensors.data[k], s, at);
    if (sum <= c->buffer)
      return at;
  }
  return s->n;
}

static double
traffic_of(const pricing *c, const stmt_loops *s) {
  uint32_t at = stays_at(c, s);
  double sum = 0;
  for (uint32_t k = 0; k < s->node->tensors.len; k++) {
    const po_tensor *t = &s->node->tensors.data[k];
    double all = 1, fetches = 1;
    if (t->local)
      continue;
    for (uint32_t i = 0; i < at; i++) {
      all *= size_at(c, s, i);
      if (repeat_at(t, s, i) > 1)
        fetches = all;
    }
    sum += fetches * touched(t, s, at);
  }
  return sum;
}

/* Whether every tensor either stays or moves by one element along a loop. */
static bool
is_contiguous(const stmt_loops *s, uint32_t at) {
  assert(at < s->n);
  for (uint32_t k = 0; k < s->node->tensors.len; k++) {
    const po_tensor *t = &s->node->tensors.data[k];
    for (uint32_t d = 0; d < t->view.len; d++)
      if (t->view.data[d].axis == s->axis[at] && t->view.data[d].repeat > 1 &&
          t->view.data[d].stride != 1)
        return false;
  }
  return true;
}

/* The loops of the nest that an axis stands for are marked so. */
static bool
is_marked(const pricing *c, uint32_t axis, po_mark mark) {
  const po_program *p = c->p;
  uint32_t root = c->hint->root;
  for (uint32_t k = root; k != PO_NO_NODE; k = po_nest_next(p, k, root))
    if (po_node(p, k)->kind == PO_LOOP && po_node(p, k)->mark == mark &&
        c->hint->axis_of.data[k] == axis)
      return true;
  return false;
}

static double
cores_of(const pricing *c, const stmt_loops *s) {
  double cores = (double)gs_cores(c->target);
  for (uint32_t k = 0; k < s->n; k++)
    if (is_marked(c, s->axis[k], PO_PARALLEL))
      return fmin(cores, size_at(c, s, k));
  return 1;
}

/* The innermost loop that is not written out. */
static uint32_t
last_loop(const pricing *c, const stmt_loops *s) {
  uint32_t at = s->n;
  while (at > 0 && is_marked(c, s->axis[at - 1], PO_UNROLL))
    at--;
  return at ? at - 1 : 0;
}

static double
work_of(const pricing *c, const stmt_loops *s) {
  double instances = 1, entries = 1;
  if (!s->n)
    return s->node->operations;
  uint32_t last = last_loop(c, s);
  for (uint32_t k = 0; k < s->n; k++) {
    instances *= size_at(c, s, k);
    if (k < last)
      entries *= size_at(c, s, k);
  }
  bool vector =
      is_contiguous(s, last) || is_marked(c, s->axis[last], PO_VECTORIZE);
  double rate = gs_operations_a_cycle(
      c->target, vector ? GS_RATE_FUSED : GS_RATE_SCALAR, GS_F32);
  double lanes = vector ? (double)c->target->vector_bytes / 4 : 1;
  double work =
      instances * fmax(s->node->operations, 1) / fmax(rate, GS_LEAST_RATE);
  return work + entries * GS_LOOP_ENTRY +
         instances / fmax(lanes, 1) * GS_LOOP_ITERATION;
}

static double
price_of_hint(const pricing *c) {
  const po_graph *g = &c->hint->graph;
  double sum = 0;
  for (uint32_t k = 0; k < g->nodes.len; k++) {
    stmt_loops s = {.node = &g->nodes.data[k]};
    s.n = po_graph_node_axes(g, k, s.axis);
    double cores = cores_of(c, &s);
    assert(cores >= 1);
    double rate = fmax(po_memory_rate(&c->machine, cores), GS_LEAST_RATE);
    sum += fmax(traffic_of(c, &s) / rate, work_of(c, &s) / cores);
  }
  return sum;
}

/* ---- the program ---- */

static uint32_t
root_above(const po_program *p, uint32_t node) {
  while (node && node != PO_NO_NODE && po_node(p, node)->parent != 0)
    node = po_node(p, node)->parent;
  return node;
}

static const po_contraction *
contraction_of(const po_program *p, uint32_t root) {
  for (uint32_t k = 0; k < p->contractions.len; k++) {
    const po_contraction *c = p->contractions.data[k];
    if (root_above(p, p->stmts.data[c->update].leaf) == root)
      return c;
  }
  return NULL;
}

/* A statement of the nest is of one of these terms. */
static bool
is_of(const po_program *p, uint32_t root, const gs_term *terms, uint32_t n) {
  for (uint32_t k = 0; k < p->stmts.len; k++)
    for (uint32_t j = 0; j < n; j++)
      if (p->stmts.data[k].term.i == terms[j].i &&
          root_above(p, p->stmts.data[k].leaf) == root)
        return true;
  return false;
}

double
po_predict_others(po_program *p, const gs_term *terms, uint32_t n) {
  po_hints hints;
  pricing c = {.p = p,
               .target = p->target ? p->target : gs_target_default(&p->ctx)};
  double sum = 0;
  c.machine = po_machine_of(c.target);
  c.buffer = (double)gs_core_bytes(c.target);
  po_lay_out(p);
  po_make_hints(p, &hints);
  for (uint32_t k = 0; k < hints.list.len; k++) {
    uint32_t root = hints.list.data[k]->root;
    const po_contraction *contraction = contraction_of(p, root);
    if (is_of(p, root, terms, n))
      continue;
    c.hint = hints.list.data[k];
    sum += contraction ? contraction->cycles / (double)gs_cores(c.target)
                       : price_of_hint(&c);
  }
  po_hints_done(p, &hints);
  assert(sum >= 0); /* and a number */
  return sum;
}

double
po_predict_cycles(po_program *p) {
  return po_predict_others(p, NULL, 0);
}
