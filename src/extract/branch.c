/* SPDX-License-Identifier: MIT */
/* branch.c - what to decide next.
 *
 * Two kinds of decision divide the solutions of a core: whether a class is
 * used at all (which frees or removes what it shares), and which node a forced
 * class takes.  A few candidates of each kind are tried: each way is applied
 * to a copy and bounded.  The candidate wins whose ways promise the smallest
 * search trees, a way counting e^(-4 gain / gap), and nothing when its bound
 * reaches the cutoff. */
#include "extract/core.h"
#include "extract/landmark.h"
#include <assert.h>
#include <stdlib.h>

#define MAX_CANDIDATES 6 /* of each kind */
#define MAX_WAYS       6 /* nodes of a forced class decided at once */

void
core_apply(ex_core *g, core_move m) {
  assert(m.kind == CORE_FORCE || m.kind == CORE_FORBID ? m.what < g->n_classes
                                                       : m.what < g->nodes.len);
  core_class *c;
  switch (m.kind) {
  case CORE_FORCE:
    g->classes[m.what].forced = true;
    return;
  case CORE_DROP:
    core_kill_node(g, m.what);
    return;
  case CORE_FORBID:
    c = &g->classes[m.what];
    for (uint32_t i = 0; i < c->nodes.len; i++)
      core_kill_node(g, c->nodes.data[i]);
    return;
  case CORE_TAKE:
    c = &g->classes[g->nodes.data[m.what].class];
    for (uint32_t i = 0; i < c->nodes.len; i++)
      if (c->nodes.data[i] != m.what)
        core_kill_node(g, c->nodes.data[i]);
  }
}

typedef struct candidate {
  double rank; /* larger is tried first */
  uint32_t class;
} candidate;

typedef BS_VEC(candidate) candidates;

static int
compare_candidates(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->rank != y->rank)
    return x->rank > y->rank ? -1 : 1;
  return (x->class > y->class) - (x->class < y->class);
}

static void
keep_best(candidates *list) {
  if (list->len)
    qsort(list->data, list->len, sizeof *list->data, compare_candidates);
  if (list->len > MAX_CANDIDATES)
    list->len = MAX_CANDIDATES;
}

static void
list_candidates(ex_core *g, candidates *forced, candidates *shared) {
  for (uint32_t c = 0; c < g->n_classes; c++) {
    const core_class *k = &g->classes[c];
    if (!k->live)
      continue;
    core_tidy(g, c);
    double users = k->users.len;
    if (k->forced && k->n_live > 1)
      bs_push(g->heap, forced, (candidate){-(double)k->n_live, c});
    else if (!k->forced)
      bs_push(g->heap, shared,
              (candidate){core_cheapest(g, c) * (users - 1) + 1e-9 * users, c});
  }
  keep_best(forced);
  keep_best(shared);
}

static double
bound_of(ex_core *g, ex_watch *w) {
  ex_problem p;
  uint32_t *class_at, *node_at;
  core_normalize_costs(g);
  core_to_problem(g, &p, &class_at, &node_at);
  double *left = EX_NEW(g->heap, double, p.n_nodes);
  double bound =
      ex_landmarks(&p, w, g->cutoff - g->base, EX_LANDMARK_VISITS / 16, left);
  bs_free(g->heap, left);
  bs_free(g->heap, node_at);
  bs_free(g->heap, class_at);
  ex_problem_done(&p);
  return g->base + bound;
}

/* The bound after a move, without reductions. */
static double
bound_after(const ex_core *g, ex_watch *w, core_move move) {
  ex_core trial;
  core_copy(&trial, g);
  core_apply(&trial, move);
  core_prune(&trial);
  double bound = trial.infeasible ? INFINITY : bound_of(&trial, w);
  core_done(&trial);
  return bound;
}

/* `plain`: the bound of the core itself, found in the same way. */
static double
weigh(const ex_core *g, ex_watch *w, double plain, core_moves *moves) {
  double sum = 0, gap = g->cutoff - plain;
  for (uint32_t i = 0; i < moves->len; i++) {
    core_move *m = &moves->data[i];
    m->bound = bound_after(g, w, *m);
    if (m->bound < g->cutoff)
      sum += exp(-4 * fmax(m->bound - plain, 0) / gap);
  }
  return sum;
}

static void
ways_of_class(const ex_core *g, uint32_t c, core_moves *out) {
  bs_clear(out);
  bs_push(g->heap, out, (core_move){CORE_FORCE, c, 0});
  bs_push(g->heap, out, (core_move){CORE_FORBID, c, 0});
}

/* All nodes of the class, or its cheapest node and the rest. */
static void
ways_of_nodes(const ex_core *g, uint32_t c, core_moves *out) {
  const core_class *k = &g->classes[c];
  uint32_t first = EX_NONE;
  bs_clear(out);
  for (uint32_t i = 0; i < k->nodes.len; i++) {
    uint32_t n = k->nodes.data[i];
    if (!g->nodes.data[n].live)
      continue;
    if (k->n_live <= MAX_WAYS)
      bs_push(g->heap, out, (core_move){CORE_TAKE, n, 0});
    if (first == EX_NONE || g->nodes.data[n].cost < g->nodes.data[first].cost)
      first = n;
  }
  if (out->len)
    return;
  bs_push(g->heap, out, (core_move){CORE_TAKE, first, 0});
  bs_push(g->heap, out, (core_move){CORE_DROP, first, 0});
}

static int
compare_moves(const void *a, const void *b) {
  const core_move *x = a, *y = b;
  if (x->bound != y->bound)
    return x->bound < y->bound ? -1 : 1;
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  return (x->what > y->what) - (x->what < y->what);
}

/* Tries one candidate; keeps it in `moves` if it is the best so far. */
static void
compete(const ex_core *g, ex_watch *w, double plain, core_moves *trial,
        core_moves *moves, double *best) {
  double weight = weigh(g, w, plain, trial);
  if (weight >= *best)
    return;
  *best = weight;
  core_moves swap = *moves;
  *moves = *trial;
  *trial = swap;
}

void
core_choose_branch(ex_core *g, ex_watch *w, double bound, core_moves *moves) {
  candidates forced = {0}, shared = {0};
  core_moves trial = {0};
  double best = INFINITY, plain = bound_of(g, w);
  list_candidates(g, &forced, &shared);
  bs_clear(moves);
  for (uint32_t i = 0; i < forced.len && best > 0; i++) {
    ways_of_nodes(g, forced.data[i].class, &trial);
    compete(g, w, plain, &trial, moves, &best);
  }
  for (uint32_t i = 0; i < shared.len && best > 0; i++) {
    ways_of_class(g, shared.data[i].class, &trial);
    compete(g, w, plain, &trial, moves, &best);
  }
  for (uint32_t i = 0; i < moves->len; i++)
    moves->data[i].bound = fmax(moves->data[i].bound, bound);
  if (moves->len)
    qsort(moves->data, moves->len, sizeof *moves->data, compare_moves);
  bs_vec_done(g->heap, &trial);
  bs_vec_done(g->heap, &shared);
  bs_vec_done(g->heap, &forced);
}
