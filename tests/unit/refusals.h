/* SPDX-License-Identifier: MIT */
/* refusals.h - a memory hook that refuses, for tests of running out of memory.
 */
#ifndef TESTS_REFUSALS_H
#define TESTS_REFUSALS_H

#include <stdint.h>
#include <stdlib.h>

typedef struct counter {
  uint64_t left; /* allocations before the first refusal */
  uint64_t used;
  int64_t live; /* blocks that were not given back */
} counter;

static inline void *
count_down(void *arg, void *block, size_t size) {
  counter *c = arg;
  if (!size) {
    c->live -= block != NULL;
    free(block);
    return NULL;
  }
  c->used++;
  if (!c->left)
    return NULL;
  c->left--;
  c->live += !block;
  return realloc(block, size);
}

#endif
