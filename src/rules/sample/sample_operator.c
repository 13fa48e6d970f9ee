/* SPDX-License-Identifier: MIT */
/* sample_operator.c - random compute operators and their parameters.
 *
 * Parameters are fractions with few bits, so that rules that multiply or add
 * them stay exact; of integers also the bounds of the dtype; and what the
 * rule's condition names.  Numbers too large to be added to small ones exactly
 * keep among themselves, with powers of two beside them: what is computed of
 * these is exact, too. */
#include "rules/sample/sample.h"
#include <assert.h>
#include <math.h>

/* The bounds of a dtype, where what wraps goes wrong. */
static int64_t
bound(rl_sampler *s, gs_dtype d) {
  int64_t least = gs_dtype_least(d), most = gs_dtype_most(d);
  uint64_t k = rl_draw(s, 4);
  return k < 2 ? most - (int64_t)k : least + (int64_t)k - 2;
}

/* A number that the condition names, or one beside it. */
static int64_t
named(rl_sampler *s, gs_dtype d) {
  int64_t n = s->parts->numbers[rl_draw(s, s->parts->n_numbers)];
  n += (int64_t)rl_draw(s, 3) - 1;
  return !gs_is_unsigned(d) && rl_draw_one_in(s, 2) ? -n : n;
}

#define HUGE_NUMBER 0x1p24 /* products of such are not exact */

void
rl_choose_huge(rl_sampler *s) {
  s->huge = 0;
  if (!s->parts->n_literals || !rl_draw_one_in(s, 4))
    return;
  double v = bs_as_real(s->ctx.values,
                        s->parts->literals[rl_draw(s, s->parts->n_literals)]);
  if (fabs(v) >= HUGE_NUMBER && fabs(v) < 0x1p1000)
    s->huge = v;
}

/* The literal itself once in a sample. */
static bs_value
huge(rl_sampler *s, gs_compute op) {
  static const double times[] = {0, 1, -1, 0.5, -0.5, 2};
  int e;
  double v = s->huge;
  frexp(v, &e);
  double power = copysign(ldexp(1, e - 1), v);
  if (op == GS_C_SCALE && rl_draw_one_in(s, 2))
    return bs_int(s->ctx.values, rl_draw_one_in(s, 2) ? 1 : -1);
  if (rl_draw_one_in(s, 3))
    s->huge = power;
  else
    v = times[rl_draw(s, 6)] * power + 0.0;
  return bs_real(s->ctx.values, v);
}

/* From which number on products of two floats are not exact. */
static double
least_huge(gs_dtype d) {
  return d == GS_F64 ? HUGE_NUMBER : 0x1p12;
}

/* A literal of the rule, or what lies beside or beyond it. */
static bs_value
literal(rl_sampler *s, gs_dtype d) {
  assert(d < GS_DTYPE_COUNT);
  bs_values *values = s->ctx.values;
  bs_value v = s->parts->literals[rl_draw(s, s->parts->n_literals)];
  double real = bs_as_real(values, v);
  if (!gs_dtype_table[d].integer && fabs(real) >= least_huge(d))
    return bs_int(values, 1);
  if (!rl_draw_one_in(s, 3))
    return v;
  if (bs_kind_of(values, v) == BS_KIND_INT)
    return bs_int(values,
                  bs_as_int(values, v) + (rl_draw_one_in(s, 2) ? 1 : -1));
  return bs_real(values, real * (rl_draw_one_in(s, 2) ? 2 : -0.5));
}

static bs_value
number_of(rl_sampler *s, double x) {
  return x == floor(x) && fabs(x) < 0x1p53 ? bs_int(s->ctx.values, (int64_t)x)
                                           : bs_real(s->ctx.values, x);
}

/* What the rule may tell apart, exactly or a little aside. */
static bs_value
derived(rl_sampler *s, gs_dtype d) {
  assert(d < GS_DTYPE_COUNT);
  const rl_numbers *n = s->numbers;
  double x = n->reals[rl_draw(s, n->n_reals)];
  bool integer = gs_dtype_table[d].integer;
  if (fabs(x) >= (integer ? HUGE_NUMBER : least_huge(d)))
    return bs_int(s->ctx.values, 1);
  if (integer)
    return bs_int(s->ctx.values, (int64_t)x + (int64_t)rl_draw(s, 3) - 1);
  if (rl_draw_one_in(s, 3))
    x += rl_draw_one_in(s, 2) ? 0.015625 : -0.015625;
  return number_of(s, x);
}

