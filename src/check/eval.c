/* SPDX-License-Identifier: MIT */
/* eval.c - conditions and computed attributes, evaluated a second time.
 *
 * What a function means, as docs/EXPRESSIONS.md says, is a row of one table.
 * Arguments are read once for all of them, by the letters that the reader has
 * for each.  Nothing fails hard: what is undefined has no value (BS_NIL), and
 * makes a test false. */
#include "check/check.h"
#include "glenside/expr/expr_functions.h"
#include "base/whole.h"
#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct arg {
  bs_value v; /* BS_NIL: a term */
  bs_kind kind;
  int64_t i;
  double r;
  uint32_t n; /* items of a list */
  gs_dtype dtype;
  gs_compute op;
  gs_term term;
  gs_type type;
} arg;

/* Rows of tables as cases of a switch. */
#define RETURN(id, meaning)                                                    \
  case GS_F_##id:                                                              \
    return meaning;
#define RETURN_FOLD(id, meaning) RETURN(id, fold(c))
#define RETURN_LIST(id, length, item_k)                                        \
  case GS_F_##id:                                                              \
    *out = k < 0 ? BS_NIL : item_k;                                            \
    return length;

typedef struct call {
  const ck_env *e;
  bs_values *values;
  uint16_t function;
  uint32_t n;
  const arg *a;
} call;

static bs_value
number(const call *c, int64_t i) {
  return bs_int(c->values, i);
}

static bs_value
truth(const call *c, bool b) {
  return bs_bool(c->values, b);
}

static bs_value
name(const call *c, const char *text) {
  return text ? bs_sym(c->values, text) : BS_NIL;
}

static bs_value
item(const call *c, uint32_t k, int64_t at) {
  assert(k < c->n);
  return at >= 0 && at < c->a[k].n ? bs_item(c->values, c->a[k].v, (uint32_t)at)
                                   : BS_NIL;
}

/* ---- comparison ---- */

/* 2 and 2.0 are one number; of lists the items are compared so. */
static bool
same_item(const bs_values *v, bs_value a, bs_value b) {
  bs_kind x = bs_kind_of(v, a), y = bs_kind_of(v, b);
  bool numbers = (x == BS_KIND_REAL && (y == x || y == BS_KIND_INT)) ||
                 (x == BS_KIND_INT && y == BS_KIND_REAL);
  return bs_same(a, b) || (numbers && bs_as_real(v, a) == bs_as_real(v, b));
}

bool
ck_same(const bs_values *v, bs_value a, bs_value b) {
  uint32_t n = bs_len(v, a);
  bool lists = bs_kind_of(v, a) == BS_KIND_LIST &&
               bs_kind_of(v, b) == BS_KIND_LIST && n == bs_len(v, b);
  for (uint32_t k = 0; k < n && lists; k++)
    lists = same_item(v, bs_item(v, a, k), bs_item(v, b, k));
  return lists || same_item(v, a, b);
}

static bool
all_same(const call *c) {
  bool all = true;
  for (uint32_t k = 1; k < c->n; k++)
    all &= ck_same(c->values, c->a->v, c->a[k].v) &&
           c->a->term.i == c->a[k].term.i;
  return all;
}

/* How each argument compares with the next: -1, 0, 1 from lo to hi. */
static bs_value
in_order(const call *c, int lo, int hi) {
  bool ok = true;
  for (uint32_t k = 1; k < c->n; k++) {
    const arg *x = &c->a[k - 1], *y = &c->a[k];
    bool ints = x->kind == BS_KIND_INT && y->kind == BS_KIND_INT;
    int order =
        ints ? (x->i > y->i) - (x->i < y->i) : (x->r > y->r) - (x->r < y->r);
    ok &= lo <= order && order <= hi;
  }
  return truth(c, ok);
}

/* ---- arithmetic ---- */

static bool
divide(int64_t a, int64_t b, int64_t *out) {
  if (!b || (a == INT64_MIN && b == -1))
    return false;
  *out = bs_floor_div(a, b);
  return true;
}

