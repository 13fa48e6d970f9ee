/* number.h - exact numbers: fractions for floats, residues for integers.
 *
 * What a term computes on floats is compared as if floats were rationals, on
 * integers as it is: modulo 2^bits of the dtype. */
#ifndef PROVE_NUMBER_H
#define PROVE_NUMBER_H

#include "glenside/op.h"

typedef struct pv_number {
  int64_t num, den; /* lowest terms, den >= 1; 1 for integer dtypes */
} pv_number;

#define PV_ZERO ((pv_number){0, 1})
#define PV_ONE  ((pv_number){1, 1})

/* False when a result does not fit; then `out` is left alone. */
bool pv_number_add(gs_dtype, pv_number, pv_number, pv_number *out);
bool pv_number_mul(gs_dtype, pv_number, pv_number, pv_number *out);
bool pv_number_inverse(pv_number, pv_number *out); /* floats, not of 0 */
int pv_number_compare(pv_number, pv_number);
/* The dtype's number of this value: an integer wraps. */
bool pv_number_of_real(gs_dtype, double, pv_number *out);
pv_number pv_number_of_int(gs_dtype, int64_t);
double pv_number_real(pv_number);
pv_number pv_number_floor(pv_number);
/* The least and the greatest value of an integer dtype. */
pv_number pv_number_least(gs_dtype);
pv_number pv_number_greatest(gs_dtype);

static inline bool
pv_number_same(pv_number a, pv_number b) {
  return a.num == b.num && a.den == b.den;
}

#endif
