/* SPDX-License-Identifier: MIT */
/* sizes N M */
#include "naive.h"

static float mean[M], centred[N][M];

void
kernel(float *const *in, float *const *out) {
  const float(*restrict data)[M] = (const void *)in[0];
  float(*restrict cov)[M] = (void *)out[0];
  for (int j = 0; j < M; j++) {
    mean[j] = 0;
    for (int i = 0; i < N; i++)
      mean[j] += data[i][j];
    mean[j] /= N;
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      centred[i][j] = data[i][j] - mean[j];
  for (int i = 0; i < M; i++)
    for (int j = i; j < M; j++)
      cov[i][j] = 0;
  for (int i = 0; i < M; i++)
    for (int k = 0; k < N; k++)
      for (int j = i; j < M; j++)
        cov[i][j] += centred[k][i] * centred[k][j];
  for (int i = 0; i < M; i++)
    for (int j = i; j < M; j++)
      cov[j][i] = cov[i][j] /= (float)(N - 1);
}
