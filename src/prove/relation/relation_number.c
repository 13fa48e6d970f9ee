/* SPDX-License-Identifier: MIT */
/* relation_number.c - see relation_number.h.  Products are formed in 128 bits
 * and refused when the reduced fraction does not fit. */
#include "prove/relation/relation_number.h"
#include "base/whole.h"
#include "glenside/array/tensor.h"
#include <assert.h>
#include <math.h>

#define MOST_DEN (((bs_int128)1 << 47) - 1)
#define MOST_EXP 16000

static int64_t
wrap(gs_dtype d, bs_int128 v) {
  assert(d < GS_DTYPE_COUNT);
  if (d == GS_BOOL)
    return v != 0;
  if (d == GS_I64)
    return (int64_t)v;
  int bits = 8 * gs_dtype_table[d].bytes;
  uint64_t low = (uint64_t)v & (((uint64_t)1 << bits) - 1);
  if (gs_dtype_table[d].is_signed && low >> (bits - 1))
    return (int64_t)low - ((int64_t)1 << bits);
  return (int64_t)low;
}

static bs_int128
gcd(bs_int128 a, bs_int128 b) {
  if (a < 0)
    a = -a;
  while (b) {
    bs_int128 r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/* Takes the powers of two out of it; not of 0. */
static int
odd_part(bs_int128 *v) {
  assert(*v);
  int n = 0;
  for (; !(*v & 1); n++)
    *v /= 2;
  return n;
}

static bool
reduce(bs_int128 num, bs_int128 den, int exp, pv_number *out) {
  if (!num) {
    *out = PV_ZERO;
    return true;
  }
  exp += odd_part(&num) - odd_part(&den);
  bs_int128 g = gcd(num, den);
  assert(den > 0 && g > 0);
  num /= g;
  den /= g;
  if (num > INT64_MAX || num < -(bs_int128)INT64_MAX || den > MOST_DEN ||
      exp > MOST_EXP || exp < -MOST_EXP)
    return false;
  *out = (pv_number){(int64_t)num, (int64_t)den, (int16_t)exp};
  return true;
}

/* v * 2^by; false when it does not fit. */
static bool
shifted(bs_int128 v, int by, bs_int128 *out) {
  bs_int128 size = v < 0 ? -v : v;
  if (by > 125 || size > ((bs_int128)1 << (125 - by)))
    return false;
  *out = v * ((bs_int128)1 << by);
  return true;
}

/* Both over one denominator and one power of two, the lesser of theirs. */
static bool
align(pv_number a, pv_number b, bs_int128 *x, bs_int128 *y) {
  int low = a.exp < b.exp ? a.exp : b.exp;
  return shifted((bs_int128)a.num * b.den, a.exp - low, x) &&
         shifted((bs_int128)b.num * a.den, b.exp - low, y);
}

bool
pv_number_add(gs_dtype d, pv_number a, pv_number b, pv_number *out) {
  assert(a.den > 0 && b.den > 0);
  bs_int128 x, y;
  if (pv_is_integer(d)) {
    *out = (pv_number){wrap(d, (bs_int128)a.num + b.num), 1, 0};
    return true;
  }
  if (!a.num || !b.num) {
    *out = a.num ? a : b;
    return true;
  }
  return align(a, b, &x, &y) && reduce(x + y, (bs_int128)a.den * b.den,
                                       a.exp < b.exp ? a.exp : b.exp, out);
}

bool
pv_number_mul(gs_dtype d, pv_number a, pv_number b, pv_number *out) {
  assert(a.den > 0 && b.den > 0);
  bs_int128 num = (bs_int128)a.num * b.num;
  if (pv_is_integer(d)) {
    *out = (pv_number){wrap(d, num), 1, 0};
    return true;
  }
  return reduce(num, (bs_int128)a.den * b.den, a.exp + b.exp, out);
}

bool
pv_number_inverse(pv_number a, pv_number *out) {
  assert(a.den > 0);
  return a.num && (a.num < 0 ? reduce(-a.den, -(bs_int128)a.num, -a.exp, out)
                             : reduce(a.den, a.num, -a.exp, out));
}

static int
sign_of(int64_t num) {
  return (num > 0) - (num < 0);
}

/* Numbers too far apart to be aligned are told by their sign, of which 0 has
 * one of its own, and by their magnitude. */
int
pv_number_compare(pv_number a, pv_number b) {
  assert(a.den > 0 && b.den > 0);
  bs_int128 x, y;
  if (!align(a, b, &x, &y)) {
    if (sign_of(a.num) != sign_of(b.num))
      return sign_of(a.num) < sign_of(b.num) ? -1 : 1;
    bool below = log2(fabs((double)a.num) / (double)a.den) + a.exp <
                 log2(fabs((double)b.num) / (double)b.den) + b.exp;
    return below == (a.num > 0) ? -1 : 1;
  }
  return x < y ? -1 : x > y;
}

pv_number
pv_number_of_int(gs_dtype d, int64_t v) {
  assert(d < GS_DTYPE_COUNT);
  pv_number out = PV_ZERO;
  if (pv_is_integer(d))
    return (pv_number){wrap(d, v), 1, 0};
  reduce(v, 1, 0, &out);
  return out;
}

pv_number
pv_number_share(int64_t n) {
  assert(n > 0);
  pv_number out = PV_ZERO;
  reduce(1, n, 0, &out);
  return out;
}

bool
pv_number_is_whole(pv_number a, int64_t *out) {
  bs_int128 v;
  if (a.den != 1 || a.exp < 0 || !shifted(a.num, a.exp, &v) ||
      v > ((int64_t)1 << 53) || v < -((int64_t)1 << 53))
    return false;
  *out = (int64_t)v;
  return true;
}

/* Every finite double is m * 2^e. */
bool
pv_number_of_real(gs_dtype d, double v, pv_number *out) {
  assert(d < GS_DTYPE_COUNT);
  int e;
  if (!isfinite(v))
    return false;
  if (pv_is_integer(d)) {
    if (v != floor(v) || fabs(v) >= 0x1p62)
      return false;
    *out = pv_number_of_int(d, (int64_t)v);
    return true;
  }
  double m = frexp(v, &e);
  return reduce((int64_t)ldexp(m, 53), 1, e - 53, out);
}

double
pv_number_real(pv_number a) {
  assert(a.den > 0);
  return ldexp((double)a.num / (double)a.den, a.exp);
}

bool
pv_number_is_held(gs_dtype d, pv_number a) {
  assert(a.den > 0);
  double real = pv_number_real(a);
  pv_number back;
  return !gs_is_half(d) ||
         (gs_convert(d, real) == real &&
          pv_number_of_real(GS_F64, real, &back) && pv_number_same(a, back));
}

double
pv_taken_number(gs_compute op, gs_dtype d, double x) {
  return op == GS_C_CLIP ? gs_convert(d, x) : x;
}

bool
pv_number_floor(pv_number a, pv_number *out) {
  assert(a.den > 0);
  bs_int128 den;
  if (a.exp >= 0 && a.den == 1) {
    *out = a;
    return true;
  }
  bs_int128 num = a.num;
  if (a.exp >= 0 ? !shifted(num, a.exp, &num) : false)
    return false;
  if (a.exp < 0 && !shifted(a.den, -a.exp, &den))
    return reduce(a.num < 0 ? -1 : 0, 1, 0, out);
  if (a.exp >= 0)
    den = a.den;
  return reduce(num / den - (num % den < 0), 1, 0, out);
}

pv_number
pv_number_least(gs_dtype d) {
  return (pv_number){gs_dtype_least(d), 1, 0};
}

pv_number
pv_number_greatest(gs_dtype d) {
  return (pv_number){gs_dtype_most(d), 1, 0};
}
