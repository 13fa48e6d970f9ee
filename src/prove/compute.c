/* compute.c - compute operators on values: one item in, the result items out.
 *
 * What is true of real numbers is used where it makes normal forms meet:
 * quotients are products with reciprocals, softmax is a quotient of
 * exponentials, relu and clip are extrema.  bf16 operators that are more than
 * sums, products and extrema stay as they are. */
#include "prove/value.h"
#include "glenside/tensor.h"
#include <stdlib.h>

static bool
is_integer(gs_dtype d) {
  return gs_dtype_table[d].integer;
}

/* f32 and f64: taken as the real numbers. */
static bool
is_real(gs_dtype d) {
  return d == GS_F32 || d == GS_F64;
}

static pv_value
unary(pv_values *v, gs_dtype d, gs_compute op, bool nonnegative, pv_value x) {
  return pv_apply_op(v, d, op, 0, nonnegative, &x, 1);
}

/* A number that the interpreter gives exactly as well. */
static bool
exact_real(const pv_values *v, pv_value x, double *out) {
  pv_number number, back;
  if (!pv_is_number(v, x, &number) || number.den != 1)
    return false;
  *out = pv_number_real(number);
  return pv_number_of_real(GS_F64, *out, &back) &&
         (number.num % 2 == 0 || pv_number_same(number, back));
}

/* Extrema go outwards through what never decreases. */
static pv_value
through_extremum(pv_values *v, gs_dtype d, pv_value x,
                 pv_value (*f)(pv_values *, gs_dtype, pv_value)) {
  const pv_node *node = pv_at(v, x);
  bool max = node->kind == PV_MAX;
  uint32_t n = node->n;
  v->failed |= ++v->depth > PV_MAX_DEPTH;
  pv_value *args = bs_calloc(v->heap, n, sizeof *args);
  for (uint32_t k = 0; k < n && !v->failed; k++)
    args[k] = f(v, d, pv_words(v, x)[k]);
  pv_value made = pv_extremum(v, d, max, args, n);
  bs_free(v->heap, args);
  v->depth--;
  return made;
}

static bool
is_extremum(const pv_values *v, gs_dtype d, pv_value x) {
  const pv_node *node = pv_at(v, x);
  return node->dtype == d && (node->kind == PV_MAX || node->kind == PV_MIN);
}

/* --- reciprocals ---------------------------------------------------------- */

static pv_value
recip_of_factor(pv_values *v, gs_dtype d, pv_value factor, int32_t power) {
  if (pv_at(v, factor)->positive)
    return pv_power(v, d, factor, -power);
  return pv_power(
      v, d, unary(v, d, GS_C_RECIP, pv_at(v, factor)->nonnegative, factor),
      power);
}

/* 1 / (c * product): the reciprocals of number and factors. */
static pv_value
recip_of_monomial(pv_values *v, gs_dtype d, const pv_part *part) {
  pv_number inverse;
  if (!pv_number_inverse(part->times, &inverse)) {
    v->failed = true;
    return 0;
  }
  pv_value made = pv_number_value(v, d, inverse);
  uint32_t n = pv_at(v, part->product)->n;
  for (uint32_t k = 0; k < n && made; k += 2) {
    const uint32_t *w = pv_words(v, part->product) + k;
    made = pv_multiply(v, d, made, recip_of_factor(v, d, w[0], (int32_t)w[1]));
  }
  return made;
}

/* The power of a factor in a product; 0 when it is not there. */
static int32_t
power_in(const pv_values *v, pv_value product, pv_value factor) {
  const uint32_t *w = pv_words(v, product);
  for (uint32_t k = 0; k < pv_at(v, product)->n; k += 2)
    if (w[k] == factor)
      return (int32_t)w[k + 1];
  return 0;
}

/* The power of a positive factor that all parts of a sum have, or 0. */
static int32_t
common_power(const pv_values *v, pv_value sum, pv_value factor) {
  int32_t common = 0;
  for (uint32_t k = 0; k < pv_n_parts(v, sum); k++) {
    int32_t p = power_in(v, pv_part_at(v, sum, k).product, factor);
    if (!p || (k && (p < 0) != (common < 0)))
      return 0;
    if (!k || (p < 0 ? p > common : p < common))
      common = p;
  }
  return common;
}

/* Takes positive factors that all parts share, then the number of the first
 * part, out of a sum; *outside is what it was multiplied by. */
