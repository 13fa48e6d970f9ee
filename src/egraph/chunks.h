/* chunks.h - memory for matches found ahead, used again and again; private.
 *
 * Pieces of one size, as many as the matches that wait may take, each had from
 * the system when it is first needed.  Threads take them side by side; they are
 * given back while none takes any. */
#ifndef EGRAPH_CHUNKS_H
#define EGRAPH_CHUNKS_H

#include "egraph/crew.h"
#include "egraph/sink.h"
#include <stdatomic.h>

enum { EG_CHUNK_WORDS = 2048 - 8 };

typedef struct eg_chunk {
  struct eg_chunk *next;
  uint32_t n; /* matches */
  uint32_t none;
  uint32_t words[EG_CHUNK_WORDS];
} eg_chunk;

typedef struct eg_chunks {
  eg_crew *crew;
  eg_chunk **free; /* NULL: not had yet */
  atomic_int n_free;
} eg_chunks;

/* `heap` may unwind, and outlives them. */
void eg_chunks_init(eg_chunks *, eg_crew *, bs_heap *heap, uint32_t most);
/* After `drop`: so many may be taken, at most as many as at first. */
void eg_chunks_limit(eg_chunks *, uint32_t n);
/* All have been given back: returns their memory. */
void eg_chunks_drop(eg_chunks *);
void eg_chunks_done(eg_chunks *, bs_heap *heap);
/* An empty one, or NULL when all are in use, or when memory is `refused`. */
eg_chunk *eg_chunks_take(eg_chunks *, bool *refused);
void eg_chunks_give(eg_chunks *, eg_chunk *list);

#endif
