/* SPDX-License-Identifier: MIT */
/* index_build.c - the index: a graph's nodes sorted by class and by operator.
 *
 * Linear passes: count nodes a class, place them in (class, id) order, and walk
 * that order once more, appending each node to its operator's list; a class's
 * nodes of one operator then stand together there, which is a segment.  The
 * order by class is made for a part of the classes at a time where memory was
 * never as much in use before, and given back before room is taken for the
 * segments, which a last pass over the lists makes.  The first pass also writes
 * the canonical class into the rows and stamps those that moved. */
#include "egraph/index_builder.h"
#include <assert.h>
#include <string.h>

enum { RECENT_BIT = 31 };
_Static_assert(EG_RECENT == 1u << RECENT_BIT, "as it is shifted");

void *
eg_index_room(eg_graph *g, void *list, uint32_t *cap, uint64_t n, size_t item) {
  assert(list || !*cap);
  if (n < *cap)
    return list;
  uint64_t want = n + n / 32 + 1;
  uint64_t then = g->heap->used + want * item - *cap * item;
  if (want > UINT32_MAX || then > g->heap->peak ||
      (g->limit && then > g->limit))
    want = n + 1;
  bs_free(g->heap, list);
  *cap = 0;
  list = bs_try_realloc(g->heap, NULL, want * item);
  if (list)
    *cap = (uint32_t)want;
  return list;
}

/* Room for the entries of all nodes, in the form that their ids need. */
static void
make_entries(eg_graph *g, eg_entries *e) {
  enum { KIDS = 1 << EG_SHORT_KID, NODES = 1 << EG_SHORT_NODE };
  bool wide =
      g->wide || g->n_classes > KIDS || g->n_pool > KIDS || g->n_rows > NODES;
  size_t item = wide ? EG_ENTRY_MOST : sizeof *e->words;
  if (wide != (e->tops != NULL))
    e->cap = 0;
  e->words = eg_index_room(g, e->words, &e->cap, g->live_nodes, item);
  if (!e->cap)
    bs_out_of_memory(g->heap);
  e->tops = wide ? (uint32_t *)(e->words + e->cap) : NULL;
}

/* --- by class ---------------------------------------------------------- */

static void
count_nodes(eg_index_builder *p) {
  eg_graph *g = p->g;
  uint32_t *count = p->x->class_segment.data, *uses = p->x->symbol_start.data;
  eg_stamp *stamps = g->stamps, epoch = (eg_stamp)g->epoch;
  uint32_t end = g->n_rows;
  const eg_head *heads = g->heads.data;
  memset(count, 0, ((size_t)g->n_classes + 1) * sizeof *count);
  memset(uses, 0, ((size_t)p->n_symbols + 1) * sizeof *uses);
  for (uint32_t n = 0; n < end; n++) {
    eg_row *r = &g->rows[n];
    uint32_t head = r->head;
    eg_stamp stamp = stamps[n];
    if (head & EG_DEAD || stamp == EG_PRUNED)
      continue;
    uint32_t c = eg_root(g, r->cls);
    if (c != r->cls || stamp & EG_MOVED) {
      r->cls = c;
      stamps[n] = epoch;
    }
    count[c]++;
    uses[heads[head & EG_HEAD_MASK].symbol]++;
  }
}

/* Counts become starts. */
static void
sum(uint32_t *a, uint32_t n) {
  uint32_t at = 0;
  for (uint32_t i = 0; i <= n; i++) {
    uint32_t here = i < n ? a[i] : 0;
    a[i] = at;
    at += here;
  }
}

/* Starts of the classes move on to the ends. */
static void
place_by_class(const eg_index_builder *p) {
  const eg_graph *g = p->g;
  const eg_range *some = &p->some;
  uint32_t n_rows = g->n_rows, epoch = g->epoch;
  uint32_t *at = p->x->class_segment.data;
  uint32_t first = some->first, n = some->end - first;
  assert(some->first <= some->end && some->end <= g->n_classes);
  eg_node *to = p->x->by_class.data - some->base;
  const eg_row *rows = g->rows;
  const eg_stamp *stamps = g->stamps;
  for (uint32_t i = 0; i < n_rows; i++) {
    uint32_t c = rows[i].cls;
    if (c - first >= n || rows[i].head & EG_DEAD)
      continue;
    uint32_t stamp = stamps[i];
    if (stamp != EG_PRUNED)
      to[at[c]++].i = i | (uint32_t)(stamp == epoch) << RECENT_BIT;
  }
}

/* --- by operator ------------------------------------------------------- */

/* Returns the place. */
EG_EACH_FORM uint32_t
place(eg_index_builder *p, uint32_t node, uint32_t flags, uint32_t c,
      bool wide) {
  const eg_row *r = &p->rows[node];
  uint32_t symbol = p->heads[r->head & EG_HEAD_MASK].symbol;
  uint32_t at = p->at[symbol]++;
  if (p->last[symbol] != c + 1) {
    p->last[symbol] = c + 1;
    p->n_segments++;
    flags |= EG_FIRST;
  }
  eg_entry_set(&p->entries, at, flags, node, r->kid[0].i, r->kid[1].i, wide);
  return at;
}

/* Appends the nodes of a class that did not change lately, of which there is
 * one at least; returns the place of the last. */
EG_EACH_FORM uint32_t
place_old(eg_index_builder *p, const eg_node *nodes, uint32_t n, uint32_t c,
          bool wide) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < n; i++)
    if (!(nodes[i].i & EG_RECENT))
      last = place(p, nodes[i].i, 0, c, wide);
  return last;
}

/* The nodes of a class, those that are recent first.  Returns the place of the
 * class's entries or the end of its segments, which come last to first. */
