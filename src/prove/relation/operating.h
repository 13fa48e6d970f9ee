/* SPDX-License-Identifier: MIT */
/* operating.h - a compute term whose value is being made (private to
 * operate*.c). */
#ifndef PROVE_OPERATING_H
#define PROVE_OPERATING_H

#include "prove/relation/relation.h"

#define PV_MAX_TUPLE 64
#define PV_MAX_ITEMS 3 /* of an operator that is applied to a tuple */

typedef struct pv_operating {
  pv_relations *r;
  const bs_values *values;
  bs_value o;
  gs_compute op;
  gs_type from, to, item; /* item: the operand without its tuple dimension */
  pv_series in;           /* unless the items are read apart: */
  gs_term tuple;          /* a pair or cartProd; else none */
  bool solid;             /* items are to be elements */
} pv_operating;

/* operate.c, operate_fold.c */
pv_series pv_operating_item_at(pv_operating *x, uint32_t k);
uint32_t pv_operating_tuple_size(const pv_operating *x);
pv_series pv_operating_apply(pv_operating *x, gs_compute op, bs_value o,
                             uint32_t more, pv_series *in, gs_dtype from,
                             const gs_type *over);
pv_series pv_operating_apply_items(pv_operating *x);
pv_series pv_operating_product_of_items(pv_operating *x, uint32_t n);
void pv_operating_solidify_items(pv_operating *x);
pv_series pv_operating_fold(pv_operating *x);
void pv_operating_add_all(pv_relations *r, gs_dtype d, pv_series *to,
                          const pv_series *from);
pv_series pv_operating_recip(pv_operating *x, pv_series *s,
                             const gs_type *over);

#endif
