/* SPDX-License-Identifier: MIT */
/* sizes I J K L M; the loops in the order of PolyBench */
#include "naive.h"

static float e[I][J], f[J][L];

void
kernel(float *const *in, float *const *out) {
  const float(*restrict a)[K] = (const void *)in[0];
  const float(*restrict b)[J] = (const void *)in[1];
  const float(*restrict c)[M] = (const void *)in[2];
  const float(*restrict d)[L] = (const void *)in[3];
  float(*restrict g)[L] = (void *)out[0];
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++) {
      e[i][j] = 0;
      for (int k = 0; k < K; k++)
        e[i][j] += a[i][k] * b[k][j];
    }
  for (int i = 0; i < J; i++)
    for (int j = 0; j < L; j++) {
      f[i][j] = 0;
      for (int k = 0; k < M; k++)
        f[i][j] += c[i][k] * d[k][j];
    }
  for (int i = 0; i < I; i++)
    for (int j = 0; j < L; j++) {
      g[i][j] = 0;
      for (int k = 0; k < J; k++)
        g[i][j] += e[i][k] * f[k][j];
    }
}
