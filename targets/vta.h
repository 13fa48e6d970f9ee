/* SPDX-License-Identifier: MIT */
/* A functional model of the unit of vta.target: buffers of rows of 16 bytes for
 * activations, of blocks of 16 x 16 bytes for weights, and of rows of 16 sums,
 * on which a matrix core and a unit for shifts and clips work row by row. */
#include <stdint.h>
#include <string.h>
static int8_t vta_inp[2048][16];
static int8_t vta_wgt[1024][16][16];
static int32_t vta_acc[2048][16];
static inline void
vta_load(int rows, const int8_t *from, long stride, long to) {
  for (int i = 0; i < rows; i++)
    memcpy(vta_inp[to + i], from + i * stride, 16);
}
static inline void
vta_load_weights(const int8_t *from, long to) {
  memcpy(vta_wgt[to / 16], from, 256);
}
static inline void
vta_load_sums(int rows, const int32_t *from, long stride, long to) {
  for (int i = 0; i < rows; i++)
    memcpy(vta_acc[to + i], from + i * stride, sizeof vta_acc[0]);
}
/* A row a cycle: a vector of 16 times a block, added to a row of sums, which
 * are zero before where a sum begins. */
static inline void
vta_gemm(int more, int rows, long a, long b, long to) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < 16; j++) {
      uint32_t s = more ? (uint32_t)vta_acc[to + i][j] : 0; /* it wraps */
      for (int k = 0; k < 16; k++)
        s += (uint32_t)(vta_inp[a + i][k] * vta_wgt[b / 16][j][k]);
      vta_acc[to + i][j] = (int32_t)s;
    }
}
/* A maximum, a shift to the right that rounds down, and a clip, row by row, of
 * which the low bytes are stored. */
static inline void
vta_store(int least, int shift, int rows, long from, int8_t *to, long stride) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < 16; j++) {
      int64_t sum = vta_acc[from + i][j];
      int64_t x = least < 0 || sum > 0 ? sum : 0;
      x = x < 0 ? -((-x + ((int64_t)1 << shift) - 1) >> shift) : x >> shift;
      to[i * stride + j] = (int8_t)(x < -128 ? -128 : x > 127 ? 127 : x);
    }
}
static inline void
vta_store_low(int rows, long from, int8_t *to, long stride) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < 16; j++)
      to[i * stride + j] = (int8_t)(uint8_t)(uint32_t)vta_acc[from + i][j];
}
