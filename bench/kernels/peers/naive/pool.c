/* SPDX-License-Identifier: MIT */
/* sizes C H W K STRIDE PAD; the largest of K x K pixels, NCHW, batch 1 */
#include "naive.h"

enum {
  HO = (H + 2 * PAD - K) / STRIDE + 1,
  WO = (W + 2 * PAD - K) / STRIDE + 1
};

void
kernel(float *const *in, float *const *out) {
  const float(*restrict image)[H][W] = (const void *)in[0];
  float(*restrict result)[HO][WO] = (void *)out[0];
  for (int c = 0; c < C; c++)
    for (int y = 0; y < HO; y++)
      for (int x = 0; x < WO; x++) {
        float most = -__builtin_inff();
        for (int dy = 0; dy < K; dy++)
          for (int dx = 0; dx < K; dx++) {
            int i = y * STRIDE + dy - PAD, j = x * STRIDE + dx - PAD;
            if (i >= 0 && i < H && j >= 0 && j < W)
              most = image[c][i][j] > most ? image[c][i][j] : most;
          }
        result[c][y][x] = most;
      }
}
