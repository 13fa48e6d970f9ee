/* SPDX-License-Identifier: MIT */
/* hashcons.h - keys of nodes, their hashes and the lookup; private, inline.
 *
 * See table.c for how the table is laid out. */
#ifndef EGRAPH_HASHCONS_H
#define EGRAPH_HASHCONS_H

#include "base/hash.h"
#include "egraph/graph.h"
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static inline eg_key
eg_key_of(uint32_t head, const eg_class *kids, uint32_t n) {
  eg_key k = {head, EG_NONE, EG_NONE, kids, n};
  if (head & EG_WIDE) {
    k.b = (uint32_t)bs_hash(kids, n * sizeof *kids);
    return k;
  }
  if (n > 0)
    k.a = kids[0].i;
  if (n > 1)
    k.b = kids[1].i;
  return k;
}

static inline uint64_t
eg_mix(uint64_t a, uint64_t b) {
  __uint128_t m = (__uint128_t)a * b;
  return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* What a head adds to the hashes of its nodes. */
static inline uint64_t
eg_head_mix(uint32_t head) {
  return ((uint64_t)head << 32 | head) ^ 0xd6e8feb86659fd93u;
}

/* The hash of a key that is not wide. */
static inline uint64_t
eg_pair_hash(uint32_t a, uint32_t b, uint64_t by_head) {
  return eg_mix(((uint64_t)b << 32 | a) ^ 0x9e3779b97f4a7c15u, by_head);
}

static inline uint64_t
eg_key_hash(const eg_key *k) {
  return eg_pair_hash(k->head & EG_WIDE ? 0 : k->a, k->b, eg_head_mix(k->head));
}

static inline bool
eg_key_is(const eg_graph *g, const eg_key *k, uint32_t node) {
  const eg_row *r = &g->rows[node];
  if (r->head != k->head || r->kid[1].i != k->b)
    return false;
  if (k->head & EG_WIDE)
    return !memcmp(g->pool + r->kid[0].i, k->kids, k->n * sizeof *k->kids);
  return r->kid[0].i == k->a;
}

static inline uint8_t
eg_tag_of(uint64_t hash) {
  uint8_t t = (uint8_t)(hash >> 56);
  return t ? t : 1;
}

/* Bit i is set where tag i equals `tag`. */
static inline uint32_t
eg_tags_equal(const eg_bucket *b, uint8_t tag) {
#ifdef __SSE2__
  __m128i have = _mm_load_si128((const __m128i *)(const void *)b);
  __m128i same = _mm_cmpeq_epi8(have, _mm_set1_epi8((char)tag));
  return (uint32_t)_mm_movemask_epi8(same) & ((1u << EG_BUCKET) - 1);
#else
  uint32_t bits = 0;
  for (uint32_t i = 0; i < EG_BUCKET; i++)
    bits |= (uint32_t)(b->tag[i] == tag) << i;
  return bits;
#endif
}

static inline uint32_t
eg_bucket_of(const eg_graph *g, uint64_t hash) {
  return (uint32_t)(((hash & UINT32_MAX) * g->n_buckets) >> 32);
}

/* Enters a pair into the first bucket with room from `at` on; false when none
 * before `end` has any. */
static inline bool
eg_put_before(eg_bucket *buckets, uint32_t at, uint32_t end, uint8_t tag,
              uint32_t node) {
  for (; at < end; at++) {
    eg_bucket *b = &buckets[at];
    uint32_t room = eg_tags_equal(b, 0);
    if (room) {
      uint32_t i = (uint32_t)__builtin_ctz(room);
      b->tag[i] = tag;
      b->node[i] = node;
      return true;
    }
    b->spilled = 1;
  }
  return false;
}

/* Enters a node; there is room. */
static inline void
eg_table_put(eg_graph *g, uint64_t hash, uint32_t node) {
  uint8_t tag = eg_tag_of(hash);
  uint32_t at = eg_bucket_of(g, hash), end = g->n_buckets;
  if (!eg_put_before(g->buckets, at, end, tag, node))
    eg_put_before(g->buckets, 0, end, tag, node);
  g->filled++;
}

/* Of a row that is not dead; a wide row holds the hash of its children. */
static inline uint64_t
eg_row_hash(const eg_row *r) {
  bool wide = r->head & EG_WIDE;
  return eg_pair_hash(wide ? 0 : r->kid[0].i, r->kid[1].i,
                      eg_head_mix(r->head));
}

/* Takes the pair of a node out, if it is there; it was entered with this hash.
 */
static inline void
eg_table_take(eg_graph *g, uint64_t hash, uint32_t node) {
  uint8_t tag = eg_tag_of(hash);
  uint32_t at = eg_bucket_of(g, hash);
  for (uint32_t step = 0; step < g->n_buckets; step++) {
    eg_bucket *b = &g->buckets[at];
    for (uint32_t m = eg_tags_equal(b, tag); m; m &= m - 1) {
      uint32_t i = (uint32_t)__builtin_ctz(m);
      if (b->node[i] != node)
        continue;
      b->tag[i] = 0;
      g->filled--;
      return;
    }
    if (!b->spilled)
      return;
    at = at + 1 == g->n_buckets ? 0 : at + 1;
  }
}

/* A node with this key other than `except`, or EG_NONE; *seen tells whether
 * `except` itself stood on the way. */
static inline uint32_t
eg_table_find(const eg_graph *g, const eg_key *k, uint64_t hash,
              uint32_t except, bool *seen) {
  if (!g->n_buckets)
    return EG_NONE;
  uint8_t tag = eg_tag_of(hash);
  uint32_t at = eg_bucket_of(g, hash);
  for (uint32_t step = 0; step < g->n_buckets; step++) {
    const eg_bucket *b = &g->buckets[at];
    for (uint32_t m = eg_tags_equal(b, tag); m; m &= m - 1) {
      uint32_t node = b->node[__builtin_ctz(m)];
      if (node == except)
        *seen = true;
      else if (eg_key_is(g, k, node))
        return node;
    }
    if (!b->spilled)
      return EG_NONE;
    at = at + 1 == g->n_buckets ? 0 : at + 1;
  }
  return EG_NONE;
}

/* No node with this hash is there: so much one look tells, mostly.  There are
 * buckets. */
static inline bool
eg_table_lacks(const eg_graph *g, uint64_t hash) {
  const eg_bucket *b = &g->buckets[eg_bucket_of(g, hash)];
  return !(eg_tags_equal(b, eg_tag_of(hash)) | b->spilled);
}

static inline void
eg_table_prefetch(const eg_graph *g, uint64_t hash) {
  uint64_t b = ((hash & UINT32_MAX) * g->n_buckets) >> 32;
  __builtin_prefetch(&g->buckets[b]);
}

/* Fetches the node that a lookup would compare first. */
static inline void
eg_table_prefetch_node(const eg_graph *g, uint64_t hash) {
  const eg_bucket *b = &g->buckets[eg_bucket_of(g, hash)];
  uint32_t m = eg_tags_equal(b, eg_tag_of(hash));
  if (m)
    __builtin_prefetch(&g->rows[b->node[__builtin_ctz(m)]]);
}

#endif
