/* SPDX-License-Identifier: MIT */
/* test_constructs.c - every construct of the language, compiled and run. */
#include "run.h"

TestSuite(constructs, .init = fixture_start, .fini = fixture_stop);

#define A         "(tensor a (shape 4 6) f32)"
#define Q         "(tensor q (shape 4 6) i8)"
#define OUT(term) "(let out " term ")(output out)"

static const char *const views[] = {
    A OUT("(access a 1)"),
    A OUT("(transpose (access a 1) (list 1 0))"),
    A OUT("(cartProd (access a 1) (access (slice a 0 1 3) 1))"),
    A OUT("(pair a a)"),
    A OUT("(windows (access a 0) (shape 2 3) (stride 1 2))"),
    A OUT("(windows (access a 1) (shape 2) (stride 2) (dilation 3))"),
    A OUT("(slice a 1 2 5)"),
    A OUT("(concat a (slice a 0 1 2) (slice a 0 0 3) 0)"),
    A OUT("(concat (access a 1) (access a 1) 1)"),
    A OUT("(pad (pad a zero 0 1 2) zero 1 3 0)"),
    A OUT("(pad (pad a min 0 1 2) edge 1 3 1)"),
    Q OUT("(pad (pad q min 0 1 2) edge 1 3 1)"),
    A OUT("(squeeze (insertAxis (insertAxis a 1) 0) 2)"),
    A OUT("(broadcast (insertAxis a 1) (shape 4 3 6))"),
    A OUT("(flatten (access (insertAxis a 2) 1))"),
    A OUT("(reshape (access a 2) (shape 3 2 4) (shape))"),
    A OUT("(reshape (access a 1) (shape 2 2) (shape 3 2))"),
    A OUT("(repeat (repeat a 0 3) 1 2)"),
    A OUT("(repeat (pad (flatten (access a 0)) edge 0 2 3) 0 2)"),
    A OUT("(slice (reshape (pad a zero 1 1 1) (shape 8 4) (shape)) 0 1 7)"),
    A OUT("(materialize (flatten (windows (access a 0) (shape 2 2) (stride 1 "
          "1))))"),
    A OUT("(transpose (materialize (pad a edge 0 1 1)) (list 1 0))"),
    ("(const c (shape 2 3) bf16 1 2 3 -4.5 inf nan)(tensor z (shape) f32)"
     "(let d (transpose c (list 1 0)))(output d)(output c)(output z)"),
};

Test(constructs, views) {
  check_all(gs_target_default(&ctx), views, COUNT(views), (po_options){0});
}

Test(constructs, views_in_many_pieces) {
  check_all(gs_target_default(&ctx), views, COUNT(views),
            (po_options){.max_pieces = 1});
}

static const char *const computations[] = {
    A OUT("(compute reduceSum (access a 1))"),
    A OUT("(compute reduceSum (access a 0))"),
    A OUT("(compute reduceMean (access a 1))"),
    Q OUT("(compute reduceMean (access q 1))"),
    A OUT("(compute reduceMax (pad (access a 1) min 1 1 1))"),
    Q OUT("(compute reduceMin (pad (access q 1) min 1 1 1))"),
    A OUT("(compute reduceProd (access a 1))"),
    Q OUT("(compute reduceProd (access q 1))"),
    A OUT("(compute dotProd (cartProd (access a 1) (access a 1)))"),
    Q OUT("(compute dotProd (cartProd (access q 1) (access q 1)))"),
    A OUT("(compute dotProd (access (pad a zero 1 1 1) 0))"),
    "(tensor a (shape 2 12 3) f32)" OUT("(compute dotProd (access a 1))"),
    "(tensor a (shape 2 12 3) i8)" OUT("(compute dotProd (access a 1))"),
    "(tensor a (shape 2 12 3) bf16)" OUT("(compute dotProd (access a 1))"),
    A OUT("(compute add (access a 0))"),
    A OUT("(compute sub (access a 1))"),
    Q OUT("(compute sub (access q 0))"),
    "(tensor a (shape 12 3) i8)" OUT("(compute sub (access a 0))"),
    "(tensor a (shape 12 3) i8)" OUT("(compute div (access (compute (offset "
                                     "3) a) 0))"),
    "(tensor a (shape 12 3) f64)" OUT("(compute mul (access a 0))"),
    "(tensor a (shape 12 3) bf16)" OUT("(compute add (access a 0))"),
    "(tensor a (shape 12 3) f32)" OUT("(compute min (access a 0))"),
    A OUT("(compute div (pair a (compute (offset 2) a)))"),
    A OUT("(compute max (pair a (compute neg a)))"),
    A OUT("(compute mul (pair (pad a zero 0 1 0) (pad a edge 0 0 1)))"),
    A OUT("(compute softmax (access a 1))"),
    A OUT("(compute softmax (access a 0))"),
    A OUT("(compute softmax (pad (access a 1) min 1 0 2))"),
    "(tensor a (shape 5 4) bf16)" OUT("(compute softmax (access a 1))"),
    "(tensor a (shape 5 4) f64)" OUT("(compute softmax (access a 1))"),
    A OUT("(compute select (concat (pair a a) (access (insertAxis (compute "
          "(scale 0.1) a) 2) 2) 2))"),
    "(tensor t (shape 3 8) f32)(tensor i (shape 3 8) f32)" OUT(
        "(compute gather (pair (access t 1) (access (compute (scale 9) i) "
        "1)))"),
    "(tensor t (shape 2 8) u8)(tensor i (shape 2 8) u8)" OUT(
        "(compute gather (pair (access (transpose t (list 1 0)) 1) (access "
        "(transpose i (list 1 0)) 1)))"),
    "(tensor t (shape 3 4) bf16)(tensor i (shape 3 4) bf16)" OUT(
        "(compute gather (pair (pad (access t 1) zero 1 1 1) (pad (access i "
        "1) edge 1 1 1)))"),
    "(tensor t (shape 3 8) f32)(tensor i (shape 3 2) f32)" OUT(
        "(compute (lookup 8) (concat (access t 1) (access (compute (scale 9) "
        "i) 1) 1))"),
    "(tensor t (shape 8 3) i32)(tensor i (shape 5) i32)" OUT(
        "(compute (lookup 8) (concat (access (transpose t (list 1 0)) 1) "
        "(access (broadcast (insertAxis i 0) (shape 3 5)) 1) 1))"),
    "(tensor t (shape 3 4) u8)(tensor i (shape 3 4) u8)" OUT(
        "(compute (lookup 6) (concat (pad (access t 1) edge 1 1 1) (pad "
        "(access i 1) zero 1 0 3) 1))"),
    A OUT("(compute (lookup 2) (access a 1))"),
    A OUT("(compute round (compute (scale 3) a))"),
    A OUT("(compute atan a)"),
};

