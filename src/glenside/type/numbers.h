/* SPDX-License-Identifier: MIT */
/* numbers.h - whole numbers, or what stands for them.
 *
 * What a view is (view.h) is said once, over numbers of any kind.  They are
 * integers where a program is typed or evaluated, polynomials over sizes where
 * a rule is proved for all sizes, and nothing at all where ranks alone matter.
 * A number that is no integer is a handle of whoever knows the kind.  Integers
 * that leave 64 bits stay at the end that they leave by, which every bound of
 * the language refuses. */
#ifndef GLENSIDE_NUMBERS_H
#define GLENSIDE_NUMBERS_H

#include "base/value.h"
#include "base/whole.h"

typedef int64_t gs_number;

/* A kind of numbers other than integers, and where the attribute of the
 * operator that is looked at is read. */
typedef struct gs_numbers {
  void *arg;
  gs_number (*constant)(void *arg, int64_t);
  /* a * x + b * y + c */
  gs_number (*combine)(void *arg, int64_t a, gs_number x, int64_t b,
                       gs_number y, int64_t c);
  gs_number (*product)(void *arg, gs_number x, gs_number y);
  gs_number (*quotient)(void *arg, gs_number x, gs_number by); /* by >= 1 */
  /* The integer that x is; false where it may be one of several. */
  bool (*is_constant)(void *arg, gs_number x, int64_t *out);
  /* A type asks that x is 0, or not below 0: false ends the inference. */
  bool (*needs)(void *arg, gs_number x, bool zero);
  /* 1: dimension k, of size `from`, is repeated to the size `to`, for which
   * it must be 1.  0: it is not, for which both must be equal.  -1: neither
   * can be. */
  int (*repeats)(void *arg, uint32_t k, gs_number from, gs_number to);
  /* An item of the attribute: the numbers of it and how many, at most `max`;
   * or -1. */
  int32_t (*item)(void *arg, uint32_t item, gs_number *out, uint32_t max);
  /* An item that is a word; BS_NIL where it is not known. */
  bs_value (*word)(void *arg, uint32_t item);
} gs_numbers;

static inline gs_number
gs_saturated(bs_int128 x) {
  return x > INT64_MAX ? INT64_MAX : x < INT64_MIN ? INT64_MIN : (gs_number)x;
}

/* `over` is NULL for integers. */
static inline gs_number
gs_constant_number(const gs_numbers *over, int64_t c) {
  return over ? over->constant(over->arg, c) : c;
}

static inline gs_number
gs_combine(const gs_numbers *over, int64_t a, gs_number x, int64_t b,
           gs_number y, int64_t c) {
  if (over)
    return over->combine(over->arg, a, x, b, y, c);
  return gs_saturated((bs_int128)a * x + (bs_int128)b * y + c);
}

static inline gs_number
gs_product(const gs_numbers *over, gs_number x, gs_number y) {
  return over ? over->product(over->arg, x, y) : gs_saturated((bs_int128)x * y);
}

/* Rounded down; by >= 1. */
static inline gs_number
gs_quotient(const gs_numbers *over, gs_number x, gs_number by) {
  if (over)
    return over->quotient(over->arg, x, by);
  return bs_floor_div(x, by);
}

static inline gs_number
gs_plus(const gs_numbers *over, gs_number x, int64_t c) {
  return gs_combine(over, 1, x, 0, x, c);
}

static inline gs_number
gs_sum(const gs_numbers *over, gs_number x, gs_number y) {
  return gs_combine(over, 1, x, 1, y, 0);
}

static inline gs_number
gs_minus(const gs_numbers *over, gs_number x, gs_number y) {
  return gs_combine(over, 1, x, -1, y, 0);
}

#endif
