/* SPDX-License-Identifier: MIT */
/* emit_pool.c - maxima and means of windows, and of whole images. */
#include "onnx/window.h"

#include <assert.h>
#include <string.h>

/* Elements of window `at` that lie within lo .. hi - 1 of the padded image. */
static int64_t
inside(const on_window *w, uint32_t k, int64_t at, int64_t lo, int64_t hi) {
  assert(k < w->n);
  int64_t n = 0;
  for (int64_t j = 0; j < w->kernel[k]; j++) {
    int64_t i = at * w->stride[k] + j * w->dilation[k];
    n += i >= lo && i < hi;
  }
  return n;
}

/* By how much the sum of each window is to be divided: not by what ceil_mode
 * reaches beyond the padding, and not by the padding unless it counts. */
static on_array *
divisors(on_import *im, const on_window *w, const int64_t *after) {
  bool pads = on_attr_int(im, "count_include_pad", 0) != 0;
  on_array *a = on_array_new(im, ON_FLOAT, w->out, w->n);
  for (int64_t i = 0; a && i < a->n; i++) {
    int64_t rest = i;
    bs_limits_check(im->ctx->heap);
    double n = 1;
    for (uint32_t k = w->n; k-- > 0; rest /= w->out[k]) {
      int64_t lo = pads ? 0 : w->before[k];
      int64_t hi = w->before[k] + w->size[k] + (pads ? after[k] : 0);
      n *= (double)inside(w, k, rest % w->out[k], lo, hi);
    }
    on_set_real(a, i, n > 0 ? n : 1);
  }
  if (a)
    a->name = bs_arena_printf(im->ctx->arena, "%s.counts", im->node->output[0]);
  return a;
}

static bool
all_whole(const on_window *w, const on_array *counts) {
  double n = 1;
  for (uint32_t k = 0; k < w->n; k++)
    n *= (double)w->kernel[k];
  return on_is_splat(counts) && on_real(counts, 0) == n;
}

static gs_term
average(on_import *im, gs_term patches, const on_window *w,
        const int64_t *after) {
  on_array *counts = divisors(im, w, after);
  gs_type type;
  if (!counts)
    return GS_NO_TERM;
  if (all_whole(w, counts))
    return t_compute(im, "reduceMean", patches);
  gs_term sums = t_compute(im, "reduceSum", patches);
  return t_type(im, sums, &type)
             ? t_fold(im, "div", sums,
                      t_fit(im, t_constant(im, counts), type.dim, type.rank))
             : GS_NO_TERM;
}

/* What is written as padding behind the image, without that of ceil_mode. */
static void
padding_behind(const on_import *im, const on_window *w, int64_t *out) {
  const Onnx__Attribute *pads = on_attr(im, "pads");
  for (uint32_t k = 0; k < w->n; k++)
    out[k] = on_attr_is(im, "auto_pad", "NOTSET", "NOTSET")
                 ? (pads && pads->n_ints ? pads->ints[k + w->n] : 0)
                 : w->after[k];
}

/* The root of a sum of powers of sizes. */
static gs_term
norm_of(on_import *im, gs_term patches) {
  int64_t p = on_attr_int(im, "p", 2);
  if (p < 1 || p > INT32_MAX)
    on_fail(im, "p is not above 0, or too large");
  if (p == 1)
    return t_compute(im, "reduceSum", t_compute(im, "abs", patches));
  if (p == 2)
    return t_compute(
        im, "sqrt",
        t_compute(im, "reduceSum", t_compute(im, "square", patches)));
  gs_term power = t_scale(im, (double)p,
                          t_compute(im, "log", t_compute(im, "abs", patches)));
  power = t_compute(im, "reduceSum", t_compute(im, "exp", power));
  return t_compute(im, "exp",
                   t_scale(im, 1 / (double)p, t_compute(im, "log", power)));
}

static gs_term
pooled(on_import *im, gs_term patches, const on_window *w,
       const int64_t *after) {
  int which = im->row->which;
  return which == ON_MAX_POOL  ? t_compute(im, "reduceMax", patches)
         : which == ON_LP_POOL ? norm_of(im, patches)
                               : average(im, patches, w, after);
}

void
emit_pool(on_import *im) {
  gs_type image;
  on_window w;
  int64_t after[GS_MAX_RANK];
  bool most = im->row->which == ON_MAX_POOL;
  gs_term x = on_term_in(im, 0);
  if (on_wants(im, 1)) {
    on_fail(im, "the indices of the maxima are not supported");
    return;
  }
  if (!t_type(im, x, &image) || !on_window_of(im, &image, NULL, &w))
    return;
  padding_behind(im, &w, after);
  x = on_padded(im, x, &w, most ? "min" : "zero");
  x = t_windows(im, t_access(im, x, 2), w.kernel, w.stride, w.dilation, w.n);
  on_out(im, 0, pooled(im, x, &w, after), on_type_in(im, 0));
}

void
emit_global_pool(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  if (!t_type(im, x, &type) || type.rank < 3) {
    on_fail(im, "its input is not a batch of images");
    return;
  }
  x = t_access(im, x, 2);
  x = im->row->which == ON_LP_POOL
          ? norm_of(im, x)
          : t_compute(
                im, im->row->which == ON_MAX_POOL ? "reduceMax" : "reduceMean",
                x);
  for (uint32_t k = 2; k < type.rank; k++)
    x = t_insert(im, x, k);
  on_out(im, 0, x, on_type_in(im, 0));
}
