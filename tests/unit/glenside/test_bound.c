/* SPDX-License-Identifier: MIT */
/* The bounds of what rounding changes: two programs that are equal but for it
 * stay within them, where they are ill-conditioned too, and the bounds stay
 * small where they are not. */
#include "fixture.h"
#include "glenside/interpret/interpret.h"
#include <math.h>
#include <stdio.h>

TestSuite(bound, .init = start_listing, .fini = fixture_stop);

enum { MOST = 8 };

static gs_tensor inputs[MOST], outputs[MOST], bounds[MOST];

static void
interpret(const char *text) {
  gs_program *p =
      gs_parse(&ctx, NULL, bs_source_add(&diags, "p", text, strlen(text)));
  cr_assert(p, "%s", faults());
  for (uint32_t k = 0; k < p->inputs.len; k++) {
    gs_type type;
    gs_type_at(p, p->inputs.data[k].term, &type);
    gs_tensor_init(&heap, &inputs[k], &type);
    gs_tensor_fill(&inputs[k], 5, p->inputs.data[k].name);
  }
  cr_assert(gs_interpret_bounded(p, inputs, outputs, bounds), "%s", faults());
}

static double
largest(const gs_tensor *t) {
  double most = 0;
  for (int64_t i = 0; i < t->elements; i++)
    most = fmax(most, fabs(gs_tensor_get(t, i)));
  return most;
}

/* How many elements of the two outputs only the bounds excuse. */
static int64_t
excused(const char *text) {
  gs_difference d;
  interpret(text);
  cr_expect(gs_tensor_compare_within(&outputs[0], &outputs[1], 1e-6, 1e-6,
                                     &bounds[0], &bounds[1], &d),
            "%s: %lld differ, the first is %g and %g", text, (long long)d.count,
            d.a, d.b);
  return d.rounding;
}

#define MATRICES "(tensor x (shape 60 70) f32) (tensor y (shape 60 70) f32)"

Test(bound, orders_of_sums_and_factors) {
  excused(MATRICES "(let a (compute reduceSum (access x 0)))"
                   "(let b (compute reduceSum (access (compute reduceSum"
                   " (access (transpose x (list 1 0)) 1)) 0)))"
                   "(output a) (output b)");
  excused(
      MATRICES
      "(let a (compute mul (pair x (compute div (pair y (compute (offset 2) "
      "x))))))"
      "(let b (compute div (pair (compute mul (pair x y)) (compute (offset "
      "2) x))))"
      "(output a) (output b)");
  excused(MATRICES "(let a (compute softmax (access x 1)))"
                   "(let e (compute exp x))"
                   "(let s (compute reduceSum (access e 1)))"
                   "(let b (access (compute div (pair e (broadcast (insertAxis"
                   " s 1) (shape 60 70)))) 1))"
                   "(output a) (output b)");
}

/* An exponential of a sum, and the product of two: each is rounded once more on
 * one side, by at most half a unit in the last place. */
Test(bound, what_is_stored_in_sixteen_bits) {
  static const char *const dtypes[] = {"bf16", "f16"};
  char text[500];
  for (uint32_t k = 0; k < 2; k++) {
    snprintf(text, sizeof text,
             "(tensor x (shape 60 70) %s) (tensor y (shape 60 70) %s)"
             "(let a (compute exp (compute add (pair x y))))"
             "(let b (compute mul (pair (compute exp x) (compute exp y))))"
             "(output a) (output b)",
             dtypes[k], dtypes[k]);
    cr_expect_gt(excused(text), 0);
    double most = largest(&bounds[0]) + largest(&bounds[1]);
    cr_expect_lt(most, k ? 0.05 : 0.4, "%g", most);
  }
}

/* x - y cancels: 1 / (x/3 - y/3) and 3 / (x - y). */
Test(bound, quotients_by_what_is_nearly_zero) {
  int64_t n =
      excused(MATRICES
              "(let t (compute (scale 0.333333333) x))"
              "(let u (compute (scale 0.333333333) y))"
              "(let a (compute recip (compute (offset 1e-5) (compute sub (pair "
              "t u)))))"
              "(let d (compute (scale 0.333333333) (compute sub (pair x y))))"
              "(let b (compute recip (compute (offset 1e-5) d)))"
              "(output a) (output b)");
  cr_expect_gt(n, 0);
}

/* An edge of floor, of a condition, of a table's entry. */
Test(bound, jumps) {
  const char *steps =
      "(const x (shape 3) f32 0.1 0.3 0.7)"
      "(let tenth (compute (scale 10) x))"
      "(let a (compute floor tenth))"
      "(let zero (compute (offset -3) tenth))"
      "(let b (compute select (concat (pair zero x)"
      " (access (insertAxis (compute (offset 100) x) 1) 1) 1)))"
      "(let c (compute gather (pair (access (compute (scale 7) x) 0)"
      " (access (compute (offset -1) tenth) 0))))"
      "(let i (compute (cast i32) tenth))"
      "(let l (compute (lookup 3) (concat (access (compute (scale 7) x) 0)"
      " (access (compute (offset -1) tenth) 0) 0)))"
      "(output a) (output b) (output c) (output i) (output l)";
  interpret(steps);
  for (uint32_t k = 0; k < 5; k++)
    cr_expect_geq(largest(&bounds[k]), 1, "output %u", k);
}

Test(bound, what_is_exact_has_none) {
  interpret("(tensor i (shape 9 9) i8) (tensor x (shape 9 9) f32)"
            "(let a (compute dotProd (cartProd (access i 1) (access i 1))))"
            "(let b (pad (transpose x (list 1 0)) edge 0 1 1))"
            "(let c (compute (cast i8) (compute floor x)))"
            "(output a) (output b) (output c)");
  for (uint32_t k = 0; k < 3; k++)
    cr_expect_eq(largest(&bounds[k]), 0, "output %u", k);
}

Test(bound, well_conditioned_results_have_small_ones) {
  interpret(MATRICES
            "(let p (compute dotProd (cartProd (access x 1) (access y 1))))"
            "(let s (compute softmax (access p 1)))"
            "(let t (compute tanh p))"
            "(output p) (output s) (output t)");
  cr_expect_lt(largest(&bounds[0]), 1e-4);
  cr_expect_gt(largest(&bounds[0]), 1e-7);
  cr_expect_lt(largest(&bounds[1]), 1e-4);
  cr_expect_lt(largest(&bounds[2]), 1e-4);
}

/* What a padding puts in is exact, whatever it is; what it repeats has the
 * bound of where it is from. */
Test(bound, of_what_is_padded) {
  static const char *const kinds[] = {"zero", "min", "edge"};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    interpret(bs_arena_printf(
        &arena,
        "(tensor x (shape 5 40) f32)"
        "(let y (pad (compute reduceSum (access x 1)) %s 0 2 1))"
        "(output y)",
        kinds[k]));
    double first = gs_tensor_get(&bounds[0], 2);
    double last = gs_tensor_get(&bounds[0], 6);
    bool repeats = !strcmp(kinds[k], "edge");
    cr_expect(first > 0 && last > 0, "%s", kinds[k]);
    cr_expect_eq(gs_tensor_get(&bounds[0], 0), repeats ? first : 0);
    cr_expect_eq(gs_tensor_get(&bounds[0], 1), repeats ? first : 0);
    cr_expect_eq(gs_tensor_get(&bounds[0], 7), repeats ? last : 0);
  }
}
