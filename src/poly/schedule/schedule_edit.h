/* SPDX-License-Identifier: MIT */
/* schedule_edit.h - changes of statements and arrays, for the data
 * primitives. */
#ifndef POLY_SCHEDULE_EDIT_H
#define POLY_SCHEDULE_EDIT_H

#include "poly/schedule/change.h"

/* ---- schedule_edit.c ---- */

/* `wish`, numbered where a statement or array has that name. */
const char *po_fresh_stmt_name(po_program *, const char *wish);
const char *po_fresh_array_name(po_program *, const char *wish);
/* Removes a statement and its leaf; later ones move down. */
void po_remove_stmt(po_program *, uint32_t stmt);
/* Takes a leaf out of the tree, with the loops that held nothing else. */
void po_take_leaf(po_program *, uint32_t stmt);
/* Makes the statement's instances those of `domain`, `back` telling which
 * instance each of them was (both taken); the time is not touched. */
void po_set_instances(po_program *, uint32_t stmt, __isl_take isl_set *domain,
                      __isl_take isl_multi_aff *back);
void po_set_time(po_program *, uint32_t stmt, __isl_take isl_multi_aff *time);
/* A function that is one piece on this domain; NULL where it is not. */
__isl_give isl_multi_aff *po_one_piece(__isl_take isl_map *,
                                       __isl_keep isl_set *domain);
/* The function of one that has one piece; NULL. */
__isl_give isl_aff *po_single(__isl_take isl_pw_aff *);
/* An equal function on the domain, simpler where it stays one of integers. */
__isl_give isl_multi_aff *po_simplify_on(__isl_take isl_multi_aff *,
                                         __isl_keep isl_set *domain);
/* { S[i] -> [t0, ..., t(n-1)] } on the statement's domain. */
__isl_give isl_map *po_prefix(const po_stmt *, uint32_t n);
/* { S[i] -> A[x] } of all reads of an array in a body. */
__isl_give isl_union_map *po_reads_of(const po_program *, uint32_t stmt,
                                      uint32_t array);
/* { [o] -> A[x] }: what iterations of the first n loops access by this
 * relation { S[i] -> A[x] } (taken), or by all reads of the array. */
__isl_give isl_map *po_accessed_in(const po_stmt *, uint32_t n,
                                   __isl_take isl_map *);
__isl_give isl_map *po_reads_in(const po_program *, uint32_t stmt,
                                uint32_t array, uint32_t n);
/* Whether a call or a look-up uses the array, so that it must stay as it is. */
bool po_is_rigid(const po_program *, uint32_t array);

/* partition.c: a copy of a statement with another name and these instances, for
 * a leaf that is to be made. */
uint32_t po_copy_stmt(po_program *, uint32_t from, __isl_take isl_set *domain);
/* Puts a statement below a node, before a child of it, under loops of its own
 * for its indices from n_outer on, which its time has in this order. */
void po_nest_alone(po_program *, uint32_t stmt, uint32_t parent,
                   uint32_t before, uint32_t n_outer);
/* Loops that hold nothing but one value for each of those around them are
 * taken away; others start from 0 where their first value is one function.
 * For all loops below `top` that are not marked in `keep` (by node). */
void po_tidy_loops(po_program *, uint32_t top, uint32_t from_node);

/* ---- footprints (footprint.c) ---- */

/* { [o] -> A[x] }: one convex piece instead of several that overlap, where it
 * holds half more than the largest of them at most, or, of many, some times as
 * much; takes it. */
__isl_give isl_map *po_fill_up(__isl_take isl_map *);
/* A shape without divisions that holds half more than the map at most: they are
 * conditions on each point of a loop, for which there are no vectors.  The box
 * around it, or else what is left of its hull without them; the map itself
 * where both hold more.  Takes the map. */
__isl_give isl_map *po_drop_divisions(__isl_take isl_map *);

