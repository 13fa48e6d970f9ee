/* SPDX-License-Identifier: MIT */
/* emit_math.c - functions that are made of those of the language. */
#include "onnx/onnx_range.h"

#include <float.h>
#include <math.h>

static gs_term
like(on_import *im, gs_term x, double v) {
  gs_type t;
  return t_type(im, x, &t) ? t_value(im, t.dtype, v, t.dim, t.rank)
                           : GS_NO_TERM;
}

/* (exp(x) + sign exp(-x)) / 2 */
static gs_term
of_exponentials(on_import *im, gs_term x, const char *op) {
  gs_term back = t_compute(im, "exp", t_compute(im, "neg", x));
  return t_scale(im, 0.5, t_fold(im, op, t_compute(im, "exp", x), back));
}

/* x >= 0 ? f : -f, of a function of |x| that is odd. */
static gs_term
odd(on_import *im, gs_term x, gs_term f) {
  return t_select(im, x, f, t_compute(im, "neg", f));
}

/* Of a large x, sqrt(x^2 +- 1) is x, whose square may be none: x large ?
 * log(x) + log(2) : log(x + root) */
static gs_term
area(on_import *im, gs_term x, gs_term root) {
  gs_type t;
  if (!t_type(im, x, &t))
    return GS_NO_TERM;
  double large = t.dtype == GS_F16 ? 0x1p7 : 0x1p40;
  gs_term far = t_offset(im, M_LN2, t_compute(im, "log", x));
  gs_term near = t_compute(im, "log", t_fold(im, "add", x, root));
  return t_select(im, t_offset(im, -large, x), far, near);
}

/* log(|x| + sqrt(x^2 + 1)) with the sign of x */
static gs_term
area_sinus(on_import *im, gs_term x) {
  gs_term root =
      t_compute(im, "sqrt", t_offset(im, 1, t_compute(im, "square", x)));
  return odd(im, x, area(im, t_compute(im, "abs", x), root));
}

/* sqrt(x - 1) sqrt(x + 1) is none where x is below 1, and loses nothing near
 * it. */
static gs_term
area_cosinus(on_import *im, gs_term x) {
  gs_term below = t_compute(im, "sqrt", t_offset(im, -1, x));
  gs_term above = t_compute(im, "sqrt", t_offset(im, 1, x));
  return area(im, x, t_fold(im, "mul", below, above));
}

/* log((1 + x) / (1 - x)) / 2 */
static gs_term
area_tangens(on_import *im, gs_term x) {
  gs_term below = t_offset(im, 1, t_compute(im, "neg", x));
  gs_term ratio = t_fold(im, "div", t_offset(im, 1, x), below);
  return t_scale(im, 0.5, t_compute(im, "log", ratio));
}

/* The angle of a triangle with the hypotenuse 1. */
static gs_term
arc_sinus(on_import *im, gs_term x) {
  gs_term below = t_offset(im, 1, t_compute(im, "neg", x));
  gs_term rest = t_fold(im, "mul", below, t_offset(im, 1, x));
  return t_compute(im, "atan",
                   t_fold(im, "mul", x, t_compute(im, "rsqrt", rest)));
}

/* Of a limit below 0, both conditions may hold: the first one counts. */
static gs_term
shrunk(on_import *im, gs_term x) {
  double bias = on_attr_real(im, "bias", 0);
  double limit = on_attr_real(im, "lambd", 0.5);
  gs_term zero = like(im, x, 0), minus = t_compute(im, "neg", x);
  gs_term high =
      t_select(im, t_offset(im, -limit, x), t_offset(im, -bias, x), zero);
  return t_select(im, t_offset(im, -limit, minus), t_offset(im, bias, x), high);
}

/* max(x, 0) + min(alpha (exp(x / alpha) - 1), 0) */
static gs_term
celu(on_import *im, gs_term x) {
  double alpha = on_attr_real(im, "alpha", 1);
  gs_term below =
      t_compute(im, "neg", t_compute(im, "relu", t_compute(im, "neg", x)));
  below = t_offset(im, -1, t_compute(im, "exp", t_scale(im, 1 / alpha, below)));
  return t_fold(im, "add", t_compute(im, "relu", x), t_scale(im, alpha, below));
}

static gs_term
function(on_import *im, gs_term x) {
  switch (im->row->which) {
  case ON_TAN:
    return t_fold(im, "div", t_compute(im, "sin", x), t_compute(im, "cos", x));
  case ON_SINH:
    return of_exponentials(im, x, "sub");
  case ON_COSH:
    return of_exponentials(im, x, "add");
  case ON_ASINH:
    return area_sinus(im, x);
  case ON_ACOSH:
    return area_cosinus(im, x);
  case ON_ATANH:
    return area_tangens(im, x);
  case ON_ASIN:
    return arc_sinus(im, x);
  case ON_ACOS:
    return t_offset(im, M_PI / 2, t_compute(im, "neg", arc_sinus(im, x)));
  case ON_SHRINK:
    return shrunk(im, x);
  case ON_CELU:
    return celu(im, x);
  default:
    return t_compute(im, "atan", x);
  }
}

void
emit_function(on_import *im) {
  on_out(im, 0, function(im, on_term_in(im, 0)), on_type_in(im, 0));
}

/* ---- remainders and powers ---- */

