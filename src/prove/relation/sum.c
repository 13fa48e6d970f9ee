/* SPDX-License-Identifier: MIT */
/* sum.c - sums of products: polynomials in normal form.
 *
 * A sum is a list of (number, product), by product, without zeros; a product a
 * list of (factor, power), by factor.  The number alone is the empty product.
 * One times one factor of the own dtype is that factor; a lone number is a
 * number.
 *
 * bf16 rounds each result to 8 bits, so that more than the order of sums and
 * of products is not taken as equal there: a sum below a product, or a
 * multiple below another or in a sum, is a factor.
 *
 * On floats a number times an extremum plus a number goes inside. */
#include "glenside/array/tensor.h"
#include "prove/relation/relation_value.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PART_WORDS 5 /* four of the number, the product */

uint32_t
pv_n_parts(const pv_values *v, pv_value sum) {
  assert(pv_at(v, sum)->kind == PV_SUM && pv_at(v, sum)->n % PART_WORDS == 0);
  return pv_at(v, sum)->n / PART_WORDS;
}

pv_part
pv_part_at(const pv_values *v, pv_value sum, uint32_t k) {
  assert(k < pv_n_parts(v, sum));
  const uint32_t *w = pv_words(v, sum) + k * PART_WORDS;
  pv_part part = {.product = w[4]};
  memcpy(&part.times, w, sizeof part.times);
  return part;
}

/* --- products ------------------------------------------------------------- */

static pv_value
product_of(pv_values *v, const uint32_t *words, uint32_t n) {
  assert(n % 2 == 0);
  return pv_intern(v, (pv_node){.kind = PV_PRODUCT}, words, n);
}

static pv_value
empty_product(pv_values *v) {
  return product_of(v, NULL, 0);
}

static pv_value
single(pv_values *v, pv_value factor) {
  uint32_t words[2] = {factor, 1};
  return product_of(v, words, 2);
}

/* x ^ a * x ^ b; powers are signed.  One that does not fit makes all values
 * void. */
static uint32_t
add_powers(pv_values *v, uint32_t a, uint32_t b) {
  int64_t sum = (int64_t)(int32_t)a + (int32_t)b;
  v->failed |= sum > INT32_MAX || sum < -INT32_MAX;
  return (uint32_t)sum;
}

/* oo * 1 / oo is NaN, and so is 0 * 1 / 0: what is left must have no value for
 * either.  Interning moves the pool, so words are read anew. */
static void
drop_cancelled(pv_values *v, pv_value a, pv_value b) {
  uint32_t na = pv_at(v, a)->n, nb = pv_at(v, b)->n;
  for (uint32_t i = 0, j = 0; i < na && j < nb;) {
    uint32_t x[2], y[2];
    memcpy(x, pv_words(v, a) + i, sizeof x);
    memcpy(y, pv_words(v, b) + j, sizeof y);
    bool cancels = x[0] == y[0] && (int32_t)(x[1] ^ y[1]) < 0;
    if (cancels && pv_at(v, x[0])->partial) {
      uint32_t inverse[2] = {x[0], (uint32_t)-1};
      pv_drop(v, x[0]);
      pv_drop(v, product_of(v, inverse, 2));
    }
    i += x[0] <= y[0] ? 2 : 0;
    j += y[0] <= x[0] ? 2 : 0;
  }
}

