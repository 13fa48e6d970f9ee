/* SPDX-License-Identifier: MIT */
/* element.h - terms evaluated symbolically, element by element. */
#ifndef PROVE_ELEMENT_H
#define PROVE_ELEMENT_H

#include "glenside/program/program.h"
#include "prove/relation/relation_value.h"

typedef struct pv_elements {
  const gs_program *p;
  pv_values *values;
  /* What a compute term makes of an item; NULL: normal forms. */
  void (*item)(pv_values *, const pv_compute *, const pv_value *in, uint32_t n,
               pv_value *out);
  pv_value **of; /* by term: its elements in C order; NULL: not wanted */
  const uint8_t
      *facts; /* by term (session_prove.h); NULL: all inputs are finite */
} pv_elements;

/* Elements that all wanted terms have together; -1 when beyond `max`. */
int64_t pv_count_elements(const gs_program *, const uint8_t *wanted,
                          int64_t max);
/* Evaluates the wanted terms (children of wanted ones are).  A program without
 * calls.  False when it was too much; the values then mean nothing. */
bool pv_evaluate(pv_elements *, const uint8_t *wanted);

/* relation_view.c: the elements of a view from those of its children. */
void pv_evaluate_view(pv_elements *, gs_term, const gs_type *, pv_value *out);

#endif
