/* SPDX-License-Identifier: MIT */
/* arena.c - bump allocation in chunks that double up to a bound.
 *
 * A request that would waste much of a chunk gets a chunk of its own, linked
 * behind the current one, so that the room left in the current one stays in
 * use.  Under AddressSanitizer the room not handed out is poisoned. */
#include "base/arena.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONING 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define POISONING 1
#endif
#ifdef POISONING
#include <sanitizer/asan_interface.h>
#define POISON(at, n)   ASAN_POISON_MEMORY_REGION((at), (n))
#define UNPOISON(at, n) ASAN_UNPOISON_MEMORY_REGION((at), (n))
#else
#define POISON(at, n)   ((void)(at), (void)(n))
#define UNPOISON(at, n) ((void)(at), (void)(n))
#endif

struct bs_chunk {
  _Alignas(max_align_t) bs_chunk *behind;
  size_t size; /* bytes after the header */
};

enum {
  ALIGNMENT = _Alignof(max_align_t),
  FIRST_CHUNK = 1 << 12,
  LAST_CHUNK = 1 << 20
};

static char *
bytes_of(bs_chunk *chunk) {
  return (char *)(chunk + 1);
}

void
bs_arena_init(bs_arena *arena, bs_heap *heap) {
  *arena = (bs_arena){.heap = heap};
}

static void
free_chunks(bs_arena *arena, bs_chunk *chunk) {
  while (chunk) {
    bs_chunk *behind = chunk->behind;
    UNPOISON(bytes_of(chunk), chunk->size);
    bs_free(arena->heap, chunk);
    chunk = behind;
  }
}

void
bs_arena_reset(bs_arena *arena) {
  bs_chunk *chunk = arena->chunk;
  if (!chunk)
    return;
  free_chunks(arena, chunk->behind);
  chunk->behind = NULL;
  arena->at = bytes_of(chunk);
  POISON(arena->at, chunk->size);
}

void
bs_arena_done(bs_arena *arena) {
  free_chunks(arena, arena->chunk);
  bs_arena_init(arena, arena->heap);
}

static bs_chunk *
new_chunk(bs_arena *arena, size_t size) {
  if (size > SIZE_MAX - sizeof(bs_chunk))
    bs_out_of_memory(arena->heap);
  bs_chunk *chunk = bs_alloc(arena->heap, sizeof *chunk + size);
  chunk->size = size;
  return chunk;
}

static void *
alloc_alone(bs_arena *arena, size_t n) {
  assert(arena->chunk);
  bs_chunk *chunk = new_chunk(arena, n);
  chunk->behind = arena->chunk->behind;
  arena->chunk->behind = chunk;
  return bytes_of(chunk);
}

static void
add_chunk(bs_arena *arena) {
  size_t size = arena->chunk ? 2 * arena->chunk->size : FIRST_CHUNK;
  if (size > LAST_CHUNK)
    size = LAST_CHUNK;
  bs_chunk *chunk = new_chunk(arena, size);
  chunk->behind = arena->chunk;
  arena->chunk = chunk;
  arena->at = bytes_of(chunk);
  arena->end = arena->at + chunk->size;
  POISON(arena->at, chunk->size);
}

void *
bs_arena_alloc(bs_arena *arena, size_t n) {
  if (n > SIZE_MAX - ALIGNMENT)
    bs_out_of_memory(arena->heap);
  size_t room = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (!arena->chunk)
    add_chunk(arena);
  if (room > (size_t)(arena->end - arena->at)) {
    if (room > arena->chunk->size / 4)
      return alloc_alone(arena, n);
    add_chunk(arena);
  }
  char *at = arena->at;
  arena->at += room;
  UNPOISON(at, n);
  /* Blocks are aligned for any type, and lie in the chunk. */
  assert((uintptr_t)at % ALIGNMENT == 0 && arena->at <= arena->end);
  return at;
}

void *
bs_arena_calloc(bs_arena *arena, size_t count, size_t size) {
  size_t n;
  if (__builtin_mul_overflow(count, size, &n))
    bs_out_of_memory(arena->heap);
  return memset(bs_arena_alloc(arena, n), 0, n);
}

void *
bs_arena_copy(bs_arena *arena, const void *from, size_t n) {
  assert(from || !n);
  void *to = bs_arena_alloc(arena, n);
  return n ? memcpy(to, from, n) : to;
}

char *
bs_arena_strdup(bs_arena *arena, const char *s) {
  return bs_arena_copy(arena, s, strlen(s) + 1);
}

char *
bs_arena_vprintf(bs_arena *arena, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (n < 0)
    bs_out_of_memory(arena->heap);
  char *text = bs_arena_alloc(arena, (size_t)n + 1);
  vsnprintf(text, (size_t)n + 1, format, args);
  return text;
}

char *
bs_arena_printf(bs_arena *arena, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = bs_arena_vprintf(arena, format, args);
  va_end(args);
  return text;
}
