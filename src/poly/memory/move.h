/* SPDX-License-Identifier: MIT */
/* move.h - how a tile comes into a memory, and back: instructions whose
 * meaning is their operand, one behind the other.
 *
 * An instruction takes rows of so many columns as its `where` admits; a larger
 * tile is moved in pieces of one size.  Of dimensions before those of the
 * instruction each index is a piece. */
#ifndef POLY_MEMORY_MOVE_H
#define POLY_MEMORY_MOVE_H

#include "poly/loops/loops.h"

enum { PO_MOST_HOPS = 2 };

/* The part of an array that one call works on. */
typedef struct po_tile {
  gs_dtype dtype;
  uint32_t rank;
  int64_t dim[GS_MAX_RANK];
  int64_t stride[GS_MAX_RANK]; /* in dram, in elements */
} po_tile;

typedef struct po_move {
  const gs_instr *instr;
  const uint32_t *slots;      /* bound to a piece */
  int64_t piece[GS_MAX_RANK]; /* by dimension of the tile */
  double cycles;              /* of all pieces */
} po_move;

/* memory[0], which the first move reads, to memory[n], which the last writes */
typedef struct po_route {
  uint32_t n, memory[PO_MOST_HOPS + 1];
  po_move move[PO_MOST_HOPS];
} po_route;

/* The cheapest way, in the arena; false where no instruction takes the tile.
 * One end is dram, where the tile lies with its strides. */
bool po_find_route(const gs_context *, const gs_target *, bs_arena *,
                   const po_tile *, uint32_t from, uint32_t to, po_route *);
/* The cheapest pieces in which an instruction that works element by element
 * takes a tile that lies in its memory and goes to dram with these strides: by
 * that instruction, or, where it leaves its result in a memory, by a store
 * behind it; `like`: the slots of a call of it, for its parameters. */
bool po_find_conversion(const gs_context *, const gs_target *, bs_arena *,
                        const po_tile *, const gs_instr *, const uint32_t *like,
                        po_route *);
/* Whether operand k of a call may lie in dram with those strides: 0 .. n - 1,
 * n: the result. */
bool po_can_bring(const gs_context *, const gs_target *, const gs_instr *,
                  uint32_t k, const int64_t *stride, const int64_t *dim,
                  uint32_t rank);

#endif
