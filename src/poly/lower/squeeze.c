/* SPDX-License-Identifier: MIT */
/* squeeze.c - dimensions of one element are no loops.
 *
 * An image of a batch of one, or what a rule has shaped so that it can be put
 * beside others, would get loops of one iteration.  They cost isl time in all
 * that follows, and loops of two nests that could be one would not stand at the
 * same place. */
#include "poly/lower/lower.h"
#include <assert.h>

/* Of n dimensions, those that go; one of them stays in any case. */
uint32_t
po_find_units(const int64_t *dim, uint32_t n, bool *unit) {
  assert(n <= GS_MAX_RANK);
  uint32_t kept = 0;
  for (uint32_t d = 0; d < n; d++) {
    unit[d] = dim[d] == 1;
    kept += !unit[d];
  }
  if (n && !kept) {
    unit[n - 1] = false;
    kept = 1;
  }
  return kept;
}

/* { the indices that stay -> all n }; kept in scratch. */
static isl_multi_aff *
embedding(po_lowering *low, const bool *unit, uint32_t n) {
  uint32_t kept = 0;
  for (uint32_t d = 0; d < n; d++)
    kept += !unit[d];
  isl_multi_aff *at = isl_multi_aff_zero(po_map_space(low->isl, kept, n));
  for (uint32_t d = 0, k = 0; d < n; d++)
    if (!unit[d])
      at = isl_multi_aff_set_aff(at, (int)d,
                                 po_index(low->isl, kept, k++, 1, 0));
  po_pool_reserve(&low->scratch, 1);
  return po_keep_multi_aff(&low->scratch, at);
}

static isl_multi_aff *
through(po_lowering *low, __isl_keep isl_multi_aff *map,
        __isl_keep isl_multi_aff *at) {
  po_pool_reserve(&low->scratch, 1);
  return po_keep_multi_aff(
      &low->scratch, isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(map),
                                                      isl_multi_aff_copy(at)));
}

void
po_squeeze_reads(po_lowering *low, const bool *unit, po_reads *reads) {
  isl_multi_aff *at = embedding(low, unit, reads->rank);
  for (uint32_t k = 0; k < reads->list.len; k++) {
    po_read *read = &reads->list.data[k];
    po_pool_reserve(&low->scratch, 1);
    read->lasts = false;
    read->set = po_keep_set(&low->scratch,
                            isl_set_preimage_multi_aff(isl_set_copy(read->set),
                                                       isl_multi_aff_copy(at)));
    if (!read->constant)
      read->map = through(low, read->map, at);
  }
  uint32_t kept = 0;
  for (uint32_t d = 0; d < reads->rank; d++)
    if (!unit[d])
      reads->dim[kept++] = reads->dim[d];
  reads->rank = kept;
}

void
po_squeeze_target(po_lowering *low, const bool *unit, uint32_t n,
                  po_target *target) {
  assert(n <= GS_MAX_RANK);
  target->map = through(low, target->map, embedding(low, unit, n));
}
