/* SPDX-License-Identifier: MIT */
/* The columns of ops.def, held against what the interpreter computes. */
#include "glenside/interpret/interpret_state.h"
#include "lang.h"
#include <math.h>

TestSuite(columns, .init = start, .fini = fixture_stop);

enum { TRIES = 400 };

static uint64_t seed;

/* From -span to span, zero and whole numbers among them. */
static double
random_real(double span) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  double x = ((double)(seed >> 11) / 0x1p52 - 1) * span;
  return (seed >> 3) % 4 ? x : (seed >> 3) % 8 ? trunc(x) : 0;
}

/* An elementwise operator with parameters -2.5 and 3, of which the second is
 * that of clip alone. */
static in_operator
prepared(gs_compute op, gs_dtype dtype) {
  bool whole = gs_dtype_table[dtype].integer;
  return (in_operator){.op = op,
                       .from = dtype,
                       .dtype = dtype,
                       .integer = whole,
                       .a = whole ? -2 : -2.5,
                       .b = 3};
}

static bool
is_in_domain(gs_compute op, double x) {
  switch (gs_compute_table[op].domain) {
  case GS_DOMAIN_REALS:
    return true;
  case GS_DOMAIN_NONNEGATIVE:
    return x >= 0;
  case GS_DOMAIN_POSITIVE:
    return x > 0;
  case GS_DOMAIN_NONZERO:
    return x != 0;
  }
  return false;
}

#define NAME(op) gs_compute_table[op].name

/* Every elementwise operator on f64. */
#define EACH_ELEMENTWISE(op, info, o)                                          \
  for (gs_compute op = 0; op < GS_COMPUTE_COUNT; op++)                         \
    for (const gs_compute_info *info = &gs_compute_table[op];                  \
         info && info->kind == GS_ELEMENTWISE; info = NULL)                    \
      for (in_operator o = prepared(op, GS_F64), *once = &o; once; once = NULL)

Test(columns, zeros_give_what_the_table_says) {
  int n = 0;
  EACH_ELEMENTWISE(op, info, o) {
    double y = in_element(&o, 0);
    if (info->of_zeros == GS_OF_ZEROS_OTHER)
      cr_expect(y != 0 && y != 1, "%s: %g", NAME(op), y);
    else
      cr_expect_eq(y, info->of_zeros == GS_OF_ZEROS_ONE, "%s: %g", NAME(op), y);
    n++;
  }
  cr_expect_geq(n, 18);
  in_operator clip = prepared(GS_C_CLIP, GS_F64);
  clip.a = 1;
  cr_expect_eq(in_element(&clip, 0), 1);
}

Test(columns, parameters_that_enclose_zero_keep_it) {
  bs_value at[3] = {bs_sym(ctx.values, "clip"), bs_int(ctx.values, -1),
                    bs_int(ctx.values, 6)};
  bs_value around = bs_list(ctx.values, at, 3);
  at[1] = bs_int(ctx.values, 2);
  bs_value above = bs_list(ctx.values, at, 3);
  cr_expect(gs_compute_keeps_zero(ctx.values, around, GS_C_CLIP));
  cr_expect_not(gs_compute_keeps_zero(ctx.values, above, GS_C_CLIP));
  cr_expect_not(gs_compute_keeps_zero(ctx.values, at[0], GS_C_COS));
  cr_expect(gs_compute_keeps_zero(ctx.values, at[0], GS_C_SIN));
}

Test(columns, what_rises_never_falls) {
  EACH_ELEMENTWISE(op, info, o)
  for (int k = 0; k < TRIES && info->rises; k++) {
    double x = random_real(8), y = x + fabs(random_real(2));
    cr_expect_leq(in_element(&o, x), in_element(&o, y), "%s between %g and %g",
                  NAME(op), x, y);
  }
}

/* A change of the operand by e changes the result by no more than is said. */
Test(columns, the_steepness_bounds_every_change) {
  EACH_ELEMENTWISE(op, info, o)
  for (int k = 0; k < TRIES; k++) {
    double x = random_real(8), e = fabs(random_real(2));
    double lo = in_element(&o, x - e), hi = in_element(&o, x + e);
    double at = in_element(&o, x), moved = in_element(&o, x + random_real(e));
    bool whole = is_in_domain(op, x - e) && is_in_domain(op, x + e) &&
                 (info->domain != GS_DOMAIN_NONZERO || fabs(x) > e);
    double most = info->steepness != GS_BY_ENDS
                      ? info->steepness * e
                      : fmax(fabs(lo - at), fabs(hi - at));
    if (whole && isfinite(at))
      cr_expect_leq(fabs(moved - at), most * (1 + 1e-12) + 1e-12,
                    "%s at %g by %g", NAME(op), x, e);
  }
}

