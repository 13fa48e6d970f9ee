/* SPDX-License-Identifier: MIT */
/* test_stencils.c - code of stencils: borders apart from what lies between
 * them. */
#include "small.h"

TestSuite(stencils, .init = fixture_start, .fini = fixture_stop);

/* Sums over windows of `window` x `window` elements that are cut at the
 * borders of an image. */
static const char *
windows_of(int height, int width, int window) {
  bs_text text;
  int before = window / 2;
  bs_text_init(&text, &heap);
  bs_putf(&text,
          "input A: f32[%d, %d]\noutput B: f32[%d, %d]\n"
          "local r: f32[%d fold 1, %d fold 1]\n"
          "separate for i in 0..%d { separate for j in 0..%d {\n"
          "  S: r[i, j] = 0\n"
          "  unroll for k in max(0, %d - i)..min(%d, %d - i) {\n"
          "    unroll for l in max(0, %d - j)..min(%d, %d - j) {\n"
          "      T: r[i, j] += A[i + k - %d, j + l - %d] } }\n"
          "  U: B[i, j] = r[i, j] } }\n",
          height, width, height, width, height, width, height, width, before,
          window, height + before, before, window, width + before, before,
          before);
  return bs_text_str(&text);
}

/* The text of the loop that begins so, up to its closing brace. */
static const char *
loop_of(const char *code, const char *header) {
  const char *at = strstr(code, header), *from = at;
  int depth = 0;
  cr_assert(at, "expected %s in\n%s", header, code);
  do {
    at += strcspn(at, "{}");
    cr_assert(*at, "%s is not closed", header);
    depth += *at++ == '{' ? 1 : -1;
  } while (depth);
  return bs_arena_printf(&arena, "%.*s", (int)(at - from), from);
}

Test(stencils, borders_are_apart_from_what_lies_between) {
  const char *code = code_of(read_loops(windows_of(40, 50, 5)));
  const char *rows = strstr(code, "for (int i0 = 2; i0 <= 37; i0++)");
  cr_assert(rows, "%s", code);
  const char *inside = loop_of(rows, "for (int i1 = 2; i1 <= 47; i1++)");
  cr_assert_not(strstr(inside, "if ("), "%s", inside);
  cr_assert_not(strstr(inside, " for ("), "%s", inside);
  cr_assert(strstr(inside, "A[50 * i0 + i1 + 102]"), "%s", inside);
}

Test(stencils, code_does_not_grow_with_the_image) {
  size_t small = strlen(code_of(read_loops(windows_of(40, 50, 5))));
  size_t large = strlen(code_of(read_loops(windows_of(400, 500, 5))));
  cr_assert_lt(large, small + small / 4);
}

Test(stencils, borders_of_any_size) {
  const char *texts[] = {windows_of(40, 50, 5), windows_of(1, 1, 3),
                         windows_of(2, 3, 5),   windows_of(4, 4, 5),
                         windows_of(5, 33, 7),  windows_of(3, 1, 1)};
  run_all(texts, COUNT(texts));
}

/* ---- outputs past the caches ---- */

Test(stencils, a_large_output_is_stored_past_the_caches) {
  po_program *p = read_small(rows_of(31, 1021, "parallel", "", "i, j"));
  expect_code(p, "glen_stream(&B[1021 * i0 + glen_from]");
  expect_code(p, "    glen_fence();\n  }\n");
  expect_no_code(read_small(rows_of(1, 1021, "", "", "i, j")), "glen_stream");
}

Test(stencils, only_long_loops_along_memory_stream) {
  expect_no_code(read_small(rows_of(31, 1021, "", "", "i, -j + 1020")),
                 "glen_stream");
  expect_no_code(read_small(rows_of(310, 21, "", "", "i, j")), "glen_stream");
  expect_no_code(read_small("input A: f32[512, 1025]\n"
                            "output B: f32[512, 1025]\n"
                            "for j in 0..1025 { for i in 0..512 {\n"
                            "  S[j, i]: B[i, j] = A[i, j] } }\n"),
                 "glen_stream");
}

Test(stencils, what_is_read_again_stays_in_the_caches) {
  expect_no_code(read_small("input A: f32[2000]\noutput B: f32[2000]\n"
                            "output C: f32[1000]\n"
                            "for i in 0..2000 { S: B[i] = A[i] + 1 }\n"
                            "for j in 0..1000 { T: C[j] = B[2 * j] }\n"),
                 "glen_stream");
}

