/* SPDX-License-Identifier: MIT */
/* emit_conv.c - convolutions, also in groups, and transposed ones. */
#include "onnx/window.h"

#include <assert.h>
#include <string.h>

/* (N, out..., M) to (N, M, out...) */
static gs_term
channels_second(on_import *im, gs_term x) {
  gs_type type;
  int64_t order[GS_MAX_RANK];
  if (!t_type(im, x, &type))
    return GS_NO_TERM;
  order[0] = 0;
  order[1] = type.rank - 1;
  for (uint32_t k = 2; k < type.rank; k++)
    order[k] = k - 1;
  return t_transpose(im, x, order, type.rank);
}

/* A window over all channels: (N, out..., M). */
static gs_term
dense(on_import *im, gs_term x, gs_term weights, const on_window *w,
      int64_t channels) {
  assert(w->n < GS_MAX_RANK);
  int64_t shape[GS_MAX_RANK] = {channels}, stride[GS_MAX_RANK] = {1},
          dilation[GS_MAX_RANK] = {1};
  memcpy(shape + 1, w->kernel, w->n * sizeof *shape);
  memcpy(stride + 1, w->stride, w->n * sizeof *stride);
  memcpy(dilation + 1, w->dilation, w->n * sizeof *dilation);
  gs_term patches =
      t_windows(im, t_access(im, x, 1), shape, stride, dilation, w->n + 1);
  gs_term sums = t_compute(im, "dotProd",
                           t_cartprod(im, patches, t_access(im, weights, 1)));
  return t_squeeze(im, sums, 1);
}

/* A filter for each channel: (N, C, out...). */
static gs_term
depthwise(on_import *im, gs_term x, gs_term weights, const on_window *w,
          const gs_type *image) {
  assert(w->n + 2 <= GS_MAX_RANK);
  int64_t all[GS_MAX_RANK], ones[GS_MAX_RANK];
  uint32_t n = w->n;
  all[0] = image->dim[0];
  all[1] = image->dim[1];
  memcpy(all + 2, w->out, n * sizeof *all);
  memcpy(all + 2 + n, w->kernel, n * sizeof *all);
  for (uint32_t k = 0; k < n + 2; k++)
    ones[k] = 1;
  ones[1] = image->dim[1];
  gs_term patches =
      t_windows(im, t_access(im, x, 2), w->kernel, w->stride, w->dilation, n);
  gs_term filters = t_access(im, t_squeeze(im, weights, 1), 1);
  filters = t_reshape(im, filters, ones, n + 2, w->kernel, n);
  filters = t_broadcast(im, filters, all, 2 * n + 2);
  return t_compute(im, "dotProd", t_pair(im, patches, filters));
}

/* The group is a dimension of its own: (N, M, out...). */
static gs_term
grouped(on_import *im, gs_term x, gs_term weights, const on_window *w,
        const gs_type *kernels, int64_t groups) {
  gs_type in;
  int64_t split[GS_MAX_RANK], shape[GS_MAX_RANK],
      stride[GS_MAX_RANK] = {1}, dilation[GS_MAX_RANK] = {1}, all[GS_MAX_RANK],
      ones[GS_MAX_RANK], out[GS_MAX_RANK];
  uint32_t n = w->n;
  if (!t_type(im, x, &in) || 2 * n + 4 > GS_MAX_RANK)
    return GS_NO_TERM;
  shape[0] = kernels->dim[1];
  memcpy(shape + 1, w->kernel, n * sizeof *shape);
  memcpy(stride + 1, w->stride, n * sizeof *stride);
  memcpy(dilation + 1, w->dilation, n * sizeof *dilation);
  int64_t head[] = {in.dim[0], groups, shape[0]};
  memcpy(split, head, sizeof head);
  memcpy(split + 3, in.dim + 2, n * sizeof *split);
  int64_t first[] = {in.dim[0], groups, kernels->dim[0] / groups};
  memcpy(all, first, sizeof first);
  memcpy(all + 3, w->out, n * sizeof *all);
  memcpy(all + 3 + n, shape, (n + 1) * sizeof *all);
  for (uint32_t k = 0; k < n + 3; k++)
    ones[k] = k == 1 || k == 2 ? first[k] : 1;
  out[0] = in.dim[0];
  out[1] = kernels->dim[0];
  memcpy(out + 2, w->out, n * sizeof *out);
  x = t_access(im, t_reshape(im, x, split, n + 3, NULL, 0), 2);
  x = t_windows(im, x, shape, stride, dilation, n + 1);
  x = t_broadcast(im, x, all, 2 * n + 4);
  gs_term filters =
      t_reshape(im, t_access(im, weights, 1), ones, n + 3, shape, n + 1);
  filters = t_broadcast(im, filters, all, 2 * n + 4);
  x = t_compute(im, "dotProd", t_pair(im, x, filters));
  return t_reshape(im, x, out, n + 2, NULL, 0);
}

/* The bias of (N, M, out...). */
static gs_term
biased_second(on_import *im, gs_term x, uint32_t input) {
  gs_type type;
  if (!on_in(im, input) || !t_type(im, x, &type))
    return x;
  gs_term bias = on_term_in(im, input);
  for (uint32_t k = 2; k < type.rank; k++)
    bias = t_insert(im, bias, k - 1);
  return t_fold(im, "add", x, t_fit(im, bias, type.dim, type.rank));
}

