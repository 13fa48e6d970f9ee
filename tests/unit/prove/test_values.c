/* SPDX-License-Identifier: MIT */
/* test_values.c - exact numbers, and the normal forms of elements, as texts. */
#include "fixture.h"
#include "prove/relation/element.h"
#include <math.h>

/* --- numbers -------------------------------------------------------------- */

static pv_number
number(gs_dtype d, double x) {
  pv_number n;
  cr_assert(pv_number_of_real(d, x, &n), "%g", x);
  return n;
}

static const struct {
  double x;
  pv_number n;
} fractions[] = {
    {0, {0, 1, 0}},     {-0.0, {0, 1, 0}},   {1, {1, 1, 0}},
    {-6, {-3, 1, 1}},   {0.375, {3, 1, -3}}, {1e300, {0, 0, 0}},
    {1024, {1, 1, 10}}, {-7, {-7, 1, 0}},    {0x1p-1000, {1, 1, -1000}},
};

Test(numbers, floats_are_odd_fractions_and_a_power_of_two) {
  for (size_t k = 0; k < sizeof fractions / sizeof fractions[0]; k++) {
    pv_number n = number(GS_F64, fractions[k].x);
    cr_expect(!fractions[k].n.den || pv_number_same(n, fractions[k].n), "%g",
              fractions[k].x);
    cr_expect_eq(pv_number_real(n), fractions[k].x, "%g", fractions[k].x);
  }
  pv_number n = {7, 7, 7};
  cr_expect_not(pv_number_of_real(GS_F32, INFINITY, &n));
  cr_expect_not(pv_number_of_real(GS_F32, NAN, &n));
  cr_expect_not(pv_number_of_real(GS_I8, 0.5, &n));
  cr_expect_not(pv_number_of_real(GS_I32, 0x1p62, &n));
  cr_expect(n.num == 7, "what does not fit is left alone");
}

static const struct {
  gs_dtype d;
  int64_t given, kept;
} wrapped[] = {
    {GS_I8, 127, 127},
    {GS_I8, 128, -128},
    {GS_I8, -129, 127},
    {GS_U8, -1, 255},
    {GS_U8, 256, 0},
    {GS_U8, 255, 255},
    {GS_I16, 32768, -32768},
    {GS_U16, 65536, 0},
    {GS_U16, 65535, 65535},
    {GS_BOOL, 2, 1},
    {GS_BOOL, 0, 0},
    {GS_BOOL, -1, 1},
    {GS_I32, INT64_C(2147483648), INT64_C(-2147483648)},
    {GS_I32, -1, -1},
};

Test(numbers, integers_wrap) {
  for (size_t k = 0; k < sizeof wrapped / sizeof wrapped[0]; k++) {
    gs_dtype d = wrapped[k].d;
    pv_number n = pv_number_of_int(d, wrapped[k].given), sum, product;
    cr_expect(pv_number_same(n, (pv_number){wrapped[k].kept, 1, 0}), "%zu", k);
    pv_number_add(d, n, number(d, 0), &sum);
    pv_number_mul(d, n, number(d, 1), &product);
    cr_expect(pv_number_same(n, sum) && pv_number_same(n, product), "%zu", k);
  }
  for (int d = 0; d < GS_DTYPE_COUNT; d++) {
    pv_number sum, most = pv_number_greatest(d), least = pv_number_least(d);
    if (!pv_is_integer(d) || d == GS_BOOL || d == GS_I64)
      continue;
    pv_number_add(d, most, PV_ONE, &sum);
    cr_expect(pv_number_same(sum, least), "%s", gs_dtype_table[d].name);
    cr_expect_gt(pv_number_compare(most, least), 0);
  }
}

/* Of small fractions everything is as it is of doubles. */
Test(numbers, fractions_are_computed_exactly) {
  static const double some[] = {0, 1, -1, 0.5, -0.75, 3, -8, 96, 0.0625, 5};
  enum { N = sizeof some / sizeof some[0] };
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) {
      pv_number a = number(GS_F32, some[i]), b = number(GS_F32, some[k]), c;
      cr_assert(pv_number_add(GS_F32, a, b, &c));
      cr_expect_eq(pv_number_real(c), some[i] + some[k]);
      cr_expect(pv_number_same(c, number(GS_F32, some[i] + some[k])));
      cr_assert(pv_number_mul(GS_F32, a, b, &c));
      cr_expect_eq(pv_number_real(c), some[i] * some[k]);
      int order = (some[i] > some[k]) - (some[i] < some[k]);
      cr_expect_eq(pv_number_compare(a, b), order, "%g %g", some[i], some[k]);
      cr_expect_eq(pv_number_same(a, b), !order);
      if (!some[k])
        continue;
      cr_assert(pv_number_inverse(b, &c));
      cr_assert(pv_number_mul(GS_F32, a, c, &c));
      cr_expect(fabs(pv_number_real(c) - some[i] / some[k]) < 1e-15);
      cr_assert(pv_number_mul(GS_F32, b, c, &c));
      cr_expect(pv_number_same(c, a), "%g / %g", some[i], some[k]);
    }
  pv_number c = PV_ONE;
  cr_expect_not(pv_number_inverse(PV_ZERO, &c));
}

