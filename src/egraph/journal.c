/* SPDX-License-Identifier: MIT */
/* journal.c - rows, unions and the matches behind them, as they happen.
 *
 * A match is copied when the first of its right sides has an effect.  Room is
 * made before a change, so that writing it down cannot fail.  A rule that says
 * what was known may be a shorter way between two terms: such events are kept,
 * too, once each and at most one for every four others. */
#include "egraph/journal.h"
#include "base/hash.h"
#include <assert.h>
#include <string.h>

enum { AGAIN_AT_LEAST = 4096, AGAIN_SHARE = 4 };

eg_journal *
eg_journal_new(bs_heap *heap) {
  eg_journal *j = bs_calloc(heap, 1, sizeof *j);
  j->again = bs_calloc(heap, EG_AGAIN, sizeof *j->again);
  return j;
}

void
eg_journal_free(bs_heap *heap, eg_journal *j) {
  if (!j)
    return;
  bs_vec_done(heap, &j->was);
  bs_vec_done(heap, &j->pool);
  bs_vec_done(heap, &j->events);
  bs_vec_done(heap, &j->matches);
  bs_vec_done(heap, &j->place);
  bs_free(heap, j->again);
  bs_free(heap, j);
}

size_t
eg_journal_bytes(const eg_journal *j) {
  return sizeof *j + j->was.cap * sizeof *j->was.data +
         j->events.cap * sizeof *j->events.data +
         ((size_t)j->pool.cap + j->matches.cap + j->place.cap) *
             sizeof(uint32_t) +
         EG_AGAIN * sizeof *j->again;
}

void
eg_journal_room(eg_graph *g, uint32_t pool, uint64_t events) {
  assert(g->journal);
  eg_journal *j = g->journal;
  bs_reserve(g->heap, &j->was, (uint64_t)j->was.len + 1);
  bs_reserve(g->heap, &j->events, j->events.len + events);
  bs_reserve(g->heap, &j->pool, (uint64_t)j->pool.len + pool);
}

void
eg_journal_batch(eg_graph *g, uint32_t rule, const uint32_t *ready,
                 uint32_t stride, uint32_t n_slots, uint32_t n) {
  assert(g->journal && !g->journal->ready && stride >= n_slots);
  eg_journal *j = g->journal;
  uint64_t words = (uint64_t)n * (EG_M_HEAD + (uint64_t)n_slots);
  bs_reserve(g->heap, &j->matches, j->matches.len + words);
  bs_reserve(g->heap, &j->place, n);
  for (uint32_t i = 0; i < n; i++)
    j->place.data[i] = EG_NONE;
  j->rule = rule;
  j->ready = ready;
  j->stride = stride;
  j->n_slots = n_slots;
  j->n_ready = n;
}

void
eg_journal_batch_over(eg_graph *g) {
  assert(g->journal);
  g->journal->ready = NULL;
  g->journal->n_ready = 0;
}

static bool
is_of_batch(const eg_journal *j, eg_reason why) {
  return why.match < j->n_ready && why.rule == j->rule;
}

/* The place of a match of the batch, for which there is room. */
static uint32_t
place_of(eg_journal *j, uint32_t match) {
  assert(match < j->n_ready);
  uint32_t at = j->place.data[match];
  if (at != EG_NONE)
    return at;
  const uint32_t *m = j->ready + (size_t)match * j->stride;
  uint32_t *to = j->matches.data + j->matches.len;
  at = j->place.data[match] = j->matches.len;
  to[EG_M_RULE] = j->rule;
  to[EG_M_SLOTS] = j->n_slots;
  to[EG_M_ROOT] = m[0];
  to[EG_M_NODE] = m[1];
  if (j->n_slots)
    memcpy(to + EG_M_HEAD, m + 2, j->n_slots * sizeof *to);
  j->matches.len += EG_M_HEAD + j->n_slots;
  return at;
}

static void
event(eg_journal *j, uint32_t a, uint32_t b, uint32_t why) {
  assert(j->events.len < j->events.cap);
  j->events.data[j->events.len++] = (eg_event){a, b, why};
}

void
eg_journal_row(eg_graph *g, const eg_class *kids, uint32_t n, uint32_t cls,
               uint32_t into, eg_reason why) {
  assert(g->journal->was.len < g->journal->was.cap);
  eg_journal *j = g->journal;
  uint32_t row = j->was.len;
  eg_was w = {{{EG_NONE}, {EG_NONE}}, cls};
  if (n > 2) {
    w.kid[0].i = j->pool.len;
    memcpy(j->pool.data + j->pool.len, kids, n * sizeof *kids);
    j->pool.len += n;
  } else {
    for (uint32_t i = 0; i < n; i++)
      w.kid[i] = kids[i];
  }
  j->was.data[j->was.len++] = w;
  j->row = row;
  if (into == EG_NONE || cls != into)
    return;
  if (is_of_batch(j, why))
    event(j, row, j->result, place_of(j, why.match));
}

void
eg_journal_union(eg_graph *g, eg_reason why) {
  assert(g->journal);
  eg_journal *j = g->journal;
  if (why.rule == EG_BY_CONGRUENCE)
    event(j, j->row, j->other, EG_BY_CONGRUENCE);
  else if (is_of_batch(j, why))
    event(j, j->row, j->result, place_of(j, why.match));
  else
    event(j, j->row, j->other, EG_BY_CLIENT);
}

void
eg_journal_again(eg_graph *g, eg_reason why) {
  assert(g->journal);
  eg_journal *j = g->journal;
  if (!is_of_batch(j, why) || j->row + 1 == j->was.len ||
      j->n_again > AGAIN_AT_LEAST + j->events.len / AGAIN_SHARE)
    return;
  const uint32_t *m = j->ready + (size_t)why.match * j->stride;
  uint32_t word[5] = {j->rule, j->result, m[0], m[1], j->row};
  uint64_t hash = bs_hash(word, sizeof word);
  uint64_t *last = &j->again[hash & (EG_AGAIN - 1)];
  if (*last == hash)
    return;
  eg_journal_room(g, 0, 1);
  *last = hash;
  j->n_again++;
  event(j, j->row, j->result, place_of(j, why.match));
}
