/* SPDX-License-Identifier: MIT */
/* relation_number.h - exact numbers: fractions for floats, residues for
 * integers.
 *
 * What a term computes on floats is compared as if floats were rationals, on
 * integers as it is: modulo 2^bits of the dtype.  Powers of two stand apart, so
 * that 1e300 and 1e-300 are numbers, too. */
#ifndef PROVE_NUMBER_H
#define PROVE_NUMBER_H

#include "glenside/type/op.h"

/* num / den * 2^exp.  Of floats num and den are odd and have no common factor,
 * or it is 0, 1, 0; of integers den is 1 and exp 0.  den >= 1. */
typedef struct pv_number {
  int64_t num;
  int64_t den : 48, exp : 16;
} pv_number;

#define PV_ZERO ((pv_number){0, 1, 0})
#define PV_ONE  ((pv_number){1, 1, 0})

static inline bool
pv_is_integer(gs_dtype d) {
  return gs_dtype_table[d].integer;
}

/* f32 and f64: taken as the real numbers. */
static inline bool
pv_is_real(gs_dtype d) {
  return d == GS_F32 || d == GS_F64;
}

/* False when a result does not fit; then `out` is left alone. */
bool pv_number_add(gs_dtype, pv_number, pv_number, pv_number *out);
bool pv_number_mul(gs_dtype, pv_number, pv_number, pv_number *out);
bool pv_number_inverse(pv_number, pv_number *out); /* floats, not of 0 */
int pv_number_compare(pv_number, pv_number);
/* The dtype's number of this value: an integer wraps. */
bool pv_number_of_real(gs_dtype, double, pv_number *out);
pv_number pv_number_of_int(gs_dtype, int64_t);
/* 1 / n of floats, 1 <= n < 2^47 */
pv_number pv_number_share(int64_t n);
/* Of floats: a whole number of less than 2^53, exactly a double, with a
 * sign. */
bool pv_number_is_whole(pv_number, int64_t *out);
double pv_number_real(pv_number);
/* Is it what an operator on the dtype gives, too?  bf16 and f16 round every
 * result, so that 0 * x + 0.1 is another number there. */
bool pv_number_is_held(gs_dtype, pv_number);
/* A number that an operator on the dtype takes, as it computes with it: bounds
 * of a clip are results, which bf16 and f16 round. */
double pv_taken_number(gs_compute, gs_dtype, double);
bool pv_number_floor(pv_number, pv_number *out); /* of floats */
/* The least and the greatest value of an integer dtype. */
pv_number pv_number_least(gs_dtype);
pv_number pv_number_greatest(gs_dtype);

static inline bool
pv_number_same(pv_number a, pv_number b) {
  return a.num == b.num && a.den == b.den && a.exp == b.exp;
}

#endif
