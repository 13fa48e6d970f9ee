/* SPDX-License-Identifier: MIT */
/* relation_compute.c - compute operators on values: one item in, the result
 * items out.
 *
 * Sums, products and extrema are normal forms; of real numbers a softmax is a
 * quotient of exponentials. */
#include "prove/relation/relation_value.h"
#include <assert.h>
#include <stdlib.h>

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
  assert(step >= 1);
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
  if (pv_is_integer(c->dtype) && pv_is_number(v, sum, &number))
    return pv_number_value(v, c->dtype, (pv_number){number.num / n, 1, 0});
  if (pv_is_integer(c->dtype))
    return pv_apply_op(v, c->dtype, GS_C_REDUCE_MEAN, n, false, &sum, 1);
  return pv_scale(v, c->dtype, pv_number_share(n), sum);
}

static pv_value
reduce(pv_values *v, const pv_compute *c, const pv_value *in, uint32_t n) {
  assert(in || !n);
  if (c->op == GS_C_REDUCE_MEAN)
    return mean(v, c, in, n);
  switch (gs_compute_table[c->op].fold) {
  case GS_FOLD_ADD:
    return sum_of(v, c->dtype, in, n);
  case GS_FOLD_MUL:
    return product_of(v, c->dtype, in, n, 1);
  case GS_FOLD_MAX:
    return pv_extremum(v, c->dtype, true, in, n);
  case GS_FOLD_MIN:
    return pv_extremum(v, c->dtype, false, in, n);
  case GS_FOLD_SUB:
  case GS_FOLD_DIV:
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  return 0;
}

static pv_value
dot(pv_values *v, const pv_compute *c, const pv_value *in, uint32_t n) {
  assert(c->tuple && n % c->tuple == 0);
  uint32_t items = n / c->tuple, mark = pv_sum_open(v);
  for (uint32_t k = 0; k < items && !v->failed; k++)
    pv_sum_add(v, c->dtype, PV_ONE,
               product_of(v, c->dtype, in + k, c->tuple, items));
  return pv_sum_close(v, c->dtype, mark);
}

static pv_value
extremum_of(pv_values *v, gs_dtype d, bool max, const pv_value *in, uint32_t n,
            uint32_t step) {
  assert(step >= 1);
  pv_value *args = bs_alloc(v->heap, n * sizeof *args);
  for (uint32_t k = 0; k < n; k++)
    args[k] = in[(size_t)k * step];
  pv_value made = pv_extremum(v, d, max, args, n);
  bs_free(v->heap, args);
  return made;
}

/* x0 op x1 op ..., `step` apart */
static pv_value
fold(pv_values *v, const pv_compute *c, const pv_value *in, uint32_t step) {
  assert(c->tuple);
  gs_dtype d = c->dtype;
  gs_fold by = gs_compute_table[c->op].fold;
  uint32_t n = c->tuple, mark;
  pv_value made = in[0];
  switch (by) {
  case GS_FOLD_ADD:
  case GS_FOLD_SUB:
    mark = pv_sum_open(v);
    for (uint32_t k = 0; k < n; k++)
      pv_sum_add(v, d,
                 k && by == GS_FOLD_SUB ? pv_number_of_int(d, -1) : PV_ONE,
                 in[(size_t)k * step]);
    return pv_sum_close(v, d, mark);
  case GS_FOLD_MUL:
    return product_of(v, d, in, n, step);
  case GS_FOLD_DIV:
    for (uint32_t k = 1; k < n && made && in[(size_t)k * step]; k++)
      made = pv_divide(v, d, made, in[(size_t)k * step]);
    return made;
  case GS_FOLD_MAX:
    return extremum_of(v, d, true, in, n, step);
  case GS_FOLD_MIN:
    return extremum_of(v, d, false, in, n, step);
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  return 0;
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
  if (!pv_is_real(d)) {
    opaque_softmax(v, d, in, n, out);
    return;
  }
  for (uint32_t k = 0; k < n; k++) {
    pv_drop(v, in[k]); /* beside oo it is NaN, and e / oo is 0 */
    out[k] = in[k] ? pv_exponential(v, d, in[k]) : 0;
  }
  pv_value total = sum_of(v, d, out, n);
  total = total ? pv_recip(v, d, total) : 0;
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

/* One index and the table; n items before the m indices. */
static void
gather(pv_values *v, gs_dtype d, const pv_value *in, uint32_t n, uint32_t m,
       pv_value *out) {
  assert(n && m);
  pv_value *args = bs_alloc(v->heap, ((size_t)n + 1) * sizeof *args);
  for (uint32_t k = 0; k < n; k++)
    args[k + 1] = in[k];
  for (uint32_t k = 0; k < m && pv_spend(v, n); k++) {
    args[0] = in[n + k];
    out[k] = pv_apply_op(v, d, GS_C_GATHER, 0, false, args, n + 1);
  }
  bs_free(v->heap, args);
}

void
pv_compute_item(pv_values *v, const pv_compute *c, const pv_value *in,
                uint32_t n, pv_value *out) {
  assert(c->tuple && n % c->tuple == 0 && c->op < GS_COMPUTE_COUNT);
  uint32_t items = n / c->tuple;
  for (uint32_t k = 0; k < n; k++)
    pv_need_held(v, in[k]);
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
      out[k] = pv_elementwise(v, c, in[k]);
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
    gather(v, c->dtype, in, items, items, out);
    return;
  case GS_LOOKUP:
    items = (uint32_t)gs_lookup_table(c->values, c->o);
    gather(v, c->dtype, in, items, n - items, out);
    return;
  }
}
