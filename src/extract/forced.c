/* SPDX-License-Identifier: MIT */
/* forced.c - a lower bound from what has no alternative.
 *
 * A root is in every solution; so are the children of the only node of a class
 * that is.  Each such class costs at least its cheapest node.  One linear pass,
 * exact where nothing is left to choose. */
#include "extract/landmark.h"

/* The cheapest node's cost; *only: the node, if the class has no other. */
static double
cheapest(const ex_problem *p, uint32_t c, uint32_t *only) {
  double least = INFINITY;
  uint32_t usable = 0;
  for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++) {
    if (isinf(p->cost[n]))
      continue;
    usable++;
    *only = n;
    least = fmin(least, p->cost[n]);
  }
  if (usable != 1)
    *only = EX_NONE;
  return least;
}

static void
force(const ex_problem *p, bool *forced, ex_list *classes, uint32_t c) {
  if (forced[c])
    return;
  forced[c] = true;
  bs_push(p->heap, classes, c);
}

double
ex_forced_bound(const ex_problem *p) {
  bs_heap *h = p->heap;
  bool *forced = EX_ZERO(h, bool, p->n_classes);
  ex_list classes = {0};
  double bound = 0;
  for (uint32_t r = 0; r < p->n_roots; r++)
    force(p, forced, &classes, p->roots[r]);
  for (uint32_t done = 0; done < classes.len; done++) {
    uint32_t n = EX_NONE;
    bound += cheapest(p, classes.data[done], &n);
    for (uint32_t k = n == EX_NONE ? 0 : p->kid_first[n];
         n != EX_NONE && k < p->kid_first[n + 1]; k++)
      force(p, forced, &classes, p->kids[k]);
  }
  bs_vec_done(h, &classes);
  bs_free(h, forced);
  return bound;
}
