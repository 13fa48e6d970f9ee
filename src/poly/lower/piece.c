/* SPDX-License-Identifier: MIT */
/* piece.c - pieces of a view: dropped when empty, merged when they agree.
 *
 * The box of the term's indices is implied by every set, so that the common
 * piece, "everything", is a universe set and costs nothing. */
#include "poly/lower/lower_view.h"
#include <assert.h>

/* A piece is compared with so many before it. */
#define MERGE_REACH 16

/* The constraints of `set` beyond the box; empty stays empty. */
static isl_set *
beyond_box(isl_ctx *isl, __isl_take isl_set *set, const gs_type *type) {
  if (isl_set_plain_is_universe(set) == isl_bool_true)
    return set;
  isl_set *box = po_box(isl, type->dim, type->rank);
  set = isl_set_intersect(set, isl_set_copy(box));
  if (isl_set_is_empty(set) == isl_bool_true) {
    isl_set_free(box);
    isl_space *space = isl_set_get_space(set);
    isl_set_free(set);
    return isl_set_empty(space);
  }
  return isl_set_coalesce(isl_set_gist(set, box));
}

static bool
same_elements(const po_piece *a, const po_piece *b) {
  if (a->from != b->from)
    return false;
  if (a->from != PO_FROM_TERM)
    return true;
  return a->term.i == b->term.i &&
         isl_multi_aff_plain_is_equal(a->map, b->map) == isl_bool_true;
}

/* Constants are merged always; elements only where one region results. */
static bool
merge(po_views *views, po_piece *into, const po_piece *piece,
      __isl_keep isl_set *set, const gs_type *type) {
  po_pool_reserve(&views->pool, 1);
  isl_set *both = isl_set_union(isl_set_copy(into->set), isl_set_copy(set));
  both = isl_set_intersect(both, po_box(views->isl, type->dim, type->rank));
  both = isl_set_coalesce(both);
  if (piece->from == PO_FROM_TERM && isl_set_n_basic_set(both) > 1) {
    isl_set_free(both);
    return false;
  }
  into->set = po_keep_set(&views->pool, beyond_box(views->isl, both, type));
  return true;
}

void
po_add_simple_piece(po_views *views, po_view *view, const gs_type *type,
                    const po_piece *piece) {
  assert(!piece->set ||
         isl_set_dim(piece->set, isl_dim_set) == (isl_size)type->rank);
  assert(piece->from != PO_FROM_TERM || !piece->map ||
         isl_multi_aff_dim(piece->map, isl_dim_in) == (isl_size)type->rank);
  uint32_t n = view->pieces.len;
  uint32_t stop = n > MERGE_REACH ? n - MERGE_REACH : 0;
  for (uint32_t k = n; k-- > stop;) {
    po_piece *other = &view->pieces.data[k];
    if (same_elements(other, piece) &&
        merge(views, other, piece, piece->set, type))
      return;
  }
  if (n >= PO_MAX_VIEW) {
    views->too_many = true;
    return;
  }
  bs_push(views->heap, &view->pieces, *piece);
}

void
po_add_piece(po_views *views, po_view *view, const gs_type *type, isl_set *set,
             const po_piece *like) {
  po_piece piece = *like;
  po_pool_reserve(&views->pool, 1);
  set = beyond_box(views->isl, set, type);
  if (isl_set_plain_is_empty(set) == isl_bool_true) {
    isl_set_free(set);
    return;
  }
  piece.set = po_keep_set(&views->pool, set);
  po_add_simple_piece(views, view, type, &piece);
}
