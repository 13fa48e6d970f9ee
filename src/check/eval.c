/* SPDX-License-Identifier: MIT */
/* eval.c - conditions and computed attributes, evaluated a second time.
 *
 * As docs/EXPRESSIONS.md says what each function means.  Nothing fails hard:
 * what is undefined makes a test false. */
#include "check/check.h"
#include "glenside/expr_functions.h"
#include <math.h>
#include <string.h>

static bs_values *
values_of(const ck_env *e) {
  return e->ctx->values;
}

static bs_kind
kind(const ck_env *e, const ck_val *a) {
  return a->is_term ? BS_KIND_NIL : bs_kind_of(values_of(e), a->v);
}

static bool
is_number(const ck_env *e, const ck_val *a) {
  return kind(e, a) == BS_KIND_INT || kind(e, a) == BS_KIND_REAL;
}

static double
real(const ck_env *e, const ck_val *a) {
  return bs_as_real(values_of(e), a->v);
}

static bool
give_bool(const ck_env *e, bool b, ck_val *out) {
  return ck_give(out, bs_bool(values_of(e), b));
}

static bool
give_int(const ck_env *e, int64_t i, ck_val *out) {
  return ck_give(out, bs_int(values_of(e), i));
}

/* ---- comparison ---- */

static bool
same_numbers(const bs_values *v, bs_value a, bs_value b) {
  bs_kind x = bs_kind_of(v, a), y = bs_kind_of(v, b);
  bool numbers = (x == BS_KIND_INT || x == BS_KIND_REAL) &&
                 (y == BS_KIND_INT || y == BS_KIND_REAL);
  return numbers && bs_as_real(v, a) == bs_as_real(v, b) &&
         (x != BS_KIND_INT || y != BS_KIND_INT);
}

/* Lists hold equal items; they are nested as deep as they are written. */
bool
ck_same(const bs_values *v, bs_value a, bs_value b) {
  uint32_t n = bs_len(v, a);
  if (bs_same(a, b) || same_numbers(v, a, b))
    return true;
  if (bs_kind_of(v, a) != BS_KIND_LIST || bs_kind_of(v, b) != BS_KIND_LIST ||
      n != bs_len(v, b))
    return false;
  for (uint32_t k = 0; k < n; k++) {
    bs_value x = bs_item(v, a, k), y = bs_item(v, b, k);
    if (!bs_same(x, y) && !same_numbers(v, x, y))
      return false;
  }
  return true;
}

static bool
same(const ck_env *e, const ck_val *a, const ck_val *b) {
  if (a->is_term || b->is_term)
    return a->is_term && b->is_term && a->t.i == b->t.i;
  return ck_same(values_of(e), a->v, b->v);
}

static int
order(const ck_env *e, const ck_val *a, const ck_val *b) {
  int64_t i, j;
  if (ck_int(e, a, &i) && ck_int(e, b, &j))
    return (i > j) - (i < j);
  return (real(e, a) > real(e, b)) - (real(e, a) < real(e, b));
}

static bool
in_order(const ck_env *e, const ck_val *a, uint32_t n, int lo, int hi,
         ck_val *out) {
  bool ok = true;
  for (uint32_t k = 0; k < n; k++)
    if (!is_number(e, &a[k]))
      return false;
  for (uint32_t k = 1; k < n; k++) {
    int o = order(e, &a[k - 1], &a[k]);
    ok &= lo <= o && o <= hi;
  }
  return give_bool(e, ok, out);
}

static bool
compare(const ck_env *e, uint16_t f, const ck_val *a, uint32_t n, ck_val *out) {
  bool all = true;
  switch (f) {
  case GS_F_LT:
    return in_order(e, a, n, -1, -1, out);
  case GS_F_LE:
    return in_order(e, a, n, -1, 0, out);
  case GS_F_GT:
    return in_order(e, a, n, 1, 1, out);
  case GS_F_GE:
    return in_order(e, a, n, 0, 1, out);
  case GS_F_NE:
    return give_bool(e, !same(e, &a[0], &a[1]), out);
  default:
    for (uint32_t k = 1; k < n; k++)
      all &= same(e, &a[0], &a[k]);
    return give_bool(e, all, out);
  }
}

/* ---- arithmetic ---- */

