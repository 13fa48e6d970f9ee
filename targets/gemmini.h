/* SPDX-License-Identifier: MIT */
/* A functional model of the unit of gemmini.target: a scratchpad of rows of 16
 * bytes, an accumulator of rows of 16 sums, and a 16 x 16 array. */
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
      int32_t s = more ? gemmini_acc[to + i][j] : 0;
      for (int k = 0; k < depth; k++)
        s += gemmini_pad[a + i][k] * gemmini_pad[b + j][k];
      gemmini_acc[to + i][j] = s;
    }
}
static inline void
gemmini_mvout(int rows, int columns, long from, int32_t *to, long stride) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      to[i * stride + j] = gemmini_acc[from + i][j];
}