Test(constructs, computations) {
  check_all(gs_target_default(&ctx), computations, COUNT(computations),
            (po_options){0});
}

Test(constructs, computations_in_strict_order) {
  check_all(gs_target_default(&ctx), computations, COUNT(computations),
            (po_options){.strict_fp = true, .max_pieces = 3});
}

/* Every elementwise operator on every dtype that it is defined on. */
Test(constructs, elementwise) {
  const char *texts[GS_COMPUTE_COUNT * GS_DTYPE_COUNT];
  uint32_t n = 0;
  for (int op = 0; op < GS_COMPUTE_COUNT; op++)
    for (int dtype = 0; dtype < GS_DTYPE_COUNT; dtype++) {
      const gs_compute_info *info = &gs_compute_table[op];
      if (info->kind != GS_ELEMENTWISE || !gs_compute_takes(op, dtype))
        continue;
      const char *o = op == GS_C_CLIP     ? "(clip 1 3)"
                      : op == GS_C_SCALE  ? "(scale 77)"
                      : op == GS_C_OFFSET ? "(offset -90)"
                                          : info->name;
      texts[n++] = bs_arena_printf(
          &arena, "(tensor a (shape 40) %s)" OUT("(compute %s a)"),
          gs_dtype_table[dtype].name, o);
    }
  check_all(gs_target_default(&ctx), texts, n, (po_options){0});
}

Test(constructs, casts) {
  const char *texts[GS_DTYPE_COUNT * GS_DTYPE_COUNT];
  uint32_t n = 0;
  for (int from = 0; from < GS_DTYPE_COUNT; from++)
    for (int to = 0; to < GS_DTYPE_COUNT; to++)
      texts[n++] = bs_arena_printf(
          &arena, "(tensor a (shape 40) %s)" OUT("(compute (cast %s) %s)"),
          gs_dtype_table[from].name, gs_dtype_table[to].name,
          gs_compute_takes(GS_C_SCALE, (gs_dtype)from)
              ? "(compute (scale 100) a)"
              : "a");
  check_all(gs_target_default(&ctx), texts, n, (po_options){0});
}

static const char *const programs[] = {
    /* convolutions: padded, strided, dilated, grouped */
    "(tensor x (shape 2 3 7 6) f32)(tensor w (shape 4 3 3 3) f32)" OUT(
        "(transpose (squeeze (compute dotProd (cartProd (windows (access (pad "
        "(pad x zero 2 1 1) zero 3 1 1) 1) (shape 3 3 3) (stride 1 2 2)) "
        "(access w 1))) 1) (list 0 3 1 2))"),
    "(tensor x (shape 9 9) i8)(tensor w (shape 5 3 3) i8)" OUT(
        "(compute dotProd (cartProd (windows (access x 0) (shape 3 3) (stride "
        "1 1) (dilation 2 3)) (access w 1)))"),
    /* im2col */
    "(tensor x (shape 3 7 6) f32)(tensor w (shape 4 3 3 3) f32)" OUT(
        "(reshape (compute dotProd (cartProd (materialize (flatten (windows "
        "(access x 0) (shape 3 3 3) (stride 1 1 1)))) (flatten (access w "
        "1)))) (shape 5 4 4) (shape))"),
    /* results shared, shown twice, and read through a home */
    "(tensor a (shape 4 6) f32)(let e (compute exp a))"
    "(let s (compute reduceSum (access e 1)))"
    "(let d (compute div (pair e (broadcast (insertAxis s 1) (shape 4 6)))))"
    "(let t (transpose e (list 1 0)))(let two (concat d d 1))"
    "(output t)(output two)(output s)",
    /* an output that is an input, twice */
    "(tensor a (shape 4 6) i32)(let b a)(let c (slice a 0 1 2))"
    "(output a)(output b)(output c)",
    /* blocks */
    "(tensor a (shape 8 8) i32)(tensor b (shape 8 8) i32)"
    "(let a0 (slice a 1 0 4))(let a1 (slice a 1 4 8))"
    "(let bt (transpose b (list 1 0)))"
    "(let b0 (slice bt 1 0 4))(let b1 (slice bt 1 4 8))" OUT(
        "(compute add (pair (compute dotProd (cartProd (access a0 1) (access "
        "b0 1))) (compute dotProd (cartProd (access a1 1) (access b1 1)))))"),
    /* scalars */
    "(tensor a (shape) f64)(const two (shape) f64 2)" OUT(
        "(compute mul (pair a two))"),
};

