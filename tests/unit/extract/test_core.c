/* SPDX-License-Identifier: MIT */
#include "extract/core.h"
#include "extract/landmark.h"
#include "random_problem.h"
#include "tests/unit/sanitized.h"
#include <criterion/criterion.h>

enum { CASES = SANITIZED ? 600 : 3000 };

static bs_heap heap;
static ex_watch watch;
static ex_traces traces;

/* Opens a random core; false when the case has no solution. */
static bool
open_core(uint64_t seed, ex_problem *p, ex_core *core, double *best) {
  static sketch s;
  bs_heap_init(&heap, NULL, 0);
  ex_watch_start(&watch, &heap, NULL);
  traces = (ex_traces){0};
  random_seed(seed);
  sketch_random(&s, 4 + (uint32_t)(seed % 7));
  sketch_problem(&s, &heap, p);
  *best = optimum(p);
  if (isinf(*best)) {
    bs_heap_done(&heap);
    return false;
  }
  uint32_t *tree = EX_NEW(&heap, uint32_t, p->n_classes);
  double *cost = EX_NEW(&heap, double, p->n_classes);
  ex_tree(p, NULL, cost, tree);
  core_from_problem(core, p, &traces, tree);
  return true;
}

static double
core_optimum(const ex_core *core) {
  ex_problem q;
  uint32_t *class_at, *node_at;
  if (core->infeasible)
    return INFINITY;
  core_to_problem(core, &q, &class_at, &node_at);
  double best = core->base + optimum(&q);
  bs_free(&heap, class_at);
  bs_free(&heap, node_at);
  ex_problem_done(&q);
  return best;
}

static void
expect(const ex_core *core, double best, uint64_t seed, const char *what) {
  double now = core_optimum(core);
  cr_assert(fabs(now - best) <= 1e-9 * (1 + best), "seed %lu: %s: %g, not %g",
            (unsigned long)seed, what, now, best);
}

Test(core, every_reduction_keeps_the_optimum) {
  for (uint64_t seed = 0; seed < CASES; seed++) {
    ex_problem p;
    ex_core g;
    core_must m;
    double best;
    if (!open_core(seed, &p, &g, &best))
      continue;
    for (uint32_t changed = 1; changed;) {
      core_prune(&g);
      expect(&g, best, seed, "prune");
      changed = core_normalize_costs(&g);
      expect(&g, best, seed, "normalize");
      changed += core_eliminate(&g, &watch);
      expect(&g, best, seed, "eliminate");
      core_prune(&g);
      core_must_start(&g, &watch, &m);
      changed += core_use_must(&g, &m);
      core_must_done(&m);
      expect(&g, best, seed, "must");
      core_prune(&g);
      core_must_start(&g, &watch, &m);
      changed += core_dominate(&g, &watch, &m);
      core_must_done(&m);
      expect(&g, best, seed, "dominate");
    }
    bs_heap_done(&heap);
  }
}

Test(core, a_copy_and_the_parts_have_the_same_optimum) {
  uint32_t several = 0;
  for (uint64_t seed = 0; seed < CASES; seed++) {
    ex_problem p;
    ex_core g, copy, part;
    double best, sum;
    if (!open_core(seed, &p, &g, &best))
      continue;
    core_prune(&g);
    core_copy(&copy, &g);
    expect(&copy, best, seed, "copy");
    uint32_t *part_of = EX_NEW(&heap, uint32_t, copy.n_classes + 1);
    uint32_t n = core_parts(&copy, part_of);
    several += n > 1;
    sum = copy.base;
    for (uint32_t i = 0; i < n; i++) {
      core_extract_part(&copy, part_of, i, &part);
      sum += core_optimum(&part);
    }
    cr_assert(fabs(sum - best) <= 1e-9 * (1 + best), "seed %lu",
              (unsigned long)seed);
    bs_heap_done(&heap);
  }
  cr_assert_gt(several, CASES / 20);
}

Test(core, the_ways_of_a_branch_cover_all_solutions) {
  uint32_t branched = 0;
  for (uint64_t seed = 0; seed < CASES; seed++) {
    ex_problem p;
    ex_core g, way;
    core_moves moves = {0};
    double best, least = INFINITY;
    if (!open_core(seed, &p, &g, &best))
      continue;
    core_prune(&g); /* and nothing else, so that much is left to decide */
    ex_core fresh;
    core_copy(&fresh, &g);
    if (fresh.live_nodes > fresh.live_classes) {
      fresh.cutoff = 2 * best + 1;
      core_choose_branch(&fresh, &watch, 0, &moves);
      cr_assert_gt(moves.len, 0);
      for (uint32_t i = 0; i < moves.len; i++) {
        core_copy(&way, &fresh);
        core_apply(&way, moves.data[i]);
        core_prune(&way);
        least = fmin(least, core_optimum(&way));
        cr_assert_leq(moves.data[i].bound, core_optimum(&way) + 1e-9);
      }
      cr_assert(fabs(least - best) <= 1e-9 * (1 + best), "seed %lu: %g, not %g",
                (unsigned long)seed, least, best);
      branched++;
    }
    bs_heap_done(&heap);
  }
  cr_assert_gt(branched, CASES / 2);
}

