/* SPDX-License-Identifier: MIT */
/* vec.h - growable arrays of any type, on a heap.
 *
 *   BS_VEC(int) v = {0};
 *   bs_push(heap, &v, 3);
 *   v.data[0], v.len
 *
 * Lengths are 32 bits; growing past them is out of memory. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/heap.h"
#include <assert.h>

#define BS_VEC(T)                                                              \
  struct {                                                                     \
    T *data;                                                                   \
    uint32_t len, cap;                                                         \
  }

/* Room for `cap` items of `size` bytes; returns the block, sets *have. */
void *bs_vec_grow(bs_heap *, void *data, uint32_t *have, uint64_t cap,
                  size_t size);

static inline uint32_t
bs_last_of(uint32_t len) {
  assert(len > 0);
  return len - 1;
}

static inline uint32_t
bs_drop_last(uint32_t *len) {
  assert(*len > 0);
  return --*len;
}

#define bs_reserve(heap, v, n)                                                 \
  do {                                                                         \
    if ((uint64_t)(n) > (v)->cap)                                              \
      (v)->data = bs_vec_grow((heap), (v)->data, &(v)->cap, (uint64_t)(n),     \
                              sizeof *(v)->data);                              \
  } while (0)
#define bs_push(heap, v, ...)                                                  \
  do {                                                                         \
    bs_reserve((heap), (v), (uint64_t)(v)->len + 1);                           \
    (v)->data[(v)->len++] = (__VA_ARGS__);                                     \
  } while (0)
/* Of vectors that are not empty. */
#define bs_pop(v)   ((v)->data[bs_drop_last(&(v)->len)])
#define bs_last(v)  ((v)->data[bs_last_of((v)->len)])
#define bs_clear(v) ((v)->len = 0)
#define bs_vec_done(heap, v)                                                   \
  do {                                                                         \
    bs_free((heap), (v)->data);                                                \
    (v)->data = NULL;                                                          \
    (v)->len = (v)->cap = 0;                                                   \
  } while (0)

#endif
