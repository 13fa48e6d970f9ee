/* SPDX-License-Identifier: MIT */
/* interpret_bound.c - how far rounding can move a result: running error
 * analysis.
 *
 * Beside each value x stands a bound e of what other orders of sums, fused
 * operations and other library functions may change of it.  An operator hands
 * on the bounds of its operands by its own steepness and adds its rounding,
 * some units u of the result.  Of a sum of n terms that is min(n, 4 sqrt n) u
 * of their absolute values: errors of rounding are as good as independent.
 * Where a value may lie on either side of a jump (floor, select, gather,
 * division by what may be 0), the bound is as large as the jump.
 *
 * The bounds are meant to tell an ill-conditioned element from a wrong one, and
 * are no proof. */
#include "glenside/interpret/interpret_state.h"
#include <assert.h>
#include <math.h>

/* Units that a library function may be off. */
#define LIBRARY 4

/* How far rounding moves a number near 1; integers are not rounded. */
static double
unit_of(gs_dtype dtype) {
  assert(dtype < GS_DTYPE_COUNT);
  return gs_dtype_table[dtype].integer ? 0 : ldexp(1, -gs_float_digits(dtype));
}

/* What the operator computes in. */
static double
unit(const in_operator *o) {
  return gs_is_half(o->dtype) ? 0x1p-24 : unit_of(o->dtype);
}

static double
of_sum(const in_operator *o, int64_t n) {
  return fmin((double)n, 4 * sqrt((double)n)) * unit(o);
}

/* The larger one, or NaN. */
static double
worse(double a, double b) {
  return isnan(a) || a > b ? a : b;
}

/* Is the result of a + b, a - b or a * b that number itself, of all dtypes that
 * it is computed in?  Then no rounding moves it. */
static bool
is_itself(const in_operator *o, gs_fold fold, double a, double b,
          double result) {
  gs_dtype least = gs_is_half(o->dtype) ? GS_F32 : o->dtype;
  if (gs_convert(least, result) != result)
    return false;
  if (fold == GS_FOLD_MUL)
    return fma(a, b, -result) == 0 && (result != 0 || a == 0 || b == 0);
  if (fold != GS_FOLD_ADD && fold != GS_FOLD_SUB)
    return false;
  b = fold == GS_FOLD_SUB ? -b : b;
  double part = result - a; /* b, but for what was rounded */
  return (a - (result - part)) + (b - part) == 0;
}

/* ---- pairs ---- */

static double
of_quotient(double a, double ea, double b, double eb) {
  double least = fabs(b) - eb;
  if (ea == 0 && eb == 0)
    return 0;
  return least > 0 ? (ea + fabs(a / b) * eb) / least : INFINITY;
}

