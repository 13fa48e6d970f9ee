/* SPDX-License-Identifier: MIT */
/* index_builder.h - an index while it is built: what index_build.c and
 * index_segments.c share; private to them. */
#ifndef EGRAPH_INDEX_BUILDER_H
#define EGRAPH_INDEX_BUILDER_H

#include "egraph/index_build.h"
#include "egraph/segments.h"

/* Some classes, and how many nodes those before them have. */
typedef struct eg_range {
  uint32_t first, end, base;
} eg_range;

/* Nodes on their way into the lists: by class, some classes at a time, then
 * into those of their operators. */
typedef struct eg_index_builder {
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
} eg_index_builder;

#define EG_UNWRITTEN 0x40000000u /* of a class's segments */

/* index_segments.c: the segments of the lists, which are made; `segments.len`
 * tells how many are kept. */
void eg_make_segments(eg_index_builder *);

#endif
