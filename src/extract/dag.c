/* SPDX-License-Identifier: MIT */
/* dag.c - the greedy DAG extractor: the best of several near-linear methods.
 *
 * The cheapest tree, trees under shared costs or with less weight on all but
 * the dearest child, and the greedy with sets (given up where it is not
 * near-linear) each give a choice; each is improved locally, within a budget
 * linear in the problem.  The result is never worse
 * than any of them. */
#include "extract/landmark.h"
#include "extract/extract_search.h"
#include <string.h>

/* Extends a choice to all classes that have a term, where `all` has one: the
 * classes it does not need keep the choice of `all`.  False when that makes a
 * cycle. */
static bool
acyclic_everywhere(const ex_problem *p, const uint32_t *choice) {
  ex_problem q = *p;
  uint32_t *order = EX_NEW(p->heap, uint32_t, p->n_classes);
  q.roots = EX_NEW(p->heap, uint32_t, p->n_classes);
  q.n_roots = 0;
  for (uint32_t c = 0; c < p->n_classes; c++)
    if (choice[c] != EX_NONE)
      q.roots[q.n_roots++] = c;
  bool ok = q.n_roots == 0 || ex_order(&q, choice, order) > 0;
  bs_free(p->heap, q.roots);
  bs_free(p->heap, order);
  return ok;
}

/* Classes that the roots do not need fall back to the tree's choice: the part
 * the roots need is closed, the rest is acyclic by the tree's order. */
static void
complete(const ex_problem *p, const uint32_t *tree, uint32_t *choice) {
  if (acyclic_everywhere(p, choice) || !ex_restrict(p, choice))
    return;
  for (uint32_t c = 0; c < p->n_classes; c++)
    if (choice[c] == EX_NONE)
      choice[c] = tree[c];
}

typedef struct contest {
  const ex_problem *p;
  ex_watch *watch;
  uint32_t *best;
  double dag;
} contest;

/* Improves a candidate and keeps it if it is the cheapest. */
static void
enter(contest *t, uint32_t *choice) {
  const ex_problem *p = t->p;
  uint64_t budget =
      1000000 + 32 * ((uint64_t)p->n_nodes + p->kid_first[p->n_nodes]);
  double tree, dag;
  if (!ex_watch_over(t->watch))
    ex_local(p, t->watch, budget, choice);
  if (!ex_price(p, choice, &tree, &dag) || dag >= t->dag)
    return;
  t->dag = dag;
  memcpy(t->best, choice, (size_t)p->n_classes * sizeof *choice);
}

/* A tree under what a lower bound leaves of the costs: nodes that the bound
 * has paid for are free.  Returns the bound. */
static double
guided(const ex_problem *p, ex_watch *w, double *best, uint32_t *choice) {
  uint64_t visits =
      1000000 + 8 * ((uint64_t)p->n_nodes + p->kid_first[p->n_nodes]);
  double *left = EX_NEW(p->heap, double, p->n_nodes);
  double bound = ex_landmarks(p, w, INFINITY, visits, left);
  for (uint32_t n = 0; n < p->n_nodes; n++)
    left[n] += 1e-3 * p->cost[n];
  ex_tree(p, left, best, choice);
  bs_free(p->heap, left);
  return fmax(bound, fmax(ex_forced_bound(p), ex_chain_bound(p)));
}

/* The greedy from the trees, or from nothing. */
static void
enter_greedy(contest *t, const uint32_t *from, const uint32_t *tree,
             uint32_t *now) {
  double tree_cost, dag;
  if (!ex_greedy(t->p, t->watch, from, now) ||
      !ex_price(t->p, now, &tree_cost, &dag))
    return;
  complete(t->p, tree, now);
  enter(t, now);
}

/* What the dearest child of a node leaves unshared of the others, at a
 * guess. */
static const double weights[] = {0, 0.3};

/* Candidates beside the tree and what sharing makes of it. */
static void
enter_others(contest *t, const uint32_t *tree, double *best, uint32_t *now,
             double *bound) {
  const ex_problem *p = t->p;
  for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
    if (!ex_watch_over(t->watch)) {
      ex_weighted_tree(p, NULL, weights[i], best, now);
      enter(t, now);
    }
  if (!ex_watch_over(t->watch)) {
    *bound = guided(p, t->watch, best, now);
    enter(t, now);
  }
  if (!ex_watch_over(t->watch))
    enter_greedy(t, tree, tree, now);
  if (!ex_watch_over(t->watch))
    enter_greedy(t, NULL, tree, now);
}

bool
ex_heuristic(const ex_problem *p, ex_watch *w, uint32_t *choice, double *dag,
             double *bound) {
  bs_heap *h = p->heap;
  size_t bytes = (size_t)p->n_classes * sizeof(uint32_t);
  uint32_t *tree = EX_NEW(h, uint32_t, p->n_classes);
  uint32_t *now = EX_NEW(h, uint32_t, p->n_classes);
  double *best = EX_NEW(h, double, p->n_classes), tree_cost, shared;
  contest t = {p, w, choice, INFINITY};
  *bound = 0;
  bs_stage_check(h);
  ex_tree(p, NULL, best, tree);
  bool feasible = ex_price(p, tree, &tree_cost, &shared);
  if (feasible) {
    memcpy(now, tree, bytes);
    memcpy(choice, tree, bytes);
    t.dag = shared;
    enter(&t, now);
    memcpy(now, tree, bytes);
    ex_share(p, w, 4, now, &shared);
    enter(&t, now);
    enter_others(&t, tree, best, now, bound);
    memcpy(now, choice, bytes);
    ex_share(p, w, 4, now, &t.dag);
    memcpy(choice, now, bytes);
  }
  *dag = t.dag;
  bs_free(h, best);
  bs_free(h, now);
  bs_free(h, tree);
  return feasible;
}

bool
ex_solve_dag(const ex_problem *p, ex_watch *w, ex_solution *s) {
  double dag;
  s->feasible = ex_heuristic(p, w, s->choice, &dag, &s->bound);
  s->optimal = s->feasible && s->bound >= dag - ex_least_saving(p, dag);
  return s->feasible && ex_restrict(p, s->choice);
}
