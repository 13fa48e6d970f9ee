/* SPDX-License-Identifier: MIT */
#include "random_problem.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static bs_heap heap;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
}

static void
stop(void) {
  bs_heap_done(&heap);
}

TestSuite(solve, .init = start, .fini = stop);

static ex_solution
solve(const ex_problem *p, ex_method m) {
  ex_solution s;
  double tree, dag;
  bool ok = ex_solve(p, m, NULL, &s);
  cr_assert_eq(ok, s.feasible);
  if (ok)
    cr_assert(ex_price(p, s.choice, &tree, &dag) && dag == s.dag_cost);
  return s;
}

static ex_problem
problem_of(const sketch *s) {
  ex_problem p;
  sketch_problem(s, &heap, &p);
  return p;
}

/* root: f(a, b) 1;  a: 5, g(s) 1;  b: 5, g(s) 1;  s: 6 */
static sketch
shared(void) {
  sketch s = {.n_classes = 4, .n_roots = 1, .roots = {3}};
  sketch_node(&s, 0, 6);
  for (uint32_t c = 1; c < 3; c++) {
    sketch_node(&s, c, 5);
    sketch_node(&s, c, 1);
    sketch_kid(&s, 0);
  }
  sketch_node(&s, 3, 1);
  sketch_kid(&s, 1);
  sketch_kid(&s, 2);
  return s;
}

Test(solve, sharing_pays_in_a_dag_only) {
  sketch sk = shared();
  ex_problem p = problem_of(&sk);
  ex_solution tree = solve(&p, EX_TREE), exact = solve(&p, EX_EXACT);
  cr_assert_eq(tree.tree_cost, 11);
  cr_assert(tree.optimal && tree.bound == 11);
  cr_assert_eq(exact.dag_cost, 9);
  cr_assert(exact.optimal && exact.bound == 9);
  /* Alone neither use of s pays; the greedy is led by its bound. */
  cr_assert_eq(solve(&p, EX_DAG).dag_cost, 9);
}

/* With s needed anyway both uses of it pay at once. */
Test(solve, the_greedy_uses_what_is_there) {
  sketch sk = shared();
  sketch_kid(&sk, 0); /* of the root */
  ex_problem p = problem_of(&sk);
  cr_assert_eq(solve(&p, EX_TREE).dag_cost, 17);
  cr_assert_eq(solve(&p, EX_DAG).dag_cost, 9);
}

Test(solve, free_cycles_are_not_terms) {
  sketch s = {.n_classes = 3, .n_roots = 1, .roots = {2}};
  sketch_node(&s, 0, 0); /* 0 and 1 use each other for nothing */
  sketch_kid(&s, 1);
  sketch_node(&s, 0, 7);
  sketch_node(&s, 1, 0);
  sketch_kid(&s, 0);
  sketch_node(&s, 2, 0);
  sketch_kid(&s, 1);
  ex_problem p = problem_of(&s);
  for (int m = EX_TREE; m <= EX_EXACT; m++)
    cr_assert_eq(solve(&p, (ex_method)m).dag_cost, 7);
}

Test(solve, without_a_finite_term_there_is_no_solution) {
  sketch s = {.n_classes = 2, .n_roots = 1, .roots = {1}};
  sketch_node(&s, 0, INFINITY);
  sketch_node(&s, 1, 1);
  sketch_kid(&s, 0);
  sketch_node(&s, 1, 0);
  sketch_kid(&s, 1);
  ex_problem p = problem_of(&s);
  for (int m = EX_TREE; m <= EX_EXACT; m++) {
    ex_solution out = solve(&p, (ex_method)m);
    cr_assert_not(out.feasible);
    cr_assert(isinf(out.dag_cost));
  }
}

Test(solve, roots_may_be_none_or_repeated) {
  sketch sk = shared();
  sk.n_roots = 0;
  ex_problem none = problem_of(&sk);
  sk.n_roots = 3;
  sk.roots[0] = sk.roots[1] = 1;
  sk.roots[2] = 2;
  ex_problem twice = problem_of(&sk);
  for (int m = EX_TREE; m <= EX_EXACT; m++) {
    cr_assert_eq(solve(&none, (ex_method)m).dag_cost, 0);
    cr_assert_eq(solve(&twice, (ex_method)m).dag_cost, m == EX_TREE ? 10 : 8);
  }
  cr_assert_eq(solve(&twice, EX_TREE).tree_cost, 15);
}

