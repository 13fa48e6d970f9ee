/* SPDX-License-Identifier: MIT */
/* symbolic_function.c - functions of the expression language over parameters.
 *
 * Arithmetic and lists; what is not understood is unknown. */
#include "prove/symbolic/symbolic_form.h"
#include <assert.h>

static const fm_value unknown = {.kind = FM_UNKNOWN};

/* f64 holds whole numbers to 2^53; dimensions are at most 2^40, and literals of
 * integer dtypes are below that.  Strides and what is computed have no such
 * bound. */
#define MOST_TIMES    512
#define MOST_CONSTANT ((int64_t)1 << 50)
#define MOST_TERMS    8

typedef struct call {
  fm_form *f;
  const gs_expr *e;
  fm_value a[4];
  uint32_t n;
} call;

/* A constant argument from `least` to `most`. */
static bool
constant_at(const call *c, uint32_t k, int64_t least, int64_t most,
            uint32_t *out) {
  int64_t v;
  if (k >= c->n || c->a[k].kind != FM_INT ||
      !fm_is_constant(c->f, c->a[k].at[0], &v) || v < least || v > most)
    return false;
  *out = (uint32_t)v;
  return true;
}

/* The arguments but those that are 0. */
static call
without_zeros(const call *c) {
  call out = *c;
  int64_t zero;
  out.n = 0;
  for (uint32_t k = 0; k < c->n; k++)
    if (k + 1 == c->n && !out.n)
      out.a[out.n++] = c->a[k];
    else if (!fm_is_constant(c->f, c->a[k].at[0], &zero) || zero)
      out.a[out.n++] = c->a[k];
  return out;
}

/* The rounding of the arguments together; and are there literals, and those of
 * floats, among them? */
static fm_rounding
rounding_of(const call *c, bool *reals, bool *floats) {
  fm_rounding most = FM_EXACT;
  for (uint32_t k = 0; k < c->n; k++) {
    *reals |= c->f->number[c->a[k].at[0]].real;
    *floats |= fm_has_float(c->f, c->a[k].at[0]);
    most = c->a[k].rounding > most ? c->a[k].rounding : most;
  }
  return most;
}

/* A dimension, or a literal that an integer dtype takes. */
static bool
is_bounded(const fm_form *f, uint8_t var) {
  assert(var < f->n_vars);
  const fm_var *v = &f->var[var];
  return v->bounded || (v->kind == FM_V_LITERAL && v->whole);
}

/* Is a number one that f64 holds, whatever dimensions and literals of integers
 * it is of? */
static bool
is_small(const fm_form *f, fm_number x) {
  const fm_poly *p = &f->number[x];
  for (uint32_t k = 0; k < p->n; k++) {
    fm_term t = f->term[p->at + k];
    const fm_mono *m = &f->mono[t.mono];
    int64_t most = m->n ? MOST_TIMES : MOST_CONSTANT;
    if (m->n > 1 || t.times > most || t.times < -most ||
        (m->n && !is_bounded(f, m->var[0])))
      return false;
  }
  return p->n <= MOST_TERMS;
}

/* Does a run compute with an argument in f64? */
static bool
has_real(const call *c) {
  for (uint32_t k = 0; k < c->n; k++)
    if (c->a[k].kind == FM_INT && c->a[k].real)
      return true;
  return false;
}

/* Integers that an operator takes as literals are computed with in f64, and so
 * is what is computed from real numbers.  Is such a number as it should be? */
static bool
is_held(const call *c, fm_number x) {
  return (!c->f->number[x].real && !has_real(c)) || is_small(c->f, x);
}

/* What a run computes in f64, of sizes alone, has to be held there. */
static fm_value
of_reals(const call *c, fm_value v) {
  if (v.kind != FM_INT || !has_real(c))
    return v;
  v.real = true;
  return c->f->number[v.at[0]].real || is_small(c->f, v.at[0]) ? v : unknown;
}

