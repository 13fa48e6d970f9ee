/* SPDX-License-Identifier: MIT */
/* landmark.c - a lower bound from cuts: the landmark-cut heuristic of planning
 * (Helmert and Domshlak, 2009), of which extraction is the delete-free case.
 *
 * Classes are facts, nodes are actions with the children as preconditions.
 * hmax(c) is the cost of the dearest chain that every term of c contains; each
 * node is supported by its child of largest hmax.  For a root with hmax > 0,
 * the zone are the classes from which the root is had by supporting steps that
 * cost nothing.  Every term of the root must take, at least once, a node of a
 * class in the zone none of whose children needs the zone: those nodes are a
 * landmark.  The bound grows by the cheapest of them, each pays that much from
 * its cost, and so on until every root is had for nothing.  A cycle derives
 * nothing, so cyclic choices do not weaken the bound.
 *
 * Payments only lower hmax, so it is repaired from the paid nodes upwards; one
 * landmark costs what it touches. */
#include "extract/landmark.h"
#include <assert.h>
#include <string.h>

typedef struct heap_item {
  double value;
  uint32_t class;
} heap_item;

typedef struct heap_items {
  heap_item *data;
  uint32_t len, cap;
} heap_items;

typedef struct cutter {
  const ex_problem *p;
  ex_lists parents;
  uint32_t *class_of;
  double *left, *hmax;
  uint32_t *support; /* per node; EX_NONE: no children */
  uint32_t *waiting; /* per node: children not settled */
  bool *settled;
  uint32_t round;           /* of landmarks; marks equal to it are set */
  uint32_t *in_zone;        /* per class */
  uint32_t *needs;          /* per class: it is in the zone or needs it */
  uint32_t *open_at, *open; /* per class: nodes that do not need the zone */
  uint32_t *blocked;        /* per node: a child needs the zone */
  ex_list zone, work, cut;
  heap_items heap;
  heap_items roots; /* by falling hmax as it was when last looked at */
  uint64_t visits;  /* nodes looked at */
} cutter;

static bool
before(heap_item a, heap_item b) {
  return a.value < b.value || (a.value == b.value && a.class < b.class);
}

static void
add_to(bs_heap *memory, heap_items *h, heap_item x) {
  uint32_t i = h->len;
  bs_push(memory, h, x);
  for (; i > 0 && before(x, h->data[(i - 1) / 2]); i = (i - 1) / 2)
    h->data[i] = h->data[(i - 1) / 2];
  h->data[i] = x;
}

static void
heap_add(cutter *t, heap_item x) {
  add_to(t->p->heap, &t->heap, x);
}

static void
sink(heap_items *h, heap_item x) {
  heap_item *item = h->data;
  uint32_t i = 0, kid;
  for (; (kid = 2 * i + 1) < h->len; i = kid) {
    if (kid + 1 < h->len && before(item[kid + 1], item[kid]))
      kid++;
    if (!before(item[kid], x))
      break;
    item[i] = item[kid];
  }
  item[i] = x;
}

static heap_item
heap_take(cutter *t) {
  heap_item top = t->heap.data[0], x = bs_pop(&t->heap);
  sink(&t->heap, x);
  return top;
}

static void
offer(cutter *t, uint32_t node, double below) {
  uint32_t c = t->class_of[node];
  double value = t->left[node] + below;
  if (t->settled[c] || value >= t->hmax[c])
    return;
  t->hmax[c] = value;
  heap_add(t, (heap_item){value, c});
}

/* hmax of all classes and the supports, from nothing. */
static void
compute_hmax(cutter *t) {
  const ex_problem *p = t->p;
  memset(t->settled, 0, p->n_classes * sizeof *t->settled);
  for (uint32_t c = 0; c < p->n_classes; c++)
    t->hmax[c] = INFINITY;
  bs_clear(&t->heap);
  for (uint32_t n = 0; n < p->n_nodes; n++) {
    t->waiting[n] = ex_n_kids(p, n);
    t->support[n] = EX_NONE;
    if (!t->waiting[n])
      offer(t, n, 0);
  }
  while (t->heap.len) {
    heap_item x = heap_take(t);
    if (t->settled[x.class])
      continue;
    t->settled[x.class] = true;
    for (uint32_t i = t->parents.first[x.class];
         i < t->parents.first[x.class + 1]; i++) {
      uint32_t n = t->parents.item[i];
      if (--t->waiting[n])
        continue;
      t->support[n] = x.class; /* settled last: the dearest */
      offer(t, n, x.value);
    }
  }
}

static void
find_zone(cutter *t, uint32_t root) {
  const ex_problem *p = t->p;
  bs_clear(&t->zone);
  t->in_zone[root] = t->round;
  bs_push(p->heap, &t->zone, root);
  for (uint32_t done = 0; done < t->zone.len; done++) {
    uint32_t c = t->zone.data[done];
    t->visits += 2 * (p->class_first[c + 1] - p->class_first[c]);
    for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++) {
      uint32_t s = t->support[n];
      if (t->left[n] > 0 || s == EX_NONE || t->in_zone[s] == t->round)
        continue;
      t->in_zone[s] = t->round;
      bs_push(p->heap, &t->zone, s);
    }
  }
}

