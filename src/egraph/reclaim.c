/* reclaim.c - the rows of dead nodes used again.
 *
 * A dead row still stands in the parent lists of its children, so it cannot be
 * used again at once.  When enough are dead, all lists are made anew from the
 * live rows, in one pass over them, and the dead ones wait in a list threaded
 * through them.  The hashcons has no pair of a dead row.  Rows that the index
 * in use names stay as they are, and so do all where node ids are kept outside
 * (origins, explanations).  No repair may be pending: its lists are the old
 * ones.  Of large graphs each thread links some of the rows to lists of its
 * own, which are then joined in the order of the rows.
 *
 * Between iterations, when a graph hardly grows any more, the live rows move
 * together and the room of the dead is given back before the index is built,
 * which is as large as the graph then. */
#include "egraph/graph.h"
#include <assert.h>

/* Of the rows, before it is worth a pass; before they are given back. */
enum { LEAST = 512, SHARE = 8, SHARE_GIVEN = 16 };

/* --- parent lists made anew -------------------------------------------- */

enum { MOST_THREADS = 4, WORTH = 1 << 14 /* rows */ };

/* The edges to a class that one thread's rows hold; `last` ends the list. */
typedef struct eg_own_list {
  uint32_t first, n, last;
} eg_own_list;

/* Of a thread: lists of a seat each, NULL for the first thread, which links to
 * the graph's own; and its dead rows that are free. */
typedef struct eg_linked {
  eg_own_list *lists;
  uint32_t free_row, last_free, n_free, n_kept;
} eg_linked;

/* Dead rows from `first` on are free. */
typedef struct eg_linking {
  eg_graph *g;
  uint32_t n, first; /* n threads */
  eg_linked by[MOST_THREADS];
} eg_linking;

static inline void
link_edge(eg_graph *g, eg_own_list *lists, uint32_t edge, uint32_t cls) {
  uint32_t seat = eg_seat(g, cls);
  if (!lists) {
    eg_edge_link(g, edge, seat);
    return;
  }
  eg_own_list *l = &lists[seat];
  *eg_link_of(g, edge) = l->first;
  l->last = l->n ? l->last : edge;
  l->first = edge;
  l->n++;
}

static inline void
link_kids(eg_graph *g, eg_own_list *lists, uint32_t n) {
  const eg_row *r = &g->rows[n];
  if (r->head & EG_WIDE) {
    uint32_t arity = eg_head_of(g, r->head)->arity;
    for (uint32_t i = 0; i < arity; i++)
      link_edge(g, lists, (r->kid[0].i + i) | EG_POOL_EDGE,
                g->pool[r->kid[0].i + i].i);
    return;
  }
  for (uint32_t i = 0; i < 2 && r->kid[i].i != EG_NONE; i++)
    link_edge(g, lists, 2 * n + i, r->kid[i].i);
}

static void
free_row(const eg_linking *l, eg_linked *to, uint32_t n) {
  if (n < l->first) {
    to->n_kept++;
    return;
  }
  to->last_free = to->n_free ? to->last_free : n;
  l->g->rows[n].kid[0].i = to->free_row;
  to->free_row = n;
  to->n_free++;
}

static inline void
link_rows(const eg_linking *l, eg_linked *to, uint32_t from, uint32_t end,
          eg_own_list *lists) {
  for (uint32_t n = from; n < end; n++)
    if (l->g->rows[n].head & EG_DEAD)
      free_row(l, to, n);
    else
      link_kids(l->g, lists, n);
}

/* The same for one thread, whose lists are the graph's. */
static void
link_alone(const eg_linking *l, eg_linked *to, uint32_t end) {
  eg_graph *g = l->g;
  const eg_row *rows = g->rows;
  const uint32_t *up = g->up;
  eg_parents *parents = g->parents;
  uint32_t *links = g->links;
  for (uint32_t n = 0; n < end; n++) {
    if (rows[n].head & (EG_DEAD | EG_WIDE)) {
      link_rows(l, to, n, n + 1, NULL);
      continue;
    }
    for (uint32_t i = 0; i < 2; i++) {
      uint32_t kid = rows[n].kid[i].i;
      if (kid == EG_NONE)
        break;
      eg_parents *p = &parents[up[kid] & ~EG_LEADS];
      links[2 * n + i] = p->first;
      p->first = 2 * n + i;
      p->n++;
    }
  }
}

static uint32_t
part_start(const eg_linking *l, uint32_t n, uint32_t i) {
  return (uint32_t)((uint64_t)n * i / l->n);
}

static void
link_part(void *ctx, uint32_t i) {
  eg_linking *l = ctx;
  eg_graph *g = l->g;
  eg_linked *to = &l->by[i];
  uint32_t from = part_start(l, g->n_rows, i);
  uint32_t end = part_start(l, g->n_rows, i + 1);
  to->free_row = EG_NONE;
  if (to->lists) {
    for (uint32_t s = 0; s < g->n_seats; s++)
      to->lists[s] = (eg_own_list){EG_NONE, 0, EG_NONE};
    link_rows(l, to, from, end, to->lists);
    return;
  }
  for (uint32_t s = 0; s < g->n_seats; s++)
    if (g->parents[s].n != EG_FREE_SEAT)
      g->parents[s] = (eg_parents){EG_NONE, 0};
  if (l->n == 1)
    link_alone(l, to, end);
  else
    link_rows(l, to, from, end, NULL);
}