static pv_value
take_common(pv_values *v, gs_dtype d, pv_value sum, pv_value *outside) {
  pv_part first = pv_part_at(v, sum, 0);
  pv_number inverse;
  *outside = pv_number_value(v, d, PV_ONE);
  uint32_t n = pv_at(v, first.product)->n;
  for (uint32_t k = 0; k < n && sum && *outside; k += 2) {
    pv_value factor = pv_words(v, first.product)[k];
    int32_t p = pv_at(v, factor)->positive ? common_power(v, sum, factor) : 0;
    if (!p)
      continue;
    sum = pv_multiply(v, d, sum, pv_power(v, d, factor, -p));
    *outside = pv_multiply(v, d, *outside, pv_power(v, d, factor, p));
  }
  if (!sum || pv_at(v, sum)->kind != PV_SUM)
    return sum;
  first = pv_part_at(v, sum, 0);
  if (!pv_number_inverse(first.times, &inverse))
    v->failed = true;
  *outside = pv_scale(v, d, first.times, *outside);
  return pv_scale(v, d, inverse, sum);
}

static pv_value
recip(pv_values *v, gs_dtype d, pv_value x) {
  pv_number number, inverse;
  pv_part part;
  pv_value outside;
  if (!is_real(d))
    return unary(v, d, GS_C_RECIP, pv_at(v, x)->nonnegative, x);
  if (pv_is_number(v, x, &number))
    return pv_number_inverse(number, &inverse)
               ? pv_number_value(v, d, inverse)
               : unary(v, d, GS_C_RECIP, false, x);
  if (pv_is_monomial(v, x, &part))
    return recip_of_monomial(v, d, &part);
  if (pv_at(v, x)->kind != PV_SUM)
    return recip_of_factor(v, d, x, 1);
  x = take_common(v, d, x, &outside);
  if (!x || !outside)
    return 0;
  if (pv_at(v, x)->kind != PV_SUM || pv_is_monomial(v, x, &part))
    return pv_multiply(v, d, recip(v, d, x), recip(v, d, outside));
  x = unary(v, d, GS_C_RECIP, pv_at(v, x)->nonnegative, x);
  return pv_multiply(v, d, x, recip(v, d, outside));
}

/* The x of a lone 1 / x, or 0. */
static pv_value
recip_arg(const pv_values *v, gs_dtype d, pv_value x) {
  const pv_node *n = pv_at(v, x);
  bool is = n->kind == PV_APPLY && n->op == GS_C_RECIP && n->dtype == d;
  return is ? pv_words(v, x)[0] : 0;
}

static pv_value
root(pv_values *v, gs_dtype d, pv_value x) {
  double real;
  if (exact_real(v, x, &real) && (real == 0 || real == 1))
    return x;
  pv_value below = is_real(d) ? recip_arg(v, d, x) : 0;
  if (below)
    return recip(v, d, unary(v, d, GS_C_SQRT, true, below));
  return unary(v, d, GS_C_SQRT, true, x);
}

static pv_value
divide(pv_values *v, gs_dtype d, pv_value a, pv_value b) {
  pv_value args[2] = {a, b};
  pv_number number;
  if (pv_is_number(v, b, &number) && pv_number_same(number, PV_ONE))
    return a;
  if (is_integer(d) && pv_is_number(v, a, &number) && !number.num)
    return a;
  if (is_real(d))
    return pv_multiply(v, d, a, recip(v, d, b));
  return pv_apply_op(v, d, GS_C_DIV, 0, false, args, 2);
}

/* --- elementwise ---------------------------------------------------------- */

static pv_value
absolute(pv_values *v, gs_dtype d, pv_value x) {
  pv_number number;
  pv_value minus;
  if (d == GS_U8 || (!is_integer(d) && pv_at(v, x)->nonnegative))
    return x;
  if (pv_at(v, x)->kind == PV_APPLY && pv_at(v, x)->op == GS_C_ABS &&
      pv_at(v, x)->dtype == d)
    return x;
  minus = pv_scale(v, d, pv_number_of_int(d, -1), x);
  if (pv_is_number(v, x, &number))
    return number.num < 0 ? minus : x;
  if (!minus)
    return 0;
  return unary(v, d, GS_C_ABS, !is_integer(d), x < minus ? x : minus);
}

