/* SPDX-License-Identifier: MIT */
/* The interpreter, against results that were computed by other means: by hand,
 * or by direct loops in this file. */
#include "fixture.h"
#include "glenside/interpret/interpret.h"
#include "glenside/target/target.h"
#include "tests/unit/sanitized.h"
#include <math.h>
#include <stdio.h>

TestSuite(interpret, .init = start_listing, .fini = fixture_stop);

#define MAX_INPUTS 8

static gs_tensor inputs[MAX_INPUTS], outputs[MAX_INPUTS];

static gs_program *
parse(const gs_target *target, const char *text) {
  gs_program *p =
      gs_parse(&ctx, target, bs_source_add(&diags, "p", text, strlen(text)));
  cr_assert(p, "%s", faults());
  return p;
}

static bool
run(const gs_program *p) {
  for (uint32_t k = 0; k < p->inputs.len; k++) {
    gs_type type;
    gs_type_at(p, p->inputs.data[k].term, &type);
    gs_tensor_init(&heap, &inputs[k], &type);
    gs_tensor_fill(&inputs[k], 3, p->inputs.data[k].name);
  }
  return gs_interpret(p, inputs, outputs);
}

static void
interpret(const char *text) {
  cr_assert(run(parse(NULL, text)), "%s", faults());
}

/* The output of a term over (let a ...) of declared constants, as text. */
static const char *
value(const char *declarations, const char *term) {
  bs_text text, out;
  bs_text_init(&text, &heap);
  bs_text_init(&out, &heap);
  bs_putf(&text, "%s (let y %s) (output y)", declarations, term);
  interpret(bs_text_str(&text));
  for (int64_t k = 0; k < outputs[0].elements; k++)
    bs_putf(&out, "%s%g", k ? " " : "", gs_tensor_get(&outputs[0], k));
  return bs_text_str(&out);
}

#define IS(declarations, term, expected)                                       \
  cr_expect_str_eq(value(declarations, term), expected, "%s", term)

/* --- views ---------------------------------------------------------------- */

#define M "(const m (shape 2 3) f32 1 2 3 4 5 6)"
#define N "(const n (shape 2 3) f32 10 20 30 40 50 60)"

Test(interpret, views) {
  IS(M, "(transpose m (list 1 0))", "1 4 2 5 3 6");
  IS(M, "(slice m 1 1 3)", "2 3 5 6");
  IS(M, "(slice (slice m 1 1 3) 0 1 2)", "5 6");
  IS(M N, "(concat m n 0)", "1 2 3 4 5 6 10 20 30 40 50 60");
  IS(M N, "(concat m n 1)", "1 2 3 10 20 30 4 5 6 40 50 60");
  IS(M N, "(concat m n m 1)", "1 2 3 10 20 30 1 2 3 4 5 6 40 50 60 4 5 6");
  IS(M, "(pad m zero 1 1 2)", "0 1 2 3 0 0 0 4 5 6 0 0");
  IS(M, "(pad m edge 0 1 1)", "1 2 3 1 2 3 4 5 6 4 5 6");
  IS(M, "(pad m edge 1 2 1)", "1 1 1 2 3 3 4 4 4 5 6 6");
  IS(M, "(pad m min 0 0 1)", "1 2 3 4 5 6 -inf -inf -inf");
  IS(M, "(pad (pad m zero 0 1 0) edge 1 1 0)", "0 0 0 0 1 1 2 3 4 4 5 6");
  IS(M, "(squeeze (insertAxis m 1) 1)", "1 2 3 4 5 6");
  IS(M, "(squeeze (slice m 0 1 2) 0)", "4 5 6");
  IS(M, "(squeeze (slice m 1 1 2) 1)", "2 5");
  IS(M, "(broadcast (slice m 0 1 2) (shape 3 3))", "4 5 6 4 5 6 4 5 6");
  IS(M, "(broadcast (insertAxis m 1) (shape 2 2 3))",
     "1 2 3 1 2 3 4 5 6 4 5 6");
  IS(M, "(reshape m (shape 3 2) (shape))", "1 2 3 4 5 6");
  IS(M, "(transpose (reshape m (shape 3 2) (shape)) (list 1 0))",
     "1 3 5 2 4 6");
  IS(M, "(flatten (transpose (access m 2) (list 1 0)))", "1 4 2 5 3 6");
  IS(M, "(repeat m 1 2)", "1 1 2 2 3 3 4 4 5 5 6 6");
  IS(M, "(repeat m 0 2)", "1 2 3 1 2 3 4 5 6 4 5 6");
  IS(M N, "(pair m n)", "1 10 2 20 3 30 4 40 5 50 6 60");
  IS(M N, "(pair (access m 1) (access n 1))", "1 2 3 10 20 30 4 5 6 40 50 60");
  IS(M N, "(cartProd (access m 1) (access n 1))",
     "1 2 3 10 20 30 1 2 3 40 50 60 4 5 6 10 20 30 4 5 6 40 50 60");
  IS(M, "(materialize (transpose m (list 1 0)))", "1 4 2 5 3 6");
}

