/* SPDX-License-Identifier: MIT */
/* arena.h - bump allocation by lifetime, on a heap.
 *
 * Memory lives until the arena is reset or done, or its heap is.  Blocks are
 * aligned for any type. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/heap.h"
#include <stdarg.h>

typedef struct bs_chunk bs_chunk;

typedef struct bs_arena {
  bs_heap *heap;
  bs_chunk *chunk; /* current; older ones are linked behind it */
  char *at, *end;
} bs_arena;

void bs_arena_init(bs_arena *, bs_heap *);
void bs_arena_reset(bs_arena *); /* keeps one chunk */
void bs_arena_done(bs_arena *);

void *bs_arena_alloc(bs_arena *, size_t n);
void *bs_arena_calloc(bs_arena *, size_t count, size_t size);
void *bs_arena_copy(bs_arena *, const void *from, size_t n);
char *bs_arena_strdup(bs_arena *, const char *s);
char *bs_arena_printf(bs_arena *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *bs_arena_vprintf(bs_arena *, const char *format, va_list)
    __attribute__((format(printf, 2, 0)));

#define BS_NEW(arena, T)     ((T *)bs_arena_calloc((arena), 1, sizeof(T)))
#define BS_NEWS(arena, T, n) ((T *)bs_arena_calloc((arena), (n), sizeof(T)))

#endif
