/* SPDX-License-Identifier: MIT */
/* emit_grid.c - images read at the places that a grid names, from -1 to 1.
 *
 * Along each axis a place is one pixel, or two with weights.  A pixel outside
 * of the image is moved into it, as the padding says, or gets the weight 0. */
#include "onnx/onnx_import.h"

typedef enum padding { ZEROS, BORDER, REFLECTION } padding;

/* Pixels along an axis, as whole numbers within it. */
typedef struct taps {
  uint32_t n;
  gs_term at[2];
  gs_term weight[2]; /* GS_NO_TERM: 1 */
} taps;

typedef struct sampling {
  bool linear, corners;
  padding padding;
  int64_t batch, channels, points;
} sampling;

/* With corners, -1 and 1 are the middles of the outer pixels, else their outer
 * ends. */
static gs_term
pixel_of(on_import *im, const sampling *s, gs_term x, int64_t size) {
  double n = (double)size;
  x = t_offset(im, 1, x);
  return s->corners ? t_scale(im, n - 1, t_scale(im, 0.5, x))
                    : t_scale(im, 0.5, t_offset(im, -1, t_scale(im, n, x)));
}

/* Back and forth between the first and the last place. */
static gs_term
reflected(on_import *im, const sampling *s, gs_term x, int64_t size) {
  double n = (double)size, low = s->corners ? 0 : -0.5;
  double range = s->corners ? n - 1 : n;
  if (!(range > 0))
    return t_scale(im, 0, x);
  x = t_offset(im, -low, x);
  gs_term rounds = t_compute(im, "floor", t_scale(im, 0.5 / range, x));
  x = t_fold(im, "sub", x, t_scale(im, 2 * range, rounds));
  x = t_compute(im, "abs", t_offset(im, -range, x));
  return t_offset(im, range + low, t_compute(im, "neg", x));
}

/* 1 within the image and 0 outside, of whole numbers. */
static gs_term
within(on_import *im, gs_term x, int64_t size) {
  gs_term before = t_clip(im, 0, 1, t_offset(im, 1, x));
  gs_term behind =
      t_clip(im, 0, 1, t_offset(im, (double)size, t_compute(im, "neg", x)));
  return t_fold(im, "mul", before, behind);
}

static void
add_tap(on_import *im, const sampling *s, taps *t, gs_term x, gs_term weight,
        int64_t size) {
  if (s->padding == ZEROS) {
    gs_term in = within(im, x, size);
    weight = gs_term_ok(weight) ? t_fold(im, "mul", weight, in) : in;
  }
  if (s->padding == REFLECTION)
    x = reflected(im, s, x, size);
  t->at[t->n] = t_clip(im, 0, (double)(size - 1), x);
  t->weight[t->n++] = weight;
}

static taps
taps_along(on_import *im, const sampling *s, gs_term x, int64_t size) {
  taps t = {0};
  x = pixel_of(im, s, x, size);
  if (!s->linear) {
    add_tap(im, s, &t, t_compute(im, "round", x), GS_NO_TERM, size);
    return t;
  }
  gs_term first = t_compute(im, "floor", x);
  gs_term second = t_fold(im, "sub", x, first);
  gs_term rest = t_offset(im, 1, t_compute(im, "neg", second));
  add_tap(im, s, &t, first, rest, size);
  add_tap(im, s, &t, t_offset(im, 1, first), second, size);
  return t;
}

/* (N, points) for all channels. */
static gs_term
spread(on_import *im, const sampling *s, gs_term x) {
  const int64_t all[] = {s->batch, s->channels, s->points};
  return t_broadcast(im, t_insert(im, x, 1), all, 3);
}

/* The pixels of an image (N, C, H W) at one tap of each axis. */
static gs_term
pixels(on_import *im, const sampling *s, gs_term image, const gs_type *type,
       const taps *t[2], const uint32_t k[2]) {
  gs_term row = t_cast(im, GS_F64, t[0]->at[k[0]]);
  gs_term column = t_cast(im, GS_F64, t[1]->at[k[1]]);
  gs_term at =
      t_fold(im, "add", t_scale(im, (double)type->dim[3], row), column);
  gs_term x =
      t_look_up(im, t_access(im, image, 2), t_access(im, spread(im, s, at), 2));
  x = t_whole(im, x);
  for (int axis = 0; axis < 2; axis++) {
    gs_term weight = t[axis]->weight[k[axis]];
    if (gs_term_ok(weight))
      x = t_fold(im, "mul", x, t_cast(im, type->dtype, spread(im, s, weight)));
  }
  return x;
}

static gs_term
sampled(on_import *im, const sampling *s, gs_term image, const gs_type *type,
        const taps *t[2]) {
  gs_term sum = GS_NO_TERM;
  for (uint32_t row = 0; row < t[0]->n; row++)
    for (uint32_t column = 0; column < t[1]->n; column++) {
      const uint32_t k[2] = {row, column};
      gs_term x = pixels(im, s, image, type, t, k);
      sum = gs_term_ok(sum) ? t_fold(im, "add", sum, x) : x;
    }
  return sum;
}

/* Coordinate k of the grid (N, H, W, 2), as (N, points). */
static gs_term
coordinate(on_import *im, const sampling *s, gs_term grid, int64_t k) {
  const int64_t flat[] = {s->batch, s->points};
  grid = t_squeeze(im, t_slice(im, grid, 3, k, k + 1), 3);
  return t_reshape(im, grid, flat, 2, NULL, 0);
}

static bool
read_sampling(on_import *im, const gs_type *image, const gs_type *grid,
              sampling *s) {
  *s = (sampling){.linear = on_attr_is(im, "mode", "bilinear", "bilinear") ||
                            on_attr_is(im, "mode", "linear", "bilinear"),
                  .corners = on_attr_int(im, "align_corners", 0) != 0,
                  .padding =
                      on_attr_is(im, "padding_mode", "border", "zeros") ? BORDER
                      : on_attr_is(im, "padding_mode", "reflection", "zeros")
                          ? REFLECTION
                          : ZEROS,
                  .batch = image->dim[0],
                  .channels = image->dim[1]};
  if (!s->linear && !on_attr_is(im, "mode", "nearest", "bilinear"))
    return on_fail(im, "cubic interpolation is not supported");
  if (image->rank != 4 || grid->rank != 4)
    return on_fail(im, "it is supported for images of two dimensions alone");
  if (grid->dim[0] != s->batch || grid->dim[3] != 2)
    return on_fail(im, "its grid is not one of two coordinates for each image");
  s->points = grid->dim[1] * grid->dim[2];
  return true;
}

/* A grid names the column first. */
void
emit_grid_sample(on_import *im) {
  gs_term image = t_widened(im, on_term_in(im, 0));
  gs_term grid = t_widened(im, on_term_in(im, 1));
  gs_type type, places;
  sampling s;
  if (!t_type(im, image, &type) || !t_type(im, grid, &places) ||
      !read_sampling(im, &type, &places, &s))
    return;
  const int64_t flat[] = {s.batch, s.channels, type.dim[2] * type.dim[3]};
  const int64_t out[] = {s.batch, s.channels, places.dim[1], places.dim[2]};
  taps columns = taps_along(im, &s, coordinate(im, &s, grid, 0), type.dim[3]);
  taps rows = taps_along(im, &s, coordinate(im, &s, grid, 1), type.dim[2]);
  const taps *both[2] = {&rows, &columns};
  image = t_reshape(im, image, flat, 3, NULL, 0);
  gs_term x = sampled(im, &s, image, &type, both);
  on_out(im, 0, t_reshape(im, x, out, 4, NULL, 0), on_type_in(im, 0));
}
