/* SPDX-License-Identifier: MIT */
/* symbolic_known.c - what is known of numbers, questions about it, and cases.
 *
 * What is known is a conjunction of polynomials that are at least 0.  A
 * question is whether they and the opposite of what is asked have no common
 * point, with monomials taken for variables of their own: that leaves out what
 * ties them together, so an answer "no point" stays right.  Some of what ties
 * them is put back: a row times a monomial that is never negative is a row.
 *
 * Cases are taken path by path: a frame remembers which it chose, is run
 * through again from its start, and takes the second of the last that it has
 * not taken yet. */
#include "prove/symbolic/symbolic_form.h"
#include <assert.h>
#include <string.h>

enum { MAX_COLUMNS = SY_COLUMNS, MAX_SYSTEM = SY_ROWS, MAX_DEGREE = 4 };

/* --- rows ----------------------------------------------------------------- */

static void
put_row(fm_form *f, fm_number x, uint8_t frame) {
  assert(f->why || x < f->n_numbers);
  if (f->number[x].real)
    return; /* what is left out is only not known */
  if (f->n_rows == FM_ROWS) {
    fm_fail(f, "too many conditions");
    return;
  }
  f->row[f->n_rows++] = (fm_row){x, frame};
  f->facts++;
  const fm_poly *p = &f->number[x];
  /* v - c >= 0 */
  for (uint32_t k = 0; k < p->n && !frame; k++) {
    fm_term t = f->term[p->at + k], other = f->term[p->at + (k ? 0 : p->n - 1)];
    if (t.times <= 0 || f->mono[t.mono].n != 1 ||
        !(p->n == 1 || (p->n == 2 && !other.mono && other.times <= 0)))
      continue;
    f->var[f->mono[t.mono].var[0]].natural = true;
    f->var[f->mono[t.mono].var[0]].positive |= p->n == 2;
  }
}

/* A product of sizes that is 1: each of them is. */
static uint32_t
ones_of(fm_form *f, fm_number x, fm_number *out, uint32_t most) {
  fm_poly p = f->number[x];
  uint32_t n = 0;
  if (p.n != 2 || f->term[p.at].mono ||
      f->term[p.at].times + f->term[p.at + 1].times)
    return 0;
  fm_mono m = f->mono[f->term[p.at + 1].mono];
  for (uint32_t k = 0; k < m.n; k++)
    if (!f->var[m.var[k]].positive)
      return 0;
  for (uint32_t k = 0; k < m.n && m.n > 1 && n < most; k++) {
    fm_number v = fm_of_variable(f, m.var[k]);
    out[n++] = fm_combine(f, 1, v, 0, v, -1);
  }
  return n;
}

/* Rules are made anew where others change what they are about. */
static void
take_equation(fm_form *f, fm_number zero) {
  fm_number todo[FM_RULES];
  uint32_t n = 0;
  int64_t c;
  todo[n++] = zero;
  for (uint32_t k = 0; n && k < 100 && !f->why; k++) {
    fm_number x = fm_primitive(f, fm_normal(f, todo[--n]));
    if (fm_is_constant(f, x, &c)) {
      f->nothing |= c != 0;
      continue;
    }
    n += ones_of(f, x, todo + n, FM_RULES - n);
    if (!fm_add_rule(f, x)) {
      put_row(f, x, 0);
      put_row(f, fm_combine(f, -1, x, 0, x, 0), 0);
      continue;
    }
    while (n < FM_RULES && fm_overlap(f, &todo[n]))
      n++;
  }
  for (uint32_t k = 0; k < n && !f->why; k++) {
    put_row(f, todo[k], 0);
    put_row(f, fm_combine(f, -1, todo[k], 0, todo[k], 0), 0);
  }
}

