/* SPDX-License-Identifier: MIT */
/* test_keys.c - equal keys have one number, and different ones another. */
#include "base/keys.h"

#include <criterion/criterion.h>

static bs_heap heap;
static bs_keys keys;

static uint32_t
number_of(uint32_t n, const uint32_t *words) {
  bs_key key = {0};
  for (uint32_t k = 0; k < n; k++)
    bs_push(&heap, &key.words, words[k]);
  uint32_t number = bs_keys_number(&heap, &keys, &key);
  cr_assert(!key.words.data && !key.words.len);
  return number;
}

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  keys = (bs_keys){0};
}

static void
stop(void) {
  bs_keys_done(&heap, &keys);
  bs_heap_done(&heap);
}

TestSuite(keys, .init = start, .fini = stop);

Test(keys, count_up_as_they_are_seen) {
  for (uint32_t round = 0; round < 2; round++)
    for (uint32_t k = 0; k < 2000; k++)
      cr_assert_eq(number_of(2, (const uint32_t[]){k % 7, k}), k);
}

Test(keys, of_other_lengths_differ) {
  const uint32_t words[] = {0, 0, 0};
  cr_assert_eq(number_of(0, words), 0);
  cr_assert_eq(number_of(1, words), 1);
  cr_assert_eq(number_of(3, words), 2);
  cr_assert_eq(number_of(0, words), 0);
}

/* A place in the table that another key's hash has taken is not its own. */
Test(keys, of_one_hash_are_compared) {
  uint32_t first = number_of(1, (const uint32_t[]){5});
  bs_key *stored = &keys.list.data[first];
  stored->words.data[0] = 7; /* as if 7 had the hash of 5 */
  cr_assert_eq(number_of(1, (const uint32_t[]){5}), 1);
  cr_assert_eq(number_of(1, (const uint32_t[]){5}), 1);
}

Test(keys, hold_whole_numbers) {
  bs_key a = {0}, b = {0};
  bs_key_number(&heap, &a, -1);
  bs_key_number(&heap, &b, UINT32_MAX);
  cr_assert_eq(a.words.len, 2);
  cr_assert_neq(bs_keys_number(&heap, &keys, &a),
                bs_keys_number(&heap, &keys, &b));
}
