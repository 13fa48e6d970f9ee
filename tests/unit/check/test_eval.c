/* SPDX-License-Identifier: MIT */
/* The checker's own evaluator says of each call what that of a run says, or
 * that it is undefined, 2 and 2.0 being one number: calls of every function on
 * values of the kinds that it takes.  On others it may be undefined where a run
 * gives a value. */
#include "../context.h"
#include "check/check.h"
#include "glenside/expr/expr_functions.h"
#include <math.h>

TestSuite(eval, .init = fixture_start, .fini = fixture_stop);

enum { CALLS = 4000, TERMS = 4 };

static uint64_t state = 7;
static bool odd; /* an argument may be of a kind that is not taken */
static gs_program *program;
static uint32_t slots[TERMS];
static gs_var vars[TERMS];
static gs_scope scope;

static uint64_t
below(uint64_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % n;
}

static bs_value
an_int(void) {
  static const int64_t some[] = {0,  1,  2,  3,    4,         5,         6, 7,
                                 12, -1, -3, 1024, INT64_MAX, INT64_MIN, 64};
  return bs_int(ctx.values, some[below(sizeof some / sizeof *some)]);
}

static bs_value
a_real(void) {
  static const double some[] = {0, -0.0, 1, 2, 0.5, -3, 1e308, 1e-300, 0x1p60};
  return bs_real(ctx.values, some[below(sizeof some / sizeof *some)]);
}

/* As lists have it: whole numbers are integers. */
static bs_value
an_item(void) {
  bs_value v = below(2) ? a_real() : an_int();
  double x = bs_as_real(ctx.values, v);
  bool whole = bs_kind_of(ctx.values, v) == BS_KIND_REAL && fabs(x) < 0x1p53 &&
               x == floor(x) && !(x == 0 && signbit(x));
  return whole ? bs_int(ctx.values, (int64_t)x) : v;
}

static bs_value
a_list(void) {
  bs_value v[8];
  int64_t p[8];
  uint32_t n = (uint32_t)below(7), kind = (uint32_t)below(4);
  for (uint32_t k = 0; k < n; k++)
    p[k] = k;
  for (uint32_t k = n; kind == 0 && k > 1; k--) {
    uint32_t at = (uint32_t)below(k);
    int64_t was = p[k - 1];
    p[k - 1] = p[at];
    p[at] = was;
  }
  for (uint32_t k = 0; k < n; k++)
    v[k] = kind == 0   ? bs_int(ctx.values, p[k])
           : kind == 1 ? bs_int(ctx.values, (int64_t)below(5) - 1)
           : kind == 2 ? an_int()
                       : an_item();
  return bs_list(ctx.values, v, n);
}

static bs_value
an_operator(void) {
  const gs_compute_info *info = &gs_compute_table[below(GS_COMPUTE_COUNT)];
  bs_value v[3] = {bs_sym(ctx.values, info->name)};
  uint32_t n = (uint32_t)strlen(info->params);
  for (uint32_t k = 0; k < n; k++)
    v[k + 1] = info->params[k] == 't' ? bs_sym(ctx.values, "f32")
                                      : bs_int(ctx.values, (int64_t)below(9));
  return n ? bs_list(ctx.values, v, n + 1) : v[0];
}

static bs_value
a_value(char letter) {
  if (!below(12)) {
    letter = "inblto"[below(6)];
    odd = true;
  }
  switch (letter) {
  case 'i':
    return an_int();
  case 'n':
    return below(2) ? an_int() : a_real();
  case 'b':
    return bs_bool(ctx.values, below(2));
  case 'l':
  case 'x':
    return a_list();
  case 't':
    return bs_sym(ctx.values, gs_dtype_table[below(GS_DTYPE_COUNT)].name);
  case 'o':
    return an_operator();
  default:
    return below(3) ? an_int() : below(2) ? a_list() : a_real();
  }
}