Test(interpret, pads_of_integers) {
  IS("(const a (shape 1) i8 5)", "(pad a min 0 1 0)", "-128 5");
  IS("(const a (shape 1) u8 5)", "(pad a min 0 1 0)", "0 5");
  IS("(const a (shape 1) i32 5)", "(pad a min 0 0 1)", "5 -2.14748e+09");
  IS("(const a (shape 1) bf16 5)", "(pad a min 0 0 1)", "5 -inf");
}

Test(interpret, windows) {
#define V "(const v (shape 8) f32 0 1 2 3 4 5 6 7)"
  IS(V, "(windows (access v 0) (shape 3) (stride 1))",
     "0 1 2 1 2 3 2 3 4 3 4 5 4 5 6 5 6 7");
  IS(V, "(windows (access v 0) (shape 4) (stride 3))", "0 1 2 3 3 4 5 6");
  IS(V, "(windows (access v 0) (shape 3) (stride 2) (dilation 2))",
     "0 2 4 2 4 6");
  IS(M, "(windows (access m 0) (shape 2 2) (stride 1 1))", "1 2 4 5 2 3 5 6");
  IS(M, "(windows (access m 1) (shape 2) (stride 1))", "1 2 2 3 4 5 5 6");
  IS(M,
     "(compute reduceSum (windows (access m 0) (shape 1 2) (stride 1 1)"
     " (dilation 1 2)))",
     "4 10");
}

Test(interpret, tuples_under_other_views) {
  IS(M N, "(transpose (pair (access m 1) (access n 1)) (list 1 0 2))",
     "1 2 3 4 5 6 10 20 30 40 50 60");
  IS(M N,
     "(compute dotProd (slice (cartProd (access m 1) (access n 1))"
     " 3 1 3))",
     "130 280 280 610");
  IS(M N,
     "(compute add (concat (pair (access m 1) (access n 1))"
     " (access (insertAxis m 1) 1) 1))",
     "12 24 36 48 60 72");
}

/* --- computations --------------------------------------------------------- */

Test(interpret, reductions) {
  IS(M, "(compute reduceSum (access m 1))", "6 15");
  IS(M, "(compute reduceSum (access m 0))", "21");
  IS(M, "(compute reduceMean (access m 1))", "2 5");
  IS(M, "(compute reduceMax (access m 1))", "3 6");
  IS(M, "(compute reduceMin (access m 0))", "1");
  IS(M, "(compute reduceProd (access m 1))", "6 120");
  IS("(const a (shape 4) i8 127 127 127 -1)",
     "(compute reduceSum (access a 0))", "380");
  IS("(const a (shape 3) i8 -1 -2 -4)", "(compute reduceMean (access a 0))",
     "-2");
  IS("(const a (shape 2) i32 2147483647 1)",
     "(compute (cast f64) (compute reduceSum (access a 0)))", "-2.14748e+09");
  IS("(const a (shape 3) i8 100 2 1)", "(compute reduceProd (access a 0))",
     "-56");
}

