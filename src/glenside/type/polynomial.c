/* SPDX-License-Identifier: MIT */
/* polynomial.c - numbers made of sizes: sums, products, quotients.
 *
 * A polynomial is interned as the list of its terms, each as its factor, how
 * many atoms it has, and these in order; terms are in the order of their atoms.
 * An atom is a size divided by its multiple, so that what a multiple allows to
 * be divided is no quotient, or a quotient that is interned with its bounds.
 * What grows beyond the limits is the largest integer, which no bound of the
 * language admits. */
#include "glenside/type/sizes.h"
#include <assert.h>
#include <string.h>

enum {
  MOST_NUMBERS = GS_MOST_TERMS * (2 + GS_MOST_DEGREE),
  ATOM_NUMBERS = 5,
  MOST_DEPTH = 3 /* of quotients in one another */
};

/* ---- atoms ---- */

gs_atom
gs_atom_of(const gs_sizes *s, uint32_t atom) {
  assert(atom >= GS_MOST_SIZES || atom < s->n);
  int64_t x[ATOM_NUMBERS] = {0};
  uint32_t n;
  if (atom < GS_MOST_SIZES) {
    const gs_size *size = &s->list[atom];
    return (gs_atom){.size = atom,
                     .by = 1,
                     .lo = size->least / size->multiple,
                     .hi = size->most / size->multiple};
  }
  bs_to_ints(s->values, (bs_value){atom - GS_MOST_SIZES}, x, ATOM_NUMBERS, &n);
  return (gs_atom){GS_MOST_SIZES, x[0], x[1], x[2], x[3], x[4]};
}

static int
order(const gs_size_term *a, const gs_size_term *b) {
  if (a->n != b->n)
    return a->n < b->n ? -1 : 1;
  for (uint32_t k = 0; k < a->n; k++)
    if (a->atom[k] != b->atom[k])
      return a->atom[k] < b->atom[k] ? -1 : 1;
  return 0;
}

/* ---- sums ---- */

static void
drop_term(gs_polynomial *x, uint32_t k) {
  x->n--;
  memmove(&x->term[k], &x->term[k + 1], (x->n - k) * sizeof x->term[0]);
}

static void
add_term(gs_polynomial *x, int64_t by, const gs_size_term *t) {
  uint32_t k = 0;
  int64_t more;
  x->bad |= __builtin_mul_overflow(by, t->by, &more);
  while (k < x->n && order(&x->term[k], t) < 0)
    k++;
  if (x->bad || !more)
    return;
  if (k < x->n && !order(&x->term[k], t)) {
    x->bad |= __builtin_add_overflow(x->term[k].by, more, &x->term[k].by);
    if (!x->term[k].by)
      drop_term(x, k);
    return;
  }
  x->bad |= x->n == GS_MOST_TERMS;
  if (x->bad)
    return;
  memmove(&x->term[k + 1], &x->term[k], (x->n - k) * sizeof x->term[0]);
  x->n++;
  x->term[k] = *t;
  x->term[k].by = more;
}

void
gs_add_polynomial(gs_polynomial *x, int64_t by, const gs_polynomial *y) {
  assert(x != y && x->n <= GS_MOST_TERMS && y->n <= GS_MOST_TERMS);
  x->bad |= y->bad;
  for (uint32_t k = 0; k < y->n; k++)
    add_term(x, by, &y->term[k]);
}

static void
add_constant(gs_polynomial *x, int64_t c) {
  add_term(x, c, &(gs_size_term){.by = 1});
}

/* ---- interned ---- */

/* What is no polynomial is a number that is too large. */
static void
read(const gs_sizes *s, bs_value list, gs_polynomial *out) {
  int64_t x[MOST_NUMBERS];
  uint32_t n = 0;
  out->bad = list.i > bs_values_count(s->values) ||
             !bs_to_ints(s->values, list, x, MOST_NUMBERS, &n);
  for (uint32_t k = 0; k + 1 < n && !out->bad;) {
    if (out->n == GS_MOST_TERMS) {
      out->bad = true;
      return;
    }
    gs_size_term *t = &out->term[out->n++];
    t->by = x[k];
    t->n = (uint32_t)x[k + 1];
    out->bad = t->n > GS_MOST_DEGREE || k + 2 + t->n > n;
    for (uint32_t j = 0; j < t->n && !out->bad; j++) {
      t->atom[j] = (uint32_t)x[k + 2 + j];
      out->bad = t->atom[j] >= s->n && t->atom[j] < GS_MOST_SIZES;
    }
    k += 2 + t->n;
  }
}

