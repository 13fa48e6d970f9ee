/* SPDX-License-Identifier: MIT */
/* lower_view.h - terms as views of what is stored.
 *
 * The view of a term cuts its index space into pieces; a piece says where the
 * elements there come from: an element of a base term (a tensor, a constant, a
 * result of compute, materialize or call) or one number (padding).  Pieces of
 * a view are disjoint and cover the term. */
#ifndef POLY_VIEW_H
#define POLY_VIEW_H

#include "glenside/program/program.h"
#include "glenside/type/view.h"
#include "poly/loops/affine.h"
#include "poly/loops/pool.h"
#include "poly/lower/alike.h"

typedef enum po_source { PO_FROM_TERM, PO_FROM_ZERO, PO_FROM_LOWEST } po_source;

typedef struct po_piece {
  isl_set *set; /* over the term's indices; its box 0 <= i < dim is implied */
  po_source from;
  gs_term term;       /* PO_FROM_TERM */
  isl_multi_aff *map; /* PO_FROM_TERM: index -> index of `term` */
  /* Index of `term` -> index, where the operators on the way can be inverted;
   * else NULL.  It is right on the image of `set` only. */
  isl_multi_aff *inverse;
} po_piece;

typedef struct po_view {
  bool made;
  BS_VEC(po_piece) pieces;
} po_view;

/* Views of one program's terms. */
typedef struct po_views {
  const gs_program *source;
  isl_ctx *isl;
  bs_heap *heap;
  po_pool pool, scratch;
  uint32_t n;
  po_view *of;     /* by term */
  uint32_t *uses;  /* by live term: live parents and outputs */
  uint8_t *base;   /* 1: has an array; its view is itself */
  uint8_t *inside; /* a concat that only its parent concat looks through */
  bool too_many;   /* a view would have more than PO_MAX_VIEW pieces */
  po_shapes shapes;
  isl_multi_aff *identity[GS_MAX_RANK + 1]; /* by rank, in `pool`; or NULL */
} po_views;

#define PO_MAX_VIEW 100000

void po_views_init(po_views *, const gs_program *, isl_ctx *, bs_heap *,
                   const uint8_t *live);
void po_views_done(po_views *);
/* The map of n indices to themselves, the same object each time. */
isl_multi_aff *po_view_identity(po_views *, uint32_t n);
/* Makes the view of a term whose children have theirs (see `inside`). */
void po_view_make(po_views *, gs_term);

/* piece.c: adds a piece over the indices of a term of this type, unless it is
 * empty; pieces that differ in their sets only are merged. Takes the set. */
void po_add_piece(po_views *, po_view *, const gs_type *, __isl_take isl_set *,
                  const po_piece *like);

/* Adds a piece where like->set is kept, not empty, and free of what the box
 * implies. */
void po_add_simple_piece(po_views *, po_view *, const gs_type *,
                         const po_piece *like);

/* How the index of a part of a view leads to its child's (lower_step.c). */
typedef struct po_step {
  bool identity;
  isl_set *guard;         /* where the child is looked at; NULL: everywhere */
  isl_multi_aff *map;     /* index -> the child's index */
  isl_multi_aff *inverse; /* NULL: there is none */
} po_step;

/* The step to the child of a part; objects are kept in `pool`. */
po_step po_step_of(po_pool *pool, isl_ctx *, const gs_view *,
                   const gs_view_part *, const gs_type *child,
                   const gs_type *type);

#endif