void
fm_assume(fm_form *f, fm_number x, bool zero) {
  assert(f->why || x < f->n_numbers);
  int64_t c;
  if (f->why)
    return;
  x = fm_normal(f, x);
  if (zero) {
    take_equation(f, x);
    return;
  }
  f->nothing |= fm_is_constant(f, x, &c) && c < 0;
  put_row(f, x, 0);
}

static void
forget(fm_form *f, uint8_t frame) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < f->n_rows; k++)
    if (f->row[k].frame < frame)
      f->row[kept++] = f->row[k];
  f->n_rows = kept;
  f->facts++;
}

/* A row of the frame that is open, and the rows back to a mark. */
void
fm_know(fm_form *f, fm_number x) {
  assert(f->why || x < f->n_numbers);
  put_row(f, x, (uint8_t)f->frames);
}

void
fm_forget(fm_form *f, uint32_t rows) {
  assert(rows <= f->n_rows);
  f->n_rows = rows;
  f->facts++;
}

/* --- systems -------------------------------------------------------------- */

typedef struct lp {
  fm_form *f;
  uint32_t n_columns, n;
  uint16_t column[MAX_COLUMNS]; /* monomials */
  fm_number row[MAX_SYSTEM];
} lp;

static int32_t
column_of(const lp *s, uint16_t mono) {
  for (uint32_t k = 0; k < s->n_columns; k++)
    if (s->column[k] == mono)
      return (int32_t)k;
  return -1;
}

static bool
touches(const lp *s, fm_number x) {
  const fm_poly *p = &s->f->number[x];
  for (uint32_t k = 0; k < p->n; k++)
    if (s->f->term[p->at + k].mono &&
        column_of(s, s->f->term[p->at + k].mono) >= 0)
      return true;
  return false;
}

/* A row that does not fit is left out. */
static bool
add_to(lp *s, fm_number x) {
  const fm_poly *p = &s->f->number[x];
  uint32_t n = s->n_columns;
  for (uint32_t k = 0; k < s->n; k++)
    if (s->row[k] == x)
      return false;
  if (s->n == MAX_SYSTEM || p->real)
    return false;
  for (uint32_t k = 0; k < p->n; k++) {
    uint16_t mono = s->f->term[p->at + k].mono;
    if (!mono || column_of(s, mono) >= 0)
      continue;
    if (s->n_columns == MAX_COLUMNS) {
      s->n_columns = n;
      return false;
    }
    s->column[s->n_columns++] = mono;
  }
  s->row[s->n++] = x;
  return true;
}

/* by * q <= of < by * q + by */
static bool
add_quotient(lp *s, uint8_t var) {
  assert(var < s->f->n_vars);
  fm_form *f = s->f;
  const fm_var *v = &f->var[var];
  if (v->kind != FM_V_QUOTIENT)
    return false;
  fm_number of = v->of, by = v->by;
  fm_number q = fm_product(f, by, fm_of_variable(f, var));
  fm_number left = fm_combine(f, 1, of, -1, q, 0);
  bool more = add_to(s, fm_normal(f, left));
  left = fm_combine(f, 1, by, -1, left, -1);
  return add_to(s, fm_normal(f, left)) || more;
}

static bool
add_definitions(lp *s) {
  bool more = false;
  for (uint32_t k = 0; k < s->n_columns; k++) {
    fm_mono m = s->f->mono[s->column[k]];
    for (uint32_t i = 0; i < m.n; i++)
      more |= add_quotient(s, m.var[i]);
  }
  return more;
}

/* Quotients of what the system is about. */
static bool
add_quotients(lp *s) {
  fm_form *f = s->f;
  bool more = false;
  for (uint32_t k = 0; k < f->n_vars && !f->why; k++)
    if (f->var[k].kind == FM_V_QUOTIENT && f->var[k].frame <= f->frames &&
        touches(s, f->var[k].of))
      more |= add_quotient(s, (uint8_t)k);
  return more;
}