Test(solve, an_empty_problem) {
  sketch s = {0};
  ex_problem p = problem_of(&s);
  for (int m = EX_TREE; m <= EX_EXACT; m++)
    cr_assert_eq(solve(&p, (ex_method)m).dag_cost, 0);
}

/* Six elements, each covered by two or three of four sets: two suffice. */
Test(solve, exact_covers_a_set) {
  static const uint32_t covers[6][2] = {{0, 1}, {0, 2}, {0, 3},
                                        {1, 2}, {1, 3}, {2, 3}};
  sketch s = {.n_classes = 11, .n_roots = 1, .roots = {10}};
  for (uint32_t c = 0; c < 4; c++)
    sketch_node(&s, c, 1);
  for (uint32_t e = 0; e < 6; e++)
    for (uint32_t k = 0; k < 2; k++) {
      sketch_node(&s, 4 + e, 0);
      sketch_kid(&s, covers[e][k]);
    }
  sketch_node(&s, 10, 0);
  for (uint32_t e = 0; e < 6; e++)
    sketch_kid(&s, 4 + e);
  ex_problem p = problem_of(&s);
  ex_solution out = solve(&p, EX_EXACT);
  cr_assert_eq(out.dag_cost, 3);
  cr_assert(out.optimal);
}

/* Class c is 1 + both uses of class c - 1: 2^n as a tree, n as a DAG. */
static ex_problem
doubling(uint32_t n) {
  ex_draft d = {.n_classes = n, .n_nodes = n, .n_roots = 1};
  uint32_t *class_of = calloc(n, 4), *first = calloc(n + 1, 4);
  uint32_t *kids = calloc(2 * n, 4), root = n - 1;
  double *cost = calloc(n, sizeof *cost);
  ex_problem p;
  for (uint32_t c = 0; c < n; c++) {
    class_of[c] = c;
    cost[c] = 1;
    first[c + 1] = first[c] + (c ? 2 : 0);
    if (c)
      kids[first[c]] = kids[first[c] + 1] = c - 1;
  }
  d.class_of = class_of, d.cost = cost, d.kid_first = first, d.kids = kids;
  d.roots = &root;
  ex_problem_build(&heap, &d, NULL, &p);
  free(class_of), free(first), free(kids), free(cost);
  return p;
}

Test(solve, a_tree_too_large_to_count_is_still_a_dag) {
  ex_problem p = doubling(100000);
  for (int m = EX_TREE; m <= EX_EXACT; m++) {
    ex_solution out = solve(&p, (ex_method)m);
    cr_assert(out.feasible && isinf(out.tree_cost));
    cr_assert_eq(out.dag_cost, 100000);
  }
}

/* A chain where each class is also a constant, dearer the further on. */
Test(solve, long_chains_are_near_linear) {
  uint32_t n = 200000, root = n - 1;
  uint32_t *class_of = malloc(8 * n), *first = malloc(8 * n + 4);
  uint32_t *kids = malloc(4 * n);
  double *cost = malloc(16 * n);
  first[0] = 0;
  for (uint32_t c = 0; c < n; c++) {
    class_of[2 * c] = class_of[2 * c + 1] = c;
    cost[2 * c] = c * 100.0;
    cost[2 * c + 1] = c ? 10 : INFINITY;
    first[2 * c + 1] = first[2 * c];
    first[2 * c + 2] = first[2 * c] + (c > 0);
    if (c)
      kids[first[2 * c]] = c - 1;
  }
  ex_draft d = {n, 2 * n, 1, class_of, cost, first, kids, &root};
  ex_problem p;
  ex_problem_build(&heap, &d, NULL, &p);
  for (int m = EX_TREE; m <= EX_DAG; m++)
    cr_assert_eq(solve(&p, (ex_method)m).dag_cost, 10.0 * (n - 1));
  free(class_of), free(first), free(kids), free(cost);
}

static sketch
large_cover(uint64_t seed) {
  sketch s;
  random_seed(seed);
  memset(&s, 0, sizeof s);
  sketch_cover(&s, 20);
  s.n_roots = 1;
  s.roots[0] = s.n_classes - 1;
  return s;
}

