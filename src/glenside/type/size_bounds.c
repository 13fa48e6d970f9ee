/* SPDX-License-Identifier: MIT */
/* size_bounds.c - what holds of numbers for all sizes.
 *
 * A bound of a polynomial is the sum of its terms' bounds, which is exact where
 * each size is in one term and no term has two.  Quotients are bounded by what
 * is divided, too, as n - 8 (n / 8) is by 0.  Where bounds do not tell, sizes
 * are tried: their bounds, the numbers next to these, and some between. */
#include "glenside/type/sizes.h"
#include "base/random.h"
#include <assert.h>
#include <string.h>

typedef struct span {
  bs_int128 lo, hi;
} span;

/* No bound that matters is that far out. */
#define FAR ((bs_int128)1 << 100)

static bs_int128
clamp(bs_int128 x) {
  return x > FAR ? FAR : x < -FAR ? -FAR : x;
}

static span
times(span a, int64_t lo, int64_t hi) {
  bs_int128 most = (bs_int128)1 << 62;
  if (a.lo < -most || a.hi > most)
    return (span){-FAR, FAR};
  bs_int128 c[4] = {a.lo * lo, a.lo * hi, a.hi * lo, a.hi * hi};
  span out = {c[0], c[0]};
  for (uint32_t k = 1; k < 4; k++) {
    out.lo = c[k] < out.lo ? c[k] : out.lo;
    out.hi = c[k] > out.hi ? c[k] : out.hi;
  }
  return out;
}

static span
term_span(const gs_sizes *s, const gs_size_term *t) {
  span x = {t->by, t->by};
  for (uint32_t k = 0; k < t->n; k++) {
    gs_atom atom = gs_atom_of(s, t->atom[k]);
    x = times(x, atom.lo, atom.hi);
  }
  return x;
}

static span
span_of(const gs_sizes *s, const gs_polynomial *p) {
  span sum = {0, 0};
  if (p->bad)
    return (span){-FAR, FAR};
  for (uint32_t k = 0; k < p->n; k++) {
    span x = term_span(s, &p->term[k]);
    sum = (span){clamp(sum.lo + x.lo), clamp(sum.hi + x.hi)};
  }
  return sum;
}

/* The polynomial with by * (x / by) as x, or as x - by + 1 where that is less
 * (more, for an upper bound). */
static void
undivide(const gs_sizes *s, const gs_polynomial *p, bool upper,
         gs_polynomial *out) {
  *out = (gs_polynomial){.bad = p->bad};
  for (uint32_t k = 0; k < p->n; k++) {
    const gs_size_term *t = &p->term[k];
    gs_atom atom = t->n == 1 ? gs_atom_of(s, t->atom[0]) : (gs_atom){0};
    gs_polynomial x = {.n = 1, .term = {*t}};
    bool whole =
        t->n == 1 && atom.size == GS_MOST_SIZES && t->by % atom.by == 0;
    if (!whole) {
      gs_add_polynomial(out, 1, &x);
      continue;
    }
    int64_t by = t->by / atom.by;
    x.term[0] = (gs_size_term){.by = 1 - atom.by};
    if ((by > 0) != upper && atom.by > 1)
      gs_add_polynomial(out, by, &x);
    gs_polynomial_of(s, atom.of, &x);
    gs_add_polynomial(out, by, &x);
  }
}

/* The least number by which the polynomial is multiplied so that the factor of
 * each quotient that is a term by itself is a multiple of its divisor; 0: none
 * that is not too large. */
static int64_t
scale_of(const gs_sizes *s, const gs_polynomial *p) {
  int64_t scale = 1;
  for (uint32_t k = 0; k < p->n; k++) {
    const gs_size_term *t = &p->term[k];
    gs_atom atom = t->n == 1 ? gs_atom_of(s, t->atom[0]) : (gs_atom){0};
    if (t->n != 1 || atom.size != GS_MOST_SIZES)
      continue;
    int64_t more = atom.by / bs_gcd(t->by, atom.by);
    if (__builtin_mul_overflow(scale / bs_gcd(scale, more), more, &scale))
      return 0;
  }
  return scale;
}

static bs_int128
divide(bs_int128 x, int64_t by, bool up) {
  bs_int128 q = x / by, rest = x % by;
  if (x >= FAR || x <= -FAR)
    return x;
  return q + (up ? rest > 0 : -(rest < 0));
}

/* A bound by what is divided, as n - n / 3 is at least 0 because three times it
 * is at least 3 n - n.  Quotients stand in one another three deep at most. */
static bs_int128
bound_by_scale(const gs_sizes *s, const gs_polynomial *p, bool upper) {
  gs_polynomial x = *p, y;
  span plain = span_of(s, p);
  bs_int128 best = upper ? plain.hi : plain.lo;
  int64_t scale = 1;
  for (uint32_t k = 0; k < 3; k++) {
    int64_t more = scale_of(s, &x);
    if (!more || __builtin_mul_overflow(scale, more, &scale))
      break;
    y = (gs_polynomial){.bad = x.bad};
    gs_add_polynomial(&y, more, &x);
    undivide(s, &y, upper, &x);
    span now = span_of(s, &x);
    bs_int128 bound = divide(upper ? now.hi : now.lo, scale, !upper);
    best = upper ? (bound < best ? bound : best) : bound > best ? bound : best;
  }
  return best;
}

