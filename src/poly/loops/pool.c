/* SPDX-License-Identifier: MIT */
/* pool.c - see pool.h.  When the list cannot grow, the object is freed before
 * control unwinds. */
#include "poly/loops/pool.h"
#include <assert.h>
#include <stdlib.h>

enum {
#define X(name, type) KIND_##name,
  PO_POOL_KINDS(X)
#undef X
      KIND_str
};

void
po_pool_init(po_pool *pool, bs_heap *heap) {
  *pool = (po_pool){.heap = heap};
}

static void
free_item(po_pool_item item) {
  switch (item.kind) {
#define X(name, type)                                                          \
  case KIND_##name:                                                            \
    type##_free(item.object);                                                  \
    break;
    PO_POOL_KINDS(X)
#undef X
  case KIND_str:
    free(item.object);
    break;
  }
}

void
po_pool_release(po_pool *pool, uint32_t mark) {
  assert(mark <= pool->len);
  while (pool->len > mark)
    free_item(pool->items[--pool->len]);
}

void
po_pool_done(po_pool *pool) {
  assert(pool->len <= pool->cap);
  po_pool_release(pool, 0);
  bs_free(pool->heap, pool->items);
  pool->items = NULL;
  pool->cap = 0;
}

static bool
grow(po_pool *pool) {
  uint32_t cap = pool->cap ? 2 * pool->cap : 64;
  if (cap < pool->cap)
    return false;
  void *items =
      bs_try_realloc(pool->heap, pool->items, cap * sizeof *pool->items);
  if (!items)
    return false;
  pool->items = items;
  pool->cap = cap;
  return true;
}

void
po_pool_reserve(po_pool *pool, uint32_t n) {
  assert(pool->len <= pool->cap);
  while (pool->cap - pool->len < n)
    if (!grow(pool))
      bs_out_of_memory(pool->heap);
}

static void *
keep(po_pool *pool, uint32_t kind, void *object) {
  if (!object) {
    pool->failed = true;
    return NULL;
  }
  if (pool->len == pool->cap && !grow(pool)) {
    free_item((po_pool_item){kind, object});
    bs_out_of_memory(pool->heap);
  }
  pool->items[pool->len++] = (po_pool_item){kind, object};
  return object;
}

#define X(name, type)                                                          \
  type *po_keep_##name(po_pool *pool, type *object) {                          \
    return keep(pool, KIND_##name, object);                                    \
  }
PO_POOL_KINDS(X)
#undef X

char *
po_keep_str(po_pool *pool, char *str) {
  return keep(pool, KIND_str, str);
}
