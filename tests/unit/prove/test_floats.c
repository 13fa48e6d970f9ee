/* SPDX-License-Identifier: MIT */
/* test_floats.c - what of floats is a difference, and what is rounding or the
 * end of their range. */
#include "trail.h"
#include "base/random.h"
#include <stdio.h>
#include <string.h>

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
    {"halves rounded to even, and upwards",
     X("f32") SIDES("(compute round x)",
                    "(compute floor (compute (offset 0.5) x))")},
    {"halves rounded to even, and upwards after a sum",
     X("bf16") SIDES("(compute round x)",
                     "(compute floor (compute add (pair x (compute (offset "
                     "0.5) (compute (scale 0) x)))))")},
    {"an infinity of padding",
     X("f32") SIDES("(compute tanh (pad x min 0 1 0))",
                    "(pad (compute tanh x) min 0 1 0)")},
    {"one over 0 and -0, held below 1",
     X("f32") SIDES("(compute (clip -1 1) (compute recip (compute (scale 0) "
                    "x)))",
                    "(compute (clip -1 1) (compute recip (compute neg (compute "
                    "(scale 0) x))))")},
    {"one over what is no less than 0, held above 0",
     X("f32") SIDES("(compute atan (compute recip (compute sqrt (compute "
                    "(scale 0) x))))",
                    "(compute atan (compute relu (compute recip (compute sqrt "
                    "(compute (scale 0) x)))))")},
    {"an inverse root held above 0, and below 2",
     X("f64") SIDES("(compute tanh (compute rsqrt (compute (scale 0) x)))",
                    "(compute tanh (compute abs (compute rsqrt (compute "
                    "(scale 0) x))))")},
    {"one over what is 0 or -0 for half of all numbers",
     X("f64") SIDES("(compute tanh (compute recip (compute neg (compute relu "
                    "x))))",
                    "(compute tanh (compute recip (compute min (pair (compute "
                    "neg x) (compute (scale 0) x)))))")},
    {"a difference of equals, and what it is taken from",
     X("f32") SIDES("(compute atan (compute rsqrt (compute sub (pair (compute "
                    "(scale 0) x) x))))",
                    "(compute atan (compute rsqrt (compute neg x)))")},
    {"a quotient by a sum of 0 and -0",
     X("f32") SIDES(
         "(compute atan (compute div (pair (compute exp x) (compute add (pair "
         "(compute (scale 0) x) (compute neg (compute (scale 0) x)))))))",
         "(compute atan (compute div (pair (compute exp x) (compute neg "
         "(compute add (pair (compute (scale 0) x) (compute neg (compute "
         "(scale 0) x))))))))")},
    {"the sign of a quotient by 0, as an integer",
     X("f32") SIDES("(compute (cast i8) (compute recip (compute sub (pair x "
                    "x))))",
                    "(compute (cast i8) (compute recip (compute neg (compute "
                    "sub (pair x x)))))")},
};