static pv_value
floor_of(pv_values *v, gs_dtype d, pv_value x) {
  pv_number number;
  const pv_node *n = pv_at(v, x);
  if (is_integer(d) || (n->kind == PV_APPLY && n->op == GS_C_FLOOR))
    return x;
  if (pv_is_number(v, x, &number) && pv_number_floor(number, &number))
    return pv_number_value(v, d, number);
  if (is_extremum(v, d, x))
    return through_extremum(v, d, x, floor_of);
  return unary(v, d, GS_C_FLOOR, n->nonnegative, x);
}

static pv_value exponential(pv_values *, gs_dtype, pv_value);

/* x ^ power, of any value */
static pv_value
raise(pv_values *v, gs_dtype d, pv_value x, int32_t power) {
  pv_value made = pv_number_value(v, d, PV_ONE);
  if (x && power < 0) {
    x = recip(v, d, x);
    power = -power;
  }
  for (int32_t k = 0; k < power && made && x; k++)
    made = pv_multiply(v, d, made, x);
  return x ? made : 0;
}

/* exp(c * product) is exp(product) ^ c for a whole c. */
static pv_value
exponential_of_part(pv_values *v, gs_dtype d, pv_part part) {
  int32_t power = part.times.num < 0 ? -1 : 1;
  pv_value factor = pv_lone_factor(v, part.product);
  part.times.num *= power;
  int64_t whole;
  if (pv_number_is_whole(part.times, &whole) && whole < 100) {
    power *= (int32_t)whole;
    part.times = PV_ONE;
  }
  if (factor && is_extremum(v, d, factor) && pv_number_same(part.times, PV_ONE))
    return raise(v, d, through_extremum(v, d, factor, exponential), power);
  uint32_t mark = pv_sum_open(v);
  bs_push(v->heap, &v->parts, part);
  pv_value x = pv_sum_close(v, d, mark);
  x = x ? unary(v, d, GS_C_EXP, true, x) : 0;
  return x ? pv_power(v, d, x, power) : 0;
}

/* Of a sum: the product of the parts' exponentials. */
static pv_value
exponential(pv_values *v, gs_dtype d, pv_value x) {
  double real;
  if (exact_real(v, x, &real) && real == 0)
    return pv_number_value(v, d, PV_ONE);
  if (is_extremum(v, d, x))
    return through_extremum(v, d, x, exponential);
  if (!is_real(d) || pv_at(v, x)->kind != PV_SUM)
    return unary(v, d, GS_C_EXP, true, x);
  pv_value made = pv_number_value(v, d, PV_ONE);
  uint32_t n = pv_n_parts(v, x);
  for (uint32_t k = 0; k < n && made; k++) {
    pv_part part = pv_part_at(v, x, k);
    made = pv_multiply(v, d, made, exponential_of_part(v, d, part));
  }
  return made;
}

static pv_value
logarithm(pv_values *v, gs_dtype d, pv_value x) {
  double real;
  if (exact_real(v, x, &real) && real == 1)
    return pv_number_value(v, d, PV_ZERO);
  return unary(v, d, GS_C_LOG, false, x);
}

/* tanh and erf: rising, and zero at zero */
static pv_value
sigmoidal(pv_values *v, gs_dtype d, gs_compute op, pv_value x) {
  double real;
  if (exact_real(v, x, &real) && real == 0)
    return x;
  return unary(v, d, op, pv_at(v, x)->nonnegative, x);
}

static pv_value
hyperbolic(pv_values *v, gs_dtype d, pv_value x) {
  return is_extremum(v, d, x) ? through_extremum(v, d, x, hyperbolic)
                              : sigmoidal(v, d, GS_C_TANH, x);
}

static pv_value
error_function(pv_values *v, gs_dtype d, pv_value x) {
  return is_extremum(v, d, x) ? through_extremum(v, d, x, error_function)
                              : sigmoidal(v, d, GS_C_ERF, x);
}

static pv_value
extremum_with(pv_values *v, gs_dtype d, bool max, pv_value x, pv_value bound) {
  pv_value args[2] = {x, bound};
  return pv_extremum(v, d, max, args, 2);
}

