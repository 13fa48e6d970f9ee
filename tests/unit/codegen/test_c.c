/* SPDX-License-Identifier: MIT */
/* test_c.c - the text of generated code. */
#include "../poly/fixture.h"
#include "codegen/file/c.h"

TestSuite(c, .init = fixture_start, .fini = fixture_stop);

static bs_text source, header;

static void
emit(const po_program *p, cg_options options) {
  bs_text_init(&source, &heap);
  bs_text_init(&header, &heap);
  cr_assert(cg_emit_c(p, &options, &source, &header), "%s", faults());
}

static void
emit_text(const char *text) {
  emit(lower(text),
       (cg_options){.name = "conv", .header = "conv.h", .openmp = true});
}

static uint32_t
occurrences(const char *text, const char *what) {
  uint32_t n = 0;
  for (; (text = strstr(text, what)); text++)
    n++;
  return n;
}

#define HAS(text, what)                                                        \
  cr_expect(strstr(bs_text_str(&text), what), "no %s in\n%s", what,            \
            bs_text_str(&text))
#define HAS_NOT(text, what)                                                    \
  cr_expect_not(strstr(bs_text_str(&text), what), "%s in\n%s", what,           \
                bs_text_str(&text))

Test(c, a_matrix_product_is_three_loops) {
  emit_text(MATMUL "(output c)");
  HAS(source, "#include \"conv.h\"");
  HAS(source, "  for (int i0 = 0; i0 <= 5; i0++)\n"
              "    for (int i1 = 0; i1 <= 3; i1++) {\n"
              "      float acc0 = 0.0f;\n"
              "      for (int i2 = 0; i2 <= 4; i2++)\n"
              "        acc0 += a[5 * i0 + i2] * b[i1 + 4 * i2];\n"
              "      c[4 * i0 + i1] = acc0;\n"
              "    }\n");
  HAS(source, "int\nconv(const float *restrict a, const float *restrict b, "
              "float *restrict c,\n    void *workspace) {\n");
  HAS(source, "/* test.glen:1: compute dotProd, ((6, 4), ()) f32 */");
}

Test(c, the_header_is_a_contract) {
  emit_text(MATMUL "(let d (compute exp c))(output d)");
  HAS(header, "#ifndef GLEN_CONV_H");
  HAS(header, "extern \"C\"");
  HAS(header, "#define CONV_WORKSPACE_BYTES 128\n");
  HAS(header, "call that runs at a time; 128 hold values at once\n");
  HAS(header, "#define CONV_ELEMENTS_a 30\n");
  HAS(header, "int conv(const float *a, const float *b, float *d, "
              "void *workspace);");
  HAS(header, "size_t conv_workspace_size(void);");
  HAS(header, "f32(6, 5)");
}

Test(c, only_large_loops_get_threads) {
  emit_text(MATMUL "(output c)");
  HAS_NOT(source, "#pragma");
  const char *large = "(tensor a (shape 300 300) f32)"
                      "(let y (compute neg a))(output y)";
  emit_text(large);
  HAS(source, "#ifdef _OPENMP\n  #pragma omp parallel for\n#endif\n"
              "  for (int i0 = 0; i0 <= 299; i0++)");
  emit(lower(large), (cg_options){.name = "k"});
  HAS_NOT(source, "#pragma");
}

Test(c, short_outer_loops_are_collapsed) {
  emit_text("(tensor a (shape 2 3 100 100) f32)"
            "(let y (compute neg a))(output y)");
  HAS(source, "#pragma omp parallel for collapse(3)");
}

Test(c, a_reduction_alone_is_not_parallel) {
  emit_text("(tensor a (shape 100000) f32)"
            "(let y (compute reduceSum (access a 0)))(output y)");
  HAS_NOT(source, "omp parallel");
  HAS(source, "omp simd reduction(+ : acc0, acc0_part1");
}

/* As long as the sum is too short at run time, no part has an element. */
Test(c, parts_of_a_sum_of_open_size_have_their_length_at_run_time) {
  emit_text("(size m 1 1200)(tensor a (shape m) f32)"
            "(let y (compute reduceSum (access a 0)))(output y)");
  HAS(source, "const int glen_part = m < ");
  HAS(source, "if (glen_part) {");
  HAS(source, "acc0_part1 += a[(i0 + glen_part)]");
  HAS(source, "const int glen_whole = (m - 4 * glen_part) & -4;");
  HAS(source, "i0 = 4 * glen_part + glen_whole; i0 < m;");
  emit_text("(size m 1 60)(tensor a (shape m) f32)"
            "(let y (compute reduceSum (access a 0)))(output y)");
  HAS_NOT(source, "glen_part");
  HAS(source, "const int glen_whole = m & -4;");
}

