/* SPDX-License-Identifier: MIT */
/* Arenas: alignment, separate blocks, reset, large requests. */
#include "base/arena.h"
#include <criterion/criterion.h>
#include <string.h>

static bs_heap heap;
static bs_arena arena;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
}

static void
stop(void) {
  bs_arena_done(&arena);
  cr_assert_eq(heap.used, 0);
  bs_heap_done(&heap);
}

TestSuite(arena, .init = start, .fini = stop);

Test(arena, blocks_are_aligned_and_apart) {
  unsigned char *blocks[3000];
  size_t sizes[3000];
  for (int i = 0; i < 3000; i++) {
    sizes[i] = (size_t)(i * 37 % 211) + (i % 500 == 0 ? 100000 : 0);
    blocks[i] = bs_arena_alloc(&arena, sizes[i]);
    cr_assert_eq((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
    memset(blocks[i], i & 0xff, sizes[i]);
  }
  for (int i = 0; i < 3000; i++)
    for (size_t j = 0; j < sizes[i]; j++)
      cr_assert_eq(blocks[i][j], i & 0xff);
}

Test(arena, a_large_request_leaves_the_chunk_in_use) {
  char *a = bs_arena_alloc(&arena, 16);
  bs_arena_alloc(&arena, 1 << 20);
  char *b = bs_arena_alloc(&arena, 16);
  cr_assert_eq(b, a + 16);
}

Test(arena, reset_keeps_one_chunk) {
  for (int i = 0; i < 100000; i++)
    bs_arena_alloc(&arena, 100);
  size_t used = heap.used;
  bs_arena_reset(&arena);
  size_t kept = heap.used;
  cr_assert(kept && kept < used / 4);
  for (int i = 0; i < 1000; i++)
    memset(bs_arena_alloc(&arena, 100), 1, 100);
  cr_assert_eq(heap.used, kept);
  bs_arena_done(&arena);
  bs_arena_reset(&arena);
  cr_assert_eq(heap.used, 0);
}

Test(arena, what_follows_a_reset_lies_where_the_first_did) {
  const char *first = bs_arena_alloc(&arena, 100);
  for (size_t size = 1; size < 1000; size += 37) {
    bs_arena_alloc(&arena, size);
    bs_arena_reset(&arena);
    cr_assert_eq(bs_arena_alloc(&arena, 100), first, "after %zu bytes", size);
  }
}

Test(arena, texts) {
  char *copy = bs_arena_strdup(&arena, "access");
  cr_assert_str_eq(copy, "access");
  cr_assert_str_eq(bs_arena_printf(&arena, "%d-%s", 12, "x"), "12-x");
  char *wide = bs_arena_printf(&arena, "%*s", 100000, "end");
  cr_assert_eq(strlen(wide), 100000);
  const int numbers[] = {3, 1, 4};
  cr_assert_arr_eq(bs_arena_copy(&arena, numbers, sizeof numbers), numbers,
                   sizeof numbers);
  int *zeros = BS_NEWS(&arena, int, 50);
  for (int i = 0; i < 50; i++)
    cr_assert_eq(zeros[i], 0);
}

static void
overflowing(void *argument) {
  (void)argument;
  bs_arena_calloc(&arena, SIZE_MAX / 4, 8);
}

static void
enormous(void *argument) {
  (void)argument;
  bs_arena_alloc(&arena, SIZE_MAX - 40);
}

Test(arena, impossible_sizes_unwind) {
  cr_assert_not(bs_protect(&heap, overflowing, NULL));
  cr_assert_not(bs_protect(&heap, enormous, NULL));
  cr_assert(bs_arena_alloc(&arena, 8));
  cr_assert_not(bs_protect(&heap, enormous, NULL));
}
