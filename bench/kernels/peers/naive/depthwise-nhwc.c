/* SPDX-License-Identifier: MIT */
/* sizes C H W K STRIDE; NHWC, batch 1, filters as H W C */
#include "naive.h"

enum { PAD = K / 2, HO = (H - 1) / STRIDE + 1, WO = (W - 1) / STRIDE + 1 };

void
kernel(float *const *in, float *const *out) {
  const float(*restrict image)[W][C] = (const void *)in[0];
  const float(*restrict weights)[K][C] = (const void *)in[1];
  float(*restrict result)[WO][C] = (void *)out[0];
  for (int y = 0; y < HO; y++)
    for (int x = 0; x < WO; x++) {
      for (int c = 0; c < C; c++)
        result[y][x][c] = 0;
      for (int dy = 0; dy < K; dy++)
        for (int dx = 0; dx < K; dx++) {
          int iy = y * STRIDE + dy - PAD, ix = x * STRIDE + dx - PAD;
          if (iy < 0 || iy >= H || ix < 0 || ix >= W)
            continue;
          for (int c = 0; c < C; c++)
            result[y][x][c] += weights[dy][dx][c] * image[iy][ix][c];
        }
    }
}
