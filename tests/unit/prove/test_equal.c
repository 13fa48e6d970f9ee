/* SPDX-License-Identifier: MIT */
/* test_equal.c - pairs of terms: by polynomials, by relations, and by both. */
#include "trail.h"
#include "glenside/interpret/interpret.h"

#define A  "(tensor a (shape 6 8) f32)"
#define B  "(tensor b (shape 8 4) f32)"
#define XS "(tensor xs (shape 2 3) f32)(tensor zero (shape 3) f32)"
#define LONG                                                                   \
  "(tensor xs (shape 2000 3) f32)(tensor zero (shape 3) f32)"                  \
  "(tensor w (shape 3 3) f32)"
#define MATMUL                                                                 \
  "(let l (compute dotProd (cartProd (access a 1) "                            \
  "(access (transpose b (list 1 0)) 1))))"

enum { ELEMENTS = 1, RELATIONS = 2, BOTH = 3 };

/* Equal; `by` says which argument alone shows it. */
static const struct {
  const char *name, *text;
  int by;
} equal[] = {
    {"matmul split along k",
     A B MATMUL
     "(let r (compute add (pair (compute dotProd (cartProd (access (slice a 1 "
     "0 3) 1) (access (transpose (slice b 0 0 3) (list 1 0)) 1))) (compute "
     "dotProd (cartProd (access (slice a 1 3 8) 1) (access (transpose (slice b "
     "0 3 8) (list 1 0)) 1))))))(output l)(output r)",
     BOTH},
    {"matmul by rows",
     A B MATMUL
     "(let w (access (transpose b (list 1 0)) 1))"
     "(let r (concat (compute dotProd (cartProd (access (slice a 0 0 1) 1) w)) "
     "(compute dotProd (cartProd (access (slice a 0 1 6) 1) w)) 0))"
     "(output l)(output r)",
     BOTH},
    {"matmul of padded operands",
     A B MATMUL
     "(let r (compute dotProd (cartProd (access (pad a zero 1 2 3) 1) (access "
     "(transpose (pad b zero 0 2 3) (list 1 0)) 1))))(output l)(output r)",
     BOTH},
    {"operands exchanged",
     A B MATMUL
     "(let r (transpose (compute dotProd (cartProd (access (transpose b (list "
     "1 0)) 1) (access a 1))) (list 1 0)))(output l)(output r)",
     BOTH},
    {"a product with itself",
     A "(let l (compute dotProd (cartProd (access a 1) (access a 1))))"
       "(let r (transpose l (list 1 0)))(output l)(output r)",
     BOTH},
    {"relu of blocks",
     A B MATMUL
     "(let ll (compute relu l))(let w (access (transpose b (list 1 0)) 1))"
     "(let r (concat (compute relu (compute dotProd (cartProd (access (slice a "
     "0 0 2) 1) w))) (compute relu (compute dotProd (cartProd (access (slice a "
     "0 2 6) 1) w))) 0))(output ll)(output r)",
     BOTH},
    {"a chain of products",
     A B "(tensor c (shape 4 3) f32)(let w (access (transpose b (list 1 0)) 1))"
         "(let v (access (transpose c (list 1 0)) 1))"
         "(let l (compute dotProd (cartProd (access (compute dotProd (cartProd "
         "(access a 1) w)) 1) v)))"
         "(let bc (compute dotProd (cartProd (access b 1) v)))"
         "(let r (compute dotProd (cartProd (access a 1) (access (transpose bc "
         "(list 1 0)) 1))))(output l)(output r)",
     BOTH},
    {"direct and im2col",
     "(tensor x (shape 1 3 7 6) f32)(tensor w (shape 4 3 3 2) f32)"
     "(let l (squeeze (compute dotProd (cartProd (windows (access x 1) (shape "
     "3 3 2) (stride 1 2 1)) (access w 1))) 1))"
     "(let p (materialize (flatten (windows (access x 1) (shape 3 3 2) (stride "
     "1 2 1)))))"
     "(let r (reshape (compute dotProd (cartProd p (flatten (access w 1)))) "
     "(shape 1 3 5 4) (shape)))(output l)(output r)",
     BOTH},
    {"pooling in stages",
     "(tensor x (shape 8 8) f32)"
     "(let l (compute reduceMax (windows (access x 0) (shape 4 4) (stride 4 "
     "4))))"
     "(let m (compute reduceMax (windows (access x 0) (shape 2 2) (stride 2 "
     "2))))"
     "(let r (compute reduceMax (windows (access m 0) (shape 2 2) (stride 2 "
     "2))))(output l)(output r)",
     BOTH},
    {"overlapping maxima",
     "(tensor x (shape 9) i8)(let l (compute reduceMax (access x 0)))"
     "(let r (compute reduceMax (access (compute reduceMax (windows (access x "
     "0) (shape 4) (stride 1))) 0)))(output l)(output r)",
     BOTH},
    {"neutral padding of a maximum",
     "(tensor x (shape 5) i32)(let l (compute reduceMax (access x 0)))"
     "(let r (compute reduceMax (access (pad x min 0 2 3) 0)))"
     "(output l)(output r)",
     BOTH},
    {"copies summed",
     "(tensor x (shape 5) f32)(let l (compute (scale 3) (compute reduceSum "
     "(access x 0))))(let r (compute reduceSum (access (broadcast (insertAxis "
     "x 0) (shape 3 5)) 0)))(output l)(output r)",
     BOTH},
    {"what is added is taken away",
     A "(let s (compute add (pair a a)))(let r (compute sub (pair s a)))"
       "(output a)(output r)",
     BOTH},
    {"softmax of a transpose",
     A "(let l (compute softmax (access (transpose a (list 1 0)) 0)))"
       "(let r (access (transpose (compute softmax (access a 0)) (list 1 0)) "
       "0))(output l)(output r)",
     BOTH},
    {"widened sums",
     "(tensor x (shape 4 6) i8)"
     "(let l (compute reduceSum (access (compute add (pair x x)) 1)))"
     "(let r (compute reduceSum (access (compute add (pair x x)) 1)))"
     "(let q (compute reduceSum (access (transpose (compute add (pair "
     "(transpose x (list 1 0)) (transpose x (list 1 0)))) (list 1 0)) 1)))"
     "(output r)(output q)",
     BOTH},
    {"a splat and a literal",
     A "(const c (shape 6 8) f32 2)"
       "(let l (compute mul (pair a c)))(let r (compute (scale 2) a))"
       "(output l)(output r)",
     0},
    {"clamps",
     A "(let l (compute relu (compute (clip -1 6) (compute (scale 2) "
       "a))))(let r (compute (scale 2) (compute (clip 0 3) a)))"
       "(output l)(output r)",
     ELEMENTS},
    {"softmax shifted",
     A "(let l (compute softmax (access (compute (offset 3) a) 1)))"
       "(let r (compute softmax (access a 1)))(output l)(output r)",
     ELEMENTS},
    {"sigmoid by exp",
     A "(let l (compute sigmoid a))(let r (compute recip (compute (offset 1) "
       "(compute exp (compute neg a)))))(output l)(output r)",
     ELEMENTS},
    {"a quotient",
     A "(let l (compute div (pair a (compute (scale 2) a))))"
       "(let r (compute mul (pair a (compute (scale 0.5) "
       "(compute recip a)))))(output l)(output r)",
     ELEMENTS},
    {"scans of few steps, written out",
     XS "(let l (scan zero xs (step s (each x) (compute add (pair s x)))))"
        "(let first (compute add (pair zero (squeeze (slice xs 0 0 1) 0))))"
        "(let second (compute add (pair first (squeeze (slice xs 0 1 2) 0))))"
        "(let r (concat (insertAxis first 0) (insertAxis second 0) 0))"
        "(output l)(output r)",
     BOTH},
    {"steps and sequences of scans",
     LONG "(let l (scan zero xs w (step s (each x) (with m) (compute add (pair "
          "(compute dotProd (cartProd (access m 1) (access s 0))) x)))))"
          "(let twice (compute neg (compute neg xs)))"
          "(let r (scan zero twice w (step s (each x) (with m) (compute add "
          "(pair x (compute dotProd (cartProd (access s 0) (access m 1))))))))"
          "(output l)(output r)",
     BOTH},
};

