/* SPDX-License-Identifier: MIT */
/* sizes N T */
#include "naive.h"

static float a[N][N];

void
kernel(float *const *in, float *const *out) {
  const float(*restrict start)[N] = (const void *)in[0];
  float(*restrict result)[N] = (void *)out[0];
  static float b[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = b[i][j] = start[i][j];
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        b[i][j] = 0.2f * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] +
                          a[i - 1][j]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        a[i][j] = 0.2f * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i + 1][j] +
                          b[i - 1][j]);
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      result[i][j] = a[i][j];
}
