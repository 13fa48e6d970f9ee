/* SPDX-License-Identifier: MIT */
/* reads.c - operands as pieces in memory, and domains refined by them.
 *
 * Views that are alike share their sets and maps, so what is worked out of one
 * object is known to be that of the next one by where it lies.  That holds for
 * the views of the program's terms, which live as long as the lowering. */
#include "poly/lower/lower.h"
#include "poly/loops/open.h"
#include <assert.h>
#include <math.h>
#include <string.h>
#include <isl/val.h>

/* What of a view is looked at: through a map, for one item of a tuple (index
 * `at`) or all. */
typedef struct glance {
  isl_multi_aff *through;
  uint32_t at;
  int64_t item; /* -1: no single one */
  /* How `through` was made of the view's type: NOT_KNOWN says nothing. */
  enum { NOT_KNOWN, ITEM, PART, AFTER_FIRST } way;
  int64_t lo;
} glance;

/* A piece of another item, or of this one and nothing else, needs no work. */
static bool
is_elsewhere(const po_piece *piece, const glance *g) {
  isl_val *fixed =
      g->item < 0
          ? NULL
          : isl_set_plain_get_val_if_fixed(piece->set, isl_dim_set, g->at);
  bool elsewhere = fixed && isl_val_is_int(fixed) == isl_bool_true &&
                   isl_val_cmp_si(fixed, g->item) != 0;
  isl_val_free(fixed);
  return elsewhere;
}

static bool
is_whole_item(po_lowering *low, const po_piece *piece, const gs_type *type,
              const glance *g) {
  if (isl_set_plain_is_universe(piece->set) == isl_bool_true)
    return true;
  if (g->item < 0)
    return false;
  isl_set *slab =
      po_slab_in(low->isl, type->dim, type->rank, g->at, g->item, g->item);
  bool whole = isl_set_plain_is_equal(piece->set, slab) == isl_bool_true;
  isl_set_free(slab);
  return whole;
}

static __isl_give isl_set *
seen_set(po_lowering *low, const po_piece *piece, const gs_type *type,
         const glance *g, const po_reads *reads) {
  if (is_whole_item(low, piece, type, g))
    return isl_set_universe(po_space(low->isl, reads->rank));
  isl_set *set = isl_set_intersect(isl_set_copy(piece->set),
                                   po_box(low->isl, type->dim, type->rank));
  set = isl_set_preimage_multi_aff(set, isl_multi_aff_copy(g->through));
  isl_set *box = po_box(low->isl, reads->dim, reads->rank);
  isl_set *here = isl_set_intersect(isl_set_copy(set), isl_set_copy(box));
  bool empty = isl_set_is_empty(here) == isl_bool_true;
  isl_set_free(here);
  if (!empty)
    return isl_set_gist(set, box);
  isl_set_free(box);
  isl_set_free(set);
  return isl_set_empty(po_space(low->isl, reads->rank));
}

/* ---- what was worked out before ---- */

static void
put_dims(po_lowering *low, bs_key *key, const int64_t *dim, uint32_t n) {
  for (uint32_t d = 0; d < n; d++)
    bs_key_number(low->heap, key, dim[d]);
}

/* Of an object of a view of this type, looked at so. */
static void **
known(po_lowering *low, const void *object, const gs_type *type,
      const glance *g, const po_reads *reads) {
  bs_key key = {0};
  bs_key_pointer(low->heap, &key, object);
  bs_key_number(low->heap, &key, (int64_t)g->way);
  bs_key_number(low->heap, &key, g->item);
  bs_key_number(low->heap, &key, g->lo);
  bs_key_number(low->heap, &key, g->at);
  bs_key_number(low->heap, &key, type->rank);
  put_dims(low, &key, type->dim, type->rank);
  put_dims(low, &key, reads->dim, reads->rank);
  uint32_t at = po_known_number(low->heap, &low->seen, &key);
  return &low->seen.values.data[at];
}

/* An array's elements through a map, on a box. */
static isl_multi_aff *
composed(po_lowering *low, __isl_keep isl_multi_aff *placement,
         __isl_keep isl_multi_aff *map, const po_reads *reads, bool lasting) {
  po_pool *pool = lasting ? &low->views.pool : &low->scratch;
  void *none = NULL, **at = &none;
  if (lasting) {
    bs_key key = {0};
    bs_key_pointer(low->heap, &key, placement);
    bs_key_pointer(low->heap, &key, map);
    put_dims(low, &key, reads->dim, reads->rank);
    uint32_t n = po_known_number(low->heap, &low->composed, &key);
    at = &low->composed.values.data[n];
  }
  if (*at)
    return *at;
  po_pool_reserve(pool, 1);
  return *at = po_keep_multi_aff(
             pool, po_simplify_multi(isl_multi_aff_pullback_multi_aff(
                                         isl_multi_aff_copy(placement),
                                         isl_multi_aff_copy(map)),
                                     reads->dim));
}

