/* SPDX-License-Identifier: MIT */
/* Heaps: accounting, limits, refusal by the hook, unwinding, cleanups. */
#include "counting.h"
#include "base/arena.h"
#include "tests/unit/sanitized.h"
#include <criterion/criterion.h>
#include <string.h>

Test(heap, accounts_for_every_block) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  char *a = bs_alloc(&heap, 1000), *b = bs_alloc(&heap, 0);
  cr_assert(a && b && a != b);
  cr_assert_geq(heap.used, 1000);
  cr_assert_eq((uintptr_t)a % _Alignof(max_align_t), 0);
  size_t used = heap.used;
  a = bs_realloc(&heap, a, 5000);
  cr_assert_eq(heap.used, used + 4000);
  a = bs_realloc(&heap, a, 10);
  cr_assert_eq(heap.used, used - 990);
  bs_free(&heap, a);
  bs_free(&heap, b);
  bs_free(&heap, NULL);
  cr_assert_eq(heap.used, 0);
  cr_assert_eq(heap.peak, used + 4000);
  bs_heap_done(&heap);
}

Test(heap, realloc_keeps_bytes_and_neighbours) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  char *blocks[50];
  for (int i = 0; i < 50; i++)
    blocks[i] = memset(bs_alloc(&heap, 20), i, 20);
  for (int round = 1; round < 6; round++)
    for (int i = 0; i < 50; i += round)
      blocks[i] = bs_realloc(&heap, blocks[i], 20 + (size_t)(500 * round));
  for (int i = 0; i < 50; i++)
    for (int j = 0; j < 20; j++)
      cr_assert_eq(blocks[i][j], i);
  for (int i = 1; i < 50; i += 2)
    bs_free(&heap, blocks[i]);
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
  cr_assert_null(heap.blocks);
}

Test(heap, calloc_clears_and_checks) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  char *zeros = bs_calloc(&heap, 300, 7);
  for (int i = 0; i < 2100; i++)
    cr_assert_eq(zeros[i], 0);
  bs_heap_done(&heap);
}

static void
overflowing(void *heap) {
  bs_calloc(heap, SIZE_MAX / 2, 3);
}

static void
enormous(void *heap) {
  bs_alloc(heap, SIZE_MAX - 3);
}

Test(heap, impossible_sizes_unwind) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  cr_assert_not(bs_protect(&heap, overflowing, &heap));
  cr_assert_not(bs_protect(&heap, enormous, &heap));
  cr_assert_null(bs_try_realloc(&heap, NULL, SIZE_MAX));
  cr_assert_eq(heap.used, 0);
}

static void
fill(void *heap) {
  for (;;)
    bs_alloc(heap, 100);
}

/* A block may fill the last byte, of its own heap's limit or of its parent's.
 */
Test(heap, all_of_a_limit_can_be_taken) {
  bs_heap heap, child;
  bs_heap_init(&heap, NULL, 0);
  void *block = bs_alloc(&heap, 1000);
  size_t used = heap.used;
  bs_free(&heap, block);
  bs_heap_done(&heap);
  for (int k = 0; k < 4; k++) {
    size_t limit = used - k % 2;
    bs_heap_init(&heap, NULL, k < 2 ? limit : 0);
    bs_heap_init_child(&child, &heap, k < 2 ? 0 : limit);
    cr_expect_eq(bs_heap_room(&child), limit);
    block = bs_try_realloc(&child, NULL, 1000);
    cr_expect_eq(block != NULL, k % 2 == 0, "limit %d", k);
    cr_expect_eq(heap.used, block ? used : 0);
    bs_heap_done(&child);
    bs_heap_done(&heap);
  }
}

Test(heap, a_limit_unwinds_and_the_heap_stays_usable) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 10000);
  cr_assert_not(bs_protect(&heap, fill, &heap));
  cr_assert_leq(heap.used, 10000);
  cr_assert_geq(heap.used, 9000);
  char *kept = (char *)bs_try_realloc(&heap, NULL, 200);
  cr_assert_null(kept);
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
  cr_assert(bs_try_realloc(&heap, NULL, 200));
  bs_heap_done(&heap);
}

Test(heap, children_count_in_their_parents) {
  bs_heap root, child, grandchild;
  bs_heap_init(&root, NULL, 5000);
  bs_heap_init_child(&child, &root, 0);
  bs_heap_init_child(&grandchild, &child, 2000);
  bs_alloc(&grandchild, 1000);
  cr_assert_eq(root.used, grandchild.used);
  cr_assert_eq(child.used, grandchild.used);
  cr_assert_null(bs_try_realloc(&grandchild, NULL, 1000));
  cr_assert(bs_try_realloc(&child, NULL, 1500));
  cr_assert_null(bs_try_realloc(&child, NULL, 3000));
  cr_assert_not(bs_protect(&grandchild, fill, &grandchild));
  bs_heap_done(&grandchild);
  cr_assert_eq(root.used, child.used);
  cr_assert_not(bs_protect(&root, fill, &child));
  bs_heap_done(&child);
  cr_assert_eq(root.used, 0);
  cr_assert_leq(root.peak, 5000);
}

Test(heap, a_refused_realloc_leaves_the_block) {
  counting c = {0};
  bs_hooks hooks = counting_hooks(&c);
  bs_heap heap;
  bs_heap_init(&heap, &hooks, 0);
  char *block = strcpy(bs_alloc(&heap, 10), "still me");
  size_t used = heap.used;
  c.fail_at = c.calls + 1;
  cr_assert_null(bs_try_realloc(&heap, block, 100));
  c.fail_at = c.calls + 1;
  cr_assert_null(bs_try_realloc(&heap, block, 5));
  cr_assert_str_eq(block, "still me");
  cr_assert_eq(heap.used, used);
  bs_heap_done(&heap);
  cr_assert_eq(c.live, 0);
}