/* Powers cancel. */
static pv_value
merge_products(pv_values *v, pv_value a, pv_value b) {
  assert(pv_at(v, a)->kind == PV_PRODUCT && pv_at(v, b)->kind == PV_PRODUCT);
  uint32_t na = pv_at(v, a)->n, nb = pv_at(v, b)->n, i = 0, j = 0;
  bool cancels = false;
  if (!na || !nb)
    return na ? a : b;
  const uint32_t *x = pv_words(v, a), *y = pv_words(v, b);
  bs_clear(&v->words);
  bs_reserve(v->heap, &v->words, (uint64_t)na + nb);
  while (i < na || j < nb) {
    bool first = j == nb || (i < na && x[i] < y[j]);
    bool second = !first && (i == na || y[j] < x[i]);
    uint32_t power = first    ? x[i + 1]
                     : second ? y[j + 1]
                              : add_powers(v, x[i + 1], y[j + 1]);
    if (power) {
      bs_push(v->heap, &v->words, second ? y[j] : x[i]);
      bs_push(v->heap, &v->words, power);
    }
    cancels |= !first && !second && (int32_t)(x[i + 1] ^ y[j + 1]) < 0;
    i += second ? 0 : 2;
    j += first ? 0 : 2;
  }
  pv_value made = product_of(v, v->words.data, v->words.len);
  if (cancels)
    drop_cancelled(v, a, b);
  return made;
}

pv_value
pv_lone_factor(const pv_values *v, pv_value product) {
  assert(pv_at(v, product)->kind == PV_PRODUCT);
  const uint32_t *w = pv_words(v, product);
  return pv_at(v, product)->n == 2 && w[1] == 1 ? w[0] : 0;
}

bool
pv_is_monomial(const pv_values *v, pv_value x, pv_part *out) {
  if (pv_at(v, x)->kind != PV_SUM || pv_n_parts(v, x) != 1)
    return false;
  *out = pv_part_at(v, x, 0);
  return true;
}

/* --- sums ----------------------------------------------------------------- */

uint32_t
pv_sum_open(const pv_values *v) {
  return v->parts.len;
}

static void
push(pv_values *v, pv_number times, pv_value product) {
  assert(times.den > 0);
  bs_push(v->heap, &v->parts, (pv_part){times, product});
}

static bool
times_number(pv_values *v, gs_dtype d, pv_number a, pv_number b,
             pv_number *out) {
  if (!pv_number_mul(d, a, b, out))
    v->failed = true;
  return !v->failed;
}

static bool
is_sign(pv_number n) {
  return n.den == 1 && n.exp == 0 && (n.num == 1 || n.num == -1);
}

/* A factor by which nothing is rounded: a power of two; of floats with so
 * few exponents that ordinary numbers lose digits below the least
 * one, none below 1. */
static bool
is_exact_factor(gs_dtype d, pv_number n) {
  return n.den == 1 && (n.num == 1 || n.num == -1) &&
         (!gs_has_few_exponents(d) || n.exp >= 0);
}

/* Of a number, and of products that are not multiplied by one, or by one that
 * rounds nothing? */
static bool
is_plain(const pv_values *v, gs_dtype d, pv_value sum) {
  for (uint32_t k = 0; k < pv_n_parts(v, sum); k++) {
    pv_part part = pv_part_at(v, sum, k);
    if (!is_exact_factor(d, part.times) && pv_at(v, part.product)->n)
      return false;
  }
  return true;
}

/* Whether a sum of this dtype is taken apart inside a multiple, or a product,
 * of it: bf16 rounds all but products of factors, and 129 x - 128 x is not
 * x. */
static bool
opens(const pv_values *v, gs_dtype d, bool whole, pv_value x) {
  if (pv_at(v, x)->dtype != d)
    return false;
  return !gs_is_half(d) ||
         ((whole || pv_n_parts(v, x) == 1) && is_plain(v, d, x));
}

/* x as a factor: what a value of another dtype holds when it is only a lone
 * factor in disguise. */
static pv_value
factor_of(const pv_values *v, pv_value x) {
  pv_part part;
  if (pv_is_monomial(v, x, &part) && pv_number_same(part.times, PV_ONE) &&
      pv_lone_factor(v, part.product))
    return pv_lone_factor(v, part.product);
  return x;
}

static bool
is_formal(const pv_values *v, pv_value product) {
  assert(pv_at(v, product)->kind == PV_PRODUCT);
  pv_value factor = pv_lone_factor(v, product);
  return factor && pv_at(v, factor)->formal;
}

