/* SPDX-License-Identifier: MIT */
/* test_steady.c - what extraction takes it gives back. */
#include "random_problem.h"
#include "tests/unit/sanitized.h"
#include <criterion/criterion.h>

enum { PROBLEMS = SANITIZED ? 60 : 300 };

static bs_heap heap;

static void
solve_by(const ex_problem *p, ex_method m) {
  ex_solution s;
  size_t before = heap.used;
  if (ex_solve(p, m, NULL, &s))
    cr_expect(s.feasible);
  ex_solution_done(p, &s);
  cr_expect_eq(heap.used, before, "%s keeps %zu bytes", ex_method_name(m),
               heap.used - before);
}

Test(steady, every_method_frees_what_it_took) {
  static const ex_method all[] = {EX_TREE, EX_DAG, EX_EXACT, EX_ILP};
  bs_heap_init(&heap, NULL, 0);
  for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
    sketch s;
    ex_problem p;
    random_seed(seed);
    sketch_random(&s, 4 + (uint32_t)(seed % 9));
    sketch_problem(&s, &heap, &p);
    for (uint32_t k = 0; k < sizeof all / sizeof *all; k++)
      if (ex_method_is_there(all[k]) && (all[k] != EX_ILP || seed % 20 == 0))
        solve_by(&p, all[k]);
    ex_problem_done(&p);
    cr_expect_eq(heap.used, 0, "problem %llu", (unsigned long long)seed);
  }
  bs_heap_done(&heap);
}

/* Knots: circles in which little can be decided beforehand, so that a solver of
 * linear programs has to be told of each that it takes. */
static void
knot(sketch *s, uint32_t n) {
  *s = (sketch){.n_classes = n, .n_roots = 1};
  for (uint32_t c = 0; c < n; c++)
    for (uint32_t k = 2 + random_below(2); k > 0; k--) {
      sketch_node(s, c, 1 + random_below(9));
      for (uint32_t j = 0; j < 2 && c + 3 < n; j++) {
        uint32_t next = c + 1 + random_below(4);
        sketch_kid(s, random_below(3) ? (next < n ? next : n - 1)
                                      : random_below(n));
      }
    }
}

Test(steady, circles_are_cut_off) {
  bs_heap_init(&heap, NULL, 0);
  for (uint64_t seed = 0; seed < 20; seed++) {
    sketch s;
    ex_problem p;
    random_seed(seed);
    knot(&s, 10 + (uint32_t)seed % 5);
    sketch_problem(&s, &heap, &p);
    double least = INFINITY;
    for (ex_method m = EX_EXACT; m <= EX_ILP; m++)
      if (ex_method_is_there(m)) {
        ex_solution x;
        if (!ex_solve(&p, m, NULL, &x))
          x.dag_cost = -1; /* the root has no term without a circle */
        least = isinf(least) ? x.dag_cost : least;
        cr_expect_eq(x.dag_cost, least, "%s: %g", ex_method_name(m),
                     x.dag_cost);
        ex_solution_done(&p, &x);
        solve_by(&p, m);
      }
    ex_problem_done(&p);
    cr_expect_eq(heap.used, 0, "knot %llu", (unsigned long long)seed);
  }
  bs_heap_done(&heap);
}
