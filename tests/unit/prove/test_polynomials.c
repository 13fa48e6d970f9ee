/* SPDX-License-Identifier: MIT */
/* test_polynomials.c - numbers of a form against their values at points.
 *
 * Numbers are made at random from a few sizes, of which something is assumed,
 * and beside each one a tree that says how it was made.  At every point of a
 * box that the assumptions admit a number has the value of its tree, whatever
 * normal form it took; what is claimed of numbers holds at all these points;
 * and where cases are told apart, each point belongs to one path.  Claims that
 * are true and simple are made often enough, too: a prover that claims nothing
 * would be right. */
#include "prove/symbolic/symbolic_form.h"
#include "base/random.h"
#include "tests/unit/sanitized.h"
#include <criterion/criterion.h>

enum {
  SEEDS = SANITIZED ? 20 : 60,
  SIZES = 4,
  LOWEST = -2,
  HIGHEST = 5,
  TREES = 28,
  MOST_POINTS = 40,
  TRIES = 2000,
  MOST_ASSUMED = 12,
  MOST_ASKED = 3 /* cases told apart */
};

typedef enum made_by { CONSTANT, SIZE, COMBINED, PRODUCT, QUOTIENT } made_by;

typedef struct tree {
  made_by by;
  int64_t a, b, c;
  uint32_t x, y; /* earlier ones */
  fm_number number;
} tree;

typedef struct assumption {
  uint32_t tree;
  bool zero;
} assumption;

static bs_heap heap;
static isl_ctx *isl;
static fm_form *f;
static uint64_t seed, random_state;
static tree trees[TREES];
static uint32_t n_trees, n_assumed, n_points;
static uint8_t size[SIZES]; /* variables */
static assumption assumed[MOST_ASSUMED];
static int64_t points[MOST_POINTS][SIZES];
static uint32_t paths_of[MOST_POINTS];
/* True of all points and simple enough; of these, claimed. */
static uint64_t n_true, n_claimed, n_paths, n_quotients;

static int64_t
below(int64_t n) {
  return (int64_t)(bs_random_next(&random_state) % (uint64_t)n);
}

/* ---- values at a point ---- */

static int64_t
floor_of(int64_t x, int64_t by) {
  return x / by - (x % by < 0);
}

static int64_t
value_of_tree(uint32_t k, const int64_t *at) {
  int64_t of[TREES];
  for (uint32_t i = 0; i <= k; i++) {
    const tree *t = &trees[i];
    of[i] = t->by == CONSTANT   ? t->c
            : t->by == SIZE     ? at[t->x]
            : t->by == COMBINED ? t->a * of[t->x] + t->b * of[t->y] + t->c
            : t->by == PRODUCT  ? of[t->x] * of[t->y]
            : of[t->y] >= 1     ? floor_of(of[t->x], of[t->y])
                                : 0;
  }
  return of[k];
}

static int64_t value_of(fm_number, const int64_t *at, bool *ok);

/* Quotients are of numbers that were there before. */
static int64_t
value_of_variable(uint8_t var, const int64_t *at, bool *ok) {
  const fm_var *v = &f->var[var];
  for (uint32_t k = 0; k < SIZES; k++)
    if (size[k] == var)
      return at[k];
  cr_assert_eq(v->kind, FM_V_QUOTIENT);
  int64_t of = value_of(v->of, at, ok), by = value_of(v->by, at, ok);
  *ok &= by >= 1;
  return by >= 1 ? floor_of(of, by) : 0;
}

static int64_t
value_of(fm_number x, const int64_t *at, bool *ok) {
  fm_poly p = f->number[x];
  int64_t all = 0;
  for (uint32_t k = 0; k < p.n; k++) {
    fm_mono m = f->mono[f->term[p.at + k].mono];
    int64_t one = f->term[p.at + k].times;
    for (uint32_t i = 0; i < m.n; i++)
      one *= value_of_variable(m.var[i], at, ok);
    all += one;
  }
  return all;
}