static const struct {
  pv_number x;
  int64_t floor;
  bool whole;
} floors[] = {
    {{7, 1, 0}, 7, true},       {{-7, 1, 0}, -7, true},
    {{7, 3, 0}, 2, false},      {{-7, 3, 0}, -3, false},
    {{7, 1, -1}, 3, false},     {{-7, 1, -1}, -4, false},
    {{7, 3, 2}, 9, false},      {{-7, 3, 2}, -10, false},
    {{3, 1, 4}, 48, true},      {{1, 3, -200}, 0, false},
    {{-1, 3, -200}, -1, false}, {{0, 1, 0}, 0, true},
};

Test(numbers, floors_and_wholes) {
  for (size_t k = 0; k < sizeof floors / sizeof floors[0]; k++) {
    pv_number n;
    int64_t whole = -99;
    cr_assert(pv_number_floor(floors[k].x, &n), "%zu", k);
    cr_expect(pv_number_same(n, pv_number_of_int(GS_F64, floors[k].floor)),
              "%zu", k);
    cr_expect_eq(pv_number_is_whole(floors[k].x, &whole), floors[k].whole,
                 "%zu", k);
    cr_expect_eq(whole, floors[k].whole ? floors[k].floor : -99, "%zu", k);
  }
  int64_t whole;
  cr_expect(pv_number_is_whole((pv_number){1, 1, 53}, &whole));
  cr_expect(pv_number_is_whole((pv_number){-1, 1, 53}, &whole));
  cr_expect_not(pv_number_is_whole((pv_number){1, 1, 54}, &whole));
  cr_expect_not(pv_number_is_whole((pv_number){1, 1, 200}, &whole));
}

Test(numbers, what_does_not_fit_is_refused) {
  pv_number large = number(GS_F64, 0x1p1000), small = number(GS_F64, 0x1p-1000);
  pv_number odd = {INT64_MAX, 1, 0}, out = PV_ONE;
  cr_expect_not(pv_number_add(GS_F64, large, small, &out));
  cr_expect_not(pv_number_mul(GS_F64, odd, odd, &out));
  cr_expect(pv_number_same(out, PV_ONE));
  cr_expect(pv_number_mul(GS_F64, large, small, &out));
  cr_expect(pv_number_same(out, PV_ONE));
  cr_expect(pv_number_add(GS_F64, large, PV_ZERO, &out));
  cr_expect(pv_number_same(out, large));
  for (int k = 0; k < 40; k++)
    if (!pv_number_mul(GS_F64, large, large, &large))
      return;
  cr_expect(false, "exponents have an end");
}

/* Numbers are ordered even where their exponents are too far apart for one to
 * be subtracted from the other. */
Test(numbers, order) {
  static const double sorted[] = {-0x1p900, -3,   -0x1p-900, 0,
                                  0x1p-900, 0.25, 3,         0x1p900};
  enum { N = sizeof sorted / sizeof sorted[0] };
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      cr_expect_eq(pv_number_compare(number(GS_F64, sorted[i]),
                                     number(GS_F64, sorted[k])),
                   (i > k) - (i < k), "%g %g", sorted[i], sorted[k]);
  pv_number third = pv_number_share(3), sixth = pv_number_share(6), sum;
  cr_expect(pv_number_same(third, (pv_number){1, 3, 0}));
  cr_expect(pv_number_same(sixth, (pv_number){1, 3, -1}));
  cr_assert(pv_number_add(GS_F32, third, sixth, &sum));
  cr_expect(pv_number_same(sum, (pv_number){1, 1, -1}));
}

/* --- normal forms --------------------------------------------------------- */

static pv_values values;
static const gs_program *program;

static void put(bs_text *, pv_value);

static void
put_number(bs_text *out, pv_number n) {
  bs_putf(out, "%lld", (long long)n.num);
  if (n.den != 1)
    bs_putf(out, "/%lld", (long long)n.den);
  if (n.exp)
    bs_putf(out, "p%d", n.exp);
}