Test(columns, signs_and_domains_are_those_of_the_results) {
  EACH_ELEMENTWISE(op, info, o)
  for (int k = 0; k < TRIES; k++) {
    double x = random_real(8), y = in_element(&o, x);
    cr_expect_eq(isfinite(y) != 0, is_in_domain(op, x), "%s of %g is %g",
                 NAME(op), x, y);
    if (!isfinite(y))
      continue;
    if (info->sign == GS_SIGN_POSITIVE)
      cr_expect(y > 0, "%s of %g is %g", NAME(op), x, y);
    if (info->sign == GS_SIGN_NONNEGATIVE || (info->sign && x >= 0))
      cr_expect(y >= 0, "%s of %g is %g", NAME(op), x, y);
    if ((info->sign == GS_SIGN_KEEPS_POSITIVE ||
         info->sign == GS_SIGN_POSITIVE_ALONE) &&
        x > 0)
      cr_expect(y > 0, "%s of %g is %g", NAME(op), x, y);
  }
}

Test(columns, only_what_says_so_vanishes_elsewhere) {
  EACH_ELEMENTWISE(op, info, o) {
    bool vanishes = false;
    if (info->form == GS_FORM_CLIP)
      o.a = 0; /* as most clips have it */
    for (int k = 0; k < TRIES; k++) {
      double x = random_real(8);
      vanishes |= x != 0 && in_element(&o, x) == 0;
    }
    /* log and offset vanish at a point that chance need not find. */
    vanishes |= in_element(&o, 1) == 0 || in_element(&o, 2.5) == 0;
    cr_expect_eq(vanishes, info->vanishes_elsewhere, "%s", NAME(op));
  }
}

Test(columns, inverses_lead_back_to_the_result) {
  EACH_ELEMENTWISE(op, info, o)
  for (int k = 0; k < TRIES; k++) {
    double x = random_real(4), y = in_element(&o, x);
    double back = info->inverse(y, o.a);
    if (!is_in_domain(op, x) || !isfinite(back))
      continue;
    double near = 1e-6 * (1 + fabs(y));
    cr_expect(fabs(in_element(&o, back) - y) <= near, "%s of %g", NAME(op), x);
    if (info->mirrored && op != GS_C_RSQRT)
      cr_expect(fabs(in_element(&o, -back) - y) <= near, "%s of %g", NAME(op),
                -back);
  }
}

Test(columns, smooth_operators_do_not_jump) {
  EACH_ELEMENTWISE(op, info, o) {
    bool jumps = false;
    for (int k = 0; k < TRIES; k++) {
      double x = random_real(8) + 0.5 * (k % 2), y = in_element(&o, x);
      double beside = in_element(&o, x - 1e-9);
      if (is_in_domain(op, x) && is_in_domain(op, x - 1e-9) && fabs(x) > 1e-3)
        jumps |= fabs(y - beside) > 1e-3;
    }
    cr_expect_eq(jumps, info->jumps, "%s", NAME(op));
  }
}

/* Exact operators give the operand, its negative, a parameter or a whole
 * number: of f32 no digit of a wider type is left. */
Test(columns, exact_operators_do_not_round) {
  EACH_ELEMENTWISE(op, info, o) {
    bool rounds = false;
    for (int k = 0; k < TRIES; k++) {
      double x = (float)random_real(8), y = in_element(&o, x);
      rounds |= isfinite(y) && (double)(float)y != y;
    }
    if (info->digits == GS_DIGITS_EXACT)
      cr_expect_not(rounds, "%s", NAME(op));
    if (info->digits == GS_DIGITS_ROUNDED)
      cr_expect(rounds, "%s", NAME(op));
  }
}