Test(stencils, streams_end_where_their_loops_do) {
  const char *texts[] = {rows_of(5, 2500, "parallel", "", "i, j"),
                         rows_of(5, 2500, "", "parallel", "i, j"),
                         rows_of(11, 1021, "", "", "i, j"),
                         rows_of(3, 1023, "parallel", "parallel", "i, j"),
                         "input A: u8[4303]\noutput B: u8[4303]\n"
                         "parallel for i in 0..4303 { S: B[i] = A[i] }\n",
                         "input A: f64[3, 2001]\noutput B: f64[3, 2001]\n"
                         "for t in 0..15 { for i in 0..3 {\n"
                         "  for j in 140 * t..min(2001, 140 * t + 140) {\n"
                         "    S[t, i, j]: B[i, j] = A[i, j] - 1 } } }\n"};
  run_all_for(read_small, texts, COUNT(texts));
  run_all_for(read_through, texts, COUNT(texts));
}

/* Two statements store to B: side by side, in a branch, in the other one. */
Test(stencils, what_is_stored_twice_does_not_stream) {
  const char *texts[3];
  for (size_t k = 0; k < COUNT(texts); k++) {
    texts[k] = bs_arena_printf(
        &arena,
        "input A: f32[6000]\noutput B: f32[6000]\noutput C: f32[6000]\n"
        "for j in 0..6000 {\n  S: B[j] = A[j] * 2\n"
        "  T[j]: %s[j] = A[j] + 1 where j %% 2 == 0 at j\n"
        "  U[j]: %s[j] = A[j] - 1 where j %% 2 == 1 at j\n}\n",
        k == 1 ? "C" : "B", k == 2 ? "C" : "B");
    expect_no_code(read_small(texts[k]), "glen_stream(&B");
  }
  run_all_for(read_small, texts, COUNT(texts));
}

/* ---- the width of vectors ---- */

static const char *
code_with_vectors(double flops) {
  gs_target *target = gs_target_default(&ctx);
  target->vector_bytes = 64;
  target->flops_per_cycle = flops;
  return code_of(read_loops_for(target, rows_of(5, 500, "", "", "i, j")));
}

Test(stencils, vectors_are_as_long_as_what_is_executed_at_once) {
  cr_expect(strstr(code_with_vectors(64), "prefer-vector-width=512"));
  cr_expect(strstr(code_with_vectors(32), "prefer-vector-width=256"));
}

/* ---- weights ---- */

#define WEIGHTED                                                               \
  "%sinput A: f32[40]\noutput B: f32[38]\n"                                    \
  "constant w: f32[%d] = {-0.5, 0, %s}\nlocal r: f32[38 fold 1]\n"             \
  "for i in 0..38 {\n  S: r[i] = 0\n"                                          \
  "  %s for k in 0..3 { T: r[i] += A[i + k] * w[k] }\n"                        \
  "  U: B[i] = r[i] }\n"

static const char *
weighted(const char *strict, int n, const char *rest, const char *mark) {
  return bs_arena_printf(&arena, WEIGHTED, strict, n, rest, mark);
}

Test(stencils, weights_are_written_as_numbers) {
  po_program *p = read_loops(weighted("", 3, "1", "unroll"));
  expect_code(p, "r += A[i0] * (-0.5f);");
  expect_code(p, "r += A[i0 + 2];");
  expect_no_code(p, "A[i0 + 1]");
  expect_no_code(p, "w[");
  p = read_loops(weighted("strict\n", 3, "1", "unroll"));
  expect_code(p, "r += A[i0 + 1] * 0.0f;");
}

Test(stencils, weights_by_a_loop_stay_an_array) {
  expect_code(read_loops(weighted("", 3, "1", "")), "static const float w[3]");
}

Test(stencils, an_input_that_counts_for_nothing_is_no_fault) {
  static const char *const texts[] = {
      "input A: f32[9]\noutput B: f32[9]\n"
      "constant w: f32[2] = {0, 0}\nlocal r: f32[9 fold 1]\n"
      "for i in 0..9 {\n  S: r[i] = 3\n"
      "  unroll for k in 0..2 { T: r[i] += A[i] * w[k] }\n"
      "  U: B[i] = r[i] }\n",
      "input A: f32[9]\noutput B: f32[9]\n"
      "constant w: f32[2] = {0, -2}\nlocal r: f32[9 fold 1]\n"
      "local s: f32[9 fold 1]\n"
      "for i in 0..9 {\n  S: r[i] = 3\n  V: s[i] = A[i] + 1\n"
      "  T: r[i] += s[i] * w[0]\n  W: r[i] = neg(w[1]) - r[i] * w[1]\n"
      "  U: B[i] = r[i] }\n"};
  run_all(texts, COUNT(texts));
}

