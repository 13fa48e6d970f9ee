/* SPDX-License-Identifier: MIT */
/* vec.c - the growth of vectors.
 *
 * By half again, so that pushing stays linear; never past 2^32 - 1 items,
 * which counts as memory that ran out. */
#include "base/vec.h"
#include <assert.h>

enum { SMALLEST = 8 };

void *
bs_vec_grow(bs_heap *heap, void *data, uint32_t *have, uint64_t cap,
            size_t size) {
  assert(cap > *have && size);
  if (cap > UINT32_MAX)
    bs_out_of_memory(heap);
  uint64_t want = (uint64_t)*have + *have / 2;
  if (want < SMALLEST)
    want = SMALLEST;
  if (want < cap)
    want = cap;
  if (want > UINT32_MAX)
    want = UINT32_MAX;
  size_t bytes;
  if (__builtin_mul_overflow((size_t)want, size, &bytes))
    bs_out_of_memory(heap);
  data = bs_realloc(heap, data, bytes);
  *have = (uint32_t)want;
  assert(*have >= cap);
  return data;
}