static void
put_all(bs_text *out, const char *name, pv_value x, uint32_t first) {
  bs_putf(out, "%s(", name);
  for (uint32_t k = first; k < pv_at(&values, x)->n; k++) {
    bs_put(out, k > first ? " " : "");
    put(out, pv_words(&values, x)[k]);
  }
  bs_put(out, ")");
}

static void
put_product(bs_text *out, pv_value x) {
  for (uint32_t k = 0; k < pv_at(&values, x)->n; k += 2) {
    bs_put(out, k ? "*" : "");
    put(out, pv_words(&values, x)[k]);
    if (pv_words(&values, x)[k + 1] != 1)
      bs_putf(out, "^%d", (int)pv_words(&values, x)[k + 1]);
  }
}

static void
put_sum(bs_text *out, pv_value x) {
  bs_put(out, "[");
  for (uint32_t k = 0; k < pv_n_parts(&values, x); k++) {
    pv_part part = pv_part_at(&values, x, k);
    bs_put(out, k ? " + " : "");
    put_number(out, part.times);
    bs_put(out, " ");
    put_product(out, part.product);
  }
  bs_put(out, "]");
}

static void
put_leaf(bs_text *out, pv_value x) {
  const uint32_t *w = pv_words(&values, x);
  if (pv_at(&values, x)->n == 2) {
    double real;
    memcpy(&real, w, sizeof real);
    bs_putf(out, "%g", real);
    return;
  }
  bs_value name =
      bs_item(program->ctx.values, gs_at(program, (gs_term){w[0]})->attr, 0);
  bs_putf(out, "%s%u", bs_as_sym(program->ctx.values, name), w[1]);
}

static void
put(bs_text *out, pv_value x) {
  pv_number n;
  const pv_node *node = pv_at(&values, x);
  switch ((pv_kind)node->kind) {
  case PV_NUMBER:
    pv_is_number(&values, x, &n);
    put_number(out, n);
    return;
  case PV_LEAF:
    put_leaf(out, x);
    return;
  case PV_LOWEST:
    bs_put(out, "lowest");
    return;
  case PV_PRODUCT:
    put_product(out, x);
    return;
  case PV_SUM:
    put_sum(out, x);
    break;
  case PV_MAX:
    put_all(out, "max", x, 0);
    break;
  case PV_MIN:
    put_all(out, "min", x, 0);
    break;
  case PV_APPLY:
    put_all(out, gs_compute_table[node->op].name, x, 0);
    break;
  }
  bs_put(out, node->partial ? "?" : "");
  bs_put(out, node->positive ? "+" : node->nonnegative ? "'" : "");
}

/* The elements of the program's output. */
static const char *
forms_of(const char *text) {
  program = program_over(NULL, text);
  uint32_t n = program->nodes.len;
  gs_term root = program->outputs.data[0].term;
  pv_elements e = {.p = program, .values = &values};
  gs_type type;
  bs_text out;
  uint8_t *all = bs_calloc(&heap, n + (size_t)1, 1);
  memset(all, 1, n);
  bs_text_init(&out, &heap);
  pv_values_init(&values, &heap, 1000000);
  e.of = bs_calloc(&heap, n + (size_t)1, sizeof *e.of);
  if (!pv_evaluate(&e, all))
    return "too large";
  gs_type_at(program, root, &type);
  for (int64_t k = 0; k < gs_elements(&type); k++) {
    bs_put(&out, k ? ", " : "");
    put(&out, e.of[root.i][k]);
  }
  for (uint32_t k = 0; k < values.dropped.len; k++) {
    bs_put(&out, k ? ", " : "; without ");
    put(&out, values.dropped.data[k]);
  }
  bs_put(&out, values.unsure ? "; unsure" : "");
  return bs_text_str(&out);
}

#define F(n)  "(tensor a (shape " n ") f32)(tensor b (shape " n ") f32)"
#define H(n)  "(tensor a (shape " n ") bf16)(tensor b (shape " n ") bf16)"
#define I(n)  "(tensor a (shape " n ") i8)(tensor b (shape " n ") i8)"
#define OF(x) "(let y " x ")(output y)"

static const struct {
  const char *program, *forms;
} forms[] = {
#include "values.inc"
};

Test(values, normal_forms, .init = fixture_start, .fini = fixture_stop) {
  for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
    const char *is = forms_of(forms[k].program);
    cr_expect_str_eq(is, forms[k].forms, "%s\n%s\n%s", forms[k].program, is,
                     forms[k].forms);
  }
}