Test(stencils, weights_tell_kernels_apart) {
  static const char text[] =
      "input A: f32[9]\noutput B: f32[9]\noutput C: f32[9]\n"
      "constant w: f32[1] = {2}\nconstant v: f32[1] = {3}\n"
      "for i in 0..9 { S: B[i] = A[i] * w[0] }\n"
      "for j in 0..9 { T: C[j] = A[j] * v[0] }\n";
  expect_code(read_loops(text), "A[i0] * 2.0f");
  expect_code(read_loops(text), "A[i0] * 3.0f");
}

/* ---- fused loops ---- */

/* Rows of tiles by one loop over all tiles: what is below it is found by a
 * quotient of that loop alone, though other bounds say as much. */
Test(stencils, tiles_of_one_loop_are_still_contiguous) {
  const char *code = code_of(read_loops(
      "input A: f32[64, 96]\noutput B: f32[64, 96]\n"
      "for t in 0..16 { for i in 0..32 { for j in 0..12 {\n"
      "  S[a, b, y, x]: B[y, x] = A[y, x] where 0 <= a < 2 and "
      "0 <= b < 8 and 32 * a <= y <= 32 * a + 31 and 0 <= y < 64 and "
      "12 * b <= x <= 12 * b + 11 and 0 <= x < 96\n"
      "  at 8 * a + b, y - 32 * a, x - 12 * b } } }\n"));
  cr_assert(strstr(code, "+ i2] = A["), "%s", code);
  cr_assert_not(strstr(code, "if ("), "%s", code);
}

/* ---- lanes ---- */

#define SIMD "#pragma omp simd"

Test(stencils, independent_iterations_go_into_lanes) {
  expect_code(read_loops(weighted("", 3, "1", "unroll")), SIMD "\n");
  expect_code(read_loops("input A: f32[64, 64]\noutput B: f32[64, 64]\n"
                         "for i in 0..64 { vectorize(8) for j in 0..64 {\n"
                         "  S: B[i, j] = A[i, j] + A[i, 3] } }\n"),
              SIMD "\n#endif\n      for (int i1 = glen_i1; i1 < glen_i1 + 8;");
}

/* Four neighbours an iteration are one row; two and two of them are not. */
Test(stencils, groups_of_neighbours_go_into_lanes) {
  static const char form[] =
      "for i%d in 0..40 { unroll for j%d in 0..%d {\n"
      "  S%d[i, j]: B[4 * i + j + %d] = A[j, i] * 2\n"
      "    where 0 <= i < 40 and 0 <= j < %d at i, j } }\n";
  const char *head = "input A: f32[4, 40]\noutput B: f32[160]\n";
  const char *whole = bs_arena_printf(&arena, form, 0, 0, 4, 0, 0, 4);
  const char *half = bs_arena_printf(&arena, form, 0, 0, 2, 0, 0, 2);
  const char *rest = bs_arena_printf(&arena, form, 1, 1, 2, 1, 2, 2);
  expect_code(read_loops(bs_arena_printf(&arena, "%s%s", head, whole)),
              SIMD "\n");
  expect_no_code(
      read_loops(bs_arena_printf(&arena, "%s%s%s", head, half, rest)), SIMD);
}

/* What all iterations share is read before the loop where neighbours compute
 * the same with it. */
Test(stencils, what_neighbours_share_is_read_once) {
  static const char form[] =
      "input A: f32[20, 302]\ninput F: f32[20]\noutput B: f32[20, 300]\n"
      "for i in 0..20 { for j in 0..300 { S: B[i, j] = %s } }\n";
  const char *once = "const float F_once0 = F[i0];";
  expect_code(read_loops(bs_arena_printf(
                  &arena, form, "A[i, j] * F[i] + A[i, j + 1] * F[i]")),
              once);
  expect_code(read_loops(bs_arena_printf(
                  &arena, form, "A[i, j] * F[i] + A[i, j + 1] * F[i]")),
              "A[302 * i0 + i1] * F_once0) + (A[302 * i0 + i1 + 1] * F_once0)");
  expect_no_code(read_loops(bs_arena_printf(&arena, form, "A[i, j] * F[i]")),
                 "_once");
  expect_no_code(
      read_loops(bs_arena_printf(&arena, form, "A[i, j] * F[i] + A[i, j] * 2")),
      "_once");
}

