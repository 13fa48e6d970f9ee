/* SPDX-License-Identifier: MIT */
/* uses.h - which statements name an array.
 *
 * A question about one array that looks at all statements makes a pass over
 * all arrays quadratic; with this list it looks at those that matter. */
#ifndef POLY_USES_H
#define POLY_USES_H

#include "poly/loops/loops.h"

/* stmts[from[array]], ..., stmts[from[array + 1] - 1]: the statements that read
 * or write the array or give it to a call, rising, each once. */
typedef struct po_uses {
  uint32_t *from, *stmts;
} po_uses;

/* On the program's heap, for as long as no statement changes. */
void po_find_uses(const po_program *, po_uses *);
void po_uses_done(const po_program *, po_uses *);

#endif
