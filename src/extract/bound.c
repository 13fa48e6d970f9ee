/* SPDX-License-Identifier: MIT */
/* bound.c - a core made as small as its cutoff allows.
 *
 * Reduction, the landmark bound, and the removal of nodes whose own bound
 * reaches the cutoff strengthen each other, so they run in turn until the core
 * no longer shrinks.  The costs the bound left over guide a tree extraction:
 * where the bound is tight its tree is optimal. */
#include "extract/core.h"
#include "extract/landmark.h"

/* Of pricing landmarks. */
#define ROUNDS      2
#define DEEP_ROUNDS 6
/* Of noisy tries: at most, and nodes and edges looked at in all. */
#define NOISY_TRIES 64
#define NOISY_WORK  400000

typedef struct bounding {
  ex_core *g;
  ex_watch *watch;
  core_solution *best;
  ex_problem p;
  uint32_t *class_at, *node_at;
  double *left, *beyond;
} bounding;

static void
open_problem(bounding *b) {
  core_to_problem(b->g, &b->p, &b->class_at, &b->node_at);
  b->left = EX_NEW(b->g->heap, double, b->p.n_nodes);
  b->beyond = EX_NEW(b->g->heap, double, b->p.n_nodes);
}

static void
close_problem(bounding *b) {
  bs_heap *h = b->g->heap;
  bs_free(h, b->beyond);
  bs_free(h, b->left);
  bs_free(h, b->node_at);
  bs_free(h, b->class_at);
  ex_problem_done(&b->p);
}

static void
consider(bounding *b, const uint32_t *choice) {
  double tree, dag;
  if (ex_price(&b->p, choice, &tree, &dag) && b->g->base + dag < b->best->cost)
    core_keep(b->g, &b->p, b->node_at, choice, dag, b->best);
}

static double
noise(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 33) / (double)((uint64_t)1 << 31);
}

/* A tree under what the bound left of the costs, and some of the costs, give
 * or take `spread`; improved locally. */
static void
try_guided(bounding *b, double share, double spread, uint64_t *seed) {
  bs_heap *h = b->g->heap;
  uint32_t *choice = EX_NEW(h, uint32_t, b->p.n_classes);
  double *value = EX_NEW(h, double, b->p.n_classes);
  for (uint32_t n = 0; n < b->p.n_nodes; n++)
    b->beyond[n] = (b->left[n] + share * b->p.cost[n]) *
                   (spread > 0 ? 1 + spread * noise(seed) : 1);
  ex_tree(&b->p, b->beyond, value, choice);
  ex_local(&b->p, b->watch, 20000 + 4 * (uint64_t)b->p.n_nodes, choice);
  consider(b, choice);
  bs_free(h, value);
  bs_free(h, choice);
}

/* Tries many times with noise on the costs, as far as that is quick. */
static void
try_noisy(bounding *b) {
  uint64_t size = (uint64_t)b->p.n_nodes + b->p.kid_first[b->p.n_nodes] + 1;
  uint64_t seed = 1, tries = NOISY_WORK / size;
  tries = tries < NOISY_TRIES ? tries : NOISY_TRIES;
  for (uint64_t i = 0; i < tries && !ex_watch_over(b->watch); i++)
    try_guided(b, i % 2 ? 0.02 : 0.2, i % 4 < 2 ? 0.5 : 2, &seed);
}

static void
try_all(bounding *b) {
  uint32_t *choice = EX_NEW(b->g->heap, uint32_t, b->p.n_classes);
  double dag, bound;
  if (ex_heuristic(&b->p, b->watch, choice, &dag, &bound))
    consider(b, choice);
  bs_free(b->g->heap, choice);
}

static uint32_t
remove_dear(bounding *b, double bound) {
  uint32_t removed = 0;
  ex_node_bounds(&b->p, b->left, b->beyond);
  for (uint32_t n = 0; n < b->p.n_nodes; n++)
    if (bound + b->beyond[n] >= b->g->cutoff) {
      core_kill_node(b->g, b->node_at[n]);
      removed++;
    }
  return removed;
}

/* One look at a reduced core; sets *removed. */
static double
look(bounding *b, bool deep, bool remove, uint32_t *removed) {
  ex_core *g = b->g;
  open_problem(b);
  double bound =
      g->base + ex_priced_landmarks(&b->p, b->watch, g->cutoff - g->base,
                                    EX_LANDMARK_VISITS,
                                    deep ? DEEP_ROUNDS : ROUNDS, b->left);
  *removed = 0;
  if (bound < g->cutoff) {
    try_guided(b, 1e-3, 0, NULL);
    if (deep) {
      try_all(b);
      try_noisy(b);
    }
    g->cutoff = core_cutoff(g, b->best->cost);
  }
  if (remove && bound < g->cutoff && !ex_watch_over(b->watch))
    *removed = remove_dear(b, bound);
  close_problem(b);
  return bound;
}

double
core_bound(ex_core *g, ex_watch *w, bool deep, core_solution *best) {
  bounding b = {.g = g, .watch = w, .best = best};
  double bound = g->base;
  for (bool last = false;; deep = false) {
    uint32_t removed;
    core_reduce(g, w);
    if (g->infeasible || g->base >= g->cutoff)
      return INFINITY;
    uint32_t before = g->live_nodes;
    bound = fmax(bound, look(&b, deep, !last, &removed));
    if (bound >= g->cutoff)
      return INFINITY;
    if (removed == 0 || last)
      return bound;
    last = (uint64_t)removed * 20 < before;
  }
}
