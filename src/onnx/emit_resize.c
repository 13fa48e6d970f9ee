/* SPDX-License-Identifier: MIT */
/* emit_resize.c - images of another size.
 *
 * Along an axis, an element of the result is a sum of few elements with
 * weights that depend on its place alone.  Where each element becomes a whole
 * number of new ones these weights repeat: then it is a convolution of the
 * axis, its edges repeated, with one small filter for each of the new ones.
 * Else it is a product with a matrix. */
#include "onnx/onnx_import.h"

#include <math.h>
#include <string.h>

typedef enum coordinates {
  HALF_PIXEL,
  ALIGN_CORNERS,
  ASYMMETRIC,
  PYTORCH_HALF_PIXEL,
  HALF_PIXEL_SYMMETRIC,
  TF_HALF_PIXEL,
  CROP_AND_RESIZE
} coordinates;

/* What the attributes say: an axis may have many elements to be placed. */
typedef struct sampling {
  coordinates coordinates;
  bool is_nearest, is_linear; /* else cubic */
  bool excludes;              /* what is beyond the edges has no weight */
  double (*nearest)(double);
  double a; /* of cubic filters */
} sampling;

typedef struct axis_map {
  int64_t from, to; /* sizes */
  double scale;
  sampling by;
  double first, last; /* of the part that is shown, in lengths of the axis */
} axis_map;

static double
round_prefer_ceil(double x) {
  return floor(x + 0.5);
}

static double
round_prefer_floor(double x) {
  return ceil(x - 0.5);
}

static bool
has_coordinates(const on_import *im, const char *name) {
  return on_attr_is(im, "coordinate_transformation_mode", name, "half_pixel");
}

static sampling
sampling_of(const on_import *im) {
  static const char *const coordinates_names[] = {
      [ALIGN_CORNERS] = "align_corners",
      [ASYMMETRIC] = "asymmetric",
      [PYTORCH_HALF_PIXEL] = "pytorch_half_pixel",
      [HALF_PIXEL_SYMMETRIC] = "half_pixel_symmetric",
      [TF_HALF_PIXEL] = "tf_half_pixel_for_nn",
      [CROP_AND_RESIZE] = "tf_crop_and_resize"};
  static const struct {
    const char *name;
    double (*nearest)(double);
  } nearest[] = {{"floor", floor},
                 {"ceil", ceil},
                 {"round_prefer_ceil", round_prefer_ceil}};
  sampling s = {.is_nearest = on_attr_is(im, "mode", "nearest", "nearest"),
                .is_linear = on_attr_is(im, "mode", "linear", "nearest"),
                .nearest = round_prefer_floor,
                .excludes = on_attr_int(im, "exclude_outside", 0) != 0,
                .a = on_attr_real(im, "cubic_coeff_a", -0.75)};
  for (int k = ALIGN_CORNERS; k <= CROP_AND_RESIZE; k++)
    if (has_coordinates(im, coordinates_names[k]))
      s.coordinates = (coordinates)k;
  for (size_t k = 0; k < sizeof nearest / sizeof *nearest; k++)
    if (on_attr_is(im, "nearest_mode", nearest[k].name, "round_prefer_floor"))
      s.nearest = nearest[k].nearest;
  return s;
}

/* The nearest of two elements between which a place is depends on how it is
 * rounded: others compute it in f32. */
static double
quotient(const axis_map *m, double a, double b) {
  return m->by.is_nearest ? (double)((float)a / (float)b) : a / b;
}

/* Where in the original the element stands. */
static double
place_of(const axis_map *m, int64_t i) {
  double x = (double)i, from = (double)m->from, to = (double)m->to;
  double middle = quotient(m, x + 0.5, m->scale);
  switch (m->by.coordinates) {
  case ALIGN_CORNERS:
    return m->to == 1 ? 0 : quotient(m, x * (from - 1), to - 1);
  case ASYMMETRIC:
    return quotient(m, x, m->scale);
  case PYTORCH_HALF_PIXEL:
    return m->to == 1 ? 0 : middle - 0.5;
  case HALF_PIXEL_SYMMETRIC:
    return from / 2 * (1 - to / (m->scale * from)) + middle - 0.5;
  case TF_HALF_PIXEL:
    return middle;
  case CROP_AND_RESIZE:
    return quotient(m,
                    m->to == 1
                        ? (m->first + m->last) / 2 * (from - 1)
                        : m->first * (from - 1) +
                              x * (m->last - m->first) * (from - 1) / (to - 1),
                    1);
  case HALF_PIXEL:
    break;
  }
  return middle - 0.5;
}