/* Two operands in the shape that both fit, in f64. */
static bool
wide_operands(on_import *im, gs_term *a, gs_term *b) {
  gs_type x, y, both;
  *a = t_cast(im, GS_F64, on_term_in(im, 0));
  *b = t_cast(im, GS_F64, on_term_in(im, 1));
  if (!t_type(im, *a, &x) || !t_type(im, *b, &y) ||
      !t_common(im, &x, &y, &both))
    return false;
  *a = t_fit(im, *a, both.dim, both.rank);
  *b = t_fit(im, *b, both.dim, both.rank);
  return true;
}

static void
give_narrowed(on_import *im, gs_term x) {
  int32_t type = on_type_in(im, 0);
  on_out(im, 0, t_cast(im, on_type_of(type)->dtype, x), type);
}

static gs_term
toward_zero(on_import *im, gs_term x) {
  gs_term size = t_compute(im, "floor", t_compute(im, "abs", x));
  return odd(im, x, size);
}

/* a - b q, with q rounded down or toward zero.  Of integers, f64 rounds no
 * quotient to a whole number that it is not. */
static gs_term
remainder_of(on_import *im, gs_term a, gs_term b, bool like_fmod) {
  gs_term q = t_fold(im, "div", a, b);
  q = like_fmod ? toward_zero(im, q) : t_compute(im, "floor", q);
  return t_fold(im, "sub", a, t_fold(im, "mul", b, q));
}

/* Rounded down, b q may be beyond a, and near 2^53 f64 does not hold it;
 * toward zero it is not. */
void
emit_mod(on_import *im) {
  gs_term a, b;
  bool like_fmod = on_attr_int(im, "fmod", 0) != 0;
  if (!wide_operands(im, &a, &b))
    return;
  if (!like_fmod && on_type_in(im, 0) == ON_INT64)
    a = remainder_of(im, a, b, true);
  give_narrowed(im, remainder_of(im, a, b, like_fmod));
}

/* Of a below 0: none where b is no whole number, unless a is infinite. */
static gs_term
power_of_negative(on_import *im, gs_term a, gs_term b, gs_term size,
                  gs_term power) {
  gs_term half = t_scale(im, 0.5, b);
  gs_term odd_part =
      t_fold(im, "sub", b, t_scale(im, 2, t_compute(im, "floor", half)));
  gs_term minus = t_select(im, odd_part, t_compute(im, "neg", power), power);
  gs_term part = t_fold(im, "sub", b, t_compute(im, "floor", b));
  gs_term none =
      t_compute(im, "exp", t_fold(im, "mul", b, t_compute(im, "log", a)));
  none = t_select(im, t_offset(im, -DBL_MAX, size), power, none);
  return t_select(im, part, none, minus);
}

/* exp(b log |a|), with the sign of an odd power of a number below 0, none where
 * b is no whole number then, as the logarithm of a is none; 1 where b is 0 or a
 * is 1, and none where b is none.  Of -0, only 1 / a is below 0. */
void
emit_general_pow(on_import *im) {
  gs_term a, b;
  if (!on_type_of(on_type_in(im, 0))->real &&
      on_type_of(on_type_in(im, 1))->real) {
    on_fail(im, "integers are raised to integers only, or to a number that is "
                "whole and known");
    return;
  }
  if (!wide_operands(im, &a, &b))
    return;
  gs_term size = t_compute(im, "abs", a), one = like(im, a, 1);
  gs_term power =
      t_compute(im, "exp", t_fold(im, "mul", b, t_compute(im, "log", size)));
  power = t_select(im, t_compute(im, "square", t_offset(im, -1, size)), power,
                   size); /* of 1, an infinite power, too */
  gs_term below = t_fold(im, "add", a, t_compute(im, "recip", a));
  power = t_select(im, t_compute(im, "neg", below),
                   power_of_negative(im, a, b, size, power), power);
  power = t_select(im, t_compute(im, "square", b), power, t_offset(im, 1, b));
  power = t_select(im, t_equal(im, a, one), one, power);
  if (!on_type_of(on_type_in(im, 0))->real)
    power = t_compute(im, "round", power);
  if (on_type_in(im, 0) == ON_INT64 && gs_term_ok(power) &&
      !on_is_exact(im, power))
    return;
  give_narrowed(im, power);
}

/* x / (bias + alpha / size * sum of squares of neighbours in C)^beta, of which
 * the base is above 0. */
void
emit_lrn(on_import *im) {
  gs_type t;
  gs_term x = on_term_in(im, 0);
  int64_t size = on_attr_int(im, "size", 0), one = 1;
  double beta = on_attr_real(im, "beta", 0.75);
  if (!t_type(im, x, &t) || t.rank < 2 || size < 1 || size > INT32_MAX) {
    on_fail(im, "it has no channels, or no size");
    return;
  }
  gs_term sum = t_axis_last(im, t_compute(im, "square", x), 1);
  sum = t_pad(im, sum, "zero", t.rank - 1u, (size - 1) / 2, size / 2);
  sum = t_compute(im, "reduceSum", t_windows(im, sum, &size, &one, &one, 1));
  sum = t_axis_back(im, sum, 1);
  sum = t_scale(im, on_attr_real(im, "alpha", 1e-4) / (double)size, sum);
  sum = t_compute(im, "log", t_offset(im, on_attr_real(im, "bias", 1), sum));
  gs_term by = t_compute(im, "exp", t_scale(im, -beta, sum));
  on_out(im, 0, t_fold(im, "mul", x, by), on_type_in(im, 0));
}
