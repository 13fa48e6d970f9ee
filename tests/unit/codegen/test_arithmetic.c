/* SPDX-License-Identifier: MIT */
/* test_arithmetic.c - values at the edges, against numbers written down. */
#include "run.h"
#include <math.h>

TestSuite(arithmetic, .init = fixture_start, .fini = fixture_stop);

/* The output of a program without inputs must be these numbers. */
static void
check_values(const char *text, const double *wanted, uint32_t n) {
  cg_job job = job_of(gs_target_default(&ctx), text, (po_options){0});
  cg_build_options build = {.sanitize = true, .time_limit = 100};
  cr_assert(cg_build_and_run_all(&job, 1, &build, 1), "%s", faults());
  cr_assert_eq(job.outputs[0].elements, n);
  for (uint32_t k = 0; k < n; k++) {
    double found = gs_tensor_get(&job.outputs[0], k);
    bool same = found == wanted[k] || (isnan(found) && isnan(wanted[k]));
    cr_expect(same, "%s\nelement %u is %g, not %g", text, k, found, wanted[k]);
  }
}

#define CHECK(text, ...)                                                       \
  check_values(text, (double[]){__VA_ARGS__},                                  \
               sizeof((double[]){__VA_ARGS__}) / sizeof(double))

Test(arithmetic, integers_wrap) {
  CHECK("(const a (shape 3) i8 -128 127 100)(let y (compute neg a))(output y)",
        -128, -127, -100);
  CHECK("(const a (shape 2) i32 -2147483648 2147483647)"
        "(let y (compute abs a))(output y)",
        -2147483648.0, 2147483647.0);
  CHECK("(const a (shape 2) i32 2147483647 65536)"
        "(let y (compute square a))(output y)",
        1, 0);
  CHECK("(const a (shape 2) u8 200 0)(let y (compute neg a))(output y)", 56, 0);
  CHECK("(const a (shape 2) u8 200 3)(let y (compute (scale 300) a))(output y)",
        96, 132);
  CHECK("(const a (shape 3) i32 2147483647 1 5)"
        "(let y (compute reduceSum (access a 0)))(output y)",
        -2147483643.0);
}

Test(arithmetic, integer_division) {
  CHECK("(const a (shape 6) i32 7 -7 -2147483648 5 0 9)"
        "(const b (shape 6) i32 2 2 -1 0 0 -4)"
        "(let y (compute div (pair a b)))(output y)",
        3, -3, -2147483648.0, 0, 0, -2);
  CHECK("(const a (shape 3) i8 -128 -128 7)(const b (shape 3) i8 -1 0 -3)"
        "(let y (compute div (pair a b)))(output y)",
        -128, 0, -2);
  CHECK("(const a (shape 3) i32 -7 -1 0)"
        "(let y (compute reduceMean (access a 0)))(output y)",
        -2);
}

Test(arithmetic, casts_saturate_and_wrap) {
  CHECK("(const a (shape 7) f32 3.9 -3.9 1e9 -1e9 nan inf -inf)"
        "(let y (compute (cast i8) a))(output y)",
        3, -3, 127, -128, 0, 127, -128);
  CHECK("(const a (shape 5) f64 2147483647.5 -2147483648.5 -0.5 1e300 nan)"
        "(let y (compute (cast i32) a))(output y)",
        2147483647.0, -2147483648.0, 0, 2147483647.0, 0);
  CHECK("(const a (shape 4) f32 -1 255.9 256 nan)"
        "(let y (compute (cast u8) a))(output y)",
        0, 255, 255, 0);
  CHECK("(const a (shape 4) i32 300 -129 -2147483648 255)"
        "(let y (compute (cast i8) a))(output y)",
        44, 127, 0, -1);
  CHECK("(const a (shape 2) i8 -1 5)(let y (compute (cast u8) a))(output y)",
        255, 5);
}

Test(arithmetic, bf16_rounds_to_nearest_even_once) {
  /* 1 + 1/256 is a tie to even; a bit more goes up. */
  CHECK("(const a (shape 4) f32 1.00390625 1.01171875 1.00390637 -3.0078125)"
        "(let y (compute (cast bf16) a))(output y)",
        1, 1.015625, 1.0078125, -3);
  /* Rounding to f32 first would make a tie of these. */
  CHECK("(const a (shape 2) f64 1.00390625000001 1.00390624999999)"
        "(let y (compute (cast bf16) a))(output y)",
        1.0078125, 1);
  CHECK("(const a (shape 2) i32 16777217 16842753)"
        "(let y (compute (cast bf16) a))(output y)",
        16777216.0, 16908288.0);
  CHECK("(const a (shape 3) bf16 1 0.00390625 0.00390625)"
        "(let y (compute add (access a 0)))(output y)",
        1.0078125);
  CHECK("(const a (shape 3) bf16 nan inf -inf)"
        "(let y (compute neg a))(output y)",
        NAN, -INFINITY, INFINITY);
}

Test(arithmetic, f16_rounds_to_nearest_even_once) {
  CHECK("(const a (shape 6) f32 65519.99 65520 1.00048828125 1.00146484375"
        " 2.98023223876953125e-8 -4.5e-8)"
        "(let y (compute (cast f16) a))(output y)",
        65504, INFINITY, 1, 1.001953125, 0, -5.9604644775390625e-8);
  /* Rounding to f32 first would make a tie of these. */
  CHECK("(const a (shape 2) f64 1.00048828125000001 1.00048828125000025)"
        "(let y (compute (cast f16) a))(output y)",
        1, 1.0009765625);
  CHECK("(const a (shape 3) f16 nan inf -inf)"
        "(let y (compute neg a))(output y)",
        NAN, -INFINITY, INFINITY);
  CHECK("(const a (shape 2 2) f16 60000 6e-8 60000 6e-8)"
        "(let y (compute add (access a 0)))(output y)",
        INFINITY, 1.1920928955078125e-7);
}

