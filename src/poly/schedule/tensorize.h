/* SPDX-License-Identifier: MIT */
/* tensorize.h - what the search for an instruction's call shares.
 *
 *   tensorize_size.c  sizes of the call, from the nest
 *   tensorize.c       pattern, call, replacement */
#ifndef POLY_SCHEDULE_TENSORIZE_H
#define POLY_SCHEDULE_TENSORIZE_H

#include "poly/schedule/unify.h"

enum { PO_MOST_SIZES = 24 };

typedef struct po_tensorizing {
  po_program *p;
  const po_step_call *call;
  const gs_instr *instr;
  po_form nest;
  po_reason why;
  int64_t sizes[PO_MOST_SIZES]; /* candidates of parameters and dimensions */
  uint32_t n_sizes;
  uint32_t choice[GS_MAX_INSTR_VARS], *slots, n_patterns;
  bs_value attr;
  gs_type types[PO_MOST_OPERANDS + 1];  /* of operands, of the result */
  gs_type shapes[PO_MOST_OPERANDS + 1]; /* as they lie in memory */
  const po_unified *found;
  po_stmt made; /* the call */
} po_tensorizing;

/* Candidates: extents of the nest, reaches of its accesses, small numbers. */
void po_find_sizes(po_tensorizing *);
/* The value of a parameter or dimension under the choice. */
int64_t po_chosen_size(const po_tensorizing *, uint32_t var);
/* The instruction admits the choice: slots, types and attribute are its; some
 * statement of the nest runs as often as its result has elements. */
bool po_admits_sizes(po_tensorizing *);
/* The next choice; false past the last. */
bool po_next_sizes(po_tensorizing *);

#endif
