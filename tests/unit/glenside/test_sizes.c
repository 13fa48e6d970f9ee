/* SPDX-License-Identifier: MIT */
/* Sizes that are not known: their numbers, what holds for all of them, and the
 * types of terms over them. */
#include "glenside/type/sizes.h"
#include "base/random.h"
#include "lang.h"

static gs_sizes sizes;
static gs_number n, m;

static void
start_sizes(void) {
  start();
  sizes = (gs_sizes){0};
  gs_sizes_init(&sizes, &heap, ctx.values);
  n = gs_add_size(&sizes, &(gs_size){"n", 1, 64, 1, {0}});
  m = gs_add_size(&sizes, &(gs_size){"m", 8, 512, 8, {0}});
}

TestSuite(sizes, .init = start_sizes, .fini = fixture_stop);

static const char *
text_of(gs_number x) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_put_number(&out, &sizes, x);
  bs_put(&out, " ");
  gs_put_number_term(&out, &sizes, x);
  return bs_text_str(&out);
}

static gs_number
quotient(gs_number x, int64_t by) {
  return gs_quotient(&sizes.over, x, by);
}

static gs_number
combine(int64_t a, gs_number x, int64_t b, gs_number y, int64_t c) {
  return gs_combine(&sizes.over, a, x, b, y, c);
}

Test(sizes, equal_polynomials_are_one_number) {
  gs_number x = combine(2, n, 1, m, 1);
  cr_expect_eq(x, combine(1, combine(1, m, 1, n, -4), 1, n, 5));
  cr_expect(gs_is_sized(x));
  cr_expect_str_eq(text_of(x), "2*n + m + 1 (+ (* 2 n) m 1)");
  cr_expect_eq(combine(1, x, -1, x, 7), 7);
  gs_number square =
      gs_product(&sizes.over, combine(1, n, 0, 0, 1), combine(1, n, 0, 0, -1));
  cr_expect_eq(square, combine(1, gs_product(&sizes.over, n, n), 0, 0, -1));
  cr_expect_eq(gs_product(&sizes.over, m, n), gs_product(&sizes.over, n, m));
  cr_expect(gs_is_affine(&sizes, x) && !gs_is_affine(&sizes, square));
}

Test(sizes, a_multiple_is_divided_and_others_are_quotients) {
  cr_expect_str_eq(text_of(quotient(m, 8)), "(m / 8) (/ m 8)");
  cr_expect_eq(combine(8, quotient(m, 8), 0, 0, 0), m);
  cr_expect_eq(quotient(combine(6, n, 0, 0, 9), 3), combine(2, n, 0, 0, 3));
  gs_number half = quotient(combine(1, n, 0, 0, 1), 2);
  cr_expect_str_eq(text_of(half), "((n + 1) / 2) (/ (+ n 1) 2)");
  cr_expect_eq(quotient(half, 3), quotient(combine(1, n, 0, 0, 1), 6));
  for (int64_t k = 1; k <= 64; k++) {
    int64_t at[] = {k, 8};
    cr_expect_eq(gs_number_at(&sizes, half, at), (k + 1) / 2);
  }
}

Test(sizes, bounds_hold_for_all_and_are_reached) {
  gs_number x = combine(-3, n, 1, m, 1);
  cr_expect_eq(gs_least_of(&sizes, x), 8 - 3 * 64 + 1);
  cr_expect_eq(gs_most_of(&sizes, x), 512 - 3 + 1);
  gs_number rest = combine(1, n, -8, quotient(n, 8), 0);
  cr_expect_eq(gs_least_of(&sizes, rest), 0);
  cr_expect_eq(gs_most_of(&sizes, rest), 7);
  cr_expect_eq(gs_ask(&sizes, rest, false), 1);
  cr_expect_eq(gs_ask(&sizes, combine(1, m, -1, n, 57), false), 1);
  cr_expect_eq(gs_ask(&sizes, combine(-1, m, 0, 0, 7), false), 0);
}

Test(sizes, what_is_not_so_is_so_at_sizes_that_are_told) {
  gs_number x = combine(1, n, 0, 0, -2);
  cr_expect_eq(gs_ask(&sizes, x, false), -1);
  cr_expect(sizes.told && sizes.open);
  cr_expect_eq(sizes.at[0], 1);
  sizes.told = false;
  cr_expect_eq(gs_ask(&sizes, combine(1, n, -1, m, 0), true), -1);
  cr_expect(sizes.told);
  cr_expect_neq(sizes.at[0], sizes.at[1]);
}

