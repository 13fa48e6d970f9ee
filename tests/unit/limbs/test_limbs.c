/* SPDX-License-Identifier: MIT */
/* Integers of one limb by our functions: what GMP says of the same integers
 * times 2^130, which are not for ours, is the judge. */
#include <criterion/criterion.h>
#include <gmp.h>
#include <limits.h>
#include <malloc.h>
#include <string.h>

enum { SHIFT = 130 };

static const char *const values[] = {
    "0",
    "1",
    "-1",
    "2",
    "-3",
    "6",
    "-12",
    "1000003",
    "2147483648",
    "-4294967296",
    "3037000500",
    "-9223372036854775807",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "-18446744073709551616",
    "340282366920938463463374607431768211456",
};
enum { N_VALUES = sizeof values / sizeof *values };

typedef struct numbers {
  mpz_t a, b;             /* as they are */
  mpz_t large_a, large_b; /* times 2^130 */
  mpz_t is, should;
} numbers;

static void
begin(numbers *n, const char *a, const char *b) {
  mpz_init_set_str(n->a, a, 10);
  mpz_init_set_str(n->b, b, 10);
  mpz_init(n->large_a);
  mpz_init(n->large_b);
  mpz_mul_2exp(n->large_a, n->a, SHIFT);
  mpz_mul_2exp(n->large_b, n->b, SHIFT);
  mpz_init(n->is);
  mpz_init(n->should);
}

static void
end(numbers *n) {
  mpz_clears(n->a, n->b, n->large_a, n->large_b, n->is, n->should, NULL);
}

/* Text, as comparisons are what is tested. */
static void
must_be(const numbers *n, unsigned shift, const char *what, const char *a,
        const char *b) {
  mpz_t scaled;
  mpz_init(scaled);
  mpz_mul_2exp(scaled, n->is, shift);
  char *is = mpz_get_str(NULL, 10, scaled);
  char *should = mpz_get_str(NULL, 10, n->should);
  cr_expect_str_eq(is, should, "%s of %s and %s", what, a, b);
  void (*release)(void *, size_t);
  mp_get_memory_functions(NULL, NULL, &release);
  release(is, strlen(is) + 1);
  release(should, strlen(should) + 1);
  mpz_clear(scaled);
}

static void
try_sums(numbers *n, const char *a, const char *b) {
  mpz_add(n->is, n->a, n->b);
  mpz_add(n->should, n->large_a, n->large_b);
  must_be(n, SHIFT, "sum", a, b);
  mpz_sub(n->is, n->a, n->b);
  mpz_sub(n->should, n->large_a, n->large_b);
  must_be(n, SHIFT, "difference", a, b);
  mpz_set(n->is, n->a); /* the result is an operand */
  mpz_add(n->is, n->is, n->is);
  mpz_add(n->should, n->large_a, n->large_a);
  must_be(n, SHIFT, "sum in place", a, a);
}

static void
try_products(numbers *n, const char *a, const char *b) {
  mpz_t start;
  mpz_init(start);
  mpz_mul(n->is, n->a, n->b);
  mpz_mul(n->should, n->large_a, n->large_b);
  must_be(n, 2 * SHIFT, "product", a, b);
  for (int k = 0; k < 3; k++) {
    mpz_set_si(start, k == 0 ? 7 : k == 1 ? LONG_MAX : LONG_MIN);
    mpz_set(n->is, start);
    mpz_mul_2exp(n->should, start, 2 * SHIFT);
    mpz_addmul(n->is, n->a, n->b);
    mpz_addmul(n->should, n->large_a, n->large_b);
    must_be(n, 2 * SHIFT, "sum with the product", a, b);
    mpz_set(n->is, start);
    mpz_mul_2exp(n->should, start, 2 * SHIFT);
    mpz_submul(n->is, n->a, n->b);
    mpz_submul(n->should, n->large_a, n->large_b);
    must_be(n, 2 * SHIFT, "rest without the product", a, b);
  }
  mpz_clear(start);
}

