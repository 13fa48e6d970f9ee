/* SPDX-License-Identifier: MIT */
/* symbolic_number.c - polynomials over sizes, indices and quotients.
 *
 * Monomials and polynomials are interned.  A quotient that is no polynomial is
 * a variable of its own, one for each dividend and divisor, so that what is
 * taken apart into digits and put together again is what it was:
 * (x mod b) + b * (x / b) is x by arithmetic alone.
 *
 * Rules say that a monomial is a polynomial; applying one keeps the value, and
 * they are applied a bounded number of times. */
#include "prove/symbolic/symbolic_form.h"
#include "base/hash.h"
#include "base/whole.h"
#include <assert.h>
#include <string.h>

enum { MAX_NESTING = 6 }; /* of quotients being made again */

/* Only the first terms are meant: sums are made by the million, so the others
 * are never written. */
typedef struct sum {
  uint32_t n;
  fm_term at[FM_SUM];
} sum;

/* --- polynomials ---------------------------------------------------------- */

static void
add_term(fm_form *f, sum *s, int64_t times, uint16_t mono) {
  assert(f->why || mono < f->n_monos);
  uint32_t k = 0;
  while (k < s->n && s->at[k].mono < mono)
    k++;
  if (k < s->n && s->at[k].mono == mono) {
    if (__builtin_add_overflow(s->at[k].times, times, &s->at[k].times))
      fm_lose(f, "numbers too large");
    if (!s->at[k].times) {
      memmove(s->at + k, s->at + k + 1, (s->n - k - 1) * sizeof *s->at);
      s->n--;
    }
    return;
  }
  if (s->n == FM_SUM || times > INT64_MAX >> 8 || times < -(INT64_MAX >> 8)) {
    fm_lose(f, "numbers too large");
    return;
  }
  memmove(s->at + k + 1, s->at + k, (s->n - k) * sizeof *s->at);
  s->at[k] = (fm_term){.times = times, .mono = mono};
  s->n += 1;
}

static void
add_times(fm_form *f, sum *s, int64_t times, fm_number x, uint16_t mono) {
  assert(f->why || x < f->n_numbers);
  fm_poly p = f->number[x];
  for (uint32_t k = 0; k < p.n && times && !f->why; k++) {
    int64_t c;
    fm_term t = f->term[p.at + k];
    if (__builtin_mul_overflow(t.times, times, &c))
      fm_lose(f, "numbers too large");
    else
      add_term(f, s, c, mono ? fm_times_mono(f, t.mono, mono) : t.mono);
  }
}

static bool
is_sum(const fm_form *f, const fm_poly *p, const sum *s) {
  if (p->n != s->n)
    return false;
  for (uint32_t k = 0; k < s->n; k++)
    if (f->term[p->at + k].times != s->at[k].times ||
        f->term[p->at + k].mono != s->at[k].mono)
      return false;
  return true;
}

static fm_number
intern(fm_form *f, const sum *s) {
  uint64_t hash = s->n;
  for (uint32_t k = 0; k < s->n; k++) {
    uint64_t item[3] = {hash, (uint64_t)s->at[k].times, s->at[k].mono};
    hash = bs_hash(item, sizeof item);
  }
  uint32_t at = (uint32_t)hash & (FM_HASH - 1);
  for (; f->number_at[at]; at = (at + 1) & (FM_HASH - 1))
    if (is_sum(f, &f->number[f->number_at[at] - 1], s))
      return (fm_number)(f->number_at[at] - 1);
  if (f->n_numbers == FM_NUMBERS || f->n_terms + s->n > FM_TERMS) {
    fm_lose(f, "too many different numbers");
    return 0;
  }
  fm_poly p = {.at = f->n_terms, .n = (uint16_t)s->n};
  for (uint32_t k = 0; k < s->n; k++) {
    const fm_mono *m = &f->mono[s->at[k].mono];
    f->term[f->n_terms++] = s->at[k];
    p.frame = m->frame > p.frame ? m->frame : p.frame;
    p.real |= m->real;
  }
  f->number[f->n_numbers] = p;
  f->number_at[at] = (uint16_t)(f->n_numbers + 1);
  return (fm_number)f->n_numbers++;
}

