/* SPDX-License-Identifier: MIT */
/* sizes R Q P; the loops in the order of PolyBench */
#include "naive.h"

void
kernel(float *const *in, float *const *out) {
  const float(*restrict a)[Q][P] = (const void *)in[0];
  const float(*restrict c4)[P] = (const void *)in[1];
  float(*restrict sum)[Q][P] = (void *)out[0];
  for (int r = 0; r < R; r++)
    for (int q = 0; q < Q; q++)
      for (int p = 0; p < P; p++) {
        sum[r][q][p] = 0;
        for (int s = 0; s < P; s++)
          sum[r][q][p] += a[r][q][s] * c4[s][p];
      }
}
