/* SPDX-License-Identifier: MIT */
/* expr_arith.c - comparison, arithmetic, and folds over lists of numbers.
 *
 * Integers are exact or undefined; as soon as one argument is real the
 * computation is real.  A real result that is no number, or so near to 0 that
 * it has lost digits, is undefined. */
#include "glenside/expr/expr_apply.h"
#include "base/whole.h"

/* `and`, `or`, `if` decide which arguments to evaluate; see expr_eval.c */
FN(AND) {
  UNUSED;
  return false;
}

FN(OR) {
  UNUSED;
  return false;
}

FN(IF) {
  UNUSED;
  return false;
}

/* --- comparison ----------------------------------------------------------- */

FN(NOT) {
  UNUSED;
  return a[0].kind == GS_D_BOOL && give_bool(out, !a[0].b);
}

bool
gs_same_datum(const gs_datum *a, const gs_datum *b) {
  if (a->kind == GS_D_INT && b->kind == GS_D_INT)
    return a->i == b->i;
  if (is_number(a) && is_number(b))
    return as_real(a) == as_real(b);
  if (a->kind != b->kind)
    return false;
  if (a->kind == GS_D_BOOL)
    return a->b == b->b;
  if (a->kind == GS_D_CLASS)
    return a->c == b->c;
  return bs_same(a->v, b->v);
}

FN(EQ) {
  UNUSED;
  for (uint32_t k = 1; k < n; k++)
    if (!gs_same_datum(&a[0], &a[k]))
      return give_bool(out, false);
  return give_bool(out, true);
}

FN(NE) {
  UNUSED;
  return give_bool(out, !gs_same_datum(&a[0], &a[1]));
}

static int
order(const gs_datum *a, const gs_datum *b) {
  if (a->kind == GS_D_INT && b->kind == GS_D_INT)
    return (a->i > b->i) - (a->i < b->i);
  double x = as_real(a), y = as_real(b);
  return (x > y) - (x < y);
}

/* Does each neighbouring pair have an order in [lo, hi]? */
static bool
chain(const gs_datum *a, uint32_t n, int lo, int hi, gs_datum *out) {
  if (!all_numbers(a, n))
    return false;
  for (uint32_t k = 1; k < n; k++) {
    int o = order(&a[k - 1], &a[k]);
    if (o < lo || o > hi)
      return give_bool(out, false);
  }
  return give_bool(out, true);
}

FN(LT) {
  UNUSED;
  return chain(a, n, -1, -1, out);
}

FN(LE) {
  UNUSED;
  return chain(a, n, -1, 0, out);
}

FN(GT) {
  UNUSED;
  return chain(a, n, 1, 1, out);
}

FN(GE) {
  UNUSED;
  return chain(a, n, 0, 1, out);
}

/* --- arithmetic ----------------------------------------------------------- */

static bool
divisible_pair(int64_t a, int64_t b) {
  return b != 0 && !(a == INT64_MIN && b == -1);
}

bool
gs_add_ints(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_add_overflow(a, b, out);
}

bool
gs_sub_ints(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_sub_overflow(a, b, out);
}

bool
gs_mul_ints(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_mul_overflow(a, b, out);
}

bool
gs_div_ints(int64_t a, int64_t b, int64_t *out) {
  *out = divisible_pair(a, b) ? bs_floor_div(a, b) : 0;
  return divisible_pair(a, b);
}

bool
gs_mod_ints(int64_t a, int64_t b, int64_t *out) {
  *out = divisible_pair(a, b) ? bs_floor_mod(a, b) : 0;
  return divisible_pair(a, b);
}

static bool
ceil_div_ints(int64_t a, int64_t b, int64_t *out) {
  *out = divisible_pair(a, b) ? bs_ceil_div(a, b) : 0;
  return divisible_pair(a, b);
}

static bool
min_ints(int64_t a, int64_t b, int64_t *out) {
  *out = a < b ? a : b;
  return true;
}

static bool
max_ints(int64_t a, int64_t b, int64_t *out) {
  *out = a > b ? a : b;
  return true;
}

static bool
gcd_ints(int64_t a, int64_t b, int64_t *out) {
  if (a == INT64_MIN || b == INT64_MIN)
    return false;
  *out = bs_gcd(a, b);
  return true;
}

typedef bool real_step(double, double, double *);

static bool
add_reals(double a, double b, double *out) {
  *out = a + b;
  return isfinite(*out);
}

static bool
sub_reals(double a, double b, double *out) {
  *out = a - b;
  return isfinite(*out);
}

/* What is below the normal numbers may have any relative error. */
static bool
is_scaled(double r, bool zero) {
  return zero ? !r : isnormal(r);
}

static bool
mul_reals(double a, double b, double *out) {
  *out = a * b;
  return is_scaled(*out, !a || !b);
}

