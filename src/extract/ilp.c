/* SPDX-License-Identifier: MIT */
/* ilp.c - the optimal DAG by an integer program, solved by CBC.
 *
 *   minimize   sum cost[n] x[n]              x[n] in {0, 1}
 *   root r:    sum over n in r of x[n] >= 1
 *   d uses k:  sum over n in k of x[n] >= sum over n in d with child k of x[n]
 *   cycle cut: over a cycle of classes, not every class uses the next one
 *
 * The program is that of the reduced core.  Cycles are cut lazily: a solution
 * with cycles adds a cut for each one found and the program is solved again.
 * Every relaxation's bound is a bound of the problem; the first solution
 * without a cycle is optimal.  The greedy DAG is the answer when time runs out
 * before, and optimal itself where the bound meets it.  CBC takes no large
 * costs: they are divided, and what it then calls optimal is not, as small ones
 * get lost in its tolerances. */
#include "extract/core.h"
#include "extract/extract_search.h"
#include "glen-features.h"

#if GLEN_HAVE_CBC
#include "base/library.h"
#include <assert.h>
#include <Cbc_C_Interface.h>
#include <pthread.h>

/* clang-format off */
#define CBC_FUNCTIONS(X) \
  X(addCol) X(addRow) X(deleteModel) X(getBestPossibleObjValue) \
  X(getColSolution) X(isProvenOptimal) X(newModel) X(setAllowableGap) \
  X(setLogLevel) X(setMaximumSeconds) X(setParameter) X(solve)
/* clang-format on */

/* CBC's functions.  It brings eighteen libraries with it, so that it is loaded
 * when an integer program is first solved. */
#define FIELD(name) __typeof__(&Cbc_##name) name;
#define NAME(name)  "Cbc_" #name " "
static union {
  struct {
    CBC_FUNCTIONS(FIELD)
  };
  void *addresses[sizeof(struct {CBC_FUNCTIONS(FIELD)}) / sizeof(void *)];
} cbc;

static bool cbc_there;

static void
load_cbc(void) {
  cbc_there =
      bs_library_load(GLEN_CBC_LIBRARIES, CBC_FUNCTIONS(NAME), cbc.addresses);
}

bool
ex_ilp_is_there(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_cbc);
  return cbc_there;
}

typedef struct row {
  uint32_t first; /* of its entries */
  char sense;
  double side;
} row;

/* Of costs that CBC is given; it stops the program at 1e25. */
#define MAX_EXPONENT 60

typedef struct program {
  const ex_problem *p;
  int shift; /* costs are divided by 2^shift */
  uint32_t *class_of;
  BS_VEC(row) rows;
  BS_VEC(int) column;
  BS_VEC(double) factor;
} program;

static void
open_row(program *g, char sense, double side) {
  bs_push(g->p->heap, &g->rows, (row){g->column.len, sense, side});
}

static void
put(program *g, uint32_t node, double factor) {
  bs_push(g->p->heap, &g->column, (int)node);
  bs_push(g->p->heap, &g->factor, factor);
}

static void
put_class(program *g, uint32_t c) {
  assert(c < g->p->n_classes);
  for (uint32_t n = g->p->class_first[c]; n < g->p->class_first[c + 1]; n++)
    put(g, n, 1);
}

static bool
has_child(const ex_problem *p, uint32_t n, uint32_t c) {
  for (uint32_t k = p->kid_first[n]; k < p->kid_first[n + 1]; k++)
    if (p->kids[k] == c)
      return true;
  return false;
}

static void
put_users(program *g, uint32_t d, uint32_t kid, double factor) {
  for (uint32_t n = g->p->class_first[d]; n < g->p->class_first[d + 1]; n++)
    if (has_child(g->p, n, kid))
      put(g, n, factor);
}

/* One row for each child class of d. */
static void
add_children(program *g, uint32_t d, uint32_t *seen) {
  const ex_problem *p = g->p;
  for (uint32_t n = p->class_first[d]; n < p->class_first[d + 1]; n++)
    for (uint32_t k = p->kid_first[n]; k < p->kid_first[n + 1]; k++) {
      uint32_t kid = p->kids[k];
      if (seen[kid] == d + 1)
        continue;
      seen[kid] = d + 1;
      open_row(g, 'G', 0);
      put_class(g, kid);
      put_users(g, d, kid, -1);
    }
}

/* More than any solution costs. */
static double
sum_of(const ex_problem *p) {
  double sum = 0;
  for (uint32_t n = 0; n < p->n_nodes; n++)
    sum += p->cost[n];
  return sum * (1 + 1e-6);
}

