/* SPDX-License-Identifier: MIT */
/* unify.h - a nest of loops as an instruction, by unification.
 *
 * The pattern is the form of the instruction's semantics, lowered like any
 * program over tensors of its operands' sizes.  The nest is the same
 * computation when its statements correspond one to one, with
 *
 *   - indices that correspond one to one and run equally far,
 *   - equal bodies, but for the order of factors and terms,
 *   - for each operand one array, one first element a call and one stride a
 *     dimension, so that every access of the nest goes where the pattern's
 *     access of the operand goes.
 *
 * Strides are read off a few points of every access; then the accesses are
 * compared as functions. */
#ifndef POLY_SCHEDULE_UNIFY_H
#define POLY_SCHEDULE_UNIFY_H

#include "poly/schedule/form.h"

enum { PO_MOST_OPERANDS = 16, PO_UNIFY_ARRAYS = 32 };

/* An access of the pattern, in the dimensions of the operand. */
typedef struct po_pattern_access {
  uint32_t place;              /* operand, result, or a local behind these */
  isl_pw_multi_aff *y;         /* { [r] -> [y] } */
  int64_t *at, *from;          /* a point r, and its y */
  int64_t *point[GS_MAX_RANK]; /* r whose y is `step` further along d */
  int64_t step[GS_MAX_RANK];   /* 0: it does not move along d */
} po_pattern_access;

typedef struct po_pattern {
  const gs_instr *instr;
  po_form form;
  uint32_t n_places; /* operands, the result, locals */
  uint32_t rank[PO_UNIFY_ARRAYS];
  const int64_t *dim[PO_UNIFY_ARRAYS]; /* of the place */
  po_pattern_access *access[PO_FORM_STMTS];
} po_pattern;

/* What stands for an operand, the result or a local of the pattern. */
typedef struct po_place {
  bool found;
  uint32_t array;
  int64_t stride[GS_MAX_RANK];
  bool known[GS_MAX_RANK];
  /* the access that tells the first element: statement of the nest, access,
   * point r of it; y of it in the pattern */
  uint32_t stmt, access;
  const int64_t *point, *from;
  bool starts; /* y is the first element */
} po_place;

typedef struct po_unified {
  po_place place[PO_UNIFY_ARRAYS];
  uint32_t stmt[PO_FORM_STMTS]; /* of the pattern -> of the nest's form */
} po_unified;

/* ---- schedule_pattern.c ---- */

/* The lexicographically least point of a set of n numbers, in the arena; NULL
 * where it is empty. */
int64_t *po_least_point(bs_arena *, __isl_take isl_set *, uint32_t n);
/* layout: { [x] -> [y] } by operand, NULL where there is none; shapes by place
 * of operands and result.  False where the semantics are not in the reach of
 * unification. */
bool po_make_pattern(po_form *, const gs_instr *, isl_multi_aff *const *layout,
                     const gs_type *shapes, po_pattern *out, po_reason *);

/* ---- unify.c ---- */

/* takes: whether what was found will do; else the search goes on. */
bool po_unify(const po_form *nest, const po_pattern *,
              bool (*takes)(void *user, const po_unified *), void *user,
              po_reason *);
/* { [o] -> A[x] }: the first element of a place. */
__isl_give isl_pw_multi_aff *po_first_element(const po_form *nest,
                                              const po_place *);

#endif
