/* SPDX-License-Identifier: MIT */
/* segments.h - the nodes of a class and an operator in the index; private.
 *
 * Most classes have nodes of one operator, and few of them.  Of these there is
 * no segment: the class has the place of its entries, where the first of a
 * segment is marked, and those that are recent. */
#ifndef EGRAPH_SEGMENTS_H
#define EGRAPH_SEGMENTS_H

#include "egraph/graph.h"

static inline uint32_t
eg_entry_class(const eg_graph *g, uint32_t i) {
  return g->rows[eg_entry_node(&g->index.by_symbol, i)].cls;
}

/* The stamp of an entry's node as it was when the index was built. */
static inline uint32_t
eg_top_stamp(const eg_graph *g, uint32_t top, bool wide) {
  return g->stamps[eg_top_node(top, wide)] & (eg_stamp)~EG_MOVED;
}

static inline const eg_many *
eg_segment_many(const eg_index *x, const eg_segment *s) {
  return &x->many.data[s->what & EG_SLOT_MASK];
}

static inline uint32_t
eg_segment_n(const eg_index *x, const eg_segment *s) {
  const eg_entries *e = &x->by_symbol;
  bool wide = e->tops;
  uint32_t n = 1;
  if (s->what & EG_MANY)
    return eg_segment_many(x, s)->n;
  if (!(s->what & EG_FEW))
    return s->what & EG_COUNT_MOST;
  while (!(eg_entry_top(e, s->start + n, wide) & EG_FIRST))
    n++;
  return n;
}

/* The latest stamp in a segment. */
static inline uint32_t
eg_segment_newest(const eg_graph *g, const eg_segment *s) {
  const eg_index *x = &g->index;
  const eg_entries *e = &x->by_symbol;
  bool wide = e->tops;
  uint32_t i = s->start, top;
  if (s->what & EG_MANY) {
    uint32_t info = eg_segment_many(x, s)->info;
    return info & EG_RECENT ? x->epoch : info;
  }
  top = eg_entry_top(e, i, wide);
  if (top & EG_RECENT)
    return x->epoch;
  uint32_t newest = eg_top_stamp(g, top, wide);
  while (!((top = eg_entry_top(e, ++i, wide)) & EG_FIRST)) {
    uint32_t stamp = eg_top_stamp(g, top, wide);
    newest = stamp > newest ? stamp : newest;
  }
  return newest;
}

/* The latest stamp in a segment, and how many nodes it has. */
static inline uint32_t
eg_segment_both(const eg_graph *g, const eg_segment *s, uint32_t *n) {
  const eg_index *x = &g->index;
  const eg_entries *e = &x->by_symbol;
  bool wide = e->tops;
  if (!(s->what & EG_FEW)) {
    *n = eg_segment_n(x, s);
    return eg_segment_newest(g, s);
  }
  uint32_t i = s->start, newest = 0, top = eg_entry_top(e, i, wide);
  do {
    uint32_t stamp = top & EG_RECENT ? x->epoch : eg_top_stamp(g, top, wide);
    newest = stamp > newest ? stamp : newest;
  } while (!((top = eg_entry_top(e, ++i, wide)) & EG_FIRST));
  *n = i - s->start;
  return newest;
}

static inline uint32_t
eg_segment_recent(const eg_index *x, const eg_segment *s) {
  const eg_entries *e = &x->by_symbol;
  bool wide = e->tops;
  uint32_t n = 0, top;
  if (s->what & EG_MANY) {
    uint32_t info = eg_segment_many(x, s)->info;
    return info & EG_RECENT ? info & ~EG_RECENT : 0;
  }
  if (!(s->what & EG_FEW))
    return s->what >> EG_COUNT_BITS;
  while ((top = eg_entry_top(e, s->start + n, wide)) & EG_RECENT &&
         (!n || !(top & EG_FIRST)))
    n++;
  return n;
}

/* A segment that is kept. */
static inline eg_segment
eg_segment_decoded(const eg_index *x, uint32_t word) {
  uint32_t at = word & EG_SLOT_MASK;
  if (word & EG_MANY)
    return (eg_segment){x->many.data[at].start, EG_MANY | at};
  if (x->by_symbol.tops)
    return (eg_segment){at, EG_FEW};
  return (eg_segment){at & ((1u << EG_SHORT_NODE) - 1), at >> EG_SHORT_NODE};
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
  for (const uint32_t *s = &x->segments.data[at];; s++) {
    *out = eg_segment_decoded(x, *s);
    if (out->start - first < n)
      return true;
    if (*s & EG_LAST)
      return false;
  }
}

/* The next segment of a class: *at is its word at first. */
static inline bool
eg_segment_next(const eg_index *x, uint32_t *at, eg_segment *out) {
  if (*at == EG_NO_SEGMENT)
    return false;
  if (*at & EG_ALONE) {
    *out = (eg_segment){*at & ~EG_ALONE, EG_FEW};
    *at = EG_NO_SEGMENT;
    return true;
  }
  uint32_t word = x->segments.data[*at];
  *out = eg_segment_decoded(x, word);
  *at = word & EG_LAST ? EG_NO_SEGMENT : *at + 1;
  return true;
}

#endif