/* Each has `out`, and false where there is no such number; q is a / b. */
#define OF_INTS(X)                                                             \
  X(ADD, !__builtin_add_overflow(a, b, out))                                   \
  X(SUB, !__builtin_sub_overflow(a, b, out))                                   \
  X(MUL, !__builtin_mul_overflow(a, b, out))                                   \
  X(DIV, divide(a, b, out))                                                    \
  X(MOD, divide(a, b, &q) && is(bs_floor_mod(a, b), out))                      \
  X(MIN, is(a < b ? a : b, out))                                               \
  X(MAX, is(a > b ? a : b, out))                                               \
  X(GCD, a != INT64_MIN && b != INT64_MIN && is(bs_gcd(a, b), out))            \
  X(CEIL_DIV, divide(a, b, &q) && is(q + (a % b != 0), out))                   \
  X(ROUND_UP, b > 0 && divide(a, b, &q) &&                                     \
                  !__builtin_mul_overflow(q + (a % b != 0), b, out))           \
  X(ROUND_DOWN, b > 0 && divide(a, b, &q) && !__builtin_mul_overflow(q, b, out))

static bool
is(int64_t x, int64_t *out) {
  *out = x;
  return true;
}

static bool
of_ints(uint16_t function, int64_t a, int64_t b, int64_t *out) {
  int64_t q;
  switch (function) {
    OF_INTS(RETURN)
  default:
    return false;
  }
}

/* A result that is infinite, or lost digits near 0, is none. */
static bool
of_reals(uint16_t f, double a, double b, double *out) {
  bool product = f == GS_F_MUL, scales = product || f == GS_F_DIV;
  bool zero = !a || (product && !b);
  *out = f == GS_F_ADD   ? a + b
         : f == GS_F_SUB ? a - b
         : product       ? a * b
         : f == GS_F_DIV ? (b ? a / b : INFINITY)
         : f == GS_F_MIN ? fmin(a, b)
                         : fmax(a, b);
  return scales ? (zero ? !*out : isnormal(*out))
                : isfinite(*out) || f == GS_F_MIN || f == GS_F_MAX;
}

/* From the left; exactly where all are integers. */
static bs_value
fold(const call *c) {
  bool ints = true, ok = true, negates = c->function == GS_F_SUB && c->n == 1;
  int64_t i = negates ? 0 : c->a[0].i;
  double r = negates ? 0 : c->a[0].r;
  for (uint32_t k = 0; k < c->n; k++)
    ints &= c->a[k].kind == BS_KIND_INT;
  for (uint32_t k = !negates; k < c->n && ok; k++)
    ok = ints ? of_ints(c->function, i, c->a[k].i, &i)
              : of_reals(c->function, r, c->a[k].r, &r);
  if (!ok || isnan(r))
    return BS_NIL;
  return ints ? number(c, i) : bs_real(c->values, r);
}

/* ---- lists ---- */

static bool
int_item(const call *c, uint32_t list, int64_t k, int64_t *out) {
  bs_value v = item(c, list, k);
  *out = bs_as_int(c->values, v);
  return bs_kind_of(c->values, v) == BS_KIND_INT;
}

static bs_value
total(const call *c, uint16_t function, int64_t all) {
  int64_t x;
  for (uint32_t k = 0; k < c->a->n; k++)
    if (!int_item(c, 0, k, &x) || !of_ints(function, all, x, &all))
      return BS_NIL;
  return number(c, all);
}

static bs_value
both(const call *c, uint16_t function, int64_t k) {
  int64_t x, y, made;
  return int_item(c, 0, k, &x) && int_item(c, 1, k, &y) &&
                 of_ints(function, x, y, &made)
             ? number(c, made)
             : BS_NIL;
}

/* Of the first item that is b; or how many items there are. */
static uint32_t
place_of(const call *c, uint32_t list, bs_value b) {
  uint32_t k = 0;
  while (k < c->a[list].n && !ck_same(c->values, item(c, list, k), b))
    k++;
  return k;
}

static bs_value
all_equal(const call *c, bs_value to) {
  bool all = true;
  for (uint32_t k = 0; k < c->a->n; k++)
    all &= ck_same(c->values, item(c, 0, k), to);
  return truth(c, all);
}

