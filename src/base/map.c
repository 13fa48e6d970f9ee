/* SPDX-License-Identifier: MIT */
/* map.c - see map.h: linear probing from a multiplicative hash of the key. */
#include "base/map.h"
#include <assert.h>

enum { LEAST = 16 };

static uint32_t
first_slot(const bs_map *m, uint64_t key) {
  /* A power of two. */
  assert(m->cap && !(m->cap & (m->cap - 1)));
  key ^= key >> 32;
  key *= 0x9E3779B97F4A7C15u;
  return (uint32_t)(key >> 32) & (m->cap - 1);
}

/* Where the key is, or would be. */
static bs_entry *
find(const bs_map *m, uint64_t key) {
  uint32_t i = first_slot(m, key);
  while (m->entries[i].value != BS_NO_ENTRY && m->entries[i].key != key)
    i = (i + 1) & (m->cap - 1);
  return &m->entries[i];
}

uint32_t
bs_map_get(const bs_map *m, uint64_t key) {
  return m->cap ? find(m, key)->value : BS_NO_ENTRY;
}

static void
grow(bs_heap *heap, bs_map *m) {
  bs_map old = *m;
  if (old.cap > UINT32_MAX / 2)
    bs_out_of_memory(heap);
  m->cap = old.cap ? 2 * old.cap : LEAST;
  m->entries = bs_alloc(heap, (size_t)m->cap * sizeof *m->entries);
  for (uint32_t i = 0; i < m->cap; i++)
    m->entries[i].value = BS_NO_ENTRY;
  for (uint32_t i = 0; i < old.cap; i++)
    if (old.entries[i].value != BS_NO_ENTRY)
      *find(m, old.entries[i].key) = old.entries[i];
  /* At most half full, so that a search ends. */
  assert(m->n <= m->cap / 2);
  bs_free(heap, old.entries);
}

void
bs_map_put(bs_heap *heap, bs_map *m, uint64_t key, uint32_t value) {
  assert(value != BS_NO_ENTRY);
  if (m->n >= m->cap / 2)
    grow(heap, m);
  bs_entry *e = find(m, key);
  m->n += e->value == BS_NO_ENTRY;
  *e = (bs_entry){key, value};
}

void
bs_map_put_first(bs_heap *heap, bs_map *m, uint64_t key, uint32_t value) {
  if (bs_map_get(m, key) == BS_NO_ENTRY)
    bs_map_put(heap, m, key, value);
}

void
bs_map_done(bs_heap *heap, bs_map *m) {
  bs_free(heap, m->entries);
  *m = (bs_map){0};
}