Test(solve, an_interrupt_leaves_a_solution_and_a_bound) {
  volatile int stop_now = 1;
  ex_options o = {.interrupt = &stop_now};
  for (uint64_t seed = 0; seed < 50; seed++) {
    sketch sk = large_cover(seed);
    ex_problem p = problem_of(&sk);
    ex_solution cut, whole = solve(&p, EX_EXACT);
    bool ok = ex_solve(&p, EX_EXACT, &o, &cut);
    cr_assert_eq(ok, whole.feasible);
    if (!ok)
      continue;
    cr_assert(!cut.optimal || cut.bound == cut.dag_cost);
    cr_assert_leq(cut.bound, whole.dag_cost + 1e-9);
    cr_assert_geq(cut.dag_cost, whole.dag_cost - 1e-9);
  }
}

Test(solve, the_same_problem_has_the_same_answer) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    sketch sk = large_cover(seed);
    ex_problem p = problem_of(&sk), q = problem_of(&sk);
    for (int m = EX_TREE; m <= EX_EXACT; m++) {
      ex_solution a = solve(&p, (ex_method)m), b = solve(&q, (ex_method)m);
      cr_assert_arr_eq(a.choice, b.choice, p.n_classes * sizeof *a.choice);
    }
  }
}

Test(solve, unneeded_classes_have_no_choice) {
  sketch sk = shared();
  ex_problem p = problem_of(&sk);
  p.roots[0] = 1;
  ex_solution out = solve(&p, EX_EXACT);
  cr_assert_eq(out.choice[1], 1);
  cr_assert_eq(out.choice[0], EX_NONE);
  cr_assert_eq(out.choice[3], EX_NONE);
}

/* Prices far from any unit are told apart all the same. */
Test(solve, tiny_and_large_costs) {
  for (double scale = 1e-15; scale < 1e15; scale *= 1e3) {
    sketch sk = shared();
    for (uint32_t n = 0; n < sk.n_nodes; n++)
      sk.cost[n] *= scale;
    ex_problem p = problem_of(&sk);
    ex_solution out = solve(&p, EX_EXACT);
    cr_assert_float_eq(out.dag_cost / scale, 9, 1e-9);
    cr_assert(out.optimal);
  }
}

/* Sums beyond a double, and costs that CBC does not take: the choice is right
 * all the same. */
Test(solve, sums_that_overflow) {
  for (double scale = 1e23; scale < 3e307; scale *= 1e71) {
    sketch sk = shared();
    for (uint32_t n = 0; n < sk.n_nodes; n++)
      sk.cost[n] *= scale;
    ex_problem p = problem_of(&sk);
    for (ex_method m = EX_EXACT; m <= EX_ILP && ex_method_is_there(m); m++) {
      ex_solution out = solve(&p, m);
      cr_assert(out.optimal && out.bound == out.dag_cost);
      cr_assert_eq(out.choice[0], 0);
      cr_assert(isinf(out.dag_cost) || fabs(out.dag_cost / scale - 9) < 1e-9);
    }
  }
}

/* A child's fall is told to the node once, not for each time it stands there:
 * else this takes minutes. */
Test(solve, one_child_many_times) {
  enum { TIMES = 400000 };
  uint32_t *kids = calloc(TIMES, sizeof *kids);
  const uint32_t class_of[] = {0, 1}, kid_first[] = {0, 0, TIMES}, root = 1;
  const double cost[] = {1, 1};
  ex_draft d = {.n_classes = 2,
                .n_nodes = 2,
                .n_roots = 1,
                .class_of = class_of,
                .cost = cost,
                .kid_first = kid_first,
                .kids = kids,
                .roots = &root};
  ex_problem p;
  ex_problem_build(&heap, &d, NULL, &p);
  ex_solution s = solve(&p, EX_EXACT);
  cr_assert(s.optimal && s.dag_cost == 2 && s.tree_cost == TIMES + 1);
  free(kids);
}

/* ---- costs below zero ---- */

static sketch
with_rewards(uint64_t seed) {
  sketch s;
  random_seed(seed);
  sketch_random(&s, 4 + (uint32_t)(seed % 4));
  for (uint32_t n = 0; n < s.n_nodes; n++)
    if (!random_below(4) && !isinf(s.cost[n]))
      s.cost[n] -= 1 + random_below(8);
  return s;
}