/* One node of class c needs the zone; true when now all of them do. */
static bool
close_one(cutter *t, uint32_t c) {
  if (t->open_at[c] != t->round) {
    t->open_at[c] = t->round;
    t->open[c] = t->p->class_first[c + 1] - t->p->class_first[c];
  }
  return --t->open[c] == 0;
}

/* Marks the nodes with a child that needs the zone. */
static void
block_users(cutter *t) {
  bs_heap *h = t->p->heap;
  bs_clear(&t->work);
  for (uint32_t i = 0; i < t->zone.len; i++) {
    t->needs[t->zone.data[i]] = t->round;
    bs_push(h, &t->work, t->zone.data[i]);
  }
  while (t->work.len) {
    uint32_t c = bs_pop(&t->work);
    t->visits += t->parents.first[c + 1] - t->parents.first[c];
    for (uint32_t i = t->parents.first[c]; i < t->parents.first[c + 1]; i++) {
      uint32_t n = t->parents.item[i], user = t->class_of[n];
      if (t->blocked[n] == t->round)
        continue;
      t->blocked[n] = t->round;
      if (t->needs[user] == t->round || !close_one(t, user))
        continue;
      t->needs[user] = t->round;
      bs_push(h, &t->work, user);
    }
  }
}

static void
find_cut(cutter *t, uint32_t root) {
  const ex_problem *p = t->p;
  t->round++;
  find_zone(t, root);
  block_users(t);
  bs_clear(&t->cut);
  for (uint32_t i = 0; i < t->zone.len; i++) {
    uint32_t c = t->zone.data[i];
    for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++)
      if (t->blocked[n] != t->round)
        bs_push(p->heap, &t->cut, n);
  }
}

static double
pay_cut(cutter *t) {
  double least = INFINITY;
  for (uint32_t i = 0; i < t->cut.len; i++)
    least = fmin(least, t->left[t->cut.data[i]]);
  for (uint32_t i = 0; i < t->cut.len; i++)
    t->left[t->cut.data[i]] -= least;
  return least;
}

/* The node's price has fallen: its class may be had for less. */
static void
fall(cutter *t, uint32_t node) {
  uint32_t s = t->support[node], c = t->class_of[node];
  double value = t->left[node] + (s == EX_NONE ? 0 : t->hmax[s]);
  if (value < t->hmax[c])
    heap_add(t, (heap_item){value, c});
}

static void
support_again(cutter *t, uint32_t node) {
  const ex_problem *p = t->p;
  uint32_t best = p->kids[p->kid_first[node]];
  t->visits += ex_n_kids(p, node) / 4;
  for (uint32_t k = p->kid_first[node] + 1; k < p->kid_first[node + 1]; k++)
    if (t->hmax[p->kids[k]] > t->hmax[best])
      best = p->kids[k];
  t->support[node] = best;
}

static void
repair_hmax(cutter *t) {
  bs_clear(&t->heap);
  for (uint32_t i = 0; i < t->cut.len; i++)
    fall(t, t->cut.data[i]);
  while (t->heap.len) {
    heap_item x = heap_take(t);
    uint32_t c = x.class;
    if (x.value >= t->hmax[c])
      continue;
    t->hmax[c] = x.value;
    t->visits += t->parents.first[c + 1] - t->parents.first[c];
    uint32_t last = EX_NONE; /* one that has the class often stands in a row */
    for (uint32_t i = t->parents.first[c]; i < t->parents.first[c + 1]; i++) {
      uint32_t n = t->parents.item[i];
      if (n == last || t->support[n] != c)
        continue;
      last = n;
      support_again(t, n);
      fall(t, n);
    }
  }
}

static void
list_roots(cutter *t) {
  const ex_problem *p = t->p;
  bs_clear(&t->roots);
  for (uint32_t r = 0; r < p->n_roots; r++)
    add_to(p->heap, &t->roots, (heap_item){-t->hmax[p->roots[r]], r});
}

/* Values only fall, so the first of the list whose value still holds is the
 * greatest. */
static uint32_t
dearest_root(cutter *t) {
  while (t->roots.len) {
    heap_item x = t->roots.data[0];
    uint32_t c = t->p->roots[x.class];
    if (t->hmax[c] == -x.value)
      return t->hmax[c] > 0 ? c : EX_NONE;
    sink(&t->roots, (heap_item){-t->hmax[c], x.class});
  }
  return EX_NONE;
}

static void
cutter_start(cutter *t, const ex_problem *p, double *left) {
  bs_heap *h = p->heap;
  *t = (cutter){.p = p, .left = left};
  t->parents = ex_parents(p);
  t->class_of = ex_class_of(p);
  t->hmax = EX_NEW(h, double, p->n_classes);
  t->support = EX_NEW(h, uint32_t, p->n_nodes);
  t->waiting = EX_NEW(h, uint32_t, p->n_nodes);
  t->settled = EX_NEW(h, bool, p->n_classes);
  t->in_zone = EX_ZERO(h, uint32_t, p->n_classes);
  t->needs = EX_ZERO(h, uint32_t, p->n_classes);
  t->open_at = EX_ZERO(h, uint32_t, p->n_classes);
  t->open = EX_ZERO(h, uint32_t, p->n_classes);
  t->blocked = EX_ZERO(h, uint32_t, p->n_nodes);
}