Test(sizes, numbers_that_grow_too_large_are_none) {
  gs_number x = n;
  for (uint32_t k = 0; k < 4; k++)
    x = gs_product(&sizes.over, x, n);
  cr_expect_eq(x, INT64_MAX);
  cr_expect_eq(gs_ask(&sizes, x, false), -1);
  for (x = n; gs_is_sized(x);)
    x = gs_product(&sizes.over, x, 1 << 20);
  cr_expect_eq(x, INT64_MAX);
  for (int64_t by = 2; by < 8; by++)
    x = by == 2 ? quotient(n, 7) : combine(1, quotient(x, by), 1, n, 0);
  cr_expect_eq(x, INT64_MAX);
  cr_expect_eq(gs_number_at(&sizes, GS_FIRST_SIZED + 100000, sizes.at),
               INT64_MAX);
}

/* The type of an output, or the first fault. */
static const char *
type_of(const char *term) {
  bs_text text, out;
  gs_type t;
  bs_text_init(&text, &heap);
  bs_text_init(&out, &heap);
  bs_putf(&text,
          "(size n 2 64) (size m 8 512 8) (tensor a (shape n m) f32)"
          "(tensor b (shape (+ n 1) m) f32) (tensor one (shape m) f32)"
          "(tensor two (shape 4) f32) (tensor zero (shape) f32)"
          "(let y %s) (output y)",
          term);
  bs_clear(&diags.list);
  gs_program *p = parse(bs_text_str(&text));
  if (!p)
    return diags.list.data[0].message;
  gs_type_at(p, p->outputs.data[0].term, &t);
  gs_put_type_of(&out, p->sizes, &t);
  return bs_text_str(&out);
}

#define GIVES(term, expected) cr_expect_str_eq(type_of(term), expected)

Test(sizes, terms_have_types_over_sizes) {
  GIVES("(concat a b 0)", "((2*n + 1, m), ()) f32");
  GIVES("(slice b 0 1 n)", "((n - 1, m), ()) f32");
  GIVES("(flatten (access a 1))", "((n), (m)) f32");
  GIVES("(flatten a)", "((n*m), ()) f32");
  GIVES("(reshape a (shape n (/ m 8) 8) (shape))", "((n, (m / 8), 8), ()) f32");
  GIVES("(windows (access a 1) (shape 3) (stride 2))",
        "((n, 4*(m / 8) - 1), (3)) f32");
  GIVES("(reshape (flatten a) (shape m n) (shape))", "((m, n), ()) f32");
  GIVES("(matmul a (turned a))", "((n, n), ()) f32");
  GIVES("(zeros a)", "((n, m), ()) f32");
}

Test(sizes, what_does_not_fit_is_told_with_sizes) {
  GIVES("(slice a 0 0 3)",
        "slice 0 to 3 leaves dimension 0 of size 2 at n = 2, m = 8");
  GIVES("(squeeze a 0)",
        "squeeze removes a dimension of size 1, but dimension 0 of "
        "((2, 8), ()) f32 is 2 at n = 2, m = 8");
  GIVES(
      "(transpose a (list n 0))",
      "transpose needs a permutation of 0 to 1, but 2 is not among them at n = "
      "2, m = 8");
}

/* What asks for numbers says so of itself, whichever operand has a size. */
Test(sizes, some_terms_are_over_numbers_alone) {
  static const char *const calls[] = {"(call double 4 a)", "(call double n a)"};
  static const char *const scans[] = {
      "(scan one a (step s (each x) x))",
      "(scan zero (flatten a) (step s (each x) s))",
      "(scan zero two a (step s (each x) (with w) s))"};
  target = target_of("(target t) (instr double (params k)"
                     " (operands (x ((k) ()) f32)) (result ((k) ()) f32)"
                     " (semantics (compute add (pair x x)))"
                     " (emit \"twice({k}, {x}, {result});\"))");
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
    GIVES(calls[k], "the dimensions of an instruction's operands are numbers");
  for (size_t k = 0; k < sizeof scans / sizeof *scans; k++)
    GIVES(scans[k], "the dimensions of a scan's operands are numbers");
  GIVES("(call double 4 two)", "((4), ()) f32");
}

Test(sizes, a_program_is_printed_as_it_is_read) {
  const char *text = "(size n 2 64)\n"
                     "(size m 8 512 8)\n"
                     "(tensor a (shape n m) f32)\n"
                     "(let y (slice a 1 (/ m 8) (+ (* 3 (/ m 8)) 2)))\n"
                     "(output y)\n";
  gs_program *p = parse_well(text);
  cr_expect_str_eq(printed(p, false), text);
}

