/* SPDX-License-Identifier: MIT */
/* cut.c - a view that becomes a base, written piece by piece into an array of
 * its own, as if it had been materialized. */
#include "poly/lower/lower.h"
#include <assert.h>

static gs_term
widest_child(const po_lowering *low, const gs_node *node) {
  gs_term best = node->kids[0];
  for (uint32_t k = 1; k < node->n_kids; k++)
    if (low->views.of[node->kids[k].i].pieces.len >
        low->views.of[best.i].pieces.len)
      best = node->kids[k];
  return best;
}

void
po_descend(const po_lowering *low, gs_term from, po_path *path) {
  assert(from.i < low->source->nodes.len);
  gs_term t = from;
  while (!low->views.base[t.i] && low->views.of[t.i].made) {
    bs_push(low->heap, path, t);
    t = widest_child(low, gs_at(low->source, t));
  }
}

void
po_cut(po_lowering *low, const po_path *path, uint32_t at) {
  assert(at < path->len);
  gs_term t = path->data[at];
  low->cut[t.i] = low->views.of[t.i];
  low->views.of[t.i] = (po_view){0};
  low->views.base[t.i] = 1;
  for (uint32_t k = at + 1; k-- > 0;)
    po_view_make(&low->views, path->data[k]);
}

const po_view *
po_stored(const po_lowering *low, gs_term t) {
  assert(t.i < low->source->nodes.len);
  if (low->cut[t.i].made)
    return &low->cut[t.i];
  return &low->views.of[gs_at(low->source, t)->kids[0].i];
}
