/* SPDX-License-Identifier: MIT */
/* sizes C H W O K STRIDE PAD; NHWC, batch 1, filters as O H W I */
#include "naive.h"

enum {
  HO = (H + 2 * PAD - K) / STRIDE + 1,
  WO = (W + 2 * PAD - K) / STRIDE + 1
};

static float padded[H + 2 * PAD][W + 2 * PAD][C];
static float turned[K][K][C][O];

void
kernel(float *const *in, float *const *out) {
  const float(*restrict image)[W][C] = (const void *)in[0];
  const float(*restrict weights)[K][K][C] = (const void *)in[1];
  float(*restrict result)[WO][O] = (void *)out[0];
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      for (int c = 0; c < C; c++)
        padded[y + PAD][x + PAD][c] = image[y][x][c];
  for (int o = 0; o < O; o++)
    for (int dy = 0; dy < K; dy++)
      for (int dx = 0; dx < K; dx++)
        for (int c = 0; c < C; c++)
          turned[dy][dx][c][o] = weights[o][dy][dx][c];
  for (int y = 0; y < HO; y++)
    for (int x = 0; x < WO; x++) {
      for (int o = 0; o < O; o++)
        result[y][x][o] = 0;
      for (int dy = 0; dy < K; dy++)
        for (int dx = 0; dx < K; dx++)
          for (int c = 0; c < C; c++)
            for (int o = 0; o < O; o++)
              result[y][x][o] += padded[y * STRIDE + dy][x * STRIDE + dx][c] *
                                 turned[dy][dx][c][o];
    }
}
