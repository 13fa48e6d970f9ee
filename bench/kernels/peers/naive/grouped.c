/* SPDX-License-Identifier: MIT */
/* sizes C H W O K GROUPS; NCHW, batch 1; the padded input is a copy */
#include "naive.h"

enum { PAD = K / 2, CG = C / GROUPS, OG = O / GROUPS };

static float padded[C][H + 2 * PAD][W + 2 * PAD];

void
kernel(float *const *in, float *const *out) {
  const float(*restrict image)[H][W] = (const void *)in[0];
  const float(*restrict weights)[CG][K][K] = (const void *)in[1];
  float(*restrict result)[H][W] = (void *)out[0];
  for (int c = 0; c < C; c++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++)
        padded[c][y + PAD][x + PAD] = image[c][y][x];
  for (int o = 0; o < O; o++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++)
        result[o][y][x] = 0;
  for (int o = 0; o < O; o++)
    for (int c = 0; c < CG; c++)
      for (int dy = 0; dy < K; dy++)
        for (int dx = 0; dx < K; dx++)
          for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
              result[o][y][x] += weights[o][c][dy][dx] *
                                 padded[o / OG * CG + c][y + dy][x + dx];
}
