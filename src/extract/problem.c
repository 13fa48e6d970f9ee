/* SPDX-License-Identifier: MIT */
/* problem.c - the extraction problem in compressed rows, and its two prices.
 *
 * A choice is priced by one depth-first walk from the roots with an explicit
 * stack; the post-order of that walk is the order of the terms, and a class
 * met again while it is open is a cycle.  Sums run over the post-order, so a
 * price is the same whatever extractor found the choice. */
#include "base/file.h"
#include "base/governor.h"
#include "extract/internal.h"
#include <assert.h>
#include <string.h>

static void *
copied(bs_heap *heap, const void *from, size_t count, size_t size) {
  void *to = bs_calloc(heap, count, size);
  if (count)
    memcpy(to, from, count * size);
  return to;
}

/* The index of each drafted node: a counting sort by class. */
static void
place_nodes(const ex_draft *d, uint32_t *class_first, uint32_t *place) {
  for (uint32_t n = 0; n < d->n_nodes; n++)
    class_first[d->class_of[n] + 1]++;
  for (uint32_t c = 0; c < d->n_classes; c++)
    class_first[c + 1] += class_first[c];
  for (uint32_t n = 0; n < d->n_nodes; n++)
    place[n] = class_first[d->class_of[n]]++;
  for (uint32_t c = d->n_classes; c > 0; c--)
    class_first[c] = class_first[c - 1];
  class_first[0] = 0;
}

void
ex_problem_build(bs_heap *heap, const ex_draft *d, uint32_t *place,
                 ex_problem *out) {
  uint32_t n_kids = d->n_nodes ? d->kid_first[d->n_nodes] : 0;
  uint32_t *at = EX_NEW(heap, uint32_t, d->n_nodes);
  *out = (ex_problem){.heap = heap,
                      .n_classes = d->n_classes,
                      .n_nodes = d->n_nodes,
                      .n_roots = d->n_roots};
  out->class_first = EX_ZERO(heap, uint32_t, (size_t)d->n_classes + 1);
  out->cost = EX_NEW(heap, double, d->n_nodes);
  out->kid_first = EX_ZERO(heap, uint32_t, (size_t)d->n_nodes + 1);
  out->kids = EX_NEW(heap, uint32_t, n_kids);
  out->roots = copied(heap, d->roots, d->n_roots, sizeof *d->roots);
  place_nodes(d, out->class_first, at);
  for (uint32_t n = 0; n < d->n_nodes; n++) {
    out->cost[at[n]] = d->cost[n];
    out->kid_first[at[n] + 1] = d->kid_first[n + 1] - d->kid_first[n];
  }
  for (uint32_t n = 0; n < d->n_nodes; n++)
    out->kid_first[n + 1] += out->kid_first[n];
  for (uint32_t n = 0; n < d->n_nodes; n++)
    for (uint32_t k = d->kid_first[n]; k < d->kid_first[n + 1]; k++)
      out->kids[out->kid_first[at[n]] + k - d->kid_first[n]] = d->kids[k];
  if (place && d->n_nodes)
    memcpy(place, at, (size_t)d->n_nodes * sizeof *at);
  bs_free(heap, at);
}

void
ex_problem_done(ex_problem *p) {
  bs_free(p->heap, p->class_first);
  bs_free(p->heap, p->cost);
  bs_free(p->heap, p->kid_first);
  bs_free(p->heap, p->kids);
  bs_free(p->heap, p->roots);
  bs_free(p->heap, p->node_names);
  bs_free(p->heap, p->class_names);
  bs_free(p->heap, p->names);
  *p = (ex_problem){.heap = p->heap};
}

void
ex_solution_done(const ex_problem *p, ex_solution *s) {
  bs_free(p->heap, s->choice);
  s->choice = NULL;
}

static bool
rows_ascend(const uint32_t *first, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (first[i] > first[i + 1])
      return false;
  return first[0] == 0;
}

