/* SPDX-License-Identifier: MIT */
/* random_problem.h - small random e-graphs and their optimum by enumeration.
 *
 * Four families: `tangled` (any node may use any class, or mostly earlier
 * ones), `cover` (a root whose elements are covered by shared sets), `graph`
 * (vertex cover, whose bounds have gaps) and `sums` (all ways of adding up a
 * few leaves).  Costs are small integers,
 * hundredths or arbitrary; some are zero, some forbid a node. */
#ifndef TESTS_EXTRACT_RANDOM_PROBLEM_H
#define TESTS_EXTRACT_RANDOM_PROBLEM_H

#include "extract/problem.h"
#include <math.h>
#include <string.h>

enum { MAX_CLASSES = 64, MAX_NODES = 256, MAX_KIDS = 1024, MAX_ROOTS = 4 };

/* A problem as arrays, so that a failing one can be shrunk. */
typedef struct sketch {
  uint32_t n_classes, n_nodes, n_roots;
  uint32_t class_of[MAX_NODES], kid_first[MAX_NODES + 1], kids[MAX_KIDS];
  uint32_t roots[MAX_ROOTS];
  double cost[MAX_NODES];
} sketch;

static uint64_t random_state;

static inline uint32_t
random_below(uint32_t n) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)((random_state >> 11) % n);
}

static inline void
random_seed(uint64_t seed) {
  random_state = 0x9e3779b97f4a7c15u * (seed + 1) + 12345;
  for (int i = 0; i < 8; i++)
    random_below(2);
}

static inline void
sketch_node(sketch *s, uint32_t class, double cost) {
  s->class_of[s->n_nodes] = class;
  s->cost[s->n_nodes++] = cost;
  s->kid_first[s->n_nodes] = s->kid_first[s->n_nodes - 1];
}

static inline void
sketch_kid(sketch *s, uint32_t class) {
  s->kids[s->kid_first[s->n_nodes]++] = class;
}

static inline double
random_cost(uint32_t kind, bool zeros) {
  if (zeros && random_below(2))
    return 0;
  if (random_below(60) == 0)
    return INFINITY;
  if (kind == 0)
    return random_below(6);
  return kind == 1 ? random_below(1000) / 100.0
                   : random_below(1000000) / 7919.0;
}

static inline void
sketch_tangled(sketch *s, uint32_t largest) {
  uint32_t cyclic = random_below(3), costs = random_below(3);
  bool zeros = random_below(3) == 0;
  s->n_classes = 1 + random_below(largest);
  for (uint32_t c = 0; c < s->n_classes; c++) {
    uint32_t nodes = 1 + random_below(random_below(3) ? 4 : 2);
    while (nodes--) {
      sketch_node(s, c, random_cost(costs, zeros));
      uint32_t kids = random_below(4) ? 1 + random_below(3) : 0;
      for (; c && kids; kids--)
        sketch_kid(s, cyclic && random_below(4) == 0
                          ? random_below(s->n_classes)
                          : random_below(c));
    }
  }
}

static inline void
sketch_cover(sketch *s, uint32_t largest) {
  uint32_t sets = 3 + random_below(largest), elements = 2 + random_below(6);
  uint32_t joins = random_below(4), loops = random_below(3);
  uint32_t first = sets + joins, root = first + elements;
  bool whole = random_below(2);
  s->n_classes = root + 1;
  for (uint32_t c = 0; c < sets; c++) {
    sketch_node(s, c, whole ? 1 + random_below(3) : random_below(999) / 999.0);
    if (c == 0 || random_below(4))
      continue;
    sketch_node(s, c, random_below(4));
    sketch_kid(s, loops ? random_below(root) : random_below(c));
  }
  for (uint32_t c = sets; c < first; c++) {
    sketch_node(s, c, random_below(3) ? 0 : random_below(9) / 4.0);
    sketch_kid(s, random_below(sets));
    sketch_kid(s, random_below(sets));
  }
  for (uint32_t c = first; c < root; c++)
    for (uint32_t n = 2 + random_below(2); n; n--) {
      sketch_node(s, c, random_below(3) ? 0 : random_below(9) / 4.0);
      for (uint32_t k = 1 + random_below(2); k; k--)
        sketch_kid(s, loops == 2 && random_below(6) == 0 ? random_below(root)
                                                         : random_below(first));
    }
  sketch_node(s, root, 1);
  for (uint32_t c = first; c < root; c++)
    sketch_kid(s, c);
}

/* Vertices cost about one, each edge takes one of its ends; with `loops` some
 * vertices are also had from an edge. */