static bool
is_permutation(const call *c, uint32_t list) {
  uint32_t n = c->a[list].n, k = 0;
  int64_t x;
  while (k < n && int_item(c, list, k, &x) &&
         place_of(c, list, number(c, k)) < n)
    k++;
  return k == n;
}

/* How many of lo, lo + step ... there are below hi. */
static int64_t
steps(int64_t lo, int64_t hi, int64_t step) {
  uint64_t way = hi > lo ? (uint64_t)hi - (uint64_t)lo : 0;
  uint64_t n = step < 1 ? GS_MAX_LIST + 1 : (way - !!way) / (uint64_t)step;
  return n > GS_MAX_LIST ? -1 : (int64_t)n + !!way;
}

/* The multiple of q nearest to n/2, the lower one of two, below n. */
static int64_t
cut(int64_t n, int64_t q) {
  int64_t low = n / 2 / q * q, high = low + q;
  return low >= q && n - 2 * low <= 2 * high - n ? low : high;
}

/* How many items the list has, no list where it is below 0, and item k. */
#define LISTS(X)                                                               \
  X(LIST, c->n, a[k].v)                                                        \
  X(CONS, (int64_t)a[1].n + 1, k ? item(c, 1, k - 1) : a->v)                   \
  X(TAKE, i, item(c, 0, k))                                                    \
  X(DROP, i < 0 ? -1 : n - i, item(c, 0, k + i))                               \
  X(SLICE_LIST, i<0 || i> n || a[2].i < i ? -1 : a[2].i - i,                   \
    item(c, 0, k + i))                                                         \
  X(SET_NTH, i < 0 || i >= n ? -1 : n, k == i ? a[2].v : item(c, 0, k))        \
  X(INSERT_NTH, i<0 || i> n ? -1 : n + 1,                                      \
    k == i ? a[2].v : item(c, 0, k - (k > i)))                                 \
  X(REMOVE_NTH, i < 0 || i >= n ? -1 : n - 1, item(c, 0, k + (k >= i)))        \
  X(REVERSE, n, item(c, 0, n - 1 - k))                                         \
  X(IOTA, a->i, number(c, k))                                                  \
  X(RANGE, steps(a->i, i, c->n < 3 ? 1 : a[2].i),                              \
    number(c, a->i + k * (c->n < 3 ? 1 : a[2].i)))                             \
  X(FILL, a->i, a[1].v)                                                        \
  X(ADD_LISTS, n == a[1].n ? n : -1, both(c, GS_F_ADD, k))                     \
  X(SUB_LISTS, n == a[1].n ? n : -1, both(c, GS_F_SUB, k))                     \
  X(MUL_LISTS, n == a[1].n ? n : -1, both(c, GS_F_MUL, k))                     \
  X(DIV_LISTS, n == a[1].n ? n : -1, both(c, GS_F_DIV, k))                     \
  X(MOD_LISTS, n == a[1].n ? n : -1, both(c, GS_F_MOD, k))                     \
  X(INVERT, is_permutation(c, 0) ? n : -1,                                     \
    number(c, place_of(c, 0, number(c, k))))                                   \
  X(PERMUTE, n == a[1].n && is_permutation(c, 1) ? n : -1,                     \
    item(c, 0, bs_as_int(c->values, item(c, 1, k))))                           \
  X(COMPOSE,                                                                   \
    n == a[1].n && is_permutation(c, 0) && is_permutation(c, 1) ? n : -1,      \
    item(c, 0, bs_as_int(c->values, item(c, 1, k))))                           \
  X(HALVINGS, a->i > 0 && a->i % 2 == 0 && a->i / 2 >= (c->n < 2 ? 1 : i),     \
    number(c, a->i / 2))                                                       \
  X(CUTS, i<1 || a->i> INT64_MAX / 4 ? -1 : a->i > i, number(c, cut(a->i, i))) \
  X(AXES, t->rank, number(c, k))                                               \
  X(ACCESS_SHAPE, t->access, number(c, t->dim[k]))                             \
  X(COMPUTE_SHAPE, t->rank - t->access, number(c, t->dim[k + t->access]))      \
  X(SHAPE, t->rank, number(c, t->dim[k]))

