/* SPDX-License-Identifier: MIT */
/* symbolic_reduce.c - what a reduction over a box of items comes to.
 *
 * A sum over a box is a difference of formal sums: with P(x) the sum of f over
 * 0 <= r < x (and minus that over x <= r < 0), the sum over low <= r < high is
 * P(high) - P(low), for every f on the integers and low <= high.  So sums over
 * neighbouring ranges join by arithmetic, and what does not depend on r is
 * taken out with the number of items.  Extrema and products keep their ranges.
 */
#include "prove/symbolic/space.h"
#include <assert.h>

/* --- guards --------------------------------------------------------------- */

/* a * var + rest >= 0 as a bound of var; false when it is none. */
static bool
bound_of(fm_space *b, fm_number guard, uint32_t k) {
  assert(k < b->r.n);
  fm_form *f = b->f;
  fm_number a, rest, at;
  if (!fm_depends(f, guard, b->r.var[k]) ||
      !fm_linear_in(f, guard, b->r.var[k], &a, &rest) || fm_space_binds(b, a) ||
      fm_space_binds(b, rest))
    return false;
  if (fm_at_least(f, a, 1)) {
    /* var >= -(rest / a) */
    fm_number low = fm_quotient(f, rest, a);
    at = fm_combine(f, -1, low, 0, low, 0);
    if (fm_decide(f, fm_combine(f, 1, at, -1, b->r.low[k], 0)))
      b->r.low[k] = fm_normal(f, at);
    return true;
  }
  fm_number minus = fm_combine(f, -1, a, 0, a, 0);
  if (!fm_at_least(f, minus, 1))
    return false;
  at = fm_quotient(f, rest, minus);
  at = fm_combine(f, 1, at, 0, at, 1);
  if (fm_decide(f, fm_combine(f, 1, b->r.high[k], -1, at, 0)))
    b->r.high[k] = fm_normal(f, at);
  return true;
}

/* May an item have no value for some operands? */
static bool
is_partial(const fm_space *b) {
  return pv_at(&b->f->elements, b->r.body)->partial;
}

/* Guards that are bounds become bounds.  False: no items are left.  Sums may
 * be over no items, all others are told apart, and so are sums of what may have
 * no value: over none it is 0, and 0 * log x is not. */
static bool
take_guards(fm_space *b) {
  fm_form *f = b->f;
  uint32_t kept = 0;
  bool some = b->r.kind != GS_C_REDUCE_SUM || is_partial(b);
  for (uint32_t g = 0; g < b->r.n_guards && !f->why; g++) {
    bool done = false;
    for (uint32_t k = 0; k < b->r.n && !done; k++)
      done = bound_of(b, b->r.guard[g], k);
    if (!done)
      b->r.guard[kept++] = b->r.guard[g];
  }
  for (uint32_t k = kept; k < b->r.n_guards; k++)
    b->r.guard[k] = 0;
  b->r.n_guards = (uint16_t)kept;
  for (uint32_t k = 0; k < b->r.n && !f->why; k++)
    if (!fm_decide(
            f, fm_combine(f, 1, b->r.high[k], -1, b->r.low[k], some ? -1 : 0)))
      return false;
  if (b->r.kind == GS_C_REDUCE_SUM && some && kept)
    fm_fail(f, "a sum of perhaps no items, which may have no value");
  return true;
}

/* --- sums ----------------------------------------------------------------- */

/* P at a corner: the bounds that `low` names are the lower ones. */
static pv_value
corner(fm_space *b, uint32_t low) {
  assert(low >> b->r.n == 0);
  pv_values *v = &b->f->elements;
  fm_space c = *b;
  int64_t zero;
  for (uint32_t k = 0; k < c.r.n; k++) {
    if (low >> k & 1)
      c.r.high[k] = c.r.low[k];
    if (fm_is_constant(b->f, c.r.high[k], &zero) && !zero)
      return pv_number_value(v, b->d, PV_ZERO);
    c.r.low[k] = fm_constant(b->f, 0);
  }
  return fm_space_leaf(&c);
}

/* Do the items of some variable begin at another place than 0? */
static bool
begins_elsewhere(fm_space *b) {
  int64_t low;
  for (uint32_t k = 0; k < b->r.n; k++)
    if (!fm_is_constant(b->f, b->r.low[k], &low) || low)
      return true;
  return false;
}

/* P(high) has items below `low`, too, which the sum does not read.  Where these
 * may have no value, a difference of such sums has none, and the sum has one:
 * it stays as it is. */
static pv_value
formal_sum(fm_space *b) {
  pv_values *v = &b->f->elements;
  if (is_partial(b) && begins_elsewhere(b))
    return fm_space_leaf(b);
  uint32_t mark = pv_sum_open(v);
  bool negated = v->negated;
  if (b->r.n > 8)
    fm_fail(b->f, "a sum over many dimensions");
  for (uint32_t low = 0; low < 1u << b->r.n && !b->f->why; low++)
    pv_sum_add(v, b->d,
               pv_number_of_int(b->d, __builtin_popcount(low) % 2 ? -1 : 1),
               corner(b, low));
  v->negated = negated;
  v->any_order |= gs_is_half(b->d);
  return pv_sum_close(v, b->d, mark);
}

