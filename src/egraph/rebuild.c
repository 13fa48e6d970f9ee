/* SPDX-License-Identifier: MIT */
/* rebuild.c - congruence and analyses restored after unions.
 *
 * Three worklists, in this order of need: classes that were merged into others
 * (their parents' keys changed, repair.c), classes whose data changed (their
 * parents' data must be made again), and the queue of `modify`.  The parents of
 * a merged class go over to the canonical one when they have been visited, so
 * every edge is visited as often as its child is merged, and nothing else of
 * the graph is read.  Pruning comes last, in one pass. */
#include "egraph/journal.h"
#include "egraph/repair.h"
#include <assert.h>
#include <string.h>

bool
eg_remake(eg_graph *g, uint32_t n) {
  assert(n < g->n_rows);
  const eg_analysis *a = &g->analysis;
  eg_row *r = &g->rows[n];
  if (r->head & EG_DEAD || !a->make)
    return true;
  const eg_head *h = eg_head_of(g, r->head);
  uint32_t c = eg_root(g, r->cls);
  void *data = g->spare[0];
  if (a->size)
    eg_clear_data(data, a->size);
  bool ok =
      a->make(a->ctx, g, h->op, h->attr, eg_row_kids(g, r), h->arity, data);
  if (!ok) {
    if (!g->fault) {
      g->fault = EG_FAULT_NODE;
      g->fault_a.i = c;
    }
    return false;
  }
  if (!a->size)
    return true;
  void *into = eg_data_at(g, c);
  eg_copy_data(g->spare[1], into, a->size);
  uint32_t bits = a->merge ? a->merge(a->ctx, g, into, data) : 0;
  if (bits & EG_MERGE_CONFLICT) {
    eg_copy_data(into, g->spare[1], a->size);
    if (!g->fault) {
      g->fault = EG_FAULT_MERGE;
      g->fault_a.i = g->fault_b.i = c;
      g->fault_reason = (eg_reason){EG_BY_CONGRUENCE, 0};
    }
    return false;
  }
  if (bits & 1) {
    eg_touch(g, (eg_class){c});
    if (a->modify)
      bs_push(g->heap, &g->modify_queue, c);
  }
  return true;
}

/* Room for all that repairing so many classes and edges can add to the
 * worklists: memory that runs out does so before anything has changed. */
static void
make_room(eg_graph *g, uint64_t classes, uint64_t edges) {
  bs_reserve(g->heap, &g->chunks, classes);
  bs_reserve(g->heap, &g->edges, edges);
  bs_reserve(g->heap, &g->congruent, edges);
  bs_reserve(g->heap, &g->merged, (uint64_t)g->merged.len + edges);
  if (g->journal)
    eg_journal_room(g, 0, edges);
  if (g->analysis.size)
    bs_reserve(g->heap, &g->changed, (uint64_t)g->changed.len + edges);
  if (g->analysis.modify)
    bs_reserve(g->heap, &g->modify_queue,
               (uint64_t)g->modify_queue.len + edges);
}

enum { AHEAD = 8 };

/* How many of merged[0 .. n), and how many edges of them, are taken at a time:
 * of the last class maybe a part. */
static uint32_t
count_taken(const eg_graph *g, const eg_merged *merged, uint32_t n,
            uint64_t *edges) {
  uint32_t k = 0, room = eg_repair_chunk(g);
  uint64_t sum = 0;
  while (k < n && k < room && sum < room) {
    if (k + AHEAD < n)
      __builtin_prefetch(&g->parents[merged[k + AHEAD].record]);
    sum += g->parents[merged[k++].record].n;
  }
  *edges = sum < room ? sum : room;
  return k;
}

static void
open_chunks(eg_graph *g, const eg_merged *merged, uint32_t n, uint64_t edges) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < n; i++) {
    const eg_parents *p = &g->parents[merged[i].record];
    uint32_t most = (uint32_t)edges - at, visit = p->n < most ? p->n : most;
    bool remake = g->analysis.make && g->flags[merged[i].record] & EG_REMAKE;
    g->chunks.data[i] = (eg_parent_chunk){
        p->first, visit, p->n - visit, EG_NONE, EG_NONE, at, 0, remake};
    at += visit;
  }
}