Test(columns, integers_are_exact_where_digits_suffice) {
  for (gs_compute op = 0; op < GS_COMPUTE_COUNT; op++) {
    if (gs_compute_table[op].kind != GS_ELEMENTWISE ||
        !gs_compute_takes_integers(op))
      continue;
    in_operator whole = prepared(op, GS_I32), real = prepared(op, GS_F64);
    real.a = whole.a;
    for (int x = -50; x <= 50; x++)
      cr_expect_eq(in_element(&whole, x), in_element(&real, x), "%s of %d",
                   NAME(op), x);
  }
}

Test(columns, functions_have_a_text_and_no_form_has_one) {
  for (gs_compute op = 0; op < GS_COMPUTE_COUNT; op++) {
    const gs_compute_info *info = &gs_compute_table[op];
    cr_expect_eq(info->c != NULL, info->form == GS_FORM_FUNCTION, "%s",
                 info->name);
    cr_expect_eq(info->form != GS_FORM_NONE, info->kind == GS_ELEMENTWISE, "%s",
                 info->name);
    cr_expect(info->work > 0, "%s", info->name);
  }
}

/* --- folds ---------------------------------------------------------------- */

Test(columns, a_fold_starts_where_nothing_changes) {
  for (gs_fold f = GS_FOLD_NONE + 1; f < GS_FOLD_COUNT; f++) {
    const gs_fold_info *info = &gs_fold_table[f];
    for (int k = 0; k < TRIES; k++) {
      double x = random_real(100);
      cr_expect_eq(gs_fold_real(f, x, info->start), x);
    }
    cr_expect_eq(gs_compute_table[gs_fold_operator(f)].fold, f);
    cr_expect_eq(info->infix != NULL, info->binds > 0);
  }
}

Test(columns, whole_numbers_fold_like_real_ones) {
  for (gs_fold f = GS_FOLD_NONE + 1; f < GS_FOLD_COUNT; f++)
    for (int64_t a = -20; a <= 20; a++)
      for (int64_t b = -20; b <= 20; b++) {
        double real =
            b || f != GS_FOLD_DIV ? gs_fold_real(f, (double)a, (double)b) : 0;
        cr_expect_eq((double)gs_fold_table[f].whole(a, b), trunc(real),
                     "fold %d of %lld and %lld", (int)f, (long long)a,
                     (long long)b);
      }
}

static double
reduced(gs_compute op, const double *in, int64_t n) {
  in_operator o = {.op = op, .from = GS_F64, .dtype = GS_F64};
  gs_type type = {.dtype = GS_F64, .rank = 1, .dim = {n}};
  double out = NAN;
  in_compute(&o, &type, in, &out);
  return out;
}

/* Halves first, then both: what is associative does not notice. */
Test(columns, only_associative_reductions_take_halves_first) {
  for (gs_compute op = 0; op < GS_COMPUTE_COUNT; op++) {
    bool same = true;
    if (gs_compute_table[op].kind != GS_REDUCE)
      continue;
    for (int k = 0; k < TRIES; k++) {
      double in[5], halves[2];
      for (int j = 0; j < 5; j++)
        in[j] = floor(random_real(8));
      halves[0] = reduced(op, in, 2);
      halves[1] = reduced(op, in + 2, 3);
      same &= reduced(op, halves, 2) == reduced(op, in, 5);
    }
    cr_expect_eq(same, gs_compute_table[op].is_associative, "%s", NAME(op));
  }
}

/* --- documents ------------------------------------------------------------ */

static char text[1 << 17];

static void
read_document(const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/docs/%s", GLEN_SOURCE_DIR, name);
  FILE *f = fopen(path, "r");
  cr_assert(f, "%s", path);
  size_t size = fread(text, 1, sizeof text - 1, f);
  fclose(f);
  cr_assert(size > 0 && size < sizeof text - 1);
  text[size] = 0;
}

static bool
is_named(gs_compute op) {
  char bare[64], with[64];
  snprintf(bare, sizeof bare, "`%s`", NAME(op));
  snprintf(with, sizeof with, "`(%s ", NAME(op));
  return strstr(text, bare) || strstr(text, with);
}

Test(columns, the_documents_name_every_operator) {
  read_document("LANGUAGE.md");
  for (gs_compute op = 0; op < GS_COMPUTE_COUNT; op++)
    cr_expect(is_named(op) || strstr(text, NAME(op)), "%s", NAME(op));
  read_document("COST.md");
  for (gs_compute op = 0; op < GS_COMPUTE_COUNT; op++)
    if (gs_compute_table[op].work > 1)
      cr_expect(is_named(op), "%s", NAME(op));
}
