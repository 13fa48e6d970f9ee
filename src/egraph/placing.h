/* SPDX-License-Identifier: MIT */
/* placing.h - an index while it is built: what place.c and segment.c share;
 * private to them. */
#ifndef EGRAPH_PLACING_H
#define EGRAPH_PLACING_H

#include "egraph/place.h"
#include "egraph/segments.h"

/* Some classes, and how many nodes those before them have. */
typedef struct eg_range {
  uint32_t first, end, base;
} eg_range;

/* Nodes on their way into the lists: by class, some classes at a time, then
 * into those of their operators. */
typedef struct eg_placing {
  eg_graph *g;
  eg_index *x;
  const eg_row *rows;
  const eg_head *heads;
  eg_entries entries;
  uint32_t n_symbols;
  uint32_t *at;   /* next place of a symbol */
  uint32_t *last; /* the class that a symbol was last placed for, + 1 */
  uint32_t n_segments;
  eg_range some;
} eg_placing;

#define EG_UNWRITTEN 0x40000000u /* of a class's segments */

/* segment.c: the segments of the lists, which are made; `segments.len` tells
 * how many are kept. */
void eg_make_segments(eg_placing *);

#endif