static double
cubic(double a, double x) {
  x = fabs(x);
  return x <= 1  ? ((a + 2) * x - (a + 3)) * x * x + 1
         : x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
                 : 0;
}

/* The elements first .. first + 3 that count, with their weights. */
static int64_t
taps_of(const axis_map *m, int64_t i, double *weight) {
  double x = place_of(m, i);
  memset(weight, 0, 4 * sizeof *weight);
  if (m->by.is_nearest) {
    weight[0] = 1;
    return (int64_t)m->by.nearest(x);
  }
  int64_t first = (int64_t)floor(x);
  double part = x - (double)first;
  if (m->by.is_linear) {
    weight[0] = 1 - part;
    weight[1] = part;
    return first;
  }
  for (int k = 0; k < 4; k++)
    weight[k] = cubic(m->by.a, part + 1 - k);
  return first - 1;
}

/* ---- with repeating weights ---- */

/* One element beyond the taps of any phase, on both sides. */
enum { REACH = 3, SPAN = 2 * REACH + 1 };
/* Lengths of an axis that a part may be away: places stay small integers. */
#define PART_MOST 0x1p20

static bool
repeats(const axis_map *m) {
  return m->to % m->from == 0 && m->scale == (double)(m->to / m->from) &&
         m->to / m->from <= 64 && m->by.coordinates != ALIGN_CORNERS &&
         m->by.coordinates != CROP_AND_RESIZE && !m->by.excludes;
}

static bool
is_repeat(const double *filters, int64_t phases) {
  for (int64_t p = 0; p < phases; p++)
    if (filters[p * SPAN + REACH] != 1)
      return false;
  return true;
}

/* Elements around the window's middle that some phase looks at. */
static int64_t
reach_of(const double *filters, int64_t phases) {
  int64_t reach = 0;
  for (int64_t p = 0; p < phases; p++)
    for (int64_t k = 0; k < SPAN; k++)
      if (filters[p * SPAN + k] != 0) {
        int64_t away = k < REACH ? REACH - k : k - REACH;
        reach = away > reach ? away : reach;
      }
  return reach;
}

static gs_term
filtered(on_import *im, gs_term x, uint32_t d, const double *filters,
         int64_t phases) {
  gs_type type;
  int64_t reach = reach_of(filters, phases), one = 1;
  int64_t dim[] = {phases, 2 * reach + 1}, order[GS_MAX_RANK];
  on_array *a = on_array_new(im, on_type_in(im, 0), dim, 2);
  if (!t_type(im, x, &type) || !a)
    return GS_NO_TERM;
  for (int64_t p = 0; p < phases; p++)
    for (int64_t k = 0; k < dim[1]; k++)
      on_set_real(a, p * dim[1] + k, filters[p * SPAN + REACH - reach + k]);
  a->name = "resize";
  uint32_t rank = type.rank;
  for (uint32_t k = 0, n = 0; k < rank; k++)
    if (k != d)
      order[n++] = k;
  order[rank - 1] = d;
  x = t_pad(im, x, "edge", d, reach, reach);
  x = t_access(im, t_transpose(im, x, order, rank), rank - 1);
  x = t_windows(im, x, &dim[1], &one, &one, 1);
  x = t_compute(im, "dotProd",
                t_cartprod(im, x, t_access(im, t_constant(im, a), 1)));
  for (uint32_t k = 0, n = 0; k < rank; k++) {
    order[k + (k > d)] = k == d ? rank - 1 : n++;
    if (k == d)
      order[k + 1] = rank;
  }
  x = t_transpose(im, t_whole(im, x), order, rank + 1);
  type.dim[d] *= phases;
  return t_reshape(im, x, type.dim, rank, NULL, 0);
}

static gs_term
by_phases(on_import *im, gs_term x, uint32_t d, const axis_map *m) {
  int64_t phases = m->to / m->from, middle = m->from;
  double filters[64 * SPAN] = {0}, weight[4];
  int64_t inside = 2 * m->from + 1;
  axis_map inner = {inside, phases * inside, m->scale, m->by, 0, 1};
  for (int64_t p = 0; p < phases; p++) {
    int64_t first = taps_of(&inner, middle * phases + p, weight) - middle;
    for (int k = 0; k < 4; k++)
      if (weight[k] != 0 && first + k >= -REACH && first + k <= REACH)
        filters[p * SPAN + REACH + first + k] += weight[k];
  }
  return is_repeat(filters, phases) ? t_repeat(im, x, d, phases)
                                    : filtered(im, x, d, filters, phases);
}

