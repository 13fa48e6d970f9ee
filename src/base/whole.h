/* SPDX-License-Identifier: MIT */
/* whole.h - division and the like of integers.  Nothing here is checked: who
 * calls knows that results fit. */
#ifndef BASE_WHOLE_H
#define BASE_WHOLE_H

#include <stdint.h>

/* For products and sums of int64_t, which it holds. */
__extension__ typedef __int128 bs_int128;

/* a / b, rounded down; b is not 0. */
static inline int64_t
bs_floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* a - b * (a / b), rounded so, of which b * (a / b) may be 2^63.  Not of -1 as
 * b where a is the least number. */
static inline int64_t
bs_floor_mod(int64_t a, int64_t b) {
  int64_t rest = a % b;
  return rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* a / b, rounded up; b is not 0. */
static inline int64_t
bs_ceil_div(int64_t a, int64_t b) {
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

/* The least multiple of `unit` from n on; unit >= 1. */
static inline int64_t
bs_round_up(int64_t n, int64_t unit) {
  return bs_ceil_div(n, unit) * unit;
}

static inline int64_t
bs_clamp(int64_t x, int64_t lo, int64_t hi) {
  return x < lo ? lo : x > hi ? hi : x;
}

/* The greatest common divisor, at least 0; 0 where both are.  Not of
 * INT64_MIN. */
static inline int64_t
bs_gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return a < 0 ? -a : a;
}

#endif
