/* SPDX-License-Identifier: MIT */
/* local.c - improvement of a DAG by replacing one class's node at a time.
 *
 * Every class that has a term keeps a choice, used or not, and the choices
 * together are acyclic: a list is a topological order of them, children first.
 * For a replacement in class c, what the new node needs and stands behind c
 * moves to just before c, and nothing else: its users stand behind it anyway.
 * Labels tell which of two stands first (Dietz and Sleator, 1987); all are
 * given anew where a gap between two is used up.  `uses` counts the chosen uses
 * of a class; what a replacement saves is found by releasing the old node's
 * children and taking the new one's, undone when it does not pay.  A release is
 * cut after a number of steps; what it then misses counts as still in use, so
 * the saving is underestimated and never wrong. */
#include "extract/extract_search.h"
#include <assert.h>
#include <stdlib.h>

#define RELEASE_STEPS 4096

/* Of a gap between two labels this part is used at a time, next to the first
 * one, so that there is room before the second one again. */
#define GAP_PART 64

typedef struct labelled {
  uint64_t label;
  uint32_t class;
} labelled;

typedef struct local {
  const ex_problem *p;
  uint32_t *choice, *uses, n_at;
  uint32_t *next, *before; /* the list; n_classes: its two ends */
  uint64_t *label;         /* growing along the list; 0: none */
  ex_list released, taken, work;
  BS_VEC(labelled) below;
  bool *mark;
  double *tree; /* of the choices: no replacement saves more than that */
  uint64_t budget;
} local;

static void
spend(local *l, uint64_t steps) {
  l->budget -= l->budget < steps ? l->budget : steps;
}

/* Drops a use of each child of `node`, and so on below where that was the
 * last one.  Returns the cost set free; logs the drops. */
static double
release(local *l, uint32_t node, uint32_t steps, ex_list *log) {
  const ex_problem *p = l->p;
  double freed = 0;
  bs_clear(log);
  bs_clear(&l->work);
  for (uint32_t done = 0;; done++) {
    for (uint32_t k = p->kid_first[node]; k < p->kid_first[node + 1]; k++) {
      bs_push(p->heap, log, p->kids[k]);
      if (--l->uses[p->kids[k]] == 0)
        bs_push(p->heap, &l->work, p->kids[k]);
    }
    if (done == l->work.len || done == steps)
      break;
    node = l->choice[l->work.data[done]];
    freed += p->cost[node];
  }
  spend(l, log->len);
  return freed;
}

/* The reverse.  Stops with +inf once the cost reaches `limit`. */
static double
take(local *l, uint32_t node, double limit, ex_list *log) {
  const ex_problem *p = l->p;
  double added = 0;
  bs_clear(log);
  bs_clear(&l->work);
  for (uint32_t done = 0;; done++) {
    for (uint32_t k = p->kid_first[node]; k < p->kid_first[node + 1]; k++) {
      bs_push(p->heap, log, p->kids[k]);
      if (l->uses[p->kids[k]]++ == 0)
        bs_push(p->heap, &l->work, p->kids[k]);
    }
    if (done == l->work.len || added >= limit)
      break;
    node = l->choice[l->work.data[done]];
    added += p->cost[node];
  }
  spend(l, log->len);
  return added >= limit ? INFINITY : added;
}

static void
shift_uses(local *l, const ex_list *log, uint32_t by) {
  for (uint32_t i = 0; i < log->len; i++)
    l->uses[log->data[i]] += by;
}

static bool
usable(const local *l, uint32_t node) {
  const ex_problem *p = l->p;
  assert(node < p->n_nodes);
  if (isinf(p->cost[node]))
    return false;
  for (uint32_t k = p->kid_first[node]; k < p->kid_first[node + 1]; k++)
    if (l->choice[p->kids[k]] == EX_NONE)
      return false;
  return true;
}

/* ---- the order ---- */