static bool
divide(int64_t a, int64_t b, int64_t *out) {
  if (!b || (a == INT64_MIN && b == -1))
    return false;
  *out = a / b - (a % b != 0 && (a < 0) != (b < 0));
  return true;
}

static bool
gcd(int64_t a, int64_t b, int64_t *out) {
  if (a == INT64_MIN || b == INT64_MIN)
    return false;
  for (a = a < 0 ? -a : a, b = b < 0 ? -b : b; b;) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  *out = a;
  return true;
}

static bool
two_ints(uint16_t f, int64_t a, int64_t b, int64_t *out) {
  int64_t q;
  switch (f) {
  case GS_F_ADD:
    return !__builtin_add_overflow(a, b, out);
  case GS_F_SUB:
    return !__builtin_sub_overflow(a, b, out);
  case GS_F_MUL:
    return !__builtin_mul_overflow(a, b, out);
  case GS_F_DIV:
    return divide(a, b, out);
  case GS_F_MOD:
    if (!divide(a, b, &q))
      return false;
    *out = a - b * q;
    return true;
  case GS_F_MIN:
    *out = a < b ? a : b;
    return true;
  case GS_F_MAX:
    *out = a > b ? a : b;
    return true;
  case GS_F_GCD:
    return gcd(a, b, out);
  case GS_F_CEIL_DIV:
    return divide(a, b, &q) && !__builtin_add_overflow(q, a % b != 0, out);
  case GS_F_ROUND_UP:
    return b > 0 && divide(a, b, &q) &&
           !__builtin_mul_overflow(q + (a % b != 0), b, out);
  case GS_F_ROUND_DOWN:
    return b > 0 && divide(a, b, &q) && !__builtin_mul_overflow(q, b, out);
  default:
    return false;
  }
}

/* A result that is infinite, or lost digits near 0, is none. */
static bool
two_reals(uint16_t f, double a, double b, double *out) {
  switch (f) {
  case GS_F_ADD:
    *out = a + b;
    return isfinite(*out);
  case GS_F_SUB:
    *out = a - b;
    return isfinite(*out);
  case GS_F_MUL:
    *out = a * b;
    return a != 0 && b != 0 ? isnormal(*out) : *out == 0;
  case GS_F_DIV:
    *out = b != 0 ? a / b : 0;
    return b != 0 && (a != 0 ? isnormal(*out) : *out == 0);
  case GS_F_MIN:
    *out = fmin(a, b);
    return true;
  case GS_F_MAX:
    *out = fmax(a, b);
    return true;
  default:
    return false;
  }
}

static bool
fold(const ck_env *e, uint16_t f, const ck_val *a, uint32_t n, ck_val *out) {
  bool ints = true;
  int64_t i, acc = 0;
  for (uint32_t k = 0; k < n; k++) {
    if (!is_number(e, &a[k]))
      return false;
    ints &= ck_int(e, &a[k], &i);
  }
  double sum = real(e, &a[0]);
  ck_int(e, &a[0], &acc);
  for (uint32_t k = 1; k < n; k++) {
    ck_int(e, &a[k], &i);
    if (ints ? !two_ints(f, acc, i, &acc)
             : !two_reals(f, sum, real(e, &a[k]), &sum))
      return false;
  }
  if (ints)
    return give_int(e, acc, out);
  return !isnan(sum) && ck_give(out, bs_real(values_of(e), sum));
}

static bool
negate_or_fold(const ck_env *e, const ck_val *a, uint32_t n, ck_val *out) {
  ck_val two[2] = {{.v = bs_int(values_of(e), 0)}, a[0]};
  return n == 1 ? fold(e, GS_F_SUB, two, 2, out) : fold(e, GS_F_SUB, a, n, out);
}

static bool
absolute(const ck_env *e, const ck_val *a, ck_val *out) {
  int64_t i;
  if (ck_int(e, a, &i))
    return i != INT64_MIN && give_int(e, i < 0 ? -i : i, out);
  return is_number(e, a) &&
         ck_give(out, bs_real(values_of(e), fabs(real(e, a))));
}

static bool
divides(const ck_env *e, const ck_val *a, ck_val *out) {
  int64_t x, y, q;
  return ck_int(e, &a[0], &x) && ck_int(e, &a[1], &y) && divide(y, x, &q) &&
         give_bool(e, y == x * q, out);
}