Test(interpret, dot_products) {
  IS(M N, "(compute dotProd (pair (access m 1) (access n 1)))", "140 770");
  IS(M N, "(compute dotProd (cartProd (access m 1) (access n 1)))",
     "140 320 320 770");
  IS(M, "(compute dotProd (access m 0))", "32");
  IS(M N, "(compute dotProd (concat (access m 0) (access n 0) 0))", "44000");
  IS(M N, "(compute dotProd (concat (access m 0) (access n 0) 1))", "3232");
  IS("(const a (shape 2 2) i8 127 127 127 127)",
     "(compute dotProd (access a 0))", "32258");
  IS("(const a (shape 2 1) i32 65536 65536)", "(compute dotProd (access a 0))",
     "0");
}

Test(interpret, folds) {
#define T3 "(const t (shape 3 2) f32 8 9 2 3 2 1)"
#define I3 "(const t (shape 3 2) i8 -128 100 -1 100 2 0)"
  IS(T3, "(compute add (access t 0))", "12 13");
  IS(T3, "(compute sub (access t 0))", "4 5");
  IS(T3, "(compute mul (access t 0))", "32 27");
  IS(T3, "(compute div (access t 0))", "2 3");
  IS(T3, "(compute max (access t 0))", "8 9");
  IS(T3, "(compute min (access t 0))", "2 1");
  IS(I3, "(compute add (access t 0))", "-127 -56");
  IS(I3, "(compute mul (access t 0))", "0 0");
  IS(I3, "(compute div (access t 0))", "-64 0");
  IS("(const t (shape 2 2) i8 -7 7 2 -2)", "(compute div (access t 0))",
     "-3 -3");
  IS("(const t (shape 2) u8 3 5)", "(compute sub (access t 0))", "254");
  IS("(const t (shape 1 2) f32 4 5)", "(compute sub (access t 0))", "4 5");
}

Test(interpret, elementwise_on_floats) {
#define X "(const x (shape 3) f64 -1.5 0 4)"
  IS(X, "(compute neg x)", "1.5 -0 -4");
  IS(X, "(compute abs x)", "1.5 0 4");
  IS(X, "(compute relu x)", "0 0 4");
  IS(X, "(compute square x)", "2.25 0 16");
  IS(X, "(compute floor x)", "-2 0 4");
  IS(X, "(compute sqrt (slice x 0 1 3))", "0 2");
  IS(X, "(compute rsqrt (slice x 0 2 3))", "0.5");
  IS(X, "(compute recip x)", "-0.666667 inf 0.25");
  IS(X, "(compute exp x)", "0.22313 1 54.5982");
  IS(X, "(compute log (slice x 0 1 3))", "-inf 1.38629");
  IS(X, "(compute tanh x)", "-0.905148 0 0.999329");
  IS(X, "(compute sigmoid x)", "0.182426 0.5 0.982014");
  IS(X, "(compute erf x)", "-0.966105 0 1");
  IS(X, "(compute (clip -1 2.5) x)", "-1 0 2.5");
  IS(X, "(compute (scale 2) x)", "-3 0 8");
  IS(X, "(compute (offset 0.5) x)", "-1 0.5 4.5");
  IS("(const x (shape 1) f32 1)",
     "(compute (cast f64) (compute (scale 0.1)"
     " x))",
     "0.1");
}

Test(interpret, elementwise_on_integers_wraps) {
#define I "(const x (shape 3) i8 -128 5 -7)"
  IS(I, "(compute neg x)", "-128 -5 7");
  IS(I, "(compute abs x)", "-128 5 7");
  IS(I, "(compute relu x)", "0 5 0");
  IS(I, "(compute square x)", "0 25 49");
  IS(I, "(compute floor x)", "-128 5 -7");
  IS(I, "(compute (clip -10 3) x)", "-10 3 -7");
  IS(I, "(compute (scale 100) x)", "0 -12 68");
  IS(I, "(compute (offset -128) x)", "0 -123 121");
  IS("(const x (shape 2) u8 0 3)", "(compute neg x)", "0 253");
  IS("(const x (shape 1) i32 -2147483648)", "(compute (offset -1) x)",
     "2.14748e+09");
}