static void
build(program *g, const ex_problem *p) {
  uint32_t *seen = EX_ZERO(p->heap, uint32_t, p->n_classes);
  *g = (program){
      .p = p, .class_of = ex_class_of(p), .shift = ex_excess(p, MAX_EXPONENT)};
  for (uint32_t r = 0; r < p->n_roots; r++) {
    open_row(g, 'G', 1);
    put_class(g, p->roots[r]);
  }
  for (uint32_t d = 0; d < p->n_classes; d++)
    add_children(g, d, seen);
  bs_free(p->heap, seen);
}

static void
program_done(program *g) {
  bs_heap *h = g->p->heap;
  bs_vec_done(h, &g->rows);
  bs_vec_done(h, &g->column);
  bs_vec_done(h, &g->factor);
  bs_free(h, g->class_of);
}

/* No allocation of ours happens while a model lives. */
static Cbc_Model *
make_model(const program *g) {
  Cbc_Model *m = cbc.newModel();
  cbc.setLogLevel(m, 0);
  for (uint32_t n = 0; n < g->p->n_nodes; n++)
    cbc.addCol(m, "", 0, 1, ldexp(g->p->cost[n], -g->shift), 1, 0, NULL, NULL);
  for (uint32_t r = 0; r < g->rows.len; r++) {
    const row *at = &g->rows.data[r];
    uint32_t end = r + 1 < g->rows.len ? at[1].first : g->column.len;
    cbc.addRow(m, "", (int)(end - at->first), g->column.data + at->first,
               g->factor.data + at->first, at->sense, at->side);
  }
  return m;
}

typedef struct answer {
  bool optimal;
  double bound;
} answer;

/* The chosen nodes of one relaxation; choice EX_NONE where no node is taken. */
static answer
solve_once(const program *g, const ex_watch *w, uint32_t *choice) {
  const ex_problem *p = g->p;
  Cbc_Model *m = make_model(g);
  if (!isinf(ex_watch_left(w)))
    cbc.setMaximumSeconds(m, fmax(ex_watch_left(w), 0.01));
  cbc.setParameter(m, "timeMode", "elapsed");
  cbc.setAllowableGap(m, 0);
  cbc.solve(m);
  answer a = {cbc.isProvenOptimal(m),
              ldexp(cbc.getBestPossibleObjValue(m), g->shift)};
  const double *x = a.optimal ? cbc.getColSolution(m) : NULL;
  for (uint32_t c = 0; c < p->n_classes; c++)
    choice[c] = EX_NONE;
  for (uint32_t n = 0; x && n < p->n_nodes; n++)
    if (x[n] > 0.5 && choice[g->class_of[n]] == EX_NONE)
      choice[g->class_of[n]] = n;
  cbc.deleteModel(m);
  return a;
}

/* The cycle that closes at class c, reached from `from` along the stack. */
static void
cut_cycle(program *g, const uint32_t *stack, uint32_t depth, uint32_t c) {
  assert(depth);
  uint32_t first = depth - 1;
  while (stack[first] != c)
    first--;
  open_row(g, 'L', (double)(depth - first) - 1);
  for (uint32_t i = first; i < depth; i++)
    put_users(g, stack[i], i + 1 < depth ? stack[i + 1] : c, 1);
}

typedef struct search {
  uint32_t *stack, *next;
  uint8_t *state;
  uint32_t depth;
} search;

static void
visit(const program *g, search *s, const uint32_t *choice, uint32_t c) {
  assert(choice[c] != EX_NONE && s->state[c] == 0 &&
         s->depth < g->p->n_classes);
  s->state[c] = 1;
  s->next[s->depth] = g->p->kid_first[choice[c]];
  s->stack[s->depth++] = c;
}

/* Adds a cut for each back edge of a depth-first walk; returns how many. */
static uint32_t
cut_cycles(program *g, const uint32_t *choice) {
  const ex_problem *p = g->p;
  bs_heap *h = p->heap;
  search s = {EX_NEW(h, uint32_t, p->n_classes),
              EX_NEW(h, uint32_t, p->n_classes),
              EX_ZERO(h, uint8_t, p->n_classes), 0};
  uint32_t cuts = 0;
  for (uint32_t r = 0; r < p->n_roots; r++) {
    if (s.state[p->roots[r]] == 0)
      visit(g, &s, choice, p->roots[r]);
    while (s.depth) {
      uint32_t c = s.stack[s.depth - 1], *k = &s.next[s.depth - 1];
      if (*k == p->kid_first[choice[c] + 1]) {
        s.state[c] = 2;
        s.depth--;
        continue;
      }
      uint32_t kid = p->kids[(*k)++];
      if (s.state[kid] == 0) {
        visit(g, &s, choice, kid);
      } else if (s.state[kid] == 1) {
        cut_cycle(g, s.stack, s.depth, kid);
        cuts++;
      }
    }
  }
  bs_free(h, s.state);
  bs_free(h, s.next);
  bs_free(h, s.stack);
  return cuts;
}

