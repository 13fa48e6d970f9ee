/* SPDX-License-Identifier: MIT */
/* Vectors: growth, order, and the bound on lengths. */
#include "base/vec.h"
#include <criterion/criterion.h>

typedef struct triple {
  char a, b, c;
} triple;

Test(vec, keeps_what_is_pushed) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  BS_VEC(triple) v = {0};
  for (int i = 0; i < 10000; i++)
    bs_push(&heap, &v, (triple){(char)i, (char)(i + 1), (char)(i + 2)});
  cr_assert_eq(v.len, 10000);
  for (int i = 0; i < 10000; i++)
    cr_assert(v.data[i].a == (char)i && v.data[i].c == (char)(i + 2));
  cr_assert_eq(bs_last(&v).a, (char)9999);
  cr_assert_eq(bs_pop(&v).a, (char)9999);
  cr_assert_eq(v.len, 9999);
  bs_clear(&v);
  cr_assert_eq(v.len, 0);
  bs_vec_done(&heap, &v);
  cr_assert_eq(heap.used, 0);
}

Test(vec, reserve_moves_only_when_needed) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  BS_VEC(uint64_t) v = {0};
  bs_reserve(&heap, &v, 1000);
  cr_assert_geq(v.cap, 1000);
  uint64_t *data = v.data;
  for (uint64_t i = 0; i < 1000; i++)
    bs_push(&heap, &v, i * i);
  cr_assert_eq(v.data, data);
  bs_heap_done(&heap);
}

static void
too_long(void *argument) {
  bs_heap *heap = argument;
  BS_VEC(char) v = {0};
  uint64_t more = (uint64_t)UINT32_MAX + 1;
  bs_reserve(heap, &v, more);
}

Test(vec, too_long_is_out_of_memory) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  cr_assert_not(bs_protect(&heap, too_long, &heap));
  cr_assert_eq(heap.used, 0);
}
