/* SPDX-License-Identifier: MIT */
/* internal.h - what the extractors share. */
#ifndef EXTRACT_INTERNAL_H
#define EXTRACT_INTERNAL_H

#include "extract/problem.h"
#include <math.h>

typedef BS_VEC(uint32_t) ex_list;

static inline uint32_t
ex_n_kids(const ex_problem *p, uint32_t node) {
  return p->kid_first[node + 1] - p->kid_first[node];
}

#define EX_NEW(heap, T, n)  ((T *)bs_alloc((heap), (size_t)(n) * sizeof(T)))
#define EX_ZERO(heap, T, n) ((T *)bs_calloc((heap), (n), sizeof(T)))

/* Lists of one kind per item of another, in CSR form. */
typedef struct ex_lists {
  uint32_t *first, *item;
} ex_lists;
void ex_lists_done(bs_heap *, ex_lists *);
/* For each class, the nodes that have it as a child, one entry an occurrence,
 * in order of the nodes. */
ex_lists ex_parents(const ex_problem *);
/* The class of each node. */
uint32_t *ex_class_of(const ex_problem *);

/* A stopwatch over ex_options: true once the limit has passed or the caller
 * interrupts. */
typedef struct ex_watch {
  const ex_options *options;
  struct bs_governor *governor; /* of the problem's heap, or NULL */
  double start;
  bool over;
} ex_watch;
void ex_watch_start(ex_watch *, bs_heap *, const ex_options *);
bool ex_watch_over(ex_watch *);
/* Until it is over; INFINITY: nothing limits it. */
double ex_watch_left(const ex_watch *);

/* Strongly connected components of the graph class -> children of its nodes;
 * component ids are given children first.  `component` has n_classes items;
 * returns their number. */
uint32_t ex_components(const ex_problem *, uint32_t *component);

/* extract_tree.c: the cheapest tree of every class (+inf: none) and its node
 * (EX_NONE when there is none), for the given node costs; `cost` NULL: the
 * problem's. The choice is acyclic. */
void ex_tree(const ex_problem *, const double *cost, double *best,
             uint32_t *choice);
/* The cost of a tree in which of a node's children only the dearest counts in
 * full and the others with `weight`, 0 to 1. */
void ex_weighted_tree(const ex_problem *, const double *cost, double weight,
                      double *best, uint32_t *choice);
/* Clears the choice of classes that the roots do not need; false when a root
 * has none. */
bool ex_restrict(const ex_problem *, uint32_t *choice);

/* Each method fills choice, bound, optimal, feasible, steps; the caller
 * prices. */
bool ex_solve_tree(const ex_problem *, ex_watch *, ex_solution *);
bool ex_solve_dag(const ex_problem *, ex_watch *, ex_solution *);
bool ex_solve_exact(const ex_problem *, ex_watch *, ex_solution *);
/* Is CBC there?  Loads it when it is first asked. */
bool ex_ilp_is_there(void);
bool ex_solve_ilp(const ex_problem *, ex_watch *, ex_solution *);

/* The exponent of the power of two that finite costs must be divided by so that
 * each is below 2^most. */
int ex_excess(const ex_problem *, int most);

#endif