Test(interpret, casts) {
#define F "(const x (shape 5) f32 1.9 -1.9 300 -1e30 nan)"
  IS(F, "(compute (cast i8) x)", "1 -1 127 -128 0");
  IS(F, "(compute (cast u8) x)", "1 0 255 0 0");
  IS("(const x (shape 3) i32 300 -129 255)", "(compute (cast i8) x)",
     "44 127 -1");
  IS("(const x (shape 2) i8 -1 5)", "(compute (cast u8) x)", "255 5");
  IS("(const x (shape 1) i32 16777217)",
     "(compute (cast f64) (compute"
     " (offset -16777216) (compute (cast f32) x)))",
     "0");
  IS("(const x (shape 2) f32 1.00390625 1.01171875)",
     "(compute (cast f32) (compute (cast bf16) x))", "1 1.01562");
}

Test(interpret, bf16_is_rounded_once) {
  IS("(const x (shape 2) bf16 1 0.00390625)",
     "(compute (cast f64) (compute add (access x 0)))", "1");
  IS("(const x (shape 3) bf16 1 0.00390625 0.00390625)",
     "(compute (cast f64) (compute add (access x 0)))", "1.00781");
  IS("(const x (shape 2) bf16 1 0.00390625)",
     "(compute (cast f64) (compute reduceSum (access x 0)))", "1.00391");
}

Test(interpret, other_operators) {
  IS("(const x (shape 2 2) f64 0 0 1000 1000)",
     "(compute softmax (access x 1))", "0.5 0.5 0.5 0.5");
  IS("(const x (shape 2) f64 0 1.0986122886681098)",
     "(compute softmax (access x 0))", "0.25 0.75");
  IS("(const x (shape 3 4) f32 1 0 -1 nan 1 2 3 4 5 6 7 8)",
     "(compute select (access x 0))", "1 6 7 8");
  IS("(const x (shape 2 4) f32 10 20 30 40 2.9 -3 99 nan)",
     "(compute gather (access x 0))", "30 10 40 10");
  IS("(const x (shape 2 3) i8 7 8 9 2 -1 100)", "(compute gather (access x 0))",
     "9 7 9");
  IS("(const x (shape 7) f32 10 20 30 2.9 -3 99 nan)",
     "(compute (lookup 3) (access x 0))", "30 10 30 10");
  IS("(const x (shape 2 4) i8 7 8 9 1 4 5 6 -1)",
     "(compute (lookup 3) (access x 1))", "8 4");
  IS("(const x (shape 6) f32 0.5 1.5 2.5 -0.5 -1.5 1.2)", "(compute round x)",
     "0 2 2 -0 -2 1");
  IS("(const x (shape 3) f64 0 1 -1)", "(compute atan x)",
     "0 0.785398 -0.785398");
}

/* --- programs ------------------------------------------------------------- */

Test(interpret, several_outputs_and_sharing) {
  interpret(
      "(tensor a (shape 4 4) f32) (let b (compute relu a))"
      "(let c (compute add (pair b b))) (output a) (output b) (output c)");
  for (int64_t k = 0; k < 16; k++) {
    double a = gs_tensor_get(&outputs[0], k), r = a > 0 ? a : 0;
    cr_assert_eq(a, gs_tensor_get(&inputs[0], k));
    cr_assert_eq(gs_tensor_get(&outputs[1], k), r);
    cr_assert_eq(gs_tensor_get(&outputs[2], k), 2 * r);
  }
}

static float
f32_at(const gs_tensor *t, const int64_t *index) {
  int64_t at = 0;
  for (uint32_t d = 0; d < t->rank; d++)
    at = at * t->dim[d] + index[d];
  return ((const float *)t->data)[at];
}

#define AT(t, ...) f32_at(&(t), (const int64_t[]){__VA_ARGS__})

Test(interpret, convolution) {
  interpret("(tensor filters (shape 8 4 3 3) f32)"
            "(tensor activations (shape 4 32 32) f32)"
            "(let conv (compute dotProd (cartProd (access filters 1)"
            " (squeeze (windows (access activations 0) (shape 4 3 3)"
            " (stride 1 1 1)) 0)))) (output conv)");
  cr_assert_eq(outputs[0].rank, 3);
  for (int64_t o = 0; o < 8; o++)
    for (int64_t x = 0; x < 30; x++)
      for (int64_t y = 0; y < 30; y++) {
        double sum = 0;
        for (int64_t c = 0; c < 4; c++)
          for (int64_t i = 0; i < 3; i++)
            for (int64_t j = 0; j < 3; j++)
              sum += (double)AT(inputs[0], o, c, i, j) *
                     AT(inputs[1], c, x + i, y + j);
        cr_assert_float_eq(AT(outputs[0], o, x, y), sum, 5e-6);
      }
}

