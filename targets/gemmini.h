/* SPDX-License-Identifier: MIT */
/* A functional model of the unit of gemmini.target: a scratchpad of rows of 16
 * bytes, an accumulator of rows of 16 sums, and a 16 x 16 array. */
#include <math.h>
#include <stdint.h>
static int8_t gemmini_pad[16384][16];
static int32_t gemmini_acc[1024][16];
static inline void
gemmini_mvin(int rows, int columns, const int8_t *from, long stride, long to) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      gemmini_pad[to + i][j] = from[i * stride + j];
}
/* Rows of a stream through the array that holds b, whose rows are columns. */
static inline void
gemmini_compute(int more, int rows, int columns, int depth, long a, long b,
                long to) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      uint32_t s = more ? (uint32_t)gemmini_acc[to + i][j] : 0; /* it wraps */
      for (int k = 0; k < depth; k++)
        s += (uint32_t)(gemmini_pad[a + i][k] * gemmini_pad[b + j][k]);
      gemmini_acc[to + i][j] = (int32_t)s;
    }
}
static inline void
gemmini_mvout(int rows, int columns, long from, int32_t *to, long stride) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      to[i * stride + j] = gemmini_acc[from + i][j];
}
static inline void
gemmini_mvin_sums(int rows, int columns, const int32_t *from, long stride,
                  long to) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      gemmini_acc[to + i][j] = from[i * stride + j];
}
/* By 2^-7, rounded down, as the shift of an f32 is. */
static inline void
gemmini_mvout_scaled(int least, int rows, int columns, long from, int8_t *to,
                     long stride) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      int32_t sum = gemmini_acc[from + i][j];
      float x = floorf(0.0078125f * (float)(least < 0 || sum > 0 ? sum : 0));
      to[i * stride + j] = (int8_t)(x < -128 ? -128 : x > 127 ? 127 : x);
    }
}