static void
cutter_done(cutter *t) {
  bs_heap *h = t->p->heap;
  bs_vec_done(h, &t->heap);
  bs_vec_done(h, &t->roots);
  bs_vec_done(h, &t->zone);
  bs_vec_done(h, &t->work);
  bs_vec_done(h, &t->cut);
  bs_free(h, t->blocked);
  bs_free(h, t->open);
  bs_free(h, t->open_at);
  bs_free(h, t->needs);
  bs_free(h, t->in_zone);
  bs_free(h, t->settled);
  bs_free(h, t->waiting);
  bs_free(h, t->support);
  bs_free(h, t->hmax);
  bs_free(h, t->class_of);
  ex_lists_done(h, &t->parents);
}

double
ex_chain_bound(const ex_problem *p) {
  cutter t;
  double bound = 0;
  cutter_start(&t, p, p->cost);
  compute_hmax(&t);
  for (uint32_t r = 0; r < p->n_roots; r++)
    bound = fmax(bound, t.hmax[p->roots[r]]);
  cutter_done(&t);
  return bound;
}

static void
keep_cut(const cutter *t, double price, ex_cuts *cuts) {
  assert(price >= 0 && isfinite(price));
  bs_heap *h = t->p->heap;
  bs_push(h, &cuts->first, cuts->nodes.len);
  bs_push(h, &cuts->price, price);
  for (uint32_t i = 0; i < t->cut.len; i++)
    bs_push(h, &cuts->nodes, t->cut.data[i]);
}

double
ex_cut_costs(const ex_problem *p, ex_watch *w, double enough, uint64_t visits,
             double *left, ex_cuts *cuts) {
  cutter t;
  double bound = 0;
  cutter_start(&t, p, left);
  compute_hmax(&t);
  list_roots(&t);
  for (uint32_t root; (root = dearest_root(&t)) != EX_NONE;) {
    find_cut(&t, root);
    double price = pay_cut(&t);
    bound += price;
    if (cuts)
      keep_cut(&t, price, cuts);
    repair_hmax(&t);
    if (bound >= enough || t.visits > visits || ex_watch_over(w))
      break;
  }
  cutter_done(&t);
  return bound;
}

void
ex_root_cuts(const ex_problem *p, double *cost, ex_cuts *cuts) {
  cutter t;
  cutter_start(&t, p, cost);
  compute_hmax(&t);
  for (uint32_t r = 0; r < p->n_roots; r++)
    if (t.hmax[p->roots[r]] > 0) {
      find_cut(&t, p->roots[r]);
      keep_cut(&t, 0, cuts);
    }
  cutter_done(&t);
}

double
ex_landmarks(const ex_problem *p, ex_watch *w, double enough, uint64_t visits,
             double *left) {
  assert(left);
  if (p->n_nodes)
    memcpy(left, p->cost, p->n_nodes * sizeof *left);
  return ex_cut_costs(p, w, enough, visits, left, NULL);
}

/* The least rest on a way from a root down to each class. */
static void
compute_up(cutter *t, double *up) {
  const ex_problem *p = t->p;
  memset(t->settled, 0, p->n_classes * sizeof *t->settled);
  bs_clear(&t->heap);
  for (uint32_t c = 0; c < p->n_classes; c++)
    up[c] = INFINITY;
  for (uint32_t r = 0; r < p->n_roots; r++)
    if (up[p->roots[r]] > 0) {
      up[p->roots[r]] = 0;
      heap_add(t, (heap_item){0, p->roots[r]});
    }
  while (t->heap.len) {
    heap_item x = heap_take(t);
    if (t->settled[x.class])
      continue;
    t->settled[x.class] = true;
    for (uint32_t n = p->class_first[x.class]; n < p->class_first[x.class + 1];
         n++)
      for (uint32_t k = p->kid_first[n]; k < p->kid_first[n + 1]; k++)
        if (x.value + t->left[n] < up[p->kids[k]]) {
          up[p->kids[k]] = x.value + t->left[n];
          heap_add(t, (heap_item){up[p->kids[k]], p->kids[k]});
        }
  }
}

void
ex_node_bounds(const ex_problem *p, const double *left, double *out) {
  cutter t;
  double *up = EX_NEW(p->heap, double, p->n_classes);
  cutter_start(&t, p, out);
  if (p->n_nodes)
    memcpy(out, left, p->n_nodes * sizeof *left);
  compute_hmax(&t);
  compute_up(&t, up);
  for (uint32_t n = 0; n < p->n_nodes; n++)
    out[n] += up[t.class_of[n]] +
              (t.support[n] == EX_NONE ? 0 : t.hmax[t.support[n]]);
  bs_free(p->heap, up);
  cutter_done(&t);
}