/* Labels at equal distances, none at the ends. */
static void
label_all(local *l) {
  uint32_t end = l->p->n_classes;
  uint64_t gap = UINT64_MAX / ((uint64_t)l->n_at + 2), label = gap;
  for (uint32_t c = l->next[end]; c != end; c = l->next[c], label += gap)
    l->label[c] = label;
  spend(l, l->n_at);
}

static void
unlink_class(local *l, uint32_t c) {
  l->next[l->before[c]] = l->next[c];
  l->before[l->next[c]] = l->before[c];
}

static void
link_behind(local *l, uint32_t c, uint32_t first) {
  assert(c < l->p->n_classes && first <= l->p->n_classes && c != first);
  l->next[c] = l->next[first];
  l->before[c] = first;
  l->before[l->next[first]] = c;
  l->next[first] = c;
}

/* Collects what `node` needs that stands behind class c; false when c itself
 * is among it. */
static bool
collect_below(local *l, uint32_t c, uint32_t node) {
  const ex_problem *p = l->p;
  assert(c < p->n_classes && node < p->n_nodes);
  bool acyclic = true;
  bs_clear(&l->below);
  for (uint32_t done = 0;; done++) {
    for (uint32_t k = p->kid_first[node]; k < p->kid_first[node + 1]; k++) {
      uint32_t kid = p->kids[k];
      acyclic &= kid != c;
      if (l->label[kid] > l->label[c] && !l->mark[kid]) {
        l->mark[kid] = true;
        bs_push(p->heap, &l->below, (labelled){l->label[kid], kid});
      }
    }
    if (done == l->below.len || !acyclic)
      break;
    node = l->choice[l->below.data[done].class];
  }
  for (uint32_t i = 0; i < l->below.len; i++)
    l->mark[l->below.data[i].class] = false;
  spend(l, l->below.len);
  return acyclic;
}

static int
compare_labels(const void *a, const void *b) {
  uint64_t x = ((const labelled *)a)->label, y = ((const labelled *)b)->label;
  return (x > y) - (x < y);
}

/* Puts the collected classes, in their order, just before c. */
static void
move_before(local *l, uint32_t c) {
  uint32_t n = l->below.len, end = l->p->n_classes;
  qsort(l->below.data, n, sizeof *l->below.data, compare_labels);
  for (uint32_t i = 0; i < n; i++)
    unlink_class(l, l->below.data[i].class);
  uint32_t at = l->before[c];
  uint64_t from = at == end ? 0 : l->label[at], gap = l->label[c] - from;
  uint64_t step = gap / ((uint64_t)n + 1) / GAP_PART;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t b = l->below.data[i].class;
    link_behind(l, b, at);
    l->label[b] = from += step;
    at = b;
  }
  if (!step)
    label_all(l);
}

/* Makes room for c using `node`; false, with nothing changed, when that is a
 * cycle. */
static bool
reorder(local *l, uint32_t c, uint32_t node) {
  if (!collect_below(l, c, node))
    return false;
  if (l->below.len)
    move_before(l, c);
  return true;
}

/* ---- replacements ---- */

/* The replacement of class c's node that saves most, or EX_NONE. */
static uint32_t
best_replacement(local *l, uint32_t c, double *saved) {
  const ex_problem *p = l->p;
  uint32_t old = l->choice[c], found = EX_NONE;
  double freed = p->cost[old] + release(l, old, RELEASE_STEPS, &l->released);
  double limit = freed * (1 - 1e-12), spent = limit;
  for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++) {
    if (n == old || p->cost[n] >= spent || !usable(l, n))
      continue;
    double added = p->cost[n] + take(l, n, spent - p->cost[n], &l->taken);
    shift_uses(l, &l->taken, -1u);
    if (added < spent && reorder(l, c, n)) {
      spent = added;
      found = n;
    }
  }
  shift_uses(l, &l->released, 1);
  *saved = freed - spent;
  return found;
}

