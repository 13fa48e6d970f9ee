/* SPDX-License-Identifier: MIT */
/* interpret_compute.c - the compute operators on one item.
 *
 * Floats are computed in f64, sums in the order of the elements; the caller
 * rounds the result to its dtype, once.  Integers are computed in 64 bits and
 * wrapped to the dtype at each step, which is exact. */
#include "glenside/interpret/interpret_state.h"
#include <assert.h>
#include <math.h>

/* --- elementwise ---------------------------------------------------------- */

/* The meaning of each elementwise operator, with the parameters a and b: REAL
 * on floats, WHOLE on integers, where 64 bits hold what the dtype wraps. */
#define REAL(id)  static double real_##id(double x, double a, double b)
#define WHOLE(id) static int64_t whole_##id(int64_t x, int64_t a, int64_t b)
#define UNUSED    (void)a, (void)b

REAL(NEG) {
  UNUSED;
  return -x;
}

WHOLE(NEG) {
  UNUSED;
  return -x;
}

REAL(ABS) {
  UNUSED;
  return fabs(x);
}

WHOLE(ABS) {
  UNUSED;
  return x < 0 ? -x : x;
}

REAL(RELU) {
  UNUSED;
  return x > 0 || isnan(x) ? x : 0;
}

WHOLE(RELU) {
  UNUSED;
  return x > 0 ? x : 0;
}

REAL(FLOOR) {
  UNUSED;
  return floor(x);
}

WHOLE(FLOOR) {
  UNUSED;
  return x;
}

REAL(SQUARE) {
  UNUSED;
  return x * x;
}

WHOLE(SQUARE) {
  UNUSED;
  return x * x;
}

REAL(CLIP) {
  return x < a ? a : x > b ? b : x;
}

WHOLE(CLIP) {
  return x < a ? a : x > b ? b : x;
}

REAL(SCALE) {
  UNUSED;
  return x * a;
}

WHOLE(SCALE) {
  UNUSED;
  return x * a;
}

REAL(OFFSET) {
  UNUSED;
  return x + a;
}

WHOLE(OFFSET) {
  UNUSED;
  return x + a;
}

REAL(SQRT) {
  UNUSED;
  return sqrt(x);
}

REAL(RSQRT) {
  UNUSED;
  return 1 / sqrt(x);
}

REAL(EXP) {
  UNUSED;
  return exp(x);
}

REAL(LOG) {
  UNUSED;
  return log(x);
}

REAL(TANH) {
  UNUSED;
  return tanh(x);
}

REAL(SIGMOID) {
  UNUSED;
  return 1 / (1 + exp(-x));
}

REAL(ERF) {
  UNUSED;
  return erf(x);
}

REAL(RECIP) {
  UNUSED;
  return 1 / x;
}

REAL(SIN) {
  UNUSED;
  return sin(x);
}

REAL(COS) {
  UNUSED;
  return cos(x);
}

REAL(ATAN) {
  UNUSED;
  return atan(x);
}

REAL(ROUND) {
  UNUSED;
  return rint(x);
}

/* A row of ops.def without its functions here does not compile. */
typedef struct meaning {
  double (*real)(double x, double a, double b);
  int64_t (*whole)(int64_t x, int64_t a, int64_t b);
} meaning;