static bool
is_natural(const fm_form *f, const fm_mono *m, uint32_t but) {
  for (uint32_t k = 0; k < m->n; k++)
    if (k != but && !f->var[m->var[k]].natural)
      return false;
  return true;
}

static uint32_t
degree_of(const fm_form *f, fm_number x) {
  const fm_poly *p = &f->number[x];
  uint32_t most = 0;
  for (uint32_t k = 0; k < p->n; k++) {
    uint32_t n = f->mono[f->term[p->at + k].mono].n;
    most = n > most ? n : most;
  }
  return most;
}

static bool
reads(const fm_form *f, fm_number x, uint16_t mono) {
  const fm_poly *p = &f->number[x];
  for (uint32_t k = 0; k < p->n; k++)
    if (f->term[p->at + k].mono == mono)
      return true;
  return false;
}

/* The rows about one variable, times the others of the monomial. */
static bool
multiply_rows(lp *s, fm_mono m, uint32_t which) {
  assert(which < m.n);
  fm_form *f = s->f;
  bool more = false;
  if (!is_natural(f, &m, which))
    return false;
  fm_number v = fm_of_variable(f, m.var[which]), rest = fm_constant(f, 1);
  uint16_t mono = f->term[f->number[v].at].mono;
  bool positive = true;
  for (uint32_t k = 0; k < m.n; k++)
    if (k != which) {
      rest = fm_product(f, rest, fm_of_variable(f, m.var[k]));
      positive &= f->var[m.var[k]].positive;
    }
  for (uint32_t r = 0; r <= f->n_rows && !f->why; r++) {
    bool goal = r == f->n_rows;
    if (!goal && f->whole_path && f->row[r].frame)
      continue;
    fm_number x = fm_normal(f, goal ? s->row[0] : f->row[r].number);
    if (!reads(f, x, mono) || degree_of(f, x) + m.n - 1 > MAX_DEGREE)
      continue;
    fm_number product = fm_product(f, x, rest);
    more |= add_to(s, fm_normal(f, product));
    if (positive)
      more |= add_to(s, fm_normal(f, fm_combine(f, 1, product, -1, x, 0)));
  }
  return more;
}

static bool
add_products(lp *s) {
  bool more = false;
  for (uint32_t k = 0; k < s->n_columns && !s->f->why; k++) {
    fm_mono m = s->f->mono[s->column[k]];
    for (uint32_t i = 0; i < m.n && m.n > 1; i++)
      if (!i || m.var[i] != m.var[i - 1])
        more |= multiply_rows(s, m, i);
  }
  return more;
}

static bool
is_positive(const fm_form *f, const fm_mono *m) {
  for (uint32_t k = 0; k < m->n; k++)
    if (!f->var[m->var[k]].positive)
      return false;
  return true;
}

/* A monomial of what is never negative is never negative, and at least 1 where
 * each of it is. */
static void
add_naturals(lp *s) {
  for (uint32_t k = 0; k < s->n_columns; k++) {
    fm_mono m = s->f->mono[s->column[k]];
    if (!is_natural(s->f, &m, FM_DEGREE))
      continue;
    fm_number x = fm_of_mono(s->f, s->column[k]);
    add_to(s, fm_combine(s->f, 1, x, 0, x, -is_positive(s->f, &m)));
  }
}

static bool
add_rows(lp *s) {
  bool more = false;
  for (uint32_t k = 0; k < s->f->n_rows; k++) {
    if (s->f->whole_path && s->f->row[k].frame)
      continue;
    fm_number x = fm_normal(s->f, s->f->row[k].number);
    if (touches(s, x))
      more |= add_to(s, x);
  }
  return more;
}