static fm_value
sum_of(const call *c, int64_t sign) {
  bool reals = false, floats = false;
  for (uint32_t k = 0; k < c->n; k++)
    if (c->a[k].kind != FM_INT)
      return unknown;
  fm_value out = c->a[0];
  fm_rounding was = rounding_of(c, &reals, &floats);
  out.minus_zero &= c->n == 1 && sign > 0;
  if (c->n == 1) {
    out.at[0] = fm_combine(c->f, sign, out.at[0], 0, out.at[0], 0);
    return out;
  }
  if (reals && sign > 0) {
    call some = without_zeros(c);
    if (some.n == 1) {
      some.a[0].minus_zero = false;
      return some.a[0];
    }
  }
  if (was != FM_EXACT || (floats && c->n > 2))
    return unknown;
  bool held = true;
  for (uint32_t k = 1; k < c->n; k++) {
    out.at[0] = fm_combine(c->f, 1, out.at[0], sign, c->a[k].at[0], 0);
    held &= is_held(c, out.at[0]);
  }
  out.rounding = floats || !held ? FM_ROUNDED_SUM : FM_EXACT;
  return out;
}

static fm_value
fn_add(const call *c) {
  return sum_of(c, 1);
}

static fm_value
fn_sub(const call *c) {
  return sum_of(c, -1);
}

fm_value
fm_product_of(fm_form *f, const fm_number *at, uint32_t n) {
  assert(at || !n);
  fm_number x = fm_constant(f, 1);
  for (uint32_t k = 0; k < n; k++)
    x = fm_product(f, x, at[k]);
  return fm_of_number(x);
}

static fm_value
fn_mul(const call *c) {
  fm_number at[4];
  for (uint32_t k = 0; k < c->n; k++) {
    if (c->a[k].kind != FM_INT)
      return unknown;
    at[k] = c->a[k].at[0];
  }
  bool reals = false, floats = false;
  fm_rounding was = rounding_of(c, &reals, &floats);
  fm_value out = fm_product_of(c->f, at, c->n);
  out.minus_zero = reals && (c->n > 1 || c->a[0].minus_zero);
  bool rounds = floats || !is_held(c, out.at[0]);
  out.rounding =
      rounds && c->n > 1 && was == FM_EXACT ? FM_ROUNDED_PRODUCT : was;
  return out;
}

static fm_value
fn_prod(const call *c) {
  return c->a[0].kind == FM_LIST ? fm_product_of(c->f, c->a[0].at, c->a[0].n)
                                 : unknown;
}

static fm_value
fn_sum(const call *c) {
  fm_number x = fm_constant(c->f, 0);
  if (c->a[0].kind != FM_LIST)
    return unknown;
  for (uint32_t k = 0; k < c->a[0].n; k++)
    x = fm_combine(c->f, 1, x, 1, c->a[0].at[k], 0);
  return fm_of_number(x);
}

/* Of integers, by one that is known to be above 0.  Real numbers are not
 * rounded down, be they whole. */
static bool
divides_well(const call *c) {
  fm_form *f = c->f;
  return c->n == 2 && c->a[0].kind == FM_INT && c->a[1].kind == FM_INT &&
         !has_real(c) && !f->number[c->a[0].at[0]].real &&
         !f->number[c->a[1].at[0]].real && fm_at_least(f, c->a[1].at[0], 1);
}

static fm_value
fn_div(const call *c) {
  if (!divides_well(c))
    return unknown;
  return fm_of_number(fm_quotient(c->f, c->a[0].at[0], c->a[1].at[0]));
}

static fm_value
fn_ceil_div(const call *c) {
  if (!divides_well(c))
    return unknown;
  fm_number x = c->a[0].at[0];
  fm_number q =
      fm_quotient(c->f, fm_combine(c->f, -1, x, 0, x, 0), c->a[1].at[0]);
  return fm_of_number(fm_combine(c->f, -1, q, 0, q, 0));
}

static fm_value
fn_round_up(const call *c) {
  fm_value q = fn_ceil_div(c);
  return q.kind == FM_INT
             ? fm_of_number(fm_product(c->f, q.at[0], c->a[1].at[0]))
             : unknown;
}

static fm_value
fn_round_down(const call *c) {
  fm_value q = fn_div(c);
  return q.kind == FM_INT
             ? fm_of_number(fm_product(c->f, q.at[0], c->a[1].at[0]))
             : unknown;
}

static fm_value
fn_mod(const call *c) {
  fm_value q = fn_round_down(c);
  return q.kind == FM_INT
             ? fm_of_number(fm_combine(c->f, 1, c->a[0].at[0], -1, q.at[0], 0))
             : unknown;
}