static pv_options
only(int by) {
  pv_options o;
  pv_defaults(&o);
  if (!(by & ELEMENTS))
    o.max_elements = 0;
  if (!(by & RELATIONS))
    o.max_operations = 0;
  return o;
}

Test(equal, is_proved_by_each_argument) {
  for (size_t k = 0; k < sizeof equal / sizeof equal[0]; k++)
    for (int by = ELEMENTS; by <= RELATIONS; by++) {
      if (!(equal[k].by & by))
        continue;
      fixture_start();
      pv_options o = only(by);
      const char *text = equal[k].text;
      bs_putf(trail_text(), "%s: ", equal[k].name);
      pv_answer a = trail_outputs(program_over(NULL, text), &o);
      cr_expect_eq(a.verdict, PV_PROVED, "%s by %d: %s", equal[k].name, by,
                   a.reason);
      fixture_stop();
    }
  trail_end("equal");
}

static const struct {
  const char *name, *text;
} unequal[] = {
    {"one element less",
     A "(let l (compute reduceMax (access a 1)))(let r (compute reduceMax "
       "(access (slice a 1 0 7) 1)))(output l)(output r)"},
    {"a transpose forgotten",
     "(tensor a (shape 4 4) i32)(let l (transpose a (list 1 0)))"
     "(output l)(output a)"},
    {"a concat of tuples",
     "(tensor a (shape 2 3) f64)(let x (access a 0))"
     "(let l (compute dotProd (concat x x 0)))"
     "(let r (compute add (pair (compute dotProd x) (compute dotProd x))))"
     "(output l)(output r)"},
    {"zero is above",
     A "(let l (compute reduceMax (access (pad a zero 1 0 1) 1)))"
       "(let r (compute reduceMax (access a 1)))(output l)(output r)"},
    {"wrapped before it widens",
     "(tensor x (shape 3) i8)(tensor y (shape 3) i8)"
     "(let l (compute reduceSum (access (compute add (pair x y)) 0)))"
     "(let r (compute add (pair (compute reduceSum (access x 0)) (compute "
     "reduceSum (access y 0)))))(output l)(output r)"},
    {"divisors that wrap",
     "(tensor x (shape 2) i8)(tensor y (shape 2) i8)(tensor z (shape 2) i8)"
     "(let l (compute div (pair (compute div (pair x y)) z)))"
     "(let r (compute div (pair x (compute mul (pair y z)))))"
     "(output l)(output r)"},
    {"the wrong row of a large product",
     "(tensor a (shape 96 80) f32)(tensor b (shape 70 80) f32)"
     "(let l (compute dotProd (cartProd (access a 1) (access b 1))))"
     "(let s (concat (slice a 0 1 96) (slice a 0 0 1) 0))"
     "(let r (compute dotProd (cartProd (access s 1) (access b 1))))"
     "(output l)(output r)"},
    {"an operator of zeros",
     "(tensor x (shape 2 3) f64)(let z (slice (pad x zero 0 0 1) 0 2 3))"
     "(let l (compute sigmoid z))(output l)(output z)"},
    {"a number", A "(let l (compute (offset 1) a))(let r (compute (offset 2) "
                   "a))(output l)(output r)"},
    {"another step",
     XS "(let l (scan zero xs (step s (each x) (compute add (pair s x)))))"
        "(let r (scan zero xs (step s (each x) (compute max (pair s x)))))"
        "(output l)(output r)"},
    {"a state before and after a step",
     XS "(let l (scan zero xs (step s (each x) (compute add (pair s x)))))"
        "(let r (concat (insertAxis zero 0) (slice l 0 0 1) 0))"
        "(output l)(output r)"},
};