#define OF_ALL(id)                                                             \
  { real_##id, whole_##id }
#define OF_FLOATS(id)                                                          \
  { real_##id, NULL }
#define OF_ELEMENTWISE(id, on) [GS_C_##id] = OF_##on(id),
#define OF_REDUCE(id, on)
#define OF_DOT(id, on)
#define OF_FOLD(id, on)
#define OF_CAST(id, on)
#define OF_SOFTMAX(id, on)
#define OF_SELECT(id, on)
#define OF_GATHER(id, on)
#define OF_LOOKUP(id, on)

static const meaning meanings[GS_COMPUTE_COUNT] = {
#define FOLD(...)
#define COMPUTE(id, name, kind, params, dtypes, ...) OF_##kind(id, dtypes)
#include "glenside/type/ops.def"
};

/* --- folds ---------------------------------------------------------------- */

double
gs_fold_real(gs_fold fold, double a, double b) {
  assert(fold < GS_FOLD_COUNT);
  switch (fold) {
  case GS_FOLD_ADD:
    return a + b;
  case GS_FOLD_SUB:
    return a - b;
  case GS_FOLD_MUL:
    return a * b;
  case GS_FOLD_DIV:
    return a / b;
  case GS_FOLD_MAX:
    return a > b || isnan(a) ? a : b;
  case GS_FOLD_MIN:
    return a < b || isnan(a) ? a : b;
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  return NAN;
}

/* --- kinds ---------------------------------------------------------------- */

double
in_fold_step(const in_operator *o, gs_fold fold, double a, double b) {
  assert(fold < GS_FOLD_COUNT);
  if (!o->integer)
    return gs_fold_real(fold, a, b);
  int64_t v = gs_fold_table[fold].whole((int64_t)a, (int64_t)b);
  return (double)gs_wrap(o->dtype, v);
}

static double
reduce(const in_operator *o, const double *in, int64_t n) {
  gs_fold fold = gs_compute_table[o->op].fold;
  double acc = in[0];
  for (int64_t k = 1; k < n; k++)
    acc = in_fold_step(o, fold, acc, in[k]);
  return o->op == GS_C_REDUCE_MEAN
             ? in_fold_step(o, GS_FOLD_DIV, acc, (double)n)
             : acc;
}

/* t items of m elements: the sum of the products over the items */
static double
dot_floats(const double *in, int64_t t, int64_t m) {
  double sum = 0;
  for (int64_t k = 0; k < m; k++) {
    double product = in[k];
    for (int64_t j = 1; j < t; j++)
      product *= in[j * m + k];
    sum += product;
  }
  return sum;
}

static double
dot_integers(const in_operator *o, const double *in, int64_t t, int64_t m) {
  uint64_t sum = 0;
  for (int64_t k = 0; k < m; k++) {
    uint64_t product = (uint64_t)(int64_t)in[k];
    for (int64_t j = 1; j < t; j++)
      product *= (uint64_t)(int64_t)in[j * m + k];
    sum += product;
  }
  return (double)gs_wrap(o->dtype, (int64_t)sum);
}

static void
fold(const in_operator *o, const double *in, int64_t t, int64_t m,
     double *out) {
  gs_fold by = gs_compute_table[o->op].fold;
  for (int64_t k = 0; k < m; k++) {
    out[k] = in[k];
    for (int64_t j = 1; j < t; j++)
      out[k] = in_fold_step(o, by, out[k], in[j * m + k]);
  }
}

double
in_element(const in_operator *o, double x) {
  assert(o->op < GS_COMPUTE_COUNT &&
         gs_compute_table[o->op].kind == GS_ELEMENTWISE);
  const meaning *m = &meanings[o->op];
  if (!o->integer)
    return m->real(x, o->a, o->b);
  int64_t v = m->whole((int64_t)x, (int64_t)o->a, (int64_t)o->b);
  return (double)gs_wrap(o->dtype, v);
}

static void
elementwise(const in_operator *o, const double *in, int64_t n, double *out) {
  for (int64_t k = 0; k < n; k++)
    out[k] = in_element(o, in[k]);
}

/* Between integers the low bits are kept; the caller's conversion saturates
 * and rounds. */
static void
cast(const in_operator *o, const double *in, int64_t n, double *out) {
  bool wraps = gs_dtype_table[o->from].integer && o->integer;
  for (int64_t k = 0; k < n; k++)
    out[k] = wraps ? (double)gs_wrap(o->dtype, (int64_t)in[k]) : in[k];
}

static void
softmax(const double *in, int64_t n, double *out) {
  double most = in[0], sum = 0;
  for (int64_t k = 1; k < n; k++)
    most = gs_fold_real(GS_FOLD_MAX, most, in[k]);
  for (int64_t k = 0; k < n; k++)
    sum += exp(in[k] - most);
  for (int64_t k = 0; k < n; k++)
    out[k] = exp(in[k] - most) / sum;
}

static void
select_items(const double *in, int64_t m, double *out) {
  for (int64_t k = 0; k < m; k++)
    out[k] = in[k] > 0 ? in[m + k] : in[2 * m + k];
}

/* m indices behind a table of n. */
static void
gather(const double *in, int64_t n, int64_t m, double *out) {
  for (int64_t k = 0; k < m; k++) {
    double at = in[n + k];
    int64_t j = !(at > 0) ? 0 : at >= (double)n ? n - 1 : (int64_t)at;
    out[k] = in[j];
  }
}

/* By rounding: a number that the dtype is too narrow for is another one. */
static double
moved_by(const bs_values *values, bs_value o, gs_dtype dtype) {
  double written = gs_parameter_value(values, o, 0, GS_F64);
  double moved = fabs(written - gs_parameter_value(values, o, 0, dtype));
  bool rounded = moved <= ldexp(fabs(written), -gs_float_digits(GS_F32));
  return rounded ? moved : 0;
}

in_operator
in_prepare(const bs_values *values, bs_value o, gs_dtype from, gs_dtype dtype) {
  assert(from < GS_DTYPE_COUNT && dtype < GS_DTYPE_COUNT);
  in_operator x = {.from = from,
                   .dtype = dtype,
                   .integer = gs_dtype_table[dtype].integer,
                   .a = gs_parameter_value(values, o, 0, dtype),
                   .b = gs_parameter_value(values, o, 1, dtype)};
  x.moved = moved_by(values, o, dtype);
  gs_compute_of(values, o, &x.op);
  if (x.op == GS_C_LOOKUP)
    x.table = gs_lookup_table(values, o);
  return x;
}

void
in_compute(const in_operator *o, const gs_type *t, const double *in,
           double *out) {
  assert(o->op < GS_COMPUTE_COUNT && gs_is_type(t));
  int64_t n = gs_prod(t->dim + t->access, t->rank - t->access);
  int64_t items = t->rank > t->access ? t->dim[t->access] : 1, m = n / items;
  switch (gs_compute_table[o->op].kind) {
  case GS_REDUCE:
    out[0] = reduce(o, in, n);
    return;
  case GS_DOT:
    out[0] =
        o->integer ? dot_integers(o, in, items, m) : dot_floats(in, items, m);
    return;
  case GS_FOLD:
    fold(o, in, items, m, out);
    return;
  case GS_ELEMENTWISE:
    elementwise(o, in, n, out);
    return;
  case GS_CAST:
    cast(o, in, n, out);
    return;
  case GS_SOFTMAX:
    softmax(in, n, out);
    return;
  case GS_SELECT:
    select_items(in, m, out);
    return;
  case GS_GATHER:
    gather(in, m, m, out);
    return;
  case GS_LOOKUP:
    gather(in, o->table, n - o->table, out);
    return;
  }
}
