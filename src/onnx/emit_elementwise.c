/* SPDX-License-Identifier: MIT */
/* emit_elementwise.c - operators that work element by element. */
#include "glenside/array/tensor.h"
#include "onnx/onnx_import.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

static const char *const unary[] = {
    [ON_NEG] = "neg",         [ON_ABS] = "abs",     [ON_SQRT] = "sqrt",
    [ON_EXP] = "exp",         [ON_LOG] = "log",     [ON_TANH] = "tanh",
    [ON_ERF] = "erf",         [ON_SIN] = "sin",     [ON_COS] = "cos",
    [ON_SIGMOID] = "sigmoid", [ON_RECIP] = "recip", [ON_FLOOR] = "floor",
    [ON_RELU] = "relu",       [ON_ROUND] = "round",
};

void
emit_unary(on_import *im) {
  gs_term x = on_term_in(im, 0);
  int which = im->row->which;
  if (which == ON_CEIL) /* the negative of what floor gives of the negative */
    x = t_compute(im, "neg", t_compute(im, "floor", t_compute(im, "neg", x)));
  else
    x = t_compute(im, unary[which], x);
  on_out(im, 0, x, on_type_in(im, 0));
}

void
emit_cast(on_import *im) {
  int64_t to = on_attr_int(im, "to", 0);
  int32_t from = on_type_in(im, 0), type = (int32_t)(to > 100 ? 0 : to);
  if (!on_type_of(type)->known) {
    on_fail(im, "casts to %s are not supported", on_type_of(type)->name);
    return;
  }
  gs_term x = on_term_in(im, 0);
  if (from != type)
    x = t_cast(im, on_type_of(type)->dtype, x);
  on_out(im, 0, x, type);
}

void
emit_cast_like(on_import *im) {
  int32_t from = on_type_in(im, 0), type = on_type_in(im, 1);
  gs_term x = on_term_in(im, 0);
  if (from != type)
    x = t_cast(im, on_type_of(type)->dtype, x);
  on_out(im, 0, x, type);
}

/* ---- two and more operands ---- */

static const char *const folds[] = {
    [ON_ADD] = "add", [ON_SUB] = "sub", [ON_MUL] = "mul",  [ON_DIV] = "div",
    [ON_MIN] = "min", [ON_MAX] = "max", [ON_MEAN] = "add",
};

static gs_term
combine(on_import *im, const char *op, gs_term a, gs_term b) {
  gs_type x, y, both;
  if (!t_type(im, a, &x) || !t_type(im, b, &y) || !t_common(im, &x, &y, &both))
    return GS_NO_TERM;
  return t_fold(im, op, t_fit(im, a, both.dim, both.rank),
                t_fit(im, b, both.dim, both.rank));
}

/* One finite number that stands for an input. */
static bool
splat_in(on_import *im, uint32_t k, uint32_t other, double *out) {
  gs_type type;
  on_value *v = on_in(im, k);
  if (!v || !v->array || !on_is_splat(v->array) ||
      !on_shape_in(im, other, &type) || v->array->rank > type.rank)
    return false;
  *out = on_real(v->array, 0);
  for (uint32_t d = 0; d < v->array->rank; d++)
    if (v->array->dim[d] != 1 &&
        v->array->dim[d] != type.dim[type.rank - v->array->rank + d])
      return false;
  return isfinite(*out) && fabs(*out) < (double)FLT_MAX;
}

/* A real one: an operator's parameter. */
static bool
number_in(on_import *im, uint32_t k, uint32_t other, double *out) {
  on_value *v = on_in(im, k);
  return v && v->array && on_is_real(v->array) && splat_in(im, k, other, out);
}

/* What a power is raised to; an integer, where that is what products are. */
static bool
exponent_in(on_import *im, double *out) {
  return number_in(im, 1, 0, out) || (splat_in(im, 1, 0, out) && *out >= 1);
}

/* 1 / v is exact for powers of two. */
static bool
is_power_of_two(double v) {
  int e;
  return fabs(frexp(v, &e)) == 0.5 && abs(e) < 60;
}

