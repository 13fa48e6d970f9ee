/* segment.c - the segments of an index, once its lists are made.
 *
 * One pass over the lists, each thread with some of the classes: where a
 * class's nodes of an operator begin, how many there are and how many changed.
 */
#include "egraph/placing.h"

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

/* The first entry of [i, end) whose class is `c` or a later one. */
static uint32_t
entry_at(const eg_sorting *s, uint32_t i, uint32_t end, uint32_t c) {
  while (i < end) {
    uint32_t mid = i + (end - i) / 2;
    if (eg_entry_class(s->g, mid) < c)
      i = mid + 1;
    else
      end = mid;
  }
  return i;
}

/* The entries of an operator and of the classes of a thread. */
static void
own_entries(const eg_sorting *s, uint32_t thread, uint32_t symbol,
            uint32_t *from, uint32_t *end) {
  const eg_range *some = &s->parts[thread].some;
  const uint32_t *start = s->x->symbol_start.data;
  *from = start[symbol];
  *end = start[symbol + 1];
  if (thread > 0)
    *from = entry_at(s, *from, *end, some->first);
  if (thread + 1 < s->n)
    *end = entry_at(s, *from, *end, some->end);
}

/* How many segments have many nodes, before several threads make them. */
static void
count_many(void *ctx, uint32_t thread) {
  eg_sorting *s = ctx;
  const eg_entries e = s->x->by_symbol;
  uint32_t i, end, n = 0;
  for (uint32_t k = 0; k < s->n_symbols; k++) {
    own_entries(s, thread, k, &i, &end);
    for (uint32_t from = i; i < end; from = i) {
      while (!(eg_entry_top(&e, ++i, e.tops) & EG_FIRST))
        ;
      n += i - from > EG_COUNT_MOST;
    }
  }
  s->parts[thread].n_many = n;
}

/* Those of some classes; what is recent is noted in place of `last`. */
static void
make_some_segments(void *ctx, uint32_t thread) {
  eg_sorting *s = ctx;
  const eg_placing *p = &s->parts[thread];
  uint32_t many = 0, i, end;
  bool wide = s->x->by_symbol.tops;
  for (uint32_t before = 0; before < thread; before++)
    many += s->parts[before].n_many;
  for (uint32_t k = 0; k < s->n_symbols; k++) {
    own_entries(s, thread, k, &i, &end);
    p->last[k] = wide ? segments_of(s->g, s->x, i, end, &many, true)
                      : segments_of(s->g, s->x, i, end, &many, false);
  }
}

/* Nodes that changed are recent; where there is none but fewer nodes than in
 * the index before, some went. */
static void
take_uses(eg_sorting *s, uint32_t symbol) {
  const uint32_t *start = s->x->symbol_start.data;
  eg_use *u = &s->x->uses.data[symbol];
  uint32_t n = start[symbol + 1] - start[symbol];
  bool some = false;
  for (uint32_t i = 0; i < s->n; i++)
    some = some || s->parts[i].last[symbol];
  if (some || n != u->n)
    *u = (eg_use){n, s->g->epoch};
}

/* The first class from `first` on with `n` segments before the end of its own,
 * of those that have segments. */
static uint32_t
class_of_segment(const uint32_t *ends, uint32_t first, uint32_t end,
                 uint32_t n) {
  while (first < end) {
    uint32_t mid = first + (end - first) / 2, c = mid;
    while (c < end && ends[c] & EG_ALONE)
      c++;
    if (c < end && (ends[c] & ~EG_UNWRITTEN) < n)
      first = c + 1;
    else
      end = mid;
  }
  return first;
}

void
eg_make_segments(eg_sorting *s) {
  eg_graph *g = s->g;
  eg_index *x = s->x;
  uint32_t at = 0, many = 0;
  EG_ROOM(g, &x->segments, (uint64_t)x->segments.len);
  for (uint32_t i = 0; i < s->n; i++) {
    uint32_t to = class_of_segment(x->class_segment.data, at, g->n_classes,
                                   eg_part_start(s, x->segments.len, i + 1));
    to = i + 1 < s->n ? to : g->n_classes;
    s->parts[i].some = (eg_range){at, to, 0};
    at = to;
  }
  if (s->n > 1)
    eg_share_out(s, count_many);
  for (uint32_t i = 0; i < s->n; i++)
    many += s->parts[i].n_many;
  while (x->many.cap < many) /* as one thread does */
    bs_reserve(g->heap, &x->many, (uint64_t)x->many.cap + 1);
  x->many.len = many;
  eg_share_out(s, make_some_segments);
  for (uint32_t k = 0; k < s->n_symbols; k++)
    take_uses(s, k);
}