static bs_value
number(rl_sampler *s, gs_compute op, gs_dtype d) {
  static const double reals[] = {0, 1, -1, 2, 0.5, -0.5, 3, 0.25, -2, 4};
  static const int64_t whole[] = {0, 1, -1, 2, 3, -2, 5, 16, -3, 100};
  uint64_t k = rl_draw(s, 10);
  bool integer = gs_dtype_table[d].integer;
  s->asks_numbers = true;
  if (s->real && (integer || fabs(*s->real) < least_huge(d)) &&
      !rl_draw_one_in(s, 4))
    return number_of(s, integer ? trunc(*s->real) : *s->real);
  if (s->huge != 0 && !integer)
    return huge(s, op);
  if (s->parts->n_literals && rl_draw_one_in(s, 3))
    return literal(s, d);
  if (s->numbers && s->numbers->n_reals && rl_draw_one_in(s, 3) &&
      !gs_is_unsigned(d))
    return derived(s, d);
  if (s->parts->n_numbers && rl_draw_one_in(s, 4))
    return bs_int(s->ctx.values, named(s, d));
  if (integer && rl_draw_one_in(s, 6))
    return bs_int(s->ctx.values, bound(s, d));
  if (gs_is_unsigned(d))
    return bs_int(s->ctx.values, whole[k] < 0 ? 7 : whole[k]);
  if (integer || rl_draw_one_in(s, 3))
    return bs_int(s->ctx.values, whole[k]);
  return bs_real(s->ctx.values, reals[k]);
}

static uint32_t
parameters(rl_sampler *s, gs_compute op, gs_dtype d, bs_value *out) {
  assert(op < GS_COMPUTE_COUNT);
  const char *letters = gs_compute_table[op].params;
  uint32_t n = 0;
  for (; letters[n]; n++)
    out[n] = letters[n] == 't'
                 ? bs_sym(s->ctx.values,
                          gs_dtype_table[rl_draw(s, GS_DTYPE_COUNT)].name)
                 : number(s, op, d);
  if (op == GS_C_CLIP &&
      bs_as_real(s->ctx.values, out[0]) > bs_as_real(s->ctx.values, out[1])) {
    bs_value swap = out[0];
    out[0] = out[1];
    out[1] = swap;
  }
  return n;
}

static bs_value
operator_of(rl_sampler *s, gs_compute op, gs_dtype d) {
  assert(op < GS_COMPUTE_COUNT);
  bs_value items[8];
  items[0] = bs_sym(s->ctx.values, gs_compute_table[op].name);
  uint32_t n = parameters(s, op, d, items + 1);
  return n ? bs_list(s->ctx.values, items, n + 1) : items[0];
}

/* The operator that heads the pattern of item 0, if that is known. */
static bool
known_operator(const rl_attr *a, gs_compute *op) {
  const eg_attr_pattern *p =
      a->node->attr.kind == EG_ATTR_LIST ? &a->node->attr.items[0] : NULL;
  if (!p || p->kind != EG_ATTR_LIST || !p->n ||
      p->items[0].kind != EG_ATTR_VALUE)
    return false;
  return gs_compute_of(a->s->ctx.values, p->items[0].value, op);
}

bool
rl_draw_operator(rl_attr *a, gs_dtype d) {
  assert(d < GS_DTYPE_COUNT);
  gs_compute op;
  if (a->fixed[0])
    return true;
  if (!known_operator(a, &op)) {
    a->s->left_free = true;
    op = a->s->asked;
    if (op != GS_COMPUTE_COUNT && !gs_compute_takes(op, d))
      return false;
    while (op == GS_COMPUTE_COUNT || !gs_compute_takes(op, d))
      op = (gs_compute)rl_draw(a->s, GS_COMPUTE_COUNT);
  }
  rl_attr_set(a, 0, operator_of(a->s, op, d));
  return true;
}