static bool
holds_formal(const pv_values *v, pv_value x) {
  if (pv_at(v, x)->kind != PV_SUM)
    return pv_at(v, x)->formal;
  for (uint32_t k = 0; k < pv_n_parts(v, x); k++)
    if (is_formal(v, pv_part_at(v, x, k).product))
      return true;
  return false;
}

void
pv_sum_add(pv_values *v, gs_dtype d, pv_number times, pv_value x) {
  assert(d < GS_DTYPE_COUNT && times.den > 0);
  pv_number number;
  if (!x || v->failed)
    return;
  v->negated |= gs_is_half(d) && times.num < 0 && holds_formal(v, x);
  if (pv_is_number(v, x, &number)) {
    if (gs_dtype_table[d].integer)
      number = pv_number_of_int(d, number.num);
    if (times_number(v, d, times, number, &number))
      push(v, number, empty_product(v));
    return;
  }
  if (pv_at(v, x)->kind != PV_SUM || !opens(v, d, is_sign(times), x)) {
    push(v, times, single(v, factor_of(v, x)));
    return;
  }
  uint32_t n = pv_n_parts(v, x);
  if (!pv_spend(v, n))
    return;
  for (uint32_t k = 0; k < n; k++) {
    pv_part part = pv_part_at(v, x, k);
    if (times_number(v, d, times, part.times, &number))
      push(v, number, part.product);
  }
}

static int
by_product(const void *a, const void *b) {
  const pv_part *x = a, *y = b;
  if (x->product != y->product)
    return x->product < y->product ? -1 : 1;
  return (x->times.num < 0) - (y->times.num < 0);
}

static bool
have_one_sign(pv_number a, pv_number b) {
  return a.num && b.num && (a.num < 0) == (b.num < 0);
}

/* Is the sum of two numbers one of the dtype? */
static bool
is_exact_sum(gs_dtype d, pv_number a, pv_number b) {
  return pv_number_add(d, a, b, &a) &&
         gs_convert(d, pv_number_real(a)) == pv_number_real(a);
}

/* May two parts of a sum of n be one where sums are rounded?  (a + b) - b is
 * not a, and (a + 256) + 1 is not a + 257, but a - a alone is 0. */
static bool
adds_up(pv_values *v, gs_dtype d, pv_part a, pv_part b, uint32_t n) {
  bool one_sign = have_one_sign(a.times, b.times);
  if (!gs_is_half(d) || !a.times.num || !b.times.num)
    return true;
  if (!pv_at(v, a.product)->n)
    return (one_sign || n == 2) && is_exact_sum(d, a.times, b.times);
  b.times.num = one_sign ? b.times.num : -b.times.num;
  if (one_sign || (n == 2 && pv_number_same(a.times, b.times)))
    return true;
  v->cancelled |= is_formal(v, a.product);
  return is_formal(v, a.product);
}

/* Sorts and adds up; returns how many are left.  2 oo - oo is NaN. */
static uint32_t
combine(pv_values *v, gs_dtype d, pv_part *parts, uint32_t n) {
  uint32_t kept = 0;
  qsort(parts, n, sizeof *parts, by_product);
  for (uint32_t k = 0; k < n;) {
    pv_part sum = parts[k++];
    while (k < n && parts[k].product == sum.product &&
           adds_up(v, d, sum, parts[k], n)) {
      if (!have_one_sign(sum.times, parts[k].times))
        pv_drop(v, sum.product);
      if (!pv_number_add(d, sum.times, parts[k].times, &sum.times))
        v->failed = true;
      k++;
    }
    if (sum.times.num)
      parts[kept++] = sum;
    else
      pv_drop(v, sum.product);
  }
  return kept;
}

/* Minus infinity plus anything finite is minus infinity; plus infinity it is
 * NaN. */