static bool
below(const uint32_t *items, uint32_t n, uint32_t limit) {
  for (uint32_t i = 0; i < n; i++)
    if (items[i] >= limit)
      return false;
  return true;
}

const char *
ex_validate(const ex_problem *p) {
  if (!rows_ascend(p->class_first, p->n_classes) ||
      p->class_first[p->n_classes] != p->n_nodes)
    return "the rows of the classes do not cover the nodes in order";
  if (!rows_ascend(p->kid_first, p->n_nodes))
    return "the rows of the children are not in order";
  if (!below(p->kids, p->kid_first[p->n_nodes], p->n_classes))
    return "a child is not a class";
  if (!below(p->roots, p->n_roots, p->n_classes))
    return "a root is not a class";
  for (uint32_t n = 0; n < p->n_nodes; n++)
    if (isnan(p->cost[n]) || p->cost[n] == -INFINITY)
      return "a cost is not a number, or below all numbers";
  return NULL;
}

void
ex_lists_done(bs_heap *heap, ex_lists *l) {
  bs_free(heap, l->first);
  bs_free(heap, l->item);
}

ex_lists
ex_parents(const ex_problem *p) {
  uint32_t n_kids = p->kid_first[p->n_nodes];
  ex_lists l = {EX_ZERO(p->heap, uint32_t, (size_t)p->n_classes + 2),
                EX_NEW(p->heap, uint32_t, n_kids)};
  uint32_t *end = l.first + 1; /* becomes `first` once all are placed */
  for (uint32_t k = 0; k < n_kids; k++)
    end[p->kids[k] + 1]++;
  for (uint32_t c = 0; c < p->n_classes; c++)
    end[c + 1] += end[c];
  for (uint32_t n = 0; n < p->n_nodes; n++)
    for (uint32_t k = p->kid_first[n]; k < p->kid_first[n + 1]; k++)
      l.item[end[p->kids[k]]++] = n;
  return l;
}

uint32_t *
ex_class_of(const ex_problem *p) {
  uint32_t *of = EX_NEW(p->heap, uint32_t, p->n_nodes);
  for (uint32_t c = 0; c < p->n_classes; c++)
    for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++)
      of[n] = c;
  return of;
}

/* The walk: a stack of (class, next child of its node). */
typedef struct walk {
  const ex_problem *p;
  const uint32_t *choice;
  uint8_t *state; /* 0 new, 1 open, 2 done */
  uint32_t *stack, *next, *order;
  uint32_t depth, n;
} walk;

static void
walk_start(walk *w, const ex_problem *p, const uint32_t *choice) {
  *w = (walk){.p = p, .choice = choice};
  w->state = EX_ZERO(p->heap, uint8_t, p->n_classes);
  w->stack = EX_NEW(p->heap, uint32_t, p->n_classes);
  w->next = EX_NEW(p->heap, uint32_t, p->n_classes);
  w->order = EX_NEW(p->heap, uint32_t, p->n_classes);
}

static void
walk_done(walk *w) {
  bs_free(w->p->heap, w->state);
  bs_free(w->p->heap, w->stack);
  bs_free(w->p->heap, w->next);
  bs_free(w->p->heap, w->order);
}

/* False when the class cannot be entered: no usable node, or it is open. */
static bool
walk_enter(walk *w, uint32_t c) {
  uint32_t node = w->choice[c];
  if (w->state[c] == 2)
    return true;
  if (w->state[c] == 1 || node < w->p->class_first[c] ||
      node >= w->p->class_first[c + 1] || isinf(w->p->cost[node]))
    return false;
  w->state[c] = 1;
  w->next[w->depth] = w->p->kid_first[node];
  w->stack[w->depth++] = c;
  return true;
}

static bool
walk_from(walk *w, uint32_t root) {
  if (!walk_enter(w, root))
    return false;
  while (w->depth) {
    uint32_t c = w->stack[w->depth - 1], *k = &w->next[w->depth - 1];
    if (*k == w->p->kid_first[w->choice[c] + 1]) {
      w->depth--;
      w->state[c] = 2;
      w->order[w->n++] = c;
    } else if (!walk_enter(w, w->p->kids[(*k)++])) {
      return false;
    }
  }
  return true;
}