/* One wave: what is lost meanwhile waits for the next. */
static uint32_t
repair_merged(eg_graph *g) {
  uint32_t unions = eg_unite_congruent(g), end = g->merged.len;
  while (g->n_repaired < end) {
    uint32_t at = g->n_repaired;
    uint64_t edges;
    uint32_t n = count_taken(g, g->merged.data + at, end - at, &edges);
    make_room(g, n, edges);
    open_chunks(g, g->merged.data + at, n, edges);
    g->n_repaired += g->chunks.data[n - 1].rest ? n - 1 : n;
    unions += eg_repair(g, g->merged.data + at, n);
  }
  g->n_repaired = 0;
  g->merged.len -= end;
  memmove(g->merged.data, g->merged.data + end,
          g->merged.len * sizeof *g->merged.data);
  eg_run_modify(g);
  return unions;
}

/* A class that was lost meanwhile passed its parents on to be remade as they
 * were repaired; the winner is on the list itself if it changed, too. */
static void
remake_parents(eg_graph *g, uint32_t cls) {
  uint32_t record = eg_record(g, eg_root(g, cls));
  if (!(g->flags[record] & EG_CHANGED))
    return;
  g->flags[record] &= (uint8_t)~EG_CHANGED;
  uint32_t e = g->parents[record].first;
  while (e != EG_NONE) {
    bool pool = e & EG_POOL_EDGE;
    uint32_t p = e & ~EG_POOL_EDGE;
    eg_remake(g, pool ? g->pool_owner[p] : p / 2);
    e = pool ? g->pool_links[p] : g->links[p];
  }
  eg_run_modify(g);
}

/* --- pruning ----------------------------------------------------------- */

static uint8_t *
prune_flags(eg_graph *g, uint32_t i) {
  return &g->flags[eg_record(g, eg_root(g, g->pruned.data[i]))];
}

static void
prune_marked(eg_graph *g, const eg_prune_request *how) {
  for (uint32_t n = 0; n < g->n_rows; n++) {
    uint32_t c = eg_root(g, g->rows[n].cls);
    if (!(g->flags[eg_record(g, c)] & EG_MARK) || !eg_is_live(g, n))
      continue;
    const eg_head *h = eg_head_of(g, g->rows[n].head);
    if (how->keep(how->ctx, h->op, h->arity))
      continue;
    g->stamps[n] = EG_PRUNED;
    g->live_nodes--;
    g->index.valid = false;
  }
}

/* One pass over the nodes for each request. */
static void
prune(eg_graph *g) {
  uint32_t from = 0;
  for (uint32_t k = 0; k < g->prunes.len; k++) {
    const eg_prune_request *how = &g->prunes.data[k];
    for (uint32_t i = from; i < how->end; i++)
      *prune_flags(g, i) |= EG_MARK;
    prune_marked(g, how);
    for (uint32_t i = from; i < how->end; i++)
      *prune_flags(g, i) &= (uint8_t)~EG_MARK;
    from = how->end;
  }
  bs_clear(&g->prunes);
  bs_clear(&g->pruned);
}

/* Data is joined as classes are, but parents' data and pruning wait. */
void
eg_restore(eg_graph *g) {
  eg_run_modify(g);
  while (g->merged.len)
    repair_merged(g);
  eg_reclaim(g);
}

uint32_t
eg_rebuild(eg_graph *g) {
  uint32_t unions = 0;
  g->modifying = false;
  eg_run_modify(g);
  while (g->merged.len || g->changed.len) {
    if (g->merged.len)
      unions += repair_merged(g);
    else
      remake_parents(g, bs_pop(&g->changed));
  }
  prune(g);
  eg_reclaim(g);
  g->dirty = false;
  assert(!g->merged.len && !g->changed.len && !g->modify_queue.len);
  /* The check builds the index, for which there may be no room. */
  assert(!eg_fits(g, 0) || !eg_check(g));
  return unions;
}
