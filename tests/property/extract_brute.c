/* SPDX-License-Identifier: MIT */
/* extract_brute.c - the extractors against enumeration of all choices.
 *
 *   extract_brute [CASES [SEED [METHODS]]]     METHODS: tree,dag,exact,ilp
 *
 * Small random e-graphs with cycles, shared nodes, several roots and zero
 * costs.  All methods agree on whether there is a solution and return a valid
 * one that costs what they say; tree is no dearer as a tree than any other;
 * exact (and ilp) reach the enumerated optimum, say so, and are never worse
 * than dag.  A case that fails is shrunk by dropping nodes, children and
 * roots while it still fails, and printed.
 *
 * How good the choices are that need not be the best, and how much work they
 * take, is recorded (recorded.h) for each hundred cases. */
#include "../unit/extract/random_problem.h"
#include "recorded.h"
#include <stdio.h>
#include <stdlib.h>

enum { HUNDRED = 100 };

static bool wanted[EX_ILP + 1] = {true, true, true, false};
static char complaint[200];
static uint64_t steps;
static double costs[EX_ILP + 1]; /* of the present hundred: as trees, as DAGs */
static uint64_t work;

static bool
near(double a, double b) {
  return a == b || fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static bool
complain(const char *method, const char *what, double is, double should) {
  snprintf(complaint, sizeof complaint, "%s: %s: %.17g, not %.17g", method,
           what, is, should);
  return false;
}

static bool
check_method(const ex_problem *p, ex_method m, const ex_solution *s, bool ok,
             double best) {
  const char *name = ex_method_name(m);
  double tree, dag;
  if (ok != !isinf(best))
    return complain(name, "feasible", ok, !isinf(best));
  if (!ok)
    return true;
  if (!ex_price(p, s->choice, &tree, &dag))
    return complain(name, "valid", 0, 1);
  if (tree != s->tree_cost || dag != s->dag_cost)
    return complain(name, "cost told", s->dag_cost, dag);
  if (m != EX_TREE && (s->bound > best && !near(s->bound, best)))
    return complain(name, "bound", s->bound, best);
  if (dag < best && !near(dag, best))
    return complain(name, "better than the best", dag, best);
  if (m >= EX_EXACT && !near(dag, best))
    return complain(name, "cost", dag, best);
  if (m >= EX_EXACT && (!s->optimal || !near(s->bound, best)))
    return complain(name, "proved", s->bound, best);
  return true;
}

/* Of the method for trees a tree's cost, of others a DAG's. */
static void
add_up(ex_method m, const ex_solution *s) {
  double cost = ex_method_trees(m) ? s->tree_cost : s->dag_cost;
  steps += s->steps;
  work += m < EX_ILP ? s->steps : 0;
  if (!isinf(cost))
    costs[m] += cost;
}

/* What must hold between the methods. */
static bool
check_order(const ex_solution *s) {
  for (int m = EX_DAG; m <= EX_ILP; m++)
    if (wanted[m] && s[m].tree_cost < s[EX_TREE].tree_cost &&
        !near(s[m].tree_cost, s[EX_TREE].tree_cost))
      return complain("tree", "tree cost", s[EX_TREE].tree_cost,
                      s[m].tree_cost);
  if (s[EX_EXACT].dag_cost > s[EX_DAG].dag_cost)
    return complain("exact", "worse than dag", s[EX_EXACT].dag_cost,
                    s[EX_DAG].dag_cost);
  return true;
}

static bool
holds(const sketch *sk) {
  bs_heap heap;
  ex_problem p;
  ex_solution s[EX_ILP + 1];
  bs_heap_init(&heap, NULL, 0);
  sketch_problem(sk, &heap, &p);
  double best = optimum(&p);
  bool good = ex_validate(&p) == NULL;
  for (int m = EX_TREE; good && m <= EX_ILP; m++)
    if (wanted[m]) {
      bool ok = ex_solve(&p, (ex_method)m, NULL, &s[m]);
      good = check_method(&p, (ex_method)m, &s[m], ok, best);
      if (ok)
        add_up((ex_method)m, &s[m]);
    }
  good = good && (isinf(best) || check_order(s));
  bs_heap_done(&heap);
  return good;
}

/* The sketch without node `drop`, without child `kid`, or without a root. */
static sketch
without(const sketch *s, uint32_t drop, uint32_t kid, uint32_t root) {
  sketch out = {.n_classes = s->n_classes};
  for (uint32_t n = 0; n < s->n_nodes; n++) {
    if (n == drop)
      continue;
    sketch_node(&out, s->class_of[n], s->cost[n]);
    for (uint32_t k = s->kid_first[n]; k < s->kid_first[n + 1]; k++)
      if (k != kid)
        sketch_kid(&out, s->kids[k]);
  }
  for (uint32_t r = 0; r < s->n_roots; r++)
    if (r != root)
      out.roots[out.n_roots++] = s->roots[r];
  return out;
}

static bool
shrink_once(sketch *s) {
  uint32_t kids = s->kid_first[s->n_nodes];
  uint32_t total = s->n_nodes + kids + s->n_roots;
  for (uint32_t i = 0; i < total; i++) {
    uint32_t k = i - s->n_nodes, r = k - kids;
    sketch smaller = without(s, i < s->n_nodes ? i : EX_NONE,
                             i >= s->n_nodes && k < kids ? k : EX_NONE,
                             i >= s->n_nodes + kids ? r : EX_NONE);
    if (smaller.n_roots && !holds(&smaller)) {
      *s = smaller;
      return true;
    }
  }
  return false;
}

static void
print_sketch(const sketch *s) {
  printf("roots");
  for (uint32_t r = 0; r < s->n_roots; r++)
    printf(" %u", s->roots[r]);
  for (uint32_t n = 0; n < s->n_nodes; n++) {
    printf("\nclass %u: cost %.17g, children", s->class_of[n], s->cost[n]);
    for (uint32_t k = s->kid_first[n]; k < s->kid_first[n + 1]; k++)
      printf(" %u", s->kids[k]);
  }
  printf("\n");
}

static bool
read_methods(char *list) {
  ex_method m;
  memset(wanted, 0, sizeof wanted);
  for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
    if (!ex_method_find(name, &m))
      return false;
    wanted[m] = ex_method_is_there(m);
  }
  return wanted[EX_TREE] && wanted[EX_DAG] && wanted[EX_EXACT];
}

