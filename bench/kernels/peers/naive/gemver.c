/* SPDX-License-Identifier: MIT */
/* sizes N; in a u1 v1 u2 v2 y z, out b x w */
#include "naive.h"

void
kernel(float *const *in, float *const *out) {
  const float(*restrict a)[N] = (const void *)in[0];
  const float *restrict u1 = in[1], *restrict v1 = in[2];
  const float *restrict u2 = in[3], *restrict v2 = in[4];
  const float *restrict y = in[5], *restrict z = in[6];
  float(*restrict b)[N] = (void *)out[0];
  float *restrict x = out[1], *restrict w = out[2];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      b[i][j] = a[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
  for (int i = 0; i < N; i++)
    x[i] = 0;
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      x[i] += 1.2f * b[j][i] * y[j];
  for (int i = 0; i < N; i++)
    x[i] += z[i];
  for (int i = 0; i < N; i++) {
    w[i] = 0;
    for (int j = 0; j < N; j++)
      w[i] += 1.5f * b[i][j] * x[j];
  }
}