static span
bounds_of(const gs_sizes *s, gs_number x) {
  gs_polynomial p;
  gs_polynomial_of(s, x, &p);
  return (span){bound_by_scale(s, &p, false), bound_by_scale(s, &p, true)};
}

int64_t
gs_least_of(const gs_sizes *s, gs_number x) {
  return gs_is_sized(x) ? gs_saturated(bounds_of(s, x).lo) : x;
}

int64_t
gs_most_of(const gs_sizes *s, gs_number x) {
  return gs_is_sized(x) ? gs_saturated(bounds_of(s, x).hi) : x;
}

/* Quotients stand in one another three deep at most. */
bool
gs_is_affine(const gs_sizes *s, gs_number x) {
  gs_polynomial p;
  gs_polynomial_of(s, x, &p);
  for (uint32_t k = 0; k < p.n; k++) {
    if (p.term[k].n > 1)
      return false;
    gs_atom atom =
        p.term[k].n ? gs_atom_of(s, p.term[k].atom[0]) : (gs_atom){0};
    if (p.term[k].n && atom.size == GS_MOST_SIZES && !gs_is_affine(s, atom.of))
      return false;
  }
  return !p.bad;
}

/* ---- at given sizes ---- */

static bs_int128 polynomial_at(const gs_sizes *s, const gs_polynomial *p,
                               const int64_t *at);

/* Quotients stand in one another three deep at most. */
static bs_int128
atom_at(const gs_sizes *s, uint32_t number, const int64_t *at) {
  gs_atom atom = gs_atom_of(s, number);
  if (atom.size < GS_MOST_SIZES)
    return at[atom.size] / s->list[atom.size].multiple;
  gs_polynomial p;
  gs_polynomial_of(s, atom.of, &p);
  return bs_floor_div(gs_saturated(polynomial_at(s, &p, at)), atom.by);
}

static bs_int128
polynomial_at(const gs_sizes *s, const gs_polynomial *p, const int64_t *at) {
  bs_int128 sum = p->bad ? FAR : 0;
  for (uint32_t k = 0; k < p->n; k++) {
    bs_int128 x = p->term[k].by;
    for (uint32_t j = 0; j < p->term[k].n; j++)
      x = (bs_int128)gs_saturated(x) *
          gs_saturated(atom_at(s, p->term[k].atom[j], at));
    sum = clamp(sum + x);
  }
  return sum;
}

int64_t
gs_number_at(const gs_sizes *s, gs_number x, const int64_t *at) {
  gs_polynomial p;
  if (!gs_is_sized(x))
    return x;
  gs_polynomial_of(s, x, &p);
  return gs_saturated(polynomial_at(s, &p, at));
}

/* ---- sizes at which something is not so ---- */

enum { TRIES = 512, CORNERS = 64 };

/* Choice k of a size: near its bounds first, then anywhere. */
static int64_t
choose(const gs_size *size, uint32_t k, uint32_t which, uint64_t *state) {
  int64_t steps = (size->most - size->least) / size->multiple, step;
  if (k < CORNERS)
    step = k >> which % 6 & 1 ? steps : 0;
  else if (k < 2 * CORNERS)
    step = (int64_t)(bs_random_next(state) % 4) -
           (bs_random_next(state) % 2 ? 0 : steps);
  else
    step = (int64_t)(bs_random_next(state) % ((uint64_t)steps + 1));
  step = step < 0 ? -step : step;
  return size->least + (step > steps ? steps : step) * size->multiple;
}

static void
look_for(gs_sizes *s, gs_number x, bool zero) {
  uint64_t state = 1;
  gs_polynomial p;
  gs_polynomial_of(s, x, &p);
  for (uint32_t k = 0; k < TRIES && !s->told; k++) {
    for (uint32_t j = 0; j < s->n; j++)
      s->at[j] = choose(&s->list[j], k, j, &state);
    bs_int128 found = polynomial_at(s, &p, s->at);
    s->told = zero ? found != 0 : found < 0;
  }
}

int
gs_ask(gs_sizes *s, gs_number x, bool zero) {
  assert(s && s->n <= GS_MOST_SIZES);
  if (!gs_is_sized(x) && x < GS_MOST_PLAIN)
    return zero ? x == 0 : x >= 0;
  span b = bounds_of(s, x);
  bool always = zero ? b.lo == 0 && b.hi == 0 : b.lo >= 0;
  bool never = zero ? b.lo > 0 || b.hi < 0 : b.hi < 0;
  if (always && gs_is_sized(x))
    return 1;
  s->open |= !never;
  if (!s->told)
    look_for(s, x, zero);
  return never ? 0 : -1;
}
