/* SPDX-License-Identifier: MIT */
/* keys.c - see keys.h. Keys of one hash that differ stand under the numbers
 * behind it. */
#include "base/keys.h"
#include "base/hash.h"
#include <assert.h>
#include <string.h>

static bool
are_equal(const bs_key *a, const bs_key *b) {
  return a->words.len == b->words.len &&
         (!a->words.len || !memcmp(a->words.data, b->words.data,
                                   a->words.len * sizeof *a->words.data));
}

uint32_t
bs_keys_number(bs_heap *heap, bs_keys *keys, bs_key *key) {
  uint64_t hash =
      bs_hash(key->words.data, key->words.len * sizeof *key->words.data);
  uint32_t at;
  while ((at = bs_map_get(&keys->at, hash)) != BS_NO_ENTRY &&
         !are_equal(&keys->list.data[at], key))
    hash++;
  if (at != BS_NO_ENTRY) {
    bs_vec_done(heap, &key->words);
    return at;
  }
  bs_map_put(heap, &keys->at, hash, keys->list.len);
  bs_push(heap, &keys->list, *key);
  assert(bs_map_get(&keys->at, hash) == keys->list.len - 1);
  *key = (bs_key){0};
  return keys->list.len - 1;
}

void
bs_keys_done(bs_heap *heap, bs_keys *keys) {
  for (uint32_t k = 0; k < keys->list.len; k++)
    bs_vec_done(heap, &keys->list.data[k].words);
  bs_vec_done(heap, &keys->list);
  bs_map_done(heap, &keys->at);
}

void
bs_key_number(bs_heap *heap, bs_key *key, int64_t n) {
  bs_push(heap, &key->words, (uint32_t)((uint64_t)n & UINT32_MAX));
  bs_push(heap, &key->words, (uint32_t)((uint64_t)n >> 32));
}

void
bs_key_pointer(bs_heap *heap, bs_key *key, const void *p) {
  bs_key_number(heap, key, (int64_t)(uintptr_t)p);
}
