/* contraction_window.c - images whose windows are read where they lie.
 *
 * Where a loop of n and a loop of k walk along one axis of y, as those of a
 * convolution do, most elements are of many windows.  Instead of each window,
 * what a tile needs of the image is copied once, with zeros where guards do not
 * hold; element (n, k) is then at place(n) + at(k):
 *
 *   axis       positions p = s * n + d * k, `unit` elements of y each
 *   guards     each names one axis, as a function of p: a part of the axis
 *   phases     the innermost axis is split into positions p with equal
 *              p mod s, so that neighbours along n lie side by side
 *
 * After "The indirect convolution algorithm" (Dukhan, 2019), whose table of
 * pointers is a table of offsets here.  Innermost axes whose positions are not
 * side by side in y, and guards of other loops are left to contract_pack.c. */
#include "poly/affine.h"
#include "poly/contraction.h"
#include <math.h>

#define MAX_WINDOW 4096 /* points of k in a block, positions of a loop of k */
#define LINE       64
#define WAYS       8

static int64_t
round_up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

/* ---- axes ---- */

static po_caxis
alone(const po_cdim *n) {
  return (po_caxis){
      .k = UINT32_MAX, .s = 1, .unit = n->y, .window = 1, .hi = n->extent - 1};
}

static po_caxis
paired(const po_cdim *n, const po_cdim *k, uint32_t which) {
  int64_t unit = po_gcd(n->y, k->y);
  po_caxis axis = {
      .k = which, .s = n->y / unit, .d = k->y / unit, .unit = unit};
  axis.window = axis.d * (k->extent - 1) + 1;
  axis.hi = axis.s * (n->extent - 1) + axis.window - 1;
  return axis;
}

/* Each loop of n with the loop of k that makes the shortest axis, where that is
 * shorter than all pairs of their points. */
static bool
find_axes(po_contraction *c) {
  const po_cdims *n = &c->dims[PO_DIM_N], *k = &c->dims[PO_DIM_K];
  uint32_t taken = 0;
  for (uint32_t i = 0; i < n->n; i++) {
    if (n->d[i].y <= 0)
      return false;
    c->axes[i] = alone(&n->d[i]);
    int64_t shortest = INT64_MAX;
    for (uint32_t j = 0; j < k->n; j++) {
      if (k->d[j].y <= 0 || k->d[j].extent > MAX_WINDOW || taken >> j & 1)
        continue;
      po_caxis axis = paired(&n->d[i], &k->d[j], j);
      if (axis.hi < n->d[i].extent * k->d[j].extent - 1 && axis.hi < shortest) {
        shortest = axis.hi;
        c->axes[i] = axis;
      }
    }
    if (c->axes[i].k != UINT32_MAX)
      taken |= 1u << c->axes[i].k;
  }
  return taken && c->axes[n->n - 1].unit == 1;
}

/* The axis that a guard names, or UINT32_MAX. */
static uint32_t
axis_of(const po_contraction *c, const po_cguard *g) {
  uint32_t found = UINT32_MAX, named = 0;
  for (uint32_t k = 0; k < PO_MAX_DIMS; k++) {
    if (g->factor[PO_DIM_O][k] || g->factor[PO_DIM_M][k])
      return UINT32_MAX;
    named += (g->factor[PO_DIM_N][k] != 0) + (g->factor[PO_DIM_K][k] != 0);
  }
  for (uint32_t i = 0; i < c->dims[PO_DIM_N].n; i++) {
    const po_caxis *axis = &c->axes[i];
    int64_t f = g->factor[PO_DIM_N][i];
    int64_t along = axis->k == UINT32_MAX ? 0 : g->factor[PO_DIM_K][axis->k];
    uint32_t names = 1 + (axis->k != UINT32_MAX);
    if (f && f % axis->s == 0 && f / axis->s * axis->d == along &&
        names == named)
      found = i;
  }
  return found;
}

static bool
put_guard(po_contraction *c, const po_cguard *g) {
  uint32_t i = axis_of(c, g);
  if (i == UINT32_MAX)
    return false;
  po_caxis *axis = &c->axes[i];
  int64_t f = g->factor[PO_DIM_N][i] / axis->s;
  int64_t least = -po_floor_div(g->constant, f > 0 ? f : 1);
  int64_t most = f < 0 ? po_floor_div(g->constant, -f) : axis->hi;
  if (f > 0 && least > axis->lo)
    axis->lo = least;
  if (most < axis->hi)
    axis->hi = most;
  return true;
}

/* The ends of the part become positions that some n and k have: what lies
 * between them is in the array. */
static bool
tighten(const po_contraction *c, uint32_t i) {
  po_caxis *axis = (po_caxis *)&c->axes[i];
  int64_t points =
      axis->k == UINT32_MAX ? 1 : c->dims[PO_DIM_K].d[axis->k].extent;
  int64_t last = c->dims[PO_DIM_N].d[i].extent - 1;
  int64_t lo = INT64_MAX, hi = -1;
  for (int64_t k = 0; k < points; k++) {
    int64_t first = -po_floor_div(axis->d * k - axis->lo, axis->s);
    int64_t end = po_floor_div(axis->hi - axis->d * k, axis->s);
    first = first > 0 ? first : 0;
    end = end < last ? end : last;
    if (first > end)
      continue;
    int64_t from = axis->s * first + axis->d * k;
    int64_t to = axis->s * end + axis->d * k;
    lo = from < lo ? from : lo;
    hi = to > hi ? to : hi;
  }
  axis->lo = lo;
  axis->hi = hi;
  return lo <= hi;
}