Test(c, equal_groups_share_a_function) {
  emit_text("(tensor a (shape 8 4) f32)(tensor b (shape 8 4) f32)"
            "(let s (concat"
            "  (compute add (pair (slice a 0 0 4) (slice b 0 0 4)))"
            "  (compute mul (pair a b))"
            "  (compute add (pair (slice a 0 4 8) (slice b 0 4 8))) 0))"
            "(output s)");
  cr_assert_eq(occurrences(bs_text_str(&source), "static "), 2, "%s",
               bs_text_str(&source));
  HAS(source, "conv_k0(a, b, s);");
  HAS(source, "conv_k0(a + 16, b + 16, s + 48);");
}

Test(c, parts_beside_each_other_share_a_function) {
  emit_text("(tensor a (shape 4 6 8) f32)(tensor b (shape 6 8) f32)"
            "(let s (concat (slice a 0 2 3) (access (insertAxis b 0) 3) 0))"
            "(output s)");
  HAS(source, "conv_k0(a + 96, s);");
  HAS(source, "conv_k0(b, s + 48);");
  cr_assert_eq(occurrences(bs_text_str(&source), "for (int i0"), 0, "%s",
               bs_text_str(&source));
}

Test(c, helpers_come_only_when_used) {
  emit_text("(tensor a (shape 8) f32)(let y (compute neg a))(output y)");
  HAS_NOT(source, "glen_");
  HAS_NOT(source, "math.h");
  emit_text("(tensor a (shape 8) bf16)(let y (compute sqrt a))(output y)");
  HAS(source, "glen_bf16_to_f32(uint16_t a) {");
  HAS(source, "#include <math.h>");
}

Test(c, constants_are_static_arrays) {
  emit_text("(const w (shape 3) f32 0.1 -2 inf)(tensor a (shape 3) f32)"
            "(let y (compute mul (pair a w)))(output y)");
  HAS(source, "static const float c_w[3] GLEN_ALIGNED = {\n  "
              "0.10000000149011612f, -2.0f, INFINITY,\n};");
}

Test(c, large_programs_have_wide_indices) {
  emit_text("(tensor a (shape 20000 20000) f32)"
            "(let y (compute neg a))(output y)");
  HAS(source, "for (int64_t i0 = 0; i0 <= 19999; i0++)");
}

Test(c, inputs_not_used_are_named) {
  emit_text("(tensor a (shape 3) f32)(tensor b (shape 3) f32)"
            "(let y (compute neg a))(output y)");
  HAS(source, "(void)b;");
  HAS(source, "(void)workspace;");
}

Test(c, the_same_input_gives_the_same_text) {
  const char *text = MATMUL "(let d (pad (compute exp c) edge 0 1 1))"
                            "(output d)(output c)";
  emit_text(text);
  const char *first = bs_text_str(&source);
  emit_text(text);
  cr_assert_str_eq(first, bs_text_str(&source));
}

Test(c, preludes_stand_where_calls_are) {
  gs_target *target = target_of(
      "(target t)(instr f (params) (operands (x ((n) ()) f32)) (result ((n) "
      "()) f32) (semantics (compute neg x)) (cost (cycles 1)) (emit \"f({x}, "
      "{result}, {n});\"))");
  bs_push(&heap, &target->preludes, "/* the prelude */\n");
  cg_options options = {.name = "k"};
  emit(lower_with(target,
                  "(tensor f (shape 8) f32)(let y (f (slice f 0 2 6)))"
                  "(output y)",
                  (po_options){0}),
       options);
  cr_assert_eq(occurrences(bs_text_str(&source), "/* the prelude */"), 1);
  /* The parameter does not hide the function. */
  HAS(source, "  f((f_2 + 2), y, 4);\n");
  emit(lower_with(target,
                  "(tensor a (shape 8) f32)(let y (compute neg a))(output y)",
                  (po_options){0}),
       options);
  HAS_NOT(source, "prelude");
}

Test(c, the_manifest_lists_inputs_and_outputs) {
  cg_options options = {.name = "conv"};
  bs_text_init(&source, &heap);
  cg_emit_manifest(lower("(tensor x-y (shape 2 3) bf16)"
                         "(let y (compute neg x-y))(output y)"),
                   &options, &source);
  HAS(source, "\"schema\": 1");
  HAS(source, "\"name\": \"x-y\"");
  HAS(source, "\"parameter\": \"x_y\"");
  HAS(source, "\"bytes\": 12");
}

Test(c, identifiers) {
  const po_program *p = lower("(tensor x (shape 2) f32)(output x)");
  cr_assert_str_eq(cg_identifier(p, "conv"), "conv");
  cr_assert_str_eq(cg_identifier(p, "conv-3x3.v2"), "conv_3x3_v2");
  cr_assert_str_eq(cg_identifier(p, "3x3"), "v3x3");
  cr_assert_str_eq(cg_identifier(p, "int"), "v_int");
  cr_assert_str_eq(cg_identifier(p, "main"), "v_main");
  cr_assert_str_eq(cg_identifier(p, "expf"), "v_expf");
  cr_assert_str_eq(cg_identifier(p, "INT_MAX"), "v_INT_MAX");
  cr_assert_str_eq(cg_identifier(p, ""), "v");
  cr_assert_str_eq(cg_identifier(p, "malloc"), "v_malloc");
}
