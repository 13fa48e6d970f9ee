/* SPDX-License-Identifier: MIT */
/* classes.c - classes made, united, and what they know.
 *
 * All that is kept of a class for ever is its word of the union-find.  What a
 * leader has besides (parents, flags, data) stands in a seat, whose number is
 * in that word; the seat of a class that lost a union is free again as soon as
 * the rebuild has taken its edges.  Where half of the classes made turn out
 * equal, that is a third less memory.
 *
 * `modify` is called from one queue, never from inside itself, so its unions
 * cannot nest. */
#include "egraph/add.h"
#include "egraph/journal.h"
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
grow_seats(eg_graph *g, uint64_t need) {
  uint32_t size = g->analysis.size;
  uint64_t cap =
      eg_grown(g, g->cap_seats, need < 64 ? 64 : need, EG_SEAT_BYTES + size);
  g->parents = bs_realloc(g->heap, g->parents, cap * sizeof *g->parents);
  g->flags = bs_realloc(g->heap, g->flags, cap);
  if (size)
    g->data = bs_realloc(g->heap, g->data, cap * size);
  g->cap_seats = (uint32_t)cap;
}

void
eg_reserve_classes(eg_graph *g, uint64_t more) {
  if (g->n_classes + more > g->cap_classes)
    grow_classes(g, g->n_classes + more);
  uint64_t seats = (uint64_t)g->live_classes + g->lost.len + more;
  if (seats > g->cap_seats)
    grow_seats(g, seats);
}

void
eg_seat_free(eg_graph *g, uint32_t seat) {
  g->parents[seat] = (eg_parents){g->free_seat, EG_FREE_SEAT};
  g->free_seat = seat;
}

void
eg_class_room(eg_graph *g) {
  if (g->n_classes == g->cap_classes)
    grow_classes(g, (uint64_t)g->n_classes + 1);
  if (g->n_seats == g->cap_seats && g->free_seat == EG_NONE)
    grow_seats(g, (uint64_t)g->n_seats + 1);
}

/* --- work that waits --------------------------------------------------- */

void
eg_mark_changed(eg_graph *g, uint32_t c) {
  uint8_t *flags = &g->flags[eg_seat(g, c)];
  if (*flags & EG_CHANGED)
    return;
  bs_push(g->heap, &g->changed, c);
  *flags |= EG_CHANGED;
  g->dirty = true;
}

void
eg_settle(eg_graph *g) {
  if (g->settling)
    return;
  g->settling = true;
  while (g->touched.len) {
    uint32_t c = bs_pop(&g->touched);
    g->analysis.modify(g->analysis.ctx, g, (eg_class){eg_root(g, c)});
  }
  g->settling = false;
}

/* Keeps the first fault: later ones are its consequences. */
void
eg_fail(eg_graph *g, eg_fault_kind kind, uint32_t a, uint32_t b,
        eg_reason why) {
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
  return c.i < g->n_classes ? (eg_class){eg_root(g, c.i)} : EG_NO_CLASS;
}

/* The class with more parents stays, so that fewer are repaired. */
static void
join(eg_graph *g, uint32_t winner, uint32_t loser, uint32_t bits) {
  uint32_t seat = eg_seat(g, loser);
  if (g->flags[seat] & EG_CHANGED || bits & 2)
    g->flags[seat] |= EG_REMAKE;
  g->up[loser] = winner;
  bs_push(g->heap, &g->lost, (eg_lost){loser, seat});
  g->live_classes--;
  g->unions++;
  g->dirty = true;
  g->index.valid = false;
  if (bits & 1)
    eg_mark_changed(g, winner);
}

bool
eg_unite(eg_graph *g, uint32_t a, uint32_t b, eg_reason why) {
  a = eg_root(g, a);
  b = eg_root(g, b);
  if (a == b || g->fault == EG_FAULT_MERGE)
    return false;
  uint32_t na = g->parents[eg_seat(g, a)].n, nb = g->parents[eg_seat(g, b)].n;
  bool swap = na < nb || (na == nb && a > b);
  uint32_t winner = swap ? b : a, loser = swap ? a : b;
  uint32_t bits = 0;
  bs_reserve(g->heap, &g->lost, (uint64_t)g->lost.len + 1);
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
  return eg_data_at(g, eg_root(g, c.i));
}

void
eg_touch(eg_graph *g, eg_class c) {
  eg_mark_changed(g, eg_root(g, c.i));
}

void
eg_prune(eg_graph *g, eg_class c, bool (*keep)(void *, uint32_t, uint32_t),
         void *ctx) {
  const eg_prune_request *last = g->prunes.len ? &bs_last(&g->prunes) : NULL;
  bs_reserve(g->heap, &g->pruned, (uint64_t)g->pruned.len + 1);
  if (!last || last->keep != keep || last->ctx != ctx)
    bs_push(g->heap, &g->prunes, (eg_prune_request){keep, ctx, 0});
  bs_push(g->heap, &g->pruned, c.i);
  bs_last(&g->prunes).end = g->pruned.len;
  g->dirty = true;
}
