/* SPDX-License-Identifier: MIT */
/* elementwise.c - elementwise operators on values.
 *
 * What is true of real numbers is used where it makes normal forms meet:
 * quotients are products with reciprocals, relu and clip are extrema.  bf16
 * operators that are more than sums, products and extrema stay as they are. */
#include "prove/relation/relation_value.h"
#include "glenside/array/tensor.h"
#include <assert.h>

static pv_value
unary(pv_values *v, gs_dtype d, gs_compute op, bool nonnegative, pv_value x) {
  assert(op < GS_COMPUTE_COUNT);
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

typedef pv_value (*function)(pv_values *, gs_dtype, gs_compute, pv_value);

/* Extrema go outwards through what never decreases. */
static pv_value
through_extremum(pv_values *v, gs_dtype d, gs_compute op, pv_value x,
                 function f) {
  assert(pv_at(v, x)->kind == PV_MAX || pv_at(v, x)->kind == PV_MIN);
  const pv_node *node = pv_at(v, x);
  bool max = node->kind == PV_MAX;
  uint32_t n = node->n;
  v->failed |= ++v->depth > PV_MAX_DEPTH;
  pv_value *args = bs_calloc(v->heap, n, sizeof *args);
  for (uint32_t k = 0; k < n && !v->failed; k++)
    args[k] = f(v, d, op, pv_words(v, x)[k]);
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
  return pv_power(v, d, unary(v, d, GS_C_RECIP, false, factor), power);
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
  assert(pv_at(v, product)->kind == PV_PRODUCT);
  const uint32_t *w = pv_words(v, product);
  for (uint32_t k = 0; k < pv_at(v, product)->n; k += 2)
    if (w[k] == factor)
      return (int32_t)w[k + 1];
  return 0;
}

/* The power of a positive factor that all parts of a sum have, or 0. */
static int32_t
common_power(const pv_values *v, pv_value sum, pv_value factor) {
  assert(pv_at(v, sum)->kind == PV_SUM);
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
  assert(pv_at(v, sum)->kind == PV_SUM);
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

pv_value
pv_recip(pv_values *v, gs_dtype d, pv_value x) {
  assert(d < GS_DTYPE_COUNT);
  pv_number number, inverse;
  pv_part part;
  pv_value outside;
  if (!pv_is_real(d))
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
    return pv_multiply(v, d, pv_recip(v, d, x), pv_recip(v, d, outside));
  x = unary(v, d, GS_C_RECIP, pv_at(v, x)->nonnegative, x);
  return pv_multiply(v, d, x, pv_recip(v, d, outside));
}

static bool
is_nonnegative(const pv_values *v, gs_compute op, pv_value x) {
  assert(op < GS_COMPUTE_COUNT);
  switch (gs_compute_table[op].sign) {
  case GS_SIGN_ANY:
    return false;
  case GS_SIGN_KEEPS_NONNEGATIVE:
  case GS_SIGN_KEEPS_POSITIVE:
    return pv_at(v, x)->nonnegative;
  case GS_SIGN_POSITIVE_ALONE:
    return pv_at(v, x)->positive;
  case GS_SIGN_NONNEGATIVE:
  case GS_SIGN_POSITIVE:
    return true;
  }
  return false;
}

static pv_value
root(pv_values *v, gs_dtype d, gs_compute op, pv_value x) {
  double real;
  if (exact_real(v, x, &real) && (real == 0 || real == 1))
    return x;
  return unary(v, d, op, true, x);
}

static pv_value
reciprocal_root(pv_values *v, gs_dtype d, gs_compute op, pv_value x) {
  return pv_is_real(d) ? pv_recip(v, d, unary(v, d, GS_C_SQRT, true, x))
                       : unary(v, d, op, is_nonnegative(v, op, x), x);
}

static pv_value
reciprocal(pv_values *v, gs_dtype d, gs_compute op, pv_value x) {
  (void)op;
  return pv_recip(v, d, x);
}

pv_value
pv_divide(pv_values *v, gs_dtype d, pv_value a, pv_value b) {
  assert(d < GS_DTYPE_COUNT);
  pv_value args[2] = {a, b};
  pv_number number;
  if (pv_is_number(v, b, &number) && pv_number_same(number, PV_ONE))
    return a;
  if (pv_is_integer(d) && pv_is_number(v, a, &number) && !number.num)
    return a;
  if (pv_is_real(d))
    return pv_multiply(v, d, a, pv_recip(v, d, b));
  return pv_apply_op(v, d, GS_C_DIV, 0, false, args, 2);
}

/* --- elementwise ---------------------------------------------------------- */

static pv_value
absolute(pv_values *v, gs_dtype d, pv_value x) {
  pv_number number;
  pv_value minus;
  if (gs_is_unsigned(d) || (!pv_is_integer(d) && pv_at(v, x)->nonnegative))
    return x;
  if (pv_at(v, x)->kind == PV_APPLY && pv_at(v, x)->op == GS_C_ABS &&
      pv_at(v, x)->dtype == d)
    return x;
  minus = pv_scale(v, d, pv_number_of_int(d, -1), x);
  if (pv_is_number(v, x, &number))
    return number.num < 0 ? minus : x;
  if (!minus)
    return 0;
  return unary(v, d, GS_C_ABS, !pv_is_integer(d), x < minus ? x : minus);
}

static pv_value
floor_of(pv_values *v, gs_dtype d, gs_compute op, pv_value x) {
  pv_number number;
  const pv_node *n = pv_at(v, x);
  if (pv_is_integer(d) || (n->kind == PV_APPLY && n->op == op))
    return x;
  if (pv_is_number(v, x, &number) && pv_number_floor(number, &number))
    return pv_number_value(v, d, number);
  if (is_extremum(v, d, x))
    return through_extremum(v, d, op, x, floor_of);
  return unary(v, d, op, n->nonnegative, x);
}

/* x ^ power, of any value */
static pv_value
raise(pv_values *v, gs_dtype d, pv_value x, int32_t power) {
  pv_value made = pv_number_value(v, d, PV_ONE);
  if (x && power < 0) {
    x = pv_recip(v, d, x);
    power = -power;
  }
  for (int32_t k = 0; k < power && made && x; k++)
    made = pv_multiply(v, d, made, x);
  return x ? made : 0;
}

static pv_value
exponential(pv_values *v, gs_dtype d, gs_compute op, pv_value x) {
  (void)op;
  return pv_exponential(v, d, x);
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
    return raise(v, d, through_extremum(v, d, GS_C_EXP, factor, exponential),
                 power);
  uint32_t mark = pv_sum_open(v);
  bs_push(v->heap, &v->parts, part);
  pv_value x = pv_sum_close(v, d, mark);
  x = x ? unary(v, d, GS_C_EXP, true, x) : 0;
  return x ? pv_power(v, d, x, power) : 0;
}

/* Of a sum: the product of the parts' exponentials. */
pv_value
pv_exponential(pv_values *v, gs_dtype d, pv_value x) {
  assert(d < GS_DTYPE_COUNT);
  double real;
  if (exact_real(v, x, &real) && real == 0)
    return pv_number_value(v, d, PV_ONE);
  if (pv_at(v, x)->kind == PV_LOWEST)
    return pv_number_value(v, d, PV_ZERO);
  if (is_extremum(v, d, x))
    return through_extremum(v, d, GS_C_EXP, x, exponential);
  if (!pv_is_real(d) || pv_at(v, x)->kind != PV_SUM)
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
logarithm(pv_values *v, gs_dtype d, gs_compute op, pv_value x) {
  double real;
  if (exact_real(v, x, &real) && real == 1)
    return pv_number_value(v, d, PV_ZERO);
  return unary(v, d, op, false, x);
}

/* A function of which no more is known than what the table of operators
 * says. */
static pv_value
plain_function(pv_values *v, gs_dtype d, gs_compute op, pv_value x) {
  assert(op < GS_COMPUTE_COUNT);
  const gs_compute_info *info = &gs_compute_table[op];
  double real;
  if (info->rises && is_extremum(v, d, x))
    return through_extremum(v, d, op, x, plain_function);
  bool zero = exact_real(v, x, &real) && real == 0;
  if (zero && info->of_zeros == GS_OF_ZEROS_ZERO)
    return x;
  if (zero && info->of_zeros == GS_OF_ZEROS_ONE)
    return pv_number_value(v, d, PV_ONE);
  return unary(v, d, op, is_nonnegative(v, op, x), x);
}

static pv_value
extremum_with(pv_values *v, gs_dtype d, bool max, pv_value x, pv_value bound) {
  pv_value args[2] = {x, bound};
  return pv_extremum(v, d, max, args, 2);
}

static pv_value
sigmoid(pv_values *v, gs_dtype d, gs_compute op, pv_value x) {
  if (is_extremum(v, d, x))
    return through_extremum(v, d, op, x, sigmoid);
  if (!pv_is_real(d))
    return unary(v, d, op, true, x);
  pv_value e = pv_scale(v, d, pv_number_of_int(d, -1), x);
  e = e ? pv_exponential(v, d, e) : 0;
  uint32_t mark = pv_sum_open(v);
  pv_sum_add(v, d, PV_ONE, e);
  pv_sum_add(v, d, PV_ONE, pv_number_value(v, d, PV_ONE));
  pv_value sum = pv_sum_close(v, d, mark);
  return sum ? pv_recip(v, d, sum) : 0;
}

/* Of one factor: itself where it is of the dtype already. */
static pv_value
narrow_factor(pv_values *v, gs_dtype to, pv_value x) {
  return pv_at(v, x)->dtype == to
             ? x
             : pv_apply_op(v, to, GS_C_CAST, 0, false, &x, 1);
}

/* Are the elements of `to` low bits of those of `from`?  A truth value is none,
 * and what wrapped before it is widened is no sum of what is widened. */
static bool
takes_low_bits(gs_dtype to, gs_dtype from) {
  return pv_is_integer(from) && pv_is_integer(to) && to != GS_BOOL &&
         gs_dtype_table[to].bytes <= gs_dtype_table[from].bytes;
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
  assert(from < GS_DTYPE_COUNT && to < GS_DTYPE_COUNT);
  pv_number number;
  double real;
  if (gs_dtype_holds(to, from))
    return pv_embed(v, to, x);
  if (takes_low_bits(to, from))
    return narrow(v, to, x);
  if (pv_is_integer(from) && pv_is_integer(to) && pv_is_number(v, x, &number))
    return pv_number_value(v, to, pv_number_of_int(to, number.num));
  if (exact_real(v, x, &real))
    return pv_real_value(v, to, gs_convert(to, real));
  return pv_apply_op(v, to, GS_C_CAST, 0, false, &x, 1);
}

static pv_value
parameter(pv_values *v, const pv_compute *c, uint32_t k) {
  double p = gs_parameter_value(c->values, c->o, k, c->dtype);
  return pv_real_value(v, c->dtype, pv_taken_number(c->op, c->dtype, p));
}

/* What is true of some functions and not of others. */
static function
function_of(gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  static const function known[GS_COMPUTE_COUNT] = {
      [GS_C_SQRT] = root,       [GS_C_RSQRT] = reciprocal_root,
      [GS_C_SIGMOID] = sigmoid, [GS_C_RECIP] = reciprocal,
      [GS_C_EXP] = exponential, [GS_C_LOG] = logarithm,
  };
  return known[op] ? known[op] : plain_function;
}

pv_value
pv_elementwise(pv_values *v, const pv_compute *c, pv_value x) {
  assert(c->op < GS_COMPUTE_COUNT && c->dtype < GS_DTYPE_COUNT);
  gs_dtype d = c->dtype;
  pv_number number;
  if (!x)
    return 0;
  pv_need_held(v, x);
  switch (gs_compute_table[c->op].form) {
  case GS_FORM_NEGATE:
    return pv_scale(v, d, pv_number_of_int(d, -1), x);
  case GS_FORM_ABS:
    return absolute(v, d, x);
  case GS_FORM_RELU:
    return extremum_with(v, d, true, x, pv_number_value(v, d, PV_ZERO));
  case GS_FORM_FLOOR:
    return floor_of(v, d, c->op, x);
  case GS_FORM_SQUARE:
    return pv_multiply(v, d, x, x);
  case GS_FORM_CLIP:
    x = extremum_with(v, d, true, x, parameter(v, c, 0));
    return x ? extremum_with(v, d, false, x, parameter(v, c, 1)) : 0;
  case GS_FORM_SCALE: {
    pv_value p = parameter(v, c, 0);
    return p && pv_is_number(v, p, &number) ? pv_scale(v, d, number, x)
                                            : pv_multiply(v, d, x, p);
  }
  case GS_FORM_OFFSET: {
    uint32_t mark = pv_sum_open(v);
    pv_sum_add(v, d, PV_ONE, x);
    pv_sum_add(v, d, PV_ONE, parameter(v, c, 0));
    return pv_sum_close(v, d, mark);
  }
  case GS_FORM_FUNCTION:
    return function_of(c->op)(v, d, c->op, x);
  case GS_FORM_NONE:
    break;
  }
  return cast(v, c->from, d, x);
}