/* The empty monomial is the first one. */
static void
prepare(fm_form *f) {
  fm_mono one;
  memset(&one, 0, sizeof one);
  if (!f->n_monos)
    fm_intern_mono(f, &one);
}

fm_number
fm_constant(fm_form *f, int64_t c) {
  sum s;
  s.n = 0;
  prepare(f);
  if (c)
    add_term(f, &s, c, 0);
  return intern(f, &s);
}

uint8_t
fm_variable(fm_form *f, fm_var like) {
  assert(like.kind <= FM_V_LITERAL);
  for (uint32_t k = 0; k < f->n_vars; k++) {
    const fm_var *v = &f->var[k];
    if (v->kind == like.kind && v->frame == like.frame && v->key == like.key &&
        v->of == like.of && v->by == like.by)
      return (uint8_t)k;
  }
  if (f->n_vars == FM_VARS) {
    fm_lose(f, "too many sizes and indices");
    return 0;
  }
  f->var[f->n_vars] = like;
  return (uint8_t)f->n_vars++;
}

fm_number
fm_of_mono(fm_form *f, uint16_t mono) {
  assert(f->why || mono < f->n_monos);
  sum s;
  s.n = 0;
  add_term(f, &s, 1, mono);
  return intern(f, &s);
}

fm_number
fm_of_variable(fm_form *f, uint8_t var) {
  assert(f->why || var < f->n_vars);
  fm_mono m;
  prepare(f);
  memset(&m, 0, sizeof m);
  m.n = 1;
  m.var[0] = var;
  fm_describe(f, &m);
  return fm_of_mono(f, fm_intern_mono(f, &m));
}

static fm_number
new_size(fm_form *f, bool bounded) {
  fm_var v = {
      .kind = FM_V_SIZE, .key = (uint16_t)f->n_vars, .bounded = bounded};
  return fm_of_variable(f, fm_variable(f, v));
}

fm_number
fm_parameter(fm_form *f) {
  return new_size(f, false);
}

fm_number
fm_dimension(fm_form *f) {
  return new_size(f, true);
}

fm_number
fm_combine(fm_form *f, int64_t a, fm_number x, int64_t b, fm_number y,
           int64_t c) {
  assert(f->why || !f->n_numbers || (x < f->n_numbers && y < f->n_numbers));
  sum s;
  s.n = 0;
  prepare(f);
  add_times(f, &s, a, x, 0);
  add_times(f, &s, b, y, 0);
  if (c)
    add_term(f, &s, c, 0);
  return intern(f, &s);
}

fm_number
fm_product(fm_form *f, fm_number x, fm_number y) {
  assert(f->why || (x < f->n_numbers && y < f->n_numbers));
  sum s;
  s.n = 0;
  fm_poly p = f->number[x];
  for (uint32_t k = 0; k < p.n && !f->why; k++)
    add_times(f, &s, f->term[p.at + k].times, y, f->term[p.at + k].mono);
  return intern(f, &s);
}

/* --- rules ---------------------------------------------------------------- */

/* Is it a part of another monomial there? */
static bool
occurs_below(fm_form *f, const fm_poly *p, uint16_t mono) {
  uint16_t rest;
  for (uint32_t k = 0; k < p->n; k++)
    if (f->term[p->at + k].mono != mono &&
        fm_over_mono(f, f->term[p->at + k].mono, mono, &rest))
      return true;
  return false;
}

bool
fm_add_rule(fm_form *f, fm_number zero) {
  assert(zero < f->n_numbers && f->n_rules <= FM_RULES);
  fm_poly p = f->number[zero];
  fm_term t = {0};
  sum s;
  s.n = 0;
  for (uint32_t k = 0; k < p.n; k++) {
    fm_term u = f->term[p.at + k];
    bool unit = u.times == 1 || u.times == -1;
    if (unit && f->mono[u.mono].n &&
        (!t.times || fm_compare_monos(f, u.mono, t.mono) > 0))
      t = u;
  }
  if (!t.times || f->n_rules == FM_RULES || occurs_below(f, &p, t.mono))
    return false;
  add_times(f, &s, -t.times, zero, 0);
  add_term(f, &s, 1, t.mono);
  f->rule[f->n_rules].mono = t.mono;
  f->rule[f->n_rules++].number = intern(f, &s);
  f->rules_at++;
  return true;
}