/* A product or sum with a number has an operator of its own. */
static bool
with_number(on_import *im, gs_term *out) {
  double v;
  int which = im->row->which;
  bool swaps = which == ON_ADD || which == ON_MUL;
  if (number_in(im, 1, 0, &v)) {
    gs_term x = on_term_in(im, 0);
    if (which == ON_ADD || which == ON_SUB)
      *out = t_offset(im, which == ON_SUB ? -v : v, x);
    else if (which == ON_MUL || (which == ON_DIV && is_power_of_two(v)))
      *out = t_scale(im, which == ON_DIV ? 1 / v : v, x);
    else
      return false;
    return true;
  }
  if (!swaps || !number_in(im, 0, 1, &v))
    return false;
  *out = t_compute1(im, which == ON_ADD ? "offset" : "scale", v,
                    on_term_in(im, 1));
  return true;
}

void
emit_binary(on_import *im) {
  gs_term out;
  if (!with_number(im, &out))
    out = combine(im, folds[im->row->which], on_term_in(im, 0),
                  on_term_in(im, 1));
  on_out(im, 0, out, on_type_in(im, 0));
}

void
emit_variadic(on_import *im) {
  uint32_t n = on_inputs(im);
  gs_term out = on_term_in(im, 0);
  for (uint32_t k = 1; k < n; k++)
    out = combine(im, folds[im->row->which], out, on_term_in(im, k));
  if (im->row->which == ON_MEAN)
    out = t_scale(im, 1.0 / n, out);
  on_out(im, 0, out, on_type_in(im, 0));
}

/* ---- powers ---- */

static gs_term
whole_power(on_import *im, gs_term x, int n) {
  assert(n >= 1);
  gs_term out = GS_NO_TERM;
  for (; n; n >>= 1) {
    if (n & 1)
      out = gs_term_ok(out) ? t_fold(im, "mul", out, x) : x;
    if (n > 1)
      x = t_compute(im, "square", x);
  }
  return out;
}

void
emit_pow(on_import *im) {
  double v;
  bool known = exponent_in(im, &v);
  bool whole = known && v == floor(v) && v != 0 && fabs(v) <= 64;
  if (!whole && !(known && fabs(v) == 0.5)) {
    emit_general_pow(im);
    return;
  }
  gs_term x = on_term_in(im, 0);
  if (v == 0.5 || v == -0.5)
    x = t_compute(im, v > 0 ? "sqrt" : "rsqrt", x);
  else
    x = whole_power(im, x, (int)fabs(v));
  if (v < 0 && v != -0.5)
    x = t_compute(im, "recip", x);
  on_out(im, 0, x, on_type_in(im, 0));
}

/* ---- bounds and choices ---- */

typedef struct bound {
  bool holds; /* some element may be beyond it */
  double v;
} bound;

/* The largest number and the smallest one bound nothing, nor do infinities. */
static bool
real_bound(on_import *im, const on_array *a, bool upper, bound *out) {
  double most = a->type == ON_DOUBLE ? DBL_MAX : (double)FLT_MAX;
  out->v = on_real(a, 0);
  out->holds = upper ? out->v < most : out->v > -most;
  return !isnan(out->v) || on_fail(im, "a bound is NaN");
}

/* An integer that the dtype does not have bounds nothing, or leaves nothing. */
static bool
whole_bound(on_import *im, const on_array *a, bool upper, bound *out) {
  gs_dtype dtype = on_type_of(a->type)->dtype;
  int64_t v = on_int(a, 0), least = gs_dtype_least(dtype),
          most = gs_dtype_most(dtype);
  out->v = (double)v;
  out->holds = upper ? v < most : v > least;
  return !(upper ? v < least : v > most) ||
         on_fail(im, "the bound %lld " GS_BEYOND_I64, (long long)v);
}

static bool
bound_in(on_import *im, uint32_t k, bound *out) {
  *out = (bound){0};
  if (!on_in(im, k))
    return true;
  const on_array *a = on_array_in(im, k);
  if (!a || a->n != 1)
    return on_fail(im, "a bound is not a single number");
  return on_is_real(a) ? real_bound(im, a, k == 2, out)
                       : whole_bound(im, a, k == 2, out);
}

/* The language's clip has two finite bounds. */
void
emit_clip(on_import *im) {
  bound least, most;
  gs_type type;
  gs_term x = on_term_in(im, 0);
  if (!t_type(im, x, &type) || !bound_in(im, 1, &least) ||
      !bound_in(im, 2, &most))
    return;
  bool low = least.holds, high = most.holds;
  double lo = least.v, hi = most.v;
  if (low && high && lo <= hi)
    x = t_clip(im, lo, hi, x);
  else {
    if (low)
      x = lo == 0 ? t_compute(im, "relu", x)
                  : t_fold(im, "max", x,
                           t_value(im, type.dtype, lo, type.dim, type.rank));
    if (high)
      x = t_fold(im, "min", x,
                 t_value(im, type.dtype, hi, type.dim, type.rank));
  }
  on_out(im, 0, x, on_type_in(im, 0));
}

