/* SPDX-License-Identifier: MIT */
/* window.h - kernels that move over images (private to src/onnx). */
#ifndef ONNX_WINDOW_H
#define ONNX_WINDOW_H

#include "onnx/onnx_import.h"

/* The geometry of convolutions and pools, for each dimension of an image. */
typedef struct on_window {
  uint32_t n;
  int64_t size[GS_MAX_RANK]; /* of the image */
  int64_t kernel[GS_MAX_RANK], stride[GS_MAX_RANK], dilation[GS_MAX_RANK];
  int64_t before[GS_MAX_RANK], after[GS_MAX_RANK]; /* padding */
  int64_t out[GS_MAX_RANK];
} on_window;

/* Of an image of type (N, C, ...); `kernel` NULL: from kernel_shape. */
bool on_window_of(on_import *, const gs_type *image, const int64_t *kernel,
                  on_window *out);
/* The dimensions of the image grow by the padding. */
gs_term on_padded(on_import *, gs_term, const on_window *, const char *kind);
/* One number a channel is added, the channels last. */
gs_term on_biased(on_import *, gs_term, uint32_t input);

#endif