/* Rows made and used by one loop; `used` of them is of the row made two
 * iterations before, `where` it is used. */
static const char *
one_loop(const char *used, const char *where) {
  return bs_arena_printf(&arena,
                         "input A: f32[20, 300]\noutput B: f32[20, 300]\n"
                         "local r: f32[20 fold 3, 301]\n"
                         "for i in 0..20 { separate for j in 0..300 {\n"
                         "  S[i, j]: r[i, j] = A[i, j] * 2\n"
                         "    where 0 <= i < 20 and 0 <= j < 300 at i, j\n"
                         "  T[i, j]: B[i, j] = r[i, j] + %s\n"
                         "    where %s and 0 <= j < 300 at i, j } }\n",
                         used, where);
}

Test(stencils, other_rows_are_other_elements) {
  const char *code =
      code_of(read_loops(one_loop("r[i - 2, j] + r[i - 1, j]", "2 <= i < 20")));
  const char *both = strstr(code, SIMD);
  cr_assert(both && strstr(both + 1, SIMD), "%s", code);
  /* No test in a loop: statements that run alone have a loop of their own. */
  cr_expect_not(strstr(strstr(code, "for (int i1"), "if ("), "%s", code);
  cr_expect(strstr(code, "float r[903]") < strstr(code, "for (int i0"), "%s",
            code);
  expect_no_code(
      read_loops(one_loop("r[i, j - 1 + 0 * i]", "0 <= i < 20 and 1 <= j")),
      "#pragma omp simd\n#endif\n    for (int i1 = 1");
}

Test(stencils, rows_made_and_used_by_one_loop_are_kept) {
  const char *texts[] = {
      one_loop("r[i - 2, j] + r[i - 1, j]", "2 <= i < 20"),
      one_loop("r[i - 2, j]", "2 <= i < 17"),
      one_loop("r[i, j - 1] + r[i - 1, j]", "3 <= i < 20 and 1 <= j")};
  run_all(texts, COUNT(texts));
}

/* The first iteration stands apart and uses one of the loop's locals only. */
Test(stencils, an_iteration_apart_has_locals_it_does_not_use) {
  static const char *const texts[] = {
      "input A: f32[28, 136]\noutput B: f32[26, 136]\n"
      "local r: f32[28 fold 2, 136]\nlocal t: f32[27 fold 1, 136]\n"
      "separate for i in -1..26 {\n"
      "  for j in 0..136 {\n"
      "    S[i, j]: r[i + 1, j] = A[i + 1, j] * 2 at i, j }\n"
      "  for k in 0..136 {\n"
      "    T[i, k]: t[i, k] = r[i, k] + r[i + 1, k] where 0 <= i at i, k }\n"
      "  for l in 0..136 {\n"
      "    U[i, l]: B[i, l] = t[i, l] * 3 where 0 <= i at i, l } }\n"};
  run_all(texts, COUNT(texts));
}

Test(stencils, dependent_iterations_do_not) {
  static const char *const texts[] = {
      /* sums */
      "input A: f32[64]\noutput s: f32[]\n"
      "S: s[] = 0\nfor i in 0..64 { T: s[] += A[i] }\n",
      /* what another iteration writes */
      "input A: f32[64]\noutput B: f32[65]\n"
      "S: B[0] = 1\nfor i in 0..64 { T: B[i + 1] = B[i] + A[i] }\n",
      /* the same place again and again */
      "input A: f32[64]\noutput B: f32[64]\nworkspace t0: f32[4]\n"
      "for i in 0..64 { S: t0[i % 4] = A[i] T: B[i] = t0[i % 4] }\n",
      /* a value kept from the iteration before */
      "input A: f32[64]\noutput B: f32[64]\nlocal r: f32[]\nS: r[] = 0\n"
      "for i in 0..64 { T: B[i] = A[i] + r[] U: r[] = A[i] }\n"};
  for (size_t k = 0; k < COUNT(texts); k++)
    expect_no_code(read_loops(texts[k]), SIMD);
  run_all(texts, COUNT(texts));
}

