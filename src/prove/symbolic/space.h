/* SPDX-License-Identifier: MIT */
/* space.h - the items of a reduction: its iteration space (private to
 * symbolic_*.c). */
#ifndef PROVE_SPACE_H
#define PROVE_SPACE_H

#include "prove/symbolic/symbolic_form.h"

typedef struct fm_space {
  fm_form *f;
  gs_dtype d;
  fm_reduction r; /* the variables are FM_V_BOUND until they are named */
  bool ordered;   /* the items are a sequence */
  uint16_t fresh; /* variables made for it */
} fm_space;

/* From here on low <= var < high is known in the open frame. */
void fm_space_know(fm_form *, uint8_t var, fm_number low, fm_number high);
void fm_space_drop(fm_space *, uint32_t k);
/* Does the body, or a guard, depend on the variable? */
bool fm_space_reads(fm_space *, uint8_t var);
bool fm_space_binds(const fm_space *, fm_number);
/* Merges and splits variables until nothing changes. */
void fm_space_change(fm_space *);
void fm_space_shift(fm_space *, uint32_t k);
/* Variables of one value, and reductions of reductions, are taken in. */
void fm_space_drop_single(fm_space *);
void fm_space_flatten(fm_space *);
void fm_space_order(fm_space *);
void fm_space_name(fm_space *);
pv_value fm_space_leaf(fm_space *);

#endif