static bool
holds_lowest(pv_values *v, const pv_part *parts, uint32_t n, bool *sure) {
  bool found = false;
  for (uint32_t k = 0; k < n; k++) {
    const pv_node *p = pv_at(v, parts[k].product);
    const uint32_t *w = pv_words(v, parts[k].product);
    for (uint32_t i = 0; i < p->n; i += 2)
      if (pv_at(v, w[i])->kind == PV_LOWEST) {
        found = true;
        *sure &= p->n == 2 && w[1] == 1 && parts[k].times.num > 0;
      }
  }
  for (uint32_t k = 0; found && k < n; k++)
    pv_drop(v, parts[k].product);
  return found;
}

/* c * extremum + k with c != 0, the extremum of this dtype */
static bool
is_linear_extremum(const pv_values *v, gs_dtype d, const pv_part *parts,
                   uint32_t n, uint32_t *which) {
  assert(d < GS_DTYPE_COUNT);
  if (gs_dtype_table[d].integer || n < 1 || n > 2)
    return false;
  for (uint32_t k = 0; k < n; k++) {
    pv_value factor = pv_lone_factor(v, parts[k].product);
    if (!factor) {
      if (pv_at(v, parts[k].product)->n)
        return false;
      continue;
    }
    const pv_node *node = pv_at(v, factor);
    if ((node->kind != PV_MAX && node->kind != PV_MIN) || node->dtype != d)
      return false;
    *which = k;
  }
  return pv_lone_factor(v, parts[*which].product) != 0;
}

static pv_value
into_extremum(pv_values *v, gs_dtype d, const pv_part *parts, uint32_t n,
              uint32_t which) {
  assert(which < n);
  pv_part outer = parts[which], shift = {PV_ZERO, 0};
  pv_value factor = pv_lone_factor(v, outer.product);
  const pv_node *node = pv_at(v, factor);
  bool max = (node->kind == PV_MAX) == (outer.times.num > 0);
  uint32_t count = node->n;
  if (n == 2)
    shift = parts[!which];
  pv_value number = pv_number_value(v, d, shift.times);
  v->failed |= ++v->depth > PV_MAX_DEPTH;
  pv_value *args = bs_calloc(v->heap, count, sizeof *args);
  for (uint32_t k = 0; k < count && !v->failed; k++) {
    pv_value arg = pv_words(v, factor)[k];
    uint32_t mark = pv_sum_open(v);
    pv_sum_add(v, d, outer.times, arg);
    pv_sum_add(v, d, PV_ONE, number);
    args[k] = pv_sum_close(v, d, mark);
  }
  pv_value made = pv_extremum(v, d, max, args, count);
  bs_free(v->heap, args);
  v->depth--;
  return made;
}

/* All parts are products of what is above 0.  Where floats have few exponents,
 * a product with a factor below 1 may be rounded to 0. */
static bool
is_positive(const pv_values *v, gs_dtype d, const pv_part *parts, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t *w = pv_words(v, parts[k].product);
    if (parts[k].times.num < 0 ||
        (gs_has_few_exponents(d) &&
         pv_number_compare(parts[k].times, PV_ONE) < 0))
      return false;
    for (uint32_t i = 0; i < pv_at(v, parts[k].product)->n; i += 2)
      if (!pv_at(v, w[i])->positive)
        return false;
  }
  return !gs_dtype_table[d].integer;
}

/* The flag of a sum: all parts are products that cannot be negative. */
static bool
is_nonnegative(const pv_values *v, gs_dtype d, const pv_part *parts,
               uint32_t n) {
  assert(d < GS_DTYPE_COUNT);
  if (gs_dtype_table[d].integer)
    return false;
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t *w = pv_words(v, parts[k].product);
    if (parts[k].times.num < 0)
      return false;
    for (uint32_t i = 0; i < pv_at(v, parts[k].product)->n; i += 2)
      if (w[i + 1] % 2 && !pv_at(v, w[i])->nonnegative)
        return false;
  }
  return true;
}

