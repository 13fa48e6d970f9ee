/* SPDX-License-Identifier: MIT */
/* limbs.c - memory of the integers of GMP, which isl computes with.
 *
 * isl makes and drops integers of one limb by the million, each a block of its
 * own: a fifth of the time of a schedule is malloc's.  Blocks of up to two
 * limbs come from a list of free ones here, one for each thread; what is freed
 * by another thread than took it is that thread's from then on.  Larger ones
 * are malloc's.
 *
 * For programs only, linked whole: what GMP uses is the process's choice, and
 * must be made before any integer is, so no library may make it.  Under
 * sanitizers, too: no code of ours holds an integer of GMP's, and what isl
 * keeps them in is malloc's as ever. */
#include "limbs/small.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = sizeof(lm_block), CHUNK = 4096 };

_Thread_local lm_block *lm_unused;
static _Thread_local lm_block *fresh, *end; /* were never taken */

/* All that was ever asked for, the first block of each naming the one before:
 * threads end, and what they took is not lost. */
static lm_block *chunks;

static void *
or_die(void *memory) {
  if (memory)
    return memory;
  /* As GMP does: its callers have no way to go on. */
  fputs("out of memory for integers\n", stderr);
  abort();
}

lm_block *
lm_take_fresh(void) {
  if (fresh == end) {
    fresh = or_die(malloc(CHUNK * sizeof *fresh));
    end = fresh + CHUNK;
    fresh->next = __atomic_exchange_n(&chunks, fresh, __ATOMIC_RELAXED);
    fresh++;
  }
  return fresh++;
}

static void *
take(size_t size) {
  return size <= SMALL ? lm_take() : or_die(malloc(size));
}

static void
give(void *memory, size_t size) {
  if (size > SMALL)
    free(memory);
  else
    lm_give(memory);
}

static void *
resize(void *memory, size_t old, size_t size) {
  if (old <= SMALL && size <= SMALL)
    return memory;
  if (old > SMALL && size > SMALL)
    return or_die(realloc(memory, size));
  void *to = take(size);
  memcpy(to, memory, old < size ? old : size);
  give(memory, old);
  return to;
}

__attribute__((constructor)) static void
use_lists(void) {
  mp_set_memory_functions(take, resize, give);
}
