/* SPDX-License-Identifier: MIT */
/* gather.c - look-ups: an address that the data decides.
 *
 * The table must lie in memory so that consecutive elements are one distance
 * apart; where its view does not, it is packed first.  The index is an
 * ordinary operand, cut into regions; out of range, it is clamped. */
#include "poly/loops/open.h"
#include "poly/lower/lower.h"
#include <assert.h>
#include <string.h>

typedef struct table {
  po_read first; /* the element 0, over the result's indices */
  int64_t stride, count;
} table;

/* Elements (s, c) of one affine piece lie `stride` apart in the order of c. */
static bool
has_one_stride(po_lowering *low, const po_reads *reads, uint32_t n_outer,
               int64_t *stride) {
  int64_t offset, strides[GS_MAX_RANK], dense[GS_MAX_RANK];
  if (reads->list.len != 1 || reads->list.data[0].constant ||
      !po_strided(reads->list.data[0].map,
                  &low->out->arrays.data[reads->list.data[0].array], &offset,
                  strides))
    return false;
  po_strides(reads->dim, reads->rank, dense);
  *stride = 0;
  for (uint32_t d = reads->rank; d-- > n_outer;) {
    if (reads->dim[d] == 1)
      continue;
    if (!*stride)
      *stride = strides[d] / dense[d];
    if (strides[d] != *stride * dense[d])
      return false;
  }
  return true;
}

/* [s, c] -> [s, 0] */
static isl_multi_aff *
first_of_table(po_lowering *low, const po_reads *reads, uint32_t n_outer) {
  uint32_t n = reads->rank;
  po_pool_reserve(&low->scratch, 1);
  isl_multi_aff *map = isl_multi_aff_zero(po_map_space(low->isl, n, n));
  for (uint32_t d = 0; d < n_outer; d++)
    map = isl_multi_aff_set_aff(map, (int)d, po_index(low->isl, n, d, 1, 0));
  return po_keep_multi_aff(&low->scratch, map);
}

static table
find_table(po_lowering *low, po_reads *reads, uint32_t n_outer, gs_term term) {
  table t = {.count = gs_prod(reads->dim + n_outer, reads->rank - n_outer)};
  if (has_one_stride(low, reads, n_outer, &t.stride)) {
    t.first = reads->list.data[0];
  } else {
    t.stride = 1;
    t.first.array = po_pack(low, reads, term);
    po_pool_reserve(&low->scratch, 1);
    t.first.map =
        po_keep_multi_aff(&low->scratch, po_identity(low->isl, reads->rank));
  }
  isl_multi_aff *first = first_of_table(low, reads, n_outer);
  po_pool_reserve(&low->scratch, 1);
  t.first.map = po_keep_multi_aff(
      &low->scratch,
      isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(t.first.map),
                                       isl_multi_aff_copy(first)));
  return t;
}

static void
emit_region(po_lowering *low, gs_term term, const table *t,
            const po_region *region, const po_reads *index) {
  const po_placement *placement = po_placement_of(low, term);
  po_target target = {placement->array, placement->map};
  uint32_t first = low->out->stmts.len;
  po_body body = {.low = low};
  uint32_t at = po_put_read(&body, index->dtype, region->read[0]);
  po_expr *e = po_put_expr(&body, PO_GATHER, index->dtype);
  e->array = t->first.array;
  e->stride = t->stride;
  e->count = t->count;
  e->kids[e->n_kids++] = at;
  bs_last(&body.maps) = t->first.map;
  po_add_stmt(&body, PO_ASSIGN, 0, region->set, index->rank, &target, term);
  po_add_nest(low, first, index->rank, false);
}

/* Where the operand is one list, the table is its beginning. */
static po_reads
part_of(po_lowering *low, gs_term term, uint32_t item) {
  const bs_values *values = low->source->ctx.values;
  const gs_node *node = gs_at(low->source, term);
  const po_view *view = &low->views.of[node->kids[0].i];
  bs_value o = bs_item(values, node->attr, 0);
  gs_compute op = GS_C_GATHER;
  gs_type type;
  gs_type_at(low->source, node->kids[0], &type);
  gs_compute_of(values, o, &op);
  if (op != GS_C_LOOKUP)
    return po_reads_item(low, view, &type, item);
  int64_t n = gs_lookup_table(values, o);
  gs_number rest = gs_plus(po_numbers_in(low->isl), type.dim[type.access], -n);
  return item ? po_reads_part(low, view, &type, n, rest)
              : po_reads_part(low, view, &type, 0, n);
}

void
po_emit_gather(po_lowering *low, gs_term term) {
  assert(gs_at(low->source, term)->op == GS_COMPUTE);
  gs_type type;
  gs_type_at(low->source, term, &type);
  po_reads values = part_of(low, term, 0), index = part_of(low, term, 1);
  table t = find_table(low, &values, type.access, term);
  po_regions regions = po_refine(low, &index, 1);
  for (uint32_t k = 0; k < regions.list.len; k++)
    emit_region(low, term, &t, &regions.list.data[k], &index);
  po_regions_done(low, &regions);
  po_reads_done(low, &values);
  po_reads_done(low, &index);
}
