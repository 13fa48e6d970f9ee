/* SPDX-License-Identifier: MIT */
/* fold.c - arithmetic on arrays that are known while importing.
 *
 * Integers are computed in 64 bits and wrap, floats in double precision and
 * rounded once: that is what single precision gives for sums, products,
 * quotients and roots. */
#include "glenside/array/tensor.h"
#include "onnx/sized.h"
#include "base/whole.h"
#include <assert.h>

#include <math.h>
#include <string.h>

static int64_t
divide(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

/* With the sign of the divisor, or, like fmod, of the dividend. */
static int64_t
modulo(int64_t a, int64_t b, bool like_fmod) {
  if (b == 0 || b == -1)
    return 0;
  return like_fmod ? a % b : bs_floor_mod(a, b);
}

static int64_t
power(int64_t a, int64_t b) {
  uint64_t base = (uint64_t)a, out = 1;
  if (b < 0)
    return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  for (; b; b >>= 1, base *= base)
    out *= b & 1 ? base : 1;
  return (int64_t)out;
}

static int64_t
combine_ints(const on_import *im, int which, int64_t a, int64_t b) {
  switch (which) {
  case ON_ADD:
    return (int64_t)((uint64_t)a + (uint64_t)b);
  case ON_SUB:
    return (int64_t)((uint64_t)a - (uint64_t)b);
  case ON_MUL:
    return (int64_t)((uint64_t)a * (uint64_t)b);
  case ON_DIV:
    return divide(a, b);
  case ON_MIN:
    return a < b ? a : b;
  case ON_MAX:
    return a > b ? a : b;
  case ON_POW:
    return power(a, b);
  case ON_MOD:
    return modulo(a, b, on_attr_int(im, "fmod", 0) != 0);
  case ON_AND:
    return a && b;
  case ON_OR:
    return a || b;
  case ON_XOR:
    return !a != !b;
  case ON_EQUAL:
    return a == b;
  case ON_LESS:
    return a < b;
  case ON_GREATER:
    return a > b;
  case ON_LESS_EQUAL:
    return a <= b;
  default:
    return a >= b;
  }
}

/* What is not the same number for all sizes is a fault. */
static int64_t
decided(on_import *im, gs_number x, bool zero) {
  int answer = on_ask(im, x, zero);
  if (answer < 0)
    on_fail(im, "its result cannot be told for all sizes");
  return answer == 1;
}

static gs_number
combine_sizes(on_import *im, int which, gs_number a, gs_number b) {
  assert(on_is_sized(im, a) || on_is_sized(im, b));
  const gs_numbers *over = on_over(im);
  gs_number apart = gs_minus(over, a, b), out;
  switch (which) {
  case ON_ADD:
    return gs_sum(over, a, b);
  case ON_SUB:
    return apart;
  case ON_MUL:
    return gs_product(over, a, b);
  case ON_DIV:
    if (on_is_sized(im, b) || b < 1 || !decided(im, a, false))
      return on_divide(im, &a, 1, &b, 1, &out)
                 ? out
                 : on_fail(im, "a quotient of sizes is not supported");
    return gs_quotient(over, a, b);
  case ON_MIN:
    return decided(im, apart, false) ? b : a;
  case ON_MAX:
    return decided(im, apart, false) ? a : b;
  case ON_EQUAL:
    return decided(im, apart, true);
  case ON_LESS:
    return !decided(im, apart, false);
  case ON_GREATER:
    return !decided(im, gs_minus(over, b, a), false);
  case ON_LESS_EQUAL:
    return decided(im, gs_minus(over, b, a), false);
  case ON_GREATER_EQUAL:
    return decided(im, apart, false);
  default:
    return on_fail(im, "it is not supported of sizes that are open");
  }
}

/* An integer of a program with sizes must not look like a number of them. */
static int64_t
combine_whole(on_import *im, int which, int64_t a, int64_t b) {
  if (on_is_sized(im, a) || on_is_sized(im, b))
    return on_told(im, combine_sizes(im, which, a, b));
  int64_t out = combine_ints(im, which, a, b);
  if (on_is_sized(im, out))
    on_fail(im, "an integer is too large");
  return out;
}

static double
combine_reals(int which, double a, double b) {
  switch (which) {
  case ON_ADD:
    return a + b;
  case ON_SUB:
    return a - b;
  case ON_MUL:
    return a * b;
  case ON_DIV:
    return a / b;
  case ON_MIN:
    return a < b || a != a ? a : b;
  case ON_MAX:
    return a > b || a != a ? a : b;
  case ON_POW:
    return pow(a, b);
  case ON_MOD:
    return fmod(a, b);
  case ON_EQUAL:
    return a == b;
  case ON_LESS:
    return a < b;
  case ON_GREATER:
    return a > b;
  case ON_LESS_EQUAL:
    return a <= b;
  default:
    return a >= b;
  }
}

static bool
is_test(int which) {
  return which >= ON_AND;
}

static bool
common_shape(on_import *im, const on_array *a, const on_array *b,
             gs_type *out) {
  gs_type x = {.rank = (uint8_t)a->rank}, y = {.rank = (uint8_t)b->rank};
  memcpy(x.dim, a->dim, sizeof x.dim);
  memcpy(y.dim, b->dim, sizeof y.dim);
  return t_common(im, &x, &y, out);
}

/* A number that an integer becomes is cut off; NaN is none, nor is one that the
 * type has not. */
static void
set_combined(on_import *im, on_array *out, int64_t k, double v) {
  gs_dtype d = on_type_of(out->type)->dtype;
  bool fits = on_is_real(out) || (v > (double)gs_dtype_least(d) - 1 &&
                                  v < (double)gs_dtype_most(d) + 1);
  if (fits)
    on_set_real(out, k, v);
  else
    on_fail(im, "its result, %g, is not an integer of its type", v);
}

static on_array *
combine(on_import *im, int which, const on_array *a, const on_array *b) {
  gs_type shape;
  if (!common_shape(im, a, b, &shape))
    return NULL;
  const on_array *x = on_expanded(im, a, shape.dim, shape.rank);
  const on_array *y = on_expanded(im, b, shape.dim, shape.rank);
  on_array *out = on_array_new(im, is_test(which) ? ON_BOOL : a->type,
                               shape.dim, shape.rank);
  assert(!x || !y || x->n == y->n);
  bool real = on_is_real(a) || on_is_real(b);
  if (real && (on_holds_sizes(im, a) || on_holds_sizes(im, b)))
    on_fail(im, "a size that is open is combined with a real number");
  for (int64_t k = 0; x && y && out && k < out->n; k++)
    if (real)
      set_combined(im, out, k,
                   combine_reals(which, on_real(x, k), on_real(y, k)));
    else
      on_set_int(out, k, combine_whole(im, which, on_int(x, k), on_int(y, k)));
  return im->failed ? NULL : out;
}

/* Min, Max and Sum take any number of inputs. */
void
fold_binary(on_import *im) {
  on_array *out = on_array_in(im, 0);
  for (uint32_t k = 1; out && k < on_inputs(im); k++) {
    const on_array *b = on_array_in(im, k);
    if (!b)
      return;
    out = combine(im, im->row->which, out, b);
  }
  on_out_array(im, 0, out);
}

/* Where the lower bound is the greater one, the upper one counts. */
void
fold_clip(on_import *im) {
  static const int by[] = {0, ON_MAX, ON_MIN};
  on_array *out = on_array_in(im, 0);
  for (uint32_t k = 1; out && k < on_inputs(im); k++) {
    const on_array *bound = on_in(im, k) ? on_array_in(im, k) : NULL;
    if (bound && bound->n != 1) {
      on_fail(im, "a bound is not a single number");
      return;
    }
    if (bound)
      out = combine(im, by[k], out, on_view(im, bound, NULL, NULL, 0, 0));
  }
  on_out_array(im, 0, out);
}

static double
apply(int which, double v) {
  switch (which) {
  case ON_NEG:
    return -v;
  case ON_ABS:
    return fabs(v);
  case ON_SQRT:
    return sqrt(v);
  case ON_EXP:
    return exp(v);
  case ON_LOG:
    return log(v);
  case ON_TANH:
    return tanh(v);
  case ON_ERF:
    return erf(v);
  case ON_SIN:
    return sin(v);
  case ON_COS:
    return cos(v);
  case ON_SIGMOID:
    return 1 / (1 + exp(-v));
  case ON_RECIP:
    return 1 / v;
  case ON_FLOOR:
    return floor(v);
  case ON_CEIL:
    return ceil(v);
  case ON_ROUND:
    return nearbyint(v);
  default:
    return v > 0 ? v : 0;
  }
}

static int64_t
apply_int(int which, int64_t v) {
  switch (which) {
  case ON_NEG:
    return (int64_t)(0 - (uint64_t)v);
  case ON_ABS:
    return v < 0 ? (int64_t)(0 - (uint64_t)v) : v;
  case ON_NOT:
    return !v;
  case ON_RELU:
    return v > 0 ? v : 0;
  default:
    return v;
  }
}

/* Of numbers of sizes, whole ones stay as they are, and below 0 there is none.
 */
static int64_t
apply_whole(on_import *im, gs_number v) {
  int which = im->row->which;
  if (!on_is_sized(im, v))
    return apply_int(which, v);
  if (which == ON_NEG)
    return on_told(im, gs_combine(on_over(im), -1, v, 0, v, 0));
  if (which == ON_NOT || !decided(im, v, false))
    on_fail(im, "it is not supported of sizes that are open");
  return v;
}

void
fold_unary(on_import *im) {
  on_array *a = on_array_in(im, 0);
  on_array *out = a ? on_array_new(im, a->type, a->dim, a->rank) : NULL;
  for (int64_t k = 0; out && k < a->n; k++)
    if (on_is_real(a))
      on_set_real(out, k, apply(im->row->which, on_real(a, k)));
    else
      on_set_int(out, k, apply_whole(im, on_int(a, k)));
  on_out_array(im, 0, out);
}

void
fold_identity(on_import *im) {
  on_out_array(im, 0, on_array_in(im, 0));
}

/* What a narrower type has not becomes what a program's cast makes of it; an
 * int64 may be an end that is farther than any element. */
static void
set_cast(on_array *out, int64_t k, double v) {
  gs_dtype to = on_type_of(out->type)->dtype;
  on_set_real(out, k, to == GS_I64 ? v : gs_convert(to, v));
}

void
fold_cast(on_import *im) {
  on_array *a = on_array_in(im, 0);
  int64_t to = on_attr_int(im, "to", 0);
  if (a && to != ON_INT64 && on_holds_sizes(im, a)) {
    on_fail(im, "a size that is open is int64 only");
    return;
  }
  on_array *out = a ? on_array_new(im, (int32_t)(to < 0 || to > 100 ? 0 : to),
                                   a->dim, a->rank)
                    : NULL;
  for (int64_t k = 0; out && k < a->n; k++)
    if (on_is_real(a))
      set_cast(out, k, on_real(a, k));
    else
      on_set_int(out, k, on_int(a, k));
  on_out_array(im, 0, out);
}

void
fold_where(on_import *im) {
  on_array *c = on_array_in(im, 0), *a = on_array_in(im, 1),
           *b = on_array_in(im, 2);
  gs_type one, all;
  on_array both = {0};
  if (!c || !a || !b || !common_shape(im, a, b, &one))
    return;
  both.rank = one.rank;
  memcpy(both.dim, one.dim, sizeof both.dim);
  if (!common_shape(im, c, &both, &all))
    return;
  c = on_expanded(im, c, all.dim, all.rank);
  a = on_expanded(im, a, all.dim, all.rank);
  b = on_expanded(im, b, all.dim, all.rank);
  if (!c || !a || !b)
    return;
  size_t bytes = on_type_of(a->type)->bytes;
  for (int64_t k = 0; k < a->n; k++)
    if (!on_int(c, k))
      memcpy((char *)a->data + (size_t)k * bytes,
             (char *)b->data + (size_t)k * bytes, bytes);
  on_out_array(im, 0, a);
}
