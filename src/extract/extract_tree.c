/* SPDX-License-Identifier: MIT */
/* extract_tree.c - the cheapest tree of every class: Knuth's generalization of
 * Dijkstra's algorithm (1977).
 *
 * A node becomes a candidate when all its children are settled; candidates
 * leave a heap by (cost, node index) and the first of a class settles
 * it.  Costs are >= 0, so a settled cost is final, whatever the cycles, and a
 * settled class only uses classes settled before it: the choice is acyclic
 * even among zero costs.  O(E + N log N).  Sums that overflow count as +inf
 * and still leave the heap, last; forbidden nodes never enter it.
 *
 * Children settle in the order of their costs, so the last one is the dearest:
 * the others can be given a smaller weight, which supposes that much of what
 * is below them is shared. */
#include "extract/internal.h"
#include <assert.h>

/* A candidate: the sum over its children so far, and what is missing. */
typedef struct ready {
  double sum;
  uint32_t waiting, class;
} ready;

typedef struct heap_item {
  double cost;
  uint32_t node;
} heap_item;

typedef struct queue {
  heap_item *item;
  uint32_t n;
} queue;

static bool
before(heap_item a, heap_item b) {
  return a.cost < b.cost || (a.cost == b.cost && a.node < b.node);
}

/* A heap of four children a place: fewer cache misses than a binary one. */
static void
queue_add(queue *q, heap_item x) {
  uint32_t i = q->n++;
  for (; i > 0 && before(x, q->item[(i - 1) / 4]); i = (i - 1) / 4)
    q->item[i] = q->item[(i - 1) / 4];
  q->item[i] = x;
}

static heap_item
queue_take(queue *q) {
  heap_item top = q->item[0], x = q->item[--q->n];
  uint32_t i = 0, first;
  for (; (first = 4 * i + 1) < q->n;) {
    uint32_t end = first + 4 < q->n ? first + 4 : q->n, least = first;
    for (uint32_t k = first + 1; k < end; k++)
      if (before(q->item[k], q->item[least]))
        least = k;
    if (!before(q->item[least], x))
      break;
    q->item[i] = q->item[least];
    i = least;
  }
  q->item[i] = x;
  return top;
}

typedef struct grower {
  const ex_problem *p;
  ready *nodes;
  double *best;     /* of the candidates of a class, or settled */
  uint32_t *choice; /* the node of that candidate */
  bool *settled;
  double weight;
  queue queue;
} grower;

/* All children of the node are settled.  Only what beats the class's other
 * candidates enters the queue. */
static void
offer(grower *g, uint32_t node) {
  const ready *r = &g->nodes[node];
  uint32_t c = r->class;
  heap_item x = {r->sum, node}, old = {g->best[c], g->choice[c]};
  if (isinf(g->p->cost[node]) || g->settled[c] || !before(x, old))
    return;
  g->best[c] = x.cost;
  g->choice[c] = node;
  queue_add(&g->queue, x);
}

static void
grow(grower *g, const ex_lists *parents) {
  while (g->queue.n) {
    heap_item x = queue_take(&g->queue);
    uint32_t c = g->nodes[x.node].class;
    if (g->settled[c])
      continue;
    g->settled[c] = true;
    for (uint32_t i = parents->first[c]; i < parents->first[c + 1]; i++) {
      ready *r = &g->nodes[parents->item[i]];
      bool last = --r->waiting == 0; /* and so the dearest */
      r->sum += last ? x.cost : g->weight * x.cost;
      if (last)
        offer(g, parents->item[i]);
    }
  }
}

void
ex_weighted_tree(const ex_problem *p, const double *cost, double weight,
                 double *best, uint32_t *choice) {
  assert(best && choice);
  bs_heap *h = p->heap;
  ex_lists parents = ex_parents(p);
  grower g = {.p = p, .best = best, .choice = choice, .weight = weight};
  g.nodes = EX_NEW(h, ready, p->n_nodes);
  g.settled = EX_ZERO(h, bool, p->n_classes);
  g.queue.item = EX_NEW(h, heap_item, p->n_nodes);
  if (!cost)
    cost = p->cost;
  for (uint32_t c = 0; c < p->n_classes; c++) {
    choice[c] = EX_NONE;
    best[c] = INFINITY;
    for (uint32_t n = p->class_first[c]; n < p->class_first[c + 1]; n++)
      g.nodes[n] = (ready){cost[n], ex_n_kids(p, n), c};
  }
  for (uint32_t n = 0; n < p->n_nodes; n++)
    if (g.nodes[n].waiting == 0)
      offer(&g, n);
  grow(&g, &parents);
  bs_free(h, g.queue.item);
  bs_free(h, g.settled);
  bs_free(h, g.nodes);
  ex_lists_done(h, &parents);
}

void
ex_tree(const ex_problem *p, const double *cost, double *best,
        uint32_t *choice) {
  ex_weighted_tree(p, cost, 1, best, choice);
}

bool
ex_solve_tree(const ex_problem *p, ex_watch *w, ex_solution *s) {
  double *best = EX_NEW(p->heap, double, p->n_classes);
  (void)w;
  ex_tree(p, NULL, best, s->choice);
  bs_free(p->heap, best);
  s->optimal = s->feasible = ex_restrict(p, s->choice);
  return s->feasible;
}
