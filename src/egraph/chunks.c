/* chunks.c - memory for matches found ahead.
 *
 * Free chunks stand in an array with one atomic counter: taking is a
 * subtraction, and since nothing is given back meanwhile, a place that was
 * taken stays taken. */
#include "egraph/chunks.h"

void
eg_chunks_init(eg_chunks *c, eg_crew *crew, bs_heap *heap, uint32_t most) {
  c->crew = crew;
  c->free = bs_calloc(heap, most, sizeof(eg_chunk *));
  atomic_store(&c->n_free, (int)most);
}

void
eg_chunks_limit(eg_chunks *c, uint32_t n) {
  atomic_store(&c->n_free, (int)n);
}

void
eg_chunks_drop(eg_chunks *c) {
  for (int i = 0; i < atomic_load(&c->n_free); i++) {
    eg_crew_give(c->crew, c->free[i]);
    c->free[i] = NULL;
  }
}

void
eg_chunks_done(eg_chunks *c, bs_heap *heap) {
  eg_chunks_drop(c);
  bs_free(heap, c->free);
}

eg_chunk *
eg_chunks_take(eg_chunks *c, bool *refused) {
  int at = atomic_fetch_sub(&c->n_free, 1) - 1;
  eg_chunk *chunk = NULL;
  if (at >= 0) {
    chunk = c->free[at] ? c->free[at] : eg_crew_take(c->crew, sizeof *chunk);
    *refused = !chunk;
    c->free[at] = NULL;
  }
  if (!chunk) {
    atomic_fetch_add(&c->n_free, at < 0);
    return NULL;
  }
  chunk->next = NULL;
  chunk->n = 0;
  return chunk;
}

void
eg_chunks_give(eg_chunks *c, eg_chunk *list) {
  while (list) {
    eg_chunk *next = list->next;
    c->free[atomic_fetch_add(&c->n_free, 1)] = list;
    list = next;
  }
}
