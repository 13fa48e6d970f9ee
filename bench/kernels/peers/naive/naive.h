/* SPDX-License-Identifier: MIT */
/* naive.h - loops as one would write them down.
 *
 * Sizes are macros.  Each file defines kernel(); inputs and outputs are
 * row-major and in the order of the problem. */
#ifndef GLEN_BENCH_NAIVE_H
#define GLEN_BENCH_NAIVE_H

#include "worker.h"

void kernel(float *const *in, float *const *out);

/* c = 0; c += a b, in the order that runs along the rows. */
#define MULTIPLY(c, a, b, M, N, K)                                             \
  for (int i = 0; i < M; i++)                                                  \
    for (int j = 0; j < N; j++)                                                \
      c[i][j] = 0;                                                             \
  for (int i = 0; i < M; i++)                                                  \
    for (int k = 0; k < K; k++)                                                \
      for (int j = 0; j < N; j++)                                              \
        c[i][j] += a[i][k] * b[k][j];

static inline int
clamp(int x, int low, int high) {
  return x < low ? low : x > high ? high : x;
}

#endif
