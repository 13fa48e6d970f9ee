/* SPDX-License-Identifier: MIT */
/* classes.c - classes made, united, and what they know.
 *
 * All that is kept of a class for ever is its word of the union-find.  What a
 * leader has besides (parents, flags, data) stands in a record, whose number is
 * in that word; the record of a class that lost a union is free again as soon
 * as the rebuild has taken its edges.  Where half of the classes made turn out
 * equal, that is a third less memory.
 *
 * `modify` is called from one queue, never from inside itself, so its unions
 * cannot nest. */
#include "egraph/add.h"
#include "egraph/egraph_testing.h"
#include "egraph/journal.h"
#include <assert.h>
#include <string.h>

/* --- room -------------------------------------------------------------- */

static void
grow_classes(eg_graph *g, uint64_t need) {
  uint64_t cap =
      eg_grown(g, g->cap_classes, need < 64 ? 64 : need, sizeof *g->up);
  g->up = bs_realloc(g->heap, g->up, cap * sizeof *g->up);
  g->cap_classes = (uint32_t)cap;
}

static void
grow_records(eg_graph *g, uint64_t need) {
  uint32_t size = g->analysis.size;
  uint64_t cap = eg_grown(g, g->cap_records, need < 64 ? 64 : need,
                          EG_RECORD_BYTES + size);
  g->parents = bs_realloc(g->heap, g->parents, cap * sizeof *g->parents);
  g->flags = bs_realloc(g->heap, g->flags, cap);
  if (size)
    g->data = bs_realloc(g->heap, g->data, cap * size);
  g->cap_records = (uint32_t)cap;
}

void
eg_reserve_classes(eg_graph *g, uint64_t more) {
  if (g->n_classes + more > g->cap_classes)
    grow_classes(g, g->n_classes + more);
  uint64_t records = (uint64_t)g->live_classes + g->merged.len + more;
  if (records > g->cap_records)
    grow_records(g, records);
}

void
eg_record_free(eg_graph *g, uint32_t record) {
  assert(record < g->n_records);
  g->parents[record] = (eg_parents){g->free_record, EG_FREE_RECORD};
  g->free_record = record;
}

void
eg_class_room(eg_graph *g) {
  if (g->n_classes == g->cap_classes)
    grow_classes(g, (uint64_t)g->n_classes + 1);
  if (g->n_records == g->cap_records && g->free_record == EG_NONE)
    grow_records(g, (uint64_t)g->n_records + 1);
}

/* --- work that waits --------------------------------------------------- */

void
eg_mark_changed(eg_graph *g, uint32_t c) {
  assert(c < g->n_classes && eg_leads(g, c));
  uint8_t *flags = &g->flags[eg_record(g, c)];
  if (*flags & EG_CHANGED)
    return;
  bs_push(g->heap, &g->changed, c);
  *flags |= EG_CHANGED;
  g->dirty = true;
}

void
eg_run_modify(eg_graph *g) {
  if (g->modifying)
    return;
  g->modifying = true;
  while (g->modify_queue.len) {
    uint32_t c = bs_pop(&g->modify_queue);
    g->analysis.modify(g->analysis.ctx, g, (eg_class){eg_root(g, c)});
  }
  g->modifying = false;
}

/* Keeps the first fault: later ones are its consequences. */
void
eg_fail(eg_graph *g, eg_fault_kind kind, uint32_t a, uint32_t b,
        eg_reason why) {
  assert(kind != EG_FINE);
  if (g->fault)
    return;
  g->fault = kind;
  g->fault_a.i = a;
  g->fault_b.i = b;
  g->fault_reason = why;
}

/* --- classes ----------------------------------------------------------- */

eg_class
eg_find(const eg_graph *g, eg_class c) {
  assert(c.i < g->n_classes);
  return c.i < g->n_classes ? (eg_class){eg_root(g, c.i)} : EG_NO_CLASS;
}

/* The class with more parents stays, so that fewer are repaired. */
static void
join(eg_graph *g, uint32_t winner, uint32_t loser, uint32_t bits) {
  uint32_t record = eg_record(g, loser);
  if (g->flags[record] & EG_CHANGED || bits & 2)
    g->flags[record] |= EG_REMAKE;
  g->up[loser] = winner;
  bs_push(g->heap, &g->merged, (eg_merged){loser, record});
  g->live_classes--;
  g->unions++;
  g->dirty = true;
  g->index.valid = false;
  if (bits & 1)
    eg_mark_changed(g, winner);
}

bool
eg_unite(eg_graph *g, uint32_t a, uint32_t b, eg_reason why) {
  assert(a < g->n_classes && b < g->n_classes);
  a = eg_root(g, a);
  b = eg_root(g, b);
  if (a == b || g->fault == EG_FAULT_MERGE)
    return false;
  uint32_t na = g->parents[eg_record(g, a)].n,
           nb = g->parents[eg_record(g, b)].n;
  bool swap = na < nb || (na == nb && a > b);
  uint32_t winner = swap ? b : a, loser = swap ? a : b;
  uint32_t bits = 0;
  bs_reserve(g->heap, &g->merged, (uint64_t)g->merged.len + 1);
  eg_modify_room(g);
  if (g->journal)
    eg_journal_room(g, 0, 1);
  if (g->analysis.size)
    bits = eg_data_join(g, eg_data_at(g, winner), eg_data_at(g, loser));
  if (bits & EG_MERGE_CONFLICT) {
    eg_fail(g, EG_FAULT_MERGE, a, b, why);
    return false;
  }
  if (g->journal)
    eg_journal_union(g, why);
  join(g, winner, loser, bits);
  assert(eg_leads(g, winner) && eg_root(g, loser) == winner);
  eg_modify_soon(g, winner);
  return true;
}

bool
eg_union(eg_graph *g, eg_class a, eg_class b, eg_reason why) {
  if (a.i >= g->n_classes || b.i >= g->n_classes)
    return false;
  if (g->journal) {
    g->journal->row = a.i;
    g->journal->other = b.i;
  }
  return eg_unite(g, a.i, b.i, why);
}

void *
eg_data_of_leader(const eg_graph *g, eg_class c) {
  assert(c.i < g->n_classes);
  return eg_data_at(g, eg_root(g, c.i));
}

void
eg_touch(eg_graph *g, eg_class c) {
  assert(c.i < g->n_classes);
  eg_mark_changed(g, eg_root(g, c.i));
}

void
eg_prune(eg_graph *g, eg_class c, bool (*keep)(void *, uint32_t, uint32_t),
         void *ctx) {
  assert(c.i < g->n_classes && keep);
  const eg_prune_request *last = g->prunes.len ? &bs_last(&g->prunes) : NULL;
  bs_reserve(g->heap, &g->pruned, (uint64_t)g->pruned.len + 1);
  if (!last || last->keep != keep || last->ctx != ctx)
    bs_push(g->heap, &g->prunes, (eg_prune_request){keep, ctx, 0});
  bs_push(g->heap, &g->pruned, c.i);
  bs_last(&g->prunes).end = g->pruned.len;
  g->dirty = true;
}
