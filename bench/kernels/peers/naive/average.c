/* SPDX-License-Identifier: MIT */
/* sizes C H W K STRIDE; NCHW, batch 1 */
#include "naive.h"

enum { HO = (H - K) / STRIDE + 1, WO = (W - K) / STRIDE + 1 };

void
kernel(float *const *in, float *const *out) {
  const float(*restrict image)[H][W] = (const void *)in[0];
  float(*restrict result)[HO][WO] = (void *)out[0];
  for (int c = 0; c < C; c++)
    for (int y = 0; y < HO; y++)
      for (int x = 0; x < WO; x++) {
        float sum = 0;
        for (int dy = 0; dy < K; dy++)
          for (int dx = 0; dx < K; dx++)
            sum += image[c][y * STRIDE + dy][x * STRIDE + dx];
        result[c][y][x] = sum / (K * K);
      }
}
