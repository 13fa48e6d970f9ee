/* index.c - contiguous node lists by operator and class.
 *
 * Built in linear passes when a search or an iteration first asks after a
 * change: count nodes a class, place them in (class, id) order, and walk that
 * order once more, appending each node to its operator's list; a class's nodes
 * of one operator then stand together there, which is a segment.  The order by
 * class is made for a part of the classes at a time where memory was never as
 * much in use before, and given back before room is taken for the segments,
 * which a last pass over the lists makes.  The first pass also writes the
 * canonical class into the rows and stamps those that moved.  No class owns
 * memory of its own.
 *
 * The index describes the graph as it was when built.  Adding nodes and uniting
 * classes leaves it and the rows it names as they are (only a rebuild changes
 * rows), so a search may go on over it while matches are being applied. */
#include "egraph/graph.h"
#include <string.h>

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

/* Until the segments are made, the starts of the classes stand in their
 * place. */
static void
count_nodes(eg_graph *g, eg_index *x) {
  uint32_t *count = x->class_segment.data, *uses = x->symbol_start.data;
  eg_stamp *stamps = g->stamps, epoch = (eg_stamp)g->epoch;
  uint32_t n_rows = g->n_rows;
  const eg_head *heads = g->heads.data;
  memset(count, 0, ((size_t)g->n_classes + 1) * sizeof *count);
  for (uint32_t n = 0; n < n_rows; n++) {
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

/* Ends become starts again. */
static void
back(uint32_t *at, uint32_t n) {
  memmove(at + 1, at, (size_t)n * sizeof *at);
  at[0] = 0;
}

/* Some classes, and how many nodes those before them have. */
typedef struct eg_range {
  uint32_t first, end, base;
} eg_range;

/* Starts of the classes move on to the ends. */
static void
place_by_class(const eg_graph *g, eg_index *x, const eg_range *some) {
  uint32_t *at = x->class_segment.data, n_rows = g->n_rows, epoch = g->epoch;
  uint32_t first = some->first, n = some->end - first;
  eg_node *to = x->by_class.data - some->base;
  for (uint32_t i = 0; i < n_rows; i++) {
    const eg_row *r = &g->rows[i];
    uint32_t stamp = g->stamps[i];
    if (!(r->head & EG_DEAD) && stamp != EG_PRUNED && r->cls - first < n)
      to[at[r->cls]++].i = stamp == epoch ? i | EG_RECENT : i;
  }
}

typedef struct eg_placing {
  const eg_row *rows;
  const eg_head *heads;
  eg_entry *entries;
  uint32_t *at;   /* next place of a symbol */
  uint32_t *last; /* the class that a symbol was last placed for, + 1 */
  uint32_t n_segments;
} eg_placing;

static inline void
place(eg_placing *p, uint32_t node, uint32_t c) {
  const eg_row *r = &p->rows[node & EG_NODE_MASK];
  uint32_t symbol = p->heads[r->head & EG_HEAD_MASK].symbol;
  uint32_t at = p->at[symbol]++;
  if (p->last[symbol] != c + 1) {
    p->last[symbol] = c + 1;
    p->n_segments++;
    node |= EG_FIRST;
  }
  p->entries[at] = (eg_entry){node, {r->kid[0], r->kid[1]}};
}

/* The nodes of a class, those that are recent first. */
static void
place_class(eg_placing *p, const eg_node *nodes, uint32_t n, uint32_t c) {
  uint32_t n_recent = 0;
  for (uint32_t i = 0; i < n; i++)
    if (nodes[i].i & EG_RECENT) {
      place(p, nodes[i].i, c);
      n_recent++;
    }
  for (uint32_t i = 0; i < n && n_recent < n; i++)
    if (!(nodes[i].i & EG_RECENT))
      place(p, nodes[i].i, c);
}

/* Ends of classes become starts of their segments. */
static void
place_by_symbol(eg_index *x, eg_placing *p, const eg_range *some) {
  uint32_t *end = x->class_segment.data, from = some->base;
  for (uint32_t c = some->first; c < some->end; c++) {
    const eg_node *nodes = x->by_class.data + (from - some->base);
    uint32_t n = end[c] - from;
    from = end[c];
    end[c] = p->n_segments;
    if (n == 1)
      place(p, nodes->i, c);
    else if (n)
      place_class(p, nodes, n, c);
  }
}

enum { PARTS = 3, LEAST = 1 << 12 /* nodes of a part */ };

/* How many nodes at a time the order by class is made for: as many as memory
 * that was in use before can hold, and at least a third of them. */
static uint32_t
part_of(const eg_graph *g) {
  const bs_heap *h = g->heap;
  uint64_t room = (h->peak - h->used) / sizeof(eg_node);
  uint64_t least = g->live_nodes / PARTS;
  if (least < LEAST)
    least = LEAST;
  if (room < least)
    room = least;
  return room < g->live_nodes ? (uint32_t)room : g->live_nodes;
}

/* The next classes with `most` nodes together, or one with more. */
static void
next_range(const eg_graph *g, const eg_index *x, eg_range *some,
           uint32_t most) {
  const uint32_t *start = x->class_segment.data;
  uint32_t c = some->first = some->end;
  some->base = c < g->n_classes ? start[c] : 0;
  while (c < g->n_classes &&
         (start[c + 1] - some->base <= most || c == some->first))
    c++;
  some->end = c;
}

/* By class, some classes at a time, then by operator; the nodes of a class and
 * an operator stand together there.  Returns how many such segments there are;
 * starts of classes become starts of their segments. */
static uint32_t
place_all(eg_graph *g, eg_index *x, uint32_t *room) {
  uint32_t n_symbols = g->symbol_ops.len, most = part_of(g), n;
  eg_range some = {0};
  eg_placing p = {.rows = g->rows,
                  .heads = g->heads.data,
                  .entries = x->by_symbol.data,
                  .at = room,
                  .last = room + n_symbols};
  memcpy(p.at, x->symbol_start.data, n_symbols * sizeof *p.at);
  memset(p.last, 0, n_symbols * sizeof *p.last);
  for (next_range(g, x, &some, most); some.first < some.end;
       next_range(g, x, &some, most)) {
    n = x->class_segment.data[some.end] - some.base;
    ROOM(g, &x->by_class, (uint64_t)n);
    place_by_class(g, x, &some);
    place_by_symbol(x, &p, &some);
  }
  x->class_segment.data[g->n_classes] = p.n_segments;
  return p.n_segments;
}

/* Of n nodes, `recent` of which are. */
static eg_segment
segment_of(const eg_graph *g, eg_index *x, uint32_t start, uint32_t n,
           uint32_t recent, uint32_t newest) {
  uint32_t bit = recent ? EG_RECENT : 0, info = recent ? recent : newest;
  if (n <= EG_SEGMENT_MOST)
    return (eg_segment){start, bit | n << EG_SEGMENT_BITS | info};
  bs_push(g->heap, &x->many, (eg_many){n, info});
  return (eg_segment){start, bit | EG_MANY | (x->many.len - 1)};
}

/* The segments of an operator; tells whether any of its nodes is recent.  The
 * starts of classes move on to the ends. */
static bool
make_segments(const eg_graph *g, eg_index *x, uint32_t symbol) {
  uint32_t *at = x->class_segment.data;
  uint32_t i = x->symbol_start.data[symbol];
  uint32_t end = x->symbol_start.data[symbol + 1];
  const eg_stamp *stamps = g->stamps;
  const eg_entry *entries = x->by_symbol.data;
  bool some = false;
  while (i < end) {
    uint32_t c = eg_entry_class(g, &entries[i]), node = entries[i].node;
    uint32_t from = i, recent = 0, newest = 0;
    do {
      if (node & EG_RECENT)
        recent++;
      else if (!recent && stamps[node & EG_NODE_MASK] > newest)
        newest = stamps[node & EG_NODE_MASK];
    } while (++i < end && !((node = entries[i].node) & EG_FIRST));
    some = some || recent;
    x->segments.data[at[c]++] =
        segment_of(g, x, from, i - from, recent, newest);
  }
  return some;
}

/* Nodes that changed are recent; where there is none but fewer nodes than in
 * the index before, some went. */
static void
take_uses(const eg_graph *g, eg_index *x, uint32_t symbol, bool some) {
  eg_use *u = &x->uses.data[symbol];
  uint32_t n = x->symbol_start.data[symbol + 1] - x->symbol_start.data[symbol];
  if (some || n != u->n)
    *u = (eg_use){n, g->epoch};
}

static void
drop_lists(eg_graph *g) {
  eg_index *x = &g->index;
  eg_crew_settle(g->crew);
  bs_vec_done(g->heap, &x->class_start);
  bs_vec_done(g->heap, &x->by_class);
  x->listed = false;
}

/* The older half of the epochs becomes one.  After 2^31 epochs none ends any
 * more: all changes count as recent, which is more work and no harm. */
static void
drop_epochs(eg_graph *g) {
  enum { HALF = EG_EPOCHS / 2 };
  eg_use *uses = g->index.uses.data;
  if (g->epoch < EG_EPOCHS || g->epoch_base > UINT32_MAX / 2)
    return;
  for (uint32_t n = 0; n < g->n_rows; n++) {
    eg_stamp s = g->stamps[n], at = s & (eg_stamp)~EG_MOVED;
    at = at > HALF ? at - HALF : 1;
    if (s != EG_PRUNED)
      g->stamps[n] = (s & EG_MOVED) | at;
  }
  for (uint32_t s = 0; s < g->index.uses.len; s++)
    uses[s].epoch = uses[s].epoch > HALF ? uses[s].epoch - HALF : 1;
  g->epoch -= HALF;
  g->epoch_base += HALF;
}

static void
build(eg_graph *g) {
  eg_index *x = &g->index;
  bs_heap *h = g->heap;
  uint32_t n_symbols = g->symbol_ops.len;
  x->classes = x->nodes = x->symbols = 0;
  drop_epochs(g);
  drop_lists(g);
  bs_vec_done(h, &x->segments);
  bs_clear(&x->many);
  ROOM(g, &x->class_segment, (uint64_t)g->n_classes + 1);
  ROOM(g, &x->by_symbol, (uint64_t)g->live_nodes);
  bs_reserve(h, &x->symbol_start, (uint64_t)n_symbols + 1);
  while (x->uses.len < n_symbols)
    bs_push(h, &x->uses, (eg_use){0});
  memset(x->symbol_start.data, 0,
         ((size_t)n_symbols + 1) * sizeof *x->symbol_start.data);
  count_nodes(g, x);
  sum(x->class_segment.data, g->n_classes);
  sum(x->symbol_start.data, n_symbols);
  uint32_t *room = bs_alloc(h, ((size_t)n_symbols * 2 + 1) * sizeof *room);
  x->segments.len = place_all(g, x, room);
  bs_free(h, room);
  drop_lists(g);
  ROOM(g, &x->segments, (uint64_t)x->segments.len);
  for (uint32_t s = 0; s < n_symbols; s++)
    take_uses(g, x, s, make_segments(g, x, s));
  back(x->class_segment.data, g->n_classes);
  x->classes = g->n_classes;
  x->nodes = g->n_rows;
  x->symbols = n_symbols;
  x->valid = true;
  x->epoch = g->epoch;
  g->epoch += g->epoch < EG_EPOCHS;
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
  drop_lists(g);
  bs_vec_done(h, &x->class_segment);
  bs_vec_done(h, &x->segments);
  bs_vec_done(h, &x->many);
  bs_vec_done(h, &x->symbol_start);
  bs_vec_done(h, &x->uses);
  bs_vec_done(h, &x->by_symbol);
  x->valid = false;
  x->classes = x->nodes = x->symbols = 0;
}

/* --- a class's nodes ---------------------------------------------------- */

/* By Shell's method, for most lists are short and in some ordered runs. */
static void
sort(eg_node *list, uint32_t n) {
  for (uint32_t gap = n / 2; gap; gap /= 2)
    for (uint32_t i = gap; i < n; i++) {
      eg_node one = list[i];
      uint32_t at = i;
      for (; at >= gap && list[at - gap].i > one.i; at -= gap)
        list[at] = list[at - gap];
      list[at] = one;
    }
}

static void
list_by_class(eg_graph *g) {
  eg_index *x = &g->index;
  uint32_t at = 0;
  ROOM(g, &x->class_start, (uint64_t)x->classes + 1);
  ROOM(g, &x->by_class, (uint64_t)x->symbol_start.data[x->symbols]);
  for (uint32_t c = 0; c < x->classes; c++) {
    uint32_t from = x->class_start.data[c] = at;
    for (uint32_t k = x->class_segment.data[c];
         k < x->class_segment.data[c + 1]; k++) {
      const eg_segment *s = &x->segments.data[k];
      uint32_t end = s->start + eg_segment_n(x, s);
      for (uint32_t i = s->start; i < end; i++)
        x->by_class.data[at++].i = x->by_symbol.data[i].node & EG_NODE_MASK;
    }
    sort(x->by_class.data + from, at - from);
  }
  x->class_start.data[x->classes] = at;
  x->listed = true;
}

/* --- iteration --------------------------------------------------------- */

static eg_class
class_from(const eg_graph *g, uint32_t c) {
  while (c < g->n_classes && !eg_leads(g, c))
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

uint32_t
eg_class_ids(const eg_graph *g) {
  uint32_t n = g->n_classes;
  while (n > 0 && !eg_leads(g, n - 1))
    n--;
  return n;
}

const eg_node *
eg_class_nodes(const eg_graph *g, eg_class c, uint32_t *n) {
  const eg_index *x = eg_index_of(g);
  c.i = eg_root(g, c.i);
  if (c.i >= x->classes) {
    *n = 0;
    return NULL;
  }
  if (!x->listed)
    list_by_class((eg_graph *)g);
  uint32_t from = x->class_start.data[c.i];
  *n = x->class_start.data[c.i + 1] - from;
  return x->by_class.data + from;
}