bool
po_find_windows(po_contraction *c) {
  const po_cdims *n = &c->dims[PO_DIM_N];
  if (!n->n || !find_axes(c))
    return false;
  for (uint32_t g = 0; g < c->y.n_guards; g++)
    if (!put_guard(c, &c->y.guards[g]))
      return false;
  for (uint32_t i = 0; i < n->n; i++)
    if (!tighten(c, i))
      return false;
  return true;
}

/* ---- the copy ---- */

bool
po_is_along_axis(const po_contraction *c, uint32_t k) {
  for (uint32_t i = 0; i < c->dims[PO_DIM_N].n; i++)
    if (c->axes[i].k == k)
      return true;
  return false;
}

/* Points of each loop of n in a tile, wherever it begins: only the outermost is
 * cut. */
static int64_t
points_of(const po_contraction *c, uint32_t i) {
  const po_cdims *n = &c->dims[PO_DIM_N];
  int64_t inner = po_cdims_size(n) / n->d[0].extent;
  int64_t most =
      c->nc % inner ? (c->nc + inner - 2) / inner + 1 : c->nc / inner;
  return i || most > n->d[0].extent ? n->d[i].extent : most;
}

static int64_t
positions_of(const po_contraction *c, uint32_t i) {
  return c->axes[i].s * (points_of(c, i) - 1) + c->axes[i].window;
}

/* An odd number of lines, lest all fall into the same sets of a cache. */
static int64_t
odd_lines(int64_t elements, int64_t bytes) {
  int64_t line = LINE / bytes;
  return ((elements + line - 1) / line | 1) * line;
}

void
po_layout_image(const po_contraction *c, po_cimage *out) {
  const po_cdims *n = &c->dims[PO_DIM_N], *k = &c->dims[PO_DIM_K];
  const po_caxis *last = &c->axes[n->n - 1];
  int64_t bytes = gs_dtype_table[c->dtype].bytes;
  *out = (po_cimage){.columns =
                         points_of(c, n->n - 1) + (last->window - 1) / last->s,
                     .phases = last->s < last->window ? last->s : last->window};
  out->phase = round_up(out->columns, c->lanes);
  int64_t size = out->phases * out->phase;
  out->n[n->n - 1] = 1;
  for (uint32_t i = n->n - 1; i-- > 0; size *= positions_of(c, i))
    out->n[i] = size;
  for (uint32_t j = k->n; j-- > 0;) {
    if (po_is_along_axis(c, j) || !k->d[j].y)
      continue;
    out->k[j] = odd_lines(size, bytes);
    size = out->k[j] * (j ? k->d[j].extent : c->kc);
  }
  out->size = size + (int64_t)c->nv * c->lanes;
}

bool
po_image_fits(const po_contraction *c, int64_t bytes) {
  const po_cdims *n = &c->dims[PO_DIM_N], *k = &c->dims[PO_DIM_K];
  double elements = 1, points = (double)c->kc;
  for (uint32_t i = 0; i < n->n; i++)
    elements *= (double)positions_of(c, i);
  for (uint32_t j = 0; j < k->n; j++) {
    points *= j ? (double)k->d[j].extent : 1;
    if (!po_is_along_axis(c, j))
      elements *= (double)(j ? k->d[j].extent : c->kc);
  }
  if (points > MAX_WINDOW || elements > (double)bytes)
    return false;
  po_cimage image;
  po_layout_image(c, &image);
  return image.size * gs_dtype_table[c->dtype].bytes <= bytes;
}

/* ---- rows as they lie ---- */

bool
po_stays_in_place(const po_contraction *c, int64_t cache, int64_t depth) {
  const po_cdims *k = &c->dims[PO_DIM_K], *n = &c->dims[PO_DIM_N];
  if (c->y.n_guards || k->n != 1 || n->n != 1 || n->d[0].y != 1 ||
      n->d[0].extent % c->lanes || k->d[0].y <= 0)
    return false;
  int64_t bytes = gs_dtype_table[c->dtype].bytes, row = k->d[0].y * bytes;
  int64_t panel = (int64_t)c->nv * c->lanes * bytes, way = cache / WAYS;
  int64_t apart = row & -row;
  return round_up(panel, LINE) * depth <= cache / 2 &&
         (apart >= way ? depth <= WAYS / 2 : way / apart * WAYS >= 2 * depth);
}

/* ---- cost ---- */

/* Cycles: an element of the image, of a panel copied from it. */
#define PAD_ELEMENT  0.6
#define COPY_ELEMENT 0.35

double
po_window_cycles(const po_contraction *c) {
  const po_cdims *n = &c->dims[PO_DIM_N], *k = &c->dims[PO_DIM_K];
  double elements = 1, points = 1, windows = 1;
  for (uint32_t i = 0; i < n->n; i++) {
    elements *= (double)c->axes[i].s * (double)(n->d[i].extent - 1) +
                (double)c->axes[i].window;
    windows *= (double)n->d[i].extent;
  }
  for (uint32_t j = 0; j < k->n; j++) {
    points *= (double)k->d[j].extent;
    if (!po_is_along_axis(c, j))
      elements *= (double)k->d[j].extent;
  }
  double width = (double)c->nv * c->lanes;
  double row = (double)n->d[n->n - 1].extent;
  double within = floor(row / width) * width / row;
  return PAD_ELEMENT * elements +
         COPY_ELEMENT * (1 - within) * windows * points;
}