static pv_value
sigmoid(pv_values *v, gs_dtype d, pv_value x) {
  if (is_extremum(v, d, x))
    return through_extremum(v, d, x, sigmoid);
  if (!is_real(d))
    return unary(v, d, GS_C_SIGMOID, true, x);
  pv_value e = pv_scale(v, d, pv_number_of_int(d, -1), x);
  e = e ? exponential(v, d, e) : 0;
  uint32_t mark = pv_sum_open(v);
  pv_sum_add(v, d, PV_ONE, e);
  pv_sum_add(v, d, PV_ONE, pv_number_value(v, d, PV_ONE));
  pv_value sum = pv_sum_close(v, d, mark);
  return sum ? recip(v, d, sum) : 0;
}

/* Whether every value of `from` is one of `to`. */
static bool
holds(gs_dtype to, gs_dtype from) {
  static const uint8_t whole_bits[] = {
      [GS_F32] = 24, [GS_F64] = 53, [GS_BF16] = 8};
  if (to == from)
    return true;
  if (is_integer(to))
    return is_integer(from) && to == GS_I32;
  if (is_integer(from))
    return 8 * gs_dtype_table[from].bytes -
               (gs_dtype_table[from].is_signed ? 1 : 0) <=
           whole_bits[to];
  return whole_bits[to] > whole_bits[from];
}

/* Of one factor: itself where it is of the dtype already. */
static pv_value
narrow_factor(pv_values *v, gs_dtype to, pv_value x) {
  return pv_at(v, x)->dtype == to
             ? x
             : pv_apply_op(v, to, GS_C_CAST, 0, false, &x, 1);
}

/* The low bits of sums and products are those of the low bits. */
static pv_value
narrow(pv_values *v, gs_dtype to, pv_value x) {
  pv_number number;
  if (pv_is_number(v, x, &number))
    return pv_number_value(v, to, pv_number_of_int(to, number.num));
  if (pv_at(v, x)->kind != PV_SUM)
    return narrow_factor(v, to, x);
  uint32_t n = pv_n_parts(v, x), mark = pv_sum_open(v);
  for (uint32_t k = 0; k < n && !v->failed; k++) {
    pv_part part = pv_part_at(v, x, k);
    pv_value made =
        pv_number_value(v, to, pv_number_of_int(to, part.times.num));
    for (uint32_t i = 0; i < pv_at(v, part.product)->n && made; i += 2) {
      pv_value factor = pv_words(v, part.product)[i];
      uint32_t power = pv_words(v, part.product)[i + 1];
      factor = narrow_factor(v, to, factor);
      for (uint32_t p = 0; p < power && made; p++)
        made = pv_multiply(v, to, made, factor);
    }
    pv_sum_add(v, to, PV_ONE, made);
  }
  return pv_sum_close(v, to, mark);
}

static pv_value
cast(pv_values *v, gs_dtype from, gs_dtype to, pv_value x) {
  double real;
  if (holds(to, from))
    return pv_embed(v, to, x);
  if (is_integer(from) && is_integer(to))
    return narrow(v, to, x);
  if (exact_real(v, x, &real))
    return pv_real_value(v, to, gs_convert(to, real));
  return pv_apply_op(v, to, GS_C_CAST, 0, false, &x, 1);
}

static pv_value
parameter(pv_values *v, const pv_compute *c, uint32_t k) {
  bs_value p = gs_compute_param(c->values, c->o, k);
  return pv_real_value(v, c->dtype, bs_as_real(c->values, p));
}

