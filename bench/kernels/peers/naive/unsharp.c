/* SPDX-License-Identifier: MIT */
/* sizes H W */
#include "naive.h"

static float gray[H][W], down[H][W], ratio[H][W];

static const float gauss[4] = {0.2706821495f, 0.2167453203f, 0.1112807576f,
                               0.0366328470f};

void
kernel(float *const *in, float *const *out) {
  const float(*restrict image)[H][W] = (const void *)in[0];
  float(*restrict sharpened)[H][W] = (void *)out[0];
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      gray[y][x] = 0.299f * image[0][y][x] + 0.587f * image[1][y][x] +
                   0.114f * image[2][y][x];
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      float sum = gauss[0] * gray[y][x];
      for (int d = 1; d <= 3; d++)
        sum += gauss[d] * (gray[clamp(y - d, 0, H - 1)][x] +
                           gray[clamp(y + d, 0, H - 1)][x]);
      down[y][x] = sum;
    }
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      float sum = gauss[0] * down[y][x];
      for (int d = 1; d <= 3; d++)
        sum += gauss[d] * (down[y][clamp(x - d, 0, W - 1)] +
                           down[y][clamp(x + d, 0, W - 1)]);
      ratio[y][x] = (2 * gray[y][x] - sum) / gray[y][x];
    }
  for (int c = 0; c < 3; c++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++)
        sharpened[c][y][x] = image[c][y][x] * ratio[y][x];
}
