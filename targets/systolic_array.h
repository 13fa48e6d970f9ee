/* SPDX-License-Identifier: MIT */
/* A C model of a weight-stationary systolic array.
 *
 * The cells hold a tile of the weights; rows of the other operand stream
 * through, each cell adds its product to the partial sum that passes by.  A
 * call for more cells than a tile is served tile by tile, partial sums going
 * through the result.  Strides are in elements.
 *
 *   result[i, j] = sum over k of a0[i, k] * a1[k, j] */
#ifndef GLEN_SYSTOLIC_ARRAY_H
#define GLEN_SYSTOLIC_ARRAY_H

#include <stdint.h>

#if defined(__GNUC__)
#define GLEN_SYSTOLIC_FUNCTION static __attribute__((unused))
#else
#define GLEN_SYSTOLIC_FUNCTION static
#endif

#define GLEN_SYSTOLIC_TILE 64

/* T: element, S: sum, A: the type that sums are added in (unsigned wraps). */
#define GLEN_SYSTOLIC_ARRAY(NAME, T, S, A)                                     \
  GLEN_SYSTOLIC_FUNCTION void NAME(long rows, long cols, long batch,           \
                                   S *result, long result_i, long result_j,    \
                                   const T *a0, long a0_i, long a0_k,          \
                                   const T *a1, long a1_k, long a1_j) {        \
    T weights[GLEN_SYSTOLIC_TILE][GLEN_SYSTOLIC_TILE];                         \
    A sums[GLEN_SYSTOLIC_TILE];                                                \
    for (long j0 = 0; j0 < cols; j0 += GLEN_SYSTOLIC_TILE)                     \
      for (long k0 = 0; k0 < rows; k0 += GLEN_SYSTOLIC_TILE) {                 \
        long nj = cols - j0, nk = rows - k0;                                   \
        if (nj > GLEN_SYSTOLIC_TILE)                                           \
          nj = GLEN_SYSTOLIC_TILE;                                             \
        if (nk > GLEN_SYSTOLIC_TILE)                                           \
          nk = GLEN_SYSTOLIC_TILE;                                             \
        for (long k = 0; k < nk; k++)                                          \
          for (long j = 0; j < nj; j++)                                        \
            weights[k][j] = a1[(k0 + k) * a1_k + (j0 + j) * a1_j];             \
        for (long i = 0; i < batch; i++) {                                     \
          S *out = result + i * result_i + j0 * result_j;                      \
          for (long j = 0; j < nj; j++)                                        \
            sums[j] = k0 ? (A)out[j * result_j] : (A)0;                        \
          for (long k = 0; k < nk; k++) {                                      \
            S x = (S)a0[i * a0_i + (k0 + k) * a0_k];                           \
            for (long j = 0; j < nj; j++)                                      \
              sums[j] += (A)(x * (S)weights[k][j]);                            \
          }                                                                    \
          for (long j = 0; j < nj; j++)                                        \
            out[j * result_j] = (S)sums[j];                                    \
        }                                                                      \
      }                                                                        \
  }

GLEN_SYSTOLIC_ARRAY(glen_systolic, float, float, float)
GLEN_SYSTOLIC_ARRAY(glen_systolic_i8, int8_t, int32_t, uint32_t)

#endif