/* At a point that is admitted each divisor is at least 1. */
static int64_t
value(fm_number x, const int64_t *at) {
  bool ok = true;
  int64_t all = value_of(x, at, &ok);
  cr_assert(ok, "seed %llu: a divisor is not positive",
            (unsigned long long)seed);
  return all;
}

/* ---- trees ---- */

static uint32_t
keep(tree t, fm_number x) {
  t.number = x;
  trees[n_trees] = t;
  return n_trees++;
}

static uint32_t
constant(int64_t c) {
  return keep((tree){.by = CONSTANT, .c = c}, fm_constant(f, c));
}

static uint32_t
combined(int64_t a, uint32_t x, int64_t b, uint32_t y, int64_t c) {
  return keep((tree){.by = COMBINED, .a = a, .b = b, .c = c, .x = x, .y = y},
              fm_combine(f, a, trees[x].number, b, trees[y].number, c));
}

static uint32_t
product(uint32_t x, uint32_t y) {
  return keep((tree){.by = PRODUCT, .x = x, .y = y},
              fm_product(f, trees[x].number, trees[y].number));
}

static void
add_random_tree(void) {
  uint32_t x = (uint32_t)below(n_trees), y = (uint32_t)below(n_trees);
  int64_t kind = below(9), a = below(7) - 3, b = below(7) - 3;
  if (kind < 3)
    combined(a, x, b, y, below(7) - 3);
  else if (kind < 5)
    product(x, y);
  else if (kind == 5)
    constant(1 + below(5));
  else if (fm_at_least(f, trees[y].number, 1) && ++n_quotients)
    keep((tree){.by = QUOTIENT, .x = x, .y = y},
         fm_quotient(f, trees[x].number, trees[y].number));
}

/* ---- what is assumed ---- */

static void
assume(uint32_t k, bool zero) {
  assumed[n_assumed++] = (assumption){k, zero};
  fm_assume(f, trees[k].number, zero);
}

/* An equation or an inequality between some of the sizes. */
static void
assume_something(void) {
  uint32_t x = (uint32_t)below(SIZES), y = (uint32_t)below(SIZES);
  uint32_t z = (uint32_t)below(SIZES);
  switch (below(6)) {
  case 0: /* x - y - c >= 0 */
    assume(combined(1, x, -1, y, below(3) - 1), false);
    break;
  case 1: /* x = a y */
    assume(combined(1, x, -(1 + below(3)), y, 0), true);
    break;
  case 2: /* x = y z + c */
    assume(combined(1, x, -1, product(y, z), below(2)), true);
    break;
  case 3: /* y z >= x */
    assume(combined(-1, x, 1, product(y, z), 0), false);
    break;
  case 4: /* x = c */
    assume(combined(1, x, 0, x, -below(4)), true);
    break;
  default: /* x + y <= c */
    assume(combined(-1, x, -1, y, 3 + below(6)), false);
  }
}

static bool
admits(const int64_t *at) {
  for (uint32_t k = 0; k < n_assumed; k++) {
    int64_t v = value_of_tree(assumed[k].tree, at);
    if (v < 0 || (assumed[k].zero && v))
      return false;
  }
  return true;
}

/* Some of the points, at random. */
static void
find_points(void) {
  n_points = 0;
  for (uint32_t k = 0; k < TRIES && n_points < MOST_POINTS; k++) {
    int64_t *at = points[n_points];
    for (uint32_t d = 0; d < SIZES; d++)
      at[d] = LOWEST + below(HIGHEST - LOWEST + 1);
    n_points += admits(at);
  }
}

/* ---- claims ---- */

#define HOLDS(condition, what)                                                 \
  cr_assert(condition, "seed %llu, tree %u: %s", (unsigned long long)seed, k,  \
            what)

typedef struct extent {
  int64_t least, most;
} extent;

static extent
extent_of(uint32_t k) {
  extent e = {INT64_MAX, INT64_MIN};
  for (uint32_t p = 0; p < n_points; p++) {
    int64_t v = value_of_tree(k, points[p]);
    e.least = v < e.least ? v : e.least;
    e.most = v > e.most ? v : e.most;
  }
  return e;
}

