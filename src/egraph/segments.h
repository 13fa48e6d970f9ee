/* segments.h - the nodes of a class and an operator in the index; private.
 *
 * Most classes have nodes of one operator, and few of them.  Of these there is
 * no segment: the class has the place of its entries, where the first of a
 * segment is marked, and those that are recent. */
#ifndef EGRAPH_SEGMENTS_H
#define EGRAPH_SEGMENTS_H

#include "egraph/graph.h"

static inline uint32_t
eg_entry_class(const eg_graph *g, const eg_entry *e) {
  return g->rows[e->node & EG_NODE_MASK].cls;
}

/* The stamp of an entry's node as it was when the index was built. */
static inline uint32_t
eg_entry_stamp(const eg_graph *g, const eg_entry *e) {
  return g->stamps[e->node & EG_NODE_MASK] & (eg_stamp)~EG_MOVED;
}

static inline uint32_t
eg_segment_n(const eg_index *x, const eg_segment *s) {
  if (s->what & EG_FEW) {
    const eg_entry *e = &x->by_symbol.data[s->start];
    uint32_t n = 1;
    while (!(e[n].node & EG_FIRST))
      n++;
    return n;
  }
  if (s->what & EG_MANY)
    return x->many.data[s->what & ~(EG_RECENT | EG_MANY | EG_LAST)].n;
  return s->what >> EG_SEGMENT_BITS & EG_SEGMENT_MOST;
}

static inline uint32_t
eg_segment_info(const eg_index *x, const eg_segment *s) {
  if (s->what & EG_MANY)
    return x->many.data[s->what & ~(EG_RECENT | EG_MANY | EG_LAST)].info;
  return s->what & EG_SEGMENT_MOST;
}

/* The latest stamp in a segment. */
static inline uint32_t
eg_segment_newest(const eg_graph *g, const eg_segment *s) {
  const eg_index *x = &g->index;
  const eg_entry *e = &x->by_symbol.data[s->start];
  if (!(s->what & EG_FEW))
    return s->what & EG_RECENT ? x->epoch : eg_segment_info(x, s);
  if (e->node & EG_RECENT)
    return x->epoch;
  uint32_t newest = eg_entry_stamp(g, e);
  while (!((++e)->node & EG_FIRST)) {
    uint32_t stamp = eg_entry_stamp(g, e);
    newest = stamp > newest ? stamp : newest;
  }
  return newest;
}

static inline uint32_t
eg_segment_recent(const eg_index *x, const eg_segment *s) {
  const eg_entry *e = &x->by_symbol.data[s->start];
  uint32_t n = 0;
  if (!(s->what & EG_FEW))
    return s->what & EG_RECENT ? eg_segment_info(x, s) : 0;
  while (e[n].node & EG_RECENT && (!n || !(e[n].node & EG_FIRST)))
    n++;
  return n;
}

/* The segment of a class and a symbol, which the index covers; false: there is
 * none. */
static inline bool
eg_segment_find(const eg_index *x, uint32_t cls, uint32_t symbol,
                eg_segment *out) {
  uint32_t at = x->class_segment.data[cls];
  uint32_t first = x->symbol_start.data[symbol];
  uint32_t n = x->symbol_start.data[symbol + 1] - first;
  if (at & EG_ALONE) {
    *out = (eg_segment){at & ~EG_ALONE, EG_FEW};
    return out->start - first < n;
  }
  for (const eg_segment *s = &x->segments.data[at];; s++) {
    *out = *s;
    if (s->start - first < n)
      return true;
    if (s->what & EG_LAST)
      return false;
  }
}

/* The next segment of a class: *at is its word at first. */
static inline bool
eg_segment_next(const eg_index *x, uint32_t *at, eg_segment *out) {
  if (*at == EG_NO_SEGMENT)
    return false;
  if (*at & EG_ALONE)
    *out = (eg_segment){*at & ~EG_ALONE, EG_FEW};
  else
    *out = x->segments.data[*at];
  *at = out->what & (EG_FEW | EG_LAST) ? EG_NO_SEGMENT : *at + 1;
  return true;
}

#endif
