/* SPDX-License-Identifier: MIT */
/* greedy.c - greedy DAG extraction with sets of paid classes.
 *
 * Every class keeps the best term found yet as the set of classes in it with
 * what each costs; a node's price is its own cost plus the union of its
 * children's sets.  It starts from the sets of the cheapest trees, or from
 * nothing, as others do: neither is always the better one.  Nodes are
 * looked at again, first in first out, when a child's set became cheaper.  A
 * node whose union holds its own class would close a cycle and is refused.
 *
 * Two devices keep it near-linear.  A class that only one node ever uses, in
 * another strongly connected component, can be shared by nobody else: its
 * price is folded into the entry of the class of that node, so chains and
 * trees have sets of one entry.  And the entries visited are counted: past a
 * budget linear in the problem, or when the sets take more memory than that or
 * than a quarter of what the heap has left, the method gives up (false), since
 * unions of large unrelated sets are quadratic by nature. */
#include "extract/internal.h"
#include "extract/extract_search.h"
#include <assert.h>
#include <string.h>

typedef struct paid {
  double cost;
  uint32_t class;
} paid;

/* The own entry of the class stands first. */
typedef struct paid_set {
  paid *item;
  uint32_t n, room, node;
  double total;
} paid_set;

typedef struct greedy {
  const ex_problem *p;
  uint32_t *class_of;
  ex_lists parents;
  bool *folded; /* the class's price belongs to its only user */
  paid_set *set;
  uint32_t *seen; /* per class: the number of the union that met it last */
  uint32_t round;
  uint32_t *queue, head, queued; /* a ring of all nodes, each at most once */
  bool *waits;
  uint64_t budget, room; /* entries to visit; to have at a time */
  BS_VEC(paid) scratch;
} greedy;

static void
mark_folded(greedy *g, const uint32_t *component) {
  const ex_problem *p = g->p;
  for (uint32_t c = 0; c < p->n_classes; c++)
    if (g->parents.first[c + 1] - g->parents.first[c] == 1) {
      uint32_t user = g->class_of[g->parents.item[g->parents.first[c]]];
      g->folded[c] = component[user] != component[c];
    }
  for (uint32_t r = 0; r < p->n_roots; r++)
    g->folded[p->roots[r]] = false;
}

static void
enqueue(greedy *g, uint32_t node) {
  if (g->waits[node] || isinf(g->p->cost[node]))
    return;
  g->waits[node] = true;
  g->queue[(g->head + (uint64_t)g->queued++) % g->p->n_nodes] = node;
}

static uint32_t
dequeue(greedy *g) {
  uint32_t node = g->queue[g->head];
  g->head = (g->head + 1) % g->p->n_nodes;
  g->queued--;
  g->waits[node] = false;
  return node;
}

/* Adds the entries of a child's set to the scratch union; false when it would
 * reach `best` or holds `self`. */
static bool
add_child(greedy *g, uint32_t self, uint32_t child, double best,
          double *total) {
  const paid_set *s = &g->set[child];
  g->budget -= g->budget < s->n ? g->budget : s->n;
  for (uint32_t i = 0; i < s->n; i++) {
    paid e = s->item[i];
    if (e.class == self)
      return false;
    if (g->seen[e.class] == g->round)
      continue;
    g->seen[e.class] = g->round;
    *total += e.cost;
    if (e.class == child && g->folded[child])
      g->scratch.data[0].cost += e.cost;
    else
      bs_push(g->p->heap, &g->scratch, e);
    if (*total >= best)
      return false;
  }
  return true;
}

/* Makes room for n entries, neither too little nor far too much. */
static void
make_room(greedy *g, paid_set *s, uint32_t n) {
  if (n <= s->room && n >= s->room / 4)
    return;
  uint32_t room = s->room ? n + n / 4 : n;
  if (g->room + s->room < room)
    g->budget = 0;
  else
    g->room -= room - s->room;
  bs_free(g->p->heap, s->item);
  s->item = EX_NEW(g->p->heap, paid, room);
  s->room = room;
}

/* Does the node give its class a cheaper set?  Then takes it over. */
static bool
try_node(greedy *g, uint32_t node) {
  const ex_problem *p = g->p;
  uint32_t self = g->class_of[node];
  paid_set *mine = &g->set[self];
  double total = p->cost[node], best = mine->item ? mine->total : INFINITY;
  if (mine->item && total >= best)
    return false;
  g->round++;
  bs_clear(&g->scratch);
  bs_push(p->heap, &g->scratch, (paid){p->cost[node], self});
  for (uint32_t k = p->kid_first[node]; k < p->kid_first[node + 1]; k++)
    if (!add_child(g, self, p->kids[k], best, &total))
      return false;
  make_room(g, mine, g->scratch.len);
  memcpy(mine->item, g->scratch.data, g->scratch.len * sizeof(paid));
  *mine = (paid_set){mine->item, g->scratch.len, mine->room, node, total};
  return true;
}