static void
check_value(uint32_t k) {
  fm_number x = trees[k].number, normal = fm_normal(f, x);
  fm_number primitive = fm_primitive(f, x);
  for (uint32_t p = 0; p < n_points && !f->why; p++) {
    int64_t v = value_of_tree(k, points[p]), less = value(primitive, points[p]);
    HOLDS(value(x, points[p]) == v, "its value");
    HOLDS(value(normal, points[p]) == v, "its value in normal form");
    HOLDS((less > 0) == (v > 0) && (less < 0) == (v < 0), "its sign");
  }
}

static void
check_bounds(uint32_t k) {
  fm_number x = trees[k].number;
  extent e = extent_of(k);
  int64_t c;
  for (int64_t least = -2; least <= 3; least++) {
    bool claimed = fm_at_least(f, x, least);
    HOLDS(!claimed || e.least >= least, "it is below its bound");
    n_true += e.least >= least;
    n_claimed += claimed;
  }
  HOLDS(!fm_implied(f, x, true) || (!e.least && !e.most), "it is not 0");
  HOLDS(!fm_is_one(f, x) || (e.least == 1 && e.most == 1), "it is not 1");
  HOLDS(!fm_is_constant(f, x, &c) || (e.least == c && e.most == c),
        "it is no constant");
}

static void
check_equal(uint32_t k, uint32_t other) {
  bool same = true;
  for (uint32_t p = 0; p < n_points; p++)
    same &= value_of_tree(k, points[p]) == value_of_tree(other, points[p]);
  bool claimed = fm_is_equal(f, trees[k].number, trees[other].number);
  HOLDS(!claimed || same, "it is not what it is said to be equal to");
}

/* x = a * var + rest, and neither changes with the variable. */
static void
check_linear(uint32_t k, uint32_t in) {
  fm_number x = trees[k].number, a, rest;
  if (!fm_linear_in(f, x, size[in], &a, &rest))
    return;
  for (uint32_t p = 0; p < n_points && !f->why; p++) {
    const int64_t *at = points[p];
    int64_t other[SIZES];
    bool ok = true;
    memcpy(other, at, sizeof other);
    other[in] += 1 + (int64_t)p % 3;
    HOLDS(value(a, at) * at[in] + value(rest, at) == value(x, at),
          "its parts do not make it up");
    HOLDS(value_of(a, other, &ok) == value(a, at) || !ok, "a factor depends");
    HOLDS(value_of(rest, other, &ok) == value(rest, at) || !ok,
          "the rest depends");
  }
}

static void
check_divided(uint32_t k, uint32_t by) {
  fm_number x = trees[k].number, q, rest;
  if (f->why || !fm_divide(f, x, trees[by].number, &q, &rest))
    return;
  for (uint32_t p = 0; p < n_points; p++)
    HOLDS(value(q, points[p]) * value(trees[by].number, points[p]) +
                  value(rest, points[p]) ==
              value(x, points[p]),
          "the quotient and the rest do not make it up");
}

/* The value with a size replaced by the value of a tree; *ok: divisors are
 * positive there. */
static int64_t
replaced(uint32_t k, uint32_t in, uint32_t by, const int64_t *at, bool *ok) {
  int64_t other[SIZES];
  memcpy(other, at, sizeof other);
  other[in] = value_of_tree(by, at);
  return value_of(trees[k].number, other, ok);
}

static void
check_renamed(uint32_t k, uint32_t in, uint32_t by) {
  bool ok = true;
  for (uint32_t p = 0; p < n_points; p++)
    replaced(k, in, by, points[p], &ok);
  if (!ok)
    return;
  fm_renaming r = {1, {size[in]}, {trees[by].number}};
  fm_number x = fm_rename(f, &r, trees[k].number);
  HOLDS(fm_depends(f, trees[k].number, size[in]) || f->why ||
            x == trees[k].number,
        "what does not depend is changed");
  for (uint32_t p = 0; p < n_points && !f->why; p++)
    HOLDS(value(x, points[p]) == replaced(k, in, by, points[p], &ok),
          "its value, with a size replaced");
}