/* The length, and item k, if there is one. */
static int64_t
list_of(const call *c, int64_t k, bs_value *out) {
  const arg *a = c->a;
  const gs_type *t = &a->type;
  int64_t n = a->n, i = c->n > 1 ? a[1].i : 0;
  switch (c->function) {
    LISTS(RETURN_LIST)
  default:
    return -1;
  }
}

/* Lists and bindings hold a whole number as an integer, as attributes do.
 * Lists are nested no deeper than they are written. */
bs_value
ck_kept(bs_values *values, bs_value v) {
  double r = bs_as_real(values, v);
  if (bs_kind_of(values, v) == BS_KIND_REAL)
    return fabs(r) < 0x1p53 && r == floor(r) && !(r == 0 && signbit(r))
               ? bs_int(values, (int64_t)r)
               : v;
  bs_value items[GS_MAX_LIST];
  uint32_t n = bs_len(values, v);
  if (bs_kind_of(values, v) != BS_KIND_LIST || n > GS_MAX_LIST)
    return v;
  for (uint32_t k = 0; k < n; k++) {
    bs_value x = bs_item(values, v, k);
    items[k] = bs_kind_of(values, x) == BS_KIND_REAL ? ck_kept(values, x) : x;
  }
  return bs_list(values, items, n);
}

/* BS_NIL too where an item has no value. */
static bs_value
made_list(const call *c) {
  bs_value v[GS_MAX_LIST];
  int64_t n = list_of(c, -1, v);
  bool ok = n >= 0 && n <= GS_MAX_LIST;
  for (int64_t k = 0; k < n && ok; k++) {
    list_of(c, k, &v[k]);
    ok = v[k].i != 0;
    v[k] = ok ? ck_kept(c->values, v[k]) : v[k];
  }
  return ok ? bs_list(c->values, v, (uint32_t)n) : BS_NIL;
}

static bs_value
appended(const call *c) {
  bs_value v[GS_MAX_LIST];
  uint32_t n = 0;
  for (uint32_t k = 0; k < c->n; k++)
    for (uint32_t j = 0; j < c->a[k].n; j++) {
      if (n == GS_MAX_LIST)
        return BS_NIL;
      v[n++] = item(c, k, j);
    }
  return bs_list(c->values, v, n);
}

/* ---- terms and operators ---- */

/* All of a term, or one range of one axis. */
static bs_value
is_zero(const call *c) {
  const arg *a = c->a;
  if (c->n != 4)
    return truth(c,
                 ck_same(c->values, ck_constant(c->e, a->term), number(c, 0)));
  if (a[1].i < 0 || a[1].i >= a->type.rank || a[2].i < 0 || a[3].i < a[2].i ||
      a[3].i > a->type.dim[a[1].i])
    return BS_NIL;
  return truth(c, ck_is_zero(c->e, a->term, (uint32_t)a[1].i, a[2].i, a[3].i));
}

/* The tuple's operator that a reduction applies again and again. */
static bs_value
fold_of(const call *c, const gs_compute_info *op) {
  bool folds =
      op->kind == GS_DOT || (op->kind == GS_REDUCE && op->is_associative);
  return folds ? name(c, gs_compute_table[gs_fold_operator(op->fold)].name)
               : BS_NIL;
}

static bs_value
reduce_of(const call *c, const gs_compute_info *op) {
  const gs_compute_info *by = gs_compute_table, *end = by + GS_COMPUTE_COUNT;
  while (by < end &&
         (by->kind != GS_REDUCE || !bs_same(fold_of(c, by), name(c, op->name))))
    by++;
  return by < end ? name(c, by->name) : BS_NIL;
}

/* ---- the table ---- */

