/* SPDX-License-Identifier: MIT */
/* simplify.c - quasi-affine functions made simpler on a box.
 *
 * Composed reshapes give floors of floors.  With every index in a known range
 * many of them are plain affine: floor((56i + j) / 56) is i when j < 56.  isl
 * keeps such a floor, since a function there has no domain.  Floors are
 * rebuilt inside out by four identities:
 *
 *   floor((m q + r) / m) = q + floor(r / m)
 *   floor(r / m) = q                        when r lies in [qm, qm + m)
 *   floor((g u + r) / m) = floor(u / (m/g)) when g divides m, 0 <= r < g
 *   floor((floor(u / a) + r) / m) = floor((u + a r) / (a m))
 *
 * An expression that is too large, or overflows, is returned as it was. */
#include "poly/loops/open.h"
#include "poly/loops/affine.h"
#include "base/whole.h"
#include <assert.h>
#include <isl/val.h>
#include <limits.h>
#include <string.h>

#define MAX_FLOORS 32

typedef struct linear {
  int64_t constant;
  int64_t index[GS_MAX_RANK];
  int64_t floor[MAX_FLOORS];
} linear;

typedef struct floor_node {
  linear of;
  int64_t by; /* floor(of / by) */
  int64_t lo, hi;
} floor_node;

typedef struct simplifier {
  uint32_t n_dims, n_floors;
  const int64_t *dim;
  bool bad; /* too large */
  floor_node floors[MAX_FLOORS];
} simplifier;

static int64_t
add(simplifier *s, int64_t a, int64_t b) {
  int64_t sum = 0;
  s->bad |= __builtin_add_overflow(a, b, &sum);
  return sum;
}

static int64_t
mul(simplifier *s, int64_t a, int64_t b) {
  int64_t product = 0;
  s->bad |= __builtin_mul_overflow(a, b, &product);
  return product;
}

static int64_t
floor_quotient(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && a < 0);
}

/* to += factor * from */
static void
add_linear(simplifier *s, linear *to, int64_t factor, const linear *from) {
  to->constant = add(s, to->constant, mul(s, factor, from->constant));
  for (uint32_t k = 0; k < s->n_dims; k++)
    to->index[k] = add(s, to->index[k], mul(s, factor, from->index[k]));
  for (uint32_t k = 0; k < s->n_floors; k++)
    to->floor[k] = add(s, to->floor[k], mul(s, factor, from->floor[k]));
}

static void
widen(simplifier *s, int64_t factor, int64_t low, int64_t high, int64_t *lo,
      int64_t *hi) {
  int64_t a = mul(s, factor, low), b = mul(s, factor, high);
  *lo = add(s, *lo, a < b ? a : b);
  *hi = add(s, *hi, a < b ? b : a);
}

static void
range(simplifier *s, const linear *x, int64_t *lo, int64_t *hi) {
  *lo = *hi = x->constant;
  for (uint32_t k = 0; k < s->n_dims; k++)
    widen(s, x->index[k], 0, s->dim[k] - 1, lo, hi);
  for (uint32_t k = 0; k < s->n_floors; k++)
    widen(s, x->floor[k], s->floors[k].lo, s->floors[k].hi, lo, hi);
}

/* Coefficient k: of the indices, then of the floors. */
static int64_t *
coefficient(simplifier *s, linear *x, uint32_t k) {
  return k < s->n_dims ? &x->index[k] : &x->floor[k - s->n_dims];
}

/* Moves multiples of `by` out of x into *out (in units of `by`). */
static void
take_multiples(simplifier *s, linear *x, int64_t by, linear *out) {
  int64_t q = floor_quotient(x->constant, by);
  out->constant = add(s, out->constant, q);
  x->constant -= q * by;
  for (uint32_t k = 0; k < s->n_dims + s->n_floors; k++) {
    int64_t *c = coefficient(s, x, k);
    *coefficient(s, out, k) = add(s, *coefficient(s, out, k), *c / by);
    *c %= by;
  }
}

/* Keeps only what is divisible by g, and divides it. */
static void
divide_part(simplifier *s, linear *x, int64_t g) {
  x->constant = floor_quotient(x->constant, g);
  for (uint32_t k = 0; k < s->n_dims + s->n_floors; k++) {
    int64_t *c = coefficient(s, x, k);
    *c = *c % g ? 0 : *c / g;
  }
}

/* Drops low digits that cannot carry: the third identity, for any g made of
 * the coefficients at least as large as one of them. */
