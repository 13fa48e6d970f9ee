/* SPDX-License-Identifier: MIT */
/* alike.h - what was worked out for one term serves all that are alike.
 *
 * Layers of a network differ in the arrays they look at.  Pieces name no array,
 * so those of a view are those of every view of the same operators over bases
 * of the same types; only the terms that they lead to are others. */
#ifndef POLY_ALIKE_H
#define POLY_ALIKE_H

#include "base/keys.h"
#include "glenside/program/program.h"

struct po_views;

/* Values by keys. */
typedef struct po_known {
  bs_keys keys;
  BS_VEC(void *) values; /* by number of the key; NULL: none yet */
} po_known;

/* The number of the key, which is taken. */
uint32_t po_known_number(bs_heap *, po_known *, bs_key *);
void po_known_done(bs_heap *, po_known *);

/* How a term looks at its bases.  Those of equal numbers do so alike, the first
 * base of one being to it what the first one is to the other. */
typedef struct po_shape {
  uint32_t number;   /* PO_NO_SHAPE: too many bases */
  uint32_t first, n; /* bases[first], ... */
} po_shape;

#define PO_NO_SHAPE UINT32_MAX

typedef struct po_shapes {
  po_known known;
  po_shape *of; /* by term; as it was when its view was made last */
  BS_VEC(gs_term) bases;
} po_shapes;

void po_shapes_init(bs_heap *, po_shapes *, uint32_t terms);
void po_shapes_done(bs_heap *, po_shapes *);
/* Of a term whose children have theirs. */
void po_find_shape(struct po_views *, gs_term);
/* Makes a view of the pieces of one that is alike; false where there is none.
 */
bool po_view_take(struct po_views *, gs_term);
/* Keeps the pieces of a view for others. */
void po_view_note(struct po_views *, gs_term);

#endif