static bool
has_no_point(const lp *s) {
  fm_form *f = s->f;
  sy_system system;
  sy_start(&system, s->n_columns, s->n);
  for (uint32_t r = 0; r < s->n; r++) {
    const fm_poly *p = &f->number[s->row[r]];
    sy_row(&system, p->n);
    for (uint32_t k = 0; k < p->n; k++) {
      fm_term t = f->term[p->at + k];
      sy_term(&system, t.mono ? (uint32_t)column_of(s, t.mono) + 1 : 0,
              t.times);
    }
  }
  pv_count(f->of->counts, PV_W_SYSTEMS, 1);
  sy_answer answer = sy_ask(f->of->systems, f->isl, &system);
  if (answer == SY_UNKNOWN)
    fm_fail(f, "a bound of work was reached");
  return answer == SY_NO_POINT;
}

/* The constant term of a number, and the terms behind it. */
static int64_t
constant_of(const fm_form *f, fm_number x, const fm_term **rest, uint32_t *n) {
  const fm_poly *p = &f->number[x];
  const fm_term *t = &f->term[p->at];
  bool constant = p->n && !t->mono;
  *rest = t + constant;
  *n = p->n - constant;
  return constant ? t->times : 0;
}

/* Is x at least y for all values, as only their constant terms differ? */
static bool
is_beside(const fm_form *f, fm_number x, fm_number y) {
  const fm_term *a, *b;
  uint32_t n, m;
  if (constant_of(f, x, &a, &n) < constant_of(f, y, &b, &m) || n != m)
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (a[k].mono != b[k].mono || a[k].times != b[k].times)
      return false;
  return true;
}

/* A row and a number that is not negative make it up. */
static bool
is_plain(fm_form *f, fm_number x) {
  for (uint32_t k = 0; k < f->n_rows; k++)
    if (!(f->whole_path && f->row[k].frame) &&
        is_beside(f, x, fm_normal(f, f->row[k].number)))
      return true;
  return false;
}

static bool
ask(fm_form *f, fm_number x) {
  assert(f->why || x < f->n_numbers);
  int64_t c;
  lp s = {.f = f};
  x = fm_normal(f, x);
  if (fm_is_constant(f, x, &c))
    return c >= 0;
  if (f->number[x].real || f->why)
    return false;
  if (is_plain(f, x))
    return true;
  if (!add_to(&s, fm_combine(f, -1, x, 0, x, -1)))
    return false;
  for (uint32_t k = 0; k < 3; k++) {
    while (add_rows(&s))
      ;
    bool more = add_definitions(&s);
    if (!add_products(&s) && !more)
      break;
  }
  add_naturals(&s);
  if (f->why || has_no_point(&s))
    return !f->why;
  if (!f->careful || !add_quotients(&s))
    return false;
  for (uint32_t k = 0; k < 2; k++) {
    while (add_rows(&s))
      ;
    add_products(&s);
  }
  add_naturals(&s);
  return !f->why && has_no_point(&s);
}

/* What an answer rests on, and never 0; 0 where it does not fit. */
static uint64_t
stamp_of(const fm_form *f) {
  if (f->rules_at >> 30)
    return 0;
  uint64_t facts = (uint64_t)f->facts << 1 | f->whole_path;
  return ((uint64_t)f->rules_at << 33 | facts) + 1;
}

/* Answers are kept while what is known stays as it is. */
static bool
never_negative(fm_form *f, fm_number x) {
  x = fm_normal(f, x);
  uint64_t now = stamp_of(f);
  fm_poly *p = &f->number[x];
  if (now && p->asked_at == now)
    return p->answer;
  bool answer = ask(f, x);
  f->number[x].asked_at = stamp_of(f);
  f->number[x].answer = answer;
  return answer;
}

/* What is known on the path as a whole has no point: nothing takes it. */
bool
fm_is_contradiction(fm_form *f) {
  lp s = {.f = f};
  const char *why = f->why;
  if (f->lost)
    return false;
  f->why = NULL;
  forget(f, 1);
  for (uint32_t k = 0; k < f->n_rows; k++)
    add_to(&s, fm_normal(f, f->row[k].number));
  bool none = f->nothing || (!f->why && has_no_point(&s));
  f->why = why;
  return none;
}

