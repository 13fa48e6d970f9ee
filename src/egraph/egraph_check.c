/* SPDX-License-Identifier: MIT */
/* egraph_check.c - the invariants of egraph.h, each on its own.
 *
 * Linear in the graph apart from the lookups.  A graph that a refused merge
 * stopped has equal nodes in two classes by design and is not checked. */
#include "egraph/hashcons.h"
#include "egraph/segments.h"
#include <string.h>

static const char *
check_classes(const eg_graph *g) {
  uint32_t roots = 0;
  for (uint32_t c = 0; c < g->n_classes; c++) {
    uint32_t r = eg_root(g, c);
    if (!eg_leads(g, r))
      return "I1: the leader of a class has a leader";
    roots += r == c;
  }
  return roots == g->live_classes ? NULL : "I1: classes are miscounted";
}

static const char *
check_nodes(const eg_graph *g) {
  uint32_t live = 0, there = 0;
  for (uint32_t n = 0; n < g->n_rows; n++) {
    const eg_row *r = &g->rows[n];
    if (r->head & EG_DEAD)
      continue;
    there++;
    live += eg_is_live(g, n);
    uint32_t arity = eg_head_of(g, r->head)->arity;
    const eg_class *kids = eg_row_kids(g, r);
    for (uint32_t i = 0; i < arity; i++)
      if (eg_root(g, kids[i].i) != kids[i].i)
        return "I2: a child is not canonical";
    eg_key k = eg_key_of(r->head, kids, arity);
    uint64_t hash = eg_key_hash(&k);
    bool seen = false;
    if (eg_table_find(g, &k, hash, n, &seen) != EG_NONE)
      return "I3: two nodes are equal";
    if (!seen)
      return "I4: the hashcons does not find a node";
  }
  if (there != g->filled || there != g->n_rows - g->n_dead)
    return "I4: the hashcons has other nodes";
  return live == g->live_nodes ? NULL : "I3: nodes are miscounted";
}

static const char *
check_edges(const eg_graph *g, uint32_t *owner, uint32_t *pool_owner) {
  for (uint32_t c = 0; c < g->n_classes; c++) {
    if (!eg_leads(g, c))
      continue;
    for (uint32_t e = g->parents[eg_record(g, c)].first; e != EG_NONE;) {
      uint32_t p = e & ~EG_POOL_EDGE;
      uint32_t *of = e & EG_POOL_EDGE ? pool_owner : owner;
      if (of[p] != EG_NONE)
        return "I6: an edge stands in two parent lists";
      of[p] = c;
      e = e & EG_POOL_EDGE ? g->pool_links[p] : g->links[p];
    }
  }
  for (uint32_t n = 0; n < g->n_rows; n++) {
    const eg_row *r = &g->rows[n];
    if (r->head & EG_DEAD)
      continue;
    uint32_t arity = eg_head_of(g, r->head)->arity;
    for (uint32_t i = 0; i < arity; i++) {
      bool wide = r->head & EG_WIDE;
      uint32_t in = wide ? pool_owner[r->kid[0].i + i] : owner[2 * n + i];
      if (in != eg_row_kids(g, r)[i].i)
        return "I6: a node is missing from a child's parents";
    }
  }
  return NULL;
}

static const char *
check_data(eg_graph *g) {
  const eg_analysis *a = &g->analysis;
  if (!a->make || !a->merge || !a->size)
    return NULL;
  void *data = g->spare[0], *into = g->spare[1];
  for (uint32_t n = 0; n < g->n_rows; n++) {
    const eg_row *r = &g->rows[n];
    if (r->head & EG_DEAD)
      continue;
    const eg_head *h = eg_head_of(g, r->head);
    memset(data, 0, a->size);
    if (!a->make(a->ctx, g, h->op, h->attr, eg_row_kids(g, r), h->arity, data))
      return "I7: a node is refused now";
    memcpy(into, eg_data(g, (eg_class){r->cls}), a->size);
    if (a->merge(a->ctx, g, into, data) & (1 | EG_MERGE_CONFLICT))
      return "I7: a class knows less than one of its nodes";
  }
  return NULL;
}

static const char *
check_lists(const eg_graph *g, uint32_t *where) {
  uint32_t total = 0;
  for (uint32_t c = 0; c < g->n_classes; c++) {
    if (!eg_leads(g, c))
      continue;
    uint32_t len;
    const eg_node *list = eg_class_nodes(g, (eg_class){c}, &len);
    for (uint32_t i = 0; i < len; i++, total++) {
      uint32_t n = list[i].i;
      if (where[n] != EG_NONE || !eg_is_live(g, n))
        return "I5: a node is listed twice, or dead";
      where[n] = c;
      if (eg_root(g, g->rows[n].cls) != c)
        return "I5: a node is listed in another class";
    }
  }
  return total == g->live_nodes ? NULL : "I5: a node is in no list";
}

static const char *
check_symbols(const eg_graph *g, uint32_t *where) {
  const eg_index *x = eg_index_of(g);
  uint32_t total = 0;
  for (uint32_t c = 0; c < g->n_classes; c++) {
    uint32_t at = x->class_segment.data[c];
    eg_segment s;
    while (eg_segment_next(x, &at, &s)) {
      uint32_t end = s.start + eg_segment_n(x, &s);
      for (uint32_t i = s.start; i < end; i++, total++) {
        uint32_t n = eg_entry_node(&x->by_symbol, i);
        if (where[n] != c)
          return "I8: a node is in the wrong segment, or in two";
        where[n] = EG_NONE;
        uint32_t symbol = eg_head_of(g, g->rows[n].head)->symbol;
        if (i < x->symbol_start.data[symbol] ||
            i >= x->symbol_start.data[symbol + 1])
          return "I8: a node is listed under another operator";
      }
    }
  }
  return total == g->live_nodes ? NULL : "I8: a node is under no operator";
}

static uint32_t *
blank(bs_heap *heap, uint64_t n) {
  uint32_t *a = bs_alloc(heap, (n + 1) * sizeof *a);
  memset(a, 0xff, n * sizeof *a);
  return a;
}

typedef struct eg_checking {
  const eg_graph *g;
  bs_heap heap;
  const char *broken;
} eg_checking;

static void
check(void *arg) {
  eg_checking *c = arg;
  const eg_graph *g = c->g;
  uint32_t *a = blank(&c->heap, (uint64_t)g->n_rows * 2);
  uint32_t *b = blank(&c->heap, g->n_pool);
  const char *broken = check_classes(g);
  if (!broken)
    broken = check_nodes(g);
  if (!broken)
    broken = check_edges(g, a, b);
  if (!broken)
    broken = check_data(g->self);
  memset(a, 0xff, (size_t)g->n_rows * sizeof *a);
  if (!broken && !g->pins)
    broken = check_lists(g, a);
  if (!broken && !g->pins)
    broken = check_symbols(g, a);
  c->broken = broken;
}

static void
check_on_own_heap(void *arg) {
  eg_checking *c = arg;
  bs_protect(&c->heap, check, c);
}

/* Its own memory does not count against the graph's limits.  Where some runs
 * out, its own or what the index needs, there is nothing to say. */
const char *
eg_check(const eg_graph *g) {
  eg_checking c = {.g = g};
  if (g->dirty || g->fault)
    return NULL;
  bs_heap_init(&c.heap, NULL, 0);
  bs_protect(g->heap, check_on_own_heap, &c);
  bs_heap_done(&c.heap);
  return c.broken;
}
