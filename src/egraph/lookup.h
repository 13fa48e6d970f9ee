/* SPDX-License-Identifier: MIT */
/* lookup.h - a batch of matches, and one step of their right sides looked up;
 * private, inline.
 *
 * A batch goes step by step through the right side, so that the cache misses of
 * a step overlap. */
#ifndef EGRAPH_LOOKUP_H
#define EGRAPH_LOOKUP_H

#include "egraph/hashcons.h"
#include "egraph/runner.h"

/* Matches, `stride` words each, and the classes made for them so far: a row of
 * `pitch` a step. */
typedef struct eg_batch {
  const eg_graph *g;
  const uint32_t *matches;
  uint32_t stride, n, pitch;
  uint32_t *made;
} eg_batch;

/* At most EG_BATCH of a group's matches, from `at` on. */
static inline eg_batch
eg_batch_part(const eg_batch *b, uint32_t at, uint32_t end) {
  eg_batch part = *b;
  part.matches += (size_t)at * b->stride;
  part.made += at;
  part.n = end - at < EG_BATCH ? end - at : EG_BATCH;
  return part;
}

/* The words of matches that name the class that the last node shall be in. */
static inline const uint32_t *
eg_targets(const eg_batch *b, const eg_code *c) {
  return b->matches + (c->slot == EG_NONE ? 0 : EG_MATCH_HEAD + c->slot);
}

static inline uint32_t
eg_target(const eg_batch *b, const eg_code *c, uint32_t i) {
  return eg_root(b->g, eg_targets(b, c)[(size_t)i * b->stride]);
}

static inline const uint32_t *
eg_match_at(const eg_batch *b, uint32_t i) {
  return b->matches + (size_t)i * b->stride;
}

static inline uint32_t *
eg_made_at(const eg_batch *b, uint32_t step) {
  return b->made + (size_t)step * b->pitch;
}

/* What a step shall add for each match of the batch: canonical children and
 * hashes first, while the buckets are fetched; then the first node whose tag
 * agrees, which mostly is it, while that is fetched; then all are compared.  So
 * the cache misses overlap. */
typedef struct eg_wanted {
  eg_class kids[EG_BATCH][2]; /* canonical; EG_NONE: no such child */
  uint64_t hashes[EG_BATCH];
  uint32_t likely[EG_BATCH]; /* its bucket; then a node that may be it, or 0 */
  uint64_t unions;           /* when that was so */
} eg_wanted;

/* Where child k of a step is read: in the matches or of an earlier step. */
typedef struct eg_column {
  const uint32_t *at;
  size_t stride;
} eg_column;

static inline eg_column
eg_column_of(const eg_batch *b, const eg_step *s, uint32_t k) {
  if (k >= s->node->n_kids)
    return (eg_column){NULL, 0};
  if (s->from[k].is_word)
    return (eg_column){b->matches + s->from[k].at, b->stride};
  return (eg_column){eg_made_at(b, s->from[k].at), 1};
}

static inline uint32_t
eg_take_kid(const eg_graph *g, eg_column *c) {
  uint32_t kid = *c->at;
  c->at += c->stride;
  return eg_root(g, kid);
}

/* Children and hashes, of steps with n children: a constant. */
static inline void
eg_take_keys(const eg_batch *b, const eg_step *s, uint32_t n, eg_wanted *w) {
  const eg_graph *g = b->g;
  const eg_bucket *buckets = g->buckets;
  uint64_t n_buckets = g->n_buckets, by_head = eg_head_mix(s->head);
  uint32_t n_matches = b->n;
  eg_column first = eg_column_of(b, s, 0), second = eg_column_of(b, s, 1);
  for (uint32_t i = 0; i < n_matches; i++) {
    uint32_t k0 = n > 0 ? eg_take_kid(g, &first) : EG_NONE;
    uint32_t k1 = n > 1 ? eg_take_kid(g, &second) : EG_NONE;
    uint64_t pair = (uint64_t)k1 << 32 | k0;
    uint64_t hash = eg_pair_hash(k0, k1, by_head);
    uint64_t at = ((hash & UINT32_MAX) * n_buckets) >> 32;
    __builtin_prefetch(&buckets[at]);
    w->likely[i] = (uint32_t)at;
    w->kids[i][0].i = (uint32_t)pair;
    w->kids[i][1].i = (uint32_t)(pair >> 32);
    w->hashes[i] = hash;
  }
}

static inline void
eg_find_likely(const eg_batch *b, eg_wanted *w) {
  const eg_bucket *buckets = b->g->buckets;
  const eg_row *rows = b->g->rows;
  uint32_t n = b->n;
  for (uint32_t i = 0; i < n; i++) {
    const eg_bucket *at = &buckets[w->likely[i]];
    uint8_t tag = eg_tag_of(w->hashes[i]);
    uint32_t m = eg_tags_equal(at, tag);
    uint32_t node = m ? at->node[__builtin_ctz(m)] : 0;
    w->likely[i] = node;
    if (m)
      __builtin_prefetch(&rows[node]);
  }
}

/* The table has room for the batch: it has buckets. */
static inline void
eg_want(const eg_batch *b, const eg_step *s, eg_wanted *w) {
  if (s->node->n_kids == 2)
    eg_take_keys(b, s, 2, w);
  else if (s->node->n_kids == 1)
    eg_take_keys(b, s, 1, w);
  else
    eg_take_keys(b, s, 0, w);
  eg_find_likely(b, w);
  w->unions = b->g->unions;
}

static inline eg_key
eg_wanted_key(const eg_step *s, const eg_wanted *w, uint32_t i) {
  return (eg_key){s->head, w->kids[i][0].i, w->kids[i][1].i, NULL, 0};
}

/* The class of the likely node of match i, or EG_NONE when it is another. */
static inline uint32_t
eg_likely_in(const eg_row *rows, uint32_t head, const eg_wanted *w,
             uint32_t i) {
  const eg_row *row = &rows[w->likely[i]];
  bool is = row->head == head && !memcmp(row->kid, w->kids[i], sizeof row->kid);
  return is ? row->cls : EG_NONE;
}

/* Are they one class?  `cls` may be EG_NONE. */
static inline bool
eg_is_same(const eg_graph *g, uint32_t cls, uint32_t into) {
  if (cls == into || cls == EG_NONE)
    return cls == into;
  return eg_root(g, cls) == eg_root(g, into);
}

#endif