Test(solve, costs_below_zero_have_true_bounds) {
  uint32_t best_found = 0, feasible = 0;
  for (uint64_t seed = 0; seed < 400; seed++) {
    sketch sk = with_rewards(seed);
    ex_problem p = problem_of(&sk);
    double best = optimum(&p), slack = 1e-9 * (1 + fabs(best));
    for (int m = EX_DAG; m <= EX_EXACT; m++) {
      ex_solution s = solve(&p, (ex_method)m);
      cr_assert_eq(s.feasible, !isinf(best), "seed %d", (int)seed);
      if (!s.feasible)
        continue;
      cr_assert_leq(s.bound, best + slack, "seed %d", (int)seed);
      cr_assert_geq(s.dag_cost, best - slack, "seed %d", (int)seed);
      if (s.optimal)
        cr_assert_leq(s.dag_cost, best + slack, "seed %d", (int)seed);
      feasible += m == EX_EXACT;
      best_found += m == EX_EXACT && s.dag_cost <= best + slack;
    }
  }
  cr_expect_gt(best_found * 10, feasible * 8, "%u of %u", best_found, feasible);
}

/* A reward that nothing on the way to the roots needs is not collected. */
Test(solve, a_reward_is_had_by_who_needs_it_only) {
  sketch s = {.n_classes = 3, .n_roots = 1, .roots = {2}};
  sketch_node(&s, 0, -5);
  sketch_node(&s, 1, 1);
  sketch_kid(&s, 0);
  sketch_node(&s, 2, 3);
  ex_problem p = problem_of(&s);
  cr_expect_eq(solve(&p, EX_EXACT).dag_cost, 3);
  sketch_node(&s, 2, 4);
  sketch_kid(&s, 1);
  ex_problem q = problem_of(&s);
  cr_expect_eq(solve(&q, EX_EXACT).dag_cost, 0);
}

/* ---- parts ---- */

static void
append_sketch(sketch *to, const sketch *from) {
  uint32_t first = to->n_classes;
  for (uint32_t n = 0; n < from->n_nodes; n++) {
    sketch_node(to, first + from->class_of[n], from->cost[n]);
    for (uint32_t k = from->kid_first[n]; k < from->kid_first[n + 1]; k++)
      sketch_kid(to, first + from->kids[k]);
  }
  for (uint32_t r = 0; r < from->n_roots && to->n_roots < MAX_ROOTS; r++)
    to->roots[to->n_roots++] = first + from->roots[r];
  to->n_classes += from->n_classes;
}

/* What has nothing in common costs the sum of its parts, each of which is known
 * by enumeration: a bound that counts a part twice calls too much optimal. */
Test(solve, parts_side_by_side_cost_their_sum) {
  for (uint64_t seed = 0; seed < 300; seed++) {
    sketch all = {0};
    double sum = 0;
    random_seed(seed);
    for (int part = 0; part < 3; part++) {
      sketch one;
      sketch_random(&one, 5 + random_below(4));
      one.n_roots = 1;
      ex_problem p = problem_of(&one);
      if (all.n_classes + one.n_classes > MAX_CLASSES ||
          all.n_nodes + one.n_nodes > MAX_NODES)
        continue;
      double best = optimum(&p);
      if (isinf(best))
        continue;
      sum += best;
      append_sketch(&all, &one);
    }
    if (!all.n_roots)
      continue;
    ex_problem p = problem_of(&all);
    ex_solution s = solve(&p, EX_EXACT);
    cr_assert(s.optimal, "seed %d", (int)seed);
    cr_assert_float_eq(s.dag_cost, sum, 1e-9 * (1 + sum), "seed %d", (int)seed);
  }
}

/* The order of the choices is kept whatever is replaced: on a ladder of pairs,
 * each of which the tree chooses wrongly, every choice must be mended. */
Test(solve, what_is_shared_is_found_along_a_long_ladder) {
  enum { RUNGS = 20 };
  sketch s = {.n_classes = 3 * RUNGS + 1, .n_roots = 1};
  sketch_node(&s, 0, 1);
  for (uint32_t k = 0; k < RUNGS; k++) {
    uint32_t below = 3 * k, left = below + 1, right = below + 2, up = below + 3;
    for (uint32_t c = left; c <= right; c++) {
      sketch_node(&s, c, 5);
      sketch_kid(&s, below);
      sketch_node(&s, c, 0);
      sketch_kid(&s, below);
      if (c == left)
        s.cost[s.n_nodes - 1] = 4;
    }
    sketch_node(&s, up, 1);
    sketch_kid(&s, left);
    sketch_kid(&s, right);
  }
  s.roots[0] = 3 * RUNGS;
  ex_problem p = problem_of(&s);
  cr_expect_eq(solve(&p, EX_DAG).dag_cost, 1 + 5 * RUNGS);
}
