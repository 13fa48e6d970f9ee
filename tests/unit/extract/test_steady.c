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

/* The cheapest nodes lead in a circle, so that a solver of linear programs has
 * to be told that they may not, once for each circle. */
Test(steady, circles_are_cut_off) {
  bs_heap_init(&heap, NULL, 0);
  for (uint32_t n = 2; n < 9; n++) {
    sketch s = {.n_classes = n, .n_roots = 1};
    ex_problem p;
    for (uint32_t c = 0; c < n; c++) {
      sketch_node(&s, c, 1);
      sketch_kid(&s, (c + 1) % n);
      sketch_node(&s, c, 10 + c);
    }
    sketch_problem(&s, &heap, &p);
    for (ex_method m = EX_TREE; m <= EX_ILP; m++)
      if (ex_method_is_there(m)) {
        ex_solution x;
        cr_expect(ex_solve(&p, m, NULL, &x));
        cr_expect_eq(x.dag_cost, 10, "%s: %g", ex_method_name(m), x.dag_cost);
        ex_solution_done(&p, &x);
        solve_by(&p, m);
      }
    ex_problem_done(&p);
    cr_expect_eq(heap.used, 0, "a circle of %u", n);
  }
  bs_heap_done(&heap);
}
