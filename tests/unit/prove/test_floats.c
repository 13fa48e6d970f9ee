/* SPDX-License-Identifier: MIT */
/* test_floats.c - what of floats is a difference, and what is rounding or the
 * end of their range. */
#include "fixture.h"

#define X(dtype)    "(tensor x (shape 6) " dtype ")"
#define SIDES(l, r) "(let l " l ")(let r " r ")(output l)(output r)"

static const struct {
  const char *name, *text;
} unequal[] = {
    {"a logarithm of what is negative",
     X("f32") SIDES("(compute log (compute abs x))", "(compute log x)")},
    {"a root of what is negative, in f64",
     X("f64") SIDES("(compute sqrt (compute abs x))", "(compute sqrt x)")},
    {"a root squared",
     X("f32") SIDES("(compute square (compute sqrt x))", "(compute abs x)")},
    {"a quotient by itself",
     X("f32") SIDES("(compute (offset 1) (compute (scale 0) x))",
                    "(compute div (pair x x))")},
    {"a product with the inverse",
     X("f64") SIDES("(compute mul (pair x (compute recip x)))",
                    "(compute (offset 1) (compute (scale 0) x))")},
    {"an exponential of a logarithm",
     X("f32") SIDES("(compute exp (compute log x))", "(compute abs x)")},
    {"no number that becomes an integer",
     X("f32") SIDES(
         "(compute (cast i32) (compute (scale 8) (compute log (compute abs "
         "x))))",
         "(compute (cast i32) (compute (scale 8) (compute log x)))")},
    {"one part in a hundred thousand, in f64",
     X("f64") SIDES("(compute (scale 1) x)", "(compute (scale 1.00001) x)")},
    {"one part in a hundred thousand, in f32",
     X("f32") SIDES("(compute (scale 1) x)", "(compute (scale 1.00001) x)")},
    {"one part in a million, in f32",
     X("f32") SIDES("(compute tanh x)",
                    "(compute (scale 1.000001) (compute tanh x))")},
    {"one part in 10^11, in f64",
     X("f64") SIDES("(compute sigmoid x)",
                    "(compute (scale 1.00000000001) (compute sigmoid x))")},
    {"a small amount beside large elements",
     X("f64")
         SIDES("(compute (offset 1e-6) (compute exp x))", "(compute exp x)")},
    {"an infinity of padding",
     X("f32") SIDES("(compute tanh (pad x min 0 1 0))",
                    "(pad (compute tanh x) min 0 1 0)")},
};

static const struct {
  const char *name, *text;
} excused[] = {
    {"exponentials beyond the range",
     X("f32") SIDES(
         "(compute tanh (compute (scale 1000) x))",
         "(compute div (pair (compute sub (pair (compute exp (compute (scale "
         "1000) x)) (compute exp (compute (scale -1000) x)))) (compute add "
         "(pair (compute exp (compute (scale 1000) x)) (compute exp (compute "
         "(scale -1000) x))))))")},
    {"a denominator that falls below the range",
     X("f64") SIDES("(compute exp (compute (scale 1000) (compute abs x)))",
                    "(compute recip (compute exp (compute (scale -1000) "
                    "(compute abs x))))")},
    {"a quotient of what left the range",
     X("f64") SIDES(
         "(compute sigmoid (compute (scale 900) (compute abs x)))",
         "(compute div (pair (compute exp (compute (scale 900) (compute abs "
         "x))) (compute (offset 1) (compute exp (compute (scale 900) (compute "
         "abs x))))))")},
    {"softmax by its definition",
     X("f32") SIDES(
         "(compute softmax (access (compute (scale 400) x) 0))",
         "(access (compute div (pair (compute exp (compute (scale 400) x)) "
         "(broadcast (insertAxis (compute reduceSum (access (compute exp "
         "(compute (scale 400) x)) 0)) 0) (shape 6)))) 0)")},
    {"library functions",
     X("f32") SIDES("(compute sigmoid x)",
                    "(compute recip (compute (offset 1) (compute exp (compute "
                    "neg x))))")},
    {"a literal rounded to f32",
     X("f32") SIDES("(compute (scale 1.4142135623730951) (compute tanh x))",
                    "(compute (scale 0.70710678) (compute (scale 2) (compute "
                    "tanh x)))")},
    {"cancellation", X("f32") SIDES("(compute tanh x)",
                                    "(compute (offset -1000) (compute (offset "
                                    "1000) (compute tanh x)))")},
    {"a root of a sum that rounding makes negative",
     X("f64") SIDES(
         "(compute abs (compute sub (pair (compute tanh x) (compute sigmoid "
         "x))))",
         "(compute sqrt (compute add (pair (compute sub (pair (compute square "
         "(compute tanh x)) (compute (scale 2) (compute mul (pair (compute "
         "tanh x) (compute sigmoid x)))))) (compute square (compute sigmoid "
         "x)))))")},
};

static pv_answer
ask(const char *text, uint64_t seed) {
  pv_options o;
  pv_defaults(&o);
  o.seed = seed;
  return compare_outputs(program_over(NULL, text), &o);
}

Test(floats, differences_of_meaning_refute) {
  for (size_t k = 0; k < sizeof unequal / sizeof unequal[0]; k++) {
    fixture_start();
    pv_answer a = ask(unequal[k].text, 1);
    cr_expect_eq(a.verdict, PV_REFUTED, "%s: %s", unequal[k].name, a.reason);
    fixture_stop();
  }
}

Test(floats, rounding_and_range_do_not) {
  for (size_t k = 0; k < sizeof excused / sizeof excused[0]; k++)
    for (uint64_t seed = 1; seed <= 8; seed++) {
      fixture_start();
      pv_answer a = ask(excused[k].text, seed);
      cr_expect_neq(a.verdict, PV_REFUTED, "%s: %s", excused[k].name, a.reason);
      fixture_stop();
    }
}