/* Solves and cuts until a solution has no cycle: then true.  *bound rises to
 * what the last program says, but for what CBC says before it has any. */
static bool
solve_rounds(const ex_problem *p, ex_watch *w, uint32_t *choice, double limit,
             double *bound, uint64_t *steps) {
  program g;
  bool acyclic = false, going = true;
  build(&g, p);
  while (going && !acyclic && !ex_watch_over(w)) {
    answer a = solve_once(&g, w, choice);
    ++*steps;
    if (a.bound < limit)
      *bound = fmax(*bound, a.bound);
    going = a.optimal;
    acyclic = going && cut_cycles(&g, choice) == 0;
  }
  program_done(&g);
  return acyclic;
}

/* Solves a core; true when `best` is its optimum.  No bound is above the sum
 * of all costs. */
static bool
solve_core(const ex_core *core, ex_watch *w, core_solution *best,
           ex_solution *s) {
  ex_problem p;
  uint32_t *class_at, *node_at;
  double bound = 0, tree, dag;
  core_to_problem(core, &p, &class_at, &node_at);
  uint32_t *choice = EX_NEW(core->heap, uint32_t, p.n_classes);
  bool solved = (p.n_classes == 0 ||
                 solve_rounds(&p, w, choice, sum_of(&p), &bound, &s->steps)) &&
                ex_price(&p, choice, &tree, &dag);
  if (solved)
    core_keep(core, &p, node_at, choice, dag, best);
  solved = solved && (p.n_classes == 0 || !ex_excess(&p, MAX_EXPONENT));
  s->bound = fmax(s->bound, core->base + bound);
  bs_free(core->heap, choice);
  bs_free(core->heap, node_at);
  bs_free(core->heap, class_at);
  ex_problem_done(&p);
  return solved;
}

static void
take_over(const ex_problem *p, const ex_traces *traces,
          const core_solution *best, uint32_t *choice) {
  uint32_t *class_of = ex_class_of(p);
  uint32_t *found = EX_NEW(p->heap, uint32_t, p->n_classes);
  double tree, dag, old;
  for (uint32_t c = 0; c < p->n_classes; c++)
    found[c] = EX_NONE;
  core_restore(p->heap, traces, &best->traces, class_of, found);
  ex_price(p, choice, &tree, &old);
  if (ex_price(p, found, &tree, &dag) && dag < old)
    for (uint32_t c = 0; c < p->n_classes; c++)
      choice[c] = found[c];
  bs_free(p->heap, found);
  bs_free(p->heap, class_of);
}

static void
search_below(const ex_problem *p, ex_watch *w, ex_solution *s) {
  ex_core core;
  ex_traces traces = {0};
  core_solution best = {.cost = INFINITY};
  core_from_problem(&core, p, &traces, s->choice);
  core_reduce(&core, w);
  s->optimal = solve_core(&core, w, &best, s);
  if (best.cost < INFINITY)
    take_over(p, &traces, &best, s->choice);
  core_done(&core);
  bs_vec_done(p->heap, &traces);
  bs_vec_done(p->heap, &best.traces);
}

bool
ex_solve_ilp(const ex_problem *p, ex_watch *w, ex_solution *s) {
  double dag, tree;
  if (!ex_heuristic(p, w, s->choice, &dag, &s->bound))
    return false;
  double step = ex_least_saving(p, dag);
  s->optimal = s->bound >= dag - step;
  if (!s->optimal) {
    search_below(p, w, s);
    ex_price(p, s->choice, &tree, &dag);
    s->optimal = s->optimal || s->bound >= dag - step;
  }
  return ex_restrict(p, s->choice);
}

#else

bool
ex_ilp_is_there(void) {
  return false;
}

bool
ex_solve_ilp(const ex_problem *p, ex_watch *w, ex_solution *s) {
  (void)p, (void)w, (void)s;
  return false;
}

#endif