/* ---- with a matrix ---- */

/* What is left of the weights makes up for those beyond the edges. */
static void
exclude_outside(const axis_map *m, int64_t first, double *weight) {
  double all = 0;
  for (int k = 0; k < 4; k++) {
    if (first + k < 0 || first + k >= m->from)
      weight[k] = 0;
    all += weight[k];
  }
  for (int k = 0; k < 4 && all != 0; k++)
    weight[k] /= all;
}

static on_array *
matrix_of(on_import *im, const axis_map *m) {
  int64_t dim[] = {m->to, m->from};
  on_array *a = on_array_new(im, on_type_in(im, 0), dim, 2);
  double weight[4];
  for (int64_t k = 0; a && k < a->n; k++)
    on_set_real(a, k, 0);
  for (int64_t i = 0; a && i < m->to; i++) {
    int64_t first = taps_of(m, i, weight);
    if (m->by.excludes && !m->by.is_nearest)
      exclude_outside(m, first, weight);
    for (int k = 0; k < 4; k++) {
      int64_t at = first + k;
      at = at < 0 ? 0 : at >= m->from ? m->from - 1 : at;
      at += i * m->from;
      if (weight[k] != 0)
        on_set_real(a, at, on_real(a, at) + weight[k]);
    }
  }
  if (a)
    a->name = "resize";
  return a;
}

static gs_term
by_matrix(on_import *im, gs_term x, uint32_t d, const axis_map *m) {
  gs_type type;
  int64_t last[GS_MAX_RANK], back[GS_MAX_RANK];
  on_array *a = matrix_of(im, m);
  if (!t_type(im, x, &type) || !a)
    return GS_NO_TERM;
  for (uint32_t k = 0, n = 0; k < type.rank; k++)
    if (k != d)
      last[n++] = k;
  last[type.rank - 1] = d;
  for (uint32_t k = 0; k < type.rank; k++)
    back[last[k]] = k;
  x = t_access(im, t_transpose(im, x, last, type.rank), type.rank - 1);
  x = t_compute(im, "dotProd",
                t_cartprod(im, x, t_access(im, t_constant(im, a), 1)));
  return t_cast(im, type.dtype,
                t_transpose(im, t_whole(im, x), back, type.rank));
}

/* ---- beyond the edges ---- */

static bool
is_inside(const axis_map *m, int64_t i) {
  double x = place_of(m, i);
  return x >= 0 && x <= (double)m->from - 1;
}

/* 1 for the elements along the axis that show a part of the image; NULL: all
 * of them do, or a fault. */
static on_array *
mask_of(on_import *im, const axis_map *m) {
  int64_t shown = 0;
  for (int64_t i = 0; i < m->to; i++)
    shown += is_inside(m, i);
  on_array *a =
      shown == m->to ? NULL : on_array_new(im, on_type_in(im, 0), &m->to, 1);
  for (int64_t i = 0; a && i < m->to; i++)
    on_set_real(a, i, is_inside(m, i));
  if (a)
    a->name = "shown";
  return a;
}

static gs_term
extrapolated(on_import *im, gs_term x, const axis_map *maps) {
  gs_type t;
  double v = on_attr_real(im, "extrapolation_value", 0);
  if (!t_type(im, x, &t))
    return GS_NO_TERM;
  for (uint32_t k = 0; k < t.rank; k++) {
    on_array *mask = mask_of(im, &maps[k]);
    if (!mask)
      continue;
    gs_term in = t_constant(im, mask);
    for (uint32_t j = k + 1; j < t.rank; j++)
      in = t_insert(im, in, j - k);
    x = t_select(im, t_fit(im, in, t.dim, t.rank), x,
                 t_value(im, t.dtype, v, t.dim, t.rank));
  }
  return x;
}

/* ---- the sizes ---- */

/* The dimensions that sizes are given for; all where none are named. */
static bool
read_axes(on_import *im, uint32_t rank, uint32_t *axes, uint32_t *n) {
  int64_t list[GS_MAX_RANK];
  bool seen[GS_MAX_RANK] = {0};
  int named;
  if (!on_list(im, "axes", 255, list, &named))
    return false;
  *n = named > 0 ? (uint32_t)named : rank;
  for (uint32_t k = 0; k < *n; k++) {
    if (!on_axis(im, named > 0 ? list[k] : k, rank, &axes[k]))
      return false;
    if (seen[axes[k]])
      return on_fail(im, "an axis is named twice");
    seen[axes[k]] = true;
  }
  return true;
}

