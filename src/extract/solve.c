/* SPDX-License-Identifier: MIT */
/* solve.c - the extractors behind one interface.
 *
 * A method proposes a choice; the prices reported are always recomputed from
 * it here, by one code for all methods. */
#include "extract/focus.h"
#include "extract/negative.h"
#include <assert.h>
#include <string.h>

typedef struct method {
  const char *name;
  bool (*solve)(const ex_problem *, ex_watch *, ex_solution *);
  bool trees;             /* it minimizes the tree cost, else the DAG cost */
  bool (*is_there)(void); /* NULL: always */
} method;

static const method methods[] = {
    [EX_TREE] = {"tree", ex_solve_tree, true, NULL},
    [EX_DAG] = {"dag", ex_solve_dag, false, NULL},
    [EX_EXACT] = {"exact", ex_solve_exact, false, NULL},
    [EX_ILP] = {"ilp", ex_solve_ilp, false, ex_ilp_is_there},
};
#define N_METHODS (sizeof methods / sizeof *methods)

/* Of costs: 2^32 of them, and what bounds multiply them by, stay below the
 * 2^1024 of a double. */
#define MAX_EXPONENT 900

bool
ex_method_find(const char *name, ex_method *out) {
  for (size_t i = 0; i < N_METHODS; i++)
    if (!strcmp(methods[i].name, name)) {
      *out = (ex_method)i;
      return true;
    }
  return false;
}

const char *
ex_method_name(ex_method m) {
  assert(m < N_METHODS);
  return methods[m].name;
}

bool
ex_method_trees(ex_method m) {
  assert(m < N_METHODS);
  return methods[m].trees;
}

bool
ex_method_is_there(ex_method m) {
  assert(m < N_METHODS);
  return !methods[m].is_there || methods[m].is_there();
}

static void
no_choice(const ex_problem *p, uint32_t *choice) {
  for (uint32_t c = 0; c < p->n_classes; c++)
    choice[c] = EX_NONE;
}

int
ex_excess(const ex_problem *p, int most_exponent) {
  double most = 0;
  int exponent;
  for (uint32_t n = 0; n < p->n_nodes; n++)
    if (!isinf(p->cost[n]))
      most = fmax(most, p->cost[n]);
  frexp(most, &exponent);
  return exponent > most_exponent ? exponent - most_exponent : 0;
}

static double *
scaled_costs(const ex_problem *p, int excess) {
  double *cost = EX_NEW(p->heap, double, p->n_nodes);
  for (uint32_t n = 0; n < p->n_nodes; n++)
    cost[n] = ldexp(p->cost[n], -excess);
  return cost;
}

/* A method for DAGs, on the part where they can be. */
static bool
solve_part(const ex_problem *p, const method *m, ex_watch *w,
           ex_solution *out) {
  ex_focus f;
  if (!ex_focus_start(p, &f))
    return false;
  assert(!ex_validate(&f.p));
  ex_solution part = *out;
  part.choice = EX_NEW(p->heap, uint32_t, f.p.n_classes);
  no_choice(&f.p, part.choice);
  bool ok = m->solve(&f.p, w, &part);
  out->bound = part.bound;
  out->optimal = part.optimal;
  out->steps = part.steps;
  if (ok)
    ex_focus_choice(&f, part.choice, out->choice);
  bs_free(p->heap, part.choice);
  ex_focus_done(&f);
  return ok;
}

static bool
solve_dag(const ex_problem *p, const method *m, ex_watch *w, ex_solution *out) {
  int excess = ex_excess(p, MAX_EXPONENT);
  if (!excess)
    return solve_part(p, m, w, out);
  ex_problem smaller = *p;
  smaller.cost = scaled_costs(p, excess);
  bool ok = solve_part(&smaller, m, w, out);
  out->bound = ldexp(out->bound, excess);
  bs_free(p->heap, smaller.cost);
  return ok;
}

/* Of what the other problem's solution uses, what the roots need. */
static bool
solve_negative(const ex_problem *p, const method *m, ex_watch *w,
               ex_solution *out) {
  ex_problem q;
  double shift = ex_without_negative(p, &q), tree, dag;
  assert(!ex_validate(&q));
  ex_solution part = *out;
  part.choice = EX_NEW(p->heap, uint32_t, q.n_classes);
  no_choice(&q, part.choice);
  bool ok = solve_dag(&q, m, w, &part);
  if (ok) {
    memcpy(out->choice, part.choice, p->n_classes * sizeof *out->choice);
    ex_climb(p, &q, w, out->choice);
  }
  ok = ok && ex_restrict(p, out->choice) &&
       ex_price(p, out->choice, &tree, &dag);
  out->steps = part.steps;
  out->bound = part.bound + shift;
  out->optimal = ok && part.optimal &&
                 dag - out->bound <= 1e-9 * (fabs(dag) + fabs(shift));
  bs_free(p->heap, part.choice);
  ex_problem_done(&q);
  return ok;
}

static bool
solve_any(const ex_problem *p, const method *m, ex_watch *w, ex_solution *out) {
  if (m->trees)
    return m->solve(p, w, out);
  return ex_has_negative(p) ? solve_negative(p, m, w, out)
                            : solve_dag(p, m, w, out);
}

bool
ex_solve(const ex_problem *p, ex_method name, const ex_options *options,
         ex_solution *out) {
  const method *m = &methods[name];
  ex_watch watch;
  assert(name < N_METHODS && !ex_validate(p));
  *out = (ex_solution){.tree_cost = INFINITY, .dag_cost = INFINITY};
  out->choice = EX_NEW(p->heap, uint32_t, p->n_classes);
  no_choice(p, out->choice);
  ex_watch_start(&watch, p->heap, options);
  if (!ex_method_is_there(name) || !solve_any(p, m, &watch, out))
    return false;
  out->feasible = ex_price(p, out->choice, &out->tree_cost, &out->dag_cost);
  if (out->optimal)
    out->bound = m->trees ? out->tree_cost : out->dag_cost;
  out->bound = fmin(out->bound, m->trees ? out->tree_cost : out->dag_cost);
  assert(!ex_check_solution(p, out, m->trees));
  return out->feasible;
}
