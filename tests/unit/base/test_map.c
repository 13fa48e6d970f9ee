/* SPDX-License-Identifier: MIT */
/* test_map.c - what is put under a key is found, whatever the keys. */
#include "base/map.h"

#include <criterion/criterion.h>

static bs_heap heap;
static bs_map map;

static void
expect(uint64_t step, uint32_t n) {
  bs_heap_init(&heap, NULL, 0);
  map = (bs_map){0};
  cr_assert_eq(bs_map_get(&map, 0), BS_NO_ENTRY);
  for (uint32_t k = 0; k < n; k++)
    bs_map_put(&heap, &map, k * step, k);
  for (uint32_t k = 0; k < n; k++)
    cr_assert_eq(bs_map_get(&map, k * step), k);
  cr_assert_eq(bs_map_get(&map, n * step), BS_NO_ENTRY);
  cr_assert_eq(map.n, n);
  bs_map_done(&heap, &map);
  cr_assert_eq(heap.used, 0);
}

Test(map, keys_side_by_side) {
  expect(1, 100000);
}

Test(map, keys_far_apart) {
  expect((uint64_t)1 << 32, 10000);
  expect((uint64_t)1 << 40, 10000);
  expect(((uint64_t)1 << 32) + 1, 10000);
}

Test(map, the_last_is_kept_or_the_first) {
  bs_heap_init(&heap, NULL, 0);
  map = (bs_map){0};
  bs_map_put(&heap, &map, 7, 1);
  bs_map_put(&heap, &map, 7, 2);
  bs_map_put_first(&heap, &map, 7, 3);
  bs_map_put_first(&heap, &map, 8, 4);
  cr_assert_eq(bs_map_get(&map, 7), 2);
  cr_assert_eq(bs_map_get(&map, 8), 4);
  cr_assert_eq(map.n, 2);
  bs_heap_done(&heap);
}