static void
try_divisors(numbers *n, const char *a, const char *b) {
  mpz_gcd(n->is, n->a, n->b);
  mpz_gcd(n->should, n->large_a, n->large_b);
  must_be(n, SHIFT, "greatest divisor", a, b);
  mpz_lcm(n->is, n->a, n->b);
  mpz_lcm(n->should, n->large_a, n->large_b);
  must_be(n, SHIFT, "least multiple", a, b);
  if (mpz_sgn(n->b) == 0)
    return;
  mpz_fdiv_q(n->is, n->a, n->b);
  mpz_fdiv_q(n->should, n->large_a, n->large_b);
  must_be(n, 0, "quotient", a, b);
  mpz_mul(n->is, n->a, n->b);
  mpz_divexact(n->is, n->is, n->b);
  mpz_set(n->should, n->a);
  must_be(n, 0, "product divided", a, b);
}

static int
sign(int x) {
  return (x > 0) - (x < 0);
}

static void
try_orders(numbers *n, const char *a, const char *b) {
  cr_expect_eq(sign(mpz_cmp(n->a, n->b)), sign(mpz_cmp(n->large_a, n->large_b)),
               "%s and %s", a, b);
  cr_expect_eq(sign(mpz_cmpabs(n->a, n->b)),
               sign(mpz_cmpabs(n->large_a, n->large_b)), "sizes of %s and %s",
               a, b);
  volatile long others[] = {0, 1, -1, 6, LONG_MAX, LONG_MIN};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    mpz_t other;
    mpz_init_set_si(other, others[k]);
    mpz_mul_2exp(other, other, SHIFT);
    cr_expect_eq(sign(mpz_cmp_si(n->a, others[k])),
                 sign(mpz_cmp(n->large_a, other)), "%s and %ld", a, others[k]);
    mpz_set_ui(other, (unsigned long)others[k]);
    mpz_mul_2exp(other, other, SHIFT);
    cr_expect_eq(sign(mpz_cmp_ui(n->a, (unsigned long)others[k])),
                 sign(mpz_cmp(n->large_a, other)), "%s and %lu", a,
                 (unsigned long)others[k]);
    mpz_clear(other);
  }
}

Test(limbs, small_integers_are_computed_with_as_large_ones_are) {
  for (int i = 0; i < N_VALUES; i++)
    for (int j = 0; j < N_VALUES; j++) {
      numbers n;
      begin(&n, values[i], values[j]);
      try_sums(&n, values[i], values[j]);
      try_products(&n, values[i], values[j]);
      try_divisors(&n, values[i], values[j]);
      try_orders(&n, values[i], values[j]);
      end(&n);
    }
}

/* Those of isl are made, grow and go by the million. */
Test(limbs, integers_grow_and_shrink_in_place) {
  mpz_t x, y;
  mpz_init(x);
  mpz_init(y);
  for (int round = 0; round < 1000; round++) {
    mpz_set_si(x, round % 2 ? -3 : 3);
    for (int k = 0; k < 8; k++)
      mpz_mul(x, x, x);
    cr_assert_eq(mpz_cmpabs(x, y) > 0, 1);
    mpz_set_si(y, 1);
    mpz_set(x, y);
    cr_assert_eq(mpz_cmp_si(x, 1), 0);
    mpz_clear(x);
    mpz_init(x);
  }
  mpz_clear(x);
  mpz_clear(y);
}

/* One after the other, as isl does: mpz_clears is GMP's own. */
static void
use_all(void) {
  mpz_t x[4];
  for (int i = 0; i < N_VALUES; i++)
    for (int j = 0; j < N_VALUES; j++) {
      mpz_init_set_str(x[0], values[i], 10);
      mpz_init_set_str(x[1], values[j], 10);
      mpz_init(x[2]);
      mpz_init_set_si(x[3], j);
      mpz_add(x[2], x[0], x[1]);
      mpz_swap(x[2], x[3]);
      mpz_mul(x[2], x[0], x[1]);
      mpz_set(x[0], x[3]);
      mpz_realloc2(x[1], 64);
      for (int k = 0; k < 4; k++)
        mpz_clear(x[k]);
    }
}

/* What malloc gave out is as much after a million integers as after some. */
Test(limbs, what_is_cleared_is_used_again) {
  use_all();
  use_all();
  size_t kept = mallinfo2().uordblks;
  for (int round = 0; round < 500; round++)
    use_all();
  cr_expect_eq(mallinfo2().uordblks, kept);
}