static gs_term
convolved(on_import *im, gs_term padded, gs_term weights, const on_window *w,
          const gs_type *image, const gs_type *kernels, int64_t groups,
          uint32_t bias) {
  if (groups == 1)
    return channels_second(
        im, on_biased(im, dense(im, padded, weights, w, image->dim[1]), bias));
  gs_term out = groups == image->dim[1] && kernels->dim[0] == groups
                    ? depthwise(im, padded, weights, w, image)
                    : grouped(im, padded, weights, w, kernels, groups);
  return biased_second(im, out, bias);
}

gs_term
t_conv(on_import *im, gs_term x, gs_term weights, uint32_t bias) {
  gs_type image, kernels;
  on_window w;
  int64_t groups = on_attr_int(im, "group", 1);
  if (!t_type(im, x, &image) || !t_type(im, weights, &kernels) ||
      image.rank != kernels.rank || image.rank < 3) {
    on_fail(im,
            "its input is not a batch of images, or its weights have another "
            "rank");
    return GS_NO_TERM;
  }
  if (groups < 1 || image.dim[1] != kernels.dim[1] * groups ||
      kernels.dim[0] % groups) {
    on_fail(im, "%lld channels do not fit weights of %lld in %lld groups",
            (long long)image.dim[1], (long long)kernels.dim[1],
            (long long)groups);
    return GS_NO_TERM;
  }
  if (!on_window_of(im, &image, kernels.dim + 2, &w))
    return GS_NO_TERM;
  x = on_padded(im, x, &w, "zero");
  return convolved(im, x, weights, &w, &image, &kernels, groups, bias);
}

void
emit_conv(on_import *im) {
  on_out(im, 0, t_conv(im, on_term_in(im, 0), on_term_in(im, 1), 2),
         on_type_in(im, 0));
}

/* ---- transposed ---- */

static bool
is_same(const on_import *im, const char *which) {
  return on_attr_is(im, "auto_pad", which, "NOTSET");
}

/* What is cut off at both ends, so that the output has this size; more than
 * there is stands behind. */
static void
cut_to(const on_import *im, on_window *w, uint32_t k, int64_t full,
       int64_t size) {
  assert(k < w->n);
  int64_t cut = full - size, half = cut > 0 ? cut / 2 : 0;
  w->before[k] = cut <= 0 || is_same(im, "SAME_UPPER") ? half : cut - half;
  w->after[k] = cut - w->before[k];
}

/* The padding of the output; output_shape says it for a given size. */
static bool
transposed_window(on_import *im, const gs_type *image, const int64_t *kernel,
                  on_window *w, int64_t *more) {
  int64_t pads[2 * GS_MAX_RANK], shape[GS_MAX_RANK];
  bool same = is_same(im, "SAME_UPPER") || is_same(im, "SAME_LOWER");
  *w = (on_window){.n = image->rank - 2U};
  memcpy(w->size, image->dim + 2, w->n * sizeof *w->size);
  memcpy(w->kernel, kernel, w->n * sizeof *w->kernel);
  if (!on_attr_ints(im, "strides", 1, w->stride, w->n) ||
      !on_attr_ints(im, "dilations", 1, w->dilation, w->n) ||
      !on_attr_ints(im, "output_padding", 0, more, w->n) ||
      !on_attr_ints(im, "pads", 0, pads, 2 * w->n) ||
      !on_attr_ints(im, "output_shape", 0, shape, w->n))
    return false;
  for (uint32_t k = 0; k < w->n; k++) {
    if (w->stride[k] < 1 || w->dilation[k] < 1)
      return on_fail(im, "a stride or a dilation is below 1");
    int64_t full = (w->size[k] - 1) * w->stride[k] +
                   (w->kernel[k] - 1) * w->dilation[k] + 1 + more[k];
    w->before[k] = pads[k];
    w->after[k] = pads[k + w->n];
    if (shape[k])
      cut_to(im, w, k, full, shape[k]);
    else if (same)
      cut_to(im, w, k, full, w->size[k] * w->stride[k]);
    if (same && !shape[k] && w->after[k] < 0)
      return on_fail(im, "its kernel is smaller than its stride, and what "
                         "auto_pad makes of that is not agreed on");
    w->out[k] = full - w->before[k] - w->after[k];
    if (w->out[k] < 1)
      return on_fail(im, "its result would have no elements");
  }
  return true;
}

/* Zeros between the elements: as many as fit in a stride. */
static gs_term
spread(on_import *im, gs_term x, uint32_t d, int64_t by) {
  assert(by >= 1);
  gs_type type;
  if (by == 1 || !t_type(im, x, &type))
    return x;
  int64_t size = type.dim[d];
  x = t_pad(im, t_insert(im, x, d + 1), "zero", d + 1, 0, by - 1);
  type.dim[d] = size * by;
  x = t_reshape(im, x, type.dim, type.rank, NULL, 0);
  return t_slice(im, x, d, 0, (size - 1) * by + 1);
}