Test(constructs, programs) {
  check_all(gs_target_default(&ctx), programs, COUNT(programs),
            (po_options){0});
  check_all(gs_target_default(&ctx), programs, COUNT(programs),
            (po_options){.strict_fp = true, .max_pieces = 2});
}

static const char target_text[] =
    "(target test)"
    "(instr mm (params) (operands (x ((b) (r)) f32) (y ((r c) ()) f32))"
    " (result ((b c) ()) f32)"
    " (semantics (compute dotProd (cartProd x (access (transpose y (list 1 0)) "
    "1)))) (cost (cycles 1)) (emit \"mm({r}, {c}, {b}, {result}, "
    "{result.stride.0}, {result.stride.1}, {x}, {x.stride.0}, {x.stride.1}, "
    "{y}, {y.stride.0}, {y.stride.1});\"))"
    "(instr dense (params r) (operands (x ((b) (r)) f32) (y ((r c) ()) f32))"
    " (result ((b c) ()) f32)"
    " (semantics (compute dotProd (cartProd x (access (transpose y (list 1 0)) "
    "1)))) (cost (cycles 1)) (emit \"{ const long cols = {c}; mm({r}, cols, "
    "{b}, {result}, cols, 1, {x}, {r}, 1, {y}, cols, 1); }\"))"
    "(instr tiled (params) (operands (x ((b) (r)) f32) (y ((r c) ()) f32))"
    " (result ((b c) ()) f32)"
    " (semantics (compute dotProd (cartProd x (access (transpose y (list 1 0)) "
    "1)))) (layout y (pad (transpose y (list 1 0)) zero 1 0 2))"
    " (cost (cycles 1))"
    " (emit \"mm({r}, {c}, {b}, {result}, {c}, 1, {x}, {r}, 1, {y}, 1, {r} + "
    "2);\"))";

static const char prelude[] =
    "static inline void\n"
    "mm(long r, long c, long b, float *o, long oi, long oj, const float *x,\n"
    "   long xi, long xk, const float *y, long yk, long yj) {\n"
    "  for (long i = 0; i < b; i++)\n"
    "    for (long j = 0; j < c; j++) {\n"
    "      float sum = 0;\n"
    "      for (long k = 0; k < r; k++)\n"
    "        sum += x[i * xi + k * xk] * y[k * yk + j * yj];\n"
    "      o[i * oi + j * oj] = sum;\n"
    "    }\n"
    "}\n";

#define AB "(tensor a (shape 8 6) f32)(tensor b (shape 6 8) f32)"

static const char *const calls[] = {
    AB OUT("(mm (access a 1) b)"),
    AB OUT("(transpose (mm (access a 1) b) (list 1 0))"),
    AB OUT("(mm (access (transpose b (list 1 0)) 1) (transpose a (list 1 "
           "0)))"),
    AB OUT("(concat (mm (access (slice a 0 0 3) 1) b) (mm (access (slice a 0 "
           "3 8) 1) b) 0)"),
    AB OUT("(concat (mm (access a 1) (slice b 1 0 3)) (mm (access a 1) (slice "
           "b 1 3 8)) 1)"),
    AB OUT("(concat (dense 6 (access a 1) (slice b 1 0 3)) (dense 6 (access a "
           "1) (slice b 1 3 8)) 1)"),
    AB OUT("(dense 6 (access (pad (slice a 1 0 5) zero 1 0 1) 1) b)"),
    AB OUT("(tiled (access a 1) b)"),
    AB OUT("(tiled (access (compute relu a) 1) (slice b 1 0 3))"),
    AB OUT("(compute add (pair (mm (access (slice a 1 0 2) 1) (slice b 0 0 "
           "2)) (mm (access (slice a 1 2 6) 1) (slice b 0 2 6))))"),
    AB OUT("(mm (access (broadcast (slice a 0 2 3) (shape 5 6)) 1) (repeat b "
           "1 2))"),
};

Test(constructs, calls) {
  gs_target *target = target_of(target_text);
  bs_push(&heap, &target->preludes, prelude);
  check_all(target, calls, COUNT(calls), (po_options){0});
}
