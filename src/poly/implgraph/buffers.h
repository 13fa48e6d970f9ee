/* SPDX-License-Identifier: MIT */
/* buffers.h - where the buffers of an impl graph lie in a core's memory.
 *
 * A buffer that is filled from memory or emptied to it is a queue: of two
 * places where there is room, so that one is filled or emptied while calls work
 * on the other.  A buffer of values that only pass between nodes of one
 * iteration is temporary: its place is used again by others when the last node
 * that uses it has run. */
#ifndef POLY_IMPLGRAPH_BUFFERS_H
#define POLY_IMPLGRAPH_BUFFERS_H

#include "poly/implgraph/candidates.h"

typedef enum po_buffer_kind {
  PO_QUEUE_IN,
  PO_QUEUE_OUT,
  PO_TEMPORARY
} po_buffer_kind;

typedef struct po_buffer {
  const char *name; /* of the array */
  po_buffer_kind kind;
  uint32_t depth;       /* places: 2 for a double buffer */
  int64_t bytes;        /* of one place */
  int64_t offset;       /* of the first place */
  uint32_t first, last; /* nodes that use it, by number */
  double fills;         /* how often a core fills or empties it */
} po_buffer;

typedef struct po_buffers {
  BS_VEC(po_buffer) list;
  int64_t bytes; /* of all, places that are used again counted once */
} po_buffers;

/* In the order of first use. */
void po_place_buffers(const po_graph *, const po_graph_machine *, po_buffers *);
void po_buffers_done(bs_heap *, po_buffers *);
void po_print_buffers(const po_buffers *, bs_text *);
void po_json_buffers(const po_buffers *, bs_json *);

#endif
