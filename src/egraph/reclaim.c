/* SPDX-License-Identifier: MIT */
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

/* Of the rows, before it is worth a pass; before they are given back. */
enum { LEAST = 512, SHARE = 8, SHARE_GIVEN = 16 };

/* --- parent lists made anew -------------------------------------------- */

/* A wide row's. */
static void
link_pool_kids(eg_graph *g, const eg_row *r) {
  uint32_t arity = eg_head_of(g, r->head)->arity;
  for (uint32_t i = 0; i < arity; i++)
    eg_edge_link(g, (r->kid[0].i + i) | EG_POOL_EDGE,
                 eg_record(g, g->pool[r->kid[0].i + i].i));
}

static void
free_row(eg_graph *g, uint32_t n, uint32_t first) {
  if (n < first) {
    g->n_kept++;
    return;
  }
  g->rows[n].kid[0].i = g->free_row;
  g->free_row = n;
  g->n_free++;
}

/* Dead rows from `first` on are free. */
static void
link_rows(eg_graph *g, uint32_t first) {
  const eg_row *rows = g->rows;
  const uint32_t *up = g->up;
  eg_parents *parents = g->parents;
  uint32_t *links = g->links, end = g->n_rows;
  for (uint32_t n = 0; n < end; n++) {
    if (rows[n].head & (EG_DEAD | EG_WIDE)) {
      if (rows[n].head & EG_DEAD)
        free_row(g, n, first);
      else
        link_pool_kids(g, &rows[n]);
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

/* Dead rows from `first` on are free; the last is used first. */
static void
sweep(eg_graph *g, uint32_t first) {
  for (uint32_t s = 0; s < g->n_records; s++)
    if (g->parents[s].n != EG_FREE_RECORD)
      g->parents[s] = (eg_parents){EG_NONE, 0};
  g->free_row = EG_NONE;
  g->n_free = g->n_kept = 0;
  link_rows(g, first);
}

void
eg_reclaim(eg_graph *g) {
  assert(!g->merged.len);
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
  assert(!g->merged.len && !g->pins);
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
