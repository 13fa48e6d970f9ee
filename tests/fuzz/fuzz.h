/* SPDX-License-Identifier: MIT */
/* fuzz.h - what the fuzz targets share: bytes read by a body within a heap,
 * which is all given back, and once more with half of the memory that took. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include "base/heap.h"
#include <stdlib.h>
#include <string.h>

typedef struct input {
  bs_heap *heap;
  const char *bytes;
  size_t size;
} input;

static inline void
require(bool holds) {
  if (!holds)
    abort();
}

/* limit: bytes, 0: none, and then the body comes to its end.  Returns the peak.
 */
static inline size_t
read_within(void (*body)(void *), const void *bytes, size_t size,
            size_t limit) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, limit);
  input in = {&heap, bytes, size};
  bool whole = bs_protect(&heap, body, &in);
  require(whole || limit);
  size_t peak = heap.peak;
  bs_heap_done(&heap);
  require(heap.used == 0);
  return peak;
}

static inline void
read_twice(void (*body)(void *), const void *bytes, size_t size, size_t limit) {
  read_within(body, bytes, size, read_within(body, bytes, size, limit) / 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