static bool
drop_low_part(simplifier *s, linear *x, int64_t *by) {
  uint32_t n = s->n_dims + s->n_floors;
  for (uint32_t k = 0; k < n; k++) {
    int64_t least = *coefficient(s, x, k), g = *by;
    if (!least)
      continue;
    least = least < 0 ? -least : least;
    linear low = {0};
    for (uint32_t j = 0; j < n; j++) {
      int64_t c = *coefficient(s, x, j);
      if ((c < 0 ? -c : c) >= least)
        g = bs_gcd(g, c);
    }
    if (g <= 1)
      continue;
    for (uint32_t j = 0; j < n; j++)
      if (*coefficient(s, x, j) % g)
        *coefficient(s, &low, j) = *coefficient(s, x, j);
    low.constant = x->constant - floor_quotient(x->constant, g) * g;
    int64_t lo, hi;
    range(s, &low, &lo, &hi);
    if (s->bad || lo < 0 || hi >= g)
      continue;
    divide_part(s, x, g);
    *by /= g;
    return true;
  }
  return false;
}

/* The fourth identity, when x has one floor and its factor is 1. */
static bool
unnest(simplifier *s, linear *x, int64_t *by) {
  uint32_t found = MAX_FLOORS;
  for (uint32_t k = 0; k < s->n_floors; k++) {
    if (!x->floor[k])
      continue;
    if (found < MAX_FLOORS || x->floor[k] != 1)
      return false;
    found = k;
  }
  if (found == MAX_FLOORS)
    return false;
  const floor_node *inner = &s->floors[found];
  linear whole = inner->of;
  x->floor[found] = 0;
  add_linear(s, &whole, inner->by, x);
  *by = mul(s, *by, inner->by);
  *x = whole;
  return true;
}

static uint32_t
intern(simplifier *s, const linear *x, int64_t by, int64_t lo, int64_t hi) {
  for (uint32_t k = 0; k < s->n_floors; k++)
    if (s->floors[k].by == by && !memcmp(&s->floors[k].of, x, sizeof *x))
      return k;
  if (s->n_floors == MAX_FLOORS) {
    s->bad = true;
    return 0;
  }
  s->floors[s->n_floors] = (floor_node){*x, by, lo, hi};
  return s->n_floors++;
}

/* floor(x / by), by > 0 */
static linear
make_floor(simplifier *s, linear x, int64_t by) {
  linear out = {0};
  do {
    take_multiples(s, &x, by, &out);
    int64_t lo, hi;
    range(s, &x, &lo, &hi);
    if (s->bad)
      return out;
    int64_t q_lo = floor_quotient(lo, by), q_hi = floor_quotient(hi, by);
    if (q_lo == q_hi) {
      out.constant = add(s, out.constant, q_lo);
      return out;
    }
  } while (!s->bad && (drop_low_part(s, &x, &by) || unnest(s, &x, &by)));
  if (s->bad)
    return out;
  int64_t lo, hi;
  range(s, &x, &lo, &hi);
  if (by == 1) {
    add_linear(s, &out, 1, &x);
    return out;
  }
  uint32_t node =
      intern(s, &x, by, floor_quotient(lo, by), floor_quotient(hi, by));
  out.floor[node] = add(s, out.floor[node], 1);
  return out;
}

static int64_t
read_val(simplifier *s, __isl_take isl_val *val) {
  int64_t n = 0;
  if (!val || isl_val_is_int(val) != isl_bool_true ||
      isl_val_cmp_si(val, LONG_MAX) > 0 || isl_val_cmp_si(val, LONG_MIN) <= 0)
    s->bad = true;
  else
    n = isl_val_get_num_si(val);
  isl_val_free(val);
  return n;
}

/* The function times its denominator; the divs stand in subst. */
static linear
read_aff(simplifier *s, __isl_keep isl_aff *aff, const linear *subst,
         int64_t *denominator) {
  isl_val *scale = isl_aff_get_denominator_val(aff);
  linear x = {0};
  *denominator = read_val(s, isl_val_copy(scale));
  x.constant = read_val(
      s, isl_val_mul(isl_aff_get_constant_val(aff), isl_val_copy(scale)));
  for (uint32_t k = 0; k < s->n_dims; k++)
    if (s->dim[k] > 1)
      x.index[k] = read_val(
          s, isl_val_mul(isl_aff_get_coefficient_val(aff, isl_dim_in, (int)k),
                         isl_val_copy(scale)));
  isl_size n = isl_aff_dim(aff, isl_dim_div);
  for (isl_size k = 0; k < n; k++) {
    int64_t factor = read_val(
        s, isl_val_mul(isl_aff_get_coefficient_val(aff, isl_dim_div, k),
                       isl_val_copy(scale)));
    if (factor)
      add_linear(s, &x, factor, &subst[k]);
  }
  isl_val_free(scale);
  return x;
}