/* Sizes that keep the image's proportions are within those that are given, or
 * beyond them. */
static void
keep_proportions(on_import *im, axis_map *maps, const uint32_t *axes,
                 uint32_t n) {
  bool larger =
      on_attr_is(im, "keep_aspect_ratio_policy", "not_smaller", "stretch");
  double scale = maps[axes[0]].scale;
  for (uint32_t k = 1; k < n; k++) {
    double s = maps[axes[k]].scale;
    scale = (larger ? s > scale : s < scale) ? s : scale;
  }
  for (uint32_t k = 0; k < n; k++) {
    axis_map *m = &maps[axes[k]];
    m->to = (int64_t)floor(scale * (double)m->from + 0.5);
    m->to = m->to < 1 ? 1 : m->to;
    m->scale = scale;
  }
}

/* Where the part that is shown begins on each axis, then where it ends. */
static bool
read_parts(on_import *im, axis_map *maps, const uint32_t *axes, uint32_t n) {
  const on_array *parts = on_array_in(im, 1);
  if (!parts || parts->n != 2 * (int64_t)n)
    return on_fail(im, "the part to be shown is no pair of numbers for each "
                       "axis");
  for (uint32_t k = 0; k < n; k++) {
    axis_map *m = &maps[axes[k]];
    m->first = on_real(parts, k);
    m->last = on_real(parts, n + k);
    if (!(fabs(m->first) < PART_MOST && fabs(m->last) < PART_MOST))
      return on_fail(im, "the part to be shown is too far from the image");
  }
  return true;
}

/* In f32, in which scales are given, so that 5 elements times 2.6, which is a
 * little less there, are 13 and not 12. */
static double
scaled_size(int64_t from, double scale) {
  return (double)floorf((float)from * (float)scale);
}

static bool
read_maps(on_import *im, const gs_type *type, axis_map *maps) {
  const on_array *scales = on_in(im, 2) ? on_array_in(im, 2) : NULL;
  const on_array *sizes = on_in(im, 3) ? on_array_in(im, 3) : NULL;
  if (scales && !scales->n)
    scales = NULL;
  const on_array *given = sizes ? sizes : scales;
  sampling by = sampling_of(im);
  uint32_t axes[GS_MAX_RANK], n;
  if (!read_axes(im, type->rank, axes, &n))
    return false;
  if (!given || im->failed || given->n != n || !n)
    return on_fail(im, "its sizes are not known, or not as many as its "
                       "dimensions");
  for (uint32_t k = 0; k < type->rank; k++)
    maps[k] = (axis_map){type->dim[k], type->dim[k], 1, by, 0, 1};
  for (uint32_t k = 0; k < n; k++) {
    axis_map *m = &maps[axes[k]];
    double from = (double)m->from;
    double to = sizes ? (double)on_int(sizes, k)
                      : scaled_size(m->from, on_real(scales, k));
    if (!(to >= 1) || to > 0x1p31)
      return on_fail(im, "a size is below 1, or too large");
    m->to = (int64_t)to;
    m->scale = sizes ? to / from : on_real(scales, k);
  }
  if (sizes &&
      !on_attr_is(im, "keep_aspect_ratio_policy", "stretch", "stretch"))
    keep_proportions(im, maps, axes, n);
  return by.coordinates != CROP_AND_RESIZE || read_parts(im, maps, axes, n);
}

static bool
knows_modes(on_import *im) {
  if (on_attr_int(im, "antialias", 0))
    return on_fail(im, "of its attributes, antialias is not supported");
  return on_attr_is(im, "mode", "nearest", "nearest") ||
         on_type_of(on_type_in(im, 0))->real ||
         on_fail(im, "integers are not interpolated");
}

/* Each element stays where it is. */
static bool
is_whole(const axis_map *m) {
  return m->from == m->to && m->scale == 1 && m->first == 0 && m->last == 1;
}

void
emit_resize(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  axis_map maps[GS_MAX_RANK];
  if (!t_type(im, x, &type) || !knows_modes(im) || !read_maps(im, &type, maps))
    return;
  for (uint32_t k = 0; k < type.rank; k++) {
    if (is_whole(&maps[k]))
      continue;
    x = repeats(&maps[k]) ? by_phases(im, x, k, &maps[k])
                          : by_matrix(im, x, k, &maps[k]);
  }
  if (maps[0].by.coordinates == CROP_AND_RESIZE)
    x = extrapolated(im, x, maps);
  on_out(im, 0, x, on_type_in(im, 0));
}