/* No solution with a node costs less than the bound and the node's own. */
static void
expect_node_bounds(const ex_problem *p, double bound, const double *left,
                   double slack, uint64_t seed) {
  double *node = EX_NEW(&heap, double, p->n_nodes + 1);
  ex_node_bounds(p, left, node);
  for (uint32_t c = 0; c < p->n_classes; c++)
    for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++) {
      ex_problem q = *p; /* in which class c can only take node n */
      q.cost = EX_NEW(&heap, double, q.n_nodes);
      memcpy(q.cost, p->cost, q.n_nodes * sizeof *q.cost);
      for (uint32_t k = q.class_first[c]; k < q.class_first[c + 1]; k++)
        q.cost[k] = k == n ? q.cost[k] : INFINITY;
      cr_assert_leq(bound + node[n], optimum_using(&q, c) + slack,
                    "seed %lu, node %u", (unsigned long)seed, n);
      bs_free(&heap, q.cost);
    }
  bs_free(&heap, node);
}

Test(core, bounds_hold) {
  uint32_t better = 0;
  for (uint64_t seed = 0; seed < CASES; seed++) {
    ex_problem p;
    ex_core g;
    core_must m;
    ex_list goals = {0};
    double best;
    if (!open_core(seed, &p, &g, &best))
      continue;
    double slack = 1e-9 * (1 + best);
    core_prune_unreached(&g);
    core_must_start(&g, &watch, &m);
    core_must_goals(&m, &goals);
    double *left = EX_NEW(&heap, double, m.p.n_nodes + 1);
    double plain = ex_landmarks(&m.p, &watch, INFINITY, 1000000, left);
    cr_assert_leq(plain, best + slack);
    expect_node_bounds(&m.p, plain, left, slack, seed);
    cr_assert_leq(ex_chain_bound(&m.p), best + slack);
    cr_assert_leq(
        ex_count_bound(&m.p, goals.data, goals.len, &watch, INFINITY, 1000000),
        best + slack);
    m.p.roots = goals.data;
    m.p.n_roots = goals.len;
    plain = ex_landmarks(&m.p, &watch, INFINITY, 1000000, left);
    double priced =
        ex_priced_landmarks(&m.p, &watch, 2 * best, 1000000, 4, left);
    cr_assert_leq(priced, best + slack, "seed %lu", (unsigned long)seed);
    cr_assert_geq(priced, plain - slack);
    expect_node_bounds(&m.p, priced, left, slack, seed);
    better += priced > plain + 1e-6;
    bs_heap_done(&heap);
  }
  cr_assert_gt(better, 20);
}

/* Seven leaves summed up in any order: six additions, whatever the order. */
Test(core, counting_bounds_sums) {
  static uint32_t class_of[4000], first[4001], kids[8000];
  static double cost[4000];
  uint32_t n = 0, all = 127, root = all - 1, goals[8];
  for (uint32_t m = 1; m <= all; m++)
    for (uint32_t a = m; a; a = (a - 1) & m) {
      bool leaf = (m & (m - 1)) == 0;
      if (!leaf && a == m)
        continue;
      class_of[n] = m - 1;
      cost[n] = 1;
      first[n + 1] = first[n] + (leaf ? 0 : 2);
      if (!leaf) {
        kids[first[n]] = a - 1;
        kids[first[n] + 1] = (m & ~a) - 1;
      }
      n++;
    }
  bs_heap_init(&heap, NULL, 0);
  ex_watch_start(&watch, &heap, NULL);
  ex_draft d = {all, n, 1, class_of, cost, first, kids, &root};
  ex_problem p;
  ex_problem_build(&heap, &d, NULL, &p);
  for (uint32_t i = 0; i < 7; i++)
    goals[i] = (1u << i) - 1;
  goals[7] = root;
  double bound = ex_count_bound(&p, goals, 8, &watch, INFINITY, 1000000);
  cr_assert_float_eq(bound, 13, 1e-6);
  ex_solution s;
  cr_assert(ex_solve(&p, EX_EXACT, NULL, &s));
  cr_assert(s.optimal && s.dag_cost == 13);
  bs_heap_done(&heap);
}
