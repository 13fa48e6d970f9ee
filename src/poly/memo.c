/* memo.c - see memo.h.  Each key has one place; what is put there last stays.
 */
#include "poly/memo.h"
#include <string.h>

static uint32_t
place_of(const po_memo_key *key) {
  uint64_t hash = key->n_outer;
  for (uint32_t k = 0; k < key->n; k++) {
    hash = (hash ^ (uintptr_t)key->domain[k]) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (uintptr_t)key->time[k]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return (uint32_t)(hash % PO_MEMO_ENTRIES);
}

static bool
is_same(const po_memo_key *a, const po_memo_key *b) {
  return a->n == b->n && a->n_outer == b->n_outer &&
         !memcmp(a->domain, b->domain, a->n * sizeof *a->domain) &&
         !memcmp(a->time, b->time, a->n * sizeof *a->time);
}

isl_set *
po_memo_find(const po_memo *memo, const po_memo_key *key) {
  const struct po_memo_entry *e = &memo->entries[place_of(key)];
  return e->values && is_same(&e->key, key) ? isl_set_copy(e->values) : NULL;
}

static void
forget(struct po_memo_entry *e) {
  for (uint32_t k = 0; e->values && k < e->key.n; k++) {
    isl_set_free(e->key.domain[k]);
    isl_multi_aff_free(e->key.time[k]);
  }
  e->values = isl_set_free(e->values);
}

void
po_memo_put(po_memo *memo, const po_memo_key *key, isl_set *values) {
  struct po_memo_entry *e = &memo->entries[place_of(key)];
  if (!values)
    return;
  forget(e);
  e->key = *key;
  for (uint32_t k = 0; k < key->n; k++) {
    isl_set_copy(key->domain[k]);
    isl_multi_aff_copy(key->time[k]);
  }
  e->values = isl_set_copy(values);
}

void
po_memo_clear(po_memo *memo) {
  for (uint32_t k = 0; k < PO_MEMO_ENTRIES; k++)
    forget(&memo->entries[k]);
}
