/* place.c - the nodes of a graph placed by class and by operator.
 *
 * Linear passes: count nodes a class, place them in (class, id) order, and walk
 * that order once more, appending each node to its operator's list; a class's
 * nodes of one operator then stand together there, which is a segment.  The
 * order by class is made for a part of the classes at a time where memory was
 * never as much in use before, and given back before room is taken for the
 * segments, which a last pass over the lists makes.  The first pass also writes
 * the canonical class into the rows and stamps those that moved.
 *
 * Large graphs are placed by several threads, each of which counts and places
 * some of the rows by class, and then some of the classes by operator: where
 * its own begin follows from the counts of all, so the lists are the same
 * whatever the number of threads. */
#include "egraph/placing.h"
#include <string.h>

enum { WORTH = 1 << 13 /* nodes */, RECENT_BIT = 31 };
_Static_assert(EG_RECENT == 1u << RECENT_BIT, "as it is shifted");

void *
eg_index_room(eg_graph *g, void *list, uint32_t *cap, uint64_t n, size_t item) {
  if (n < *cap)
    return list;
  uint64_t want = n + n / 32 + 1;
  uint64_t used = g->heap->used - g->index.extra;
  uint64_t then = used + want * item - *cap * item;
  if (want > UINT32_MAX || then > g->heap->peak ||
      (g->limit && then > g->limit))
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

static inline void
count_rows(eg_sorting *s, uint32_t i, bool shared) {
  eg_graph *g = s->g;
  uint32_t *count = s->at[i], *uses = s->uses[i];
  eg_stamp *stamps = g->stamps, epoch = (eg_stamp)g->epoch;
  uint32_t end = eg_part_start(s, g->n_rows, i + 1);
  const eg_head *heads = g->heads.data;
  memset(count, 0, ((size_t)g->n_classes + 1) * sizeof *count);
  memset(uses, 0, s->n_symbols * sizeof *uses);
  for (uint32_t n = eg_part_start(s, g->n_rows, i); n < end; n++) {
    eg_row *r = &g->rows[n];
    uint32_t head = r->head;
    eg_stamp stamp = stamps[n];
    if (head & EG_DEAD || stamp == EG_PRUNED)
      continue;
    uint32_t c = shared ? eg_root_shared(g, r->cls) : eg_root(g, r->cls);
    if (c != r->cls || stamp & EG_MOVED) {
      r->cls = c;
      stamps[n] = epoch;
    }
    count[c]++;
    uses[heads[head & EG_HEAD_MASK].symbol]++;
  }
}

static void
count_nodes(void *ctx, uint32_t i) {
  eg_sorting *s = ctx;
  if (s->n > 1)
    count_rows(s, i, true);
  else
    count_rows(s, i, false);
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

/* The same for the threads' counts of each class, one after the other. */
static void
sum_all(eg_sorting *s) {
  uint32_t at = 0, n = s->g->n_classes;
  if (s->n == 1) {
    sum(s->at[0], n);
    return;
  }
  for (uint32_t c = 0; c <= n; c++)
    for (uint32_t i = 0; i < s->n; i++) {
      uint32_t here = s->at[i][c];
      s->at[i][c] = at;
      at += here;
    }
}

static void
sum_uses(eg_sorting *s) {
  uint32_t *start = s->x->symbol_start.data, n = s->n_symbols;
  for (uint32_t i = 0; i < s->n && s->uses[i] != start; i++)
    for (uint32_t k = 0; k < n; k++)
      start[k] += s->uses[i][k];
  sum(start, n);
}

/* Starts of the classes move on to the ends. */
static void
place_rows(const eg_graph *g, eg_index *x, const eg_range *some, uint32_t *at) {
  uint32_t n_rows = g->n_rows, epoch = g->epoch;
  uint32_t first = some->first, n = some->end - first;
  eg_node *to = x->by_class.data - some->base;
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

/* The same for one of several threads, which also counts the nodes of each
 * symbol, for each part of the classes. */
static void
place_some_rows(eg_sorting *s, uint32_t thread) {
  const eg_graph *g = s->g;
  const eg_head *heads = g->heads.data;
  uint32_t epoch = g->epoch, *at = s->at[thread], *counts = s->counts[thread];
  uint32_t first = s->some.first, n = s->some.end - first;
  uint32_t end = eg_part_start(s, g->n_rows, thread + 1);
  eg_node *to = s->x->by_class.data - s->some.base;
  memset(counts, 0, (size_t)s->n * s->n_symbols * sizeof *counts);
  for (uint32_t i = eg_part_start(s, g->n_rows, thread); i < end; i++) {
    const eg_row *r = &g->rows[i];
    uint32_t stamp = g->stamps[i], part = 0, c = r->cls;
    if (r->head & EG_DEAD || stamp == EG_PRUNED || c - first >= n)
      continue;
    to[at[c]++].i = stamp == epoch ? i | EG_RECENT : i;
    for (uint32_t k = 1; k < s->n; k++)
      part += c >= s->parts[k].some.first;
    counts[(size_t)part * s->n_symbols +
           heads[r->head & EG_HEAD_MASK].symbol]++;
  }
}

static void
place_by_class(void *ctx, uint32_t i) {
  eg_sorting *s = ctx;
  if (s->n > 1)
    place_some_rows(s, i);
  else
    place_rows(s->g, s->x, &s->some, s->at[0]);
}

/* --- by operator ------------------------------------------------------- */

/* Returns the place. */
EG_EACH_FORM uint32_t
place(eg_placing *p, uint32_t node, uint32_t flags, uint32_t c, bool wide) {
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

/* Those that are not recent, of which there is one. */
EG_EACH_FORM uint32_t
place_old(eg_placing *p, const eg_node *nodes, uint32_t n, uint32_t c,
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
place_class(eg_placing *p, const eg_node *nodes, uint32_t n, uint32_t c,
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
place_alone(eg_placing *p, uint32_t node, uint32_t c, bool wide) {
  uint32_t at = place(p, node & EG_NODE_MASK, node & EG_RECENT, c, wide);
  p->n_segments--;
  return at | EG_ALONE;
}

/* Ends of classes become ends of their segments. */
EG_EACH_FORM void
place_classes(eg_sorting *s, uint32_t i, bool wide) {
  eg_placing p = s->parts[i];
  const eg_node *at = s->x->by_class.data + (p.some.base - s->some.base);
  uint32_t *end = s->x->class_segment.data, from = p.some.base;
  for (uint32_t c = p.some.first; c < p.some.end; c++) {
    uint32_t n = end[c] - from;
    from = end[c];
    end[c] = !n       ? EG_NO_SEGMENT
             : n == 1 ? place_alone(&p, at->i, c, wide)
                      : place_class(&p, at, n, c, wide);
    at += n;
  }
  s->parts[i].n_segments = p.n_segments;
}

static void
place_by_symbol(void *ctx, uint32_t i) {
  eg_sorting *s = ctx;
  if (s->x->by_symbol.tops)
    place_classes(s, i, true);
  else
    place_classes(s, i, false);
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

/* The first class, of those from `first` on, that has `nodes` before it. */
static uint32_t
class_at(const uint32_t *start, uint32_t first, uint32_t end, uint32_t nodes) {
  while (first < end) {
    uint32_t mid = first + (end - first) / 2;
    if (start[mid] < nodes)
      first = mid + 1;
    else
      end = mid;
  }
  return first;
}

/* The next classes with `most` nodes together, or one with more, and the part
 * of each thread in them. */
static void
next_range(eg_sorting *s, uint32_t most) {
  const uint32_t *start = s->at[0];
  uint32_t n_classes = s->g->n_classes;
  eg_range *some = &s->some;
  uint32_t c = some->first = some->end;
  some->base = c < n_classes ? start[c] : 0;
  if (c < n_classes && start[n_classes] - some->base <= most)
    c = n_classes;
  while (c < n_classes &&
         (start[c + 1] - some->base <= most || c == some->first))
    c++;
  some->end = c;
  uint32_t n = c > some->first ? start[c] - some->base : 0, at = some->first;
  for (uint32_t i = 0; i < s->n; i++) {
    uint32_t to =
        class_at(start, at, c, some->base + eg_part_start(s, n, i + 1));
    to = i + 1 < s->n ? to : c;
    s->parts[i].some = (eg_range){at, to, start[at]};
    at = to;
  }
}

/* Where each part of the classes goes on in the lists of the operators. */
static void
share_lists(eg_sorting *s) {
  uint32_t n = s->n_symbols;
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t part = 0; part < s->n; part++) {
      s->parts[part].at[k] = s->next[k];
      for (uint32_t i = 0; i < s->n; i++)
        s->next[k] += s->counts[i][(size_t)part * n + k];
    }
}

/* Each part has counted its segments by itself. */
static void
join_segments(eg_sorting *s) {
  for (uint32_t i = 1; i < s->n; i++) {
    eg_placing *p = &s->parts[i];
    uint32_t *at = s->x->class_segment.data, base = s->parts[0].n_segments;
    for (uint32_t c = p->some.first; c < p->some.end; c++)
      at[c] += at[c] & EG_ALONE ? 0 : base;
    s->parts[0].n_segments += p->n_segments;
    p->n_segments = 0;
  }
}

/* By class, some classes at a time, then by operator; the nodes of a class and
 * an operator stand together there.  Tells how many such segments there are to
 * be kept. */
static void
place_all(eg_sorting *s) {
  eg_graph *g = s->g;
  eg_index *x = s->x;
  uint32_t most = part_of(g);
  for (next_range(s, most); s->some.first < s->some.end; next_range(s, most)) {
    uint32_t n = s->at[0][s->some.end] - s->some.base;
    EG_ROOM(g, &x->by_class, (uint64_t)n);
    eg_share_out(s, place_by_class);
    if (s->n > 1)
      share_lists(s);
    eg_share_out(s, place_by_symbol);
    join_segments(s);
  }
  x->segments.len = s->parts[0].n_segments;
  eg_entry_set(&x->by_symbol, x->symbol_start.data[s->n_symbols], EG_FIRST, 0,
               0, 0, x->by_symbol.tops);
}

/* --- all --------------------------------------------------------------- */

/* How many words the counts of n threads take. */
static uint64_t
room_of(const eg_sorting *s, uint32_t n) {
  uint64_t each = n == 1 ? 2 : (uint64_t)n * n + 3 * (uint64_t)n + 1;
  return each * s->n_symbols + (n - 1) * ((uint64_t)s->g->n_classes + 1) + 1;
}

/* As many threads as there are, where there is room for what they count. */
static uint32_t *
find_room(eg_sorting *s) {
  enum { SHARE = 32 };
  eg_graph *g = s->g;
  uint32_t n = g->live_nodes >= WORTH ? eg_crew_parts(g->crew) : 1;
  n = n < EG_PLACE_THREADS ? n : EG_PLACE_THREADS;
  uint64_t size = room_of(s, n) * sizeof(uint32_t);
  uint64_t one = room_of(s, 1) * sizeof(uint32_t);
  bool few = s->n_symbols < g->live_nodes / 64;
  bool fits = !g->limit || size <= g->limit / SHARE;
  uint32_t *room =
      n > 1 && few && fits ? bs_try_realloc(g->heap, NULL, size) : NULL;
  s->n = room ? n : 1;
  g->index.extra = room ? size - one : 0;
  return g->index.room = room ? room : bs_alloc(g->heap, one);
}

static uint32_t *
take(uint32_t **room, uint64_t n) {
  uint32_t *out = *room;
  *room += n;
  return out;
}

static void
begin(eg_sorting *s, eg_graph *g) {
  *s = (eg_sorting){.g = g, .x = &g->index, .n_symbols = g->symbol_ops.len};
  uint32_t *room = find_room(s), n = s->n_symbols;
  for (uint32_t i = 0; i < s->n; i++) {
    bool last = i + 1 == s->n;
    s->at[i] = last ? s->x->class_segment.data
                    : take(&room, (uint64_t)g->n_classes + 1);
    s->uses[i] = s->n == 1 ? s->x->symbol_start.data : take(&room, n);
    if (s->n > 1)
      s->counts[i] = take(&room, (uint64_t)s->n * n);
    s->parts[i] = (eg_placing){.rows = g->rows,
                               .heads = g->heads.data,
                               .entries = s->x->by_symbol,
                               .at = take(&room, n),
                               .last = take(&room, n)};
    memset(s->parts[i].last, 0, n * sizeof *s->parts[i].last);
  }
  s->next = s->n == 1 ? s->parts[0].at : take(&room, n);
}

void
eg_place(eg_graph *g) {
  eg_index *x = &g->index;
  uint32_t n_symbols = g->symbol_ops.len;
  eg_sorting s;
  EG_ROOM(g, &x->class_segment, (uint64_t)g->n_classes + 1);
  make_entries(g, &x->by_symbol);
  bs_reserve(g->heap, &x->symbol_start, (uint64_t)n_symbols + 1);
  while (x->uses.len < n_symbols)
    bs_push(g->heap, &x->uses, (eg_use){0});
  memset(x->symbol_start.data, 0,
         ((size_t)n_symbols + 1) * sizeof *x->symbol_start.data);
  begin(&s, g);
  eg_share_out(&s, count_nodes);
  sum_all(&s);
  sum_uses(&s);
  memcpy(s.next, x->symbol_start.data, n_symbols * sizeof *s.next);
  place_all(&s);
  eg_crew_settle(g->crew);
  bs_vec_done(g->heap, &x->by_class);
  eg_make_segments(&s);
  bs_free(g->heap, x->room);
  x->room = NULL;
  x->extra = 0;
}
