/* SPDX-License-Identifier: MIT */
/* unit.c - the grid that the costs stand on.
 *
 * Where all costs are multiples of a unit so are their sums, and a search may
 * stop as soon as the bound is less than a unit away. */
#include "extract/extract_search.h"
#include <assert.h>

static bool
multiple(double cost, double unit) {
  double q = cost / unit, whole = nearbyint(q);
  return cost == 0 || isinf(cost) ||
         (whole >= 1 && q < 1e6 && fabs(q - whole) < 1e-9);
}

/* The largest of some units of which all costs are multiples; 0: none. */
static double
cost_unit(const ex_problem *p) {
  static const double units[] = {1, 0.1, 0.01, 0.001};
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    uint32_t n = 0;
    while (n < p->n_nodes && multiple(p->cost[n], units[u]))
      n++;
    if (n == p->n_nodes)
      return units[u];
  }
  return 0;
}

double
ex_least_saving(const ex_problem *p, double cost) {
  assert(!isnan(cost));
  double unit = cost_unit(p);
  return unit > 0 ? unit * (1 - 1e-4) : 1e-11 * cost;
}