static pv_value
intern_sum(pv_values *v, gs_dtype d, const pv_part *parts, uint32_t n) {
  assert(n);
  uint32_t words[PART_WORDS];
  bs_clear(&v->words);
  for (uint32_t k = 0; k < n; k++) {
    memcpy(words, &parts[k].times, sizeof parts[k].times);
    words[4] = parts[k].product;
    for (uint32_t i = 0; i < PART_WORDS; i++)
      bs_push(v->heap, &v->words, words[i]);
  }
  pv_node node = {.kind = PV_SUM,
                  .dtype = d,
                  .positive = is_positive(v, d, parts, n),
                  .nonnegative = is_nonnegative(v, d, parts, n)};
  return pv_intern(v, node, v->words.data, v->words.len);
}

/* Minus a sum is a sum, even where a sum that is rounded is a factor. */
static pv_value
minus_factor(pv_values *v, gs_dtype d, const pv_part *part) {
  pv_value x = pv_lone_factor(v, part->product);
  pv_number minus = pv_number_of_int(d, -1);
  if (!x || !gs_is_half(d) || pv_at(v, x)->kind != PV_SUM ||
      pv_at(v, x)->dtype != d || !pv_number_same(part->times, minus))
    return 0;
  uint32_t n = pv_n_parts(v, x);
  pv_part *parts = bs_alloc(v->heap, n * sizeof *parts);
  for (uint32_t k = 0; k < n; k++) {
    parts[k] = pv_part_at(v, x, k);
    parts[k].times.num = -parts[k].times.num;
  }
  pv_value made = intern_sum(v, d, parts, n);
  bs_free(v->heap, parts);
  return made;
}

static pv_value
close_parts(pv_values *v, gs_dtype d, pv_part *parts, uint32_t n) {
  uint32_t which = 0;
  bool sure = true;
  if (holds_lowest(v, parts, n, &sure)) {
    if (sure)
      return pv_lowest(v, d);
    v->unsure = true;
  }
  v->any_order |= gs_is_half(d) && n > 2;
  n = combine(v, d, parts, n);
  if (v->failed)
    return 0;
  if (!n)
    return pv_number_value(v, d, PV_ZERO);
  if (n == 1 && !pv_at(v, parts[0].product)->n)
    return pv_number_value(v, d, parts[0].times);
  pv_value factor = n == 1 ? pv_lone_factor(v, parts[0].product) : 0;
  if (factor && pv_number_same(parts[0].times, PV_ONE) &&
      pv_at(v, factor)->dtype == d)
    return factor;
  pv_value minus = n == 1 ? minus_factor(v, d, &parts[0]) : 0;
  if (minus)
    return minus;
  if (is_linear_extremum(v, d, parts, n, &which))
    return into_extremum(v, d, parts, n, which);
  return intern_sum(v, d, parts, n);
}

pv_value
pv_sum_close(pv_values *v, gs_dtype d, uint32_t mark) {
  assert(mark <= v->parts.len);
  uint32_t n = v->parts.len - mark;
  if (!pv_spend(v, n))
    return 0;
  pv_part *parts = bs_alloc(v->heap, (n + 1) * sizeof *parts);
  if (n)
    memcpy(parts, v->parts.data + mark, n * sizeof *parts);
  v->parts.len = mark;
  pv_value made = close_parts(v, d, parts, n);
  bs_free(v->heap, parts);
  return made;
}

pv_value
pv_scale(pv_values *v, gs_dtype d, pv_number times, pv_value x) {
  assert(times.den > 0);
  uint32_t mark = pv_sum_open(v);
  pv_sum_add(v, d, times, x);
  return pv_sum_close(v, d, mark);
}

pv_value
pv_embed(pv_values *v, gs_dtype d, pv_value x) {
  assert(d < GS_DTYPE_COUNT);
  pv_need_held(v, x);
  if (!x || pv_at(v, x)->dtype == d)
    return x;
  if (pv_at(v, x)->kind == PV_LOWEST)
    return pv_lowest(v, d);
  return pv_scale(v, d, PV_ONE, x);
}

