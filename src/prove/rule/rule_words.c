/* SPDX-License-Identifier: MIT */
/* rule_words.c - see rule_words.h. */
#include "prove/rule/rule_words.h"
#include "base/hash.h"
#include <assert.h>
#include <string.h>

void
pv_words_open(pv_words *w) {
  w->open = w->rows.len ? bs_last(&w->rows).at + bs_last(&w->rows).n : 0;
  w->pool.len = w->open;
}

void
pv_words_put(bs_heap *heap, pv_words *w, uint32_t word) {
  bs_push(heap, &w->pool, word);
}

uint32_t *
pv_words_close(bs_heap *heap, pv_words *w) {
  assert(w->open <= w->pool.len);
  uint32_t n = w->pool.len - w->open;
  const uint32_t *words = n ? w->pool.data + w->open : &n;
  uint64_t hash = bs_hash(words, n * sizeof *words);
  uint32_t first = bs_map_get(&w->first, hash);
  for (uint32_t k = first; k != BS_NO_ENTRY; k = w->rows.data[k].next) {
    const pv_words_row *row = &w->rows.data[k];
    if (row->n == n &&
        (!n || !memcmp(w->pool.data + row->at, words, n * sizeof *words))) {
      w->pool.len = w->open;
      return &w->rows.data[k].number;
    }
  }
  bs_push(heap, &w->rows, ((pv_words_row){w->open, n, BS_NO_ENTRY, first}));
  bs_map_put(heap, &w->first, hash, w->rows.len - 1);
  return &w->rows.data[w->rows.len - 1].number;
}

void
pv_words_done(bs_heap *heap, pv_words *w) {
  bs_vec_done(heap, &w->pool);
  bs_vec_done(heap, &w->rows);
  bs_map_done(heap, &w->first);
}