EG_EACH_FORM uint32_t
place_class(eg_index_builder *p, const eg_node *nodes, uint32_t n, uint32_t c,
            bool wide) {
  uint32_t n_recent = 0, before = p->n_segments, last = 0;
  for (uint32_t i = 0; i < n; i++)
    n_recent += nodes[i].i >> RECENT_BIT;
  for (uint32_t i = 0; i < n && n_recent; i++)
    if (nodes[i].i & EG_RECENT)
      last = place(p, nodes[i].i & EG_NODE_MASK, EG_RECENT, c, wide);
  if (n_recent < n)
    last = place_old(p, nodes, n, c, wide);
  if (n > EG_FEW_MOST || p->n_segments > before + 1)
    return p->n_segments | EG_UNWRITTEN;
  p->n_segments = before;
  return (last + 1 - n) | EG_ALONE;
}

EG_EACH_FORM uint32_t
place_alone(eg_index_builder *p, uint32_t node, uint32_t c, bool wide) {
  uint32_t at = place(p, node & EG_NODE_MASK, node & EG_RECENT, c, wide);
  p->n_segments--;
  return at | EG_ALONE;
}

/* Ends of classes become ends of their segments. */
EG_EACH_FORM void
place_classes(eg_index_builder *s, bool wide) {
  eg_index_builder p = *s;
  const eg_node *at = p.x->by_class.data;
  uint32_t *end = p.x->class_segment.data, from = p.some.base;
  for (uint32_t c = p.some.first; c < p.some.end; c++) {
    uint32_t n = end[c] - from;
    from = end[c];
    end[c] = !n       ? EG_NO_SEGMENT
             : n == 1 ? place_alone(&p, at->i, c, wide)
                      : place_class(&p, at, n, c, wide);
    at += n;
  }
  s->n_segments = p.n_segments;
}

static void
place_by_symbol(eg_index_builder *p) {
  if (p->x->by_symbol.tops)
    place_classes(p, true);
  else
    place_classes(p, false);
}

/* --- some classes at a time -------------------------------------------- */

enum { FEW_BYTES = 58, PARTS = 3, LEAST = 1 << 12 /* nodes of a part */ };

/* How many nodes at a time the order by class is made for: as many as memory
 * that was in use before can hold, and at least a third of them. */
static uint32_t
part_of(const eg_graph *g) {
  const bs_heap *h = g->heap;
  uint64_t few = g->limit ? 0 : (uint64_t)g->live_nodes * FEW_BYTES;
  uint64_t most = h->peak > few ? h->peak : few;
  uint64_t room = (most - h->used) / sizeof(eg_node);
  uint64_t least = g->live_nodes / PARTS;
  if (least < LEAST)
    least = LEAST;
  if (room < least)
    room = least;
  return room < g->live_nodes ? (uint32_t)room : g->live_nodes;
}

/* The next classes with `most` nodes together, or one with more. */
static void
next_range(eg_index_builder *p, uint32_t most) {
  const uint32_t *start = p->x->class_segment.data;
  uint32_t n_classes = p->g->n_classes;
  eg_range *some = &p->some;
  assert(some->end <= n_classes);
  uint32_t c = some->first = some->end;
  some->base = c < n_classes ? start[c] : 0;
  if (c < n_classes && start[n_classes] - some->base <= most)
    c = n_classes;
  while (c < n_classes &&
         (start[c + 1] - some->base <= most || c == some->first))
    c++;
  some->end = c;
}

/* By class, some classes at a time, then by operator; the nodes of a class and
 * an operator stand together there.  Tells how many such segments there are to
 * be kept. */
static void
place_all(eg_index_builder *p) {
  eg_graph *g = p->g;
  eg_index *x = p->x;
  uint32_t most = part_of(g);
  for (next_range(p, most); p->some.first < p->some.end; next_range(p, most)) {
    uint32_t n = x->class_segment.data[p->some.end] - p->some.base;
    EG_ROOM(g, &x->by_class, (uint64_t)n);
    place_by_class(p);
    place_by_symbol(p);
  }
  x->segments.len = p->n_segments;
  eg_entry_set(&x->by_symbol, x->symbol_start.data[p->n_symbols], EG_FIRST, 0,
               0, 0, x->by_symbol.tops);
}

/* --- all --------------------------------------------------------------- */

static void
begin(eg_index_builder *p, eg_graph *g) {
  uint32_t n = g->symbol_ops.len;
  uint32_t *room = bs_alloc(g->heap, (2 * (uint64_t)n + 1) * sizeof *room);
  g->index.room = room;
  *p = (eg_index_builder){.g = g,
                          .x = &g->index,
                          .rows = g->rows,
                          .heads = g->heads.data,
                          .entries = g->index.by_symbol,
                          .n_symbols = n,
                          .at = room,
                          .last = room + n};
  memset(p->last, 0, n * sizeof *p->last);
}

void
eg_index_build(eg_graph *g) {
  eg_index *x = &g->index;
  uint32_t n_symbols = g->symbol_ops.len;
  eg_index_builder p;
  EG_ROOM(g, &x->class_segment, (uint64_t)g->n_classes + 1);
  make_entries(g, &x->by_symbol);
  bs_reserve(g->heap, &x->symbol_start, (uint64_t)n_symbols + 1);
  while (x->uses.len < n_symbols)
    bs_push(g->heap, &x->uses, (eg_use){0});
  begin(&p, g);
  count_nodes(&p);
  sum(x->class_segment.data, g->n_classes);
  sum(x->symbol_start.data, n_symbols);
  memcpy(p.at, x->symbol_start.data, n_symbols * sizeof *p.at);
  place_all(&p);
  bs_vec_done(g->heap, &x->by_class);
  eg_make_segments(&p);
  bs_free(g->heap, x->room);
  x->room = NULL;
}
