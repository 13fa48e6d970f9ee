/* interpret_compute.c - the compute operators on one item.
 *
 * Floats are computed in f64, sums in the order of the elements; the caller
 * rounds the result to its dtype, once.  Integers are computed in 64 bits and
 * wrapped to the dtype at each step, which is exact. */
#include "glenside/interpret_state.h"
#include <math.h>

/* A literal is a value of the dtype; narrow floats compute in f32. */
static double
parameter(const bs_values *values, bs_value o, uint32_t k, gs_dtype dtype) {
  bs_value v = gs_compute_param(values, o, k);
  if (bs_kind_of(values, v) != BS_KIND_INT &&
      bs_kind_of(values, v) != BS_KIND_REAL)
    return 0;
  double x = bs_as_real(values, v);
  bool narrow = dtype == GS_F32 || dtype == GS_BF16;
  return narrow ? gs_convert(GS_F32, x) : x;
}

/* --- integers ------------------------------------------------------------- */

static int64_t
div_integers(int64_t a, int64_t b) {
  return b == 0 ? 0 : a / b; /* 64 bits: the lowest of 32 / -1 is no trap */
}

/* Wrapping arithmetic of 64 bits; the low bits are those of any width. */
static int64_t
step_integers(gs_compute op, int64_t a, int64_t b) {
  switch (op) {
  case GS_C_ADD:
    return (int64_t)((uint64_t)a + (uint64_t)b);
  case GS_C_SUB:
    return (int64_t)((uint64_t)a - (uint64_t)b);
  case GS_C_MUL:
    return (int64_t)((uint64_t)a * (uint64_t)b);
  case GS_C_DIV:
    return div_integers(a, b);
  case GS_C_MAX:
    return a > b ? a : b;
  default:
    return a < b ? a : b;
  }
}

static int64_t
elementwise_integer(const in_operator *o, int64_t x) {
  switch (o->op) {
  case GS_C_NEG:
    return -x;
  case GS_C_ABS:
    return x < 0 ? -x : x;
  case GS_C_RELU:
    return x > 0 ? x : 0;
  case GS_C_SQUARE:
    return x * x;
  case GS_C_CLIP:
    return x < (int64_t)o->a   ? (int64_t)o->a
           : x > (int64_t)o->b ? (int64_t)o->b
                               : x;
  case GS_C_SCALE:
    return x * (int64_t)o->a;
  case GS_C_OFFSET:
    return x + (int64_t)o->a;
  default: /* floor */
    return x;
  }
}

/* --- floats --------------------------------------------------------------- */

static double
step_floats(gs_compute op, double a, double b) {
  switch (op) {
  case GS_C_ADD:
    return a + b;
  case GS_C_SUB:
    return a - b;
  case GS_C_MUL:
    return a * b;
  case GS_C_DIV:
    return a / b;
  case GS_C_MAX:
    return a > b || isnan(a) ? a : b;
  default:
    return a < b || isnan(a) ? a : b;
  }
}

static double
elementwise_float(const in_operator *o, double x) {
  switch (o->op) {
  case GS_C_NEG:
    return -x;
  case GS_C_ABS:
    return fabs(x);
  case GS_C_RELU:
    return x > 0 || isnan(x) ? x : 0;
  case GS_C_SQRT:
    return sqrt(x);
  case GS_C_RSQRT:
    return 1 / sqrt(x);
  case GS_C_EXP:
    return exp(x);
  case GS_C_LOG:
    return log(x);
  case GS_C_TANH:
    return tanh(x);
  case GS_C_SIGMOID:
    return 1 / (1 + exp(-x));
  case GS_C_ERF:
    return erf(x);
  case GS_C_RECIP:
    return 1 / x;
  case GS_C_FLOOR:
    return floor(x);
  case GS_C_SQUARE:
    return x * x;
  case GS_C_CLIP:
    return x < o->a ? o->a : x > o->b ? o->b : x;
  case GS_C_SCALE:
    return x * o->a;
  default: /* offset */
    return x + o->a;
  }
}

/* --- kinds ---------------------------------------------------------------- */

double
in_fold_step(const in_operator *o, gs_compute op, double a, double b) {
  if (!o->integer)
    return step_floats(op, a, b);
  int64_t v = step_integers(op, (int64_t)a, (int64_t)b);
  return (double)gs_wrap(o->dtype, v);
}

static gs_compute
fold_of(gs_compute reduction) {
  switch (reduction) {
  case GS_C_REDUCE_MAX:
    return GS_C_MAX;
  case GS_C_REDUCE_MIN:
    return GS_C_MIN;
  case GS_C_REDUCE_PROD:
    return GS_C_MUL;
  default:
    return GS_C_ADD;
  }
}

static double
reduce(const in_operator *o, const double *in, int64_t n) {
  gs_compute op = fold_of(o->op);
  double acc = in[0];
  for (int64_t k = 1; k < n; k++)
    acc = in_fold_step(o, op, acc, in[k]);
  return o->op == GS_C_REDUCE_MEAN ? in_fold_step(o, GS_C_DIV, acc, (double)n)
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
  for (int64_t k = 0; k < m; k++) {
    out[k] = in[k];
    for (int64_t j = 1; j < t; j++)
      out[k] = in_fold_step(o, o->op, out[k], in[j * m + k]);
  }
}

double
in_element(const in_operator *o, double x) {
  if (!o->integer)
    return elementwise_float(o, x);
  return (double)gs_wrap(o->dtype, elementwise_integer(o, (int64_t)x));
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
    most = step_floats(GS_C_MAX, most, in[k]);
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

static void
gather(const double *in, int64_t m, double *out) {
  for (int64_t k = 0; k < m; k++) {
    double at = in[m + k];
    int64_t j = !(at > 0) ? 0 : at >= (double)m ? m - 1 : (int64_t)at;
    out[k] = in[j];
  }
}

in_operator
in_prepare(const bs_values *values, bs_value o, gs_dtype from, gs_dtype dtype) {
  in_operator x = {.from = from,
                   .dtype = dtype,
                   .integer = gs_dtype_table[dtype].integer,
                   .a = parameter(values, o, 0, dtype),
                   .b = parameter(values, o, 1, dtype)};
  gs_compute_of(values, o, &x.op);
  return x;
}

void
in_compute(const in_operator *o, const gs_type *t, const double *in,
           double *out) {
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
    gather(in, m, out);
    return;
  }
}
