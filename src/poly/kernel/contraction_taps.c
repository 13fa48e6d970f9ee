/* SPDX-License-Identifier: MIT */
/* contraction_taps.c - products with the padding, which kernels leave out.
 *
 * A panel of an image of x has whole rows of pixels, or a part of one.  Where a
 * loop of k walks along an axis, the padding holds some of the taps:
 *
 *   outer axes   taps that are in the padding for all rows of the panel are
 *                left out: those of an interval remain
 *   innermost    its taps are written out, each with the rows that it has in
 *                the array, if panels have whole rows of pixels
 *
 * At 7 x 7 pixels, 3 x 3 filters have a fifth of their products there. */
#include "glenside/target/tuned.h"
#include "poly/kernel/contraction_taps.h"
#include <assert.h>

/* Pairs of an index and a tap that are counted; of a longer axis the padding is
 * next to nothing. */
#define MOST_PAIRS (1 << 16)

static const po_cdims *
rows_of(const po_contraction *c) {
  return &c->dims[PO_DIM_M];
}

int64_t
po_span_of(const po_contraction *c, uint32_t i, int64_t mr) {
  assert(i < rows_of(c)->n && mr >= 1);
  int64_t inner = po_cdims_product(NULL, rows_of(c), i + 1);
  int64_t extent = rows_of(c)->d[i].extent;
  int64_t span = mr / inner > 1 ? mr / inner : 1;
  return span < extent ? span : extent;
}

uint32_t
po_written_taps(const po_contraction *c) {
  return rows_of(c)->n ? c->axes[rows_of(c)->n - 1].k : UINT32_MAX;
}

bool
po_is_inside(const po_caxis *axis, int64_t index, int64_t tap) {
  int64_t position = axis->s * index + axis->d * tap;
  return position >= axis->lo && position <= axis->hi;
}

/* Of all pairs of an index and a tap, the part that a panel has which takes so
 * many indices at a time. */
static double
part_of_axis(const po_contraction *c, uint32_t i, int64_t mr) {
  assert(i < rows_of(c)->n);
  const po_caxis *axis = &c->axes[i];
  int64_t extent = rows_of(c)->d[i].extent, span = po_span_of(c, i, mr);
  bool last = i + 1 == rows_of(c)->n;
  if (axis->k == UINT32_MAX || (last && span < extent))
    return 1;
  int64_t taps = c->dims[PO_DIM_K].d[axis->k].extent, inside = 0;
  int64_t group = last ? 1 : span; /* indices that have the same taps */
  if (extent > MOST_PAIRS / taps)
    return 1;
  for (int64_t first = 0; first < extent; first += group)
    for (int64_t tap = 0; tap < taps; tap++) {
      int64_t end = first + group < extent ? first + group : extent;
      bool any = false;
      for (int64_t k = first; k < end; k++)
        any |= po_is_inside(axis, k, tap);
      inside += any ? end - first : 0;
    }
  return (double)inside / (double)(extent * taps);
}

/* Loops of k that a kernel can run one inside the other. */
static bool
has_loops(const po_contraction *c, int64_t mr, int64_t nv) {
  const po_cdims *k = &c->dims[PO_DIM_K];
  uint32_t written = po_written_taps(c);
  return !c->keeps_padding && po_image_of_x(c) && !c->sized[PO_DIM_M] &&
         !c->sized[PO_DIM_K] && k->n > 1 && written != 0 &&
         (written == UINT32_MAX ||
          k->d[written].extent <= GS_KERNEL_WRITTEN / (mr * nv));
}

double
po_part_inside(const po_contraction *c, int64_t mr, int64_t nv) {
  assert(mr >= 1 && nv >= 1);
  double part = 1;
  if (!has_loops(c, mr, nv))
    return part;
  for (uint32_t i = 0; i < rows_of(c)->n; i++)
    part *= part_of_axis(c, i, mr);
  return part;
}

bool
po_leaves_out_padding(const po_contraction *c) {
  return po_part_inside(c, c->mr, c->nv) < 1;
}
