/* SPDX-License-Identifier: MIT */
/* expr_sized.c - expressions over sizes that are not known (sizes.h).
 *
 * Functions that only move items of lists take any number.  Arithmetic is that
 * of polynomials; a comparison is defined where it holds for all sizes, or for
 * none.  Everything else is undefined. */
#include "glenside/expr/expr_apply.h"
#include "glenside/type/sizes.h"
#include <assert.h>

static bool
is_sized_value(const gs_env *env, bs_value v) {
  return bs_kind_of(env->values, v) == BS_KIND_INT &&
         gs_is_sized(bs_as_int(env->values, v));
}

static bool
is_sized(const gs_env *env, const gs_datum *d) {
  view v;
  bool found = d->kind == GS_D_INT && gs_is_sized(d->i);
  if (!view_list(env, d, &v))
    return found;
  for (uint32_t k = 0; k < v.n && !found; k++)
    found = is_sized_value(env, v.items[k]);
  return found;
}

static bool
unknown(const gs_env *env) {
  env->sizes->open = true;
  return false;
}

/* --- arithmetic ------------------------------------------------------------
 */

typedef bool step(gs_sizes *, int64_t a, int64_t b, int64_t *out);

static bool
fits(int64_t x) {
  return gs_is_sized(x) || (x > -GS_MOST_PLAIN && x < GS_MOST_PLAIN);
}

static bool
add(gs_sizes *s, int64_t a, int64_t b, int64_t *out) {
  *out = gs_sum(&s->over, a, b);
  return fits(*out);
}

static bool
subtract(gs_sizes *s, int64_t a, int64_t b, int64_t *out) {
  *out = gs_minus(&s->over, a, b);
  return fits(*out);
}

static bool
multiply(gs_sizes *s, int64_t a, int64_t b, int64_t *out) {
  *out = gs_product(&s->over, a, b);
  return fits(*out);
}

/* Whether each term of x has all atoms of t, and its factor is a multiple;
 * then what is left of them. */
static bool
divide_exactly(const gs_polynomial *x, const gs_size_term *t,
               gs_polynomial *out) {
  *out = (gs_polynomial){0};
  for (uint32_t k = 0; k < x->n; k++) {
    gs_polynomial one = {.n = 1, .term = {{.by = x->term[k].by / t->by}}};
    gs_size_term *left = &one.term[0];
    uint32_t j = 0;
    for (uint32_t i = 0; i < x->term[k].n; i++)
      if (j < t->n && x->term[k].atom[i] == t->atom[j])
        j++;
      else
        left->atom[left->n++] = x->term[k].atom[i];
    if (j < t->n || x->term[k].by % t->by)
      return false;
    gs_add_polynomial(out, 1, &one);
  }
  return true;
}

static bool
divide(gs_sizes *s, int64_t a, int64_t b, int64_t *out) {
  gs_polynomial x, by, left;
  *out = 0;
  if (!gs_is_sized(b)) {
    *out = b >= 1 ? gs_quotient(&s->over, a, b) : 0;
    return b >= 1 && fits(*out);
  }
  gs_polynomial_of(s, a, &x);
  gs_polynomial_of(s, b, &by);
  if (x.bad || by.bad || by.n != 1 || !divide_exactly(&x, &by.term[0], &left))
    return false;
  *out = gs_number_of(s, &left);
  return fits(*out);
}

static bool
remainder_of(gs_sizes *s, int64_t a, int64_t b, int64_t *out) {
  int64_t q;
  return divide(s, a, b, &q) && multiply(s, q, b, &q) && subtract(s, a, q, out);
}

static bool
ceil_divide(gs_sizes *s, int64_t a, int64_t b, int64_t *out) {
  return !gs_is_sized(b) && b >= 1 && add(s, a, b - 1, &a) &&
         divide(s, a, b, out);
}

static bool
round_up(gs_sizes *s, int64_t a, int64_t b, int64_t *out) {
  return ceil_divide(s, a, b, &a) && multiply(s, a, b, out);
}

static bool
round_down(gs_sizes *s, int64_t a, int64_t b, int64_t *out) {
  return divide(s, a, b, &a) && multiply(s, a, b, out);
}

static bool
at_most(gs_sizes *s, int64_t a, int64_t b) {
  return gs_ask(s, gs_minus(&s->over, b, a), false) == 1;
}

static bool
smaller(gs_sizes *s, int64_t a, int64_t b, int64_t *out) {
  bool first = at_most(s, a, b);
  *out = first ? a : b;
  return first || at_most(s, b, a);
}

static bool
larger(gs_sizes *s, int64_t a, int64_t b, int64_t *out) {
  bool second = at_most(s, a, b);
  *out = second ? b : a;
  return second || at_most(s, b, a);
}

static bool
fold(gs_sizes *s, const gs_datum *a, uint32_t n, step *f, gs_datum *out) {
  int64_t acc = a[0].i;
  if (!all_ints(a, n))
    return false;
  for (uint32_t k = 1; k < n; k++)
    if (!f(s, acc, a[k].i, &acc))
      return false;
  return give_int(out, acc);
}

