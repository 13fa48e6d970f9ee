/* SPDX-License-Identifier: MIT */
/* test_nests.c - code of nests that lowering would not make: marks, locals of
 * any rank and storage, times of their own.  Compiled under sanitizers and
 * compared with the same program run one instance at a time. */
#include "nests.h"

TestSuite(nests, .init = fixture_start, .fini = fixture_stop);

#define IN_OUT "input A: f32[64, 48]\noutput B: f32[64, 48]\n"

/* A row kept on the stack. */
#define ROW                                                                    \
  IN_OUT "local r: f32[64 fold 1, 48 pad 3]\n"                                 \
         "parallel for i in 0..64 {\n"                                         \
         "  for j in 0..48 { S: r[i, j] = A[i, j] * 2 }\n"                     \
         "  for k in 0..48 { T: B[i, k] = r[i, k] + r[i, -k + 47] }\n}\n"

/* Two rows, in turn. */
#define TURNS                                                                  \
  IN_OUT "local r: f32[64 fold 2, 48]\n"                                       \
         "for i in 0..64 {\n"                                                  \
         "  for j in 0..48 { S: r[i, j] = A[i, j] * 2 }\n"                     \
         "  for k in 0..48 {\n"                                                \
         "    T: B[i, k] = r[i, k] where i = 0\n"                              \
         "    U: B[i, k] = r[i, k] + r[i - 1, k] where i >= 1\n  }\n}\n"

/* Larger than a stack should hold, one for each thread. */
#define LARGE                                                                  \
  "input A: f32[4, 300, 300]\noutput B: f32[4, 300, 300]\n"                    \
  "local r: f32[4 fold 1, 300, 300]\n"                                         \
  "parallel for i in 0..4 {\n"                                                 \
  "  for j in 0..300 { for k in 0..300 { S: r[i, j, k] = A[i, j, k] * 2 } }\n" \
  "  for l in 0..300 { for m in 0..300 { T: B[i, l, m] = r[i, m, l] } }\n}\n"

/* The same without threads. */
#define LARGE_SERIAL                                                           \
  "input A: f32[300, 300]\noutput B: f32[300, 300]\n"                          \
  "local r: f32[300, 300]\n"                                                   \
  "for j in 0..300 { for k in 0..300 { S: r[j, k] = A[j, k] * 2 } }\n"         \
  "for l in 0..300 { for m in 0..300 { T: B[l, m] = r[m, l] } }\n"

#define TILED                                                                  \
  IN_OUT "parallel for it in 0..5 {\n  separate for jt in 0..4 {\n"            \
         "    for ip in 0..13 {\n      for jp in 0..13 {\n"                    \
         "        S[i, j]: B[i, j] = A[i, j] + 1 where 0 <= i < 64 and "       \
         "0 <= j < 48 at i / 13, j / 13, i % 13, j % 13\n      }\n    }\n"     \
         "  }\n}\n"

#define UNROLLED                                                               \
  IN_OUT "local r: f32[64 fold 1, 48 fold 1, 4] register\n"                    \
         "for i in 0..64 { for j in 0..48 {\n"                                 \
         "  unroll for a in 0..4 { S: r[i, j, a] = 0.5 }\n"                    \
         "  for k in 0..12 {\n"                                                \
         "    unroll for b in 0..4 { T: r[i, j, b] += A[i, 4 * k + b] } }\n"   \
         "  U: B[i, j] = 0\n"                                                  \
         "  unroll for c in 0..4 { V: B[i, j] += r[i, j, c] } } }\n"

#define TRIANGLE                                                               \
  "input A: f32[32, 32]\noutput B: f32[32, 32]\n"                              \
  "for i in 0..32 {\n  for j in 0..i {\n"                                      \
  "    S: B[i, j] = A[j, i] - A[i, j]\n  }\n"                                  \
  "  T: B[i, i] = 1\n"                                                         \
  "  for k in i + 1..32 { U: B[i, k] = A[k, i] }\n}\n"

#define BACKWARDS                                                              \
  "input A: f32[32]\noutput B: f32[32]\n"                                      \
  "for t in -31..1 {\n  S[i]: B[i] = A[i] at -i\n"                             \
  "  T[i]: B[i] += B[i + 1] * 0.5 where i < 31 at -i\n}\n"