/* The interpreter gives these values for the inputs of the answer. */
static void
check_counterexample(const gs_program *p, const pv_answer *a) {
  gs_tensor in[8], out[2];
  cr_assert_leq(p->inputs.len, 8);
  for (uint32_t k = 0; k < p->inputs.len; k++) {
    bool found = false;
    for (uint32_t i = 0; i < a->n_inputs; i++)
      if (!strcmp(a->inputs[i].name, p->inputs.data[k].name)) {
        in[k] = a->inputs[i].tensor;
        found = true;
      }
    cr_assert(found);
  }
  cr_assert(gs_interpret(p, in, out));
  int64_t at = 0;
  for (uint32_t d = 0; d < a->rank; d++)
    at = at * out[0].dim[d] + a->index[d];
  cr_expect_eq(gs_tensor_get(&out[0], at), a->left);
  cr_expect_eq(gs_tensor_get(&out[1], at), a->right);
  cr_expect_neq(a->left, a->right);
}

Test(equal, refutations_hold) {
  for (size_t k = 0; k < sizeof unequal / sizeof unequal[0]; k++) {
    fixture_start();
    pv_options o;
    pv_defaults(&o);
    gs_program *p = program_over(NULL, unequal[k].text);
    bs_putf(trail_text(), "%s: ", unequal[k].name);
    pv_answer a = trail_outputs(p, &o);
    cr_expect_eq(a.verdict, PV_REFUTED, "%s: %s", unequal[k].name, a.reason);
    if (a.verdict == PV_REFUTED)
      check_counterexample(p, &a);
    fixture_stop();
  }
  trail_end("unequal");
}