/* NCHW, padded by 1, stride 2, dilation 2, groups of 2 channels */
Test(interpret, padded_strided_dilated_grouped_convolution) {
  interpret("(tensor x (shape 1 4 11 9) f32) (tensor w (shape 6 2 3 3) f32)"
            "(let p (pad (pad x zero 2 1 1) zero 3 1 1))"
            "(let lo (transpose (compute dotProd (cartProd"
            " (squeeze (windows (access (slice p 1 0 2) 1) (shape 2 3 3)"
            "  (stride 1 2 2) (dilation 1 2 2)) 1) (access (slice w 0 0 3) 1)))"
            " (list 0 3 1 2)))"
            "(let hi (transpose (compute dotProd (cartProd"
            " (squeeze (windows (access (slice p 1 2 4) 1) (shape 2 3 3)"
            "  (stride 1 2 2) (dilation 1 2 2)) 1) (access (slice w 0 3 6) 1)))"
            " (list 0 3 1 2)))"
            "(let y (concat lo hi 1)) (output y)");
  cr_assert_eq(outputs[0].dim[1], 6);
  cr_assert_eq(outputs[0].dim[2], 5);
  cr_assert_eq(outputs[0].dim[3], 4);
  for (int64_t o = 0; o < 6; o++)
    for (int64_t h = 0; h < 5; h++)
      for (int64_t v = 0; v < 4; v++) {
        double sum = 0;
        for (int64_t c = 0; c < 2; c++)
          for (int64_t i = 0; i < 3; i++)
            for (int64_t j = 0; j < 3; j++) {
              int64_t a = 2 * h + 2 * i - 1, b = 2 * v + 2 * j - 1;
              if (a >= 0 && a < 11 && b >= 0 && b < 9)
                sum += (double)AT(inputs[0], 0, o / 3 * 2 + c, a, b) *
                       AT(inputs[1], o, c, i, j);
            }
        cr_assert_float_eq(AT(outputs[0], 0, o, h, v), sum, 5e-6);
      }
}

/* Views larger than what is stored are read through: same values. */
Test(interpret, a_view_need_not_be_stored) {
  interpret("(tensor a (shape 300 300) f32)"
            "(let big (broadcast (insertAxis a 0) (shape 200 300 300)))"
            "(let y (compute reduceSum (access (windows (access big 3)"
            " (shape) (stride)) 2)))"
            "(let z (compute reduceSum (access (pair big big) 3)))"
            "(let s (compute reduceSum (access z 0)))"
            "(output y) (output s)");
  double row = 0, all = 0;
  for (int64_t k = 0; k < 300; k++)
    row += AT(inputs[0], 7, k);
  for (int64_t k = 0; k < 90000; k++)
    all += gs_tensor_get(&inputs[0], k);
  cr_expect_float_eq(AT(outputs[0], 3, 7), row, 1e-4);
  cr_expect_float_eq(AT(outputs[0], 199, 7), row, 1e-4);
  cr_expect_float_eq(gs_tensor_get(&outputs[1], 0), 400 * all, 1e-1);
}

/* --- calls ---------------------------------------------------------------- */

static gs_target *
shipped(const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/targets/%s.target", GLEN_SOURCE_DIR, name);
  gs_target *t = gs_target_parse_file(&ctx, path);
  cr_assert(t, "%s", faults());
  return t;
}

static void
same_as(const gs_target *target, const char *declarations, const char *a,
        const char *b) {
  bs_text text;
  gs_difference d;
  bs_text_init(&text, &heap);
  bs_putf(&text, "%s (let a %s) (let b %s) (output a) (output b)", declarations,
          a, b);
  cr_assert(run(parse(target, bs_text_str(&text))), "%s", faults());
  cr_expect(gs_tensor_compare(&outputs[0], &outputs[1], 0, 0, &d), "%s", a);
}

