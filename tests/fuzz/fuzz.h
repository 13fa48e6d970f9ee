/* SPDX-License-Identifier: MIT */
/* fuzz.h - what the fuzz targets share: bytes read by a body within a heap,
 * which is all given back; and of an input of four once more with half of the
 * memory that took, which is as dear as the first time. */
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

/* parent: NULL, or a heap for which the body's is an additional one.  limit:
 * bytes, 0: none, and then the body comes to its end.  Returns the peak. */
static inline size_t
read_within(bs_heap *parent, void (*body)(void *), const void *bytes,
            size_t size, size_t limit) {
  bs_heap heap;
  if (parent)
    bs_heap_init_child(&heap, parent, limit);
  else
    bs_heap_init(&heap, NULL, limit);
  input in = {&heap, bytes, size};
  bool whole = bs_protect(&heap, body, &in);
  require(whole || limit);
  size_t peak = heap.peak;
  bs_heap_done(&heap);
  require(heap.used == 0);
  return peak;
}

/* One input of four, by its bytes: the same ones each time. */
static inline bool
chosen(const char *bytes, size_t size) {
  uint32_t sum = 0;
  for (size_t k = 0; k < size; k++)
    sum = sum * 31 + (unsigned char)bytes[k];
  return (sum ^ sum >> 7) % 4 == 0;
}

static inline void
read_twice_below(bs_heap *parent, void (*body)(void *), const void *bytes,
                 size_t size, size_t limit) {
  size_t peak = read_within(parent, body, bytes, size, limit);
  if (chosen(bytes, size))
    read_within(parent, body, bytes, size, peak / 2);
}

static inline void
read_twice(void (*body)(void *), const void *bytes, size_t size, size_t limit) {
  read_twice_below(NULL, body, bytes, size, limit);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