Test(equal, no_argument_alone_proves_what_differs) {
  for (size_t k = 0; k < sizeof unequal / sizeof unequal[0]; k++)
    for (int by = ELEMENTS; by <= RELATIONS; by++) {
      fixture_start();
      pv_options o = only(by);
      o.max_run = 0;
      bs_putf(trail_text(), "%s: ", unequal[k].name);
      pv_answer a = trail_outputs(program_over(NULL, unequal[k].text), &o);
      cr_expect_eq(a.verdict, PV_UNKNOWN, "%s", unequal[k].name);
      fixture_stop();
    }
  trail_end("unequal-alone");
}

/* It is not written out, and what stands for it cannot be run. */
Test(equal, nothing_else_is_said_of_a_long_scan, .init = fixture_start,
     .fini = fixture_stop) {
  pv_options o;
  pv_defaults(&o);
  pv_answer a = compare_outputs(
      program_over(NULL, LONG "(let l (scan zero xs (step s (each x) (compute "
                              "add (pair s x)))))(let r (scan zero xs (step s "
                              "(each x) (compute add (pair x (compute tanh s))"
                              "))))(output l)(output r)"),
      &o);
  cr_assert_eq(a.verdict, PV_UNKNOWN, "%s", a.reason);
}

Test(equal, types_decide_first, .init = fixture_start, .fini = fixture_stop) {
  pv_options o;
  pv_defaults(&o);
  pv_answer a = compare_outputs(
      program_over(NULL, A "(let l (access a 1))(output a)(output l)"), &o);
  cr_assert_eq(a.verdict, PV_REFUTED);
  cr_assert_eq(a.method, PV_BY_TYPES);
}

Test(equal, what_is_only_nearly_so_is_tested, .init = fixture_start,
     .fini = fixture_stop) {
  pv_options o;
  pv_defaults(&o);
  pv_answer a = compare_outputs(
      program_over(NULL,
                   A "(let l (compute tanh (compute neg a)))(let r "
                     "(compute neg (compute tanh a)))(output l)(output r)"),
      &o);
  cr_assert_eq(a.verdict, PV_TESTED);
  cr_assert_geq(a.runs, o.runs);
}

#define LAYER                                                                  \
  "(tensor x (shape 1 64 56 56) f32)(tensor w (shape 64 64 3 3) f32)"

