/* SPDX-License-Identifier: MIT */
/* add.h - a plain node added, as most are; private, inline.
 *
 * For those that add many: batch.c, and graph.c for all others. */
#ifndef EGRAPH_ADD_H
#define EGRAPH_ADD_H

#include "egraph/hashcons.h"

/* A class that leads, without edges and with no data yet. */
static inline uint32_t
eg_class_made(eg_graph *g) {
  bool records = g->n_records < g->cap_records || g->free_record != EG_NONE;
  if (__builtin_expect(g->n_classes == g->cap_classes || !records, 0))
    eg_class_room(g);
  uint32_t c = g->n_classes++, record = g->free_record;
  if (record == EG_NONE)
    record = g->n_records++;
  else
    g->free_record = g->parents[record].first;
  g->parents[record] = (eg_parents){EG_NONE, 0};
  g->flags[record] = 0;
  g->up[c] = EG_LEADS | record;
  g->live_classes++;
  return c;
}

/* into := join; a conflict leaves `into` untouched. */
static inline uint32_t
eg_data_join(eg_graph *g, void *into, const void *from) {
  const eg_analysis *a = &g->analysis;
  if (!a->size || !a->merge)
    return 0;
  if (a->zero_is_nothing && eg_data_is_zero(from, a->size))
    return eg_data_is_zero(into, a->size) ? 0 : 2;
  void *saved = g->spare[1];
  eg_copy_data(saved, into, a->size);
  uint32_t bits = a->merge(a->ctx, g, into, from);
  if (__builtin_expect(bits & EG_MERGE_CONFLICT, 0))
    eg_copy_data(into, saved, a->size);
  return bits;
}

/* The class that a new node belongs to, its data made or joined; EG_NONE when
 * the analysis, which there is, refuses. */
static inline uint32_t
eg_class_with_data(eg_graph *g, uint32_t head, const eg_class *kids,
                   uint32_t n_kids, uint32_t into, eg_reason why) {
  const eg_analysis *a = &g->analysis;
  void *data = g->spare[0];
  const eg_head *h = eg_head_of(g, head);
  if (a->size)
    eg_clear_data(data, a->size);
  if (a->make && !a->make(a->ctx, g, h->op, h->attr, kids, n_kids, data)) {
    eg_fail(g, EG_FAULT_NODE, into, EG_NONE, why);
    return EG_NONE;
  }
  if (into != EG_NONE) {
    uint32_t bits = eg_data_join(g, a->size ? eg_data_at(g, into) : NULL, data);
    if (!(bits & EG_MERGE_CONFLICT)) {
      if (bits & 1)
        eg_mark_changed(g, into);
      return into;
    }
  }
  uint32_t c = eg_class_made(g);
  if (a->size)
    eg_copy_data(eg_data_at(g, c), data, a->size);
  if (into != EG_NONE)
    eg_fail(g, EG_FAULT_MERGE, into, c, why);
  return c;
}

/* A class to be given to `modify`: at once after what is being done, or, where
 * that is done inside of `modify`, when it is its turn.  Its room is taken
 * before anything changes. */
static inline void
eg_modify_room(eg_graph *g) {
  if (g->analysis.modify && g->modifying)
    bs_reserve(g->heap, &g->modify_queue, (uint64_t)g->modify_queue.len + 1);
}

static inline void
eg_modify_soon(eg_graph *g, uint32_t leader) {
  const eg_analysis *a = &g->analysis;
  if (!a->modify ||
      (a->zero_is_nothing && eg_data_is_zero(eg_data_at(g, leader), a->size)))
    return;
  if (g->modifying) {
    bs_push(g->heap, &g->modify_queue, leader);
    return;
  }
  g->modifying = true;
  a->modify(a->ctx, g, (eg_class){leader});
  g->modifying = false;
  if (g->modify_queue.len)
    eg_run_modify(g);
}

/* A row of its own for a node, not yet in the table. */
static inline uint32_t
eg_row_place(eg_graph *g) {
  g->n_made++;
  if (!g->n_free)
    return g->n_rows++;
  uint32_t n = g->free_row;
  g->free_row = g->rows[n].kid[0].i;
  g->n_free--;
  g->n_dead--;
  return n;
}

/* As `eg_add_new` for a node of at most two children, the others EG_NONE, for
 * which the table has room if `modify` has taken none: mostly there is room for
 * the rest, and nothing takes note. */
static inline uint32_t
eg_add_plain(eg_graph *g, uint32_t head, const eg_class kids[2],
             uint32_t n_kids, uint64_t hash, uint32_t into, eg_reason why) {
  uint32_t a = kids[0].i, b = kids[1].i;
  bool full = g->n_rows == g->cap_rows && !g->n_free;
  if (__builtin_expect(full || g->origin || g->journal, 0)) {
    eg_key key = {head, a, b, NULL, 0};
    return eg_add_new(g, &key, hash, kids, n_kids, into, why);
  }
  const eg_analysis *by = &g->analysis;
  if (by->modify) /* which adds, too */
    eg_table_reserve(g, 1);
  bool plain = !by->make && !by->size && !by->modify;
  uint32_t c = into;
  eg_modify_room(g);
  if (!plain)
    c = eg_class_with_data(g, head, kids, n_kids, into, why);
  else if (c == EG_NONE)
    c = eg_class_made(g);
  if (c == EG_NONE)
    return EG_NONE;
  uint32_t n = eg_row_place(g);
  g->rows[n] = (eg_row){head, c, {{a}, {b}}};
  g->stamps[n] = (eg_stamp)g->epoch;
  uint32_t *links = g->links + 2 * (size_t)n;
  links[0] = n_kids > 0 ? eg_parents_add(g, 2 * n, a) : EG_NONE;
  links[1] = n_kids > 1 ? eg_parents_add(g, 2 * n + 1, b) : EG_NONE;
  eg_table_put(g, hash, n);
  g->live_nodes++;
  g->index.valid = false;
  if (!plain)
    eg_modify_soon(g, c);
  return c;
}

#endif