/* lasting: the map is of a view, or was worked out of one. */
static void
add_read(po_lowering *low, const po_piece *piece, po_reads *reads,
         __isl_keep isl_set *set, __isl_keep isl_multi_aff *map, bool lasting) {
  po_read read = {
      .set = set, .constant = piece->from != PO_FROM_TERM, .lasts = lasting};
  read.literal = piece->from == PO_FROM_LOWEST ? -INFINITY : 0;
  if (!read.constant) {
    const po_placement *placement = po_placement_of(low, piece->term);
    read.array = placement->array;
    read.map = composed(low, placement->map, map, reads, lasting);
  }
  bs_push(low->heap, &reads->list, read);
}

static isl_set *
seen_set_of(po_lowering *low, const po_piece *piece, const gs_type *type,
            const glance *g, const po_reads *reads) {
  void *none = NULL;
  bool lasts = g->way != NOT_KNOWN;
  void **at = lasts ? known(low, piece->set, type, g, reads) : &none;
  if (!*at) {
    po_pool *pool = lasts ? &low->views.pool : &low->scratch;
    po_pool_reserve(pool, 1);
    *at = po_keep_set(pool, seen_set(low, piece, type, g, reads));
  }
  return *at;
}

static isl_multi_aff *
seen_map_of(po_lowering *low, const po_piece *piece, const gs_type *type,
            const glance *g, const po_reads *reads) {
  void *none = NULL;
  bool lasts = g->way != NOT_KNOWN;
  void **at = lasts ? known(low, piece->map, type, g, reads) : &none;
  if (!*at) {
    po_pool *pool = lasts ? &low->views.pool : &low->scratch;
    po_pool_reserve(pool, 1);
    *at = po_keep_multi_aff(
        pool, isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(piece->map),
                                               isl_multi_aff_copy(g->through)));
  }
  return *at;
}

/* The piece as it is seen, unless nothing of it is. */
static void
add_seen(po_lowering *low, const po_piece *piece, const gs_type *type,
         const glance *g, po_reads *reads) {
  if (is_elsewhere(piece, g))
    return;
  isl_set *set = seen_set_of(low, piece, type, g, reads);
  if (isl_set_plain_is_empty(set) == isl_bool_true)
    return;
  isl_multi_aff *map =
      piece->map ? seen_map_of(low, piece, type, g, reads) : NULL;
  add_read(low, piece, reads, set, map, g->way != NOT_KNOWN);
}

/* Views of the program's terms, and of those that were cut. */
static bool
lasts(const po_lowering *low, const po_view *view) {
  return (view >= low->views.of && view < low->views.of + low->views.n) ||
         (view >= low->cut && view < low->cut + low->views.n);
}

po_reads
po_reads_all(po_lowering *low, const po_view *view, const gs_type *type) {
  po_reads reads = {.dtype = type->dtype, .rank = type->rank};
  memcpy(reads.dim, type->dim, sizeof reads.dim);
  for (uint32_t k = 0; k < view->pieces.len; k++) {
    const po_piece *piece = &view->pieces.data[k];
    add_read(low, piece, &reads, piece->set, piece->map, lasts(low, view));
  }
  return reads;
}

/* Without the tuple index; the rest in order. */
static po_reads
without_tuple(const gs_type *type) {
  po_reads reads = {.dtype = type->dtype};
  for (uint32_t d = 0; d < type->rank; d++)
    if (d != type->access)
      reads.dim[reads.rank++] = type->dim[d];
  return reads;
}

/* [s, c, ...] -> [s, tuple, c] over n indices, with tuple an index of these
 * n (shifted) or, where `of` is n, a constant. */
isl_multi_aff *
po_into_tuple(po_lowering *low, const gs_type *type, uint32_t n, uint32_t of,
              int64_t offset) {
  assert(type->access < type->rank);
  uint32_t at = type->access;
  po_pool_reserve(&low->scratch, 1);
  isl_multi_aff *map =
      isl_multi_aff_zero(po_map_space(low->isl, n, type->rank));
  for (uint32_t d = 0; d < type->rank; d++) {
    isl_aff *index = d == at ? po_index(low->isl, n, of, 1, offset)
                             : po_index(low->isl, n, d - (d > at), 1, 0);
    map = isl_multi_aff_set_aff(map, (int)d, index);
  }
  return po_keep_multi_aff(&low->scratch, map);
}

static void
add_all_seen(po_lowering *low, const po_view *view, const gs_type *type,
             const glance *g, po_reads *reads) {
  for (uint32_t k = 0; k < view->pieces.len; k++)
    add_seen(low, &view->pieces.data[k], type, g, reads);
}

po_reads
po_reads_item(po_lowering *low, const po_view *view, const gs_type *type,
              uint32_t item) {
  po_reads reads = without_tuple(type);
  glance g = {po_into_tuple(low, type, reads.rank, reads.rank, item),
              type->access, item, lasts(low, view) ? ITEM : NOT_KNOWN, 0};
  add_all_seen(low, view, type, &g, &reads);
  return reads;
}

