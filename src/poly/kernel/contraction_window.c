/* SPDX-License-Identifier: MIT */
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
 * side by side in y, and guards of other loops are left to contract_pack.c.
 *
 * The operand whose elements are broadcast, x, has such an image as well, with
 * its loops of m for those of n; so it has where k has no loop along an axis.
 * No panel of it is ever packed: its rows are a part of a line of the image, or
 * whole lines, and so at the same distances in all panels. */
#include "glenside/target/tuned.h"
#include "poly/loops/affine.h"
#include "poly/kernel/contraction.h"
#include "base/whole.h"
#include <assert.h>
#include <math.h>

#define MAX_WINDOW 4096 /* points of k in a block, positions of a loop of k */

/* ---- whose image ---- */

static int64_t
stride(const po_cdim *d, bool x) {
  return x ? d->x : d->y;
}

static po_dim_role
role_of(bool x) {
  return x ? PO_DIM_M : PO_DIM_N;
}

bool
po_image_of_x(const po_contraction *c) {
  return c->x_mode == PO_WINDOWS;
}

/* The loops of c along the image. */
static const po_cdims *
own_dims(const po_contraction *c) {
  return &c->dims[role_of(po_image_of_x(c))];
}

/* ---- axes ---- */

/* Of the innermost loop only every s-th position is copied. */
static po_caxis
alone(const po_cdim *n, bool x, bool last) {
  int64_t step = stride(n, x);
  po_caxis axis = {.k = UINT32_MAX, .s = 1, .unit = step, .window = 1};
  if (last) {
    axis.s = step;
    axis.unit = 1;
  }
  axis.hi = axis.s * (n->extent - 1);
  return axis;
}

static po_caxis
paired(const po_cdim *n, const po_cdim *k, bool x, uint32_t which) {
  int64_t unit = bs_gcd(stride(n, x), stride(k, x));
  po_caxis axis = {.k = which,
                   .s = stride(n, x) / unit,
                   .d = stride(k, x) / unit,
                   .unit = unit};
  axis.window = axis.d * (k->extent - 1) + 1;
  axis.hi = axis.s * (n->extent - 1) + axis.window - 1;
  return axis;
}

/* Each loop of n with the loop of k that makes the shortest axis, where that is
 * shorter than all pairs of their points. */
static bool
find_axes(po_contraction *c, bool x) {
  const po_cdims *n = &c->dims[role_of(x)], *k = &c->dims[PO_DIM_K];
  uint32_t taken = 0;
  for (uint32_t i = 0; i < n->n; i++) {
    if (stride(&n->d[i], x) <= 0)
      return false;
    c->axes[i] = alone(&n->d[i], x, i + 1 == n->n);
    int64_t shortest = INT64_MAX;
    for (uint32_t j = 0; j < k->n; j++) {
      if (stride(&k->d[j], x) <= 0 || k->d[j].extent > MAX_WINDOW ||
          taken >> j & 1)
        continue;
      po_caxis axis = paired(&n->d[i], &k->d[j], x, j);
      if (axis.hi < n->d[i].extent * k->d[j].extent - 1 && axis.hi < shortest) {
        shortest = axis.hi;
        c->axes[i] = axis;
      }
    }
    if (c->axes[i].k != UINT32_MAX)
      taken |= 1u << c->axes[i].k;
  }
  return (taken || x) && c->axes[n->n - 1].unit == 1;
}

