/* SPDX-License-Identifier: MIT */
/* egraph_build.c - templates: right sides built bottom-up under bound slots. */
#include "egraph/egraph_testing.h"
#include "egraph/graph.h"
#include <assert.h>

typedef struct eg_frame {
  const eg_attr_pattern *a;
  uint32_t next; /* item to build */
} eg_frame;

static bs_value
attr_leaf(const eg_attr_pattern *a, const uint32_t *slots) {
  if (a->kind == EG_ATTR_SLOT)
    return (bs_value){slots[a->slot]};
  return a->kind == EG_ATTR_VALUE ? a->value : BS_NIL;
}

/* Nested lists are as deep as the rule's text; the stack is explicit. */
enum { ATTR_DEPTH = 32, ATTR_ITEMS = 256 };

bs_value
eg_attr_build(bs_values *values, const eg_attr_pattern *a,
              const uint32_t *slots) {
  if (a->kind != EG_ATTR_LIST)
    return attr_leaf(a, slots);
  eg_frame stack[ATTR_DEPTH];
  bs_value items[ATTR_ITEMS];
  uint32_t depth = 0, n = 0;
  stack[depth++] = (eg_frame){a, 0};
  for (;;) {
    eg_frame *f = &stack[depth - 1];
    if (f->next == f->a->n) {
      bs_value v = bs_list(values, items + n - f->a->n, f->a->n);
      n -= f->a->n;
      if (!--depth)
        return v;
      items[n++] = v;
      continue;
    }
    const eg_attr_pattern *i = &f->a->items[f->next++];
    if (i->kind == EG_ATTR_LIST && depth < ATTR_DEPTH)
      stack[depth++] = (eg_frame){i, 0};
    else if (n < ATTR_ITEMS)
      items[n++] = attr_leaf(i, slots);
    else
      return BS_NIL;
    if (n == ATTR_ITEMS)
      return BS_NIL;
  }
}

eg_class
eg_instantiate(eg_graph *g, const eg_term *t, const uint32_t *slots) {
  eg_class few[32], kid[8];
  eg_class *made = few;
  if (t->n > 32)
    made = bs_alloc(g->heap, t->n * sizeof *made);
  eg_class out = EG_NO_CLASS;
  for (uint32_t i = 0; i < t->n; i++) {
    const eg_term_node *n = &t->nodes[i];
    if (n->is_slot) {
      out = made[i] = eg_find(g, (eg_class){slots[n->slot]});
      continue;
    }
    eg_class *k = kid;
    if (n->n_kids > 8)
      k = bs_alloc(g->heap, n->n_kids * sizeof *k);
    for (uint32_t j = 0; j < n->n_kids; j++) {
      assert(n->kids[j] < i);
      k[j] = made[n->kids[j]];
    }
    bs_value attr = eg_attr_build(g->values, &n->attr, slots);
    out = made[i] = eg_add(g, n->op, attr, k, n->n_kids);
    if (k != kid)
      bs_free(g->heap, k);
    if (out.i == EG_NONE)
      break;
  }
  if (made != few)
    bs_free(g->heap, made);
  return out;
}