static isl_aff *
write_aff(const simplifier *s, const linear *x, isl_aff *const *floors,
          __isl_keep isl_aff *like) {
  isl_ctx *isl = isl_aff_get_ctx(like);
  isl_aff *aff = isl_aff_zero_on_domain(
      isl_local_space_from_space(isl_space_domain(isl_aff_get_space(like))));
  aff = isl_aff_set_constant_val(aff, isl_val_int_from_si(isl, x->constant));
  for (uint32_t k = 0; k < s->n_dims; k++)
    aff = isl_aff_set_coefficient_val(aff, isl_dim_in, (int)k,
                                      isl_val_int_from_si(isl, x->index[k]));
  for (uint32_t k = 0; k < s->n_floors; k++)
    if (x->floor[k])
      aff = isl_aff_add(
          aff, isl_aff_scale_val(isl_aff_copy(floors[k]),
                                 isl_val_int_from_si(isl, x->floor[k])));
  return aff;
}

static isl_aff *
rebuild(const simplifier *s, const linear *x, __isl_keep isl_aff *like) {
  isl_ctx *isl = isl_aff_get_ctx(like);
  isl_aff *floors[MAX_FLOORS] = {0};
  for (uint32_t k = 0; k < s->n_floors; k++) {
    isl_aff *of = write_aff(s, &s->floors[k].of, floors, like);
    isl_val *by = isl_val_int_from_si(isl, s->floors[k].by);
    floors[k] = isl_aff_floor(isl_aff_scale_down_val(of, by));
  }
  isl_aff *aff = write_aff(s, x, floors, like);
  for (uint32_t k = 0; k < s->n_floors; k++)
    isl_aff_free(floors[k]);
  return aff;
}

/* What is there of sizes stays as it is. */
static bool
has_sizes(__isl_keep isl_aff *aff) {
  isl_size n = isl_aff_dim(aff, isl_dim_param);
  return n != 0 &&
         isl_aff_involves_dims(aff, isl_dim_param, 0,
                               n < 0 ? 0 : (unsigned)n) != isl_bool_false;
}

isl_aff *
po_simplify(isl_aff *aff, const int64_t *dim) {
  int64_t most[GS_MAX_RANK];
  isl_size n_div = isl_aff_dim(aff, isl_dim_div);
  isl_size n_dims = isl_aff_dim(aff, isl_dim_in);
  if (n_div <= 0 || n_div > MAX_FLOORS || n_dims < 0 || n_dims > GS_MAX_RANK ||
      has_sizes(aff))
    return aff;
  for (isl_size k = 0; k < n_dims; k++)
    most[k] = po_most_in(isl_aff_get_ctx(aff), dim[k]);
  simplifier s = {.n_dims = (uint32_t)n_dims, .dim = most};
  linear subst[MAX_FLOORS];
  memset(subst, 0, sizeof subst);
  for (isl_size k = 0; k < n_div && !s.bad; k++) {
    isl_aff *div = isl_aff_get_div(aff, k);
    int64_t by = 1;
    linear of = read_aff(&s, div, subst, &by);
    isl_aff_free(div);
    if (!s.bad)
      subst[k] = make_floor(&s, of, by);
  }
  int64_t one = 1;
  linear x = read_aff(&s, aff, subst, &one);
  if (s.bad || one != 1)
    return aff;
  isl_aff *simple = rebuild(&s, &x, aff);
  isl_aff_free(aff);
  return simple;
}

isl_multi_aff *
po_simplify_multi(isl_multi_aff *map, const int64_t *dim) {
  isl_size n = isl_multi_aff_dim(map, isl_dim_out);
  for (isl_size k = 0; k < n; k++) {
    isl_aff *aff = isl_multi_aff_get_aff(map, k);
    if (isl_aff_dim(aff, isl_dim_div) > 0)
      map = isl_multi_aff_set_aff(map, k, po_simplify(aff, dim));
    else
      isl_aff_free(aff);
  }
  return map;
}

bool
po_affine_terms(isl_aff *aff, int64_t *constant, int64_t *coefficients) {
  assert(constant && coefficients);
  isl_size n = isl_aff_dim(aff, isl_dim_in);
  isl_size sizes = isl_aff_dim(aff, isl_dim_param);
  if (isl_aff_dim(aff, isl_dim_div) != 0 || n < 0 || sizes < 0 ||
      isl_aff_involves_dims(aff, isl_dim_param, 0, (unsigned)sizes))
    return false;
  simplifier s = {.bad = false};
  *constant = read_val(&s, isl_aff_get_constant_val(aff));
  for (isl_size k = 0; k < n; k++)
    coefficients[k] =
        read_val(&s, isl_aff_get_coefficient_val(aff, isl_dim_in, k));
  return !s.bad;
}
