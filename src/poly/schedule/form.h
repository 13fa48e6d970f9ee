/* SPDX-License-Identifier: MIT */
/* form.h - what one iteration of the loops around a nest does, as boxes.
 *
 * In each iteration o of the loops around, a statement of the nest runs for a
 * box of its indices: { first(o) + r : 0 <= r < extent }, the same extents
 * everywhere.  Accesses are functions of [o, r].  Two nests are compared in
 * this form (unify.h). */
#ifndef POLY_SCHEDULE_FORM_H
#define POLY_SCHEDULE_FORM_H

#include "poly/schedule/schedule_edit.h"

typedef struct po_form_access {
  uint32_t array;          /* PO_NO_NODE: the expression reads nothing */
  isl_pw_multi_aff *index; /* { [o, r] -> A[x] } */
} po_form_access;

typedef struct po_form_stmt {
  uint32_t stmt, n; /* indices */
  int64_t extent[PO_MAX_DEPTH];
  po_form_access *access; /* by expression, then the target */
} po_form_stmt;

enum { PO_FORM_STMTS = 16 };

typedef struct po_form {
  po_program *p;
  uint32_t top, n_outer; /* of the nest; loops around */
  isl_set *outer;        /* { [o] }: iterations in which it runs */
  po_form_stmt stmts[PO_FORM_STMTS];
  uint32_t n;
} po_form;

/* Why something does not fit, for a refusal. */
typedef struct po_reason {
  bs_arena *arena;
  const char *text; /* NULL: none */
  uint32_t weight;  /* how far it was got; the farthest is told */
} po_reason;

/* Keeps the text where nothing got farther yet; returns false. */
bool po_because(po_reason *, uint32_t weight, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The form of all statements below `top`, in the order of the nest; isl objects
 * are the program's. */
bool po_find_form(po_program *, uint32_t top, po_form *out, po_reason *);
/* Every local below `top` that is only copied to some array gives way to that
 * array: what computed it computes there, the copies go.  Changes the program;
 * values stay the same as long as nothing else below uses that array. */
void po_forward_copies(po_program *, uint32_t top);
/* Whether all uses of an array stand below a node. */
bool po_is_private(const po_program *, uint32_t array, uint32_t top);
/* Pairs of instances that access one element of the array, in the same
 * iteration of the loops around, of which the second does not run after the
 * first: are there none? */
bool po_runs_before(const po_program *, uint32_t first, uint32_t second,
                    uint32_t array, uint32_t n_outer);

#endif
