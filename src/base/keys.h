/* SPDX-License-Identifier: MIT */
/* keys.h - numbers for keys that are lists of words, on a heap.
 *
 *   bs_keys keys = {0};
 *   bs_key key = {0};
 *   bs_key_number(heap, &key, 7);
 *   uint32_t n = bs_keys_number(heap, &keys, &key);
 *
 * Equal keys have one number; numbers count up from 0 in the order in which
 * keys are first seen.  Whole keys are compared, so that nothing hangs on a
 * hash. */
#ifndef BASE_KEYS_H
#define BASE_KEYS_H

#include "base/map.h"
#include "base/vec.h"

typedef struct bs_key {
  BS_VEC(uint32_t) words;
} bs_key;

typedef struct bs_keys {
  bs_map at; /* by hash */
  BS_VEC(bs_key) list;
} bs_keys;

/* Words behind those that the key has: both halves of a number, or of an
 * address. */
void bs_key_number(bs_heap *, bs_key *, int64_t);
void bs_key_pointer(bs_heap *, bs_key *, const void *);

/* Takes the key, which is empty then.  A number that was not given before is
 * the length that the list had. */
uint32_t bs_keys_number(bs_heap *, bs_keys *, bs_key *);
void bs_keys_done(bs_heap *, bs_keys *);

#endif