static bool
walk_all(walk *w) {
  for (uint32_t r = 0; r < w->p->n_roots; r++)
    if (!walk_from(w, w->p->roots[r]))
      return false;
  return true;
}

bool
ex_price(const ex_problem *p, const uint32_t *choice, double *tree,
         double *dag) {
  assert(choice);
  walk w;
  walk_start(&w, p, choice);
  bool ok = walk_all(&w);
  double *cost = EX_NEW(p->heap, double, p->n_classes);
  *tree = *dag = ok ? 0 : INFINITY;
  for (uint32_t i = 0; ok && i < w.n; i++) {
    uint32_t c = w.order[i], node = choice[c];
    cost[c] = p->cost[node];
    for (uint32_t k = p->kid_first[node]; k < p->kid_first[node + 1]; k++)
      cost[c] += cost[p->kids[k]];
    *dag += p->cost[node];
  }
  for (uint32_t r = 0; ok && r < p->n_roots; r++)
    *tree += cost[p->roots[r]];
  bs_free(p->heap, cost);
  walk_done(&w);
  return ok;
}

uint32_t
ex_order(const ex_problem *p, const uint32_t *choice, uint32_t *out) {
  assert(choice);
  walk w;
  walk_start(&w, p, choice);
  uint32_t n = walk_all(&w) ? w.n : 0;
  if (n)
    memcpy(out, w.order, (size_t)n * sizeof *out);
  walk_done(&w);
  return n;
}

bool
ex_restrict(const ex_problem *p, uint32_t *choice) {
  assert(choice);
  walk w;
  walk_start(&w, p, choice);
  bool ok = walk_all(&w);
  for (uint32_t c = 0; ok && c < p->n_classes; c++)
    if (w.state[c] != 2)
      choice[c] = EX_NONE;
  walk_done(&w);
  return ok;
}

void
ex_watch_start(ex_watch *w, bs_heap *heap, const ex_options *options) {
  *w = (ex_watch){
      .options = options, .governor = bs_governor_of(heap), .start = bs_now()};
}

static double
seconds_of(const ex_watch *w) {
  return bs_now() - w->start;
}

double
ex_watch_left(const ex_watch *w) {
  double own = w->options && w->options->seconds > 0
                   ? w->options->seconds - seconds_of(w)
                   : INFINITY;
  return fmax(fmin(own, bs_stage_seconds(w->governor)), 0);
}

bool
ex_watch_over(ex_watch *w) {
  const ex_options *o = w->options;
  if (w->over)
    return true;
  if (bs_stage_over(w->governor))
    return w->over = true;
  if (!o)
    return false;
  if (o->interrupt && *o->interrupt)
    return w->over = true;
  if (o->seconds > 0)
    w->over = seconds_of(w) >= o->seconds;
  return w->over;
}

/* ---- what a method has found ---- */

static bool
chooses_own_nodes(const ex_problem *p, const uint32_t *choice) {
  for (uint32_t c = 0; c < p->n_classes; c++)
    if (choice[c] != EX_NONE &&
        (choice[c] < p->class_first[c] || choice[c] >= p->class_first[c + 1]))
      return false;
  return true;
}

const char *
ex_check_solution(const ex_problem *p, const ex_solution *s, bool trees) {
  assert(s->choice);
  double tree, dag;
  if (!chooses_own_nodes(p, s->choice))
    return "a class has a node of another one";
  if (!s->feasible)
    return s->optimal && !isinf(s->bound) ? "the optimum is no solution" : NULL;
  if (!ex_price(p, s->choice, &tree, &dag))
    return "the choice is not whole, or needs itself";
  if (tree != s->tree_cost || dag != s->dag_cost)
    return "a cost is not that of the choice";
  return s->bound > (trees ? tree : dag) ? "the cost is below its bound" : NULL;
}