Test(arithmetic, integers_of_16_bits_wrap) {
  CHECK("(const a (shape 2 3) u16 65535 40000 1 65535 40000 65535)"
        "(let y (compute mul (access a 0)))(output y)",
        1, 4096, 65535);
  CHECK("(const a (shape 2) i16 -32768 300)"
        "(let y (compute square a))(output y)",
        0, 24464);
  CHECK("(const a (shape 3) f32 -1 65536 nan)"
        "(let y (compute (cast u16) a))(output y)",
        0, 65535, 0);
  CHECK("(const a (shape 3) f64 -32769 32768.5 -0.5)"
        "(let y (compute (cast i16) a))(output y)",
        -32768, 32767, 0);
  CHECK("(const a (shape 2 1 2) i16 -32768 -32768 -32768 32767)"
        "(let y (compute dotProd (access a 0)))(output y)",
        32768);
}

/* What C computes as int, of any values of the operands, stays within it: else
 * there is a helper. Compilers need not show it where the result is narrow. */
Test(arithmetic, what_may_leave_int_has_a_helper) {
  static const gs_dtype dtypes[] = {GS_I8, GS_U8, GS_I16, GS_U16, GS_I32};
  static const char *const ops[] = {"add", "sub", "mul"};
  static const char *const helpers[] = {"glen_add_i32(", "glen_sub_i32(",
                                        "glen_mul_i32("};
  for (size_t k = 0; k < COUNT(ops) * COUNT(dtypes); k++) {
    gs_dtype dtype = dtypes[k / COUNT(ops)];
    const char *name = gs_dtype_table[dtype].name, *op = ops[k % COUNT(ops)];
    double lo = gs_dtype_least(dtype), hi = gs_dtype_most(dtype);
    double most = *op == 'm' ? fmax(lo * lo, hi * hi) : hi - lo;
    most = *op == 'a' ? fmax(-2 * lo, 2 * hi) : most;
    const char *text = bs_arena_printf(
        &arena,
        "(tensor a (shape 9) %s)(tensor b (shape 9) %s)"
        "(let y (compute %s (pair (access a 1) (access b 1))))(output y)",
        name, name, op);
    bs_text c;
    bs_text_init(&c, &heap);
    cr_assert(cg_emit_c(lower(text), &(cg_options){.name = "f"}, &c, NULL),
              "%s", faults());
    const char *code = bs_text_str(&c);
    bool helped = strstr(code, helpers[k % COUNT(ops)]);
    cr_expect_eq(helped, most > INT32_MAX, "%s of %s:\n%s", op, name, code);
    bs_text_done(&c);
  }
}

Test(arithmetic, truth_values_are_0_or_1) {
  CHECK("(const a (shape 5) f32 0 -0.0 0.25 -3 nan)"
        "(let y (compute (cast bool) a))(output y)",
        0, 0, 1, 1, 1);
  CHECK("(const a (shape 2) i32 256 0)"
        "(let y (compute (cast bool) a))(output y)",
        1, 0);
  CHECK("(const a (shape 2 4) bool 0 0 1 1 0 1 0 1)"
        "(let y (compute min (access a 0)))(output y)",
        0, 0, 0, 1);
}

Test(arithmetic, floats_follow_ieee) {
  CHECK("(const a (shape 4) f32 0 -1 4 inf)(let y (compute rsqrt a))(output y)",
        INFINITY, NAN, 0.5, 0);
  CHECK("(const a (shape 3) f64 0 -1 1)(let y (compute log a))(output y)",
        -INFINITY, NAN, 0);
  CHECK("(const a (shape 2) f32 0 -0.5)"
        "(let y (compute floor (compute recip a)))(output y)",
        INFINITY, -2);
}

Test(arithmetic, lowest_values_pad) {
  CHECK("(const a (shape 1) f32 1)(let y (pad a min 0 1 0))(output y)",
        -INFINITY, 1);
  CHECK("(const a (shape 1) i8 1)(let y (pad a min 0 1 0))(output y)", -128, 1);
  CHECK("(const a (shape 1) u8 1)(let y (pad a min 0 1 0))(output y)", 0, 1);
  CHECK("(const a (shape 1) i32 1)(let y (pad a min 0 1 0))(output y)",
        -2147483648.0, 1);
}

Test(arithmetic, strict_fp_propagates_nans) {
  cg_job job = job_of(gs_target_default(&ctx),
                      "(const a (shape 3) f32 1 nan 2)"
                      "(let m (compute reduceMax (access a 0)))"
                      "(let r (compute relu a))(output m)(output r)",
                      (po_options){.strict_fp = true});
  cg_build_options build = {.sanitize = true, .time_limit = 100};
  cr_assert(cg_build_and_run_all(&job, 1, &build, 1), "%s", faults());
  cr_assert(isnan(gs_tensor_get(&job.outputs[0], 0)));
  cr_assert(isnan(gs_tensor_get(&job.outputs[1], 1)));
  cr_assert_eq(gs_tensor_get(&job.outputs[1], 2), 2);
}

Test(arithmetic, indices_are_clamped) {
  CHECK("(const t (shape 4) f32 10 11 12 13)"
        "(const i (shape 4) f32 -5 nan 2.9 1e30)"
        "(let y (compute gather (pair (access t 0) (access i 0))))(output y)",
        10, 10, 12, 13);
  CHECK("(const t (shape 4) i32 10 11 12 13)"
        "(const i (shape 4) i32 -5 2147483647 3 1)"
        "(let y (compute gather (pair (access t 0) (access i 0))))(output y)",
        10, 13, 13, 11);
}
