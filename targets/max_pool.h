/* SPDX-License-Identifier: MIT */
/* A C model of a pooling unit.  Strides are in elements.
 *
 *   result[i, j] = max(a[i, 2 j], a[i, 2 j + 1]) */
#ifndef GLEN_MAX_POOL_H
#define GLEN_MAX_POOL_H

#if defined(__GNUC__)
#define GLEN_MAX_POOL_FUNCTION static __attribute__((unused))
#else
#define GLEN_MAX_POOL_FUNCTION static
#endif

GLEN_MAX_POOL_FUNCTION void
glen_max_pool2(long rows, long cols, float *result, long result_i,
               long result_j, const float *a, long a_i, long a_j) {
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < cols; j++) {
      float x = a[i * a_i + 2 * j * a_j];
      float y = a[i * a_i + (2 * j + 1) * a_j];
      result[i * result_i + j * result_j] = x > y ? x : y;
    }
}

#endif