/* Takes out a rule whose left side the last one changes; what it says. */
bool
fm_overlap(fm_form *f, fm_number *zero) {
  uint16_t last = f->n_rules ? f->rule[f->n_rules - 1].mono : 0, rest;
  for (uint32_t k = 0; k + 1 < f->n_rules; k++) {
    sum s;
    s.n = 0;
    if (!fm_over_mono(f, f->rule[k].mono, last, &rest))
      continue;
    add_times(f, &s, -1, f->rule[k].number, 0);
    add_term(f, &s, 1, f->rule[k].mono);
    *zero = intern(f, &s);
    memmove(f->rule + k, f->rule + k + 1,
            (f->n_rules - k - 1) * sizeof *f->rule);
    f->n_rules--;
    f->rules_at++;
    return true;
  }
  return false;
}

/* A factor that all terms share, and that is not 0, does not matter. */
fm_number
fm_primitive(fm_form *f, fm_number x) {
  assert(f->why || x < f->n_numbers);
  fm_poly p = f->number[x];
  int64_t c = 0;
  uint16_t m = 0;
  sum s;
  s.n = 0;
  for (uint32_t k = 0; k < p.n; k++) {
    fm_term t = f->term[p.at + k];
    c = bs_gcd(t.times, c);
    m = k ? fm_common_mono(f, m, t.mono) : t.mono;
  }
  for (uint32_t i = 0; m && i < f->mono[m].n; i++)
    if (!f->var[f->mono[m].var[i]].positive)
      m = 0;
  for (uint32_t k = 0; k < p.n && c; k++) {
    fm_term t = f->term[p.at + k];
    uint16_t rest = t.mono;
    if (m)
      fm_over_mono(f, t.mono, m, &rest);
    add_term(f, &s, t.times / c, rest);
  }
  return c ? intern(f, &s) : x;
}

/* The quotient made again, when it is of what has another normal form by now.
 * A rule may say what a quotient is of by that quotient: nesting is bounded. */
static bool
quotient_again(fm_form *f, fm_number *x, uint8_t var) {
  assert(var < f->n_vars);
  fm_var v = f->var[var];
  bool was = f->whole_path;
  if (v.kind != FM_V_QUOTIENT ||
      (fm_normal(f, v.of) == v.of && fm_normal(f, v.by) == v.by))
    return false;
  /* the normal form is kept: only what always holds may be used */
  f->whole_path = true;
  fm_renaming r = {1, {var}, {fm_quotient(f, v.of, v.by)}};
  fm_number y = fm_rename(f, &r, *x);
  f->whole_path = was;
  bool changed = y != *x;
  *x = y;
  return changed && !f->why;
}

static bool
divide_again(fm_form *f, fm_number *x) {
  fm_poly p = f->number[*x];
  bool changed = false;
  if (f->nesting >= MAX_NESTING)
    return false;
  f->nesting++;
  for (uint32_t k = 0; k < p.n && !changed; k++) {
    fm_mono m = f->mono[f->term[p.at + k].mono];
    for (uint32_t i = 0; i < m.n && m.quotient && !changed; i++)
      changed = quotient_again(f, x, m.var[i]);
  }
  f->nesting--;
  return changed;
}

/* The monomial, times a factor, replaced by what the rule says it is. */
static fm_number
replace(fm_form *f, fm_number x, fm_term t, fm_number by, uint16_t rest) {
  sum s;
  s.n = 0;
  add_times(f, &s, 1, x, 0);
  add_term(f, &s, -t.times, t.mono);
  add_times(f, &s, t.times, by, rest);
  return intern(f, &s);
}

/* One step; false when no rule applies.  That none does is kept for the
 * monomial as long as the rules stay. */
static bool
rewrite(fm_form *f, fm_number *x) {
  fm_poly p = f->number[*x];
  for (uint32_t k = 0; k < p.n; k++) {
    fm_term t = f->term[p.at + k];
    if (f->settled_at[t.mono] == f->rules_at + 1)
      continue;
    for (uint32_t r = 0; r < f->n_rules; r++) {
      uint16_t rest;
      if (!fm_over_mono(f, t.mono, f->rule[r].mono, &rest))
        continue;
      *x = replace(f, *x, t, f->rule[r].number, rest);
      return !f->why;
    }
    f->settled_at[t.mono] = f->rules_at + 1;
  }
  return divide_again(f, x);
}

