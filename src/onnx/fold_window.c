/* SPDX-License-Identifier: MIT */
/* fold_window.c - windows of signals: sums of a few cosines. */
#include "onnx/onnx_import.h"

#include <math.h>

/* Factors of cos(0), cos(t) and cos(2 t), where t goes around once. */
static const double cosines[][3] = {
    [ON_HANN] = {0.5, -0.5, 0},
    [ON_HAMMING] = {25.0 / 46, -21.0 / 46, 0},
    [ON_BLACKMAN] = {0.42, -0.5, 0.08},
};

static double
window_at(const double *c, int64_t i, int64_t n) {
  double t = n ? 2 * acos(-1) * (double)i / (double)n : 0;
  return c[0] + c[1] * cos(t) + c[2] * cos(2 * t);
}

/* A periodic window begins again where it ends; the other ends as it begins. */
void
fold_window(on_import *im) {
  const on_array *size = on_array_in(im, 0);
  int64_t type = on_attr_int(im, "output_datatype", ON_FLOAT);
  if (!size || size->n != 1 || type < 0 || type > 100) {
    on_fail(im, "its size is not a number");
    return;
  }
  int64_t n = on_int(size, 0);
  n = n < 0 ? -1 : n; /* is refused below */
  int64_t period = on_attr_int(im, "periodic", 1) ? n : n - 1;
  on_array *out = on_array_new(im, (int32_t)type, &n, 1);
  for (int64_t k = 0; out && k < n; k++)
    on_set_real(out, k, window_at(cosines[im->row->which], k, period));
  on_out_array(im, 0, out);
}