uint32_t
po_axis_of_guard(const po_contraction *c, bool x, const po_cguard *g) {
  po_dim_role own = role_of(x), other = role_of(!x);
  uint32_t found = UINT32_MAX, named = 0;
  for (uint32_t k = 0; k < PO_MAX_DIMS; k++) {
    if (g->factor[PO_DIM_O][k] || g->factor[other][k])
      return UINT32_MAX;
    named += (g->factor[own][k] != 0) + (g->factor[PO_DIM_K][k] != 0);
  }
  for (uint32_t i = 0; i < c->dims[own].n; i++) {
    const po_caxis *axis = &c->axes[i];
    int64_t f = g->factor[own][i];
    int64_t along = axis->k == UINT32_MAX ? 0 : g->factor[PO_DIM_K][axis->k];
    uint32_t names = 1 + (axis->k != UINT32_MAX);
    if (f && f % axis->s == 0 && f / axis->s * axis->d == along &&
        names == named)
      found = i;
  }
  return found;
}

static bool
put_guard(po_contraction *c, bool x, const po_cguard *g) {
  uint32_t i = po_axis_of_guard(c, x, g);
  if (i == UINT32_MAX)
    return false;
  po_caxis *axis = &c->axes[i];
  int64_t f = g->factor[role_of(x)][i] / axis->s;
  int64_t least = -bs_floor_div(g->constant, f > 0 ? f : 1);
  int64_t most = f < 0 ? bs_floor_div(g->constant, -f) : axis->hi;
  if (f > 0 && least > axis->lo)
    axis->lo = least;
  if (most < axis->hi)
    axis->hi = most;
  return true;
}

/* The ends of the part become positions that some n and k have: what lies
 * between them is in the array. */