Test(equal, a_layer_of_a_network, .init = fixture_start, .fini = fixture_stop) {
  pv_options o;
  pv_defaults(&o);
  gs_program *p = program_over(
      NULL,
      LAYER "(let y (transpose (squeeze (compute dotProd (cartProd (windows "
            "(access x 1) (shape 64 3 3) (stride 1 1 1)) (access w 1))) 1) "
            "(list 0 3 1 2)))(output y)");
  gs_program *q = program_over(
      NULL,
      LAYER "(let m (materialize (flatten (windows (access x 1) (shape 64 3 3) "
            "(stride 1 1 1)))))(let r (compute dotProd (cartProd m (flatten "
            "(access w 1)))))(let y (transpose (reshape r (shape 1 54 54 64) "
            "(shape)) (list 0 3 1 2)))(output y)");
  gs_program *bad = program_over(
      NULL,
      LAYER "(let m (flatten (windows (access x 1) (shape 64 3 3) "
            "(stride 1 1 1))))(let r (compute dotProd (cartProd m (flatten "
            "(access w 1)))))(let y (transpose (reshape r (shape 1 54 54 64) "
            "(shape)) (list 0 3 2 1)))(output y)");
  pv_answer a;
  pv_equal_programs(&ctx, p, q, &o, &a);
  cr_expect_eq(a.verdict, PV_PROVED, "%s", a.reason);
  cr_expect_eq(a.method, PV_BY_RELATIONS);
  pv_equal_programs(&ctx, p, bad, &o, &a);
  cr_expect_eq(a.verdict, PV_UNKNOWN, "%s", a.reason);
}

/* Results of one type do not make programs comparable: their inputs must be. */
Test(equal, inputs_of_one_name_have_one_type, .init = fixture_start,
     .fini = fixture_stop) {
  static const char *const inputs[] = {"(shape 4) f32", "(shape 2 2) f32",
                                       "(shape 5) f32", "(shape 4) i8"};
  pv_options o;
  pv_defaults(&o);
  gs_program *p[4];
  for (uint32_t k = 0; k < 4; k++)
    p[k] = program_over(
        NULL, bs_arena_printf(&arena,
                              "(tensor a %s)(let y (compute reduceMax (access "
                              "(compute (cast f32) a) 0)))(output y)",
                              inputs[k]));
  for (uint32_t i = 0; i < 4; i++)
    for (uint32_t k = 0; k < 4; k++) {
      pv_answer a;
      pv_equal_programs(&ctx, p[i], p[k], &o, &a);
      cr_expect_eq(a.verdict, i == k ? PV_PROVED : PV_REFUTED, "%s and %s: %s",
                   inputs[i], inputs[k], a.reason);
      cr_expect(i == k || a.method == PV_BY_TYPES);
    }
}

/* A product cut into blocks, with relu on every block. */
static const char *
blocked(int n, int t) {
  bs_text out;
  bs_text_init(&out, &heap);
  bs_putf(&out, "(tensor a (shape %d %d) f32)(tensor b (shape %d %d) f32)", n,
          n, n, n);
  for (int i = 0; i < n / t; i++)
    for (int j = 0; j < n / t; j++)
      bs_putf(&out,
              "(let a%d-%d (access (slice (slice a 0 %d %d) 1 %d %d) 1))"
              "(let b%d-%d (access (slice (slice b 0 %d %d) 1 %d %d) 1))",
              i, j, i * t, i * t + t, j * t, j * t + t, i, j, i * t, i * t + t,
              j * t, j * t + t);
  for (int i = 0; i < n / t; i++) {
    for (int j = 0; j < n / t; j++) {
      bs_putf(&out, "(let s%d-%d-0 (compute dotProd (cartProd a%d-0 b%d-0)))",
              i, j, i, j);
      for (int k = 1; k < n / t; k++)
        bs_putf(&out,
                "(let s%d-%d-%d (compute add (pair s%d-%d-%d (compute dotProd "
                "(cartProd a%d-%d b%d-%d)))))",
                i, j, k, i, j, k - 1, i, k, j, k);
      bs_putf(&out, "(let c%d-%d (compute relu s%d-%d-%d))", i, j, i, j,
              n / t - 1);
    }
    bs_putf(&out, "(let r%d (concat", i);
    for (int j = 0; j < n / t; j++)
      bs_putf(&out, " c%d-%d", i, j);
    bs_put(&out, " 1))");
  }
  bs_put(&out, "(let y (concat");
  for (int i = 0; i < n / t; i++)
    bs_putf(&out, " r%d", i);
  bs_put(&out, " 0))(output y)");
  return bs_text_str(&out);
}