po_reads
po_reads_part(po_lowering *low, const po_view *view, const gs_type *type,
              int64_t lo, int64_t n) {
  assert(type->access < type->rank && lo >= 0 && n >= 0);
  po_reads reads = {.dtype = type->dtype, .rank = type->rank};
  memcpy(reads.dim, type->dim, sizeof reads.dim);
  reads.dim[type->access] = n;
  po_pool_reserve(&low->scratch, 1);
  isl_multi_aff *map =
      isl_multi_aff_zero(po_map_space(low->isl, type->rank, type->rank));
  for (uint32_t d = 0; d < type->rank; d++)
    map = isl_multi_aff_set_aff(
        map, (int)d,
        po_index(low->isl, type->rank, d, 1, d == type->access ? lo : 0));
  glance g = {po_keep_multi_aff(&low->scratch, map), type->access, -1,
              lasts(low, view) ? PART : NOT_KNOWN, lo};
  add_all_seen(low, view, type, &g, &reads);
  return reads;
}

po_reads
po_reads_after_first(po_lowering *low, const po_view *view,
                     const gs_type *type) {
  po_reads reads = without_tuple(type);
  reads.dim[reads.rank++] =
      gs_plus(po_numbers_in(low->isl), type->dim[type->access], -1);
  glance g = {po_into_tuple(low, type, reads.rank, reads.rank - 1, 1),
              type->access, -1, lasts(low, view) ? AFTER_FIRST : NOT_KNOWN, 0};
  add_all_seen(low, view, type, &g, &reads);
  return reads;
}

static bool
may_meet(po_lowering *low, const po_reads *reads, __isl_keep isl_set *a,
         __isl_keep isl_set *b) {
  isl_set *both = isl_set_intersect(isl_set_copy(a), isl_set_copy(b));
  both = isl_set_intersect(both, po_box(low->isl, reads->dim, reads->rank));
  bool empty = isl_set_is_empty(both) == isl_bool_true;
  isl_set_free(both);
  return !empty;
}

void
po_reads_through(po_lowering *low, const po_view *view, const gs_type *type,
                 const po_piece *window, po_reads *reads) {
  if (window->from != PO_FROM_TERM) {
    add_read(low, window, reads, window->set, NULL, false);
    return;
  }
  uint32_t n = 0, first = reads->list.len;
  glance g = {window->map, 0, -1, NOT_KNOWN, 0};
  add_all_seen(low, view, type, &g, reads);
  for (uint32_t k = first; k < reads->list.len; k++) {
    po_read read = reads->list.data[k];
    if (!may_meet(low, reads, read.set, window->set))
      continue;
    po_pool_reserve(&low->scratch, 1);
    read.set = po_keep_set(
        &low->scratch,
        isl_set_intersect(isl_set_copy(read.set), isl_set_copy(window->set)));
    read.lasts = false;
    reads->list.data[first + n++] = read;
  }
  reads->list.len = first + n;
}

void
po_reads_done(po_lowering *low, po_reads *reads) {
  bs_vec_done(low->heap, &reads->list);
}

/* Splits every region by the pieces of one more operand. */
static po_regions
split(po_lowering *low, const po_regions *from, const po_reads *operand,
      uint32_t k) {
  po_regions out = {0};
  for (uint32_t i = 0; i < from->list.len; i++)
    for (uint32_t j = 0; j < operand->list.len; j++) {
      po_region region = from->list.data[i];
      region.read[k] = &operand->list.data[j];
      if (isl_set_plain_is_universe(region.read[k]->set) != isl_bool_true) {
        po_pool_reserve(&low->scratch, 1);
        isl_set *set = isl_set_intersect(isl_set_copy(region.set),
                                         isl_set_copy(region.read[k]->set));
        set = isl_set_coalesce(set);
        bool empty = isl_set_is_empty(set) == isl_bool_true;
        region.set = po_keep_set(&low->scratch, set);
        if (empty)
          continue;
      }
      bs_push(low->heap, &out.list, region);
    }
  return out;
}

po_regions
po_refine(po_lowering *low, const po_reads *operands, uint32_t n) {
  assert(operands && n);
  po_regions regions = {0};
  po_pool_reserve(&low->scratch, 1);
  isl_set *box = po_keep_set(
      &low->scratch, po_box(low->isl, operands[0].dim, operands[0].rank));
  bs_push(low->heap, &regions.list, (po_region){.set = box});
  for (uint32_t k = 0; k < n; k++) {
    po_regions finer = split(low, &regions, &operands[k], k);
    bs_vec_done(low->heap, &regions.list);
    regions = finer;
  }
  return regions;
}

void
po_regions_done(po_lowering *low, po_regions *regions) {
  bs_vec_done(low->heap, &regions->list);
}