/* Of one product: what all items share, and the sum of the rest. */
static pv_value
sum_of_product(const fm_space *whole, pv_value body) {
  fm_form *f = whole->f;
  pv_values *v = &f->elements;
  fm_space b = *whole;
  uint32_t rows = f->n_rows;
  b.r.body = body;
  fm_space_flatten(&b);
  fm_space_change(&b);
  pv_value times = pv_number_value(v, b.d, PV_ONE);
  for (uint32_t k = b.r.n; k-- > 0 && !f->why;)
    if (!fm_space_reads(&b, b.r.var[k])) {
      fm_number count = fm_combine(f, 1, b.r.high[k], -1, b.r.low[k], 0);
      times = pv_multiply(v, b.d, times, fm_value_of(f, b.d, count));
      fm_space_drop(&b, k);
    }
  for (uint32_t k = 0; k < b.r.n && !f->why; k++)
    fm_space_shift(&b, k);
  if (f->why || (!b.r.n && !b.r.n_guards)) {
    fm_forget(f, rows);
    return f->why ? 0 : pv_multiply(v, b.d, times, b.r.body);
  }
  fm_space_order(&b);
  fm_space_name(&b);
  fm_forget(f, rows);
  return f->why ? 0 : pv_multiply(v, b.d, times, formal_sum(&b));
}

/* bf16 rounds all but sums of what is not multiplied further. */
static pv_value
rounded_sum(const fm_space *b, pv_part part) {
  fm_form *f = b->f;
  pv_values *v = &f->elements;
  int32_t sign = part.times.num < 0 ? -1 : 1;
  uint32_t mark = pv_sum_open(v);
  part.times.num *= sign;
  bs_push(v->heap, &v->parts, part);
  pv_value in = pv_sum_close(v, b->d, mark);
  for (uint32_t k = 0; k < b->r.n; k++)
    if (in && !fm_value_depends(f, in, b->r.var[k]))
      fm_fail(f, "a rounded sum of equal items");
  pv_value sum = in && !f->why ? sum_of_product(b, in) : 0;
  return sum ? pv_scale(v, b->d, pv_number_of_int(b->d, sign), sum) : 0;
}

/* The factors of a product that depend on the items, and the others. */
static pv_value
sum_of_part(const fm_space *b, pv_part part) {
  fm_form *f = b->f;
  pv_values *v = &f->elements;
  pv_value in = pv_number_value(v, b->d, PV_ONE), out = in;
  uint32_t n = pv_at(v, part.product)->n;
  if (gs_is_half(b->d))
    return rounded_sum(b, part);
  for (uint32_t i = 0; i < n && in && out && !f->why; i += 2) {
    uint32_t factor = pv_words(v, part.product)[i];
    int32_t power = (int32_t)pv_words(v, part.product)[i + 1];
    pv_value p = pv_power(v, b->d, factor, power);
    bool inside = false;
    for (uint32_t k = 0; k < b->r.n; k++)
      inside |= fm_value_depends(f, factor, b->r.var[k]);
    *(inside ? &in : &out) = pv_multiply(v, b->d, inside ? in : out, p);
  }
  if (f->why || !in || !out)
    return 0;
  pv_value sum = sum_of_product(b, in);
  return pv_scale(v, b->d, part.times, pv_multiply(v, b->d, out, sum));
}

static pv_value
rounded_alone(const fm_space *b, pv_value body) {
  for (uint32_t k = 0; k < b->r.n; k++)
    if (!fm_value_depends(b->f, body, b->r.var[k]))
      fm_fail(b->f, "a rounded sum of equal items");
  return b->f->why ? 0 : sum_of_product(b, body);
}

static pv_value
sum_over(const fm_space *b) {
  fm_form *f = b->f;
  pv_values *v = &f->elements;
  pv_value body = pv_embed(v, b->d, b->r.body), one;
  if (!body || f->why)
    return 0;
  if (pv_at(v, body)->kind == PV_LOWEST) {
    fm_fail(f, "a sum of infinities");
    return 0;
  }
  pv_number zero;
  if (pv_is_number(v, body, &zero) && !zero.num)
    return body;
  if (gs_is_half(b->d) && pv_at(v, body)->kind == PV_NUMBER) {
    fm_fail(f, "a rounded sum of equal items");
    return 0;
  }
  if (pv_at(v, body)->kind == PV_NUMBER) {
    one = sum_of_product(b, pv_number_value(v, b->d, PV_ONE));
    return one ? pv_multiply(v, b->d, body, one) : 0;
  }
  if (pv_at(v, body)->kind != PV_SUM)
    return gs_is_half(b->d) ? rounded_alone(b, body) : sum_of_product(b, body);
  uint32_t n = pv_n_parts(v, body), mark = pv_sum_open(v);
  for (uint32_t k = 0; k < n && !f->why && !v->failed; k++) {
    pv_part part = pv_part_at(v, body, k);
    pv_sum_add(v, b->d, PV_ONE, sum_of_part(b, part));
  }
  return pv_sum_close(v, b->d, mark);
}

