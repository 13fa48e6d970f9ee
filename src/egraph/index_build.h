/* SPDX-License-Identifier: MIT */
/* index_build.h - how the index is built; private to this folder. */
#ifndef EGRAPH_INDEX_BUILD_H
#define EGRAPH_INDEX_BUILD_H

#include "egraph/graph.h"

/* Makes all lists of the graph's index, which is empty: of its nodes, those by
 * class excepted.  Unwinds when memory runs out. */
void eg_index_build(eg_graph *);

/* A list for n items; what stood in the old one is not needed any more, so it
 * is given back before.  NULL and no capacity: refused. */
void *eg_index_room(eg_graph *, void *list, uint32_t *cap, uint64_t n,
                    size_t item);

#define EG_ROOM(g, v, n)                                                       \
  do {                                                                         \
    (v)->data =                                                                \
        eg_index_room((g), (v)->data, &(v)->cap, (n), sizeof *(v)->data);      \
    if (!(v)->cap)                                                             \
      bs_out_of_memory((g)->heap);                                             \
  } while (0)

#endif
