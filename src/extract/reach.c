/* SPDX-License-Identifier: MIT */
/* reach.c - what a core can do without at once: nodes without a term, classes
 * the forced ones do not reach, edges to forced classes.
 *
 * A forced class is paid for and present anyway.  An edge to one matters only
 * if it may close a cycle, that is within a strongly connected component. */
#include "extract/core.h"

/* Kills nodes that no finite term can use, and classes left without one. */
static void
kill_endless(ex_core *g) {
  bs_heap *h = g->heap;
  uint32_t *waiting = EX_NEW(h, uint32_t, g->nodes.len);
  bool *settled = EX_ZERO(h, bool, g->n_classes);
  ex_list work = {0};
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    const core_node *n = &g->nodes.data[i];
    waiting[i] = n->n_kids;
    if (n->live && n->n_kids == 0 && !settled[n->class]) {
      settled[n->class] = true;
      bs_push(h, &work, n->class);
    }
  }
  while (work.len) {
    const ex_list *users = &g->classes[bs_pop(&work)].users;
    for (uint32_t i = 0; i < users->len; i++) {
      const core_node *n = &g->nodes.data[users->data[i]];
      if (--waiting[users->data[i]] || settled[n->class])
        continue;
      settled[n->class] = true;
      bs_push(h, &work, n->class);
    }
  }
  for (uint32_t i = 0; i < g->nodes.len; i++)
    if (g->nodes.data[i].live && waiting[i])
      core_kill_node(g, i);
  for (uint32_t c = 0; c < g->n_classes; c++)
    if (g->classes[c].forced && g->classes[c].live && !settled[c])
      g->infeasible = true;
  bs_vec_done(h, &work);
  bs_free(h, settled);
  bs_free(h, waiting);
}

static void
mark(ex_core *g, uint32_t c, bool *reached, ex_list *work) {
  if (reached[c])
    return;
  reached[c] = true;
  bs_push(g->heap, work, c);
}

static void
kill_unreached(ex_core *g) {
  bs_heap *h = g->heap;
  bool *reached = EX_ZERO(h, bool, g->n_classes);
  ex_list work = {0};
  for (uint32_t c = 0; c < g->n_classes; c++)
    if (g->classes[c].live && g->classes[c].forced)
      mark(g, c, reached, &work);
  while (work.len) {
    const ex_list *nodes = &g->classes[bs_pop(&work)].nodes;
    for (uint32_t i = 0; i < nodes->len; i++) {
      const core_node *n = &g->nodes.data[nodes->data[i]];
      for (uint32_t k = 0; n->live && k < n->n_kids; k++)
        mark(g, n->kids[k], reached, &work);
    }
  }
  g->live_classes = 0;
  for (uint32_t c = 0; c < g->n_classes; c++) {
    core_class *k = &g->classes[c];
    g->live_classes += k->live = k->live && reached[c];
    for (uint32_t i = 0; !k->live && i < k->nodes.len; i++)
      core_kill_node(g, k->nodes.data[i]);
  }
  bs_vec_done(h, &work);
  bs_free(h, reached);
}

static void
find_components(ex_core *g) {
  ex_problem p;
  uint32_t *class_at, *node_at;
  core_to_problem(g, &p, &class_at, &node_at);
  uint32_t *component = EX_NEW(g->heap, uint32_t, p.n_classes);
  ex_components(&p, component);
  for (uint32_t c = 0; c < p.n_classes; c++)
    g->classes[class_at[c]].component = component[c];
  bs_free(g->heap, component);
  bs_free(g->heap, node_at);
  bs_free(g->heap, class_at);
  ex_problem_done(&p);
}

static void
drop_forced_kids(ex_core *g) {
  ex_list kids = {0};
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    const core_node *n = &g->nodes.data[i];
    bs_clear(&kids);
    for (uint32_t k = 0; n->live && k < n->n_kids; k++) {
      const core_class *c = &g->classes[n->kids[k]];
      if (!c->forced || c->component == g->classes[n->class].component)
        bs_push(g->heap, &kids, n->kids[k]);
    }
    if (n->live && kids.len < n->n_kids)
      core_set_kids(g, i, kids.data, kids.len);
  }
  bs_vec_done(g->heap, &kids);
}

static void
tidy_all(ex_core *g) {
  for (uint32_t c = 0; c < g->n_classes; c++)
    core_tidy(g, c);
}

void
core_prune_unreached(ex_core *g) {
  tidy_all(g);
  kill_endless(g);
  if (g->infeasible)
    return;
  kill_unreached(g);
  find_components(g);
}

void
core_prune(ex_core *g) {
  core_prune_unreached(g);
  if (g->infeasible)
    return;
  drop_forced_kids(g);
  tidy_all(g);
}