/* (C, M/g, k...) turned around, as (M, C/g, k...). */
static on_array *
turned_weights(on_import *im, const on_array *a, int64_t groups) {
  int64_t own[GS_MAX_RANK], dim[GS_MAX_RANK], stride[GS_MAX_RANK];
  int64_t flat[GS_MAX_RANK], offset = 0;
  uint32_t n = a->rank - 2;
  on_strides(a, own);
  dim[0] = groups;
  dim[1] = a->dim[1];
  dim[2] = a->dim[0] / groups;
  stride[0] = own[0] * dim[2];
  stride[1] = own[1];
  stride[2] = own[0];
  flat[0] = groups * dim[1];
  flat[1] = dim[2];
  for (uint32_t k = 0; k < n; k++) {
    dim[k + 3] = flat[k + 2] = a->dim[k + 2];
    stride[k + 3] = -own[k + 2];
    offset += own[k + 2] * (a->dim[k + 2] - 1);
  }
  on_array *out = on_view(im, a, dim, stride, n + 3, offset);
  out = out ? on_reshaped(im, out, flat, n + 2) : NULL;
  if (out)
    out->name = a->name;
  return out;
}

/* Where no two windows of the output meet, each element makes one of its own:
 * (N, size..., M, k...) to (N, M, size k...). */
static gs_term
blocks(on_import *im, gs_term x, gs_term weights, const on_window *w) {
  assert(w->n + 2 <= GS_MAX_RANK);
  gs_type made;
  int64_t last[GS_MAX_RANK], order[GS_MAX_RANK], out[GS_MAX_RANK];
  uint32_t n = w->n;
  last[0] = 0;
  last[n + 1] = 1;
  for (uint32_t k = 0; k < n; k++)
    last[k + 1] = k + 2;
  x = t_access(im, t_transpose(im, x, last, n + 2), n + 1);
  int64_t first[GS_MAX_RANK];
  for (uint32_t k = 0; k < n + 1; k++)
    first[k] = k + 1;
  first[n + 1] = 0;
  weights = t_access(im, t_transpose(im, weights, first, n + 2), n + 1);
  x = t_whole(im, t_compute(im, "dotProd", t_cartprod(im, x, weights)));
  if (!t_type(im, x, &made))
    return GS_NO_TERM;
  order[0] = 0;
  order[1] = n + 1;
  out[0] = made.dim[0];
  out[1] = made.dim[n + 1];
  for (uint32_t k = 0; k < n; k++) {
    order[2 + 2 * k] = 1 + k;
    order[3 + 2 * k] = n + 2 + k;
    out[k + 2] = w->size[k] * w->kernel[k];
  }
  x = t_transpose(im, x, order, 2 * n + 2);
  return t_reshape(im, x, out, n + 2, NULL, 0);
}

static bool
are_blocks(const on_window *w, const int64_t *more) {
  bool apart = true;
  for (uint32_t k = 0; k < w->n; k++)
    apart &= w->stride[k] == w->kernel[k] && w->dilation[k] == 1 &&
             !w->before[k] && !w->after[k] && !more[k];
  return apart;
}

/* A convolution, with stride 1, of the image with zeros between its elements.
 */
static gs_term
through_zeros(on_import *im, gs_term x, on_array *weights, on_window *w,
              const int64_t *more, int64_t groups) {
  gs_type image, kernels;
  on_array *turned = turned_weights(im, weights, groups);
  for (uint32_t k = 0; k < w->n; k++) {
    int64_t reach = (w->kernel[k] - 1) * w->dilation[k];
    x = spread(im, x, k + 2, w->stride[k]);
    w->stride[k] = 1;
    w->before[k] = reach - w->before[k];
    w->after[k] = reach - w->after[k] + more[k];
  }
  x = on_padded(im, x, w, "zero");
  gs_term filters = turned ? t_constant(im, turned) : GS_NO_TERM;
  if (!t_type(im, x, &image) || !t_type(im, filters, &kernels))
    return GS_NO_TERM;
  return convolved(im, x, filters, w, &image, &kernels, groups, 2);
}

void
emit_conv_transpose(on_import *im) {
  gs_type image;
  on_window w;
  int64_t more[GS_MAX_RANK], groups = on_attr_int(im, "group", 1);
  gs_term x = on_term_in(im, 0);
  on_array *weights = on_array_in(im, 1);
  if (!t_type(im, x, &image) || !weights || weights->rank != image.rank ||
      image.rank < 3 || 2 * image.rank > GS_MAX_RANK || groups < 1 ||
      image.dim[1] % groups || weights->dim[0] != image.dim[1] ||
      weights->n < 1) {
    on_fail(im, "its weights are not known while importing, or do not match "
                "its input");
    return;
  }
  if (!transposed_window(im, &image, weights->dim + 2, &w, more))
    return;
  gs_term out =
      groups == 1 && are_blocks(&w, more)
          ? biased_second(im, blocks(im, x, t_constant(im, weights), &w), 2)
          : through_zeros(im, x, weights, &w, more, groups);
  on_out(im, 0, out, on_type_in(im, 0));
}
