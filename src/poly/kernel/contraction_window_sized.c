/* SPDX-License-Identifier: MIT */
/* contraction_window_sized.c - images whose extents are made of sizes.
 *
 * Which loops walk along one axis is seen at the greatest sizes, and must be so
 * at all: strides are polynomials, whose ratio is an integer or is not.  Rows
 * of the copy are as long as the sizes of the call say.  What a step of the
 * other loops of k has, a plane, is one length for all calls, so that blocks
 * have one size: the call takes as many rows of the image as a plane has room
 * for, and a plane has room for the rows of one panel at any sizes.  Of an
 * image of x those are whole steps of its outermost loop, of which a plane has
 * room for one. */
#include "glenside/target/tuned.h"
#include "poly/kernel/contraction_plan.h"
#include <math.h>

/* ---- axes ---- */

static const po_cdims *
own_dims(const po_contraction *c, bool of_x) {
  return &c->dims[of_x ? PO_DIM_M : PO_DIM_N];
}

static gs_number
stride_of(const po_cdim *d, bool of_x) {
  return of_x ? d->x : d->y;
}

static bool
is_times(gs_sizes *s, int64_t by, gs_number unit, gs_number stride) {
  return gs_combine(&s->over, by, unit, 0, unit, 0) == stride;
}

/* The axis at the sizes of the plan is one at all. */
static bool
open_axis(gs_sizes *s, const po_contraction *c, bool of_x, uint32_t i,
          po_caxis *axis) {
  const po_cdims *n = own_dims(c, of_x);
  const po_cdim *along =
      axis->k == UINT32_MAX ? NULL : &c->dims[PO_DIM_K].d[axis->k];
  gs_number extent = n->d[i].extent;
  bool last = i + 1 == n->n;
  axis->unit = last           ? 1
               : axis->s == 1 ? stride_of(&n->d[i], of_x)
               : axis->d == 1 ? stride_of(along, of_x)
                              : axis->unit;
  axis->lo = 0;
  axis->hi = gs_combine(&s->over, axis->s, extent, 0, extent,
                        axis->window - axis->s - 1);
  return is_times(s, axis->s, axis->unit, stride_of(&n->d[i], of_x)) &&
         (!along || (is_times(s, axis->d, axis->unit, stride_of(along, of_x)) &&
                     !gs_is_sized(along->extent)));
}

/* One guard each bounds an axis from below and from above; what of these
 * bounds some point has is found by the call. */
static bool
open_guard(gs_sizes *s, bool of_x, po_contraction *c, const po_cguard *g,
           bool bound[PO_MAX_DIMS][2]) {
  uint32_t i = po_axis_of_guard(c, of_x, g);
  if (i == UINT32_MAX)
    return false;
  po_caxis *axis = &c->axes[i];
  int64_t f = g->factor[of_x ? PO_DIM_M : PO_DIM_N][i] / axis->s;
  gs_number at = gs_quotient(&s->over, g->constant, f > 0 ? f : -f);
  if (f > 0)
    axis->lo = gs_combine(&s->over, -1, at, 0, at, 0);
  else
    axis->hi = at;
  bool is_first = !bound[i][f > 0];
  bound[i][f > 0] = true;
  return is_first;
}

/* Loops of k but the outermost, which blocks cut, are known. */
static bool
knows_inner_k(const po_contraction *c) {
  for (uint32_t k = 1; k < c->dims[PO_DIM_K].n; k++)
    if (gs_is_sized(c->dims[PO_DIM_K].d[k].extent))
      return false;
  return true;
}

/* Room is made for what there is at the greatest sizes: no extent may be longer
 * at lesser ones, as that of 9 - n is. */
static bool
is_longest_at_most(gs_sizes *s, const po_cdims *at, const po_cdims *n) {
  for (uint32_t i = 0; i < n->n; i++)
    if (gs_most_of(s, n->d[i].extent) > at->d[i].extent)
      return false;
  return true;
}

bool
po_find_sized_windows(gs_sizes *s, const po_contraction *at, bool of_x,
                      po_contraction *c) {
  bool bound[PO_MAX_DIMS][2] = {{false}};
  const po_coperand *operand = of_x ? &c->x : &c->y;
  const po_cdims *n = own_dims(c, of_x);
  if (!knows_inner_k(c) || !is_longest_at_most(s, own_dims(at, of_x), n))
    return false;
  for (uint32_t i = 0; i < n->n; i++) {
    c->axes[i] = at->axes[i];
    if (!open_axis(s, c, of_x, i, &c->axes[i]))
      return false;
  }
  for (uint32_t g = 0; g < operand->n_guards; g++)
    if (!open_guard(s, of_x, c, &operand->guards[g], bound))
      return false;
  return true;
}