Test(interpret, calls_mean_their_semantics) {
  gs_target *array = shipped("systolic"), *pool = shipped("pool");
  same_as(array, "(tensor x (shape 5 7) f32) (tensor w (shape 7 3) f32)",
          "(systolicArray 7 3 (access x 1) (access w 0))",
          "(compute dotProd (cartProd (access x 1)"
          " (transpose (access w 1) (list 1 0))))");
  same_as(array, "(tensor x (shape 5 7) i8) (tensor w (shape 7 3) i8)",
          "(systolicArrayI8 7 3 (access x 1) (access w 0))",
          "(compute dotProd (cartProd (access x 1)"
          " (transpose (access w 1) (list 1 0))))");
  same_as(pool, "(tensor x (shape 32 6) f32)", "(maxPool2 (access x 1))",
          "(compute max (access (reshape x (shape 32 3 2) (shape)) 2))");
}

Test(interpret, calls_of_one_shape_share_a_meaning) {
  gs_target *array = shipped("systolic");
  same_as(array, "(tensor x (shape 4 8) f32) (tensor w (shape 8 4) f32)",
          "(compute add (access (transpose (concat"
          " (insertAxis (systolicArray 4 4 (access (slice x 1 0 4) 1)"
          "  (access (slice w 0 0 4) 0)) 2)"
          " (insertAxis (systolicArray 4 4 (access (slice x 1 4 8) 1)"
          "  (access (slice w 0 4 8) 0)) 2) 2) (list 0 1 2)) 2))",
          "(compute dotProd (cartProd (access x 1)"
          " (transpose (access w 1) (list 1 0))))");
}

/* --- refusals ------------------------------------------------------------- */

Test(interpret, too_much_is_refused_at_once) {
  gs_program *p = parse(NULL, "(tensor a (shape 1 1) f32)"
                              "(let y (compute reduceSum (access (broadcast a"
                              " (shape 131072 131072)) 1))) (output y)");
  cr_expect_not(run(p));
  cr_expect_str_eq(codes(), "too-large");
  p = parse(NULL, "(tensor a (shape 1) f32)"
                  "(let y (broadcast a (shape 4000000000))) (output y)");
  cr_expect_not(run(p));
  cr_expect_str_eq(codes(), "too-large");
  p = parse(NULL, "(tensor a (shape 1) f32) (let y (compute reduceSum (access"
                  " (broadcast a (shape 200000000)) 0))) (output y)");
  cr_expect_not(run(p));
  cr_expect_str_eq(codes(), "too-large");
}

/* Each array is of a size that alone is taken: one of wide elements, one that
 * is there twice when it is handed out, and several at a time. */
Test(interpret, too_much_memory_is_refused_at_once) {
  static const char *const programs[] = {
      "(tensor a (shape 1 1) f64)"
      "(let b (compute relu (broadcast a (shape 60000 10000))))"
      "(let y (compute reduceSum (access b 1))) (output y)",
      "(tensor a (shape 1 1) f32)"
      "(let y (compute relu (broadcast a (shape 60000 10000)))) (output y)",
      "(tensor a (shape 1 1) f32)"
      "(let b (compute relu (broadcast a (shape 40000 10000))))"
      "(let c (compute neg b)) (let d (compute neg c))"
      "(let y (compute reduceSum (access"
      " (compute add (pair b (compute add (pair c d)))) 1))) (output y)"};
  for (uint32_t k = 0; k < 3; k++) {
    cr_expect_not(run(parse(NULL, programs[k])));
    cr_expect_str_eq(codes(), "too-large");
    cr_expect(strstr(faults(), "bytes at a time"), "%s", faults());
  }
}

Test(interpret, inputs_must_have_the_declared_type) {
  gs_program *p = parse(NULL, "(tensor a (shape 2 3) f32) (output a)");
  gs_type type = {0, 2, GS_F32, {3, 2}};
  gs_tensor_init(&heap, &inputs[0], &type);
  cr_expect_not(gs_interpret(p, inputs, outputs));
  cr_expect_str_eq(codes(), "type-mismatch");
}