void
gs_polynomial_of(const gs_sizes *s, gs_number x, gs_polynomial *out) {
  out->bad = false;
  out->n = 0;
  if (gs_is_sized(x))
    read(s, (bs_value){(uint32_t)(x - GS_FIRST_SIZED)}, out);
  else if (x > -GS_MOST_PLAIN && x < GS_MOST_PLAIN)
    add_constant(out, x);
  else
    out->bad = true;
  assert(out->bad || out->n <= GS_MOST_TERMS);
}

gs_number
gs_number_of(gs_sizes *s, const gs_polynomial *p) {
  assert(p->n <= GS_MOST_TERMS);
  int64_t x[MOST_NUMBERS];
  uint32_t n = 0;
  int64_t only = p->n ? p->term[0].by : 0;
  if (p->bad)
    return INT64_MAX;
  if (!p->n || (p->n == 1 && !p->term[0].n))
    return only > -GS_MOST_PLAIN && only < GS_MOST_PLAIN ? only : INT64_MAX;
  for (uint32_t k = 0; k < p->n; k++) {
    if (p->term[k].by <= -GS_MOST_PLAIN || p->term[k].by >= GS_MOST_PLAIN)
      return INT64_MAX;
    x[n++] = p->term[k].by;
    x[n++] = p->term[k].n;
    for (uint32_t j = 0; j < p->term[k].n; j++)
      x[n++] = p->term[k].atom[j];
  }
  return GS_FIRST_SIZED + bs_ints(s->values, x, n).i;
}

/* ---- products ---- */

static bool
multiply_terms(const gs_size_term *a, const gs_size_term *b,
               gs_size_term *out) {
  uint32_t i = 0, j = 0;
  *out = (gs_size_term){.n = a->n + b->n};
  if (out->n > GS_MOST_DEGREE || __builtin_mul_overflow(a->by, b->by, &out->by))
    return false;
  for (uint32_t k = 0; k < out->n; k++) {
    bool first = j == b->n || (i < a->n && a->atom[i] <= b->atom[j]);
    out->atom[k] = first ? a->atom[i++] : b->atom[j++];
  }
  return true;
}

static gs_number
product(void *arg, gs_number x, gs_number y) {
  gs_sizes *s = arg;
  gs_polynomial a, b, out = {0};
  gs_polynomial_of(s, x, &a);
  gs_polynomial_of(s, y, &b);
  out.bad = a.bad || b.bad;
  for (uint32_t i = 0; i < a.n; i++)
    for (uint32_t j = 0; j < b.n && !out.bad; j++) {
      gs_size_term t;
      out.bad |= !multiply_terms(&a.term[i], &b.term[j], &t);
      if (!out.bad)
        add_term(&out, 1, &t);
    }
  return gs_number_of(s, &out);
}

/* ---- quotients ---- */

/* The atom of a quotient that is none of what it is made of. */
static void
add_quotient(gs_sizes *s, gs_polynomial *out, const gs_polynomial *of,
             int64_t by) {
  gs_number x = gs_number_of(s, of);
  gs_size_term t = {.by = 1, .n = 1};
  int64_t depth = 0;
  for (uint32_t k = 0; k < of->n; k++)
    for (uint32_t j = 0; j < of->term[k].n; j++) {
      gs_atom atom = gs_atom_of(s, of->term[k].atom[j]);
      depth = atom.depth > depth ? atom.depth : depth;
    }
  out->bad |= of->bad || depth == MOST_DEPTH;
  int64_t list[ATOM_NUMBERS] = {x, by, depth + 1,
                                bs_floor_div(gs_least_of(s, x), by),
                                bs_floor_div(gs_most_of(s, x), by)};
  t.atom[0] = GS_MOST_SIZES + bs_ints(s->values, list, ATOM_NUMBERS).i;
  add_term(out, 1, &t);
}

/* A quotient of a quotient, and of nothing else, is one. */
static gs_number
undivided(const gs_sizes *s, const gs_polynomial *x, int64_t *by) {
  if (x->n != 1 || x->term[0].n != 1 || x->term[0].by != 1)
    return 0;
  gs_atom atom = gs_atom_of(s, x->term[0].atom[0]);
  if (atom.size < GS_MOST_SIZES || __builtin_mul_overflow(*by, atom.by, by))
    return 0;
  return atom.of;
}