static pv_value
elementwise(pv_values *v, const pv_compute *c, pv_value x) {
  gs_dtype d = c->dtype;
  pv_number number;
  if (!x)
    return 0;
  switch (c->op) {
  case GS_C_NEG:
    return pv_scale(v, d, pv_number_of_int(d, -1), x);
  case GS_C_ABS:
    return absolute(v, d, x);
  case GS_C_RELU:
    return extremum_with(v, d, true, x, pv_number_value(v, d, PV_ZERO));
  case GS_C_SQRT:
    return root(v, d, x);
  case GS_C_RSQRT:
    return is_real(d) ? recip(v, d, unary(v, d, GS_C_SQRT, true, x))
                      : unary(v, d, GS_C_RSQRT, true, x);
  case GS_C_SIGMOID:
    return sigmoid(v, d, x);
  case GS_C_RECIP:
    return recip(v, d, x);
  case GS_C_EXP:
    return exponential(v, d, x);
  case GS_C_LOG:
    return logarithm(v, d, x);
  case GS_C_TANH:
    return hyperbolic(v, d, x);
  case GS_C_ERF:
    return error_function(v, d, x);
  case GS_C_FLOOR:
    return floor_of(v, d, x);
  case GS_C_SQUARE:
    return pv_multiply(v, d, x, x);
  case GS_C_CLIP:
    x = extremum_with(v, d, true, x, parameter(v, c, 0));
    return x ? extremum_with(v, d, false, x, parameter(v, c, 1)) : 0;
  case GS_C_SCALE: {
    pv_value p = parameter(v, c, 0);
    return p && pv_is_number(v, p, &number) ? pv_scale(v, d, number, x)
                                            : pv_multiply(v, d, x, p);
  }
  case GS_C_OFFSET: {
    uint32_t mark = pv_sum_open(v);
    pv_sum_add(v, d, PV_ONE, x);
    pv_sum_add(v, d, PV_ONE, parameter(v, c, 0));
    return pv_sum_close(v, d, mark);
  }
  case GS_C_CAST:
    return cast(v, c->from, d, x);
  default:
    return unary(v, d, c->op, false, x);
  }
}

/* --- items ---------------------------------------------------------------- */

static pv_value
sum_of(pv_values *v, gs_dtype d, const pv_value *in, uint32_t n) {
  uint32_t mark = pv_sum_open(v);
  for (uint32_t k = 0; k < n; k++)
    pv_sum_add(v, d, PV_ONE, in[k]);
  return pv_sum_close(v, d, mark);
}

/* Halves by halves, so that many factors cost little more than a few. */
static pv_value
product_of(pv_values *v, gs_dtype d, const pv_value *in, uint32_t n,
           uint32_t step) {
  pv_value few[8] = {0}, *made = few;
  if (n > 8)
    made = bs_alloc(v->heap, n * sizeof *made);
  for (uint32_t k = 0; k < n; k++)
    made[k] = pv_embed(v, d, in[(size_t)k * step]);
  for (uint32_t left = n; left > 1; left = (left + 1) / 2)
    for (uint32_t k = 0; k < left / 2 + left % 2; k++)
      made[k] = 2 * k + 1 < left
                    ? pv_multiply(v, d, made[2 * k], made[2 * k + 1])
                    : made[2 * k];
  pv_value product = made[0];
  if (made != few)
    bs_free(v->heap, made);
  return product;
}

/* The mean of integers is cut toward zero. */
static pv_value
mean(pv_values *v, const pv_compute *c, const pv_value *in, uint32_t n) {
  pv_value sum = sum_of(v, c->dtype, in, n);
  pv_number number;
  if (n == 1 || !sum)
    return sum;
  if (is_integer(c->dtype) && pv_is_number(v, sum, &number))
    return pv_number_value(v, c->dtype, (pv_number){number.num / n, 1, 0});
  if (is_integer(c->dtype))
    return pv_apply_op(v, c->dtype, GS_C_REDUCE_MEAN, n, false, &sum, 1);
  return pv_scale(v, c->dtype, pv_number_share(n), sum);
}

static pv_value
reduce(pv_values *v, const pv_compute *c, const pv_value *in, uint32_t n) {
  switch (c->op) {
  case GS_C_REDUCE_SUM:
    return sum_of(v, c->dtype, in, n);
  case GS_C_REDUCE_MEAN:
    return mean(v, c, in, n);
  case GS_C_REDUCE_PROD:
    return product_of(v, c->dtype, in, n, 1);
  default:
    return pv_extremum(v, c->dtype, c->op == GS_C_REDUCE_MAX, in, n);
  }
}

static pv_value
dot(pv_values *v, const pv_compute *c, const pv_value *in, uint32_t n) {
  uint32_t items = n / c->tuple, mark = pv_sum_open(v);
  for (uint32_t k = 0; k < items && !v->failed; k++)
    pv_sum_add(v, c->dtype, PV_ONE,
               product_of(v, c->dtype, in + k, c->tuple, items));
  return pv_sum_close(v, c->dtype, mark);
}

