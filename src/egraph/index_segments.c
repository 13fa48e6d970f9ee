/* SPDX-License-Identifier: MIT */
/* index_segments.c - the segments of an index, once its lists are made.
 *
 * One pass over the lists: where a class's nodes of an operator begin, how many
 * there are and how many changed. */
#include "egraph/index_builder.h"

_Static_assert(EG_RECENT == 1u << 31, "counted by shifting");

/* Of n nodes, `recent` of which are. */
static inline uint32_t
segment_of(const eg_graph *g, eg_index *x, uint32_t *many, uint32_t start,
           uint32_t n, uint32_t recent, uint32_t newest) {
  uint32_t counts = recent << EG_COUNT_BITS | n;
  if (n <= EG_COUNT_MOST)
    return x->by_symbol.tops ? start : start | counts << EG_SHORT_NODE;
  if (*many == x->many.len)
    bs_push(g->heap, &x->many, (eg_many){0});
  x->many.data[*many] =
      (eg_many){start, n, recent ? EG_RECENT | recent : newest};
  return EG_MANY | (*many)++;
}

/* The latest stamp of the entries [i, end). */
EG_EACH_FORM uint32_t
newest_of(const eg_graph *g, const eg_entries *e, uint32_t i, uint32_t end,
          bool wide) {
  const eg_stamp *stamps = g->stamps;
  uint32_t newest = 0;
  for (; i < end; i++) {
    uint32_t stamp = stamps[eg_top_node(eg_entry_top(e, i, wide), wide)];
    newest = stamp > newest ? stamp : newest;
  }
  return newest;
}

/* The segments of the entries [i, end) of an operator; tells whether any of
 * its nodes is recent. */
EG_EACH_FORM bool
segments_of(const eg_graph *g, eg_index *x, uint32_t i, uint32_t end,
            uint32_t *many, bool wide) {
  const eg_entries e = x->by_symbol;
  bool some = false;
  while (i < end) {
    uint32_t top = eg_entry_top(&e, i, wide), from = i, recent = 0, newest = 0;
    uint32_t *at = &x->class_segment.data[g->rows[eg_top_node(top, wide)].cls];
    if (*at & EG_ALONE) {
      some = some || top & EG_RECENT;
      while (!(eg_entry_top(&e, ++i, wide) & EG_FIRST))
        ;
      continue;
    }
    do
      recent += top >> 31;
    while (!((top = eg_entry_top(&e, ++i, wide)) & EG_FIRST));
    if (!recent && i - from > EG_COUNT_MOST)
      newest = newest_of(g, &e, from, i, wide);
    some = some || recent;
    uint32_t last = *at & EG_UNWRITTEN ? EG_LAST : 0;
    *at = (*at & ~EG_UNWRITTEN) - 1;
    x->segments.data[*at] =
        last | segment_of(g, x, many, from, i - from, recent, newest);
  }
  return some;
}

/* Nodes that changed are recent; where there is none but fewer nodes than in
 * the index before, some went. */
static void
take_uses(eg_index_builder *p, uint32_t symbol, bool some) {
  const uint32_t *start = p->x->symbol_start.data;
  eg_use *u = &p->x->uses.data[symbol];
  uint32_t n = start[symbol + 1] - start[symbol];
  if (some || n != u->n)
    *u = (eg_use){n, p->g->epoch};
}

void
eg_make_segments(eg_index_builder *p) {
  eg_graph *g = p->g;
  eg_index *x = p->x;
  const uint32_t *start = x->symbol_start.data;
  bool wide = x->by_symbol.tops;
  uint32_t many = 0;
  EG_ROOM(g, &x->segments, (uint64_t)x->segments.len);
  x->many.len = 0;
  for (uint32_t k = 0; k < p->n_symbols; k++) {
    uint32_t i = start[k], end = start[k + 1];
    take_uses(p, k,
              wide ? segments_of(g, x, i, end, &many, true)
                   : segments_of(g, x, i, end, &many, false));
  }
}
