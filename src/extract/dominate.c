/* SPDX-License-Identifier: MIT */
/* dominate.c - nodes that another node of their class makes superfluous.
 *
 * Node m beats node n of the same class when its children that a term of n
 * does not contain anyway can be had, as trees, for what n costs more:
 *
 *   cost(m) + sum over children k of m outside must(n) of tree(k) <= cost(n)
 *
 * Replacing n by m, and the choice of the classes in those trees by the
 * trees', costs no more, and it is acyclic if the trees do not contain the
 * class: their classes stand before it in an order of all tree choices.  The
 * tree choices themselves are only removed afterwards, by nodes that need
 * nothing outside must(n). */
#include "extract/core.h"
#include <stdlib.h>

/* Comparisons of nodes in one pass. */
#define MAX_PAIRS 4000000

typedef struct dominance {
  ex_core *g;
  ex_watch *watch;
  core_must *m;
  double *tree;
  uint32_t *choice, *position;
  bool *dead; /* per node of m->p */
  bool with_trees;
  uint32_t pairs, killed;
} dominance;

static void
order_trees(dominance *d) {
  ex_problem q = d->m->p;
  bs_heap *h = q.heap;
  uint32_t *order = EX_NEW(h, uint32_t, q.n_classes);
  uint32_t *all = EX_NEW(h, uint32_t, q.n_classes);
  for (uint32_t c = 0; c < q.n_classes; c++)
    all[c] = c;
  q.roots = all;
  q.n_roots = q.n_classes;
  uint32_t n = ex_order(&q, d->choice, order);
  for (uint32_t i = 0; i < n; i++)
    d->position[order[i]] = i;
  bs_free(h, all);
  bs_free(h, order);
}

/* Does node m beat node n of class c, given must(n)? */
static bool
beats(const dominance *d, uint32_t c, uint32_t m, uint32_t n,
      const uint64_t *must) {
  const ex_problem *p = &d->m->p;
  double cost = p->cost[m];
  bool bare = true;
  for (uint32_t k = p->kid_first[m]; k < p->kid_first[m + 1]; k++) {
    uint32_t kid = p->kids[k];
    if (core_bit(must, kid))
      continue;
    cost += d->tree[kid];
    bare = false;
    if (!d->with_trees || cost > p->cost[n] ||
        d->position[kid] >= d->position[c])
      return false;
  }
  if (cost > p->cost[n] || bare == d->with_trees)
    return false;
  return true;
}

static void
judge(dominance *d, uint32_t c, uint32_t n) {
  const ex_problem *p = &d->m->p;
  const uint64_t *must = core_must_node(d->m, n);
  for (uint32_t m = p->class_first[c]; m < p->class_first[c + 1]; m++) {
    if (m == n || d->dead[m] || p->cost[m] > p->cost[n])
      continue;
    d->pairs++;
    if (!beats(d, c, m, n, must))
      continue;
    d->dead[n] = true;
    core_kill_node(d->g, d->m->node_at[n]);
    d->killed++;
    return;
  }
}

static void
pass(dominance *d, bool with_trees) {
  const ex_problem *p = &d->m->p;
  d->with_trees = with_trees;
  d->pairs = 0;
  for (uint32_t c = 0; c < p->n_classes; c++) {
    if (p->class_first[c + 1] - p->class_first[c] < 2 ||
        ex_watch_over(d->watch))
      continue;
    /* From the back, so that of two equal nodes the first one stays. */
    for (uint32_t n = p->class_first[c + 1]; n-- > p->class_first[c];)
      if (!d->dead[n] && !(with_trees && d->choice[c] == n) &&
          d->pairs < MAX_PAIRS)
        judge(d, c, n);
  }
}

uint32_t
core_dominate(ex_core *g, ex_watch *w, core_must *m) {
  bs_heap *h = g->heap;
  uint32_t n = m->p.n_classes;
  dominance d = {.g = g, .watch = w, .m = m};
  d.tree = EX_NEW(h, double, n);
  d.choice = EX_NEW(h, uint32_t, n);
  d.position = EX_ZERO(h, uint32_t, n);
  d.dead = EX_ZERO(h, bool, m->p.n_nodes);
  for (uint32_t i = 0; i < m->p.n_nodes; i++)
    d.dead[i] = !g->nodes.data[m->node_at[i]].live;
  ex_tree(&m->p, NULL, d.tree, d.choice);
  order_trees(&d);
  pass(&d, true);
  pass(&d, false);
  bs_free(h, d.dead);
  bs_free(h, d.position);
  bs_free(h, d.choice);
  bs_free(h, d.tree);
  return d.killed;
}