static const gs_expr *
an_argument(char letter) {
  gs_expr *x = BS_NEW(&arena, gs_expr);
  bool term = letter == 'c' || ((letter == 'x' || letter == 'e') && below(2));
  *x = (gs_expr){.kind = term ? GS_X_VAR : GS_X_LITERAL};
  if (term) {
    x->sort = GS_SORT_CLASS;
    x->slot = (uint32_t)below(TERMS);
  } else {
    x->literal = a_value(letter);
  }
  return x;
}

static const gs_expr *
a_call(uint16_t function) {
  const gs_function_info *info = gs_function_at(function);
  uint32_t most = info->max_args < 4 ? info->max_args : 4;
  uint32_t n = (uint32_t)(info->min_args + below(most + 1u - info->min_args));
  if (strchr(info->args, '|') && n > info->min_args)
    n = info->max_args;
  const gs_expr **args = BS_NEWS(&arena, const gs_expr *, n + 1);
  for (uint32_t k = 0; k < n; k++)
    args[k] = an_argument(gs_function_letter(info, k));
  gs_expr *x = BS_NEW(&arena, gs_expr);
  *x = (gs_expr){.kind = GS_X_CALL,
                 .function = function,
                 .n_args = (uint16_t)n,
                 .args = args};
  return x;
}

static bs_value
type_of(void *facts, uint32_t term) {
  gs_type type;
  (void)facts;
  gs_type_at(program, (gs_term){term}, &type);
  return gs_type_intern(ctx.values, &type);
}

static const char *
words(const gs_expr *x) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_put_expr(&out, ctx.values, &scope, x);
  return bs_text_str(&out);
}

/* What is known of the elements of a term is told otherwise than in a run. */
static bool
asks_elements(uint16_t f) {
  return f == GS_F_ZEROS || f == GS_F_IS_ZERO || f == GS_F_IS_CONST ||
         f == GS_F_CONSTANT;
}

/* How many of the calls have a value. */
static uint32_t
compare(uint16_t f) {
  gs_env run = {.values = ctx.values,
                .slots = slots,
                .n_slots = TERMS,
                .type_of = type_of};
  ck_env own = {.ctx = &ctx, .p = program, .slots = slots, .scope = &scope};
  uint32_t defined = 0;
  for (uint32_t k = 0; k < CALLS; k++) {
    odd = false;
    const gs_expr *x = a_call(f);
    bs_value want = BS_NIL, have = ck_eval(&own, x);
    bool is = gs_expr_eval(x, &run, &want);
    defined += is;
    cr_assert(is == (have.i != 0) || (odd && !have.i), "%s", words(x));
    cr_assert(!is || !have.i || ck_same(ctx.values, want, have), "%s",
              words(x));
    /* as attributes hold it, which are compared as they are */
    cr_assert(bs_kind_of(ctx.values, have) != BS_KIND_LIST ||
                  bs_same(have, ck_kept(ctx.values, have)),
              "%s holds whole numbers that are real", words(x));
    size_t before = heap.used; /* what it is made of is known by now */
    ck_eval(&own, x);
    cr_assert_eq(heap.used, before, "%s keeps memory", words(x));
  }
  return defined;
}

Test(eval, agrees_with_that_of_a_run) {
  program = program_over(NULL, "(tensor a (shape 2 3 4) f32)\n"
                               "(tensor b (shape) i8)\n"
                               "(let c (access a 1)) (let d (access a 2))\n"
                               "(output c) (output d) (output b)\n");
  for (uint32_t k = 0; k < TERMS; k++) {
    slots[k] = k;
    vars[k] = (gs_var){.name = &"abcd"[k], .sort = GS_SORT_CLASS};
    bs_push(&heap, &scope.vars, vars[k]);
  }
  for (uint16_t f = 0; f < gs_function_count(); f++)
    if (!asks_elements(f))
      cr_expect_gt(compare(f), 10, "%s", gs_function_name(f));
}