void
emit_prelu(on_import *im) {
  gs_type x_type;
  gs_term x = on_term_in(im, 0);
  if (!t_type(im, x, &x_type))
    return;
  gs_term slope = t_fit(im, on_term_in(im, 1), x_type.dim, x_type.rank);
  on_out(im, 0, t_select(im, x, x, t_fold(im, "mul", x, slope)),
         on_type_in(im, 0));
}

/* ---- activations that are made of others ---- */

/* x (1 + erf(x / sqrt 2)) / 2, or its approximation by tanh. */
static gs_term
gelu(on_import *im, gs_term x) {
  gs_term inner;
  if (on_attr_is(im, "approximate", "tanh", "none")) {
    gs_term cube = t_fold(im, "mul", x, t_compute(im, "square", x));
    inner = t_fold(im, "add", x, t_scale(im, 0.044715, cube));
    inner = t_compute(im, "tanh", t_scale(im, 0.7978845608028654, inner));
  } else {
    inner = t_compute(im, "erf", t_scale(im, 0.7071067811865476, x));
  }
  return t_scale(im, 0.5, t_fold(im, "mul", x, t_offset(im, 1, inner)));
}

static gs_term
hard_sigmoid(on_import *im, gs_term x, double alpha, double beta) {
  x = t_offset(im, beta, t_scale(im, alpha, x));
  return t_clip(im, 0, 1, x);
}

/* relu(x) + log(1 + exp(-|x|)), which does not overflow. */
static gs_term
softplus(on_import *im, gs_term x) {
  gs_term e =
      t_compute(im, "exp", t_compute(im, "neg", t_compute(im, "abs", x)));
  return t_fold(im, "add", t_compute(im, "relu", x),
                t_compute(im, "log", t_offset(im, 1, e)));
}

/* x above 0 ? x : alpha (exp(x) - 1); the exponent is held at most 0. */
static gs_term
elu(on_import *im, gs_term x, double alpha) {
  gs_term below =
      t_compute(im, "neg", t_compute(im, "relu", t_compute(im, "neg", x)));
  below = t_offset(im, -1, t_compute(im, "exp", below));
  return t_fold(im, "add", t_compute(im, "relu", x), t_scale(im, alpha, below));
}

/* x above alpha ? x : 0 */
static gs_term
thresholded(on_import *im, gs_term x, double alpha) {
  gs_type t;
  if (!t_type(im, x, &t))
    return GS_NO_TERM;
  return t_select(im, t_offset(im, -alpha, x), x,
                  t_value(im, t.dtype, 0, t.dim, t.rank));
}

static gs_term
activation(on_import *im, gs_term x) {
  double alpha =
      on_attr_real(im, "alpha",
                   im->row->which == ON_LEAKY_RELU     ? 0.01
                   : im->row->which == ON_HARD_SIGMOID ? 0.2
                   : im->row->which == ON_SELU ? 1.67326319217681884765625
                                               : 1);
  switch (im->row->which) {
  case ON_HARD_SWISH:
    return t_fold(im, "mul", x, hard_sigmoid(im, x, 1.0 / 6, 0.5));
  case ON_HARD_SIGMOID:
    return hard_sigmoid(im, x, alpha, on_attr_real(im, "beta", 0.5));
  case ON_GELU:
    return gelu(im, x);
  case ON_LEAKY_RELU:
    return t_select(im, x, x, t_scale(im, alpha, x));
  case ON_SOFTPLUS:
    return softplus(im, x);
  case ON_SOFTSIGN:
    return t_fold(im, "div", x, t_offset(im, 1, t_compute(im, "abs", x)));
  case ON_ELU:
    return elu(im, x, alpha);
  case ON_SELU:
    return t_scale(im, on_attr_real(im, "gamma", 1.05070102214813232421875),
                   elu(im, x, alpha));
  case ON_MISH:
    return t_fold(im, "mul", x, t_compute(im, "tanh", softplus(im, x)));
  default:
    return thresholded(im, x, alpha);
  }
}

void
emit_activation(on_import *im) {
  on_out(im, 0, activation(im, on_term_in(im, 0)), on_type_in(im, 0));
}
