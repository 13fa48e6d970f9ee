/* SPDX-License-Identifier: MIT */
/* box.h - the items of a reduction (private to symbolic_*.c). */
#ifndef PROVE_BOX_H
#define PROVE_BOX_H

#include "prove/symbolic/symbolic_form.h"

typedef struct fm_box {
  fm_form *f;
  gs_dtype d;
  fm_reduction r; /* the variables are FM_V_BOUND until they are named */
  bool ordered;   /* the items are a sequence */
  uint16_t fresh; /* variables made for it */
} fm_box;

/* From here on low <= var < high is known in the open frame. */
void fm_box_know(fm_form *, uint8_t var, fm_number low, fm_number high);
void fm_box_drop(fm_box *, uint32_t k);
/* Does the body, or a guard, depend on the variable? */
bool fm_box_reads(fm_box *, uint8_t var);
bool fm_box_binds(const fm_box *, fm_number);
/* Merges and splits variables until nothing changes. */
void fm_box_change(fm_box *);
void fm_box_shift(fm_box *, uint32_t k);
/* Variables of one value, and reductions of reductions, are taken in. */
void fm_box_drop_single(fm_box *);
void fm_box_flatten(fm_box *);
void fm_box_order(fm_box *);
void fm_box_name(fm_box *);
pv_value fm_box_leaf(fm_box *);

#endif