static void
check_claims(void) {
  for (uint32_t k = 0; k < n_trees && !f->why; k++) {
    uint32_t other = (uint32_t)below(n_trees), in = (uint32_t)below(SIZES);
    check_value(k);
    check_bounds(k);
    check_equal(k, other);
    check_linear(k, in);
    check_divided(k, other);
    check_renamed(k, in, other);
  }
}

/* ---- cases ---- */

/* Numbers whose sign is asked one after the other; a point goes the way that
 * its values lead. */
static void
decide(void) {
  uint32_t asked[MOST_ASKED];
  bool answer[MOST_ASKED];
  for (uint32_t k = 0; k < MOST_ASKED; k++) {
    asked[k] = (uint32_t)below(n_trees);
    answer[k] = fm_decide(f, trees[asked[k]].number);
  }
  for (uint32_t p = 0; p < n_points && !f->why; p++) {
    bool goes = true;
    for (uint32_t k = 0; k < MOST_ASKED; k++)
      goes &= (value_of_tree(asked[k], points[p]) >= 0) == answer[k];
    paths_of[p] += goes;
  }
}

/* ---- a seed ---- */

static void
start_path(const pv_form *of, const fm_frame *cases) {
  memset(f, 0, offsetof(fm_form, var));
  f->of = of;
  f->heap = &heap;
  f->isl = isl;
  f->frame[0] = *cases;
  f->frame[0].at = 0;
  random_state = bs_random_of(seed);
  f->careful = below(2);
  n_trees = n_assumed = 0;
  for (uint32_t k = 0; k < SIZES; k++) {
    size[k] = (uint8_t)f->n_vars;
    keep((tree){.by = SIZE, .x = k}, fm_parameter(f));
  }
  for (uint32_t k = 0; k < SIZES; k++)
    if (below(6))
      assume(combined(1, k, 0, k, -below(3)), false);
  for (int64_t n = below(3); n > 0; n--)
    assume_something();
  find_points();
}

/* Numbers to ask about. */
static void
grow(void) {
  cr_assert(!fm_is_contradiction(f), "seed %llu: it has points",
            (unsigned long long)seed);
  while (n_trees < TREES - 2 && below(30) && !f->why)
    add_random_tree();
}

static void
run_seed(sy_memo *memo) {
  pv_form of = {.systems = memo};
  fm_frame cases = {0};
  bool whole = true;
  start_path(&of, &cases);
  if (!n_points)
    return;
  grow();
  check_claims();
  memset(paths_of, 0, sizeof paths_of);
  do {
    start_path(&of, &cases);
    grow();
    decide();
    whole &= !f->why;
    n_paths++;
    bool more = fm_next(f);
    cases = f->frame[0];
    if (!more)
      break;
  } while (true);
  for (uint32_t p = 0; whole && p < n_points; p++)
    cr_assert_eq(paths_of[p], 1, "seed %llu: point %u is on %u paths",
                 (unsigned long long)seed, p, paths_of[p]);
}

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  isl = isl_ctx_alloc();
  f = bs_alloc(&heap, sizeof *f);
}

static void
stop(void) {
  isl_ctx_free(isl);
  bs_heap_done(&heap);
}

Test(polynomials, what_is_claimed_holds_at_points, .init = start,
     .fini = stop) {
  sy_memo *memo = sy_memo_new(&heap);
  for (seed = 1; seed <= SEEDS; seed++)
    run_seed(memo);
  cr_expect(10 * n_claimed >= 9 * n_true, "%llu of %llu bounds are claimed",
            (unsigned long long)n_claimed, (unsigned long long)n_true);
  cr_expect(n_paths > SEEDS && n_quotients > SEEDS, "%llu and %llu",
            (unsigned long long)n_paths, (unsigned long long)n_quotients);
}