/* The box around what each [o] relates to: element x lies at x - first(o). */
typedef struct po_footprint {
  uint32_t n;               /* of o */
  int64_t lo[PO_MAX_DEPTH]; /* o starts here and takes so many values */
  int64_t count[PO_MAX_DEPTH];
  uint32_t rank;
  isl_multi_aff *first; /* { [o] -> [x] }, in the program's pool */
  int64_t size[GS_MAX_RANK];
} po_footprint;

/* elements: { [o] -> A[x] }, kept. False where isl gives up or some size has
 * no bound. */
bool po_find_footprint(po_program *, __isl_keep isl_map *elements, uint32_t n,
                       po_footprint *out);
/* The array gets the footprint's dimensions, those of o folded to 1. */
bool po_shape_by_footprint(po_program *, const po_step_call *, uint32_t array,
                           const po_footprint *);
/* index: { S[i] -> A[x] }, kept; o: { S[i] -> [o] }: where it now lies. */
isl_pw_multi_aff *po_lay_in_footprint(po_program *, uint32_t stmt,
                                      __isl_keep isl_pw_multi_aff *index,
                                      uint32_t array, const po_footprint *);

/* ---- sliding_window.c ---- */

/* Which iteration of a loop makes what several of them need. */
typedef enum po_window_fill {
  PO_FILL_ALL,   /* each of them: compute_at */
  PO_FILL_FIRST, /* the first that needs it */
  PO_FILL_BEFORE /* as long before it is needed last as everywhere: what only
                    the first iteration would make is made before it */
} po_window_fill;

/* needed: { [o] -> A[x] }, kept, over n > 0 loops.  The same with each element
 * in one iteration of the innermost loop for each iteration of the others;
 * NULL where there is no such order, or isl gave up. */
__isl_give isl_map *po_each_once(__isl_keep isl_map *needed, uint32_t n,
                                 po_window_fill);

/* ---- untouched.c ---- */

/* By array the statements that access it, in the order of the tree:
 * stmts[first[array]] up to before stmts[first[array + 1]]. */
typedef struct po_users {
  uint32_t *first, *stmts;
} po_users;

/* A program and the one it was copied from. */
typedef struct po_untouched {
  const po_program *before, *after;
  uint32_t *placed; /* by statement of after */
  po_users was, is;
} po_untouched;

/* Whether a statement of a program is that of the program it was copied from;
 * the statement that it was, where it has its instances at its times, or
 * PO_NO_NODE. */
bool po_is_untouched(const po_program *before, const po_program *after,
                     uint32_t stmt);
/* Lives as long as `after`. */
const po_untouched *po_find_untouched(const po_program *before,
                                      po_program *after);
/* Whether all accesses of an array are those of before. */
bool po_array_is_untouched(const po_untouched *, uint32_t array);

/* ---- values.c ---- */

typedef struct po_change {
  isl_union_map *origin; /* { instance now -> what it was }; others: itself */
  const char *copies[8]; /* statements of now that hand values on */
  uint32_t n_copies;
  const char *const *gone; /* statements of before that are part of others */
  uint32_t n_gone;
  /* { what it was -> the instance now } of instances that became one; NULL:
   * none.  What flows within one is its own business.  Without origin. */
  isl_union_map *merged;
  /* Instances now that change nothing, as was shown: they add the neutral
   * element, or are read by such only.  NULL: none. */
  isl_union_set *neutral;
} po_change;

/* Places for n indices of a dimension, or for all where there are no more. */
static inline int64_t
po_places_for(const po_array *array, uint32_t d, int64_t n) {
  return n < array->dim[d] ? n : array->dim[d];
}
/* Whether a step left the program legal that `before` was; what it did not
 * touch is not asked again.  keeps_values: nor is order (incremental.c). */
bool po_step_is_legal(const po_program *before, po_program *after,
                      bool keeps_values, po_violation *out);
/* Whether every value read after a change comes from the same writes as
 * before, and nothing unwritten is read from an array of the program's own.
 * Takes the origin.  False with a diagnostic. */
bool po_values_are_preserved(po_program *before, po_program *after,
                             const po_step_call *, po_change *);

#endif
