/* SPDX-License-Identifier: MIT */
/* sizes I J K L M */
#include "naive.h"

static float e[I][J], f[J][L];

void
kernel(float *const *in, float *const *out) {
  const float(*restrict a)[K] = (const void *)in[0];
  const float(*restrict b)[J] = (const void *)in[1];
  const float(*restrict c)[M] = (const void *)in[2];
  const float(*restrict d)[L] = (const void *)in[3];
  float(*restrict g)[L] = (void *)out[0];
  MULTIPLY(e, a, b, I, J, K)
  MULTIPLY(f, c, d, J, L, M)
  MULTIPLY(g, e, f, I, L, J)
}