static bool
children_ready(const greedy *g, uint32_t node) {
  const ex_problem *p = g->p;
  for (uint32_t k = p->kid_first[node]; k < p->kid_first[node + 1]; k++)
    if (!g->set[p->kids[k]].item)
      return false;
  return true;
}

static bool
run_queue(greedy *g, ex_watch *w) {
  while (g->queued) {
    uint32_t node = dequeue(g), c = g->class_of[node];
    if (!children_ready(g, node) || !try_node(g, node))
      continue;
    for (uint32_t i = g->parents.first[c]; i < g->parents.first[c + 1]; i++)
      enqueue(g, g->parents.item[i]);
    if (g->budget == 0 || ex_watch_over(w))
      return false;
  }
  return true;
}

static void
greedy_start(greedy *g, const ex_problem *p) {
  bs_heap *h = p->heap;
  uint32_t *component = EX_NEW(h, uint32_t, p->n_classes);
  *g = (greedy){.p = p, .class_of = ex_class_of(p), .parents = ex_parents(p)};
  g->folded = EX_ZERO(h, bool, p->n_classes);
  g->set = EX_ZERO(h, paid_set, p->n_classes);
  g->seen = EX_ZERO(h, uint32_t, p->n_classes);
  g->queue = EX_NEW(h, uint32_t, p->n_nodes);
  g->waits = EX_ZERO(h, bool, p->n_nodes);
  uint64_t size = (uint64_t)p->n_nodes + p->kid_first[p->n_nodes];
  g->budget = 20000000 + 64 * size;
  g->room = 8000000 + 8 * size;
  uint64_t room = bs_heap_room(h) / 4 / sizeof(paid);
  g->room = room < g->room ? room : g->room;
  ex_components(p, component);
  mark_folded(g, component);
  bs_free(h, component);
}

static void
greedy_done(greedy *g) {
  bs_heap *h = g->p->heap;
  for (uint32_t c = 0; c < g->p->n_classes; c++)
    bs_free(h, g->set[c].item);
  bs_vec_done(h, &g->scratch);
  bs_free(h, g->waits);
  bs_free(h, g->queue);
  bs_free(h, g->seen);
  bs_free(h, g->set);
  bs_free(h, g->folded);
  ex_lists_done(h, &g->parents);
  bs_free(h, g->class_of);
}

/* Without trees: from what needs nothing. */
static void
plant_leaves(greedy *g) {
  for (uint32_t n = 0; n < g->p->n_nodes; n++)
    if (!ex_n_kids(g->p, n))
      enqueue(g, n);
}

/* The sets of the trees, children first; then every node has its chance. */
static void
plant_trees(greedy *g, const uint32_t *tree) {
  const ex_problem *p = g->p;
  ex_problem all = *p;
  uint32_t *order = EX_NEW(p->heap, uint32_t, p->n_classes);
  all.roots = EX_NEW(p->heap, uint32_t, p->n_classes);
  all.n_roots = 0;
  for (uint32_t c = 0; c < p->n_classes; c++)
    if (tree[c] != EX_NONE)
      all.roots[all.n_roots++] = c;
  uint32_t n = ex_order(&all, tree, order);
  for (uint32_t i = 0; i < n && g->budget; i++)
    try_node(g, tree[order[i]]);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = p->class_first[order[i]];
         k < p->class_first[order[i] + 1]; k++)
      enqueue(g, k);
  bs_free(p->heap, all.roots);
  bs_free(p->heap, order);
}

bool
ex_greedy(const ex_problem *p, ex_watch *w, const uint32_t *tree,
          uint32_t *choice) {
  assert(choice && choice != tree);
  greedy g;
  if (p->n_nodes == 0)
    return false;
  greedy_start(&g, p);
  if (tree)
    plant_trees(&g, tree);
  else
    plant_leaves(&g);
  bool done = run_queue(&g, w);
  for (uint32_t c = 0; done && c < p->n_classes; c++)
    choice[c] = g.set[c].item ? g.set[c].node : EX_NONE;
  greedy_done(&g);
  return done;
}
