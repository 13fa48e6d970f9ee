/* index.c - contiguous node lists by class and by operator.
 *
 * Built in three linear passes when a search or an iteration first asks after
 * a change: count nodes a class, place them in (class, id) order, and walk that
 * order once more, appending each node to its operator's list; a class's nodes
 * of one operator then stand together there, which is a segment.  The first
 * pass also writes the canonical class into the rows and stamps those that
 * moved.  No class owns memory of its own.
 *
 * The index describes the graph as it was when built.  Adding nodes and uniting
 * classes leaves it and the rows it names as they are (only a rebuild changes
 * rows), so a search may go on over it while matches are being applied. */
#include "egraph/graph.h"
#include <string.h>

static void
count_nodes(eg_graph *g, eg_index *x) {
  uint32_t *count = x->class_start.data;
  memset(count, 0, ((size_t)g->n_classes + 1) * sizeof *count);
  for (uint32_t n = 0; n < g->n_rows; n++) {
    eg_row *r = &g->rows[n];
    if (!eg_is_live(g, n))
      continue;
    uint32_t c = eg_root(g, r->cls);
    if (c != r->cls || g->stamps[n] & EG_MOVED) {
      r->cls = c;
      g->stamps[n] = g->epoch;
    }
    count[c]++;
    x->symbol_start.data[eg_head_of(g, r->head)->symbol]++;
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

/* Starts move on to the ends while placing, then move back. */
static void
place_by_class(eg_graph *g, eg_index *x) {
  uint32_t *at = x->class_start.data;
  for (uint32_t n = 0; n < g->n_rows; n++)
    if (eg_is_live(g, n))
      x->by_class.data[at[g->rows[n].cls]++].i = n;
  memmove(at + 1, at, (size_t)g->n_classes * sizeof *at);
  at[0] = 0;
}

typedef struct eg_placing {
  uint32_t *at;      /* next place of a symbol */
  uint32_t *segment; /* the last segment of a symbol */
} eg_placing;

static void
place(eg_graph *g, eg_index *x, eg_placing *p, uint32_t n, uint32_t c,
      uint32_t symbol, eg_segment *s) {
  const eg_row *r = &g->rows[n];
  uint32_t stamp = g->stamps[n], recent = stamp == g->epoch;
  x->by_symbol.data[p->at[symbol]++] =
      (eg_entry){recent ? n | EG_RECENT : n, c, {r->kid[0], r->kid[1]}};
  s->n++;
  if (recent)
    s->recent = (s->recent | EG_MOVED) + 1;
  else if (!(s->recent & EG_MOVED) && stamp > s->recent)
    s->recent = stamp;
}

static uint32_t
symbol_of(const eg_graph *g, uint32_t n) {
  return eg_head_of(g, g->rows[n].head)->symbol;
}

static eg_segment *
segment_new(eg_graph *g, eg_index *x, const eg_placing *p, uint32_t symbol) {
  eg_segment fresh = {.symbol = symbol, .start = p->at[symbol]};
  bs_push(g->heap, &x->segments, fresh);
  return &bs_last(&x->segments);
}

static eg_segment *
segment_for(eg_graph *g, eg_index *x, eg_placing *p, uint32_t first,
            uint32_t symbol) {
  uint32_t at = p->segment[symbol];
  if (at >= first && at < x->segments.len &&
      x->segments.data[at].symbol == symbol)
    return &x->segments.data[at];
  p->segment[symbol] = x->segments.len;
  return segment_new(g, x, p, symbol);
}

/* The nodes of a class that are recent, or those that are not. */
static void
place_some(eg_graph *g, eg_index *x, eg_placing *p, uint32_t c, bool recent) {
  uint32_t first = x->class_segment.data[c];
  uint32_t end = x->class_start.data[c + 1];
  for (uint32_t i = x->class_start.data[c]; i < end; i++) {
    uint32_t n = x->by_class.data[i].i;
    if ((g->stamps[n] == g->epoch) != recent)
      continue;
    uint32_t symbol = symbol_of(g, n);
    place(g, x, p, n, c, symbol, segment_for(g, x, p, first, symbol));
  }
}

/* Most classes have one node, and many none that is recent. */
static void
place_class(eg_graph *g, eg_index *x, eg_placing *p, uint32_t c) {
  uint32_t from = x->class_start.data[c], end = x->class_start.data[c + 1];
  x->class_segment.data[c] = x->segments.len;
  if (from + 1 == end) {
    uint32_t n = x->by_class.data[from].i, symbol = symbol_of(g, n);
    place(g, x, p, n, c, symbol, segment_new(g, x, p, symbol));
    return;
  }
  uint32_t n_recent = 0;
  for (uint32_t i = from; i < end; i++)
    n_recent += g->stamps[x->by_class.data[i].i] == g->epoch;
  if (n_recent)
    place_some(g, x, p, c, true);
  if (n_recent < end - from)
    place_some(g, x, p, c, false);
}

/* Segments come one by one; what was too much is given back. */
static void
trim(eg_graph *g, eg_index *x) {
  uint32_t want = x->segments.len + x->segments.len / 16 + 1;
  if (x->segments.cap <= want)
    return;
  x->segments.data =
      bs_realloc(g->heap, x->segments.data, want * sizeof *x->segments.data);
  x->segments.cap = want;
}

static void
place_by_symbol(eg_graph *g, eg_index *x, uint32_t *room) {
  uint32_t n_symbols = g->symbol_ops.len;
  eg_placing p = {room, room + n_symbols};
  memcpy(p.at, x->symbol_start.data, n_symbols * sizeof *p.at);
  memset(p.segment, 0, n_symbols * sizeof *p.segment);
  bs_clear(&x->segments);
  for (uint32_t c = 0; c < g->n_classes; c++)
    place_class(g, x, &p, c);
  x->class_segment.data[g->n_classes] = x->segments.len;
  trim(g, x);
}

/* A list for n items; what stood in the old one is not needed any more, so it
 * is given back before.  The index is empty until it is built. */
static void *
anew(eg_graph *g, void *list, uint32_t *cap, uint64_t n, size_t item) {
  if (n < *cap)
    return list;
  uint64_t want = n + n / 32 + 1;
  if (want > UINT32_MAX ||
      (g->limit && g->heap->used + want * item > g->limit + *cap * item))
    want = n + 1;
  bs_free(g->heap, list);
  *cap = 0;
  list = bs_try_realloc(g->heap, NULL, want * item);
  if (list) {
    *cap = (uint32_t)want;
    eg_crew_lay(g->crew, list, want * item);
  }
  return list;
}

#define ROOM(g, v, n)                                                          \
  do {                                                                         \
    (v)->data = anew((g), (v)->data, &(v)->cap, (n), sizeof *(v)->data);       \
    if (!(v)->cap)                                                             \
      bs_out_of_memory((g)->heap);                                             \
  } while (0)

static void
build(eg_graph *g) {
  eg_index *x = &g->index;
  bs_heap *h = g->heap;
  uint32_t n_symbols = g->symbol_ops.len;
  x->classes = x->nodes = x->symbols = 0;
  eg_crew_settle(g->crew);
  ROOM(g, &x->class_start, (uint64_t)g->n_classes + 1);
  ROOM(g, &x->class_segment, (uint64_t)g->n_classes + 1);
  ROOM(g, &x->by_class, (uint64_t)g->live_nodes);
  ROOM(g, &x->by_symbol, (uint64_t)g->live_nodes);
  bs_reserve(h, &x->symbol_start, (uint64_t)n_symbols + 1);
  memset(x->symbol_start.data, 0,
         ((size_t)n_symbols + 1) * sizeof *x->symbol_start.data);
  count_nodes(g, x);
  sum(x->class_start.data, g->n_classes);
  sum(x->symbol_start.data, n_symbols);
  place_by_class(g, x);
  uint32_t *room = bs_alloc(h, ((size_t)n_symbols * 2 + 1) * sizeof *room);
  place_by_symbol(g, x, room);
  bs_free(h, room);
  x->classes = g->n_classes;
  x->nodes = g->n_rows;
  x->symbols = n_symbols;
  x->valid = true;
  x->epoch = g->epoch;
  /* After 2^31 - 2 epochs all changes count as recent: more work, no harm. */
  g->epoch += g->epoch < EG_MOVED - 1;
}

/* While unions are pending or a search runs, the last index stands. */
const eg_index *
eg_index_of(const eg_graph *graph) {
  eg_graph *g = (eg_graph *)graph;
  if (!g->index.valid && !g->dirty && !g->pins)
    build(g);
  return &g->index;
}

void
eg_index_free(eg_graph *g) {
  eg_index *x = &g->index;
  bs_heap *h = g->heap;
  bs_vec_done(h, &x->class_start);
  bs_vec_done(h, &x->by_class);
  bs_vec_done(h, &x->class_segment);
  bs_vec_done(h, &x->segments);
  bs_vec_done(h, &x->symbol_start);
  bs_vec_done(h, &x->by_symbol);
  x->valid = false;
  x->classes = x->nodes = x->symbols = 0;
}

/* --- iteration --------------------------------------------------------- */

static eg_class
class_from(const eg_graph *g, uint32_t c) {
  while (c < g->n_classes && g->classes[c].up != c)
    c++;
  return c < g->n_classes ? (eg_class){c} : EG_NO_CLASS;
}

eg_class
eg_first_class(const eg_graph *g) {
  return class_from(g, 0);
}

eg_class
eg_next_class(const eg_graph *g, eg_class c) {
  return class_from(g, c.i + 1);
}

const eg_node *
eg_class_nodes(const eg_graph *g, eg_class c, uint32_t *n) {
  const eg_index *x = eg_index_of(g);
  c.i = eg_root(g, c.i);
  if (c.i >= x->classes) {
    *n = 0;
    return NULL;
  }
  uint32_t from = x->class_start.data[c.i];
  *n = x->class_start.data[c.i + 1] - from;
  return x->by_class.data + from;
}
