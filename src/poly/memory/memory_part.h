/* SPDX-License-Identifier: MIT */
/* memory_part.h - a nest of calls while places for its operands are found.
 *
 * A part is one nest of lowering: perfect loops, its dimensions, around some
 * calls.  A value is what operands of these calls have in common that lie in
 * one place: the same elements of an array, or a result and the operand onto
 * which it is written.
 *
 * A plan cuts each dimension into blocks.  Loops over blocks come first, in
 * the order of the plan, then those within a block; loops of one iteration are
 * left out.  A value is loaded at a level, inside of so many of the loops, and
 * then has a place for each index of the loops below that it depends on. */
#ifndef POLY_MEMORY_PART_H
#define POLY_MEMORY_PART_H

#include "poly/memory/memory.h"

enum { PO_MOST_VALUES = 16, PO_MOST_LOOPS = 2 * GS_MAX_RANK };

typedef struct po_value {
  uint32_t memory;
  po_tile tile, to_tile; /* as it lies at `array`, and at `to` */
  bool has[GS_MAX_RANK]; /* by dimension of the part */
  bool read, written;
  bool loaded, stored; /* from `array` at `base`; to `to` at `to_base` */
  uint32_t array, to;
  isl_pw_multi_aff *base, *to_base;
  po_route in, out;
  bool converted; /* on the way out, by the calls of another nest, */
  uint32_t taker; /* a child of the root, which is not needed any more */
  bool own; /* of the nest alone: it has no array outside of it any more */
} po_value;

/* What an operand of a call is. */
typedef struct po_ref {
  uint32_t stmt, operand, value;
} po_ref;

typedef struct po_calls {
  po_program *p;
  uint32_t top;   /* the child of the root */
  uint32_t n;     /* dimensions */
  uint32_t fused; /* of them, the first: no other order, no blocks */
  int64_t size[GS_MAX_RANK];
  bool sum[GS_MAX_RANK];
  bool ordered; /* sums keep their order */
  uint32_t n_stmts, *stmts;
  uint32_t n_values, n_refs;
  po_value value[PO_MOST_VALUES];
  po_ref *refs;
  double compute; /* cycles of all calls */
  const char *queue;
} po_calls;

typedef struct po_loop {
  uint32_t dim;
  int64_t extent;
  bool within; /* a block */
} po_loop;

typedef struct po_plan {
  int64_t block[GS_MAX_RANK];
  uint32_t order[GS_MAX_RANK];    /* dimensions, of the loops over blocks */
  uint32_t level[PO_MOST_VALUES]; /* by value */
  bool twice[PO_MOST_VALUES];     /* two places by turns */
  double price;                   /* cycles */
  double bytes;                   /* moved */
  /* made by po_plan_loops */
  uint32_t n_loops;
  po_loop loop[PO_MOST_LOOPS];
} po_plan;

/* memory_part.c: the part that a child of the root is; false where it is none,
 * or, with *failed, where an operand cannot be brought to its memory. */
bool po_find_calls(po_program *, uint32_t top, po_calls *out, bool *failed);

/* Lists the calls of a part without ways to and from its memories; false where
 * it is none. */
bool po_list_calls(po_program *, uint32_t top, po_calls *out);

/* Where an operand begins, as a function of the dimensions of its nest. */
isl_pw_multi_aff *po_base_of(po_program *, const po_stmt *, const po_operand *);

/* Finds the ways of values to and from dram; the first value that has none,
 * *in: to its memory; their number where all have. */
uint32_t po_find_routes(po_calls *, bool *in);

/* Whether two tiles that begin at functions of one space are the same elements
 * of one array. */
bool po_is_one_place(const po_tile *, __isl_keep isl_pw_multi_aff *at,
                     const po_tile *, __isl_keep isl_pw_multi_aff *base);

/* memory_join.c: nests whose calls add to the sums of an earlier one, and alone
 * read them, become a part of it. */
void po_join_sums(po_program *);

/* take.c: whether a statement below a node reads or writes the array. */
bool po_nest_names(const po_program *, uint32_t top, uint32_t array);

/* take.c: what a later nest makes of a value of this one, element by element,
 * when it alone reads it, is made on the way out instead. */
void po_find_takers(po_calls *);

/* memory_plan.c */
void po_plan_loops(const po_calls *, po_plan *);
/* Places of a value below its level; loads of it in all. */
int64_t po_value_places(const po_calls *, const po_plan *, uint32_t value);
/* Whether there is room if each value is loaded or stored where it is used. */
bool po_fits_plainly(const po_calls *);
/* The plan of the least price; false where none fits. */
bool po_find_plan(const po_calls *, po_plan *out);

/* room.c: where the values of a plan lie. */
typedef struct po_room {
  int64_t address[PO_MOST_VALUES], bytes[PO_MOST_VALUES];
  /* By value: of a tile on the way, in memory[1] of its route. */
  int64_t stage_in[PO_MOST_VALUES], stage_out[PO_MOST_VALUES];
  uint32_t full;  /* false was given: the memory that has no room */
  int64_t needed; /* bytes of it, at least */
} po_room;

bool po_find_room(const po_calls *, const po_plan *, po_room *);

/* memory_build.c: the nest as the plan says. */
void po_build_calls(const po_calls *, const po_plan *, const po_room *);

#endif
