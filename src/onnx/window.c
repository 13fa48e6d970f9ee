/* SPDX-License-Identifier: MIT */
/* window.c - how kernels move over images: strides, pads, sizes. */
#include "onnx/window.h"
#include "onnx/sized.h"

#include <assert.h>
#include <string.h>

enum { MOST_KERNEL = 65536 };

static bool
read_pads(on_import *im, on_window *w) {
  int64_t pads[2 * GS_MAX_RANK];
  if (!on_attr_ints(im, "pads", 0, pads, 2 * w->n))
    return false;
  for (uint32_t k = 0; k < w->n; k++) {
    w->before[k] = pads[k];
    w->after[k] = pads[k + w->n];
  }
  return true;
}

static int64_t
span_of(const on_window *w, uint32_t k) {
  return (w->kernel[k] - 1) * w->dilation[k] + 1;
}

/* As many positions as strides fit in the image; the larger part of an odd
 * padding behind, or before.  Others leave out dilations where a pool is
 * padded, or begin behind the first element where strides are larger than
 * kernels. */
static bool
pad_same(on_import *im, on_window *w, bool lower, bool pool) {
  for (uint32_t k = 0; k < w->n; k++) {
    int64_t out = (w->size[k] + w->stride[k] - 1) / w->stride[k];
    int64_t all = (out - 1) * w->stride[k] + span_of(w, k) - w->size[k];
    if (all < -1 || (pool && w->dilation[k] > 1))
      return on_fail(im, "what auto_pad makes of %s is not agreed on",
                     all < -1 ? "a kernel that is so much smaller than its "
                                "stride"
                              : "a pool with dilations");
    all = all < 0 ? 0 : all;
    w->before[k] = lower ? all - all / 2 : all / 2;
    w->after[k] = all - w->before[k];
  }
  return true;
}

static bool
place(on_import *im, on_window *w, bool pool) {
  if (on_attr_is(im, "auto_pad", "NOTSET", "NOTSET"))
    return read_pads(im, w);
  if (on_attr_is(im, "auto_pad", "SAME_UPPER", "NOTSET") ||
      on_attr_is(im, "auto_pad", "SAME_LOWER", "NOTSET"))
    return pad_same(im, w, on_attr_is(im, "auto_pad", "SAME_LOWER", "NOTSET"),
                    pool);
  if (!on_attr_is(im, "auto_pad", "VALID", "NOTSET"))
    return on_fail(im, "auto_pad has a value that is not supported");
  return true;
}

/* With ceil_mode the last window may reach past the padding, but does not
 * begin there; the padding grows by what it reaches. */
static bool
count(on_import *im, on_window *w, uint32_t k) {
  int64_t room = w->size[k] + w->before[k] + w->after[k] - span_of(w, k);
  int64_t by = w->stride[k];
  if (room < 0)
    return on_fail(im, "the window is larger than the image");
  w->out[k] = room / by + 1;
  if (on_attr_int(im, "ceil_mode", 0) && room % by &&
      w->out[k] * by < w->size[k] + w->before[k])
    w->out[k]++;
  int64_t past = (w->out[k] - 1) * by - room;
  if (past > 0)
    w->after[k] += past;
  return true;
}

bool
on_window_of(on_import *im, const gs_type *image, const int64_t *kernel,
             on_window *w) {
  *w = (on_window){.n = image->rank - 2U};
  if (image->rank < 3 || 2 * w->n > GS_MAX_RANK)
    return on_fail(im, "its input is not a batch of images");
  memcpy(w->size, image->dim + 2, w->n * sizeof *w->size);
  if (!on_attr_ints(im, "kernel_shape", 0, w->kernel, w->n) ||
      !on_attr_ints(im, "strides", 1, w->stride, w->n) ||
      !on_attr_ints(im, "dilations", 1, w->dilation, w->n))
    return false;
  for (uint32_t k = 0; k < w->n; k++) {
    if (on_is_sized(im, w->size[k]))
      return on_fail(im, "the size of its image is open");
    if (kernel && on_attr(im, "kernel_shape") && w->kernel[k] != kernel[k])
      return on_fail(im, "kernel_shape is not that of the weights");
    w->kernel[k] = kernel ? kernel[k] : w->kernel[k];
    if (w->kernel[k] < 1 || w->stride[k] < 1 || w->dilation[k] < 1 ||
        w->kernel[k] > MOST_KERNEL)
      return on_fail(im, "a kernel, a stride or a dilation is below 1, or "
                         "the kernel is above 65536");
  }
  if (!place(im, w, !kernel))
    return false;
  for (uint32_t k = 0; k < w->n; k++)
    if (!count(im, w, k))
      return false;
  return true;
}

gs_term
on_padded(on_import *im, gs_term x, const on_window *w, const char *kind) {
  assert(w->n + 2 <= GS_MAX_RANK);
  for (uint32_t k = 0; k < w->n; k++)
    x = t_pad(im, x, kind, k + 2, w->before[k], w->after[k]);
  return x;
}

gs_term
on_biased(on_import *im, gs_term x, uint32_t input) {
  gs_type type;
  if (!on_in(im, input) || !t_type(im, x, &type))
    return x;
  return t_fold(im, "add", x,
                t_fit(im, on_term_in(im, input), type.dim, type.rank));
}
