/* SPDX-License-Identifier: MIT */
/* share.c - trees with shared costs.
 *
 * A class used k times by the last solution is paid k times by a tree
 * extractor; with its node costs divided by k it is paid once.  Extracting
 * trees under such costs again and again drifts towards solutions with more
 * sharing.  Each round is one near-linear tree extraction; the best DAG seen
 * is kept, and two rounds in a row without a better one are the last. */
#include "extract/extract_search.h"
#include <string.h>

/* Uses of each class in the part of a choice that the roots need. */
static void
count_uses(const ex_problem *p, const uint32_t *choice, const uint32_t *order,
           uint32_t n, uint32_t *uses) {
  memset(uses, 0, (size_t)p->n_classes * sizeof *uses);
  for (uint32_t r = 0; r < p->n_roots; r++)
    uses[p->roots[r]]++;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t node = choice[order[i]];
    for (uint32_t k = p->kid_first[node]; k < p->kid_first[node + 1]; k++)
      uses[p->kids[k]]++;
  }
}

static void
divide_costs(const ex_problem *p, const uint32_t *uses, double *cost) {
  for (uint32_t c = 0; c < p->n_classes; c++)
    for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++)
      cost[n] = p->cost[n] / (uses[c] > 1 ? uses[c] : 1);
}

void
ex_share(const ex_problem *p, ex_watch *w, uint32_t rounds, uint32_t *choice,
         double *dag) {
  bs_heap *h = p->heap;
  uint32_t *now = EX_NEW(h, uint32_t, p->n_classes);
  uint32_t *order = EX_NEW(h, uint32_t, p->n_classes);
  uint32_t *uses = EX_NEW(h, uint32_t, p->n_classes);
  double *cost = EX_NEW(h, double, p->n_nodes);
  double *best = EX_NEW(h, double, p->n_classes);
  uint32_t in_vain = 0;
  memcpy(now, choice, (size_t)p->n_classes * sizeof *now);
  for (uint32_t i = 0; i < rounds && !ex_watch_over(w); i++) {
    double tree, sum;
    count_uses(p, now, order, ex_order(p, now, order), uses);
    divide_costs(p, uses, cost);
    ex_tree(p, cost, best, now);
    if (!ex_price(p, now, &tree, &sum) || sum >= *dag) {
      if (in_vain++)
        break;
      continue;
    }
    in_vain = 0;
    *dag = sum;
    memcpy(choice, now, (size_t)p->n_classes * sizeof *now);
  }
  bs_free(h, best);
  bs_free(h, cost);
  bs_free(h, uses);
  bs_free(h, order);
  bs_free(h, now);
}
