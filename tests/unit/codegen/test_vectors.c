/* SPDX-License-Identifier: MIT */
/* test_vectors.c - loops that are marked for vectors: what comes before the
 * first whole one and after the last one, by what is known of their bounds. */
#include "nests.h"

TestSuite(vectors, .init = fixture_start, .fini = fixture_stop);

/* Written exactly: nothing beyond the last iteration is stored. */
static const char *
row(const char *mark, const char *bounds) {
  return bs_arena_printf(&arena,
                         "input A: f32[30]\noutput B: f32[30]\n"
                         "for j in 0..30 { T: B[j] = 0 }\n"
                         "%s for i in %s { S: B[i] = A[i] * 2 }\n",
                         mark, bounds);
}

/* In a loop around, on which bounds depend. */
static const char *
rows(const char *mark, const char *bounds) {
  return bs_arena_printf(
      &arena,
      "input A: f32[9, 21]\noutput B: f32[9, 21]\n"
      "for k in 0..9 { for l in 0..21 { T: B[k, l] = 0 } }\n"
      "for i in 0..9 {\n  %s for j in %s { S: B[i, j] = A[i, j] * 2 }\n}\n",
      mark, bounds);
}

/* Lanes with a sum of their own, from a first value that is not 0, in bounds
 * that follow from a loop around; more lanes than there are iterations. */
#define SUMS                                                                   \
  "input A: f32[9, 21]\noutput B: f32[9, 21]\nlocal s: f32[9 fold 1, 21 fold " \
  "1]\nfor i in 0..9 {\n  vectorize(4) for j in 3..2 * i + 5 {\n"              \
  "    S: s[i, j] = 0\n    for k in 0..9 { T: s[i, j] += A[k, j] }\n"          \
  "    U: B[i, j] = s[i, j]\n  }\n"                                            \
  "  vectorize(32, mask) for l in 0..3 { V: B[i, l] = A[i, l] }\n}\n"

Test(vectors, parts_between_numbers) {
  po_program *p = read_loops(row("vectorize(16)", "0..30"));
  expect_code(p, "simd\n#endif\n    for (int i0 = 0; i0 <= 15; i0++) {");
  expect_code(p, "for (int i0 = 16; i0 <= 29; i0++) {");
  expect_no_code(p, "glen_i0");
  p = read_loops(row("vectorize(4)", "3..30"));
  expect_code(p, "for (int i0 = 3; i0 <= 3; i0++) {");
  expect_code(p, "for (int glen_i0 = 4; glen_i0 < 28; glen_i0 += 4)");
  expect_code(p, "for (int i0 = 28; i0 <= 29; i0++) {");
  p = read_loops(row("vectorize(8)", "8..24"));
  expect_code(p, "for (int glen_i0 = 8; glen_i0 < 24; glen_i0 += 8)");
  expect_no_code(p, "i0++) {\n    B[i0]");
}

Test(vectors, bounds_that_depend_on_a_loop_around) {
  po_program *p = read_loops(SUMS);
  expect_code(p, "int glen_i1 = 4;");
  expect_code(p, "for (int i1 = 3; i1 < 4 && i1 <= 2 * i0 + 4; i1++) {");
  expect_code(p, "for (; glen_i1 + 3 <= 2 * i0 + 4; glen_i1 += 4)");
  p = read_loops(rows("vectorize(4)", "i..2 * i + 5"));
  expect_code(p, " && i1 % 4; i1++, glen_i1++) {");
  expect_code(p, "for (; glen_i1 + 3 <= 2 * i0 + 4; glen_i1 += 4)");
}

/* No loop, so that no compiler can take a second vector for one that runs. */
Test(vectors, the_only_one_that_may_be_whole) {
  static const char *const bounds[] = {"0..i + 7", "i..i + 12", "i + 5..i + 13",
                                       "i + 1..16"};
  for (size_t k = 0; k < COUNT(bounds); k++) {
    po_program *p = read_loops(rows("vectorize(8)", bounds[k]));
    expect_code(p, "if (glen_i1 + 7 <= ");
    expect_no_code(p, "for (; glen_i1");
  }
}

