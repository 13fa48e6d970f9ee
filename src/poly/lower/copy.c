/* SPDX-License-Identifier: MIT */
/* copy.c - what a view shows but does not compute in place is copied.
 *
 * A piece whose base was given its placement where the view is stored needs no
 * copy: its elements are written there by the base itself. */
#include "poly/lower/lower.h"
#include <assert.h>
#include <string.h>

/* The piece reads the very elements that it would be copied to. */
static bool
is_in_place(po_lowering *low, const po_piece *piece, const po_read *read,
            const gs_type *type, const po_target *at) {
  if (read->constant || read->array != at->array)
    return false;
  if (isl_multi_aff_plain_is_equal(read->map, at->map) == isl_bool_true)
    return true;
  isl_set *set = isl_set_intersect(isl_set_copy(piece->set),
                                   po_box(low->isl, type->dim, type->rank));
  isl_map *from = isl_map_from_multi_aff(isl_multi_aff_copy(read->map));
  isl_map *to = isl_map_from_multi_aff(isl_multi_aff_copy(at->map));
  from = isl_map_intersect_domain(from, set);
  bool same = isl_map_is_subset(from, to) == isl_bool_true;
  isl_map_free(from);
  isl_map_free(to);
  return same;
}

/* What is known of copies of such a piece to an array of their own, of the
 * shape of the whole: in a slot, or NULL. */
static void **
known_copy(po_lowering *low, const po_reads *from, const po_read *read) {
  bs_key key = {0};
  if (!read->lasts)
    return NULL;
  bs_key_pointer(low->heap, &key, read->set);
  for (uint32_t d = 0; d < from->rank; d++)
    bs_key_number(low->heap, &key, from->dim[d]);
  uint32_t at = po_known_number(low->heap, &low->threads, &key);
  return &low->threads.values.data[at];
}

/* Copies of pieces that are alike run in threads alike.  The slot has a number
 * beyond the one that stands for none in it. */
static void
add_nest(po_lowering *low, uint32_t first, uint32_t n, void **known) {
  uint32_t loop = low->out->nest.nodes.len;
  if (known && *known) {
    po_add_nest_like(low, first, n, (uint32_t)((uintptr_t)*known - 1));
    return;
  }
  po_add_nest(low, first, n, false);
  if (known && !po_has_failed(low))
    *known = (void *)((uintptr_t)po_threads_of(low, loop, n) + 1);
}

/* packs: to an array of its own. */
static void
copy_piece(po_lowering *low, const po_reads *from, const po_read *read,
           const po_target *at, bool packs, gs_term term) {
  void **known = packs ? known_copy(low, from, read) : NULL;
  uint32_t first = low->out->stmts.len;
  po_body body = {.low = low};
  po_reads one = {.dtype = from->dtype, .rank = from->rank};
  po_target to = *at;
  bool unit[GS_MAX_RANK];
  memcpy(one.dim, from->dim, sizeof one.dim);
  bs_push(low->heap, &one.list, *read);
  if (po_find_units(one.dim, one.rank, unit) < one.rank) {
    po_squeeze_target(low, unit, one.rank, &to);
    po_squeeze_reads(low, unit, &one);
  }
  read = &one.list.data[0];
  po_pool_reserve(&low->scratch, 1);
  isl_set *domain = po_keep_set(
      &low->scratch, isl_set_intersect(po_box(low->isl, one.dim, one.rank),
                                       isl_set_copy(read->set)));
  po_put_read(&body, one.dtype, read);
  po_add_stmt(&body, PO_ASSIGN, 0, domain, one.rank, &to, term);
  add_nest(low, first, one.rank, known);
  po_reads_done(low, &one);
}

void
po_emit_copies(po_lowering *low, const po_view *view, const gs_type *type,
               const po_target *at, gs_term term) {
  assert(at->array < low->out->arrays.len);
  po_reads reads = po_reads_all(low, view, type);
  for (uint32_t k = 0; k < reads.list.len; k++) {
    const po_read *read = &reads.list.data[k];
    if (!is_in_place(low, &view->pieces.data[k], read, type, at))
      copy_piece(low, &reads, read, at, false, term);
  }
  po_reads_done(low, &reads);
}

uint32_t
po_pack(po_lowering *low, const po_reads *reads, gs_term term) {
  assert(reads->rank <= GS_MAX_RANK);
  uint32_t array = po_new_temporary(low, PO_WORKSPACE, reads->dtype, reads->dim,
                                    reads->rank, GS_NO_TERM);
  po_pool_reserve(&low->scratch, 1);
  po_target at = {array, po_keep_multi_aff(&low->scratch,
                                           po_identity(low->isl, reads->rank))};
  for (uint32_t k = 0; k < reads->list.len; k++)
    copy_piece(low, reads, &reads->list.data[k], &at, true, term);
  return array;
}
