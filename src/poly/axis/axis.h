/* SPDX-License-Identifier: MIT */
/* axis.h - loop axes as objects: where each one came from, and what may be
 * done to them.
 *
 * An axis is never removed: a split or a merge appends new axes that name the
 * old ones in `from`, and puts them in the old ones' place in `order`, the
 * current axes from outermost to innermost.  Ids are indices, so they say in
 * which order axes were made.
 *
 * A transform that breaks a rule is refused: it returns false, changes
 * nothing, and `rule` and `why` say what was wrong.
 *
 *   R1  a split by n gives ceil(size / n) times n; the last tile may be short
 *   R2  at most one block-outer axis
 *   R3  a merge takes two or more axes, adjacent and in their present order
 *   R4  an axis made by a split cannot be merged where reordering put it
 *       elsewhere
 *   R8  no step may run a dependence backwards or across cores
 *
 * `unmoved` is the order that there would be without reordering; an axis has
 * moved where the two differ.  So an order that is put back allows again what
 * it allowed before. */
#ifndef POLY_AXIS_AXIS_H
#define POLY_AXIS_AXIS_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"

#define PO_NO_AXIS  UINT32_MAX
#define PO_MAX_AXES 256 /* of one table, all that were ever made */

typedef enum po_axis_type {
  PO_AXIS_ORIGINAL,
  PO_AXIS_BLOCK_OUTER,
  PO_AXIS_BLOCK_INNER,
  PO_AXIS_TILE_OUTER,
  PO_AXIS_TILE_INNER,
  PO_AXIS_MERGED,
  PO_AXIS_TYPES
} po_axis_type;

extern const char *const po_axis_type_names[PO_AXIS_TYPES];

/* How its iterations depend on each other, those of outer axes being equal. */
typedef enum po_axis_order {
  PO_AXIS_PARALLEL,  /* not at all */
  PO_AXIS_REDUCTION, /* by updates that may run in any order */
  PO_AXIS_SERIAL     /* otherwise */
} po_axis_order;

typedef struct po_axis {
  uint32_t id;
  const char *name; /* unique */
  const char *size; /* as an expression */
  int64_t value;    /* of size, >= 1 */
  int64_t tail;     /* TILE_INNER, BLOCK_INNER: size of the last one */
  po_axis_type type;
  po_axis_order order;
  const uint32_t *from; /* the axes it was made of */
  uint32_t n_from;
  uint32_t split_pair; /* PO_NO_AXIS: none */
} po_axis;

typedef enum po_transform_kind {
  PO_SPLIT_AXIS,
  PO_MERGE_AXES,
  PO_REORDER_AXES
} po_transform_kind;

typedef struct po_transform {
  po_transform_kind kind;
  const uint32_t *from, *to;
  uint32_t n_from, n_to;
} po_transform;

typedef struct po_axes {
  bs_arena *arena;
  BS_VEC(po_axis) list;     /* by id */
  BS_VEC(uint32_t) order;   /* current ones, outermost first */
  BS_VEC(uint32_t) unmoved; /* the same as if never reordered */
  BS_VEC(po_transform) log; /* all that was done */
  bool strict;              /* R4: nor with an axis that has moved */
  bool blocks_apart;        /* R2 is looked after by the owner */
  const char *rule;         /* of the last refusal */
  const char *why;
} po_axes;

void po_axes_init(po_axes *, bs_arena *);
void po_axes_done(po_axes *);
/* All of `from`, in a table of its own. */
void po_axes_copy(po_axes *, const po_axes *from, bs_arena *);
/* Names and sizes that a copy shares become its own. */
void po_axes_own_texts(po_axes *);

/* Appends an original axis as the innermost; size: its expression, NULL for
 * the number.  PO_NO_AXIS when refused. */
uint32_t po_axis_add(po_axes *, const char *name, const char *size,
                     int64_t value, po_axis_order);
/* z -> zT, zt of `inner` iterations / zB, zb.  The outer one's id is returned,
 * the inner one's is the next; PO_NO_AXIS when refused. */
uint32_t po_axis_tile_split(po_axes *, uint32_t axis, int64_t inner);
uint32_t po_axis_block_split(po_axes *, uint32_t axis, int64_t inner);
/* The block size that gives each of `cores` at most one block. */
int64_t po_axis_block_size(const po_axes *, uint32_t axis, int64_t cores);
/* The merged axis; PO_NO_AXIS when refused. */
uint32_t po_axis_merge(po_axes *, const uint32_t *axes, uint32_t n);
/* `axes` is a permutation of the order. */
bool po_axis_reorder(po_axes *, const uint32_t *axes, uint32_t n);

const po_axis *po_axis_at(const po_axes *, uint32_t id);
/* Whether it is a current one, and its place in the order. */
bool po_axis_place(const po_axes *, uint32_t id, uint32_t *place);
bool po_axis_is_split(const po_axis *);
/* Whether `id` was made, in any number of steps, of `ancestor`. */
bool po_axis_comes_from(const po_axes *, uint32_t id, uint32_t ancestor);
/* An axis of another table with all that it was made of, their pairs where
 * those are needed, too; map: of the other's ids to ids here, PO_NO_AXIS where
 * there is none yet.  None of them is current.  Its id here. */
uint32_t po_axes_import(po_axes *, const po_axes *from, uint32_t axis,
                        uint32_t map[PO_MAX_AXES]);
/* As the innermost, where it is not current yet. */
void po_axis_make_current(po_axes *, uint32_t axis);
/* print.c: `axis ID NAME SIZE VALUE TYPE {FROM} PAIR`. */
void po_axis_print(const po_axis *, bs_text *);
/* false, with the reason kept. */
bool po_axis_refuse(po_axes *, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