fm_number
fm_normal(fm_form *f, fm_number x) {
  assert(f->why || x < f->n_numbers);
  if (f->number[x].normal_at == f->rules_at + 1)
    return f->number[x].normal;
  fm_number y = x;
  for (uint32_t k = 0; k < 64 && rewrite(f, &y); k++)
    ;
  f->number[x].normal = y;
  f->number[x].normal_at = (uint16_t)(f->rules_at + 1);
  return y;
}

bool
fm_is_constant(fm_form *f, fm_number x, int64_t *out) {
  const fm_poly *p = &f->number[fm_normal(f, x)];
  if (p->n > 1 || (p->n && f->term[p->at].mono))
    return false;
  *out = p->n ? f->term[p->at].times : 0;
  return true;
}

/* --- quotients ------------------------------------------------------------ */

static bool
is_lone(const fm_form *f, fm_number x, fm_term *out) {
  const fm_poly *p = &f->number[x];
  if (p->n == 1)
    *out = f->term[p->at];
  return p->n == 1;
}

/* By one term: those that it divides. */
static void
divide_by_term(fm_form *f, fm_number x, fm_term by, sum *q, sum *rest) {
  fm_poly p = f->number[x];
  for (uint32_t k = 0; k < p.n; k++) {
    fm_term t = f->term[p.at + k];
    uint16_t m;
    if (!fm_over_mono(f, t.mono, by.mono, &m)) {
      add_term(f, rest, t.times, t.mono);
      continue;
    }
    int64_t c = t.times / by.times - (t.times % by.times < 0);
    if (c)
      add_term(f, q, c, m);
    if (t.times - c * by.times)
      add_term(f, rest, t.times - c * by.times, t.mono);
  }
}

bool
fm_divide(fm_form *f, fm_number x, fm_number by, fm_number *quotient,
          fm_number *rest) {
  assert(f->why || (x < f->n_numbers && by < f->n_numbers));
  sum q, r;
  q.n = r.n = 0;
  fm_term t;
  if (is_lone(f, by, &t) && t.times > 0) {
    divide_by_term(f, x, t, &q, &r);
  } else if (f->number[by].n) {
    /* a multiple of a sum: by what its greatest term takes */
    fm_poly p = f->number[by];
    fm_term lead = f->term[p.at];
    for (uint32_t k = 1; k < p.n; k++)
      if (fm_compare_monos(f, f->term[p.at + k].mono, lead.mono) > 0)
        lead = f->term[p.at + k];
    fm_number left = x;
    for (uint32_t step = 0; step < 8 && !f->why; step++) {
      fm_poly l = f->number[left];
      uint16_t m = 0;
      int64_t c = 0;
      for (uint32_t k = 0; k < l.n && !c; k++)
        if (f->term[l.at + k].times % lead.times == 0 &&
            fm_over_mono(f, f->term[l.at + k].mono, lead.mono, &m))
          c = f->term[l.at + k].times / lead.times;
      if (!c)
        break;
      sum next;
      next.n = 0;
      add_term(f, &q, c, m);
      add_times(f, &next, 1, left, 0);
      add_times(f, &next, -c, by, m);
      left = intern(f, &next);
    }
    add_times(f, &r, 1, left, 0);
  } else {
    return false;
  }
  *quotient = intern(f, &q);
  *rest = intern(f, &r);
  return !f->why;
}

/* The quotient that x is, alone. */
static const fm_var *
lone_quotient(const fm_form *f, fm_number x) {
  fm_term t;
  if (!is_lone(f, x, &t) || t.times != 1 || f->mono[t.mono].n != 1)
    return NULL;
  const fm_var *v = &f->var[f->mono[t.mono].var[0]];
  return v->kind == FM_V_QUOTIENT ? v : NULL;
}

