/* SPDX-License-Identifier: MIT */
/* memo.c - see memo.h.  Entries are libc memory: where there is none, nothing
 * is remembered. */
#include "poly/loops/memo.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct po_memo_entry {
  struct po_memo_entry *next;    /* in the bucket */
  struct po_memo_entry *younger; /* of all */
  po_memo_question question;
  uint32_t number, n, bucket;
  po_memo_answer answer;
  void *bytes;    /* the answer's */
  uint64_t *word; /* n_words of them, behind the parts */
  uint32_t n_words;
  po_memo_part part[];
} entry;

/* ---- keys ---- */

void
po_memo_ask(po_memo_key *key, po_memo_question question, uint32_t number) {
  assert(question <= PO_MEMO_PLAN);
  key->question = question;
  key->number = number;
  key->n = key->n_words = 0;
  key->too_long = false;
}

void
po_memo_of(po_memo_key *key, isl_set *domain, isl_multi_aff *time,
           isl_pw_multi_aff *index, uint64_t how) {
  assert(key->n <= PO_MEMO_PARTS);
  if (key->n == PO_MEMO_PARTS)
    key->too_long = true;
  else
    key->part[key->n++] = (po_memo_part){domain, time, index, how};
}

void
po_memo_word(po_memo_key *key, uint64_t word) {
  assert(key->n_words <= PO_MEMO_WORDS);
  if (key->n_words == PO_MEMO_WORDS)
    key->too_long = true;
  else
    key->word[key->n_words++] = word;
}

static uint64_t
mix(uint64_t hash, uint64_t with) {
  hash = (hash ^ with) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

static uint32_t
bucket_of(const po_memo_key *key) {
  uint64_t hash = mix(key->question, key->number);
  for (uint32_t k = 0; k < key->n; k++) {
    const po_memo_part *part = &key->part[k];
    hash = mix(hash, (uintptr_t)part->domain);
    hash = mix(hash, (uintptr_t)part->time);
    hash = mix(hash, (uintptr_t)part->index);
    hash = mix(hash, part->how);
  }
  for (uint32_t k = 0; k < key->n_words; k++)
    hash = mix(hash, key->word[k]);
  return (uint32_t)(hash % PO_MEMO_BUCKETS);
}

static bool
is_part(const po_memo_part *a, const po_memo_part *b) {
  return a->domain == b->domain && a->time == b->time && a->index == b->index &&
         a->how == b->how;
}

static bool
is_asked(const entry *e, const po_memo_key *key) {
  bool same = e->question == key->question && e->number == key->number &&
              e->n == key->n && e->n_words == key->n_words &&
              !memcmp(e->word, key->word, key->n_words * sizeof *e->word);
  for (uint32_t k = 0; same && k < key->n; k++)
    same = is_part(&e->part[k], &key->part[k]);
  return same;
}

/* ---- entries ---- */

static void
forget(entry *e) {
  for (uint32_t k = 0; k < e->n; k++) {
    isl_set_free(e->part[k].domain);
    isl_multi_aff_free(e->part[k].time);
    isl_pw_multi_aff_free(e->part[k].index);
  }
  isl_set_free(e->answer.set);
  isl_union_map_free(e->answer.map[0]);
  isl_union_map_free(e->answer.map[1]);
  free(e->bytes);
  free(e);
}

static void
forget_oldest(po_memo *memo) {
  entry *e = memo->oldest, **at = &memo->bucket[e->bucket];
  while (*at != e)
    at = &(*at)->next;
  *at = e->next;
  memo->oldest = e->younger;
  memo->newest = memo->oldest ? memo->newest : NULL;
  memo->n--;
  forget(e);
}

const po_memo_answer *
po_memo_find(const po_memo *memo, const po_memo_key *key) {
  assert(key->n <= PO_MEMO_PARTS);
  if (key->too_long)
    return NULL;
  const entry *e = memo->bucket[bucket_of(key)];
  while (e && !is_asked(e, key))
    e = e->next;
  return e ? &e->answer : NULL;
}

/* A copy, or NULL, also where there is no memory. */
static void *
copy_bytes(const po_memo_answer *answer) {
  void *to = answer->bytes ? malloc(answer->n_bytes) : NULL;
  return to ? memcpy(to, answer->bytes, answer->n_bytes) : NULL;
}

static void
hold(entry *e, const po_memo_key *key, const po_memo_answer *answer) {
  for (uint32_t k = 0; k < key->n; k++) {
    const po_memo_part *part = &key->part[k];
    e->part[k] = (po_memo_part){isl_set_copy(part->domain),
                                isl_multi_aff_copy(part->time),
                                isl_pw_multi_aff_copy(part->index), part->how};
  }
  e->answer = (po_memo_answer){
      isl_set_copy(answer->set),
      {isl_union_map_copy(answer->map[0]), isl_union_map_copy(answer->map[1])},
      answer->yes,
      e->bytes,
      answer->n_bytes};
}

void
po_memo_put(po_memo *memo, const po_memo_key *key, po_memo_answer answer) {
  size_t parts = key->n * sizeof(po_memo_part);
  size_t words = key->n_words * sizeof *key->word;
  entry *e = key->too_long ? NULL : malloc(sizeof *e + parts + words);
  void *bytes = e ? copy_bytes(&answer) : NULL;
  if (!e || (answer.bytes && !bytes)) {
    free(e);
    return;
  }
  if (memo->n == PO_MEMO_ENTRIES)
    forget_oldest(memo);
  assert(memo->n < PO_MEMO_ENTRIES);
  *e = (entry){.question = key->question,
               .number = key->number,
               .n = key->n,
               .bucket = bucket_of(key),
               .bytes = bytes,
               .word = (uint64_t *)(void *)(e->part + key->n),
               .n_words = key->n_words};
  memcpy(e->word, key->word, words);
  hold(e, key, &answer);
  e->next = memo->bucket[e->bucket];
  memo->bucket[e->bucket] = e;
  if (memo->newest)
    memo->newest->younger = e;
  else
    memo->oldest = e;
  memo->newest = e;
  memo->n++;
}

void
po_memo_clear(po_memo *memo) {
  while (memo->oldest)
    forget_oldest(memo);
}