static bool
fold_list(const gs_env *env, const gs_datum *a, int64_t acc, step *f,
          gs_datum *out) {
  int64_t items[GS_MAX_LIST];
  uint32_t n;
  if (!read_ints(env, a, items, &n))
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (!f(env->sizes, acc, items[k], &acc))
      return false;
  return give_int(out, acc);
}

static bool
by_items(const gs_env *env, const gs_datum *a, step *f, gs_datum *out) {
  int64_t x[GS_MAX_LIST], y[GS_MAX_LIST];
  uint32_t n, m;
  if (!read_ints(env, &a[0], x, &n) || !read_ints(env, &a[1], y, &m) || n != m)
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (!f(env->sizes, x[k], y[k], &x[k]))
      return false;
  return give_ints(env, x, n, out);
}

static bool
elements(const gs_env *env, const gs_datum *a, gs_datum *out) {
  gs_datum shape;
  return gs_apply_plain(GS_F_SHAPE, env, a, 1, &shape) &&
         fold_list(env, &shape, 1, multiply, out);
}

/* --- comparison ------------------------------------------------------------
 */

/* 1: equal at all sizes, 0: at none, -1: unknown. */
static int
equal(const gs_env *env, const gs_datum *a, const gs_datum *b) {
  int64_t x[GS_MAX_LIST], y[GS_MAX_LIST];
  uint32_t n, m;
  int all = 1;
  gs_sizes *s = env->sizes;
  if (a->kind == GS_D_INT && b->kind == GS_D_INT)
    return gs_ask(s, gs_minus(&s->over, a->i, b->i), true);
  if (is_number(a) && is_number(b))
    return -1;
  if (!read_ints(env, a, x, &n) || !read_ints(env, b, y, &m))
    return gs_same_datum(a, b);
  for (uint32_t k = 0; k < n && n == m; k++) {
    int here = gs_ask(s, gs_minus(&s->over, x[k], y[k]), true);
    all = !here || !all ? 0 : here < 0 ? -1 : all;
  }
  return n == m ? all : 0;
}

static bool
answer(const gs_env *env, int holds, bool wanted, gs_datum *out) {
  return holds < 0 ? unknown(env) : give_bool(out, (holds == 1) == wanted);
}

static bool
equality(const gs_env *env, const gs_datum *a, uint32_t n, bool wanted,
         gs_datum *out) {
  int all = 1;
  for (uint32_t k = 1; k < n && all; k++) {
    int here = equal(env, &a[0], &a[k]);
    all = !here ? 0 : here < 0 ? -1 : all;
  }
  return answer(env, all, wanted, out);
}

/* Each is below the next, by `least` or more; falling: above. */
static bool
chain(const gs_env *env, const gs_datum *a, uint32_t n, bool falling,
      int64_t least, gs_datum *out) {
  gs_sizes *s = env->sizes;
  int all = 1;
  if (!all_ints(a, n))
    return unknown(env);
  for (uint32_t k = 1; k < n && all; k++) {
    int64_t more = gs_combine(&s->over, 1, a[falling ? k - 1 : k].i, -1,
                              a[falling ? k : k - 1].i, -least);
    int here = gs_ask(s, more, false);
    all = !here ? 0 : here < 0 ? -1 : all;
  }
  return answer(env, all, true, out);
}

static bool
divides(const gs_env *env, const gs_datum *a, gs_datum *out) {
  int64_t rest;
  if (!all_ints(a, 2) || !remainder_of(env->sizes, a[1].i, a[0].i, &rest))
    return unknown(env);
  return answer(env, gs_ask(env->sizes, rest, true), true, out);
}

/* All items are equal to one. */
static bool
all_equal(const gs_env *env, const gs_datum *a, uint32_t n, gs_datum *out) {
  int64_t x[GS_MAX_LIST];
  uint32_t len;
  int all = 1;
  if (!read_ints(env, a, x, &len) || (n == 2 && a[1].kind != GS_D_INT))
    return unknown(env);
  for (uint32_t k = 0; k < len && all; k++) {
    gs_datum one = {GS_D_INT, {.i = n == 2 ? a[1].i : x[0]}};
    gs_datum other = {GS_D_INT, {.i = x[k]}};
    int here = equal(env, &one, &other);
    all = !here ? 0 : here < 0 ? -1 : all;
  }
  return answer(env, all, true, out);
}

/* --- dispatch --------------------------------------------------------------
 */

typedef enum way {
  UNKNOWN, /* undefined */
  MOVES,   /* as without sizes */
  FOLDS,
  OF_LIST,
  BY_ITEMS,
  OWN
} way;

typedef struct function {
  way way;
  step *step;
  int64_t start; /* OF_LIST */
} function;