/* An iteration reads what one before it wrote, or one behind it will write. */
Test(stencils, other_iterations_of_an_array_in_place_are_dependences) {
  const char *texts[7];
  for (int shift = -3; shift <= 3; shift++) {
    const char *text = bs_arena_printf(
        &arena,
        "input A: f32[64]\noutput B: f32[80]\noutput C: f32[80]\n"
        "for i in 8..72 {\n  S: C[i] = B[i + %d] * 2\n"
        "  T: B[i] = A[i - 8] + 1\n}\n",
        shift);
    if (shift)
      expect_no_code(read_loops(text), SIMD);
    else
      expect_code(read_loops(text), SIMD);
    texts[shift + 3] = text;
  }
  run_all(texts, COUNT(texts));
}

/* Rows of A to one number each; `update` is how, `more` another statement. */
static const char *
row_by_row(const char *head, const char *type, const char *update,
           const char *more) {
  return bs_arena_printf(
      &arena,
      "%sinput A: %s[20, 300]\noutput B: %s[20]\noutput C: %s[20, 300]\n"
      "local r: %s[]\nfor i in 0..20 {\n  S: r[] = 1\n"
      "  for j in 0..300 {\n    T: r[] %s A[i, j]\n%s  }\n"
      "  U: B[i] = r[] }\n",
      head, type, type, type, type, update, more);
}

Test(stencils, sums_go_into_lanes_where_their_order_is_free) {
  static const char copy[] = "    V: C[i, j] = A[i, j] * 2\n";
  const char *texts[] = {
      row_by_row("", "f32", "+=", copy), row_by_row("", "f32", "-=", copy),
      row_by_row("", "f64", "*=", copy), row_by_row("", "f32", "max=", copy)};
  static const char *const reductions[] = {"(+ : r)", "(+ : r)", "(* : r)",
                                           "(max : r)"};
  for (size_t k = 0; k < COUNT(texts); k++)
    expect_code(read_loops(texts[k]),
                bs_arena_printf(&arena, SIMD " reduction%s", reductions[k]));
  run_all(texts, COUNT(texts));
  const char *none[] = {
      row_by_row("strict\n", "f32", "+=", copy), /* the order is given */
      row_by_row("", "i32", "+=", copy),         /* it may wrap around */
      row_by_row("", "f32", "+=", "    V: C[i, j] = A[i, j] + r[]\n"),
      row_by_row("", "f32", "+=", "    V: r[] max= A[i, j]\n")};
  for (size_t k = 0; k < COUNT(none); k++)
    expect_no_code(read_loops(none[k]), "reduction");
  run_all(none, COUNT(none));
}

/* Rows of 5000 from element `from` on, whose sums are several side by side. */
static const char *
long_rows(const char *type, const char *update, int from) {
  return bs_arena_printf(
      &arena,
      "input A: %s[3, 5100]\noutput B: %s[3]\nlocal r: %s[]\n"
      "for i in 0..3 {\n  S: r[] = 1\n"
      "  for j in %d..%d { T: r[] %s A[i, j] }\n  U: B[i] = r[] }\n",
      type, type, type, from, from + 5000, update);
}

Test(stencils, long_sums_are_several_side_by_side) {
  const char *texts[] = {
      long_rows("f32", "+=", 0),   long_rows("f32", "-=", 3),
      long_rows("f64", "+=", 100), long_rows("f32", "max=", 7),
      long_rows("f64", "min=", 0), long_rows("f32", "*=", 1)};
  static const char *const joins[] = {
      "r += r_part1",          "r += r_part1",          "r += r_part1",
      "r_part1 > r ? r_part1", "r_part1 < r ? r_part1", "r *= r_part1"};
  for (size_t k = 0; k < COUNT(texts); k++)
    expect_code(read_loops(texts[k]), joins[k]);
  run_all(texts, COUNT(texts));
  const char *none[] = {
      long_rows("i32", "+=", 0),
      bs_arena_printf(&arena, "strict\n%s", long_rows("f32", "+=", 0))};
  for (size_t k = 0; k < COUNT(none); k++)
    expect_no_code(read_loops(none[k]), "_part1");
}

Test(stencils, a_vector_loop_that_is_none_is_explained) {
  code_of(read_loops("input A: f32[64, 64]\noutput B: f32[64, 64]\n"
                     "for i in 0..64 { vectorize(4) for j in 0..64 {\n"
                     "  S: B[i, j] = A[j, i] } }\n"));
  cr_assert(strstr(faults(), "may not use vectors for loop j: an access"), "%s",
            faults());
  cr_assert(strstr(faults(), "does not follow it through memory"), "%s",
            faults());
}