/* Both sides of these have the same signs of 0. */
static const struct {
  const char *name, *text;
} equal[] = {
    {"one over a negative",
     X("f32") SIDES("(compute (clip -1 1) (compute recip (compute neg x)))",
                    "(compute (clip -1 1) (compute neg (compute recip x)))")},
    {"one over a product, from the other side",
     X("f32")
         SIDES("(compute tanh (compute recip (compute mul (pair x (compute neg "
               "(compute exp x))))))",
               "(compute tanh (compute neg (compute recip (compute mul (pair "
               "(compute exp x) x)))))")},
    {"rows and columns of quotients",
     "(tensor x (shape 3 4) f32)" SIDES(
         "(compute (clip 0 1) (compute recip (transpose x (list 1 0))))",
         "(transpose (compute (clip 0 1) (compute recip x)) (list 1 0))")},
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
ask(const char *name, const char *text, uint64_t seed) {
  pv_options o;
  pv_defaults(&o);
  o.seed = seed;
  bs_putf(trail_text(), "%s, seed %u: ", name, (unsigned)seed);
  return trail_outputs(program_over(NULL, text), &o);
}

Test(floats, differences_of_meaning_refute) {
  for (size_t k = 0; k < sizeof unequal / sizeof unequal[0]; k++) {
    fixture_start();
    pv_answer a = ask(unequal[k].name, unequal[k].text, 1);
    cr_expect_eq(a.verdict, PV_REFUTED, "%s: %s", unequal[k].name, a.reason);
    fixture_stop();
  }
  trail_end("floats-unequal");
}

Test(floats, infinities_of_one_sign_do_not) {
  for (size_t k = 0; k < sizeof equal / sizeof equal[0]; k++) {
    fixture_start();
    pv_answer a = ask(equal[k].name, equal[k].text, 1);
    cr_expect_eq(a.verdict, PV_PROVED, "%s: %s", equal[k].name, a.reason);
    fixture_stop();
  }
  trail_end("floats-infinite");
}

Test(floats, rounding_and_range_do_not) {
  for (size_t k = 0; k < sizeof excused / sizeof excused[0]; k++)
    for (uint64_t seed = 1; seed <= 8; seed++) {
      fixture_start();
      pv_answer a = ask(excused[k].name, excused[k].text, seed);
      cr_expect_neq(a.verdict, PV_REFUTED, "%s: %s", excused[k].name, a.reason);
      fixture_stop();
    }
  trail_end("floats-excused");
}

/* --- parameters in their dtype -------------------------------------------- */

enum { IN_F32 = 1, IN_BF16 = 2, IN_F16 = 4, IN_F64 = 8, NARROW = 7 };

/* Terms over x that differ where the parameter is not what is written. */
static const struct {
  const char *name, *left, *right;
  unsigned refuted, proved; /* in which dtypes */
} parameters[] = {
#define MINUS_ITSELF(t)                                                        \
  "(compute sub (pair " t " " t "))", "(compute (scale 0) x)"
    {"a logarithm of nothing",
     MINUS_ITSELF("(compute log (compute (scale 1e-60) (compute exp x)))"),
     NARROW, IN_F64},
    {"one over nothing",
     MINUS_ITSELF("(compute recip (compute (scale 1e-46) (compute exp x)))"),
     NARROW, IN_F64},
    {"a quotient by nothing",
     MINUS_ITSELF("(compute div (pair (compute exp x) (compute (scale 1e-46) "
                  "(compute exp x))))"),
     NARROW, IN_F64},
    {"a logarithm of what f16 has not",
     MINUS_ITSELF("(compute log (compute (scale 1e-8) (compute exp x)))"), 0,
     IN_F32 | IN_BF16 | IN_F64},
    {"a root of what is below nothing",
     MINUS_ITSELF("(compute sqrt (compute (scale -1e-60) (compute exp x)))"),
     IN_F64, NARROW},
    {"almost one, below a floor",
     "(compute floor (compute (clip 0 0.99999999999) x))",
     "(compute (scale 0) x)", NARROW, IN_F64},
    {"a factor that is nothing", "(compute (scale 1e-60) x)",
     "(compute (scale 0) x)", IN_F64, NARROW},
    {"factors that are nothing, and large",
     "(compute (scale 10000) (compute (scale 1e-46) x))",
     "(compute (scale 1e-42) x)", IN_F32 | IN_BF16, 0},
    {"bounds that are one number", "(compute (clip 1 1.0000000000001) x)",
     "(compute (offset 1) (compute (scale 0) x))", 0, NARROW},
    {"a number of more digits than f32 has",
     "(compute sub (pair (compute (clip 2049.0001 2049.0001) x) (compute (clip "
     "2049 2049) x)))",
     "(compute (scale 0) x)", IN_F64, NARROW},
    {"no number of more digits", "(compute (scale 1.0000000001) x)",
     "(compute (offset 1e-60) x)", IN_F64, NARROW},
    {"a bound above nothing",
     "(compute max (pair (compute (clip -1e-60 1e-60) x) (compute (scale 0) "
     "x)))",
     "(compute (scale 0) x)", IN_F64, NARROW},
};

Test(floats, parameters_have_their_value_in_the_dtype) {
  static const char *const dtypes[] = {"f32", "bf16", "f16", "f64"};
  char text[1000];
  for (size_t k = 0; k < sizeof parameters / sizeof parameters[0]; k++)
    for (uint32_t d = 0; d < 4; d++) {
      fixture_start();
      snprintf(
          text, sizeof text,
          "(tensor x (shape 6) %s)(let l %s)(let r %s)(output l)(output r)",
          dtypes[d], parameters[k].left, parameters[k].right);
      pv_answer a = ask(parameters[k].name, text, 1);
      cr_expect_eq(a.verdict == PV_REFUTED, parameters[k].refuted >> d & 1,
                   "%s, %s: %s", parameters[k].name, dtypes[d], a.reason);
      cr_expect_eq(a.verdict == PV_PROVED, parameters[k].proved >> d & 1,
                   "%s, %s: %s", parameters[k].name, dtypes[d], a.reason);
      fixture_stop();
    }
  trail_end("floats-parameters");
}

/* --- sums of 16-bit floats ------------------------------------------------ */

#define ABC                                                                    \
  "(tensor a (shape 4) bf16)(tensor b (shape 4) bf16)(tensor c (shape 4) "     \
  "bf16)"
#define SUM(x, y)   "(compute add (pair " x " " y "))"
#define LESS(x, y)  "(compute sub (pair " x " " y "))"
#define TIMES(x, y) "(compute mul (pair " x " " y "))"

/* Sums of three may be made in any order, which the reason then says; but
 * nothing is taken from what it was added to. */
static const struct {
  const char *left, *right;
  bool proved, any_order;
} rounded[] = {
    {SUM("a", "b"), SUM("b", "a"), true, false},
    {LESS("a", "a"), "(compute (scale 0) a)", true, false},
    {SUM(SUM("a", "b"), "c"), SUM("a", SUM("b", "c")), true, true},
    {TIMES(TIMES("a", "b"), "c"), TIMES("a", TIMES("b", "c")), true, true},
    {LESS(SUM("a", "b"), "b"), "(materialize a)", false, false},
    {LESS(LESS(SUM("a", "b"), "a"), "b"), "(compute (scale 0) a)", false,
     false},
    {LESS(SUM("a", SUM("b", "b")), "b"), SUM("a", "b"), false, false},
    {"(compute (offset -1) (compute (offset 1) a))", "(materialize a)", false,
     false},
    {"(compute (offset 1) (compute (offset 1) a))", "(compute (offset 2) a)",
     true, true},
    {"(compute (offset 1) (compute (offset 256) a))",
     "(compute (offset 257) a)", false, false},
    {"(compute (cast f32) (compute (offset 0.5) (compute (scale 0) a)))",
     "(compute (offset 0.5) (compute (scale 0) (compute (cast f32) a)))", true,
     false},
    {"(compute (cast f32) (compute (offset 0.1) (compute (scale 0) a)))",
     "(compute (offset 0.1) (compute (scale 0) (compute (cast f32) a)))", false,
     false},
    {"(compute (cast f32) (compute (clip 0.1 0.1) a))",
     "(compute (clip 0.1 0.1) (compute (cast f32) a))", false, false},
};

Test(floats, sums_of_sixteen_bits_are_rounded) {
  char text[1000];
  for (size_t k = 0; k < sizeof rounded / sizeof rounded[0]; k++) {
    fixture_start();
    snprintf(text, sizeof text, ABC "(let l %s)(let r %s)(output l)(output r)",
             rounded[k].left, rounded[k].right);
    pv_answer a = ask(rounded[k].left, text, 1);
    cr_expect_eq(a.verdict, rounded[k].proved ? PV_PROVED : PV_TESTED, "%s: %s",
                 rounded[k].left, a.reason);
    cr_expect_eq(a.any_order, rounded[k].any_order, "%s", rounded[k].left);
    cr_expect_eq(strstr(a.reason, PV_ANY_ORDER) != NULL, rounded[k].any_order,
                 "%s: %s", rounded[k].left, a.reason);
    fixture_stop();
  }
  trail_end("floats-narrow");
}

/* --- terms made at random ------------------------------------------------- */

static uint64_t state;

static uint32_t
draw(uint32_t n) {
  return (uint32_t)(bs_random_next(&state) % n);
}

/* A term over x and y, and the same one in another writing: L and R stand for
 * its operands, D for the dtype.  The last ones differ, some of them by little.
 */
static const struct {
  const char *left, *right;
} writings[] = {
    {SUM("L", "R"), SUM("R", "L")},
    {LESS("L", "R"), SUM("L", "(compute neg R)")},
    {TIMES("L", "R"), TIMES("R", "L")},
    {"(compute (scale 0.375) L)", "(compute (scale 0.75) (compute (scale 0.5) "
                                  "L))"},
    {"(compute (scale 0.3) L)",
     "(compute (scale 0.6) (compute (scale 0.5) L))"},
    {"(compute square L)", TIMES("L", "L")},
    {"(compute relu L)", "(compute max (pair L (compute (scale 0) R)))"},
    {"(compute abs L)", "(compute max (pair L (compute neg L)))"},
    {"(compute (offset 0.7) L)",
     "(compute (offset 0.5) (compute (offset 0.2) L))"},
    {"(compute sqrt (compute square L))", "(compute abs L)"},
    {"(compute exp " SUM("L", "R") ")",
     TIMES("(compute exp L)", "(compute exp R)")},
    {"(compute log (compute exp L))", "(materialize L)"},
    {"(compute div (pair L R))", TIMES("L", "(compute recip R)")},
    {"(compute tanh L)", "(compute neg (compute tanh (compute neg L)))"},
    {"(compute (cast D) (compute (cast f64) (compute sigmoid L)))",
     "(compute (cast D) (compute sigmoid (compute (cast f64) L)))"},
    {"(compute (cast D) (compute (cast bf16) L))",
     "(compute (cast D) (compute (cast bf16) (compute neg (compute neg L))))"},
    {"(compute floor L)", "(compute floor (compute (scale 0.5) (compute (scale "
                          "2) L)))"},
    {"(compute (scale 0.3) L)", "(compute (scale 0.30001) L)"},
    {"(compute (scale 0.3) L)", "(compute (scale 0.3000000000001) L)"},
    {"(compute (offset 3) L)", "(compute (offset 3.0000001) L)"},
    {"(compute (clip -2 5) L)", "(compute (clip -2 5.001) L)"},
    {"(compute relu L)", "(compute abs L)"},
    {"(compute sqrt L)", "(compute sqrt (compute relu L))"},
    {"(compute log L)", "(compute log (compute abs L))"},
    {"(compute rsqrt (compute abs L))", "(compute rsqrt (compute relu L))"},
    {"(compute recip L)",
     "(compute recip (compute max (pair L (compute abs L))))"},
    {"(compute sqrt (compute mul (pair L L)))",
     "(compute sqrt (compute mul (pair L (compute abs L))))"},
    {"(compute (cast D) (compute (cast f32) L))",
     "(compute (cast D) (compute (cast bf16) L))"},
};

enum { WRITINGS = sizeof writings / sizeof *writings, SAME = WRITINGS - 11 };

/* One side; the other has the same draws.  `changed`: the node, counted from
 * the leaves, that may differ. */
static void
put_term(bs_text *out, const char *dtype, int depth, bool right, bool changed) {
  uint32_t k = changed ? SAME + draw(WRITINGS - SAME) : draw(SAME);
  uint64_t mine = state;
  bool other = right && !draw(2);
  const char *w =
      other || (right && k >= SAME) ? writings[k].right : writings[k].left;
  if (!depth) {
    bs_put(out, mine & 3 ? "x" : "y");
    return;
  }
  for (; *w; w++) {
    if (*w == 'D')
      bs_put(out, dtype);
    else if (*w != 'L' && *w != 'R')
      bs_putc(out, *w);
    if (*w != 'L' && *w != 'R')
      continue;
    state = mine + (*w == 'L' ? 1 : 2); /* each operand in one way alone */
    put_term(out, dtype, depth - 1, right, false);
  }
}

static const char *
two_terms(uint64_t seed) {
  static const char *const dtypes[] = {"f32", "f64", "bf16", "f16"};
  bs_text text;
  bs_text_init(&text, &heap);
  bs_putf(&text, "(tensor x (shape 6) %s)(tensor y (shape 6) %s)",
          dtypes[seed % 4], dtypes[seed % 4]);
  for (int right = 0; right < 2; right++) {
    state = seed * 8191;
    bs_putf(&text, "(let %c ", right ? 'r' : 'l');
    put_term(&text, dtypes[seed % 4], 1 + (int)(seed % 3), right,
             seed % 5 == 0);
    bs_put(&text, ")");
  }
  bs_put(&text, "(output l)(output r)");
  return bs_text_str(&text);
}

Test(floats, terms_made_at_random) {
  enum { SEEDS = SANITIZED ? 40 : 320 };
  uint32_t proved = 0, refuted = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    fixture_start();
    pv_answer a = ask(two_terms(seed) + 54, two_terms(seed), 1);
    proved += a.verdict == PV_PROVED;
    refuted += a.verdict == PV_REFUTED;
    fixture_stop();
  }
  trail_end("floats-random");
  cr_expect(3 * proved > SEEDS && 20 * refuted > SEEDS, "%u, %u", proved,
            refuted);
}