static const function functions[GS_FUNCTION_COUNT] = {
    [GS_F_LIST] = {.way = MOVES},
    [GS_F_LEN] = {.way = MOVES},
    [GS_F_RANK] = {.way = MOVES},
    [GS_F_NTH] = {.way = MOVES},
    [GS_F_LAST] = {.way = MOVES},
    [GS_F_CONS] = {.way = MOVES},
    [GS_F_APPEND] = {.way = MOVES},
    [GS_F_TAKE] = {.way = MOVES},
    [GS_F_DROP] = {.way = MOVES},
    [GS_F_SLICE_LIST] = {.way = MOVES},
    [GS_F_SET_NTH] = {.way = MOVES},
    [GS_F_INSERT_NTH] = {.way = MOVES},
    [GS_F_REMOVE_NTH] = {.way = MOVES},
    [GS_F_REVERSE] = {.way = MOVES},
    [GS_F_FILL] = {.way = MOVES},
    [GS_F_PERMUTE] = {.way = MOVES},
    [GS_F_INTEGER] = {.way = MOVES},
    [GS_F_ADD] = {FOLDS, add, 0},
    [GS_F_MUL] = {FOLDS, multiply, 0},
    [GS_F_DIV] = {FOLDS, divide, 0},
    [GS_F_MOD] = {FOLDS, remainder_of, 0},
    [GS_F_MIN] = {FOLDS, smaller, 0},
    [GS_F_MAX] = {FOLDS, larger, 0},
    [GS_F_CEIL_DIV] = {FOLDS, ceil_divide, 0},
    [GS_F_ROUND_UP] = {FOLDS, round_up, 0},
    [GS_F_ROUND_DOWN] = {FOLDS, round_down, 0},
    [GS_F_PROD] = {OF_LIST, multiply, 1},
    [GS_F_SUM] = {OF_LIST, add, 0},
    [GS_F_ADD_LISTS] = {BY_ITEMS, add, 0},
    [GS_F_SUB_LISTS] = {BY_ITEMS, subtract, 0},
    [GS_F_MUL_LISTS] = {BY_ITEMS, multiply, 0},
    [GS_F_DIV_LISTS] = {BY_ITEMS, divide, 0},
    [GS_F_MOD_LISTS] = {BY_ITEMS, remainder_of, 0},
    [GS_F_SUB] = {.way = OWN},
    [GS_F_EQ] = {.way = OWN},
    [GS_F_NE] = {.way = OWN},
    [GS_F_LT] = {.way = OWN},
    [GS_F_LE] = {.way = OWN},
    [GS_F_GT] = {.way = OWN},
    [GS_F_GE] = {.way = OWN},
    [GS_F_DIVIDES] = {.way = OWN},
    [GS_F_ALL_EQUAL] = {.way = OWN},
    [GS_F_ALL_ONES] = {.way = OWN},
    [GS_F_ELEMENTS] = {.way = OWN},
};

bool
gs_has_sized(const gs_env *env, gs_function_id f, const gs_datum *args,
             uint32_t n) {
  assert(f < GS_FUNCTION_COUNT && n <= GS_MAX_ARGUMENTS);
  for (uint32_t k = 0; k < n; k++)
    if (is_sized(env, &args[k]))
      return true;
  return f == GS_F_ELEMENTS;
}

static bool
apply_own(gs_function_id f, const gs_env *env, const gs_datum *a, uint32_t n,
          gs_datum *out) {
  gs_datum two[2] = {a[0], {GS_D_INT, {.i = f == GS_F_ALL_ONES}}};
  if (f == GS_F_SUB && n == 1)
    return fold(env->sizes, (gs_datum[2]){two[1], a[0]}, 2, subtract, out);
  if (f == GS_F_SUB)
    return fold(env->sizes, a, n, subtract, out);
  if (f == GS_F_EQ || f == GS_F_NE)
    return equality(env, a, n, f == GS_F_EQ, out);
  if (f == GS_F_DIVIDES)
    return divides(env, a, out);
  if (f == GS_F_ALL_EQUAL)
    return all_equal(env, a, n, out);
  if (f == GS_F_ALL_ONES)
    return all_equal(env, two, 2, out);
  if (f == GS_F_ELEMENTS)
    return elements(env, a, out);
  return chain(env, a, n, f == GS_F_GT || f == GS_F_GE,
               f == GS_F_LT || f == GS_F_GT, out);
}

bool
gs_apply_sized(gs_function_id f, const gs_env *env, const gs_datum *args,
               uint32_t n, gs_datum *out) {
  assert(env->sizes && f < GS_FUNCTION_COUNT);
  const function *how = &functions[f];
  bool defined = false;
  if (how->way == MOVES)
    return gs_apply_plain(f, env, args, n, out);
  if (how->way == FOLDS)
    defined = fold(env->sizes, args, n, how->step, out);
  else if (how->way == OF_LIST)
    defined = fold_list(env, args, how->start, how->step, out);
  else if (how->way == BY_ITEMS)
    defined = by_items(env, args, how->step, out);
  else if (how->way == OWN)
    defined = apply_own(f, env, args, n, out);
  return defined || unknown(env);
}
