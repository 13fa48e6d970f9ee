/* waiting.h - the table while several threads enter nodes; private, inline.
 *
 * A node that is being added stands in the table as the match that adds it,
 * with EG_WAITS, until it has a number.  The bucket where it belongs is locked
 * while it enters, and so is, for a moment, each one that it goes on to:
 * threads that wait for each other in a ring would need all buckets to be full.
 * Where in the table a node ends up is left to chance, and matters to none. */
#ifndef EGRAPH_WAITING_H
#define EGRAPH_WAITING_H

#include "egraph/crew.h"
#include "egraph/lookup.h"

static inline void
eg_bucket_lock(eg_bucket *b) {
  while (__atomic_exchange_n(&b->lock, 1, __ATOMIC_ACQUIRE))
    for (uint32_t i = 0; __atomic_load_n(&b->lock, __ATOMIC_RELAXED); i++)
      eg_crew_rest(i);
}

static inline void
eg_bucket_unlock(eg_bucket *b) {
  __atomic_store_n(&b->lock, 0, __ATOMIC_RELEASE);
}

static inline bool
eg_is_spilled(const eg_bucket *b) {
  return __atomic_load_n(&b->spilled, __ATOMIC_RELAXED);
}

static inline uint32_t
eg_next_bucket(const eg_graph *g, uint32_t at) {
  return at + 1 == g->n_buckets ? 0 : at + 1;
}

/* A node that was there before this step, or EG_NONE. */
static inline uint32_t
eg_find_settled(const eg_graph *g, const eg_key *k, uint64_t hash) {
  uint8_t tag = eg_tag_of(hash);
  uint32_t at = eg_bucket_of(g, hash);
  for (uint32_t n = 0; n < g->n_buckets; n++, at = eg_next_bucket(g, at)) {
    const eg_bucket *b = &g->buckets[at];
    for (uint32_t m = eg_tags_equal_shared(b, tag); m; m &= m - 1) {
      uint32_t node =
          __atomic_load_n(&b->node[__builtin_ctz(m)], __ATOMIC_RELAXED);
      if (!(node & EG_WAITS) && eg_key_is(g, k, node))
        return node;
    }
    if (!eg_is_spilled(b))
      break;
  }
  return EG_NONE;
}

/* Where a match waits that adds the same node as match i; or EG_NONE. */
static inline uint32_t
eg_find_waiting(const eg_graph *g, eg_class (*kids)[2], uint32_t i,
                uint32_t home, uint8_t tag) {
  uint32_t at = home;
  for (uint32_t n = 0; n < g->n_buckets; n++, at = eg_next_bucket(g, at)) {
    const eg_bucket *b = &g->buckets[at];
    for (uint32_t m = eg_tags_equal_shared(b, tag); m; m &= m - 1) {
      uint32_t k = (uint32_t)__builtin_ctz(m);
      uint32_t node = __atomic_load_n(&b->node[k], __ATOMIC_ACQUIRE);
      if (node & EG_WAITS &&
          !memcmp(kids[node & ~EG_WAITS], kids[i], sizeof kids[i]))
        return at * EG_BUCKET + k;
    }
    if (!eg_is_spilled(b))
      break;
  }
  return EG_NONE;
}

static inline uint32_t *
eg_place_node(const eg_graph *g, uint32_t place) {
  return &g->buckets[place / EG_BUCKET].node[place % EG_BUCKET];
}

/* Puts a match into the first bucket with room, and there is one; its own is
 * locked.  The tag comes last: who sees it sees the rest. */
static inline uint32_t
eg_put_waiting(const eg_graph *g, uint32_t i, uint32_t home, uint8_t tag) {
  for (uint32_t at = home;; at = eg_next_bucket(g, at)) {
    eg_bucket *b = &g->buckets[at];
    if (at != home)
      eg_bucket_lock(b);
    uint32_t room = eg_tags_equal_shared(b, 0), k = 0;
    if (room) {
      k = (uint32_t)__builtin_ctz(room);
      __atomic_store_n(&b->node[k], i | EG_WAITS, __ATOMIC_RELEASE);
      __atomic_store_n(&b->tag[k], tag, __ATOMIC_RELEASE);
    } else {
      __atomic_store_n(&b->spilled, 1, __ATOMIC_RELAXED);
    }
    if (at != home)
      eg_bucket_unlock(b);
    if (room)
      return at * EG_BUCKET + k;
  }
}

#endif
