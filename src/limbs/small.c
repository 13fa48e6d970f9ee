/* SPDX-License-Identifier: MIT */
/* small.c - GMP's functions that isl calls most, for integers of one limb.
 *
 * A quarter of the time of a schedule was GMP's, for integers below 2^63: it
 * goes through loops over limbs and asks for memory again and again.  A program
 * may define functions that a library of its own would, and everything loaded
 * with it calls those; what they are not made for goes on to GMP. */
#include "limbs/meter.h"
#include "limbs/small.h"
#include <dlfcn.h>
#include <gmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if GMP_LIMB_BITS == 64 && GMP_NAIL_BITS == 0

#define OURS      __attribute__((visibility("default")))
#define LIKELY(x) __builtin_expect((x), 1)

/* ---- what GMP does itself ---- */

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

/* isl may compute before main begins, but not before its own library's
 * constructors are done, nor may this: it is looked for when it is needed. */
static void *
next(void **at, const char *name) {
  void *function = __atomic_load_n(at, __ATOMIC_RELAXED);
  if (!function) {
    function = dlsym(RTLD_NEXT, name);
    if (!function) {
      fprintf(stderr, "no %s in the library of integers\n", name);
      abort();
    }
    __atomic_store_n(at, function, __ATOMIC_RELAXED);
  }
  return function;
}

/* slow_NAME: GMP's function of this name; `gives` is `return`, or nothing. */
#define SLOW(type, name, parameters, arguments, gives)                         \
  static __attribute__((noinline)) type slow_##name parameters {               \
    static void *at;                                                           \
    type(*function) parameters;                                                \
    void *found = next(&at, TEXT(mpz_##name));                                 \
    memcpy(&function, &found, sizeof function);                                \
    gives function arguments;                                                  \
  }

#define PAIR_ARGS   (mpz_ptr r, mpz_srcptr a, mpz_srcptr b)
#define PAIR_VALUES (r, a, b)

SLOW(void, set, (mpz_ptr r, mpz_srcptr a), (r, a), )
SLOW(void, add, PAIR_ARGS, PAIR_VALUES, )
SLOW(void, sub, PAIR_ARGS, PAIR_VALUES, )
SLOW(void, mul, PAIR_ARGS, PAIR_VALUES, )
SLOW(void, addmul, PAIR_ARGS, PAIR_VALUES, )
SLOW(void, submul, PAIR_ARGS, PAIR_VALUES, )
SLOW(void, divexact, PAIR_ARGS, PAIR_VALUES, )
SLOW(void, fdiv_q, PAIR_ARGS, PAIR_VALUES, )
SLOW(void, gcd, PAIR_ARGS, PAIR_VALUES, )
SLOW(void, lcm, PAIR_ARGS, PAIR_VALUES, )
SLOW(void, clear, (mpz_ptr r), (r), )
SLOW(int, cmp, (mpz_srcptr a, mpz_srcptr b), (a, b), return )
SLOW(int, cmpabs, (mpz_srcptr a, mpz_srcptr b), (a, b), return )

/* ---- integers of one limb ---- */

/* Its value, where that is between -2^63 and 2^63. */
static inline bool
is_small(mpz_srcptr z, int64_t *value) {
  int n = z->_mp_size;
  if (!LIKELY((unsigned)n + 1 <= 2))
    return false;
  int64_t limb = n ? (int64_t)z->_mp_d[0] : 0;
  *value = n < 0 ? (int64_t) - (uint64_t)limb : limb; /* -2^63 is its own */
  return LIKELY(limb >= 0);
}

static inline bool
are_small(mpz_srcptr a, mpz_srcptr b, int64_t *x, int64_t *y) {
  return is_small(a, x) && is_small(b, y);
}

/* In an integer that has no limb yet. */
static __attribute__((noinline)) void
put_first(mpz_ptr r, mp_limb_t limb, int size) {
  r->_mp_d = lm_take()->limbs;
  r->_mp_d[0] = limb;
  r->_mp_alloc = LM_LIMBS;
  r->_mp_size = size;
}

static inline void
put_limb(mpz_ptr r, mp_limb_t limb, int size) {
  if (!LIKELY(r->_mp_alloc > 0)) {
    put_first(r, limb, size);
    return;
  }
  r->_mp_d[0] = limb;
  r->_mp_size = size;
}

static inline void
put(mpz_ptr r, int64_t value) {
  put_limb(r, value < 0 ? -(uint64_t)value : (uint64_t)value,
           (value > 0) - (value < 0));
}

static inline uint64_t
size_of(int64_t x) {
  return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

/* Neither is 0. */
static inline uint64_t
common_divisor(uint64_t a, uint64_t b) {
  int twos = __builtin_ctzll(a | b);
  a >>= __builtin_ctzll(a);
  do {
    b >>= __builtin_ctzll(b);
    uint64_t least = a < b ? a : b;
    b = a < b ? b - a : a - b;
    a = least;
  } while (b);
  return a << twos;
}

/* ---- what stands in for GMP's ---- */

OURS void
mpz_clear(mpz_ptr r) {
  if (!r->_mp_alloc)
    return;
  if (LIKELY(r->_mp_alloc <= LM_LIMBS))
    lm_give(r->_mp_d);
  else
    slow_clear(r);
}

OURS void
mpz_set(mpz_ptr r, mpz_srcptr a) {
  int n = a->_mp_size;
  if (!LIKELY((unsigned)n + 1 <= 2)) {
    slow_set(r, a);
    return;
  }
  put_limb(r, n ? a->_mp_d[0] : 0, n);
}

OURS void
mpz_set_si(mpz_ptr r, long a) {
  put(r, a);
}

/* mpz_NAME: a op b, where that fits. */
#define PAIR(name, operate)                                                    \
  OURS void mpz_##name PAIR_ARGS {                                             \
    int64_t x, y, made;                                                        \
    lm_count();                                                                \
    if (are_small(a, b, &x, &y) && !operate(x, y, &made))                      \
      put(r, made);                                                            \
    else                                                                       \
      slow_##name PAIR_VALUES;                                                 \
  }

PAIR(add, __builtin_add_overflow)
PAIR(sub, __builtin_sub_overflow)
PAIR(mul, __builtin_mul_overflow)

/* mpz_NAME: r op a * b, where both fit. */
#define ONTO(name, operate)                                                    \
  OURS void mpz_##name PAIR_ARGS {                                             \
    int64_t x, y, z, product;                                                  \
    lm_count();                                                                \
    if (are_small(a, b, &x, &y) && is_small(r, &z) &&                          \
        !__builtin_mul_overflow(x, y, &product) && !operate(z, product, &z))   \
      put(r, z);                                                               \
    else                                                                       \
      slow_##name PAIR_VALUES;                                                 \
  }