/* Whether the hundred cases up to this one came to what is recorded. */
static bool
is_as_recorded(uint64_t last) {
  bool same =
      recorded_same("extract_brute", last / HUNDRED,
                    "tree %.17g, dag %.17g, exact %.17g, steps %" PRIu64,
                    costs[EX_TREE], costs[EX_DAG], costs[EX_EXACT], work);
  memset(costs, 0, sizeof costs);
  work = 0;
  return same;
}

int
main(int argc, char **argv) {
  uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  if (argc > 3 && !read_methods(argv[3]))
    return fprintf(stderr, "methods: tree,dag,exact and perhaps ilp\n"), 2;
  for (uint64_t i = 0; i < cases; i++) {
    sketch s;
    random_seed(seed + i);
    sketch_random(&s, 4 + (uint32_t)(i % 7));
    if (holds(&s)) {
      if (seed == 1 && argc <= 3 && (i + 1) % HUNDRED == 0 &&
          !is_as_recorded(i + 1))
        return 1;
      continue;
    }
    while (shrink_once(&s))
      ;
    holds(&s);
    printf("seed %llu: %s\n", (unsigned long long)(seed + i), complaint);
    print_sketch(&s);
    return 1;
  }
  printf("%llu cases, %llu steps\n", (unsigned long long)cases,
         (unsigned long long)steps);
  return 0;
}
