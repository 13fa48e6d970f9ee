/* SPDX-License-Identifier: MIT */
/* map.h - from 64-bit keys to 32-bit numbers, on a heap.
 *
 *   bs_map m = {0};
 *   bs_map_put(heap, &m, key, 7);
 *   bs_map_get(&m, key) == 7
 *
 * Open addressing, at most half full; it is looked up, never listed, so nothing
 * depends on the order in it. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/heap.h"

#define BS_NO_ENTRY UINT32_MAX

typedef struct bs_entry {
  uint64_t key;
  uint32_t value; /* BS_NO_ENTRY: free */
} bs_entry;

typedef struct bs_map {
  bs_entry *entries;
  uint32_t n, cap; /* cap: 0 or a power of two */
} bs_map;

/* BS_NO_ENTRY when the key is not there. */
uint32_t bs_map_get(const bs_map *, uint64_t key);
/* Sets what stands under a key; not BS_NO_ENTRY. */
void bs_map_put(bs_heap *, bs_map *, uint64_t key, uint32_t value);
/* Sets it unless the key is there. */
void bs_map_put_first(bs_heap *, bs_map *, uint64_t key, uint32_t value);
void bs_map_done(bs_heap *, bs_map *);

#endif
