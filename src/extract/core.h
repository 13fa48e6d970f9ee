/* SPDX-License-Identifier: MIT */
/* core.h - a problem that shrinks: the graph the exact extractor works on.
 *
 * Reductions remove nodes and classes that some optimal solution does not
 * need and merge those whose choice is tied together.  Each node remembers
 * which nodes of the original problem it stands for.
 *
 * Invariants, between two reductions:
 *  C1  the children of a live node are sorted, distinct, live, and not its own
 *      class;
 *  C2  every live class has a live node and a term;
 *  C3  a forced class is in every solution; its cheapest node costs 0, what
 *      it cost at least is in `base`;
 *  C4  a child that is forced stands in the same component as the class that
 *      uses it (other such edges say nothing and are gone);
 *  C5  the optimum of the original problem = base + the optimum of the core,
 *      where the solution needs every forced class. */
#ifndef EXTRACT_CORE_H
#define EXTRACT_CORE_H

#include "base/arena.h"
#include "extract/extract_search.h"

/* Nodes of the original problem: a leaf holds one, a pair joins two. */
typedef struct ex_trace {
  uint32_t node; /* EX_NONE: a pair */
  uint32_t left, right;
} ex_trace;

typedef BS_VEC(ex_trace) ex_traces;

typedef struct core_node {
  double cost;
  uint32_t class, n_kids, trace;
  bool live;
  uint32_t *kids;
  uint64_t signature; /* bit kid % 64 of each child */
} core_node;

typedef struct core_class {
  ex_list nodes; /* its live nodes, and perhaps dead ones */
  ex_list users; /* covers the live nodes with it as a child */
  uint32_t n_live;
  bool live, forced;
  bool ragged; /* the lists have dead, double or unordered entries */
  uint32_t component;
} core_class;

typedef struct ex_core {
  bs_heap *heap;
  bs_arena arena;    /* children */
  ex_traces *traces; /* shared by the cores of one search */
  BS_VEC(core_node) nodes;
  core_class *classes;
  uint32_t n_classes, live_classes, live_nodes;
  double base;
  double cutoff; /* solutions that cost this much are not wanted */
  double step;   /* what a better solution saves at least */
  ex_list fixed; /* traces of nodes that every solution needing them takes */
  bool infeasible;
} ex_core;

/* From a problem with its tree choice (nodes without a term are left out). */
void core_from_problem(ex_core *, const ex_problem *, ex_traces *,
                       const uint32_t *tree);
/* The live part, renumbered in order; a copy of a copy has its numbers. */
void core_copy(ex_core *, const ex_core *from);
void core_done(ex_core *);
/* The node is not added, or killed, when it would use its own class. */
void core_add_node(ex_core *, uint32_t class, double cost, const uint32_t *kids,
                   uint32_t n_kids, uint32_t trace);
void core_set_kids(ex_core *, uint32_t node, const uint32_t *kids,
                   uint32_t n_kids);
void core_kill_node(ex_core *, uint32_t node);
/* The least cost of a live node of the class; infinite where there is none. */
double core_cheapest(const ex_core *, uint32_t class);
/* Sorts and drops doubles; returns how many are left. */
uint32_t core_sort(uint32_t *kids, uint32_t n);
/* Drops dead and double entries of the two lists of a class. */
void core_tidy(ex_core *, uint32_t class);
uint32_t core_join(ex_core *, uint32_t trace, uint32_t with);
/* The live part as a problem; class_at[i], node_at[i]: what its class and
 * node i were in the core.  Freed by ex_problem_done and bs_free. */
void core_to_problem(const ex_core *, ex_problem *, uint32_t **class_at,
                     uint32_t **node_at);
/* A choice for a core: the traces of its nodes, and its cost with the base. */
typedef struct core_solution {
  double cost; /* +inf: none */
  ex_list traces;
} core_solution;

/* Keeps a choice for p = core_to_problem(g) that costs `dag` there. */
void core_keep(const ex_core *, const ex_problem *p, const uint32_t *node_at,
               const uint32_t *choice, double dag, core_solution *out);
/* Writes into `choice` (of the original problem) what traces stand for. */
void core_restore(bs_heap *, const ex_traces *, const ex_list *from,
                  const uint32_t *original_class_of, uint32_t *choice);

/* must.c: for each live class, the classes that every term of it contains
 * (itself included), as bit sets over the numbering of `p`. */
typedef struct core_must {
  ex_problem p; /* the live part */
  uint32_t *class_at, *node_at;
  uint32_t words;
  uint64_t *set; /* words a class; NULL: the core is too large, or time over */
  uint64_t *scratch;
} core_must;
void core_must_start(const ex_core *, ex_watch *, core_must *);
void core_must_done(core_must *);
/* What every term of a node (of m->p) contains besides its class: valid until
 * the next call.  Without sets, the children. */
const uint64_t *core_must_node(core_must *, uint32_t node);

/* The roots and what they must contain. */
void core_must_goals(const core_must *, ex_list *out);

static inline bool
core_bit(const uint64_t *set, uint32_t i) {
  return set[i / 64] >> i % 64 & 1;
}

/* Reductions; each returns how many things it changed. */
void core_prune(ex_core *);                     /* reach.c: C1, C2, C4 */
void core_prune_unreached(ex_core *);           /* reach.c: the same but C4 */
uint32_t core_eliminate(ex_core *, ex_watch *); /* eliminate.c */
uint32_t core_normalize_costs(ex_core *);       /* eliminate.c */
uint32_t core_use_must(ex_core *, core_must *); /* must.c */
/* dominate.c */
uint32_t core_dominate(ex_core *, ex_watch *, core_must *);
/* All of them until little changes. */
void core_reduce(ex_core *, ex_watch *);

/* The cutoff once a solution of this cost is known. */
static inline double
core_cutoff(const ex_core *g, double cost) {
  return fmin(g->cutoff, cost - g->step);
}

/* bound.c: reduces, bounds, and removes what no solution below the cutoff
 * needs, in turn.  Improves `best` on the way (`deep`: with all heuristics).
 * Returns the bound, base included; +inf when nothing below the cutoff is
 * left. */
double core_bound(ex_core *, ex_watch *, bool deep, core_solution *best);

/* part.c: the number of independent parts and, for each core class, its part.
 * Forced classes outside every part stand alone. */
uint32_t core_parts(const ex_core *, uint32_t *part_of);
void core_extract_part(const ex_core *, const uint32_t *part_of, uint32_t part,
                       ex_core *out);

/* branch.c: a way to divide the solutions of a core among smaller cores. */
typedef enum core_move_kind {
  CORE_FORCE,
  CORE_FORBID,
  CORE_TAKE,
  CORE_DROP
} core_move_kind;
typedef struct core_move {
  core_move_kind kind; /* of a class, of a class, of a node, of a node */
  uint32_t what;
  double bound; /* what it was found to cost at least, base included */
} core_move;
typedef BS_VEC(core_move) core_moves;
void core_apply(ex_core *, core_move);
/* Fills `moves`, most promising first; not empty for a core with a choice. */
void core_choose_branch(ex_core *, ex_watch *, double bound, core_moves *moves);

#endif
