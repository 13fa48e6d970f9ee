/* local.c - improvement of a DAG by replacing one class's node at a time.
 *
 * Every class that has a term keeps a choice, used or not, and the choices
 * together are acyclic: `at` is a topological order of them, children first,
 * and is repaired after a replacement as Pearce and Kelly (2006) do, within
 * the affected stretch only.  `uses` counts the chosen uses of a class; what a
 * replacement saves is found by releasing the old node's children and taking
 * the new one's, undone when it does not pay.  A release is cut after a number
 * of steps; what it then misses counts as still in use, so the saving is
 * underestimated and never wrong. */
#include "extract/search.h"
#include <stdlib.h>

#define RELEASE_STEPS 4096

typedef struct local {
  const ex_problem *p;
  uint32_t *choice, *class_of, *pos, *at, *uses, n_at;
  ex_lists parents;
  ex_list released, taken, work, below, above, slots;
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
  if (isinf(p->cost[node]))
    return false;
  for (uint32_t k = p->kid_first[node]; k < p->kid_first[node + 1]; k++)
    if (l->choice[p->kids[k]] == EX_NONE)
      return false;
  return true;
}

/* Order repair.  Collects what `node` needs that stands above class c;
 * false when c itself is among it. */
static bool
collect_below(local *l, uint32_t c, uint32_t node) {
  const ex_problem *p = l->p;
  bool acyclic = true;
  bs_clear(&l->below);
  for (uint32_t done = 0;; done++) {
    for (uint32_t k = p->kid_first[node]; k < p->kid_first[node + 1]; k++) {
      uint32_t kid = p->kids[k];
      acyclic &= kid != c;
      if (l->pos[kid] > l->pos[c] && !l->mark[kid]) {
        l->mark[kid] = true;
        bs_push(p->heap, &l->below, kid);
      }
    }
    if (done == l->below.len || !acyclic)
      break;
    node = l->choice[l->below.data[done]];
  }
  spend(l, l->below.len);
  return acyclic;
}

/* Collects c and what needs it, up to position `top`. */
static void
collect_above(local *l, uint32_t c, uint32_t top) {
  bs_clear(&l->above);
  bs_push(l->p->heap, &l->above, c);
  l->mark[c] = true;
  for (uint32_t done = 0; done < l->above.len; done++) {
    uint32_t d = l->above.data[done];
    for (uint32_t i = l->parents.first[d]; i < l->parents.first[d + 1]; i++) {
      uint32_t n = l->parents.item[i], up = l->class_of[n];
      if (l->choice[up] != n || l->mark[up] || l->pos[up] > top)
        continue;
      l->mark[up] = true;
      bs_push(l->p->heap, &l->above, up);
    }
  }
  spend(l, l->above.len);
}

static int
compare_u32(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Appends the positions of the classes and orders the classes by them. */
static void
gather_slots(local *l, ex_list *classes) {
  uint32_t from = l->slots.len;
  for (uint32_t i = 0; i < classes->len; i++) {
    l->mark[classes->data[i]] = false;
    bs_push(l->p->heap, &l->slots, l->pos[classes->data[i]]);
  }
  if (classes->len)
    qsort(l->slots.data + from, classes->len, sizeof(uint32_t), compare_u32);
  for (uint32_t i = 0; i < classes->len; i++)
    classes->data[i] = l->at[l->slots.data[from + i]];
}

static void
put_at(local *l, uint32_t slot, uint32_t c) {
  l->at[slot] = c;
  l->pos[c] = slot;
}

/* Makes room for c using `node`; false, with nothing changed, when that is a
 * cycle. */
static bool
reorder(local *l, uint32_t c, uint32_t node) {
  bool acyclic = collect_below(l, c, node);
  uint32_t top = 0;
  for (uint32_t i = 0; i < l->below.len; i++) {
    uint32_t b = l->below.data[i];
    top = l->pos[b] > top ? l->pos[b] : top;
    l->mark[b] = false;
  }
  if (!acyclic || l->below.len == 0)
    return acyclic;
  collect_above(l, c, top);
  bs_clear(&l->slots);
  gather_slots(l, &l->below);
  gather_slots(l, &l->above);
  qsort(l->slots.data, l->slots.len, sizeof(uint32_t), compare_u32);
  for (uint32_t i = 0; i < l->slots.len; i++)
    put_at(l, l->slots.data[i],
           i < l->below.len ? l->below.data[i]
                            : l->above.data[i - l->below.len]);
  return true;
}

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
  for (uint32_t i = 0; i < l->n_at; i++) {
    uint32_t c = l->at[i], n = l->choice[c];
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
  all.roots = l->at;
  all.n_roots = 0;
  for (uint32_t c = 0; c < all.n_classes; c++)
    if (l->choice[c] != EX_NONE)
      all.roots[all.n_roots++] = c;
  l->n_at = ex_order(&all, l->choice, l->at);
  for (uint32_t i = 0; i < l->n_at; i++)
    l->pos[l->at[i]] = i;
}

static void
local_start(local *l, const ex_problem *p, uint64_t budget, uint32_t *choice) {
  bs_heap *h = p->heap;
  *l = (local){.p = p, .choice = choice, .budget = budget};
  l->class_of = ex_class_of(p);
  l->parents = ex_parents(p);
  l->pos = EX_ZERO(h, uint32_t, p->n_classes);
  l->at = EX_NEW(h, uint32_t, p->n_classes);
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
  bs_vec_done(h, &l->above);
  bs_vec_done(h, &l->slots);
  bs_free(h, l->tree);
  bs_free(h, l->mark);
  bs_free(h, l->uses);
  bs_free(h, l->at);
  bs_free(h, l->pos);
  ex_lists_done(h, &l->parents);
  bs_free(h, l->class_of);
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
