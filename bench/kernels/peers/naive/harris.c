/* SPDX-License-Identifier: MIT */
/* sizes H W of the image */
#include "naive.h"

static float gray[H][W], ix[H - 2][W - 2], iy[H - 2][W - 2];
static float ixx[H - 2][W - 2], iyy[H - 2][W - 2], ixy[H - 2][W - 2];
static float sxx[H - 4][W - 4], syy[H - 4][W - 4], sxy[H - 4][W - 4];

static const float edge = 1.0f / 12, middle = 2.0f / 12;

#define SUM(a)                                                                 \
  (a[y][x] + a[y][x + 1] + a[y][x + 2] + a[y + 1][x] + a[y + 1][x + 1] +       \
   a[y + 1][x + 2] + a[y + 2][x] + a[y + 2][x + 1] + a[y + 2][x + 2])

void
kernel(float *const *in, float *const *out) {
  const float(*restrict image)[H][W] = (const void *)in[0];
  float(*restrict corners)[W - 4] = (void *)out[0];
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      gray[y][x] = 0.299f * image[0][y][x] + 0.587f * image[1][y][x] +
                   0.114f * image[2][y][x];
  for (int y = 0; y < H - 2; y++)
    for (int x = 0; x < W - 2; x++) {
      ix[y][x] = edge * (gray[y][x + 2] - gray[y][x]) +
                 middle * (gray[y + 1][x + 2] - gray[y + 1][x]) +
                 edge * (gray[y + 2][x + 2] - gray[y + 2][x]);
      iy[y][x] = edge * (gray[y + 2][x] - gray[y][x]) +
                 middle * (gray[y + 2][x + 1] - gray[y][x + 1]) +
                 edge * (gray[y + 2][x + 2] - gray[y][x + 2]);
    }
  for (int y = 0; y < H - 2; y++)
    for (int x = 0; x < W - 2; x++) {
      ixx[y][x] = ix[y][x] * ix[y][x];
      iyy[y][x] = iy[y][x] * iy[y][x];
      ixy[y][x] = ix[y][x] * iy[y][x];
    }
  for (int y = 0; y < H - 4; y++)
    for (int x = 0; x < W - 4; x++) {
      sxx[y][x] = SUM(ixx);
      syy[y][x] = SUM(iyy);
      sxy[y][x] = SUM(ixy);
    }
  for (int y = 0; y < H - 4; y++)
    for (int x = 0; x < W - 4; x++) {
      float trace = sxx[y][x] + syy[y][x];
      corners[y][x] =
          sxx[y][x] * syy[y][x] - sxy[y][x] * sxy[y][x] - 0.04f * trace * trace;
    }
}