Test(equal, a_product_in_blocks, .init = fixture_start, .fini = fixture_stop) {
  pv_options o;
  pv_defaults(&o);
  gs_program *p = program_over(
      NULL, "(tensor a (shape 96 96) f32)(tensor b (shape 96 96) f32)"
            "(let y (compute relu (compute dotProd (cartProd (access a 1) "
            "(access b 1)))))(output y)");
  gs_program *q = program_over(NULL, blocked(96, 16));
  pv_answer a;
  o.max_elements = 0;
  pv_equal_programs(&ctx, p, q, &o, &a);
  cr_expect_eq(a.verdict, PV_PROVED, "%s", a.reason);
}

static const char array[] =
    "(target t)(instr array \"b rows meet r x c weights\" (params r c)"
    " (operands (a0 ((b) (r)) f32) (a1 (() (r c)) f32))"
    " (result ((b c) ()) f32)"
    " (semantics (compute dotProd (cartProd a0 (access (transpose a1 (list 1 "
    "0)) 1)))) (where (and (> r 0) (> c 0))) (cost (cycles 1))"
    " (emit \"array({a0}, {a1}, {result});\"))";

Test(equal, a_call_is_its_meaning, .init = fixture_start,
     .fini = fixture_stop) {
  pv_options o;
  pv_defaults(&o);
  gs_program *p = program_over(
      target_of(array), A B MATMUL
      "(let r (array 8 4 (access a 1) (access b 0)))(output l)(output r)");
  pv_answer a = compare_outputs(p, &o);
  cr_assert_eq(a.verdict, PV_PROVED, "%s", a.reason);
}

Test(equal, programs_are_joined_by_names, .init = fixture_start,
     .fini = fixture_stop) {
  pv_options o;
  pv_defaults(&o);
  pv_answer a;
  gs_program *p = program_over(NULL, "(const k (shape 2) i8 1 2)(tensor x "
                                     "(shape 2) i8)(let y (compute add (pair x "
                                     "k)))(output y)(output x)");
  gs_program *q = program_over(NULL, "(const k (shape 2) i8 1 3)(tensor x "
                                     "(shape 2) i8)(let y (compute add (pair x "
                                     "k)))(output y)(output x)");
  gs_program *other = program_over(NULL, "(tensor x (shape 3) i8)(let y (slice "
                                         "x 0 0 2))(output y)(output x)");
  pv_equal_programs(&ctx, p, p, &o, &a);
  cr_expect_eq(a.verdict, PV_PROVED);
  pv_equal_programs(&ctx, p, q, &o, &a);
  cr_expect_eq(a.verdict, PV_REFUTED);
  cr_expect_eq(a.output, 0);
  cr_expect_eq(a.index[0], 1);
  pv_equal_programs(&ctx, p, other, &o, &a);
  cr_expect_eq(a.verdict, PV_REFUTED);
  cr_expect_eq(a.method, PV_BY_TYPES);
}

Test(equal, bounds_end_in_unknown, .init = fixture_start,
     .fini = fixture_stop) {
  gs_program *p = program_over(NULL, equal[0].text);
  pv_options o;
  for (uint64_t bound = 1; bound < 3000; bound += 97) {
    pv_defaults(&o);
    o.max_run = 0;
    o.max_elements = 0;
    o.max_operations = bound;
    cr_expect_eq(compare_outputs(p, &o).verdict, PV_UNKNOWN);
    o.max_elements = 100000;
    o.max_work = bound;
    cr_expect_eq(compare_outputs(p, &o).verdict, PV_UNKNOWN);
  }
}