/* x0 op x1 op ..., `step` apart */
static pv_value
fold(pv_values *v, const pv_compute *c, const pv_value *in, uint32_t step) {
  gs_dtype d = c->dtype;
  uint32_t n = c->tuple, mark;
  pv_value made = in[0];
  pv_value *args;
  switch (c->op) {
  case GS_C_ADD:
  case GS_C_SUB:
    mark = pv_sum_open(v);
    for (uint32_t k = 0; k < n; k++)
      pv_sum_add(v, d,
                 k && c->op == GS_C_SUB ? pv_number_of_int(d, -1) : PV_ONE,
                 in[(size_t)k * step]);
    return pv_sum_close(v, d, mark);
  case GS_C_MUL:
    return product_of(v, d, in, n, step);
  case GS_C_DIV:
    for (uint32_t k = 1; k < n && made && in[(size_t)k * step]; k++)
      made = divide(v, d, made, in[(size_t)k * step]);
    return made;
  default:
    args = bs_alloc(v->heap, n * sizeof *args);
    for (uint32_t k = 0; k < n; k++)
      args[k] = in[(size_t)k * step];
    made = pv_extremum(v, d, c->op == GS_C_MAX, args, n);
    bs_free(v->heap, args);
    return made;
  }
}

static int
by_id(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* bf16: of the element, given the elements in any order */
static void
opaque_softmax(pv_values *v, gs_dtype d, const pv_value *in, uint32_t n,
               pv_value *out) {
  pv_value *args = bs_alloc(v->heap, (n + 1) * sizeof *args);
  for (uint32_t k = 0; k < n; k++)
    args[k + 1] = in[k];
  qsort(args + 1, n, sizeof *args, by_id);
  for (uint32_t k = 0; k < n; k++) {
    args[0] = in[k];
    out[k] = pv_apply_op(v, d, GS_C_SOFTMAX, 0, true, args, n + 1);
  }
  bs_free(v->heap, args);
}

static void
softmax(pv_values *v, gs_dtype d, const pv_value *in, uint32_t n,
        pv_value *out) {
  if (!is_real(d)) {
    opaque_softmax(v, d, in, n, out);
    return;
  }
  for (uint32_t k = 0; k < n; k++)
    out[k] = in[k] ? exponential(v, d, in[k]) : 0;
  pv_value total = sum_of(v, d, out, n);
  total = total ? recip(v, d, total) : 0;
  for (uint32_t k = 0; k < n; k++)
    out[k] = pv_multiply(v, d, out[k], total);
}

static pv_value
select_of(pv_values *v, gs_dtype d, pv_value condition, pv_value yes,
          pv_value no) {
  pv_value args[3] = {condition, yes, no};
  pv_number number;
  if (yes == no)
    return yes;
  if (condition && pv_is_number(v, condition, &number))
    return number.num > 0 ? yes : no;
  return pv_apply_op(v, d, GS_C_SELECT, 0, false, args, 3);
}

/* The table and one index into it. */
static void
gather(pv_values *v, gs_dtype d, const pv_value *in, uint32_t items,
       pv_value *out) {
  pv_value *args = bs_alloc(v->heap, (items + 1) * sizeof *args);
  for (uint32_t k = 0; k < items; k++)
    args[k + 1] = in[k];
  for (uint32_t k = 0; k < items && pv_spend(v, items); k++) {
    args[0] = in[items + k];
    out[k] = pv_apply_op(v, d, GS_C_GATHER, 0, false, args, items + 1);
  }
  bs_free(v->heap, args);
}

void
pv_compute_item(pv_values *v, const pv_compute *c, const pv_value *in,
                uint32_t n, pv_value *out) {
  uint32_t items = n / c->tuple;
  switch (gs_compute_table[c->op].kind) {
  case GS_REDUCE:
    out[0] = reduce(v, c, in, n);
    return;
  case GS_DOT:
    out[0] = dot(v, c, in, n);
    return;
  case GS_FOLD:
    for (uint32_t k = 0; k < items && !v->failed; k++)
      out[k] = fold(v, c, in + k, items);
    return;
  case GS_ELEMENTWISE:
  case GS_CAST:
    for (uint32_t k = 0; k < n && !v->failed; k++)
      out[k] = elementwise(v, c, in[k]);
    return;
  case GS_SOFTMAX:
    softmax(v, c->dtype, in, n, out);
    return;
  case GS_SELECT:
    for (uint32_t k = 0; k < items && !v->failed; k++)
      out[k] = select_of(v, c->dtype, in[k], in[items + k],
                         in[2 * (size_t)items + k]);
    return;
  case GS_GATHER:
    gather(v, c->dtype, in, items, out);
    return;
  }
}