static bool
is_natural(const fm_form *f, fm_number x) {
  const fm_poly *p = &f->number[x];
  for (uint32_t k = 0; k < p->n; k++) {
    const fm_mono *m = &f->mono[f->term[p->at + k].mono];
    if (f->term[p->at + k].times < 0)
      return false;
    for (uint32_t i = 0; i < m->n; i++)
      if (!f->var[m->var[i]].natural)
        return false;
  }
  return true;
}

/* (g * y + z) / (g * h) is y / h where 0 <= z < g. */
static bool
through_factor(fm_form *f, fm_number x, fm_number by, fm_number *out) {
  fm_poly p = f->number[x];
  fm_term b;
  if (!is_lone(f, by, &b))
    return false;
  for (uint32_t k = 0; k < p.n && !f->why; k++) {
    uint16_t m = fm_common_mono(f, f->term[p.at + k].mono, b.mono);
    sum s;
    s.n = 0;
    fm_number g, y, z, h, none;
    if (!m || m == b.mono)
      continue;
    add_term(f, &s, 1, m);
    g = intern(f, &s);
    if (!fm_divide(f, x, g, &y, &z) || !fm_divide(f, by, g, &h, &none) ||
        !fm_at_least(f, z, 0) || !fm_at_least(f, g, 1) ||
        !fm_implied(f, fm_combine(f, 1, g, -1, z, -1), false))
      continue;
    *out = fm_quotient(f, y, h);
    return true;
  }
  return false;
}

static fm_number
new_quotient(fm_form *f, fm_number rest, fm_number by) {
  assert(f->why || (rest < f->n_numbers && by < f->n_numbers));
  fm_var v = {.kind = FM_V_QUOTIENT, .of = rest, .by = by};
  v.frame = f->number[rest].frame > f->number[by].frame ? f->number[rest].frame
                                                        : f->number[by].frame;
  v.natural = is_natural(f, rest);
  uint8_t var = fm_variable(f, v);
  /* nothing is known but of the whole path */
  if (!f->frames && !f->var[var].natural && fm_at_least(f, rest, 0))
    f->var[var].natural = true;
  return fm_of_variable(f, var);
}

static fm_number
quotient(fm_form *f, fm_number x, fm_number by) {
  int64_t c;
  fm_number q, rest;
  x = fm_normal(f, x);
  by = fm_normal(f, by);
  if (f->number[x].real || f->number[by].real)
    fm_lose(f, "a quotient of literals");
  if (f->why || (fm_is_constant(f, by, &c) && c == 1))
    return x;
  if (!fm_divide(f, x, by, &q, &rest))
    return x;
  if (fm_at_least(f, rest, 0) &&
      fm_implied(f, fm_combine(f, 1, by, -1, rest, -1), false))
    return q;
  fm_number through;
  if (through_factor(f, rest, by, &through))
    return fm_combine(f, 1, q, 1, through, 0);
  const fm_var *inner = lone_quotient(f, rest);
  if (inner) {
    fm_number both = fm_product(f, inner->by, by);
    return fm_combine(f, 1, q, 1, fm_quotient(f, inner->of, both), 0);
  }
  return fm_combine(f, 1, q, 1, new_quotient(f, rest, by), 0);
}

fm_number
fm_quotient(fm_form *f, fm_number x, fm_number by) {
  f->nesting++;
  fm_number q = quotient(f, x, by);
  f->nesting--;
  return q;
}

/* --- variables in numbers ------------------------------------------------- */

bool
fm_linear_in(fm_form *f, fm_number x, uint8_t var, fm_number *a,
             fm_number *rest) {
  assert(var < f->n_vars);
  sum of, others;
  of.n = others.n = 0;
  fm_poly p = f->number[x];
  fm_number v = fm_of_variable(f, var);
  uint16_t mono = f->term[f->number[v].at].mono;
  for (uint32_t k = 0; k < p.n; k++) {
    fm_term t = f->term[p.at + k];
    uint16_t m;
    if (fm_over_mono(f, t.mono, mono, &m))
      add_term(f, &of, t.times, m);
    else
      add_term(f, &others, t.times, t.mono);
  }
  *a = intern(f, &of);
  *rest = intern(f, &others);
  return !fm_depends(f, *a, var) && !fm_depends(f, *rest, var);
}
