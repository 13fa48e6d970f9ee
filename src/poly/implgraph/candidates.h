/* SPDX-License-Identifier: MIT */
/* candidates.h - the ways to implement a hint graph, and the choice of one.
 *
 * A result is a whole implementation.  It is made of groups, steps that run
 * one after the other; each group has impl graphs, of which any one does its
 * step.  A tiling key numbers the choices: results in order, within a result
 * the product of its groups' impl graphs, the first group slowest.
 *
 * The axes of a hint graph fall into groups, and a tiling case takes one axis
 * of each group that has any:
 *   x  along which an array is read in another order than it is written
 *   y  other parallel ones
 *   r  reduced over
 *   n  not tiled: they carry a dependence, or not every node can have them
 *
 * Where parallel axes alone leave cores idle, a reduction gives a second
 * result of two groups: blocks of the reduction make partial results (B1 in
 * the names), which the second group adds up. */
#ifndef POLY_AXIS_CANDIDATES_H
#define POLY_AXIS_CANDIDATES_H

#include "poly/implgraph/implgraph.h"

typedef struct gs_target gs_target;

/* The sizes and rates of which the choice is made. */
typedef struct po_graph_machine {
  int64_t cores;
  int64_t buffer_bytes;        /* of one core */
  int64_t align;               /* bytes of a buffer's rows */
  double bytes_per_cycle;      /* to and from memory, all cores */
  double operations_per_cycle; /* of one core */
  double call_cycles;          /* spent on every call, and hidden by nothing */
} po_graph_machine;

po_graph_machine po_machine_of(const gs_target *);
/* Bytes a cycle that so many cores get from memory together: a quarter of them
 * is taken to use up its rate. */
double po_memory_rate(const po_graph_machine *, double cores);

enum { PO_CASE_X, PO_CASE_Y, PO_CASE_R, PO_CASE_N };

typedef struct po_hint {
  po_graph graph;
  uint32_t root;              /* the nest: a child of the program's root */
  BS_VEC(uint32_t) axis_of;   /* of its loops, by node; PO_NO_AXIS: no loop */
  uint8_t group[PO_MAX_AXES]; /* by axis id: PO_CASE_X ... */
  bool two_phases; /* the reduction may be cut among cores: their partial
                      results are added up in a step of their own */
} po_hint;

typedef struct po_tiling_case {
  uint32_t axis[3];  /* of x, y, r; PO_NO_AXIS: the group is empty */
  int64_t inner[3];  /* sizes of their tiles */
  uint32_t block_id; /* 1: cores share the reduction */
} po_tiling_case;

typedef struct po_impl {
  const char *name; /* GRAPH_B0X1Y0R2 */
  po_graph *graph;  /* NULL: the case was refused */
  po_tiling_case tiling;
  bool feasible;
  int64_t buffer_bytes;
  double cost;   /* cycles */
  int64_t cores; /* that have work */
  int score;     /* the highest one with a feasible solution is taken */
} po_impl;

typedef struct po_impl_group {
  BS_VEC(po_impl) impls;
  uint32_t chosen;
} po_impl_group;

typedef struct po_impl_result {
  BS_VEC(po_impl_group) groups;
  bool group_parallel; /* groups run at once: there are no keys */
  bool feasible;
  double cost;
} po_impl_result;

typedef struct po_impl_plan {
  bs_arena *arena;
  const po_hint *hint;
  BS_VEC(po_impl_result) results;
  int64_t chosen;     /* a tiling key; -1: none is feasible */
  const char *why;    /* the last case that was refused; NULL: none was */
  po_hint *phases[2]; /* of the result of two groups; NULL: there is none */
} po_impl_plan;

/* All tiling cases, solved and compared. */
void po_plan_graph(po_impl_plan *, const po_hint *, const po_graph_machine *,
                   bs_arena *);
void po_impl_plan_done(po_impl_plan *);
/* The cases of a graph; `found` may be NULL to count them. */
uint32_t po_tiling_cases(const po_hint *, po_tiling_case *found, uint32_t room);
/* Does a case's transforms to a copy of the hint graph; `inner` says the
 * sizes, and block the size of a block, 0 to give each core one. */
bool po_apply_case(po_graph *, const po_hint *, const po_tiling_case *,
                   const po_graph_machine *, int64_t block);

/* wide.c: a buffer takes in loops around a call as long as less is moved so and
 * all buffers fit into `room` bytes. */
bool po_widen_buffers(po_graph *, const po_graph_machine *, int64_t room);

/* -1 beyond 64 bits. */
int64_t po_count_keys(const po_impl_plan *);
/* What a key stands for: a result, and an impl graph of each of its groups. */
bool po_key_result(const po_impl_plan *, int64_t key, uint32_t *result,
                   int64_t *rest);
uint32_t po_key_impl(const po_impl_result *, int64_t rest, uint32_t group);
int64_t po_key_of_choice(const po_impl_plan *, uint32_t result);

#endif