static double
of_step(const in_operator *o, gs_fold fold, double a, double ea, double b,
        double eb, double result) {
  double rounding =
      is_itself(o, fold, a, b, result) ? 0 : unit(o) * fabs(result);
  switch (fold) {
  case GS_FOLD_MAX:
  case GS_FOLD_MIN:
    return fmax(ea, eb);
  case GS_FOLD_MUL:
    return fabs(a) * eb + fabs(b) * ea + ea * eb + rounding;
  case GS_FOLD_DIV: /* of integers it is cut */
    return of_quotient(a, ea, b, eb) + rounding +
           (o->integer && (ea > 0 || eb > 0));
  case GS_FOLD_ADD:
  case GS_FOLD_SUB:
    return ea + eb + rounding;
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  return INFINITY;
}

static void
of_fold(const in_operator *o, int64_t t, int64_t m, const double *in,
        const double *e, double *out) {
  gs_fold fold = gs_compute_table[o->op].fold;
  for (int64_t k = 0; k < m; k++) {
    double pair[2] = {in[k], 0};
    out[k] = e[k];
    for (int64_t j = 1; j < t; j++) {
      pair[1] = in[j * m + k];
      double next = in_fold_step(o, fold, pair[0], pair[1]);
      out[k] = of_step(o, fold, pair[0], out[k], pair[1], e[j * m + k], next);
      pair[0] = next;
    }
  }
}

/* ---- many ---- */

/* Products of t items of m: the sum of their errors and of their sizes. */
static void
of_products(int64_t t, int64_t m, const double *in, const double *e,
            double *error, double *size) {
  for (int64_t k = 0; k < m; k++) {
    double product = 1, most = 1;
    for (int64_t j = 0; j < t; j++) {
      product *= fabs(in[j * m + k]);
      most *= fabs(in[j * m + k]) + e[j * m + k];
    }
    *error += most - product;
    *size += most;
  }
}

static double
of_reduction(const in_operator *o, int64_t n, const double *in, const double *e,
             double result) {
  double error = 0, size = 0, most = 0;
  for (int64_t k = 0; k < n; k++)
    most = worse(e[k], most);
  switch (gs_compute_table[o->op].fold) {
  case GS_FOLD_MAX:
  case GS_FOLD_MIN:
    return most;
  case GS_FOLD_MUL:
    of_products(n, 1, in, e, &error, &size);
    return error + (double)n * unit(o) * size;
  case GS_FOLD_ADD:
    of_products(1, n, in, e, &error, &size);
    error += of_sum(o, n) * size;
    return o->op == GS_C_REDUCE_MEAN
               ? error / (double)n + unit(o) * fabs(result)
               : error;
  case GS_FOLD_SUB:
  case GS_FOLD_DIV:
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  return INFINITY;
}

static double
of_dot(const in_operator *o, int64_t t, int64_t m, const double *in,
       const double *e) {
  double error = 0, size = 0;
  of_products(t, m, in, e, &error, &size);
  return error + (of_sum(o, m) + (double)t * unit(o)) * size;
}

static void
of_softmax(const in_operator *o, int64_t n, const double *in, const double *e,
           const double *result, double *out) {
  double most = 0, top = in[0];
  for (int64_t k = 0; k < n; k++) {
    most = worse(e[k], most);
    top = fmax(top, in[k]);
  }
  for (int64_t k = 0; k < n; k++) {
    double steps = of_sum(o, n) + (2 * LIBRARY + fabs(in[k] - top)) * unit(o);
    out[k] = result[k] * (expm1(2 * most) + steps);
  }
}

/* ---- one by one ---- */

static bool
is_exact(gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  return gs_compute_table[op].digits == GS_DIGITS_EXACT;
}

static bool
rounds_element(const in_operator *o, double x, double result) {
  switch (gs_compute_table[o->op].form) {
  case GS_FORM_SCALE:
    return !is_itself(o, GS_FOLD_MUL, x, o->a, result);
  case GS_FORM_OFFSET:
    return !is_itself(o, GS_FOLD_ADD, x, o->a, result);
  case GS_FORM_SQUARE:
    return !is_itself(o, GS_FOLD_MUL, x, x, result);
  case GS_FORM_NONE:
  case GS_FORM_NEGATE:
  case GS_FORM_ABS:
  case GS_FORM_RELU:
  case GS_FORM_FLOOR:
  case GS_FORM_CLIP:
  case GS_FORM_FUNCTION:
    break;
  }
  return !is_exact(o->op);
}

/* What is no number on one side may be none here; 1/x has a pole. */
static double
between_ends(const in_operator *o, double x, double e, double result) {
  bool pole = gs_compute_table[o->op].domain == GS_DOMAIN_NONZERO;
  if ((pole && e >= fabs(x)) || (o->integer && !isfinite(e)))
    return INFINITY;
  double a = in_element(o, x - e), b = in_element(o, x + e);
  double spread = worse(fabs(a - result), fabs(b - result));
  return isnan(spread) ? INFINITY : spread;
}

/* Rules add and multiply parameters of these two as they are written. */
static double
of_parameter(const in_operator *o, double x) {
  gs_form form = gs_compute_table[o->op].form;
  return o->moved == 0            ? 0
         : form == GS_FORM_OFFSET ? o->moved
         : form == GS_FORM_SCALE  ? o->moved * fabs(x)
                                  : 0;
}

static double
of_element(const in_operator *o, double x, double e, double result) {
  double rounding = of_parameter(o, x);
  if (rounds_element(o, x, result))
    rounding += LIBRARY * unit(o) * fabs(result);
  double steepness = gs_compute_table[o->op].steepness;
  if (e == 0)
    return rounding;
  if (steepness != GS_BY_ENDS)
    return steepness * e + rounding;
  return between_ends(o, x, e, result) + rounding;
}

static double
of_cast(const in_operator *o, double x, double e, double result) {
  if (e == 0 || gs_dtype_table[o->from].integer || !o->integer)
    return e;
  return worse(fabs(gs_convert(o->dtype, x - e) - result),
               fabs(gs_convert(o->dtype, x + e) - result));
}

/* Either side, where the condition is not sure. */
static void
of_select(int64_t m, const double *in, const double *e, double *out) {
  const double *then = in + m, *other = in + 2 * m;
  for (int64_t k = 0; k < m; k++) {
    bool first = in[k] > 0, sure = e[k] == 0 || fabs(in[k]) > e[k];
    double mine = e[first ? m + k : 2 * m + k];
    double its = e[first ? 2 * m + k : m + k] + fabs(then[k] - other[k]);
    out[k] = sure ? mine : worse(mine, its);
  }
}

static int64_t
place_in(double at, int64_t m) {
  return !(at > 0) ? 0 : at >= (double)m ? m - 1 : (int64_t)at;
}

/* Any element that the index may mean; of more than these, all bets are off. */
#define MOST_MEANT 4096

static void
of_gather(int64_t n, int64_t m, const double *in, const double *e,
          const double *result, double *out) {
  for (int64_t k = 0; k < m; k++) {
    int64_t lo = place_in(in[n + k] - e[n + k], n);
    int64_t hi = place_in(in[n + k] + e[n + k], n);
    out[k] = hi - lo > MOST_MEANT ? INFINITY : 0;
    for (int64_t j = lo; j <= hi && hi - lo <= MOST_MEANT; j++)
      out[k] = worse(e[j] + (lo < hi ? fabs(in[j] - result[k]) : 0), out[k]);
  }
}

/* ---- an item ---- */

/* Does the result of an integer operator lie where it may have wrapped? */
static bool
may_wrap(const in_operator *o, double result, double e) {
  bool saturates = o->op == GS_C_CAST && !gs_dtype_table[o->from].integer;
  return e > 0 && !saturates &&
         (gs_convert(o->dtype, result - e) != result - e ||
          gs_convert(o->dtype, result + e) != result + e);
}

/* Storing rounds what is known to the last digit only if it is no number of the
 * dtype. */
static double
of_store(const in_operator *o, double result, double e) {
  bool itself = e == 0 && gs_convert(o->dtype, result) == result;
  return itself || is_exact(o->op) ? 0 : unit_of(o->dtype) * fabs(result);
}

/* Storing rounds; integers wrap, which is a jump.  Of a result that is no
 * finite number nothing is said. */
static void
finish(const in_operator *o, int64_t n, const double *result, double *out) {
  for (int64_t k = 0; k < n; k++) {
    if (!isfinite(result[k]))
      out[k] = 0;
    else if (isnan(out[k]))
      out[k] = INFINITY;
    else if (!o->integer)
      out[k] += of_store(o, result[k], out[k]);
    else if (may_wrap(o, result[k], out[k] = ceil(out[k])))
      out[k] = INFINITY;
  }
}

void
in_bound(const in_operator *o, const gs_type *t, const double *in,
         const double *e, const double *result, double *out) {
  assert(o->op < GS_COMPUTE_COUNT && gs_is_type(t));
  int64_t n = gs_prod(t->dim + t->access, t->rank - t->access);
  int64_t items = t->rank > t->access ? t->dim[t->access] : 1, m = n / items;
  int64_t made = n;
  switch (gs_compute_table[o->op].kind) {
  case GS_REDUCE:
    out[0] = of_reduction(o, n, in, e, result[0]);
    made = 1;
    break;
  case GS_DOT:
    out[0] = of_dot(o, items, m, in, e);
    made = 1;
    break;
  case GS_FOLD:
    of_fold(o, items, made = m, in, e, out);
    break;
  case GS_ELEMENTWISE:
    for (int64_t k = 0; k < n; k++)
      out[k] = of_element(o, in[k], e[k], result[k]);
    break;
  case GS_CAST:
    for (int64_t k = 0; k < n; k++)
      out[k] = of_cast(o, in[k], e[k], gs_convert(o->dtype, result[k]));
    break;
  case GS_SOFTMAX:
    of_softmax(o, n, in, e, result, out);
    break;
  case GS_SELECT:
    of_select(made = m, in, e, out);
    break;
  case GS_GATHER:
    of_gather(m, made = m, in, e, result, out);
    break;
  case GS_LOOKUP:
    made = n - o->table;
    of_gather(o->table, made, in, e, result, out);
    break;
  }
  finish(o, made, result, out);
}
