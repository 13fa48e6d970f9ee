/* SPDX-License-Identifier: MIT */
/* sizes C H W K STRIDE; NCHW, batch 1; the padded input is a copy */
#include "naive.h"

enum { PAD = K / 2, HO = (H - 1) / STRIDE + 1, WO = (W - 1) / STRIDE + 1 };

static float padded[C][H + 2 * PAD][W + 2 * PAD];

void
kernel(float *const *in, float *const *out) {
  const float(*restrict image)[H][W] = (const void *)in[0];
  const float(*restrict weights)[K][K] = (const void *)in[1];
  float(*restrict result)[HO][WO] = (void *)out[0];
  for (int c = 0; c < C; c++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++)
        padded[c][y + PAD][x + PAD] = image[c][y][x];
  for (int c = 0; c < C; c++)
    for (int y = 0; y < HO; y++)
      for (int x = 0; x < WO; x++) {
        float sum = 0;
        for (int dy = 0; dy < K; dy++)
          for (int dx = 0; dx < K; dx++)
            sum += weights[c][dy][dx] *
                   padded[c][y * STRIDE + dy][x * STRIDE + dx];
        result[c][y][x] = sum;
      }
}