static gs_number
quotient(void *arg, gs_number x, gs_number by) {
  gs_sizes *s = arg;
  gs_polynomial from, out = {0}, rest = {0};
  if (by < 1 || by >= GS_MOST_PLAIN)
    return INT64_MAX;
  gs_polynomial_of(s, x, &from);
  for (uint32_t k = 0; k < from.n; k++) {
    gs_size_term t = from.term[k];
    int64_t whole = bs_floor_div(t.by, by);
    int64_t left = t.by - whole * by;
    t.by = 1;
    add_term(&out, whole, &t);
    add_term(&rest, left, &t);
  }
  out.bad |= from.bad;
  gs_number inner = undivided(s, &rest, &by);
  if (inner)
    gs_polynomial_of(s, inner, &rest);
  if (rest.n && !(rest.n == 1 && !rest.term[0].n))
    add_quotient(s, &out, &rest, by);
  return gs_number_of(s, &out);
}

/* ---- a kind of numbers ---- */

static gs_number
constant(void *arg, int64_t c) {
  (void)arg;
  return c;
}

static gs_number
combine(void *arg, int64_t a, gs_number x, int64_t b, gs_number y, int64_t c) {
  gs_sizes *s = arg;
  gs_polynomial p, sum = {0};
  gs_polynomial_of(s, x, &p);
  if (a)
    gs_add_polynomial(&sum, a, &p);
  gs_polynomial_of(s, y, &p);
  if (b)
    gs_add_polynomial(&sum, b, &p);
  add_constant(&sum, c);
  return gs_number_of(s, &sum);
}

static bool
is_constant(void *arg, gs_number x, int64_t *out) {
  (void)arg;
  *out = x;
  return !gs_is_sized(x);
}

static bool
needs(void *arg, gs_number x, bool zero) {
  return gs_ask(arg, x, zero) == 1;
}

/* Repeated, or the same; else the sizes that are told have neither. */
static int
repeats(void *arg, uint32_t k, gs_number from, gs_number to) {
  gs_sizes *s = arg;
  (void)k;
  if (from == 1 || from == to)
    return from != to;
  gs_number apart =
      product(s, combine(s, 1, from, 0, 0, -1), combine(s, 1, from, -1, to, 0));
  gs_ask(s, apart, true);
  return -1;
}

static int32_t
item(void *arg, uint32_t item, gs_number *out, uint32_t max) {
  const gs_sizes *s = arg;
  bs_value v = bs_item(s->values, s->attr, item);
  uint32_t n;
  if (bs_kind_of(s->values, v) == BS_KIND_INT) {
    out[0] = bs_as_int(s->values, v);
    return 1;
  }
  bool list = bs_kind_of(s->values, v) == BS_KIND_LIST;
  return list && bs_to_ints(s->values, v, out, max, &n) ? (int32_t)n : -1;
}

static bs_value
word(void *arg, uint32_t item) {
  const gs_sizes *s = arg;
  bs_value v = bs_item(s->values, s->attr, item);
  gs_padding kind;
  return gs_padding_of(s->values, v, &kind) ? v : BS_NIL;
}

void
gs_sizes_init(gs_sizes *s, bs_heap *heap, bs_values *values) {
  assert(heap && values);
  s->heap = heap;
  s->values = values;
  s->over = (gs_numbers){.arg = s,
                         .constant = constant,
                         .combine = combine,
                         .product = product,
                         .quotient = quotient,
                         .is_constant = is_constant,
                         .needs = needs,
                         .repeats = repeats,
                         .item = item,
                         .word = word};
}

bool
gs_fit_bounds(gs_size *size) {
  assert(size->multiple >= 1);
  int64_t rest = size->least % size->multiple;
  size->most -= size->most % size->multiple;
  size->least += rest ? size->multiple - rest : 0;
  /* Both bounds are multiples now. */
  assert(size->least % size->multiple == 0 && size->most % size->multiple == 0);
  return size->least <= size->most;
}

gs_number
gs_add_size(gs_sizes *s, const gs_size *size) {
  assert(s->n < GS_MOST_SIZES && size->least <= size->most);
  assert(size->multiple >= 1 && size->least % size->multiple == 0 &&
         size->most % size->multiple == 0);
  gs_polynomial p = {.n = 1, .term = {{.by = size->multiple, .n = 1}}};
  p.term[0].atom[0] = s->n;
  s->list[s->n++] = *size;
  return size->least == size->most ? size->least : gs_number_of(s, &p);
}