/* What later rows hold stands first, as if one thread had linked all. */
static void
join_lists(void *ctx, uint32_t part) {
  eg_linking *l = ctx;
  eg_graph *g = l->g;
  uint32_t end = part_start(l, g->n_seats, part + 1);
  for (uint32_t s = part_start(l, g->n_seats, part); s < end; s++)
    for (uint32_t i = 1; i < l->n; i++) {
      const eg_own_list *own = &l->by[i].lists[s];
      eg_parents *p = &g->parents[s];
      if (!own->n)
        continue;
      *eg_link_of(g, own->last) = p->first;
      p->first = own->first;
      p->n += own->n;
    }
}

static void
join_free(eg_linking *l) {
  eg_graph *g = l->g;
  g->free_row = EG_NONE;
  g->n_free = g->n_kept = 0;
  for (uint32_t i = 0; i < l->n; i++) {
    const eg_linked *by = &l->by[i];
    g->n_kept += by->n_kept;
    g->n_free += by->n_free;
    if (!by->n_free)
      continue;
    g->rows[by->last_free].kid[0].i = g->free_row;
    g->free_row = by->free_row;
  }
}

/* Room for the lists of all threads but one, where it is little more than was
 * in use before; or one thread. */
static eg_own_list *
find_room(eg_linking *l) {
  enum { OF_LIMIT = 32, OF_USED = 128 };
  const eg_graph *g = l->g;
  const bs_heap *h = g->heap;
  uint32_t n = g->n_rows >= WORTH ? eg_crew_parts(g->crew) : 1;
  n = n < MOST_THREADS ? n : MOST_THREADS;
  uint64_t size = (uint64_t)(n - 1) * g->n_seats * sizeof(eg_own_list);
  bool fits = size <= h->peak - h->used + h->used / OF_USED &&
              (!g->limit || size <= g->limit / OF_LIMIT);
  eg_own_list *room = size && fits ? bs_try_realloc(g->heap, NULL, size) : NULL;
  l->n = room ? n : 1;
  for (uint32_t i = 1; i < l->n; i++)
    l->by[i].lists = room + (size_t)(i - 1) * g->n_seats;
  return room;
}

/* Dead rows from `first` on are free; the last is used first. */
static void
sweep(eg_graph *g, uint32_t first) {
  eg_linking l = {.g = g, .first = first};
  eg_own_list *room = find_room(&l);
  if (l.n > 1) {
    eg_crew_run(g->crew, link_part, &l, l.n);
    eg_crew_run(g->crew, join_lists, &l, l.n);
  } else {
    link_part(&l, 0);
  }
  join_free(&l);
  bs_free(g->heap, room);
}

void
eg_reclaim(eg_graph *g) {
  assert(!g->lost.len);
  uint32_t fresh = g->n_dead - g->n_free - (g->pins ? g->n_kept : 0);
  if (g->journal || g->origin || g->fault || fresh < LEAST ||
      fresh < g->n_rows / SHARE)
    return;
  sweep(g, g->pins ? g->index.nodes : 0);
}

/* --- rows moved together ----------------------------------------------- */

static void
move_row(eg_graph *g, uint32_t to, uint32_t from) {
  const eg_row *r = &g->rows[from];
  g->rows[to] = *r;
  g->stamps[to] = g->stamps[from];
  g->links[2 * to] = g->links[2 * to + 1] = EG_NONE;
  if (r->head & EG_WIDE)
    for (uint32_t i = 0; i < eg_head_of(g, r->head)->arity; i++)
      g->pool_owner[g->rows[to].kid[0].i + i] = to;
}

/* Smaller blocks, where they can be had, with room for `more` rows. */
static void
shrink(eg_graph *g, uint64_t more) {
  uint64_t most = g->n_rows / 16;
  uint64_t cap = g->n_rows + (more < most ? more : most);
  if (cap >= g->cap_rows)
    return;
  eg_crew_settle(g->crew);
  void *rows = bs_try_realloc(g->heap, g->rows, cap * sizeof *g->rows);
  g->rows = rows ? rows : g->rows;
  void *links = bs_try_realloc(g->heap, g->links, cap * 2 * sizeof *g->links);
  g->links = links ? links : g->links;
  void *stamps = bs_try_realloc(g->heap, g->stamps, cap * sizeof *g->stamps);
  g->stamps = stamps ? stamps : g->stamps;
  g->cap_rows = (uint32_t)cap;
}

void
eg_compact(eg_graph *g, uint64_t most) {
  assert(!g->lost.len && !g->pins);
  if (g->journal || g->origin || g->fault || g->n_dead < LEAST ||
      g->n_dead < g->n_rows / SHARE_GIVEN || g->n_dead < most)
    return;
  eg_index_lists_free(g);
  uint32_t to = 0;
  for (uint32_t n = 0; n < g->n_rows; n++)
    if (!(g->rows[n].head & EG_DEAD))
      move_row(g, to++, n);
  g->n_rows = to;
  g->n_dead = 0;
  sweep(g, 0);
  g->index.valid = false;
  shrink(g, most);
  eg_table_refill(g);
}
