/* SPDX-License-Identifier: MIT */
/* pad.h - what the parts of pad_einsum share.
 *
 *   pad.c        the update, its neutral value, statements that grow
 *   pad_array.c  arrays with room for more, and what is copied to them */
#ifndef POLY_SCHEDULE_PAD_H
#define POLY_SCHEDULE_PAD_H

#include "poly/schedule/schedule_edit.h"
#include <assert.h>

enum { PO_PAD_PARTS = 16, PO_PAD_ARRAYS = 8 };

/* An array that is read through a padded copy, or written. */
typedef struct po_padded {
  uint32_t array, copy;
  isl_set *used;           /* { A[x] } before; kept */
  int64_t lo[GS_MAX_RANK]; /* element x lies at x - lo */
  bool written;
} po_padded;

typedef struct po_padding {
  po_program *p;
  po_step_call *call;
  uint32_t update;
  uint32_t parts[PO_PAD_PARTS], n; /* statements that grow, the update first */
  isl_set *was[PO_PAD_PARTS], *now[PO_PAD_PARTS]; /* their instances; kept */
  po_padded arrays[PO_PAD_ARRAYS];
  uint32_t n_arrays;
  double neutral;
  const char *copies[PO_PAD_ARRAYS], *fills[PO_PAD_ARRAYS];
  uint32_t n_copies, n_fills;
} po_padding;

static inline po_stmt *
po_pad_part(const po_padding *x, uint32_t k) {
  assert(k < x->n);
  return &x->p->stmts.data[x->parts[k]];
}

/* { S[i] -> A[x] } whatever the instances. */
static inline __isl_give isl_map *
po_pad_access(isl_pw_multi_aff *index) {
  return isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(index));
}

/* NULL: the array stays as it is. */
po_padded *po_padded_of(po_padding *, uint32_t array);
/* Room for all that the parts use now; false with a diagnostic. */
bool po_pad_arrays(po_padding *);
/* Elements that were read are copied in, before the parts, the rest is filled;
 * what was written is copied out, behind them. */
void po_pad_copies(po_padding *);
/* { S[i] -> copy[x - lo] } of { S[i] -> A[x] }, kept. */
isl_pw_multi_aff *po_pad_place(po_padding *, const po_padded *,
                               isl_pw_multi_aff *index);

#endif
