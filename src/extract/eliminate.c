/* SPDX-License-Identifier: MIT */
/* eliminate.c - classes whose choice is no choice of its own.
 *
 * A class with one node that costs nothing is replaced by the node's children.
 * A class that only one other class uses is needed exactly when that class
 * takes a node that uses it; its nodes are multiplied into those users as long
 * as this does not add more nodes than it removes.  The cheapest cost of a
 * forced class moves to the base, that of a class with one using class to the
 * users, which brings more classes under the first case.
 *
 * A product that an earlier node of the class beats, or beats itself, is not
 * kept; so a chain of classes collapses without piling up nodes. */
#include "extract/core.h"

/* How many nodes a multiplication may add. */
#define GROWTH 4
/* Nodes of a class that a product is compared with. */
#define COMPARED 32

/* The one class that all users of c are in, or EX_NONE. */
static uint32_t
only_user(ex_core *g, uint32_t c) {
  core_tidy(g, c);
  const ex_list *users = &g->classes[c].users;
  uint32_t d = EX_NONE;
  for (uint32_t i = 0; i < users->len; i++) {
    uint32_t in = g->nodes.data[users->data[i]].class;
    if (d != EX_NONE && in != d)
      return EX_NONE;
    d = in;
  }
  return d;
}

static void
discount(ex_core *g, uint32_t c, double by) {
  for (uint32_t i = 0; i < g->classes[c].nodes.len; i++)
    g->nodes.data[g->classes[c].nodes.data[i]].cost -= by;
}

uint32_t
core_normalize_costs(ex_core *g) {
  uint32_t changed = 0;
  for (uint32_t c = 0; c < g->n_classes; c++) {
    if (!g->classes[c].live)
      continue;
    double least = core_cheapest(g, c);
    if (least == 0 || isinf(least))
      continue;
    if (g->classes[c].forced) {
      g->base += least;
    } else if (only_user(g, c) != EX_NONE) {
      for (uint32_t i = 0; i < g->classes[c].users.len; i++)
        g->nodes.data[g->classes[c].users.data[i]].cost += least;
    } else {
      continue;
    }
    discount(g, c, least);
    changed++;
  }
  return changed;
}

/* kids of u without c, and those of m, in order. */
static void
merge_kids(const ex_core *g, const core_node *u, uint32_t c, const core_node *m,
           ex_list *out) {
  bs_clear(out);
  for (uint32_t k = 0; k < u->n_kids; k++)
    if (u->kids[k] != c)
      bs_push(g->heap, out, u->kids[k]);
  for (uint32_t k = 0; k < m->n_kids; k++)
    bs_push(g->heap, out, m->kids[k]);
  out->len = core_sort(out->data, out->len);
}

/* Are the items of a, in order, all among those of b? */
static bool
among(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b) {
  uint32_t j = 0;
  for (uint32_t i = 0; i < n_a; i++, j++) {
    while (j < n_b && b[j] < a[i])
      j++;
    if (j == n_b || b[j] != a[i])
      return false;
  }
  return true;
}

/* Compares a product with the class's last nodes: false when one of them is
 * no dearer and needs no more; kills those of which that is true of it. */
static bool
is_undominated(ex_core *g, uint32_t class, double cost, const ex_list *kids) {
  const ex_list *nodes = &g->classes[class].nodes;
  uint32_t least = nodes->len > COMPARED ? nodes->len - COMPARED : 0;
  for (uint32_t i = nodes->len; i-- > least;) {
    const core_node *n = &g->nodes.data[nodes->data[i]];
    if (!n->live)
      continue;
    if (n->cost <= cost && among(n->kids, n->n_kids, kids->data, kids->len))
      return false;
    if (cost <= n->cost && among(kids->data, kids->len, n->kids, n->n_kids))
      core_kill_node(g, nodes->data[i]);
  }
  return true;
}

static void
retire(ex_core *g, uint32_t c) {
  for (uint32_t i = 0; i < g->classes[c].nodes.len; i++)
    core_kill_node(g, g->classes[c].nodes.data[i]);
  g->classes[c].live = false;
  g->live_classes--;
}

/* The class's only node is free: whoever used the class uses its children. */
static void
bypass(ex_core *g, uint32_t c, ex_list *kids) {
  core_node only = g->nodes.data[g->classes[c].nodes.data[0]];
  for (uint32_t i = 0; i < g->classes[c].users.len; i++) {
    uint32_t u = g->classes[c].users.data[i];
    merge_kids(g, &g->nodes.data[u], c, &only, kids);
    core_set_kids(g, u, kids->data, kids->len);
  }
  for (uint32_t k = 0; g->classes[c].forced && k < only.n_kids; k++)
    g->classes[only.kids[k]].forced = true;
  bs_push(g->heap, &g->fixed, only.trace);
  retire(g, c);
}

static void
multiply(ex_core *g, uint32_t c, ex_list *kids) {
  const ex_list users = g->classes[c].users, nodes = g->classes[c].nodes;
  for (uint32_t i = 0; i < users.len; i++)
    core_kill_node(g, users.data[i]); /* so that no product is compared to it */
  for (uint32_t i = 0; i < users.len; i++)
    for (uint32_t j = 0; j < nodes.len; j++) {
      core_node u = g->nodes.data[users.data[i]];
      core_node m = g->nodes.data[nodes.data[j]];
      merge_kids(g, &u, c, &m, kids);
      if (!is_undominated(g, u.class, u.cost + m.cost, kids))
        continue;
      core_add_node(g, u.class, u.cost + m.cost, kids->data, kids->len,
                    core_join(g, u.trace, m.trace));
    }
  retire(g, c);
}

static bool
pays(const ex_core *g, uint32_t c) {
  uint64_t users = g->classes[c].users.len, nodes = g->classes[c].nodes.len;
  return users * nodes <= users + nodes + GROWTH;
}

uint32_t
core_eliminate(ex_core *g, ex_watch *w) {
  uint32_t changed = 0;
  ex_list kids = {0};
  for (uint32_t c = 0; c < g->n_classes && !ex_watch_over(w); c++) {
    core_class *k = &g->classes[c];
    if (!k->live || k->n_live == 0)
      continue;
    core_tidy(g, c);
    if (k->n_live == 1 && g->nodes.data[k->nodes.data[0]].cost == 0)
      bypass(g, c, &kids);
    else if (!k->forced && only_user(g, c) != EX_NONE && pays(g, c))
      multiply(g, c, &kids);
    else
      continue;
    changed++;
  }
  bs_vec_done(g->heap, &kids);
  return changed;
}
