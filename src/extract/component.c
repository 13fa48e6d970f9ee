/* SPDX-License-Identifier: MIT */
/* component.c - strongly connected components of the class graph (Tarjan,
 * 1972) with an explicit stack.  A component is numbered when it is complete,
 * so every edge leads to an equal or lower number. */
#include "extract/internal.h"
#include <assert.h>

typedef struct frame {
  uint32_t class, node, kid;
} frame;

typedef struct tarjan {
  const ex_problem *p;
  uint32_t *component, *low, *index, *open;
  frame *stack;
  uint32_t depth, n_open, counter, found;
} tarjan;

static void
enter(tarjan *t, uint32_t c) {
  uint32_t node = t->p->class_first[c];
  uint32_t kid = node < t->p->n_nodes ? t->p->kid_first[node] : 0;
  t->index[c] = t->low[c] = ++t->counter;
  t->open[t->n_open++] = c;
  t->stack[t->depth++] = (frame){c, node, kid};
}

/* The next child class of the top frame, or EX_NONE. */
static uint32_t
next_child(tarjan *t) {
  frame *f = &t->stack[t->depth - 1];
  const ex_problem *p = t->p;
  for (; f->node < p->class_first[f->class + 1]; f->node++) {
    if (f->kid < p->kid_first[f->node])
      f->kid = p->kid_first[f->node];
    if (f->kid < p->kid_first[f->node + 1])
      return p->kids[f->kid++];
  }
  return EX_NONE;
}

static void
leave(tarjan *t) {
  uint32_t c = t->stack[--t->depth].class, d;
  if (t->low[c] == t->index[c]) {
    do {
      d = t->open[--t->n_open];
      t->component[d] = t->found;
    } while (d != c);
    t->found++;
  }
  if (t->depth) {
    uint32_t up = t->stack[t->depth - 1].class;
    if (t->low[c] < t->low[up])
      t->low[up] = t->low[c];
  }
}

static void
run_from(tarjan *t, uint32_t root) {
  enter(t, root);
  while (t->depth) {
    uint32_t kid = next_child(t), c = t->stack[t->depth - 1].class;
    if (kid == EX_NONE)
      leave(t);
    else if (!t->index[kid])
      enter(t, kid);
    else if (t->component[kid] == EX_NONE && t->index[kid] < t->low[c])
      t->low[c] = t->index[kid];
  }
}

uint32_t
ex_components(const ex_problem *p, uint32_t *component) {
  assert(component || !p->n_classes);
  bs_heap *h = p->heap;
  tarjan t = {.p = p, .component = component};
  t.low = EX_NEW(h, uint32_t, p->n_classes);
  t.index = EX_ZERO(h, uint32_t, p->n_classes);
  t.open = EX_NEW(h, uint32_t, p->n_classes);
  t.stack = EX_NEW(h, frame, p->n_classes);
  for (uint32_t c = 0; c < p->n_classes; c++)
    component[c] = EX_NONE;
  for (uint32_t c = 0; c < p->n_classes; c++)
    if (!t.index[c])
      run_from(&t, c);
  bs_free(h, t.stack);
  bs_free(h, t.open);
  bs_free(h, t.index);
  bs_free(h, t.low);
  return t.found;
}