Test(vectors, none_is_whole) {
  static const char *const none[] = {"2..9", "0..7", "1..15", "9..16", "-0..3"};
  static const char *const around[] = {"i..i + 7", "2 * i..2 * i + 5",
                                       "1..i + 7", "i + 1..9"};
  for (size_t k = 0; k < COUNT(none); k++) {
    po_program *p = read_loops(row("vectorize(8)", none[k]));
    expect_no_code(p, "glen_");
    expect_no_code(p, "simd\n#endif\n  for (int i0 = 2");
  }
  cr_assert(strstr(faults(), "loop i never has the 8 iterations of a vector"));
  for (size_t k = 0; k < COUNT(around); k++)
    expect_no_code(read_loops(rows("vectorize(8)", around[k])), "glen_");
}

Test(vectors, what_fills_none_is_masked) {
  po_program *p = read_loops(row("vectorize(16, mask)", "0..30"));
  expect_code(p, "for (; glen_i0 <= 29; glen_i0 += 16)");
  expect_code(p, "if (i0 <= 29) {");
  p = read_loops(row("vectorize(8, mask)", "8..24"));
  expect_no_code(p, "if (");
}

/* A nest for each of the bounds, of one array each; `i` is around. */
static const char *
all_of(const char *mark, const char *const *bounds, size_t n) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_put(&text, "input A: f32[9, 30]\n");
  for (size_t k = 0; k < n; k++)
    bs_putf(&text, "output B%zu: f32[9, 30]\n", k);
  for (size_t k = 0; k < n; k++)
    bs_putf(&text,
            "for k%zu in 0..9 { for l%zu in 0..30 { T%zu: B%zu[k%zu, l%zu] = 0 "
            "} }\nfor i%zu in 0..9 {\n  %s for j%zu in %s {\n"
            "    S%zu: B%zu[i%zu, j%zu] = A[i%zu, j%zu] * 2\n  }\n}\n",
            k, k, k, k, k, k, k, mark, k,
            bs_arena_printf(&arena, bounds[k], (int)k, (int)k), k, k, k, k, k,
            k);
  return bs_arena_strdup(&arena, bs_text_str(&text));
}

/* Compiled under sanitizers with warnings as errors. */
Test(vectors, code_computes_what_the_loops_say) {
  static const char *const bounds[] = {"0..30",
                                       "3..30",
                                       "8..24",
                                       "2..9",
                                       "7..9",
                                       "5..17",
                                       "0..i%d + 7",
                                       "i%d..i%d + 12",
                                       "i%d + 5..i%d + 13",
                                       "i%d..16",
                                       "i%d..i%d + 7",
                                       "1..i%d + 7",
                                       "3..2 * i%d + 5",
                                       "i%d..2 * i%d + 5"};
  const char *texts[] = {all_of("vectorize(8)", bounds, COUNT(bounds)),
                         all_of("vectorize(4, mask)", bounds, COUNT(bounds)),
                         SUMS};
  run_all(texts, COUNT(texts));
}

/* Seven lanes of eight are left when the loop was shifted: a vector at 8 would
 * be beyond the local, as gcc saw. */
Test(vectors, none_after_a_shift) {
  static const char *const texts[] = {
      "input T: i32[7, 7]\noutput B: i32[7, 7]\nlocal r: i32[7 fold 1, 7]\n"
      "for i in 0..7 {\n  for k in 0..7 { S: r[i, k] = T[i, k] + 1 }\n"
      "  vectorize(8) for j in 2..9 {\n"
      "    U[i, a]: B[i, a] = r[i, a] + T[i, a] at i, a + 2\n  }\n}\n"};
  expect_no_code(read_loops(texts[0]), "glen_i");
  run_all(texts, 1);
}
