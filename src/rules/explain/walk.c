/* SPDX-License-Identifier: MIT */
/* walk.c - the classes of a choice, children before parents.
 *
 * Depth first with a stack of its own; a class is given when all its children
 * were. */
#include "rules/rule/rule_internal.h"

enum { UNSEEN, OPEN, DONE };

void
rl_walk_init(rl_walk *w, const rl_run *run, const eg_node *choice) {
  *w = (rl_walk){.run = run, .choice = choice, .n = eg_class_ids(run->graph)};
  w->state = bs_calloc(run->heap, w->n + (size_t)1, 1);
  for (uint32_t k = run->n_outputs; k-- > 0;)
    bs_push(run->heap, &w->stack, eg_find(run->graph, run->outputs[k]).i);
}

void
rl_walk_done(rl_walk *w) {
  bs_vec_done(w->run->heap, &w->stack);
  bs_free(w->run->heap, w->state);
}

/* Pushes the children that are not done; false for a cycle. */
static bool
push_kids(rl_walk *w, eg_node node) {
  const eg_graph *g = w->run->graph;
  uint32_t n;
  const eg_class *kids = eg_kids(g, node, &n);
  for (uint32_t k = n; k-- > 0;) {
    uint32_t c = eg_find(g, kids[k]).i;
    if (w->state[c] == OPEN)
      return false;
    if (w->state[c] == UNSEEN)
      bs_push(w->run->heap, &w->stack, c);
  }
  return true;
}

uint32_t
rl_walk_next(rl_walk *w, bool *ok) {
  while (w->stack.len) {
    uint32_t c = bs_last(&w->stack);
    if (w->state[c] == DONE) {
      w->stack.len--;
      continue;
    }
    if (w->state[c] == OPEN) {
      w->state[c] = DONE;
      w->stack.len--;
      return c;
    }
    w->state[c] = OPEN;
    if (w->choice[c].i == UINT32_MAX || !push_kids(w, w->choice[c])) {
      *ok = false;
      return UINT32_MAX;
    }
  }
  return UINT32_MAX;
}