/* Every argument an integer. */
static bool
whole(const ck_env *e, uint16_t f, const ck_val *a, uint32_t n, ck_val *out) {
  int64_t i;
  for (uint32_t k = 0; k < n; k++)
    if (!ck_int(e, &a[k], &i))
      return false;
  return fold(e, f, a, n, out);
}

/* ---- expressions ---- */

/* false when one part is, whatever the others are; `stop` swaps the roles. */
static bool
eval_logic(const ck_env *e, const gs_expr *x, bool stop, ck_val *out) {
  bool defined = true;
  for (uint32_t k = 0; k < x->n_args; k++) {
    ck_val a;
    if (!ck_eval(e, x->args[k], &a) || kind(e, &a) != BS_KIND_BOOL)
      defined = false;
    else if (bs_as_bool(values_of(e), a.v) == stop)
      return give_bool(e, stop, out);
  }
  return defined && give_bool(e, !stop, out);
}

static bool
eval_if(const ck_env *e, const gs_expr *x, ck_val *out) {
  ck_val a;
  if (!ck_eval(e, x->args[0], &a) || kind(e, &a) != BS_KIND_BOOL)
    return false;
  return ck_eval(e, x->args[bs_as_bool(values_of(e), a.v) ? 1 : 2], out);
}

static bool
apply(const ck_env *e, uint16_t f, const ck_val *a, uint32_t n, ck_val *out) {
  switch (f) {
  case GS_F_NOT:
    return kind(e, a) == BS_KIND_BOOL &&
           give_bool(e, !bs_as_bool(values_of(e), a->v), out);
  case GS_F_EQ:
  case GS_F_NE:
  case GS_F_LT:
  case GS_F_LE:
  case GS_F_GT:
  case GS_F_GE:
    return compare(e, f, a, n, out);
  case GS_F_SUB:
    return negate_or_fold(e, a, n, out);
  case GS_F_ADD:
  case GS_F_MUL:
  case GS_F_DIV:
  case GS_F_MIN:
  case GS_F_MAX:
    return fold(e, f, a, n, out);
  case GS_F_MOD:
  case GS_F_GCD:
  case GS_F_CEIL_DIV:
  case GS_F_ROUND_UP:
  case GS_F_ROUND_DOWN:
    return whole(e, f, a, n, out);
  case GS_F_ABS:
    return absolute(e, a, out);
  case GS_F_DIVIDES:
    return divides(e, a, out);
  default:
    return ck_eval_list(e, f, a, n, out) || ck_eval_fact(e, f, a, n, out);
  }
}

static bool
eval_var(const ck_env *e, const gs_expr *x, ck_val *out) {
  uint32_t have = e->slots[x->slot];
  if (have == UINT32_MAX)
    return false;
  if (e->scope->vars.data[x->slot].sort != GS_SORT_CLASS)
    return ck_give(out, (bs_value){have});
  *out = (ck_val){.is_term = true, .t = {have}};
  return true;
}

/* Expressions are nested no deeper than GS_MAX_NESTING. */
bool
ck_eval(const ck_env *e, const gs_expr *x, ck_val *out) {
  if (x->kind == GS_X_LITERAL)
    return ck_give(out, x->literal);
  if (x->kind == GS_X_VAR)
    return eval_var(e, x, out);
  if (x->function == GS_F_AND || x->function == GS_F_OR)
    return eval_logic(e, x, x->function == GS_F_OR, out);
  if (x->function == GS_F_IF)
    return eval_if(e, x, out);
  ck_val *a = bs_alloc(e->ctx->heap, (x->n_args + (size_t)1) * sizeof *a);
  bool ok = true;
  for (uint32_t k = 0; k < x->n_args && ok; k++)
    ok = ck_eval(e, x->args[k], &a[k]);
  ok = ok && apply(e, x->function, a, x->n_args, out);
  bs_free(e->ctx->heap, a);
  return ok;
}

bool
ck_holds(const ck_env *e, const gs_expr *x) {
  ck_val a;
  return ck_eval(e, x, &a) && kind(e, &a) == BS_KIND_BOOL &&
         bs_as_bool(values_of(e), a.v);
}
