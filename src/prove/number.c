/* number.c - see number.h.  Products are formed in 128 bits and refused when
 * the reduced fraction does not fit in 64. */
#include "prove/number.h"
#include <math.h>

static bool
is_integer(gs_dtype d) {
  return gs_dtype_table[d].integer;
}

static int64_t
wrap(gs_dtype d, __int128 v) {
  int bits = 8 * gs_dtype_table[d].bytes;
  uint64_t low = (uint64_t)v & (((uint64_t)1 << bits) - 1);
  if (gs_dtype_table[d].is_signed && low >> (bits - 1))
    return (int64_t)low - ((int64_t)1 << bits);
  return (int64_t)low;
}

static __int128
gcd(__int128 a, __int128 b) {
  if (a < 0)
    a = -a;
  while (b) {
    __int128 r = a % b;
    a = b;
    b = r;
  }
  return a;
}

static bool
reduce(__int128 num, __int128 den, pv_number *out) {
  const __int128 most = INT64_MAX;
  __int128 g = gcd(num, den);
  num /= g;
  den /= g;
  if (num > most || num < -most || den > most)
    return false;
  *out = (pv_number){(int64_t)num, (int64_t)den};
  return true;
}

bool
pv_number_add(gs_dtype d, pv_number a, pv_number b, pv_number *out) {
  __int128 x, y, sum;
  if (is_integer(d)) {
    *out = (pv_number){wrap(d, (__int128)a.num + b.num), 1};
    return true;
  }
  x = (__int128)a.num * b.den;
  y = (__int128)b.num * a.den;
  return !__builtin_add_overflow(x, y, &sum) &&
         reduce(sum, (__int128)a.den * b.den, out);
}

bool
pv_number_mul(gs_dtype d, pv_number a, pv_number b, pv_number *out) {
  __int128 num = (__int128)a.num * b.num;
  if (is_integer(d)) {
    *out = (pv_number){wrap(d, num), 1};
    return true;
  }
  return reduce(num, (__int128)a.den * b.den, out);
}

bool
pv_number_inverse(pv_number a, pv_number *out) {
  if (!a.num)
    return false;
  *out = a.num < 0 ? (pv_number){-a.den, -a.num} : (pv_number){a.den, a.num};
  return true;
}

int
pv_number_compare(pv_number a, pv_number b) {
  __int128 x = (__int128)a.num * b.den, y = (__int128)b.num * a.den;
  return x < y ? -1 : x > y;
}

pv_number
pv_number_of_int(gs_dtype d, int64_t v) {
  return (pv_number){is_integer(d) ? wrap(d, v) : v, 1};
}

/* Every finite double is m * 2^e. */
bool
pv_number_of_real(gs_dtype d, double v, pv_number *out) {
  int e;
  if (!isfinite(v))
    return false;
  if (v == floor(v) && fabs(v) < 0x1p62) {
    *out = pv_number_of_int(d, (int64_t)v);
    return true;
  }
  if (is_integer(d))
    return false;
  double m = frexp(v, &e);
  int64_t num = (int64_t)ldexp(m, 53);
  e = 53 - e;
  while (e > 0 && num % 2 == 0) {
    num /= 2;
    e--;
  }
  if (e < 0 || e > 62)
    return false;
  *out = (pv_number){num, (int64_t)1 << e};
  return true;
}

double
pv_number_real(pv_number a) {
  return (double)a.num / (double)a.den;
}

pv_number
pv_number_floor(pv_number a) {
  int64_t q = a.num / a.den;
  return (pv_number){q - (a.num % a.den < 0), 1};
}

pv_number
pv_number_least(gs_dtype d) {
  int bits = 8 * gs_dtype_table[d].bytes;
  bool sign = gs_dtype_table[d].is_signed;
  return (pv_number){sign ? -((int64_t)1 << (bits - 1)) : 0, 1};
}

pv_number
pv_number_greatest(gs_dtype d) {
  int bits = 8 * gs_dtype_table[d].bytes;
  bool sign = gs_dtype_table[d].is_signed;
  return (pv_number){((int64_t)1 << (bits - sign)) - 1, 1};
}