#define MEANINGS(X)                                                            \
  X(NOT, truth(c, !bs_as_bool(c->values, a->v)))                               \
  X(EQ, truth(c, all_same(c)))                                                 \
  X(NE, truth(c, !all_same(c)))                                                \
  X(LT, in_order(c, -1, -1))                                                   \
  X(LE, in_order(c, -1, 0))                                                    \
  X(GT, in_order(c, 1, 1))                                                     \
  X(GE, in_order(c, 0, 1))                                                     \
  X(ABS, a->kind == BS_KIND_REAL ? bs_real(c->values, fabs(a->r))              \
         : a->i == INT64_MIN     ? BS_NIL                                      \
                                 : number(c, a->i < 0 ? -a->i : a->i))             \
  X(SQRT, a->r < 0 ? BS_NIL : bs_real(c->values, sqrt(a->r)))                  \
  /* Beyond 2^53 a real number does not tell integers apart. */                \
  X(INTEGER, a->kind == BS_KIND_INT ? a->v                                     \
             : fabs(a->r) <= 0x1p53 && a->r == floor(a->r)                     \
                 ? number(c, (int64_t)a->r)                                    \
                 : BS_NIL)                                                     \
  X(DIVIDES, truth(c, of_ints(GS_F_MOD, a[1].i, a->i, &rest) && !rest))        \
  X(PROD, total(c, GS_F_MUL, 1))                                               \
  X(SUM, total(c, GS_F_ADD, 0))                                                \
  X(LEN, number(c, a->n))                                                      \
  X(RANK, number(c, a->v.i ? a->n : t->rank))                                  \
  X(NTH, item(c, 0, a[1].i))                                                   \
  X(LAST, item(c, 0, (int64_t)a->n - 1))                                       \
  X(APPEND, appended(c))                                                       \
  X(INDEX_OF, place_of(c, 0, a[1].v) < a->n                                    \
                  ? number(c, place_of(c, 0, a[1].v))                          \
                  : BS_NIL)                                                    \
  X(MEMBER, truth(c, place_of(c, 0, a[1].v) < a->n))                           \
  X(ALL_EQUAL, all_equal(c, c->n == 2 ? a[1].v : item(c, 0, 0)))               \
  X(ALL_ONES, all_equal(c, number(c, 1)))                                      \
  X(IS_PERMUTATION, truth(c, is_permutation(c, 0)))                            \
  X(DIM, a[1].i < 0 || a[1].i >= t->rank ? BS_NIL : number(c, t->dim[a[1].i])) \
  X(DTYPE, name(c, gs_dtype_table[t->dtype].name))                             \
  X(ACCESS_RANK, number(c, t->access))                                         \
  X(COMPUTE_RANK, number(c, t->rank - t->access))                              \
  X(ELEMENTS, number(c, gs_elements(t)))                                       \
  X(IS_ZERO, is_zero(c))                                                       \
  X(IS_CONST, truth(c, ck_constant(c->e, a->term).i != 0))                     \
  X(CONSTANT, ck_constant(c->e, a->term))                                      \
  X(DTYPE_BYTES, number(c, gs_dtype_table[a->dtype].bytes))                    \
  X(SUM_DTYPE, name(c, gs_dtype_table[gs_sum_dtype(a->dtype)].name))           \
  X(IS_INTEGER, truth(c, gs_dtype_table[a->dtype].integer))                    \
  X(OP_KIND, name(c, gs_kind_words[op->kind]))                                 \
  X(OP_NAME, name(c, op->name))                                                \
  X(OP_PARAM, a[1].i<0 || a[1].i> a->n ? BS_NIL : item(c, 0, a[1].i + 1))      \
  X(FOLD_OF, fold_of(c, op))                                                   \
  X(REDUCE_OF, reduce_of(c, op))                                               \
  X(IS_ASSOCIATIVE, truth(c, op->is_associative))                              \
  X(IS_MONOTONE, truth(c, op->rises))                                          \
  X(MAPS_ZERO, truth(c, gs_compute_keeps_zero(c->values, a->v, a->op)))

static bs_value
apply(const call *c) {
  const arg *a = c->a;
  const gs_type *t = &a->type;
  const gs_compute_info *op = &gs_compute_table[a->op];
  int64_t rest;
  switch (c->function) {
    OF_INTS(RETURN_FOLD)
    MEANINGS(RETURN)
  default:
    return made_list(c);
  }
}

/* ---- expressions ---- */

