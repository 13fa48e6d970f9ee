/* SPDX-License-Identifier: MIT */
/* memory.h - calls of instructions whose operands lie in memories of the
 * target.
 *
 * Lowering lets a call name arrays of dram.  Here each operand that is declared
 * `(in MEMORY)` gets an array in that memory, loaded before it is read, and a
 * result one that is stored when it is whole:
 *
 *   for o { load A block; for k { load B tile; call }; store C block }
 *
 * In which order loops run, how they are cut into blocks, and below which loop
 * an operand is loaded is decided by the cycles that the queues of the target
 * take, under the capacities of its memories.  What a call computes for the
 * next one, and nobody else reads, stays in the memory. */
#ifndef POLY_MEMORY_H
#define POLY_MEMORY_H

#include "poly/memory/move.h"

/* False with a diagnostic where a call does not fit. */
bool po_allocate(po_program *);
/* memory_check.c: whether the places of arrays in memories lie within them, and
 * none covers one that holds values then; false with the first fault. */
bool po_check_places(const po_program *, bs_text *why);

#endif