/* --- all others ----------------------------------------------------------- */

/* Items that are all alike are one: there are some. */
static void
drop_alike(fm_space *b) {
  for (uint32_t k = b->r.n; k-- > 0 && !b->f->why;)
    if (!fm_space_reads(b, b->r.var[k]))
      fm_space_drop(b, k);
}

static pv_value
extremum_over(const fm_space *whole) {
  fm_form *f = whole->f;
  fm_space b = *whole;
  uint32_t rows = f->n_rows;
  fm_space_flatten(&b);
  fm_space_change(&b);
  drop_alike(&b);
  for (uint32_t k = 0; k < b.r.n && !f->why; k++)
    fm_space_shift(&b, k);
  if (f->why || (!b.r.n && !b.r.n_guards)) {
    fm_forget(f, rows);
    return f->why ? 0 : b.r.body;
  }
  fm_space_order(&b);
  fm_space_name(&b);
  fm_forget(f, rows);
  return f->why ? 0 : fm_space_leaf(&b);
}

/* An extremum of extrema of the same kind is one of each. */
static pv_value
extremum_of_args(const fm_space *b) {
  pv_values *v = &b->f->elements;
  const pv_node *node = pv_at(v, b->r.body);
  bool max = b->r.kind == GS_C_REDUCE_MAX;
  if (node->kind != (max ? PV_MAX : PV_MIN) || node->dtype != b->d)
    return extremum_over(b);
  uint32_t n = node->n;
  pv_value *args = bs_calloc(v->heap, n, sizeof *args), made = 0;
  for (uint32_t k = 0; k < n && !b->f->why; k++) {
    fm_space one = *b;
    one.r.body = pv_words(v, b->r.body)[k];
    args[k] = extremum_over(&one);
  }
  if (!b->f->why)
    made = pv_extremum(v, b->d, max, args, n);
  bs_free(v->heap, args);
  return made;
}

/* A product of zeros or of ones, and a table of any one number. */
static bool
is_one_number(const fm_space *b) {
  pv_number n;
  return !b->r.n_guards && pv_is_number(&b->f->elements, b->r.body, &n) &&
         (b->r.kind == GS_C_GATHER || (b->r.kind == GS_C_REDUCE_PROD &&
                                       (!n.num || pv_number_same(n, PV_ONE))));
}

static pv_value
others_over(const fm_space *whole) {
  fm_space b = *whole;
  uint32_t rows = b.f->n_rows;
  if (is_one_number(&b))
    return pv_embed(&b.f->elements, b.d, b.r.body);
  fm_space_flatten(&b);
  fm_space_change(&b);
  if (!b.r.n && !b.r.n_guards && b.r.kind == GS_C_REDUCE_PROD) {
    fm_forget(b.f, rows);
    return b.f->why ? 0 : pv_embed(&b.f->elements, b.d, b.r.body);
  }
  b.f->elements.any_order |= gs_is_half(b.d) && !b.ordered;
  for (uint32_t k = 0; k < b.r.n && !b.f->why && !b.ordered; k++)
    fm_space_shift(&b, k);
  fm_space_order(&b);
  fm_space_name(&b);
  fm_forget(b.f, rows);
  return b.f->why ? 0 : fm_space_leaf(&b);
}

static void
know_items(const fm_space *b) {
  fm_form *f = b->f;
  for (uint32_t k = 0; k < b->r.n; k++)
    fm_space_know(f, b->r.var[k], b->r.low[k], b->r.high[k]);
  if (f->n_rows + b->r.n_guards > FM_ROWS) {
    fm_fail(f, "too many conditions");
    return;
  }
  for (uint32_t k = 0; k < b->r.n_guards; k++)
    fm_know(f, b->r.guard[k]);
}

pv_value
fm_reduce(fm_form *f, gs_dtype d, const fm_reduction *of, pv_value body,
          bool *none) {
  assert(of->n <= GS_MAX_RANK && of->n_guards <= FM_CHOICES);
  fm_space b = {.f = f, .d = d, .r = *of};
  pv_value made = 0;
  b.r.body = body;
  b.ordered = of->kind != GS_C_REDUCE_SUM && of->kind != GS_C_REDUCE_PROD &&
              of->kind != GS_C_REDUCE_MAX && of->kind != GS_C_REDUCE_MIN &&
              of->kind != GS_C_SOFTMAX;
  *none = false;
  if (!body || f->why)
    return 0;
  if (!take_guards(&b)) {
    *none = true;
    return 0;
  }
  /* nothing is decided from here on: a range is known to hold an item now */
  uint32_t rows = f->n_rows;
  know_items(&b);
  fm_space_drop_single(&b);
  if (f->why)
    return 0;
  if (of->kind == GS_C_REDUCE_SUM)
    made = sum_over(&b);
  else if (of->kind == GS_C_REDUCE_MAX || of->kind == GS_C_REDUCE_MIN)
    made = extremum_of_args(&b);
  else
    made = others_over(&b);
  fm_forget(f, rows);
  return made;
}
