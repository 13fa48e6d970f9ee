/* SPDX-License-Identifier: MIT */
/* test_effort.c - how much the exact search does, and how close bounds are.
 *
 * What prunes may fail to prune and every answer is still right: it only takes
 * longer.  The problems are fixed, so that the number of nodes of the search
 * tree is too; the figures are those of today and a tenth more. */
#include "random_problem.h"
#include <criterion/criterion.h>

enum { PROBLEMS = 400 };

static bs_heap heap;

typedef struct sums {
  uint64_t steps;  /* of the exact search */
  uint32_t closed; /* problems whose optimum it proved */
  uint32_t greedy; /* problems that the greedy solved to the optimum */
  double bound;    /* of the greedy, as a share of the optimum */
  uint32_t n;
} sums;

static void
add_problem(sums *a, uint64_t seed) {
  sketch s;
  ex_problem p;
  ex_solution exact, dag;
  random_seed(seed + 1000);
  sketch_random(&s, 20);
  sketch_problem(&s, &heap, &p);
  if (ex_solve(&p, EX_EXACT, NULL, &exact) && exact.dag_cost > 0) {
    cr_assert(ex_solve(&p, EX_DAG, NULL, &dag));
    a->n++;
    a->steps += exact.steps;
    a->closed += exact.optimal;
    a->greedy += dag.dag_cost <= exact.dag_cost * (1 + 1e-9);
    a->bound += dag.bound / exact.dag_cost;
    cr_expect_leq(dag.bound, exact.dag_cost * (1 + 1e-9));
    ex_solution_done(&p, &dag);
  }
  ex_solution_done(&p, &exact);
  ex_problem_done(&p);
}

Test(effort, of_the_exact_search_and_its_bounds) {
  sums a = {0};
  bs_heap_init(&heap, NULL, 0);
  for (uint64_t seed = 0; seed < PROBLEMS; seed++)
    add_problem(&a, seed);
  bs_heap_done(&heap);
  cr_expect_eq(a.n, 372);
  cr_expect_eq(a.closed, a.n);
  cr_expect_leq(a.steps, 147, "%llu steps", (unsigned long long)a.steps);
  cr_expect_geq(a.greedy, 337, "%u problems", a.greedy);
  cr_expect_geq(a.bound / a.n, 0.915, "%g", a.bound / a.n);
}