#define IN_PLACE                                                               \
  "input A: f32[40]\noutput B: f32[40]\nworkspace t0: f32[2, 40]\n"            \
  "for i in 0..40 { S: t0[0, i] = A[i] }\n"                                    \
  "for s in 0..10 { for j in 1..39 {\n"                                        \
  "  T: t0[(s + 1) % 2, j] = (t0[s % 2, j - 1] + t0[s % 2, j + 1]) / 2 }\n"    \
  "  U: t0[(s + 1) % 2, 0] = t0[s % 2, 0]\n"                                   \
  "  V: t0[(s + 1) % 2, 39] = t0[s % 2, 39] }\n"                               \
  "for k in 0..40 { W: B[k] = t0[0, k] }\n"

#define TO_ONE                                                                 \
  "input A: i8[1000]\noutput s: i32[]\nlocal acc0: i32[]\n"                    \
  "S0: acc0[] = 7\nfor i in 0..1000 { S1: acc0[] += A[i] }\n"                  \
  "S2: s[] = acc0[]\n"

#define UNROLLED_WITH_LOCALS                                                   \
  "input A: f32[6, 5]\noutput B: f32[6]\nlocal s: f32[6 fold 1]\n"             \
  "unroll for i in 0..6 {\n  S: s[i] = 0\n"                                    \
  "  for j in 0..5 { T: s[i] += A[i, j] }\n  U: B[i] = s[i]\n}\n"

#define ONE_OF_A_LOOP                                                          \
  "input A: f32[6, 5]\noutput B: f32[6]\nlocal s: f32[6 fold 1]\n"             \
  "for i in 3..4 {\n  S: s[i] = 0\n"                                           \
  "  for j in 0..5 { T: s[i] += A[i, j] }\n  U: B[i] = s[i]\n}\n"

#define ROTATED                                                                \
  "input A: f32[20]\noutput B: f32[20]\n"                                      \
  "vectorize(4) for i in 0..20 { any_name: B[(i + 5) % 20] = A[i] }\n"

/* Values set in another iteration: of a loop around threads, of the loop that
 * holds all uses of a scalar. */
#define AHEAD                                                                  \
  "input A: f32[4, 8]\noutput B: f32[4, 8]\nlocal r: f32[4 fold 2, 8]\n"       \
  "for i in -1..4 { parallel for j in 0..8 {\n"                                \
  "  S[a, b]: r[a, b] = A[a, b] * 2 where 0 <= a < 4 and 0 <= b < 8 at "       \
  "a - 1, b\n"                                                                 \
  "  T[a, b]: B[a, b] = r[a, b] + 1 where 0 <= a < 4 and 0 <= b < 8 at a, b"   \
  " } }\n"

#define SET_BY_THE_FIRST                                                       \
  "input A: f32[8]\noutput B: f32[8, 4]\nlocal s: f32[8 fold 1]\n"             \
  "for j in 0..8 { for i in 0..4 {\n  S: s[j] = A[j] where i = 0\n"            \
  "  T: B[j, i] = s[j] + 1 } }\n"

/* Sums and largest values kept as bf16; a value rounded on its way. */
#define NARROW_SUMS                                                            \
  "input A: bf16[9, 11]\ninput C: f64[9]\noutput B: bf16[9]\n"                 \
  "output M: bf16[9]\noutput D: f32[9]\n"                                      \
  "for i in 0..9 {\n  S: B[i] = 0\n  T: M[i] = lowest\n"                       \
  "  for j in 0..11 {\n    U: B[i] += A[i, j]\n"                               \
  "    V: M[i] max= A[i, j] * A[i, 0]\n  }\n"                                  \
  "  W: D[i] = cast(cast(C[i], bf16), f32) * 3\n}\n"

Test(nests, code_computes_what_the_loops_say) {
  static const char *const texts[] = {
      ROW,           TURNS,       LARGE,    LARGE_SERIAL,
      TILED,         UNROLLED,    TRIANGLE, BACKWARDS,
      IN_PLACE,      TO_ONE,      ROTATED,  UNROLLED_WITH_LOCALS,
      ONE_OF_A_LOOP, NARROW_SUMS, AHEAD,    SET_BY_THE_FIRST};
  run_all(texts, COUNT(texts));
}

