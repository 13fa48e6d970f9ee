/* SPDX-License-Identifier: MIT */
/* sizes I J K L; the loops in the order of PolyBench */
#include "naive.h"

static float tmp[I][J];

void
kernel(float *const *in, float *const *out) {
  const float(*restrict a)[K] = (const void *)in[0];
  const float(*restrict b)[J] = (const void *)in[1];
  const float(*restrict c)[L] = (const void *)in[2];
  const float(*restrict d)[L] = (const void *)in[3];
  float(*restrict r)[L] = (void *)out[0];
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++) {
      tmp[i][j] = 0;
      for (int k = 0; k < K; k++)
        tmp[i][j] += 1.5f * a[i][k] * b[k][j];
    }
  for (int i = 0; i < I; i++)
    for (int j = 0; j < L; j++) {
      r[i][j] = 1.2f * d[i][j];
      for (int k = 0; k < J; k++)
        r[i][j] += tmp[i][k] * c[k][j];
    }
}