Test(sizes, numbers_that_are_given_are_put_in) {
  const char *text = "(size n 2 64) (tensor a (shape n 3) f32) (output a)";
  gs_given_size given[] = {{.name = "n", .value = 5},
                           {.name = "m", .value = 5}};
  gs_type t;
  uint32_t source = bs_source_add(&diags, "f", text, strlen(text));
  gs_program *p = gs_parse_at(&ctx, NULL, source, given, 1);
  cr_assert(p && !p->sizes);
  gs_type_at(p, p->outputs.data[0].term, &t);
  cr_expect_eq(t.dim[0], 5);
  cr_expect_null(gs_parse_at(&ctx, NULL, source, given, 2));
  given[0].value = 65;
  cr_expect_null(gs_parse_at(&ctx, NULL, source, given, 1));
  cr_expect_eq(count_code("size-range"), 1);
}

Test(sizes, quotients_are_bounded_by_what_is_divided) {
  gs_number third = quotient(n, 3), part = quotient(combine(2, n, 1, m, 0), 7);
  cr_expect_eq(gs_least_of(&sizes, combine(1, n, -1, third, 0)), 1);
  cr_expect_eq(gs_least_of(&sizes, combine(1, n, -2, third, 0)), 1);
  cr_expect_eq(gs_least_of(&sizes, combine(1, n, -3, third, 0)), 0);
  cr_expect_lt(gs_least_of(&sizes, combine(1, n, -4, third, 0)), 0);
  cr_expect_eq(gs_most_of(&sizes, combine(3, third, -1, n, 0)), 0);
  gs_number rest = combine(2, n, 1, m, 0);
  cr_expect_geq(gs_least_of(&sizes, combine(1, rest, -6, part, 0)), 1);
  gs_number ninth = quotient(combine(1, third, 0, 0, 1), 3);
  cr_expect_geq(gs_least_of(&sizes, combine(1, n, -1, ninth, 0)), 0);
}

/* All that is said of random sums of quotients is so at all sizes. */
Test(sizes, bounds_of_quotients_hold) {
  uint64_t state = 3;
  for (uint32_t r = 0; r < 400; r++) {
    int64_t c[6], at[2];
    for (uint32_t k = 0; k < 6; k++)
      c[k] = (int64_t)(bs_random_next(&state) % 13) - 6;
    int64_t by = 2 + (int64_t)(bs_random_next(&state) % 6);
    gs_number inner = quotient(combine(c[0], n, c[1], m, c[2]), by);
    gs_number outer = quotient(combine(1, inner, c[3], n, 0), by + 1);
    gs_number x = combine(1, combine(c[4], outer, c[5], inner, 0), c[3], m, 0);
    int64_t least = gs_least_of(&sizes, x), most = gs_most_of(&sizes, x);
    for (at[0] = 1; at[0] <= 64; at[0]++)
      for (at[1] = 8; at[1] <= 512; at[1] += 56) {
        int64_t value = gs_number_at(&sizes, x, at);
        cr_assert(least <= value && value <= most, "%u: %lld <= %lld <= %lld",
                  r, (long long)least, (long long)value, (long long)most);
      }
  }
}

/* ---- programs for a part of their sizes ---- */

static const char *
within(const char *text, gs_size part) {
  const gs_program *p = parse_well(text);
  gs_term *made = BS_NEWS(ctx.arena, gs_term, p->nodes.len);
  const gs_program *to = gs_program_within(p, &part, made);
  cr_assert(to, "%s\n%s", text, faults());
  return printed(to, false);
}

Test(sizes, a_program_is_made_for_narrower_bounds) {
  const char *text = "(size n 8 64 8) (tensor a (shape n 3) f32)"
                     "(let b (slice a 0 (/ n 8) (/ n 2))) (output b)";
  cr_expect_str_eq(within(text, (gs_size){"n", 16, 32, 16, {0}}),
                   "(size n 16 32 16)\n"
                   "(tensor a (shape n 3) f32)\n"
                   "(let b (slice a 0 (* 2 (/ n 16)) (* 8 (/ n 16))))\n"
                   "(output b)\n");
  cr_expect_str_eq(within(text, (gs_size){"n", 24, 24, 8, {0}}),
                   "(tensor a (shape 24 3) f32)\n"
                   "(let b (slice a 0 3 12))\n"
                   "(output b)\n");
}

Test(sizes, quotients_and_lists_in_attributes_are_made_anew) {
  const char *text = "(size n 1 64) (tensor a (shape n n) f32)"
                     "(let b (pad (slice a 0 0 (/ (+ n 3) 4)) zero 0 (/ n 3) "
                     "1)) (output b)";
  cr_expect_str_eq(within(text, (gs_size){"n", 7, 7, 1, {0}}),
                   "(tensor a (shape 7 7) f32)\n"
                   "(let b (pad (slice a 0 0 2) zero 0 2 1))\n"
                   "(output b)\n");
}
