/* limbs.c - memory of the integers of GMP, which isl computes with.
 *
 * isl makes and drops integers of one limb by the million, each a block of its
 * own: a fifth of the time of a schedule is malloc's.  Blocks of up to two
 * limbs come from a list of free ones here, one for each thread; what is freed
 * by another thread than took it is that thread's from then on.  Larger ones
 * are malloc's.
 *
 * For programs only, linked whole: what GMP uses is the process's choice, and
 * must be made before any integer is, so no library may make it.  Not under
 * sanitizers, which would not see what is used after it was freed. */
#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 2 * sizeof(mp_limb_t), CHUNK = 4096 };

typedef union block {
  union block *next; /* while it is free */
  mp_limb_t limbs[2];
} block;

static _Thread_local block *unused;      /* were freed */
static _Thread_local block *fresh, *end; /* were never taken */

static void *
or_die(void *memory) {
  if (memory)
    return memory;
  /* As GMP does: its callers have no way to go on. */
  fputs("out of memory for integers\n", stderr);
  abort();
}

static void *
take_small(void) {
  block *b = unused;
  if (b) {
    unused = b->next;
    return b;
  }
  if (fresh == end) {
    fresh = or_die(malloc(CHUNK * sizeof *fresh));
    end = fresh + CHUNK;
  }
  return fresh++;
}

static void *
take(size_t size) {
  return size <= SMALL ? take_small() : or_die(malloc(size));
}

static void
give(void *memory, size_t size) {
  block *b = memory;
  if (size > SMALL) {
    free(memory);
    return;
  }
  b->next = unused;
  unused = b;
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
