/* reclaim.c - the rows of dead nodes used again.
 *
 * A dead row still stands in the parent lists of its children, so it cannot be
 * used again at once.  When enough are dead, all lists are made anew from the
 * live rows, in one pass over them, and the dead ones wait in a list threaded
 * through them.  The hashcons has no pair of a dead row.  Rows that the index
 * in use names stay as they are, and so do all where node ids are kept outside
 * (origins, explanations).  No repair may be pending: its lists are the old
 * ones.
 *
 * Between iterations, when a graph hardly grows any more, the live rows move
 * together and the room of the dead is given back before the index is built,
 * which is as large as the graph then. */
#include "egraph/graph.h"
#include <assert.h>

enum { LEAST = 512, SHARE = 8 }; /* of the rows, before it is worth a pass */

static void
unlink_all(eg_graph *g) {
  for (uint32_t s = 0; s < g->n_seats; s++)
    if (g->parents[s].n != EG_FREE_SEAT)
      g->parents[s] = (eg_parents){EG_NONE, 0};
}

static inline void
link_kids(eg_graph *g, uint32_t n) {
  const eg_row *r = &g->rows[n];
  if (r->head & EG_WIDE) {
    uint32_t arity = eg_head_of(g, r->head)->arity;
    for (uint32_t i = 0; i < arity; i++)
      eg_edge_link(g, (r->kid[0].i + i) | EG_POOL_EDGE,
                   eg_seat(g, g->pool[r->kid[0].i + i].i));
    return;
  }
  for (uint32_t i = 0; i < 2 && r->kid[i].i != EG_NONE; i++)
    eg_edge_link(g, 2 * n + i, eg_seat(g, r->kid[i].i));
}

/* Dead rows from `first` on are free; the last is used first. */
static void
sweep(eg_graph *g, uint32_t first) {
  unlink_all(g);
  g->free_row = EG_NONE;
  g->n_free = g->n_kept = 0;
  for (uint32_t n = 0; n < g->n_rows; n++) {
    if (!(g->rows[n].head & EG_DEAD)) {
      link_kids(g, n);
    } else if (n < first) {
      g->n_kept++;
    } else {
      g->rows[n].kid[0].i = g->free_row;
      g->free_row = n;
      g->n_free++;
    }
  }
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

/* Smaller blocks, where they can be had. */
static void
shrink(eg_graph *g) {
  uint64_t cap = (uint64_t)g->n_rows + g->n_rows / 16;
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
      g->n_dead < g->n_rows / SHARE || g->n_dead < most)
    return;
  uint32_t to = 0;
  unlink_all(g);
  for (uint32_t n = 0; n < g->n_rows; n++)
    if (!(g->rows[n].head & EG_DEAD)) {
      move_row(g, to, n);
      link_kids(g, to++);
    }
  g->n_rows = to;
  g->n_dead = g->n_free = g->n_kept = 0;
  g->free_row = EG_NONE;
  g->index.valid = false;
  shrink(g);
  eg_table_refill(g);
}