static inline void
sketch_graph(sketch *s) {
  uint32_t vertices = 5 + random_below(4), edges = 6 + random_below(7);
  uint32_t root = vertices + edges;
  bool loops = random_below(3) == 0, whole = random_below(2);
  s->n_classes = root + 1;
  for (uint32_t c = 0; c < vertices; c++) {
    sketch_node(s, c, whole ? 1 : 1 + random_below(100) / 150.0);
    if (loops && random_below(3) == 0) {
      sketch_node(s, c, random_below(2));
      sketch_kid(s, vertices + random_below(edges));
    }
  }
  for (uint32_t c = vertices; c < root; c++) {
    uint32_t one = random_below(vertices);
    sketch_node(s, c, 0);
    sketch_kid(s, one);
    sketch_node(s, c, 0);
    sketch_kid(s, (one + 1 + random_below(vertices - 1)) % vertices);
  }
  sketch_node(s, root, 0);
  for (uint32_t c = vertices; c < root; c++)
    sketch_kid(s, c);
}

/* Class m - 1 is the sum of the leaves in the set of bits m. */
static inline void
sketch_sums(sketch *s) {
  uint32_t n = 2 + random_below(3), all = (1u << n) - 1;
  s->n_classes = all;
  for (uint32_t m = 1; m <= all; m++)
    for (uint32_t a = m; a; a = (a - 1) & m)
      if (a == m && (m & (m - 1)) == 0) {
        sketch_node(s, m - 1, 1 + random_below(2));
      } else if (a != m && random_below(8)) {
        sketch_node(s, m - 1, 1);
        sketch_kid(s, a - 1);
        sketch_kid(s, (m & ~a) - 1);
      }
}

static inline void
sketch_random(sketch *s, uint32_t largest) {
  memset(s, 0, sizeof *s);
  uint32_t family = random_below(8);
  if (family == 0)
    sketch_sums(s);
  else if (family < 3)
    sketch_graph(s);
  else if (family < 5)
    sketch_cover(s, largest);
  else
    sketch_tangled(s, largest + 4);
  s->n_roots = 1 + (random_below(3) ? 0 : random_below(MAX_ROOTS));
  for (uint32_t r = 0; r < s->n_roots; r++)
    s->roots[r] = r ? random_below(s->n_classes) : s->n_classes - 1;
}

static inline void
sketch_problem(const sketch *s, bs_heap *heap, ex_problem *out) {
  ex_draft d = {.n_classes = s->n_classes,
                .n_nodes = s->n_nodes,
                .n_roots = s->n_roots,
                .class_of = s->class_of,
                .cost = s->cost,
                .kid_first = s->kid_first,
                .kids = s->kids,
                .roots = s->roots};
  ex_problem_build(heap, &d, NULL, out);
}

typedef struct enumeration {
  const ex_problem *p;
  uint32_t choice[MAX_CLASSES];
  uint32_t use;  /* only choices that need this class count; EX_NONE: all */
  bool negative; /* costs below zero: a choice may still become cheaper */
  double best;
} enumeration;

/* What the choice needs so far: its cost, and a class without a choice. */
static inline double
needed(const enumeration *e, uint32_t *open, bool *uses) {
  const ex_problem *p = e->p;
  uint32_t stack[MAX_CLASSES], depth = 0;
  uint64_t seen = 0;
  double cost = 0;
  *open = EX_NONE;
  for (uint32_t r = 0; r < p->n_roots; r++)
    if (!(seen >> p->roots[r] & 1)) {
      seen |= (uint64_t)1 << p->roots[r];
      stack[depth++] = p->roots[r];
    }
  while (depth) {
    uint32_t c = stack[--depth], n = e->choice[c];
    if (n == EX_NONE) {
      *open = c;
      continue;
    }
    cost += p->cost[n];
    for (uint32_t k = p->kid_first[n]; k < p->kid_first[n + 1]; k++)
      if (!(seen >> p->kids[k] & 1)) {
        seen |= (uint64_t)1 << p->kids[k];
        stack[depth++] = p->kids[k];
      }
  }
  *uses = e->use == EX_NONE || (seen >> e->use & 1);
  return cost;
}

static inline void
enumerate(enumeration *e) {
  uint32_t open;
  bool uses;
  double tree, dag, cost = needed(e, &open, &uses);
  if (cost >= e->best && !e->negative)
    return;
  if (open == EX_NONE) {
    if (uses && ex_price(e->p, e->choice, &tree, &dag) && dag < e->best)
      e->best = dag;
    return;
  }
  for (uint32_t n = e->p->class_first[open]; n < e->p->class_first[open + 1];
       n++) {
    if (isinf(e->p->cost[n]))
      continue;
    e->choice[open] = n;
    enumerate(e);
  }
  e->choice[open] = EX_NONE;
}

/* The least DAG cost of a choice that needs class `use`; +inf: none. */
static inline double
optimum_using(const ex_problem *p, uint32_t use) {
  enumeration e = {.p = p, .use = use, .best = INFINITY};
  memset(e.choice, 0xff, sizeof e.choice);
  for (uint32_t n = 0; n < p->n_nodes; n++)
    e.negative |= p->cost[n] < 0;
  enumerate(&e);
  return e.best;
}

static inline double
optimum(const ex_problem *p) {
  return optimum_using(p, EX_NONE);
}

#endif
