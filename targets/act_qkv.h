/* SPDX-License-Identifier: MIT */
/* A functional model of the unit of act-qkv.target: two memories of rows of 64
 * bf16, which are computed with in f32. */
#include <math.h>
#include <stdint.h>
#include <string.h>
static uint16_t qkv_d1[128 * 64], qkv_d2[64 * 64];
static inline float
qkv_float(uint16_t x) {
  uint32_t bits = (uint32_t)x << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
static inline uint16_t
qkv_bf16(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  if (f != f)
    return 0x7fc0;
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
/* Element c of row r lies row * r + column * c behind the first. */
static inline void
qkv_load(int rows, int columns, const uint16_t *from, long row, long column,
         long to) {
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++)
      qkv_d1[64 * (to + r) + c] = from[row * r + column * c];
}
static inline void
qkv_store(int rows, int columns, const uint16_t *memory, long from,
          uint16_t *to, long row) {
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++)
      to[row * r + c] = memory[64 * (from + r) + c];
}
static inline void
qkv_mov(long rows, long from, long to) {
  memcpy(qkv_d1 + 64 * to, qkv_d2 + 64 * from, (size_t)rows * 128);
}
static inline void
qkv_gemm(long a, long b, long to) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      double s = 0;
      for (int k = 0; k < 64; k++)
        s += (double)qkv_float(qkv_d1[64 * (a + i) + k]) *
             (double)qkv_float(qkv_d1[64 * (b + k) + j]);
      qkv_d2[64 * (to + i) + j] = qkv_bf16((float)s);
    }
}
static inline void
qkv_softmax(long at) {
  for (int i = 0; i < 64; i++) {
    uint16_t *row = qkv_d2 + 64 * (at + i);
    double sum = 0;
    for (int j = 0; j < 64; j++) {
      row[j] = qkv_bf16(expf(qkv_float(row[j])));
      sum += (double)qkv_float(row[j]);
    }
    float total = qkv_float(qkv_bf16((float)sum));
    for (int j = 0; j < 64; j++)
      row[j] = qkv_bf16(qkv_float(row[j]) / total);
  }
}