typedef struct nest {
  bs_heap *heap;
  bool inner, after;
} nest;

static void
inner_body(void *argument) {
  bs_out_of_memory(((nest *)argument)->heap);
}

static void
outer_body(void *argument) {
  nest *n = argument;
  n->inner = bs_protect(n->heap, inner_body, n);
  n->after = true;
  bs_out_of_memory(n->heap);
}

static void
calm_body(void *argument) {
  nest *n = argument;
  n->inner = bs_protect(n->heap, inner_body, n);
  n->after = true;
}

Test(heap, traps_nest) {
  bs_heap root, child;
  bs_heap_init(&root, NULL, 0);
  bs_heap_init_child(&child, &root, 0);
  nest n = {&child, true, false};
  cr_assert_not(bs_protect(&root, outer_body, &n));
  cr_assert(!n.inner && n.after);
  cr_assert_null(root.trap);
  n = (nest){&child, true, false};
  cr_assert(bs_protect(&child, calm_body, &n));
  cr_assert(!n.inner && n.after);
  cr_assert_null(root.trap);
}

typedef struct trace {
  char letters[8];
  int count;
} trace;

static trace traced;

static void
note_a(void *text) {
  traced.letters[traced.count++] = *(char *)text;
}

Test(heap, cleanups_run_last_first_before_blocks_go) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  for (char letter = 'a'; letter < 'e'; letter++) {
    char *text = bs_alloc(&heap, 1);
    *text = letter;
    bs_defer(&heap, note_a, text);
  }
  bs_heap_done(&heap);
  cr_assert_str_eq(traced.letters, "dcba");
  bs_heap_done(&heap);
  cr_assert_eq(traced.count, 4);
}

static void
defer_one(void *heap) {
  bs_defer(heap, note_a, "x");
}

Test(heap, a_cleanup_that_cannot_be_kept_runs_at_once) {
  counting c = {.fail_at = 1};
  bs_hooks hooks = counting_hooks(&c);
  bs_heap heap;
  bs_heap_init(&heap, &hooks, 0);
  cr_assert_not(bs_protect(&heap, defer_one, &heap));
  cr_assert_str_eq(traced.letters, "x");
  bs_heap_done(&heap);
  cr_assert_eq(traced.count, 1);
}

typedef struct sized {
  uint32_t *words;
  size_t n;
} sized;

static void
check_words(const sized *s, uint32_t seed) {
  for (size_t i = 0; i < s->n; i += 97)
    cr_assert_eq(s->words[i], seed + (uint32_t)i);
}

/* Blocks of 1 KiB to 12 MiB change their sizes at random, so that they move
 * between the ways large blocks are held. */
Test(heap, large_blocks_keep_their_words) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  sized all[24] = {{0}};
  uint32_t state = 12345;
  for (uint32_t round = 0; round < (SANITIZED ? 600 : 3000); round++) {
    state = state * 1664525u + 1013904223u;
    uint32_t k = (state >> 8) % 24, shift = (state >> 16) % 14;
    sized *s = &all[k];
    check_words(s, k);
    if (round % 7 == 3) {
      bs_free(&heap, s->words);
      *s = (sized){NULL, 0};
      continue;
    }
    size_t n = ((size_t)256 << shift) + state % 100000 % ((size_t)256 << shift);
    s->words = bs_realloc(&heap, s->words, n * sizeof *s->words);
    check_words(&(sized){s->words, s->n < n ? s->n : n}, k);
    for (size_t i = 0; i < n; i++)
      s->words[i] = k + (uint32_t)i;
    s->n = n;
  }
  for (uint32_t k = 0; k < 24; k++) {
    check_words(&all[k], k);
    bs_free(&heap, all[k].words);
  }
  cr_assert_eq(heap.used, 0);
  bs_heap_done(&heap);
}

static void
build(bs_heap *heap, void *argument) {
  (void)argument;
  bs_arena arena;
  bs_arena_init(&arena, heap);
  for (int i = 0; i < 400; i++) {
    bs_arena_printf(&arena, "number %d", i);
    void *block = bs_alloc(heap, (size_t)i);
    if (i % 3)
      bs_free(heap, block);
  }
}

Test(heap, every_refusal_is_survived_without_a_leak) {
  cr_assert_gt(sweep(build, NULL), 400);
}

static void
count_call(void *arg) {
  ++*(int *)arg;
}

Test(heap, cleanups_that_are_forgotten_are_not_called) {
  bs_heap heap;
  int calls[3] = {0};
  bs_heap_init(&heap, NULL, 0);
  for (int k = 0; k < 3; k++)
    bs_defer(&heap, count_call, &calls[k]);
  bs_defer(&heap, count_call, &calls[1]);
  size_t used = heap.used;
  bs_undefer(&heap, count_call, &calls[1]); /* the later of two */
  bs_undefer(&heap, count_call, &calls[0]);
  cr_assert_eq(heap.used, used / 2);
  bs_undefer(&heap, count_call, &calls[0]); /* it is gone */
  cr_assert_eq(heap.used, used / 2);
  bs_heap_done(&heap);
  cr_assert(calls[0] == 0 && calls[1] == 1 && calls[2] == 1);
}
