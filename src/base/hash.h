/* SPDX-License-Identifier: MIT */
/* hash.h - XXH3 behind one name. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <stdint.h>

static inline uint64_t
bs_hash(const void *data, size_t n) {
  return XXH3_64bits(data, n);
}

#endif