/* ---- room ---- */

/* Elements of a row of the copy for each column of one, at most. */
static double
spread_of(gs_sizes *s, const po_contraction *c) {
  const po_cdims *n = &c->dims[PO_DIM_N];
  const po_caxis *last = &c->axes[n->n - 1];
  double columns = (double)gs_least_of(s, n->d[n->n - 1].extent);
  double beside = (double)((last->window - 1) / last->s + c->lanes - 1);
  double spread = (double)po_phases_of(last) * (1 + beside / columns);
  for (uint32_t i = 1; i + 1 < n->n; i++) {
    const po_caxis *axis = &c->axes[i];
    double least = (double)gs_least_of(s, n->d[i].extent);
    spread *= fmax((double)axis->s + (double)(axis->window - axis->s) / least,
                   (double)axis->s);
  }
  return spread;
}

/* A panel has columns of at most two rows more than it has whole ones; a row
 * of the copy is longest at the greatest sizes, and has most elements a column
 * at the least. */
static int64_t
least_plane(gs_sizes *s, const po_contraction *at, const po_contraction *c,
            const po_cimage *image) {
  const po_caxis *first = &c->axes[0];
  double columns = (double)(c->nv * c->lanes - 1);
  if (po_image_of_x(c))
    return first->window * image->n[0];
  double rows = (double)first->s * columns * spread_of(s, c) +
                (double)(first->s + first->window) * (double)image->n[0];
  double whole =
      ((double)first->s * (double)(at->dims[PO_DIM_N].d[0].extent - 1) +
       (double)first->window) *
      (double)image->n[0];
  double least = rows < whole ? rows : whole;
  return least < GS_KERNEL_BLOCK ? (int64_t)least + 1 : GS_KERNEL_BLOCK;
}

/* Planes for one iteration of the outermost loop of k. */
static int64_t
inner_planes(const po_contraction *c) {
  int64_t planes = 1;
  for (uint32_t j = 1; j < c->dims[PO_DIM_K].n; j++)
    planes *= po_is_along_axis(c, j) ? 1 : c->dims[PO_DIM_K].d[j].extent;
  return planes;
}

/* A plane at the greatest sizes, as the plan is; along a single axis a tile may
 * be wider than all that there is of it. */
static int64_t
planned_plane(gs_sizes *s, const po_contraction *at, const po_contraction *c,
              const po_cimage *image) {
  po_cimage open;
  if (own_dims(c, po_image_of_x(c))->n == 1) {
    po_layout_image(&s->over, c, &open);
    return open.phases * open.phase;
  }
  for (uint32_t j = at->dims[PO_DIM_K].n; j-- > 0;)
    if (image->k[j])
      return max64(image->k[j], least_plane(s, at, c, image));
  return max64(image->size, least_plane(s, at, c, image));
}

/* Tiles of an image of x are whole steps of its outermost loop. */
static bool
fit_rows(const po_contraction *at, po_contraction *c) {
  const po_cdims *m = &at->dims[PO_DIM_M];
  if (!po_image_of_x(c) || m->n == 1 || !c->sized[PO_DIM_M])
    return true;
  c->mc = bs_round_up(c->mc, po_cdims_size(m) / m->d[0].extent);
  return !c->waits || c->mc * c->nc * bytes_of(c) <= GS_KERNEL_SUMS;
}

bool
po_fit_sized_image(gs_sizes *s, const po_contraction *at, po_contraction *c) {
  po_cimage image;
  if (!fit_rows(at, c))
    return false;
  po_layout_image(NULL, at, &image);
  c->plane = 1;
  c->plane = po_odd_lines(c, planned_plane(s, at, c, &image));
  int64_t room = GS_KERNEL_BLOCK / bytes_of(c) - (int64_t)c->nv * c->lanes;
  int64_t deep = room / (c->plane * inner_planes(c));
  if (deep < 1)
    return false;
  if (po_is_along_axis(c, 0) || deep >= c->kc)
    return true;
  if (c->waits || last_of(c, PO_DIM_N)->c != 1)
    return false;
  c->kc = deep;
  return true;
}