ONTO(addmul, __builtin_add_overflow)
ONTO(submul, __builtin_sub_overflow)

/* b divides a. */
OURS void
mpz_divexact(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  int64_t x, y;
  lm_count();
  if (are_small(a, b, &x, &y) && LIKELY(y))
    put(r, y == 1 ? x : x / y);
  else
    slow_divexact(r, a, b);
}

OURS void
mpz_fdiv_q(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  int64_t x, y;
  lm_count();
  if (are_small(a, b, &x, &y) && LIKELY(y))
    put(r, x / y - (x % y && (x < 0) != (y < 0)));
  else
    slow_fdiv_q(r, a, b);
}

OURS void
mpz_gcd(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  int64_t x, y;
  if (!are_small(a, b, &x, &y)) {
    slow_gcd(r, a, b);
    return;
  }
  uint64_t m = size_of(x), n = size_of(y);
  put(r, (int64_t)(m && n ? common_divisor(m, n) : m | n));
}

OURS void
mpz_lcm(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  int64_t x, y, multiple = 0;
  bool fits = are_small(a, b, &x, &y);
  if (fits && x && y) {
    uint64_t m = size_of(x), n = size_of(y);
    fits = !__builtin_mul_overflow((int64_t)(m / common_divisor(m, n)),
                                   (int64_t)n, &multiple);
  }
  if (fits)
    put(r, multiple);
  else
    slow_lcm(r, a, b);
}

OURS int
mpz_cmp(mpz_srcptr a, mpz_srcptr b) {
  int64_t x, y;
  return are_small(a, b, &x, &y) ? (x > y) - (x < y) : slow_cmp(a, b);
}

OURS int
mpz_cmpabs(mpz_srcptr a, mpz_srcptr b) {
  int64_t x, y;
  if (!are_small(a, b, &x, &y))
    return slow_cmpabs(a, b);
  return (size_of(x) > size_of(y)) - (size_of(x) < size_of(y));
}

/* For numbers; gmp.h has macros before these. */
OURS int
_mpz_cmp_si(mpz_srcptr a, long b) {
  int64_t x;
  if (is_small(a, &x))
    return (x > b) - (x < b);
  /* a is 2^63 and more, or -2^63 and less */
  bool least = a->_mp_size == -1 && a->_mp_d[0] == UINT64_C(1) << 63;
  return a->_mp_size > 0 ? 1 : least && b == INT64_MIN ? 0 : -1;
}

OURS int
_mpz_cmp_ui(mpz_srcptr a, unsigned long b) {
  int n = a->_mp_size;
  uint64_t limb = n ? a->_mp_d[0] : 0;
  if (n < 0)
    return -1;
  return n > 1 ? 1 : (limb > b) - (limb < b);
}

#endif