Test(interpret, memory_is_given_back) {
  size_t before;
  gs_program *p = parse(NULL, "(tensor a (shape 100 100) f32)"
                              "(let b (compute relu (compute neg a)))"
                              "(let c (compute dotProd (cartProd (access b 1)"
                              " (access a 1)))) (output c)");
  cr_assert(run(p));
  gs_tensor_done(&heap, &outputs[0]);
  before = heap.used;
  cr_assert(gs_interpret(p, inputs, outputs));
  gs_tensor_done(&heap, &outputs[0]);
  cr_expect_eq(heap.used, before);
}

enum { POINTS = SANITIZED ? 40 : 200 };

/* Out of memory at any point unwinds, and nothing is lost. */
static void
small_run(void *arg) {
  bs_heap *small = arg;
  bs_arena a;
  bs_diags d;
  bs_arena_init(&a, small);
  bs_diags_init(&d, small);
  gs_context c = {small, &a, bs_values_new(small), &d};
  static const char text[] =
      "(tensor x (shape 30 30) f32) (let y (compute dotProd (cartProd"
      " (access (compute relu x) 1) (windows (access x 1) (shape 30)"
      " (stride 1))))) (output y)";
  gs_program *p =
      gs_parse(&c, NULL, bs_source_add(&d, "p", text, sizeof text - 1));
  gs_type type = {0, 2, GS_F32, {30, 30}};
  gs_tensor in, out;
  gs_tensor_init(small, &in, &type);
  cr_assert(p && gs_interpret(p, &in, &out));
}

Test(interpret, out_of_memory) {
  bs_heap small;
  bs_heap_init(&small, NULL, 0);
  cr_assert(bs_protect(&small, small_run, &small));
  size_t peak = small.peak;
  bs_heap_done(&small);
  for (size_t limit = 1000; limit < peak; limit += peak / POINTS) {
    bs_heap_init(&small, NULL, limit);
    cr_assert_not(bs_protect(&small, small_run, &small));
    bs_heap_done(&small);
    cr_assert_eq(small.used, 0);
  }
}

/* ---- folds ---- */

/* NaN on either side stays; else the greater, or the less. */
Test(interpret, folds_of_special_values) {
  static const double special[] = {NAN, -INFINITY, INFINITY, -2.5, 0, 1};
  enum { EACH = sizeof special / sizeof *special };
  for (int k = 0; k < EACH * EACH; k++) {
    double a = special[k / EACH], b = special[k % EACH];
    bool none = isnan(a) || isnan(b);
    double wanted[GS_FOLD_COUNT] = {
        [GS_FOLD_ADD] = a + b,
        [GS_FOLD_SUB] = a - b,
        [GS_FOLD_MUL] = a * b,
        [GS_FOLD_DIV] = a / b,
        [GS_FOLD_MAX] = none ? NAN : fmax(a, b),
        [GS_FOLD_MIN] = none ? NAN : fmin(a, b),
    };
    for (gs_fold f = 0; f < GS_FOLD_COUNT; f++) {
      double found = gs_fold_real(f, a, b);
      cr_expect(f == GS_FOLD_NONE || found == wanted[f] ||
                    (isnan(found) && isnan(wanted[f])),
                "fold %d of %g and %g: %g, not %g", f, a, b, found, wanted[f]);
    }
  }
}

/* ---- memory ---- */

/* How many bytes a chain of so many copies of 32 KiB takes at most. */
static size_t
peak_of_chain(int links) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_put(&text, "(tensor a0 (shape 64 64) f64)");
  for (int k = 0; k < links; k++)
    bs_putf(&text, "(let a%d (materialize (transpose a%d (list 1 0))))", k + 1,
            k);
  bs_putf(&text, "(output a%d)", links);
  gs_program *p = parse(NULL, bs_text_str(&text));
  size_t before = heap.used;
  heap.peak = before;
  cr_assert(run(p), "%s", faults());
  return heap.peak - before;
}

Test(interpret, what_is_used_no_more_is_given_back) {
  size_t few = peak_of_chain(4), many = peak_of_chain(24);
  cr_expect_lt(many, few + 2 * 64 * 64 * sizeof(double), "%zu, then %zu bytes",
               few, many);
}
