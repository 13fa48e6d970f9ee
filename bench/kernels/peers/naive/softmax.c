/* SPDX-License-Identifier: MIT */
/* sizes R N */
#include "naive.h"

#include <math.h>

void
kernel(float *const *in, float *const *out) {
  for (int r = 0; r < R; r++) {
    const float *x = in[0] + r * N;
    float *y = out[0] + r * N, most = x[0], sum = 0;
    for (int k = 1; k < N; k++)
      most = x[k] > most ? x[k] : most;
    for (int k = 0; k < N; k++)
      sum += y[k] = expf(x[k] - most);
    for (int k = 0; k < N; k++)
      y[k] /= sum;
  }
}
