/* SPDX-License-Identifier: MIT */
/* test_governor.c - limits are kept, named, and leave a share to what follows.
 *
 * No time is asserted: stages end because their end lies behind us. */
#include "base/governor.h"
#include "base/file.h"
#include "base/heap.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MIB = 1 << 20 };

static bs_governor governor;
static bs_heap heap;

static void
open_governed(double seconds, size_t bytes) {
  bs_heap_init(&heap, NULL, 0);
  bs_governor_init(&governor);
  heap.governor = &governor;
  bs_govern(&governor, seconds, bytes);
}

static void
close_governed(void) {
  bs_heap_done(&heap);
  bs_governor_done(&governor);
}

Test(governor, binds_nothing_unless_it_is_told_to) {
  open_governed(0, 0);
  cr_assert_not(bs_stage_over(&governor));
  cr_assert(isinf(bs_stage_seconds(&governor)));
  cr_assert_eq(bs_stage_room(&governor, 5), SIZE_MAX);
  cr_assert_not(bs_stage_over(NULL));
  cr_assert_not(bs_stage_late(NULL));
  close_governed();
}

Test(governor, a_stage_takes_its_part_of_what_is_left) {
  open_governed(1000, (size_t)1000 * MIB);
  double whole = governor.end;
  bs_stage before = bs_stage_begin(&governor, "first", 0.5, 0.25);
  cr_assert_lt(governor.stage.end, whole - 499);
  cr_assert_eq(governor.stage.bytes, (size_t)250 * MIB);
  bs_stage inner = bs_stage_begin(&governor, "inner", 0.5, 1);
  cr_assert_lt(governor.stage.end, whole - 740);
  bs_stage_end(&governor, inner);
  cr_assert_str_eq(governor.stage.name, "first");
  cr_assert_eq(bs_stage_end(&governor, before), BS_GOES_ON);
  cr_assert_eq(governor.stage.end, whole);
  close_governed();
}

Test(governor, a_stage_that_is_over_says_why_and_the_next_begins) {
  open_governed(1000, 0);
  bs_stage before = bs_stage_begin(&governor, "late", 0.5, 1);
  governor.stage.end = bs_now() - 1;
  cr_assert(bs_stage_late(&governor));
  cr_assert(bs_stage_over(&governor));
  cr_assert_eq(bs_stage_seconds(&governor), 0);
  cr_assert_eq(bs_stage_end(&governor, before), BS_OUT_OF_TIME);
  cr_assert_not(bs_stage_over(&governor));
  close_governed();
}

/* Small blocks and no questions, as of code that knows no limits. */
static void
allocate_on(void *arg) {
  size_t *n = arg;
  for (size_t k = 0; k < *n; k++)
    memset(bs_alloc(&heap, 1000), 1, 1000);
}

Test(governor, the_heap_stops_what_asks_nothing_when_time_is_over) {
  size_t n = 100000;
  open_governed(1000, 0);
  bs_stage_begin(&governor, "work", 1, 1);
  governor.begun -= 5000;
  governor.end -= 5000;
  cr_assert_not(bs_protect(&heap, allocate_on, &n));
  cr_assert_eq(governor.refused, BS_OUT_OF_TIME);
  cr_assert_str_eq(governor.refused_in, "work");
  cr_assert_null(bs_try_realloc(&heap, NULL, 8), "it refuses for good");
  close_governed();
}

Test(governor, the_heap_stops_what_grows_beyond_the_limit) {
  size_t n = 1000000;
  open_governed(0, (size_t)64 * MIB);
  cr_assert_not(bs_protect(&heap, allocate_on, &n));
  cr_assert_eq(governor.refused, BS_OUT_OF_MEMORY);
  cr_assert_leq(heap.peak, (size_t)64 * MIB * 6 / 5);
  cr_assert_geq(heap.peak, (size_t)48 * MIB);
  size_t resident = bs_resident(&governor);
  cr_assert(!resident || resident <= (size_t)80 * MIB, "%zu", resident);
  bs_heap_done(&heap);
  cr_assert_not_null(bs_try_realloc(&heap, NULL, 8), "there is room again");
  close_governed();
}

Test(governor, memory_outside_of_the_heap_counts) {
  enum { N = 128 * MIB };
  open_governed(0, (size_t)64 * MIB);
  cr_assert_not(bs_stage_over(&governor));
  char *other = malloc(N);
  cr_assert_not_null(other);
  memset(other, 1, N);
  governor.looked = 0;
  if (bs_resident(&governor))
    cr_assert(bs_stage_over(&governor));
  cr_assert_eq(other[N - 1], 1);
  free(other);
  close_governed();
}

Test(governor, a_check_unwinds_from_a_stage_that_is_over) {
  open_governed(1000, 0);
  governor.stage.end = bs_now() - 1;
  cr_assert_not(bs_protect(&heap, (void (*)(void *))bs_stage_check, &heap));
  close_governed();
}

Test(governor, a_heap_knows_the_room_it_has) {
  bs_heap child;
  bs_heap_init(&heap, NULL, 10000);
  bs_heap_init_child(&child, &heap, 0);
  cr_assert_eq(bs_heap_room(&child), 10000);
  bs_alloc(&child, 4000);
  cr_assert_leq(bs_heap_room(&child), 6000);
  child.limit = child.used + 10;
  cr_assert_eq(bs_heap_room(&child), 10);
  bs_heap_done(&child);
  bs_heap_done(&heap);
}

Test(governor, there_is_memory) {
  cr_assert_gt(bs_memory_there_is(), (size_t)MIB);
}
