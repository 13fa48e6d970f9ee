/* SPDX-License-Identifier: MIT */
#include "random_problem.h"
#include <criterion/criterion.h>

static bs_heap heap;
static ex_problem p;

/* 0: leaf 1;  1: f(0) 2, leaf 9;  2: g(1, 1, 0) 4 */
static void
three_classes(void) {
  sketch s = {.n_classes = 3, .n_roots = 1, .roots = {2}};
  sketch_node(&s, 2, 4); /* out of order on purpose */
  sketch_kid(&s, 1);
  sketch_kid(&s, 1);
  sketch_kid(&s, 0);
  sketch_node(&s, 1, 2);
  sketch_kid(&s, 0);
  sketch_node(&s, 0, 1);
  sketch_node(&s, 1, 9);
  bs_heap_init(&heap, NULL, 0);
  sketch_problem(&s, &heap, &p);
}

static void
stop(void) {
  ex_problem_done(&p);
  cr_assert_eq(heap.used, 0);
  bs_heap_done(&heap);
}

TestSuite(problem, .init = three_classes, .fini = stop);

Test(problem, nodes_stand_by_class_in_the_order_given) {
  uint32_t first[] = {0, 1, 3, 4};
  double cost[] = {1, 2, 9, 4};
  cr_assert_arr_eq(p.class_first, first, sizeof first);
  cr_assert_arr_eq(p.cost, cost, sizeof cost);
  cr_assert_eq(p.kid_first[4], 4);
  cr_assert_eq(p.kids[1], 1);
  cr_assert_null(ex_validate(&p));
}

Test(problem, a_shared_class_costs_once_in_a_dag_and_each_time_in_a_tree) {
  uint32_t choice[] = {0, 1, 3};
  double tree, dag;
  cr_assert(ex_price(&p, choice, &tree, &dag));
  cr_assert_eq(dag, 7);
  cr_assert_eq(tree, 4 + 3 + 3 + 1);
  choice[1] = 2;
  cr_assert(ex_price(&p, choice, &tree, &dag));
  cr_assert_eq(dag, 14);
}

Test(problem, a_choice_may_be_incomplete_or_of_another_class) {
  uint32_t missing[] = {0, EX_NONE, 3}, wrong[] = {0, 3, 3};
  double tree, dag;
  cr_assert_not(ex_price(&p, missing, &tree, &dag));
  cr_assert(isinf(dag));
  cr_assert_not(ex_price(&p, wrong, &tree, &dag));
}

Test(problem, a_cycle_has_no_price) {
  uint32_t choice[] = {0, 1, 3};
  double tree, dag;
  p.kids[p.kid_first[1]] = 2; /* class 1 now uses class 2 */
  cr_assert_not(ex_price(&p, choice, &tree, &dag));
  cr_assert_eq(ex_order(&p, choice, (uint32_t[3]){0}), 0);
}

Test(problem, the_order_has_children_first_and_only_what_is_needed) {
  uint32_t choice[] = {0, 2, 3}, order[3];
  p.n_roots = 1;
  p.roots[0] = 1;
  cr_assert_eq(ex_order(&p, choice, order), 1);
  cr_assert_eq(order[0], 1);
  p.roots[0] = 2;
  cr_assert_eq(ex_order(&p, choice, order), 3);
  cr_assert_eq(order[2], 2);
}

Test(problem, what_is_malformed_is_named) {
  p.cost[0] = -INFINITY;
  cr_assert_not_null(strstr(ex_validate(&p), "below all"));
  p.cost[0] = NAN;
  cr_assert_not_null(strstr(ex_validate(&p), "not a number"));
  p.cost[0] = -1;
  cr_assert_null(ex_validate(&p));
  p.cost[0] = 1;
  p.kids[0] = 3;
  cr_assert_not_null(strstr(ex_validate(&p), "child"));
  p.kids[0] = 0;
  p.roots[0] = 3;
  cr_assert_not_null(strstr(ex_validate(&p), "root"));
  p.roots[0] = 0;
  p.class_first[1] = 4;
  cr_assert_not_null(strstr(ex_validate(&p), "classes"));
  p.class_first[1] = 1;
  p.kid_first[1] = 4;
  cr_assert_not_null(strstr(ex_validate(&p), "children"));
  p.kid_first[1] = 0;
  cr_assert_null(ex_validate(&p));
}

Test(problem, methods_have_names) {
  ex_method m;
  for (int i = EX_TREE; i <= EX_ILP; i++)
    cr_assert(ex_method_find(ex_method_name((ex_method)i), &m) && (int)m == i);
  cr_assert_not(ex_method_find("best", &m));
  cr_assert(ex_method_is_there(EX_EXACT));
}

/* ---- what a method that is broken would leave ---- */

Test(problem, a_broken_solution_is_seen_by_the_check_after_it) {
  uint32_t choice[] = {0, 1, 3};
  ex_solution s = {.choice = choice, .feasible = true};
  cr_assert(ex_price(&p, choice, &s.tree_cost, &s.dag_cost));
  s.bound = s.dag_cost;
  cr_assert_null(ex_check_solution(&p, &s, false));
  s.bound = s.dag_cost + 1;
  cr_assert(strstr(ex_check_solution(&p, &s, false), "below its bound"));
  cr_assert_null(ex_check_solution(&p, &s, true), "as trees it costs more");
  s.bound = 0;
  s.dag_cost--;
  cr_assert(strstr(ex_check_solution(&p, &s, false), "not that of"));
  choice[1] = EX_NONE;
  cr_assert(strstr(ex_check_solution(&p, &s, false), "not whole"));
  choice[1] = 3;
  cr_assert(strstr(ex_check_solution(&p, &s, false), "of another one"));
  choice[1] = 1;
  p.kids[p.kid_first[1]] = 2; /* class 1 now uses class 2 */
  cr_assert(strstr(ex_check_solution(&p, &s, false), "needs itself"));
  s.feasible = false;
  s.optimal = true;
  cr_assert(strstr(ex_check_solution(&p, &s, false), "no solution"));
}

Test(problem, a_problem_that_is_made_smaller_wrongly_is_seen) {
  p.kids[0] = 3;
  cr_assert(strstr(ex_validate(&p), "child"));
  p.kids[0] = 0;
  p.roots[0] = 3;
  cr_assert(strstr(ex_validate(&p), "root"));
  p.roots[0] = 2;
  p.class_first[1] = 4;
  cr_assert(strstr(ex_validate(&p), "rows of the classes"));
  p.class_first[1] = 1;
  p.cost[0] = NAN;
  cr_assert(strstr(ex_validate(&p), "cost"));
}