bool
fm_implied(fm_form *f, fm_number x, bool zero) {
  assert(f->why || x < f->n_numbers);
  if (f->why)
    return false;
  x = fm_normal(f, x);
  if (zero && !f->number[x].n)
    return true;
  return never_negative(f, x) &&
         (!zero || never_negative(f, fm_combine(f, -1, x, 0, x, 0)));
}

bool
fm_at_least(fm_form *f, fm_number x, int64_t least) {
  return fm_implied(f, fm_combine(f, 1, x, 0, x, -least), false);
}

bool
fm_is_equal(fm_form *f, fm_number x, fm_number y) {
  return fm_implied(f, fm_combine(f, 1, x, -1, y, 0), true);
}

bool
fm_is_one(fm_form *f, fm_number x) {
  return fm_implied(f, fm_combine(f, 1, x, 0, x, -1), true);
}

void
fm_need(fm_form *f, fm_number x, bool zero) {
  if (!f->right)
    fm_assume(f, x, zero);
  else if (!fm_implied(f, x, zero))
    fm_fail(f, "the right side is not shown to have a type");
}

void
fm_need_equal(fm_form *f, fm_number x, fm_number y) {
  fm_need(f, fm_combine(f, 1, x, -1, y, 0), true);
}

void
fm_need_at_least(fm_form *f, fm_number x, int64_t least) {
  fm_need(f, fm_combine(f, 1, x, 0, x, -least), false);
}

/* --- cases ---------------------------------------------------------------- */

/* The second case of the next choice of a frame? */
static bool
choose(fm_form *f, uint32_t frame, fm_number asked) {
  assert(frame < FM_FRAMES);
  fm_frame *x = &f->frame[frame];
  if (x->at == FM_CHOICES) {
    fm_fail(f, "too many cases");
    return false;
  }
  uint32_t k = x->at++;
  if (k < x->n && x->asked[k] != asked)
    fm_fail(f, "cases that change");
  if (k == x->n) {
    x->n++;
    x->second &= ~(1u << k);
  }
  x->asked[k] = asked;
  return x->second >> k & 1;
}

bool
fm_choose(fm_form *f) {
  return choose(f, 0, UINT16_MAX);
}

bool
fm_decide(fm_form *f, fm_number x) {
  assert(f->why || x < f->n_numbers);
  x = fm_normal(f, x);
  fm_number not = fm_combine(f, -1, x, 0, x, -1);
  if (f->why || fm_implied(f, x, false))
    return true;
  if (f->number[x].real) {
    fm_fail(f, "a comparison of literals");
    return true;
  }
  if (fm_implied(f, not, false))
    return false;
  uint8_t frame = f->number[x].frame;
  if (frame > f->frames) {
    fm_fail(f, "a case of an item that is gone");
    return true;
  }
  bool second = choose(f, frame, x);
  put_row(f, second ? not : x, frame);
  return !second;
}

/* Frame 0 is opened and closed by the prover. */
bool
fm_open(fm_form *f) {
  if (f->frames + 1 == FM_FRAMES) {
    fm_fail(f, "reductions nested deeply");
    return false;
  }
  f->frame[++f->frames] = (fm_frame){0};
  return true;
}

void
fm_start(fm_form *f) {
  f->frame[f->frames].at = 0;
}

bool
fm_next(fm_form *f) {
  fm_frame *x = &f->frame[f->frames];
  forget(f, (uint8_t)f->frames);
  x->n = x->at < x->n ? x->at : x->n;
  while (x->n && x->second >> (x->n - 1) & 1)
    x->n--;
  if (x->n)
    x->second |= 1u << (x->n - 1);
  return x->n > 0;
}

void
fm_close(fm_form *f) {
  /* The outermost frame is the form's own. */
  assert(f->frames);
  forget(f, (uint8_t)f->frames);
  f->frames--;
}
