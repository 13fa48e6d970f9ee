/* SPDX-License-Identifier: MIT */
/* again.h - a term that is like one before gets copies of its statements.
 *
 * Layers of a network differ in their arrays.  What a compute becomes depends
 * on its operator, on how it looks at its bases, and on where these and it
 * live: where all that is equal, its statements are those of the first one with
 * other arrays, and isl is not asked again. */
#ifndef POLY_AGAIN_H
#define POLY_AGAIN_H

#include "poly/lower/lower.h"

/* Emits a compute, as po_emit_compute does. */
void po_emit_alike(po_lowering *, gs_term compute);
void po_emitted_done(po_lowering *);

/* What stands for the arrays of the statements that are copied: to[k] for
 * from[k], and for one of the n_own from `own` on the one as far from
 * `now_own`. */
typedef struct po_renaming {
  const uint32_t *from, *to;
  uint32_t n, own, n_own, now_own;
} po_renaming;

/* stmt.c: what stands for an array, false where nothing does; adds a copy of a
 * statement without instruction.  lower_order.c: adds a copy of the n nodes
 * from `node` on, below the root, with leaves for statements that are so many
 * further on. */
bool po_renamed(const po_renaming *, uint32_t array, uint32_t *out);
void po_add_stmt_again(po_lowering *, uint32_t like, const po_renaming *,
                       gs_term);
void po_add_nodes_again(po_lowering *, uint32_t node, uint32_t n,
                        uint32_t further);

#endif