/* The first where it is known to be the one. */
static fm_value
greater(const call *c, int64_t sign) {
  fm_form *f = c->f;
  if (c->n != 2 || c->a[0].kind != FM_INT || c->a[1].kind != FM_INT)
    return unknown;
  fm_number a = c->a[0].at[0], b = c->a[1].at[0];
  if (fm_implied(f, fm_combine(f, sign, a, -sign, b, 0), false))
    return c->a[0];
  return fm_implied(f, fm_combine(f, sign, b, -sign, a, 0), false) ? c->a[1]
                                                                   : unknown;
}

static fm_value
fn_max(const call *c) {
  return greater(c, 1);
}

static fm_value
fn_min(const call *c) {
  return greater(c, -1);
}

static fm_value
by_items(const call *c, char what) {
  fm_value out = c->a[0];
  if (out.kind != FM_LIST || c->a[1].kind != FM_LIST || out.n != c->a[1].n)
    return unknown;
  for (uint32_t k = 0; k < out.n; k++) {
    call item = {.f = c->f, .n = 2};
    item.a[0] = fm_of_number(c->a[0].at[k]);
    item.a[1] = fm_of_number(c->a[1].at[k]);
    fm_value v = what == '+'   ? fn_add(&item)
                 : what == '-' ? fn_sub(&item)
                 : what == '*' ? fn_mul(&item)
                 : what == '/' ? fn_div(&item)
                               : fn_mod(&item);
    if (v.kind != FM_INT)
      return unknown;
    out.at[k] = v.at[0];
  }
  return out;
}

static fm_value
fn_add_lists(const call *c) {
  return by_items(c, '+');
}

static fm_value
fn_sub_lists(const call *c) {
  return by_items(c, '-');
}

static fm_value
fn_mul_lists(const call *c) {
  return by_items(c, '*');
}

static fm_value
fn_div_lists(const call *c) {
  return by_items(c, '/');
}

static fm_value
fn_mod_lists(const call *c) {
  return by_items(c, '%');
}

/* Items and lists one after another. */
static fm_value
joined(const call *c, bool items, bool lists) {
  fm_value out = {.kind = FM_LIST};
  for (uint32_t k = 0; k < c->n; k++) {
    const fm_value *a = &c->a[k];
    if (!((a->kind == FM_INT && items) || (a->kind == FM_LIST && lists)) ||
        out.n + a->n > GS_MAX_RANK)
      return unknown;
    for (uint32_t i = 0; i < a->n; i++)
      out.at[out.n++] = a->at[i];
  }
  return out;
}

static fm_value
fn_list(const call *c) {
  return joined(c, true, false);
}

static fm_value
fn_append(const call *c) {
  return joined(c, false, true);
}

static fm_value
fn_cons(const call *c) {
  if (c->a[0].kind != FM_INT || c->a[1].kind != FM_LIST)
    return unknown;
  return joined(c, true, true);
}

static fm_value
cut(const fm_value *a, uint32_t from, uint32_t to) {
  assert(from <= to && to <= a->n);
  fm_value out = {.kind = FM_LIST, .n = to - from};
  for (uint32_t k = from; k < to; k++)
    out.at[k - from] = a->at[k];
  return out;
}

static fm_value
fn_take(const call *c) {
  uint32_t k;
  if (c->a[0].kind != FM_LIST || !constant_at(c, 1, 0, c->a[0].n, &k))
    return unknown;
  return cut(&c->a[0], 0, k);
}

static fm_value
fn_drop(const call *c) {
  uint32_t k;
  if (c->a[0].kind != FM_LIST || !constant_at(c, 1, 0, c->a[0].n, &k))
    return unknown;
  return cut(&c->a[0], k, c->a[0].n);
}

static fm_value
fn_slice_list(const call *c) {
  uint32_t lo, hi;
  if (c->a[0].kind != FM_LIST || !constant_at(c, 2, 0, c->a[0].n, &hi) ||
      !constant_at(c, 1, 0, hi, &lo))
    return unknown;
  return cut(&c->a[0], lo, hi);
}

static fm_value
fn_nth(const call *c) {
  uint32_t k;
  if (c->a[0].kind != FM_LIST ||
      !constant_at(c, 1, 0, (int64_t)c->a[0].n - 1, &k))
    return unknown;
  return fm_of_number(c->a[0].at[k]);
}

static fm_value
fn_last(const call *c) {
  if (c->a[0].kind != FM_LIST || !c->a[0].n)
    return unknown;
  return fm_of_number(c->a[0].at[c->a[0].n - 1]);
}

