/* SPDX-License-Identifier: MIT */
/* loops_check.h - what holds of every loop program between two passes.
 *
 *  1. The nest is one tree: a node that has a parent is among its children,
 *     siblings link both ways, and the root is reached from every leaf.
 *  2. Every statement stands in one leaf, and is that leaf's statement.
 *  3. Names of statements, of loops and of arrays are told apart.
 *  4. A statement's time has a function for each loop around its leaf, on
 *     exactly the statement's instances.
 *  5. Domains have an index for each iterator, and are bounded.
 *  6. Bodies are children first: operands of an expression come before it, the
 *     root is last.
 *  7. Accesses name arrays of the program, have an index for each dimension,
 *     and lie within them for every instance; a gather's index before it is
 *     moved on.
 *  8. A statement that updates names a fold operator, a call an instruction
 *     and all of its operands.
 *
 * 1 to 4, 6 and 8 are looked up; 5 and 7 are asked of isl, and hold where it
 * gives up. */
#ifndef POLY_LOOPS_CHECK_H
#define POLY_LOOPS_CHECK_H

#include "poly/loops/loops.h"

/* True, or false with the first thing that does not hold. */
bool po_check(const po_program *, bs_text *why);

/* In builds with assertions: an error of the program's diagnostics, whose pass
 * is named, where something does not hold. */
bool po_verify(const po_program *, const char *after);

#endif
