/* SPDX-License-Identifier: MIT */
/* negative.c - costs below zero, brought back to costs that are not.
 *
 * A class whose cheapest node costs m < 0 pays back -m when it is used.  So its
 * nodes are made dearer by -m, and not to use it costs -m: that is a root of
 * its own with two nodes, one that needs the class for nothing and one that
 * costs -m.  The sum of the m is what the new problem's costs are too high by.
 *
 * The new problem may use a class that nothing chosen needs, which the given
 * one may not: so its optimum is a bound, and where its solution, cut down to
 * what the given roots need, costs as much, that is optimal. */
#include "extract/negative.h"
#include <assert.h>
#include <string.h>

bool
ex_has_negative(const ex_problem *p) {
  for (uint32_t n = 0; n < p->n_nodes; n++)
    if (p->cost[n] < 0)
      return true;
  return false;
}

/* By class: its least cost where that is negative, else 0; how many. */
static uint32_t
least_costs(const ex_problem *p, double *least) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < p->n_classes; c++) {
    least[c] = 0;
    for (uint32_t k = p->class_first[c]; k < p->class_first[c + 1]; k++)
      least[c] = fmin(least[c], p->cost[k]);
    n += least[c] < 0;
  }
  return n;
}

static void
copy_rows(const ex_problem *p, const double *least, ex_problem *q) {
  memcpy(q->class_first, p->class_first,
         ((size_t)p->n_classes + 1) * sizeof *q->class_first);
  memcpy(q->kid_first, p->kid_first,
         ((size_t)p->n_nodes + 1) * sizeof *q->kid_first);
  if (p->kid_first[p->n_nodes])
    memcpy(q->kids, p->kids, p->kid_first[p->n_nodes] * sizeof *q->kids);
  if (p->n_roots)
    memcpy(q->roots, p->roots, p->n_roots * sizeof *q->roots);
  for (uint32_t c = 0; c < p->n_classes; c++)
    for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++)
      q->cost[n] = p->cost[n] - least[c];
}

/* The root that pays for class c where it is not used. */
static void
add_payer(ex_problem *q, uint32_t c, double cost) {
  uint32_t kids = q->kid_first[q->n_nodes], n = q->n_nodes;
  q->kids[kids] = c;
  q->cost[n] = 0;
  q->cost[n + 1] = cost;
  q->kid_first[n + 1] = q->kid_first[n + 2] = kids + 1;
  q->n_nodes += 2;
  q->roots[q->n_roots++] = q->n_classes;
  q->class_first[++q->n_classes] = q->n_nodes;
}

double
ex_without_negative(const ex_problem *p, ex_problem *q) {
  assert(p != q);
  bs_heap *h = p->heap;
  double *least = EX_NEW(h, double, (size_t)p->n_classes + 1), sum = 0;
  size_t more = least_costs(p, least);
  *q = (ex_problem){.heap = h,
                    .n_classes = p->n_classes,
                    .n_nodes = p->n_nodes,
                    .n_roots = p->n_roots};
  q->class_first = EX_NEW(h, uint32_t, p->n_classes + more + 1);
  q->cost = EX_NEW(h, double, p->n_nodes + 2 * more);
  q->kid_first = EX_NEW(h, uint32_t, p->n_nodes + 2 * more + 1);
  q->kids = EX_NEW(h, uint32_t, p->kid_first[p->n_nodes] + more);
  q->roots = EX_NEW(h, uint32_t, p->n_roots + more);
  copy_rows(p, least, q);
  for (uint32_t c = 0; c < p->n_classes; c++) {
    if (!(least[c] < 0))
      continue;
    sum += least[c];
    add_payer(q, c, -least[c]);
  }
  bs_free(h, least);
  return sum;
}

/* Choices for the classes that have none, by the cheapest trees of the other
 * problem. */
static void
complete(const ex_problem *p, const ex_problem *q, uint32_t *choice) {
  double *best = EX_NEW(p->heap, double, q->n_classes);
  uint32_t *tree = EX_NEW(p->heap, uint32_t, q->n_classes);
  ex_tree(q, NULL, best, tree);
  for (uint32_t c = 0; c < p->n_classes; c++)
    if (choice[c] == EX_NONE)
      choice[c] = tree[c];
  bs_free(p->heap, tree);
  bs_free(p->heap, best);
}

typedef struct climber {
  const ex_problem *p;
  uint32_t *choice;
  double dag;
  uint64_t budget;
} climber;

/* Takes the node for its class where that is valid and cheaper. */
static bool
try_node(climber *c, uint32_t class, uint32_t node) {
  uint32_t old = c->choice[class];
  double tree, dag;
  c->budget -= c->budget < c->p->n_classes ? c->budget : c->p->n_classes;
  c->choice[class] = node;
  if (ex_price(c->p, c->choice, &tree, &dag) &&
      dag < c->dag - 1e-12 * fabs(c->dag)) {
    c->dag = dag;
    return true;
  }
  c->choice[class] = old;
  return false;
}

void
ex_climb(const ex_problem *p, const ex_problem *q, ex_watch *w,
         uint32_t *choice) {
  climber c = {.p = p, .choice = choice, .budget = 50000000};
  double tree;
  bool better = true;
  complete(p, q, choice);
  if (!ex_price(p, choice, &tree, &c.dag))
    return;
  while (better && c.budget && !ex_watch_over(w)) {
    better = false;
    for (uint32_t k = 0; k < p->n_classes && c.budget; k++)
      for (uint32_t n = p->class_first[k];
           n < p->class_first[k + 1] && choice[k] != EX_NONE; n++)
        if (n != choice[k] && !isinf(p->cost[n]))
          better |= try_node(&c, k, n);
  }
}