/* The tree costs of the choices, in their order. */
static void
weigh_trees(local *l) {
  const ex_problem *p = l->p;
  uint32_t end = p->n_classes;
  for (uint32_t c = l->next[end]; c != end; c = l->next[c]) {
    uint32_t n = l->choice[c];
    l->tree[c] = p->cost[n];
    for (uint32_t k = p->kid_first[n]; k < p->kid_first[n + 1]; k++)
      l->tree[c] += l->tree[p->kids[k]];
  }
}

static bool
may_improve(const local *l, uint32_t c) {
  const ex_problem *p = l->p;
  for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++)
    if (n != l->choice[c] && p->cost[n] < l->tree[c])
      return true;
  return false;
}

static double
improve_class(local *l, uint32_t c) {
  double saved;
  uint32_t old = l->choice[c], node = best_replacement(l, c, &saved);
  if (node == EX_NONE)
    return 0;
  reorder(l, c, node);
  take(l, node, INFINITY, &l->taken);
  l->choice[c] = node;
  release(l, old, UINT32_MAX, &l->released);
  return saved;
}

/* A topological order of all choices: that of a problem whose roots are all
 * classes that have one. */
static void
order_all(local *l) {
  ex_problem all = *l->p;
  uint32_t end = all.n_classes;
  uint32_t *at = EX_NEW(all.heap, uint32_t, (size_t)end + 1);
  all.roots = at;
  all.n_roots = 0;
  for (uint32_t c = 0; c < end; c++)
    if (l->choice[c] != EX_NONE)
      all.roots[all.n_roots++] = c;
  l->n_at = ex_order(&all, l->choice, at);
  l->next[end] = l->before[end] = end;
  for (uint32_t i = 0; i < l->n_at; i++)
    link_behind(l, at[i], l->before[end]);
  label_all(l);
  bs_free(all.heap, at);
}

static void
local_start(local *l, const ex_problem *p, uint64_t budget, uint32_t *choice) {
  bs_heap *h = p->heap;
  *l = (local){.p = p, .choice = choice, .budget = budget};
  l->next = EX_ZERO(h, uint32_t, (size_t)p->n_classes + 1);
  l->before = EX_ZERO(h, uint32_t, (size_t)p->n_classes + 1);
  l->label = EX_ZERO(h, uint64_t, (size_t)p->n_classes + 1);
  l->uses = EX_ZERO(h, uint32_t, p->n_classes);
  l->mark = EX_ZERO(h, bool, p->n_classes);
  l->tree = EX_ZERO(h, double, p->n_classes);
  order_all(l);
  for (uint32_t r = 0; r < p->n_roots; r++) {
    uint32_t c = p->roots[r];
    if (l->uses[c]++ == 0)
      take(l, choice[c], INFINITY, &l->taken);
  }
}

static void
local_done(local *l) {
  bs_heap *h = l->p->heap;
  bs_vec_done(h, &l->released);
  bs_vec_done(h, &l->taken);
  bs_vec_done(h, &l->work);
  bs_vec_done(h, &l->below);
  bs_free(h, l->tree);
  bs_free(h, l->mark);
  bs_free(h, l->uses);
  bs_free(h, l->label);
  bs_free(h, l->before);
  bs_free(h, l->next);
}

double
ex_local(const ex_problem *p, ex_watch *w, uint64_t budget, uint32_t *choice) {
  local l;
  double saved = 0, sweep = 1;
  local_start(&l, p, budget, choice);
  while (sweep > 0 && l.budget > 0) {
    sweep = 0;
    weigh_trees(&l);
    for (uint32_t c = 0; c < p->n_classes && l.budget > 0; c++)
      if (l.uses[c] && may_improve(&l, c) && !ex_watch_over(w))
        sweep += improve_class(&l, c);
    saved += sweep;
  }
  local_done(&l);
  return saved;
}