/* Is the argument what the letter says (expr_functions.h)? */
static bool
fits(const bs_values *v, char letter, arg *a) {
  static const char letters[][4] = {
      [BS_KIND_NIL] = "cxe", [BS_KIND_INT] = "inv", [BS_KIND_REAL] = "nv",
      [BS_KIND_BOOL] = "bv", [BS_KIND_SYM] = "stv", [BS_KIND_LIST] = "lxv"};
  if (letter == 'o')
    return gs_compute_of(v, a->v, &a->op);
  if (letter == 't' && a->kind == BS_KIND_SYM)
    return gs_dtype_find(bs_as_sym(v, a->v), &a->dtype);
  return letter == 'e' || strchr(letters[a->kind], letter);
}

static bool
read_arg(const ck_env *e, const gs_expr *x, char letter, arg *a) {
  const bs_values *v = e->ctx->values;
  *a = (arg){.term = GS_NO_TERM};
  if (x->kind == GS_X_VAR &&
      e->scope->vars.data[x->slot].sort == GS_SORT_CLASS) {
    a->term.i = e->slots[x->slot];
    if (!gs_term_ok(a->term))
      return false;
    a->type = ck_type(e->p, a->term);
  } else {
    a->v = ck_eval(e, x);
    a->kind = bs_kind_of(v, a->v);
    a->i = bs_as_int(v, a->v);
    a->r = bs_as_real(v, a->v);
    a->n = bs_len(v, a->v);
    if (!a->v.i)
      return false;
  }
  return fits(v, letter, a);
}

static bs_value
eval_call(const ck_env *e, const gs_expr *x) {
  const gs_function_info *info = gs_function_at(x->function);
  arg *a = bs_calloc(e->ctx->heap, x->n_args + (size_t)1, sizeof *a);
  call c = {e, e->ctx->values, x->function, x->n_args, a};
  bool ok = true;
  for (uint32_t k = 0; k < x->n_args && ok; k++)
    ok = read_arg(e, x->args[k], gs_function_letter(info, k), &a[k]);
  bs_value made = ok ? apply(&c) : BS_NIL;
  bs_free(e->ctx->heap, a);
  return made;
}

/* One part decides, `or` when it is true and `and` when it is false, whatever
 * the others are. */
static bs_value
eval_logic(const ck_env *e, const gs_expr *x, bool decides) {
  bs_values *v = e->ctx->values;
  bool defined = true;
  for (uint32_t k = 0; k < x->n_args; k++) {
    bs_value part = ck_eval(e, x->args[k]);
    if (bs_kind_of(v, part) != BS_KIND_BOOL)
      defined = false;
    else if (bs_as_bool(v, part) == decides)
      return part;
  }
  return defined ? bs_bool(v, !decides) : BS_NIL;
}

static bs_value
eval_any(const ck_env *e, const gs_expr *x) {
  if (x->kind == GS_X_LITERAL)
    return x->literal;
  if (x->kind == GS_X_VAR) {
    uint32_t have = e->slots[x->slot];
    bool term = e->scope->vars.data[x->slot].sort == GS_SORT_CLASS;
    return (bs_value){term || have == UINT32_MAX ? 0 : have};
  }
  if (x->function == GS_F_AND || x->function == GS_F_OR)
    return eval_logic(e, x, x->function == GS_F_OR);
  if (x->function != GS_F_IF)
    return eval_call(e, x);
  bs_value which = ck_eval(e, x->args[0]);
  return bs_kind_of(e->ctx->values, which) == BS_KIND_BOOL
             ? ck_eval(e, x->args[bs_as_bool(e->ctx->values, which) ? 1 : 2])
             : BS_NIL;
}

/* Of a value; a term has none.  What has the sort of real numbers is one, be it
 * whole.  Expressions are nested no deeper than GS_MAX_NESTING. */
bs_value
ck_eval(const ck_env *e, const gs_expr *x) {
  bs_values *values = e->ctx->values;
  bs_value v = eval_any(e, x);
  return x->sort == GS_SORT_REAL && bs_kind_of(values, v) == BS_KIND_INT
             ? bs_real(values, (double)bs_as_int(values, v))
             : v;
}
