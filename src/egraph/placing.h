/* placing.h - an index while it is built: what place.c and segment.c share;
 * private to them. */
#ifndef EGRAPH_PLACING_H
#define EGRAPH_PLACING_H

#include "egraph/place.h"
#include "egraph/segments.h"

enum { EG_PLACE_THREADS = 4 };

/* Some classes, and how many nodes those before them have. */
typedef struct eg_range {
  uint32_t first, end, base;
} eg_range;

/* Some classes on their way into the operators' lists. */
typedef struct eg_placing {
  const eg_row *rows;
  const eg_head *heads;
  eg_entries entries;
  uint32_t *at;   /* next place of a symbol */
  uint32_t *last; /* the class that a symbol was last placed for, + 1 */
  uint32_t n_segments;
  uint32_t n_many; /* segments of many nodes, where there are several threads */
  eg_range some;
} eg_placing;

/* Of thread i: `at`, how many nodes of a class its rows hold, then where the
 * next is placed; of the last thread this is the index's `class_segment`.
 * `uses`, how many of a symbol; `counts` the same for each part of a range of
 * classes. */
typedef struct eg_sorting {
  eg_graph *g;
  eg_index *x;
  uint32_t n, n_symbols; /* n threads */
  eg_range some;
  uint32_t *at[EG_PLACE_THREADS], *uses[EG_PLACE_THREADS],
      *counts[EG_PLACE_THREADS];
  uint32_t *next; /* place of a symbol */
  eg_placing parts[EG_PLACE_THREADS];
} eg_sorting;

#define EG_UNWRITTEN 0x40000000u /* of a class's segments */

static inline void
eg_share_out(eg_sorting *s, void (*task)(void *, uint32_t)) {
  if (s->n > 1)
    eg_crew_run(s->g->crew, task, s, s->n);
  else
    task(s, 0);
}

/* Part i of n things begins here. */
static inline uint32_t
eg_part_start(const eg_sorting *s, uint32_t n, uint32_t i) {
  return (uint32_t)((uint64_t)n * i / s->n);
}

/* segment.c: the segments of the lists, which are made; `segments.len` tells
 * how many are kept. */
void eg_make_segments(eg_sorting *);

#endif