static fm_value
fn_set_nth(const call *c) {
  fm_value out = c->a[0];
  uint32_t k;
  if (out.kind != FM_LIST || c->a[2].kind != FM_INT ||
      !constant_at(c, 1, 0, (int64_t)out.n - 1, &k))
    return unknown;
  out.at[k] = c->a[2].at[0];
  return out;
}

static fm_value
fn_insert_nth(const call *c) {
  fm_value out = c->a[0];
  uint32_t k;
  if (out.kind != FM_LIST || c->a[2].kind != FM_INT || out.n == GS_MAX_RANK ||
      !constant_at(c, 1, 0, out.n, &k))
    return unknown;
  for (uint32_t i = out.n++; i > k; i--)
    out.at[i] = out.at[i - 1];
  out.at[k] = c->a[2].at[0];
  return out;
}

static fm_value
fn_remove_nth(const call *c) {
  fm_value out = c->a[0];
  uint32_t k;
  if (out.kind != FM_LIST || !constant_at(c, 1, 0, (int64_t)out.n - 1, &k))
    return unknown;
  for (out.n--; k < out.n; k++)
    out.at[k] = out.at[k + 1];
  return out;
}

static fm_value
fn_reverse(const call *c) {
  fm_value out = c->a[0];
  if (out.kind != FM_LIST)
    return unknown;
  for (uint32_t k = 0; k < out.n; k++)
    out.at[k] = c->a[0].at[out.n - 1 - k];
  return out;
}

static fm_value
fn_len(const call *c) {
  return c->a[0].kind == FM_LIST ? fm_of_number(fm_constant(c->f, c->a[0].n))
                                 : unknown;
}

static fm_value
fn_fill(const call *c) {
  fm_value out = {.kind = FM_LIST};
  if (c->a[1].kind != FM_INT || !constant_at(c, 0, 0, GS_MAX_RANK, &out.n))
    return unknown;
  for (uint32_t k = 0; k < out.n; k++)
    out.at[k] = c->a[1].at[0];
  return out;
}

/* Item b[i] of a. */
static fm_value
fn_permute(const call *c) {
  fm_value out = c->a[1];
  int64_t at;
  if (out.kind != FM_LIST || c->a[0].kind != FM_LIST)
    return unknown;
  for (uint32_t k = 0; k < out.n; k++) {
    if (!fm_is_constant(c->f, c->a[1].at[k], &at) || at < 0 || at >= c->a[0].n)
      return unknown;
    out.at[k] = c->a[0].at[at];
  }
  return out;
}

static const struct {
  const char *name;
  fm_value (*eval)(const call *);
} functions[] = {
    {"+", fn_add},
    {"-", fn_sub},
    {"*", fn_mul},
    {"/", fn_div},
    {"mod", fn_mod},
    {"ceil-div", fn_ceil_div},
    {"round-up", fn_round_up},
    {"round-down", fn_round_down},
    {"max", fn_max},
    {"min", fn_min},
    {"prod", fn_prod},
    {"sum", fn_sum},
    {"len", fn_len},
    {"rank", fn_len},
    {"list", fn_list},
    {"append", fn_append},
    {"cons", fn_cons},
    {"take", fn_take},
    {"drop", fn_drop},
    {"slice-list", fn_slice_list},
    {"nth", fn_nth},
    {"last", fn_last},
    {"set-nth", fn_set_nth},
    {"insert-nth", fn_insert_nth},
    {"remove-nth", fn_remove_nth},
    {"reverse", fn_reverse},
    {"fill", fn_fill},
    {"permute", fn_permute},
    {"add-lists", fn_add_lists},
    {"sub-lists", fn_sub_lists},
    {"mul-lists", fn_mul_lists},
    {"div-lists", fn_div_lists},
    {"mod-lists", fn_mod_lists},
};

/* Lists are of sizes and places. */
static fm_value
without_literals(const fm_form *f, fm_value v) {
  for (uint32_t k = 0; k < v.n && v.kind == FM_LIST; k++)
    if (f->number[v.at[k]].real)
      return unknown;
  return v;
}

fm_value
fm_call(fm_form *f, const gs_expr *e) {
  call c = {.f = f, .e = e, .n = e->n_args};
  if (c.n > 4 || !c.n)
    return unknown;
  for (uint32_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
    if (!gs_expr_is_call(e, functions[k].name))
      continue;
    for (uint32_t i = 0; i < c.n; i++)
      c.a[i] = fm_eval(f, e->args[i]);
    return of_reals(&c, without_literals(f, functions[k].eval(&c)));
  }
  return unknown;
}