/* Elements are read whatever is selected; a call is left to its branch. */
Test(nests, selected_values_that_cost_little_are_computed) {
#define SELECTED                                                               \
  "input A: f32[8]\ninput B: f32[8]\noutput C: f32[8]\noutput D: f32[8]\n"     \
  "for i in 0..8 {\n  S: C[i] = select(A[i], B[i] * 2, B[7 - i])\n"            \
  "  T: D[i] = select(A[i], sin(B[i]), 1)\n}\n"
  po_program *p = read_loops(SELECTED);
  expect_code(p, "C[i0] = glen_select_f32(A[i0], B[i0] * 2.0f, B[-i0 + 7]);");
  expect_code(p, "D[i0] = A[i0] > 0.0f ? (sinf(B[i0])) : ");
}

Test(nests, a_row_is_declared_in_its_loop) {
  po_program *p = read_loops(ROW);
  expect_code(p, "    float r[51] GLEN_ALIGNED;\n");
  expect_code(p, "#pragma omp parallel for\n");
  cr_assert_eq(p->workspace_bytes, 0);
}

Test(nests, folded_rows_are_two) {
  expect_code(read_loops(TURNS), "float r[96] GLEN_ALIGNED;");
}

Test(nests, a_large_local_has_a_part_for_each_thread) {
  po_program *p = read_loops(LARGE);
  cr_assert_eq(p->workspace_bytes, 64 * ((300 * 300 * 4 + 63) / 64 * 64));
  expect_code(p, "num_threads(GLEN_TEAM)");
  p = read_loops(LARGE_SERIAL);
  cr_assert_eq(p->workspace_bytes, (300 * 300 * 4 + 63) / 64 * 64);
  expect_no_code(p, "GLEN_TEAM");
}

Test(nests, full_tiles_have_code_of_their_own) {
  po_program *p = read_loops(TILED);
  expect_code(p, "i3 <= 12;");
  p->nest.nodes.data[po_nest_find(p, "jt")].separate = false;
  expect_no_code(p, "i3 <= 12;");
}

Test(nests, unrolled_loops_are_written_out) {
  po_program *p = read_loops(UNROLLED);
  expect_code(p, "A[48 * i0 + 4 * i2 + 3]");
  p->nest.nodes.data[po_nest_find(p, "b")].mark = PO_SERIAL;
  expect_no_code(p, "A[48 * i0 + 4 * i2 + 3]");
}

Test(nests, elements_in_registers_have_names) {
  po_program *p = read_loops(UNROLLED);
  expect_code(p, "float r_0 = 0, r_1 = 0, r_2 = 0, r_3 = 0;");
  expect_no_code(p, "r[");
  p->nest.nodes.data[po_nest_find(p, "b")].mark = PO_SERIAL;
  expect_code(p, "float r[4] GLEN_ALIGNED;");
  expect_code(p, "r[i3] += A[48 * i0 + 4 * i2 + i3];");
}

Test(nests, marks_and_times_tell_groups_apart) {
  static const char two[] = "input A: f32[64]\noutput B: f32[64]\n"
                            "output C: f32[64]\n"
                            "for i in 0..64 { S: B[i] = A[i] }\n"
                            "%sfor j in 0..64 { T%s }\n";
  static const struct {
    const char *mark, *stmt;
    bool shared;
  } cases[] = {{"", ": C[j] = A[j]", true},
               {"parallel ", ": C[j] = A[j]", false},
               {"", "[k]: C[k] = A[k] at -k + 63", false}};
  for (size_t k = 0; k < COUNT(cases); k++) {
    bs_text text;
    bs_text_init(&text, &heap);
    bs_putf(&text, two, cases[k].mark, cases[k].stmt);
    po_program *p = read_loops(bs_text_str(&text));
    if (cases[k].shared)
      expect_no_code(p, "f_k1(");
    else
      expect_code(p, "f_k1(");
  }
}