pv_value
pv_power(pv_values *v, gs_dtype d, pv_value factor, int32_t power) {
  assert(power != 0);
  uint32_t words[2] = {factor, (uint32_t)power};
  uint32_t mark = pv_sum_open(v);
  pv_value product = factor ? product_of(v, words, 2) : 0;
  if (!product)
    return 0;
  push(v, PV_ONE, product);
  return pv_sum_close(v, d, mark);
}

/* --- products of sums ----------------------------------------------------- */

/* Three factors of a dtype that rounds each product? */
static bool
reorders(const pv_values *v, gs_dtype d, pv_value product) {
  const pv_node *p = pv_at(v, product);
  return gs_is_half(d) &&
         (p->n > 4 || (p->n && pv_words(v, product)[1] > (p->n == 4 ? 1 : 2)));
}

/* The parts of a factor of a product, at the end of the stack. */
static void
open_factor(pv_values *v, gs_dtype d, pv_value x) {
  if (pv_at(v, x)->kind == PV_SUM && pv_at(v, x)->dtype == d &&
      !opens(v, d, false, x))
    push(v, PV_ONE, single(v, x));
  else
    pv_sum_add(v, d, PV_ONE, x);
}

/* Factors of several parts: oo * (2 - 1) is oo, and 2 oo - oo is NaN. */
static void
distribute(pv_values *v, uint32_t from, uint32_t to, uint32_t others) {
  assert(from <= to && to <= v->parts.len);
  for (uint32_t k = from; k < to && others > 1; k++)
    pv_drop(v, v->parts.data[k].product);
}

static bool
is_abs(const pv_values *v, pv_value x) {
  return pv_at(v, x)->kind == PV_APPLY && pv_at(v, x)->op == GS_C_ABS;
}

/* Infinity times a positive number is infinity; all else is not looked into. */
static pv_value
multiply_lowest(pv_values *v, gs_dtype d, pv_value a, pv_value b) {
  assert(pv_at(v, a)->kind == PV_LOWEST || pv_at(v, b)->kind == PV_LOWEST);
  pv_value other = pv_at(v, a)->kind == PV_LOWEST ? b : a;
  pv_number number;
  pv_value args[2] = {a < b ? a : b, a < b ? b : a};
  if (pv_is_number(v, other, &number) && number.num > 0)
    return pv_lowest(v, d);
  v->unsure = true;
  return pv_apply_op(v, d, GS_C_MUL, 0, false, args, 2);
}

pv_value
pv_multiply(pv_values *v, gs_dtype d, pv_value a, pv_value b) {
  assert(d < GS_DTYPE_COUNT);
  if (!a || !b)
    return 0;
  if (pv_at(v, a)->kind == PV_LOWEST || pv_at(v, b)->kind == PV_LOWEST)
    return multiply_lowest(v, d, a, b);
  if (a == b && is_abs(v, a) && pv_at(v, a)->dtype == d) {
    a = pv_words(v, a)[0];
    return pv_multiply(v, d, a, a);
  }
  uint32_t mark = pv_sum_open(v);
  open_factor(v, d, a);
  uint32_t middle = v->parts.len;
  open_factor(v, d, b);
  uint32_t end = v->parts.len;
  uint64_t n = (uint64_t)(middle - mark) * (end - middle);
  if (!pv_spend(v, n)) {
    v->parts.len = mark;
    return 0;
  }
  distribute(v, mark, middle, end - middle);
  distribute(v, middle, end, middle - mark);
  for (uint32_t i = mark; i < middle; i++)
    for (uint32_t j = middle; j < end; j++) {
      pv_part x = v->parts.data[i], y = v->parts.data[j];
      pv_number number;
      pv_value product = merge_products(v, x.product, y.product);
      v->any_order |= reorders(v, d, product);
      if (times_number(v, d, x.times, y.times, &number))
        push(v, number, product);
    }
  pv_value made = pv_sum_close(v, d, end);
  v->parts.len = mark;
  return made;
}