static bool
tighten(po_contraction *c, bool x, uint32_t i) {
  assert(i < c->dims[role_of(x)].n);
  po_caxis *axis = &c->axes[i];
  int64_t points =
      axis->k == UINT32_MAX ? 1 : c->dims[PO_DIM_K].d[axis->k].extent;
  int64_t last = c->dims[role_of(x)].d[i].extent - 1;
  int64_t lo = INT64_MAX, hi = -1;
  for (int64_t k = 0; k < points; k++) {
    int64_t first = -bs_floor_div(axis->d * k - axis->lo, axis->s);
    int64_t end = bs_floor_div(axis->hi - axis->d * k, axis->s);
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
po_find_windows(po_contraction *c, bool x) {
  const po_cdims *n = &c->dims[role_of(x)];
  const po_coperand *operand = x ? &c->x : &c->y;
  if (!n->n || !find_axes(c, x))
    return false;
  for (uint32_t g = 0; g < operand->n_guards; g++)
    if (!put_guard(c, x, &operand->guards[g]))
      return false;
  for (uint32_t i = 0; i < n->n; i++)
    if (!tighten(c, x, i))
      return false;
  return true;
}

/* ---- panels of x ---- */

int64_t
po_line_of(const po_contraction *c, int64_t mr) {
  assert(mr >= 1);
  const po_cdims *m = &c->dims[PO_DIM_M];
  int64_t inner = 1, line = 1;
  if (m->n && c->sized[PO_DIM_M] && !c->known[PO_DIM_M])
    return m->d[m->n - 1].extent;
  for (uint32_t i = m->n; i-- > 0 && line < mr;) {
    if (c->sized[PO_DIM_M] && m->n - i > c->known[PO_DIM_M])
      return 0;
    inner = line;
    line *= m->d[i].extent;
  }
  return mr <= line && mr % inner == 0 ? line : 0;
}

/* ---- the copy ---- */

int64_t
po_phases_of(const po_caxis *last) {
  return last->s < last->window ? last->s : last->window;
}

double
po_lines_of(const po_contraction *c, int64_t mr) {
  assert(mr >= 0 && c->dims[PO_DIM_M].n);
  const po_cdims *m = &c->dims[PO_DIM_M];
  const po_caxis *last = &c->axes[m->n - 1];
  double line = (double)c->cache_line / (double)gs_dtype_table[c->dtype].bytes;
  int64_t extent = m->d[m->n - 1].extent, pieces = 1;
  if (mr > extent)
    pieces = mr / extent;
  double touched =
      (double)pieces * (1 + ((double)mr / (double)pieces - 1) / line);
  if (last->k == UINT32_MAX)
    return touched;
  double points = (double)c->dims[PO_DIM_K].d[last->k].extent;
  return touched * fmin(1, (double)po_phases_of(last) / points);
}

uint32_t
po_axis_along(const po_contraction *c, uint32_t k) {
  for (uint32_t i = 0; i < own_dims(c)->n; i++)
    if (c->axes[i].k == k)
      return i;
  return UINT32_MAX;
}

bool
po_is_along_axis(const po_contraction *c, uint32_t k) {
  return po_axis_along(c, k) != UINT32_MAX;
}

/* Points of each loop in a copy, wherever it begins: only the outermost is
 * cut. */
static int64_t
points_of(const po_contraction *c, uint32_t i) {
  assert(i < own_dims(c)->n);
  const po_cdims *n = own_dims(c);
  int64_t inner = po_cdims_size(n) / n->d[0].extent;
  int64_t of = po_image_of_x(c) ? c->mb : c->nc;
  int64_t most = of % inner ? (of + inner - 2) / inner + 1 : of / inner;
  return i || most > n->d[0].extent ? n->d[i].extent : most;
}

static int64_t
positions_of(const po_contraction *c, uint32_t i) {
  return c->axes[i].s * (points_of(c, i) - 1) + c->axes[i].window;
}

int64_t
po_odd_lines(const po_contraction *c, int64_t elements) {
  assert(elements >= 0 && c->cache_line >= gs_dtype_table[c->dtype].bytes);
  int64_t line = c->cache_line / gs_dtype_table[c->dtype].bytes;
  return ((elements + line - 1) / line | 1) * line;
}

/* Of the innermost axis, in a row of the copy. */
static gs_number
columns_of(const gs_numbers *over, const po_contraction *c, uint32_t last) {
  assert(last < own_dims(c)->n);
  const po_caxis *axis = &c->axes[last];
  gs_number points = !over              ? points_of(c, last)
                     : last             ? own_dims(c)->d[last].extent
                     : po_image_of_x(c) ? c->mb
                                        : c->nc;
  return gs_plus(over, points, (axis->window - 1) / axis->s);
}

/* Of axes inside the outermost, which are never cut. */
static gs_number
whole_axis(const gs_numbers *over, const po_contraction *c, uint32_t i) {
  assert(i < own_dims(c)->n);
  const po_caxis *axis = &c->axes[i];
  gs_number n = own_dims(c)->d[i].extent;
  return gs_combine(over, axis->s, n, 0, n, axis->window - axis->s);
}

void
po_layout_image(const gs_numbers *over, const po_contraction *c,
                po_cimage *out) {
  const po_cdims *n = own_dims(c), *k = &c->dims[PO_DIM_K];
  uint32_t last = n->n - 1;
  int64_t lanes = c->lanes;
  *out = (po_cimage){.columns = columns_of(over, c, last),
                     .phases = po_phases_of(&c->axes[last])};
  gs_number vectors =
      gs_quotient(over, gs_plus(over, out->columns, lanes - 1), lanes);
  out->phase = gs_combine(over, lanes, vectors, 0, vectors, 0);
  out->n[last] = 1;
  gs_number row = gs_combine(over, out->phases, out->phase, 0, out->phase, 0);
  for (uint32_t i = last; i-- > 0;) {
    out->n[i] = row;
    row = i ? gs_product(over, row, whole_axis(over, c, i)) : row;
  }
  int64_t size = c->plane ? c->plane : last ? row * positions_of(c, 0) : row;
  for (uint32_t j = k->n; j-- > 0;) {
    if (po_is_along_axis(c, j) || !stride(&k->d[j], po_image_of_x(c)))
      continue;
    out->k[j] = po_odd_lines(c, size);
    size = out->k[j] * (j ? k->d[j].extent : c->kc);
  }
  out->size = size + (int64_t)c->nv * c->lanes;
}

bool
po_image_fits(const po_contraction *c, int64_t bytes) {
  assert(bytes >= 0);
  const po_cdims *n = own_dims(c), *k = &c->dims[PO_DIM_K];
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
  po_layout_image(NULL, c, &image);
  return image.size * gs_dtype_table[c->dtype].bytes <= bytes;
}

/* ---- rows as they lie ---- */

bool
po_stays_in_place(const po_contraction *c, int64_t cache, int64_t depth) {
  assert(c->lanes && c->cache_ways > 0);
  const po_cdims *k = &c->dims[PO_DIM_K], *n = &c->dims[PO_DIM_N];
  if (c->y.n_guards || c->ragged[PO_DIM_N] || k->n != 1 || n->n != 1 ||
      n->d[0].y != 1 || n->d[0].extent % c->lanes || k->d[0].y <= 0)
    return false;
  int64_t bytes = gs_dtype_table[c->dtype].bytes, row = k->d[0].y * bytes;
  int64_t panel = (int64_t)c->nv * c->lanes * bytes, ways = c->cache_ways;
  int64_t way = cache / ways;
  int64_t apart = row & -row;
  return bs_round_up(panel, c->cache_line) * depth <= cache / 2 &&
         (apart >= way ? depth <= ways / 2 : way / apart * ways >= 2 * depth);
}

/* ---- cost ---- */

/* The part of panels of so many columns that lie within a row of the image:
 * they begin at multiples of their width, which fall on each multiple of the
 * greatest common divisor of width and row equally often. */
static double
within_rows(int64_t width, int64_t row) {
  assert(width > 0 && row > 0);
  int64_t apart = bs_gcd(width, row);
  return width > row
             ? 0
             : (double)((row - width) / apart + 1) / (double)(row / apart);
}

/* The mean for rows of any length up to the longest, of no common divisor. */
static double
within_any(int64_t width, int64_t longest) {
  double sum = 0;
  for (int64_t part = 1; part <= PO_LENGTHS; part++) {
    int64_t row = bs_ceil_div(longest * part, PO_LENGTHS);
    sum += width > row ? 0 : (double)(row - width + 1) / (double)row;
  }
  return sum / PO_LENGTHS;
}

/* For an element of all panels of x. */
static double
blend_cycles(const po_contraction *c) {
  assert(c->mr && c->lanes);
  int64_t m = po_cdims_size(&c->dims[PO_DIM_M]);
  return GS_IMAGE_BLEND * (double)bs_ceil_div(m, c->mr) / (double)c->lanes;
}

bool
po_blends_rows(const po_contraction *c) {
  const po_cdims *n = &c->dims[PO_DIM_N];
  int64_t width = (int64_t)c->nv * c->lanes;
  if (n->n < 2 || c->sized[PO_DIM_M] || c->sized[PO_DIM_N])
    return false;
  int64_t row = n->d[n->n - 1].extent;
  return row >= c->lanes && row % width && blend_cycles(c) < GS_IMAGE_PANEL;
}

double
po_window_cycles(const po_contraction *c, bool for_all_sizes) {
  const po_cdims *n = own_dims(c), *k = &c->dims[PO_DIM_K];
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
  const po_caxis *last = &c->axes[n->n - 1];
  double positions = (double)(last->hi + 1);
  double padding =
      elements * (GS_IMAGE_ELEMENT +
                  GS_IMAGE_RUN / positions * (double)po_phases_of(last));
  if (po_image_of_x(c))
    return padding;
  int64_t row = n->d[n->n - 1].extent;
  int64_t width = (int64_t)c->nv * c->lanes;
  bool any = for_all_sizes && c->sized[PO_DIM_N] && !c->known[PO_DIM_N];
  double within = any ? within_any(width, row) : within_rows(width, row);
  double element = po_blends_rows(c) ? blend_cycles(c) : GS_IMAGE_PANEL;
  return padding + element * (1 - within) * windows * points;
}