static bool
div_reals(double a, double b, double *out) {
  *out = b ? a / b : 0;
  return b && is_scaled(*out, !a);
}

static bool
min_reals(double a, double b, double *out) {
  *out = fmin(a, b);
  return true;
}

static bool
max_reals(double a, double b, double *out) {
  *out = fmax(a, b);
  return true;
}

/* Folds the arguments from the left: exactly when all are integers. */
static bool
fold(const gs_datum *a, uint32_t n, int_step *ints, real_step *reals,
     gs_datum *out) {
  if (!all_numbers(a, n))
    return false;
  if (all_ints(a, n)) {
    int64_t acc = a[0].i;
    for (uint32_t k = 1; k < n; k++)
      if (!ints(acc, a[k].i, &acc))
        return false;
    return give_int(out, acc);
  }
  double acc = as_real(&a[0]);
  for (uint32_t k = 1; k < n; k++)
    if (!reals(acc, as_real(&a[k]), &acc))
      return false;
  return give_real(out, acc);
}

FN(ADD) {
  UNUSED;
  return fold(a, n, gs_add_ints, add_reals, out);
}

FN(SUB) {
  UNUSED;
  gs_datum from_zero[2] = {{GS_D_INT, {.i = 0}}, a[0]};
  return n == 1 ? fold(from_zero, 2, gs_sub_ints, sub_reals, out)
                : fold(a, n, gs_sub_ints, sub_reals, out);
}

FN(MUL) {
  UNUSED;
  return fold(a, n, gs_mul_ints, mul_reals, out);
}

/* Beyond 2^53 a real number no longer tells integers apart. */
FN(INTEGER) {
  UNUSED;
  if (a[0].kind == GS_D_INT)
    return give_int(out, a[0].i);
  if (!all_numbers(a, 1))
    return false;
  double x = as_real(&a[0]);
  return fabs(x) <= 0x1p53 && x == floor(x) && give_int(out, (int64_t)x);
}

FN(DIV) {
  UNUSED;
  return fold(a, 2, gs_div_ints, div_reals, out);
}

static bool
two_ints(const gs_datum *a, int_step *step, gs_datum *out) {
  int64_t r;
  return all_ints(a, 2) && step(a[0].i, a[1].i, &r) && give_int(out, r);
}

FN(MOD) {
  UNUSED;
  return two_ints(a, gs_mod_ints, out);
}

FN(MIN) {
  UNUSED;
  return fold(a, n, min_ints, min_reals, out);
}

FN(MAX) {
  UNUSED;
  return fold(a, n, max_ints, max_reals, out);
}

FN(ABS) {
  UNUSED;
  if (a[0].kind == GS_D_REAL)
    return give_real(out, fabs(a[0].r));
  if (a[0].kind != GS_D_INT || a[0].i == INT64_MIN)
    return false;
  return give_int(out, a[0].i < 0 ? -a[0].i : a[0].i);
}

FN(SQRT) {
  UNUSED;
  return is_number(&a[0]) && give_real(out, sqrt(as_real(&a[0])));
}

FN(GCD) {
  UNUSED;
  return all_ints(a, n) && fold(a, n, gcd_ints, min_reals, out);
}

FN(DIVIDES) {
  UNUSED;
  int64_t r;
  return all_ints(a, 2) &&
         give_bool(out, gs_mod_ints(a[1].i, a[0].i, &r) && r == 0);
}

FN(CEIL_DIV) {
  UNUSED;
  return two_ints(a, ceil_div_ints, out);
}

static bool
round_up_ints(int64_t a, int64_t b, int64_t *out) {
  int64_t q;
  return b > 0 && ceil_div_ints(a, b, &q) && gs_mul_ints(q, b, out);
}

static bool
round_down_ints(int64_t a, int64_t b, int64_t *out) {
  int64_t q;
  return b > 0 && gs_div_ints(a, b, &q) && gs_mul_ints(q, b, out);
}

FN(ROUND_UP) {
  UNUSED;
  return two_ints(a, round_up_ints, out);
}

FN(ROUND_DOWN) {
  UNUSED;
  return two_ints(a, round_down_ints, out);
}

static bool
fold_list(const gs_env *env, const gs_datum *a, int64_t acc, int_step *step,
          gs_datum *out) {
  view v;
  if (!view_list(env, a, &v))
    return false;
  for (uint32_t k = 0; k < v.n; k++)
    if (bs_kind_of(env->values, v.items[k]) != BS_KIND_INT ||
        !step(acc, bs_as_int(env->values, v.items[k]), &acc))
      return false;
  return give_int(out, acc);
}

FN(PROD) {
  UNUSED;
  return fold_list(env, a, 1, gs_mul_ints, out);
}

FN(SUM) {
  UNUSED;
  return fold_list(env, a, 0, gs_add_ints, out);
}
