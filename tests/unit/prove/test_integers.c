/* SPDX-License-Identifier: MIT */
/* test_integers.c - integers are decided: by all their values, as bit-vectors,
 * and near the literals of both sides. */
#include "../refusals.h"
#include "trail.h"
#include "prove/integer/decide.h"
#include "glenside/interpret/interpret.h"
#include <math.h>

#define X(n, dtype) "(tensor x (shape " n ") " dtype ")"
#define Y(n, dtype) "(tensor y (shape " n ") " dtype ")"
#define SIDES(l, r) "(let l " l ")(let r " r ")(output l)(output r)"
#define BUMP(at)                                                               \
  "(compute relu (compute neg (compute (offset -1) (compute abs (compute "     \
  "(offset -" at ") x)))))"

typedef struct question {
  const char *name, *text;
  pv_verdict verdict;
  pv_method method;
  bool needs_z3;
} question;

static const question questions[] = {
    {"a cast there and back",
     X("7", "i8") SIDES("(compute (cast i8) (compute (cast u8) x))", "x"),
     PV_PROVED, PV_BY_VALUES, false},
    {"a square of i8 is no less than 0 but for its ends",
     X("4", "i8")
         SIDES("(compute relu (compute square x))", "(compute square x)"),
     PV_REFUTED, PV_BY_RUNNING, false},
    {"two operands of 8 bits",
     X("5", "u8") Y("5", "u8") SIDES(
         "(compute sub (pair (compute max (pair x y)) (compute min (pair x "
         "y))))",
         "(compute sub (pair (compute add (pair x y)) (compute (scale 2) "
         "(compute min (pair x y)))))"),
     PV_PROVED, PV_BY_VALUES, false},
    {"a relu after a cast that wraps",
     X("8", "i32")
         SIDES("(compute (cast i8) (compute (clip 0 300) x))",
               "(compute relu (compute (cast i8) (compute (clip 0 300) x)))"),
     PV_REFUTED, PV_BY_RUNNING, false},
    {"a relu after a cast that does not",
     X("8", "i32")
         SIDES("(compute (cast i8) (compute (clip 0 100) x))",
               "(compute relu (compute (cast i8) (compute (clip 0 100) x)))"),
     PV_PROVED, PV_BY_BITS, true},
    {"one value of 2^32",
     X("3", "i32") SIDES(BUMP("1234567891"), "(compute (scale 0) x)"),
     PV_REFUTED, PV_BY_RUNNING, false},
    {"the mean of two is cut toward 0",
     X("2", "i32") SIDES(
         "(compute reduceMean (access x 0))",
         "(compute floor (compute reduceMean (access (compute neg (compute neg "
         "x)) 0)))"),
     PV_PROVED, PV_BY_ELEMENTS, false},
    {"halves of a sum",
     X("2", "i32") SIDES("(compute neg (compute reduceMean (access x 0)))",
                         "(compute reduceMean (access (compute neg x) 0))"),
     PV_REFUTED, PV_BY_RUNNING, false},
    {"the largest of a sum of bytes",
     X("2 2", "u8") SIDES("(compute (clip 0 510) (compute reduceSum (access x "
                          "1)))",
                          "(compute reduceSum (access x 1))"),
     PV_PROVED, PV_BY_VALUES, false},
    {"more than the largest of a sum of bytes",
     X("2 3", "u8") SIDES("(compute (clip 0 764) (compute reduceSum (access x "
                          "1)))",
                          "(compute reduceSum (access x 1))"),
     PV_REFUTED, PV_BY_RUNNING, false},
    {"a choice",
     X("4", "i32") SIDES(
         "(compute select (concat (pair x x) (access (insertAxis (compute "
         "(scale 0) x) 1) 1) 1))",
         "(compute relu x)"),
     PV_PROVED, PV_BY_BITS, true},
    {"too large for its elements",
     X("300000", "i32") SIDES("(compute relu (compute abs (compute (clip -9 9) "
                              "x)))",
                              "(compute abs (compute (clip -9 9) x))"),
     PV_PROVED, PV_BY_BITS, true},
    {"too large for its elements, and wrong in one value",
     X("300000", "i32")
         SIDES("(compute relu (compute abs x))", "(compute abs x)"),
     PV_REFUTED, PV_BY_RUNNING, true},
    {"a shift by way of f64",
     X("4", "i8") SIDES(
         "(compute (cast i8) (compute floor (compute (scale 0.25) (compute "
         "(cast f64) (compute (clip 0 127) x)))))",
         "(compute (cast i8) (compute (scale 0.25) (compute (cast f64) "
         "(compute (clip 0 127) x))))"),
     PV_PROVED, PV_BY_VALUES, false},
    {"all values agree, but floats in between were rounded",
     X("4", "i8")
         SIDES("(compute (cast i32) (compute sqrt (compute square (compute "
               "(cast f32) x))))",
               "(compute (cast i32) (compute abs (compute (cast f32) x)))"),
     PV_TESTED, PV_BY_RUNNING, false},
    {"a shift of what may be negative",
     X("4", "i8")
         SIDES("(compute (cast i8) (compute floor (compute (scale 0.25) "
               "(compute (cast f64) x))))",
               "(compute (cast i8) (compute (scale 0.25) (compute (cast f64) "
               "x)))"),
     PV_REFUTED, PV_BY_RUNNING, false},
};

static pv_answer
ask(const char *text) {
  pv_options o;
  pv_defaults(&o);
  return trail_outputs(program_over(NULL, text), &o);
}

Test(integers, are_decided) {
  for (size_t k = 0; k < sizeof questions / sizeof questions[0]; k++) {
    const question *q = &questions[k];
    if (q->needs_z3 && !pv_bits_is_there())
      continue;
    fixture_start();
    bs_putf(trail_text(), "%s: ", q->name);
    pv_answer a = ask(q->text);
    cr_expect_eq(a.verdict, q->verdict, "%s: %s", q->name, a.reason);
    cr_expect_eq(a.method, q->method, "%s: %s", q->name, a.reason);
    fixture_stop();
  }
  if (pv_bits_is_there())
    trail_end("integers");
}

/* What a fold makes of a term and itself, of pairs of elements at one place
 * and of all pairs of elements: only of the former it is what `is` makes of the
 * term, also where terms are too large to look at each element. */
Test(integers, large_products_are_no_pairs) {
  static const struct {
    const char *fold, *is;
  } rows[] = {{"sub", "(scale 0)"},
              {"add", "(scale 2)"},
              {"mul", "square"},
              {"min", "floor"}};
  static const struct {
    const char *tuple, *shape;
    bool large;
  } of[] = {{"pair", "3", false},
            {"pair", "360000", true},
            {"cartProd", "3", false},
            {"cartProd", "600", true}};
  for (uint32_t k = 0; k < sizeof rows / sizeof *rows * 4; k++) {
    const char *fold = rows[k / 4].fold, *tuple = of[k % 4].tuple;
    fixture_start();
    pv_answer a = ask(bs_arena_printf(
        &arena,
        "(tensor t (shape %s) i32)(let x (access t 1))" SIDES(
            "(compute %s (%s x x))", "(compute %s (compute max (%s x x)))"),
        of[k % 4].shape, fold, tuple, rows[k / 4].is, tuple));
    if (k % 4 < 2)
      cr_expect(a.verdict == PV_PROVED ||
                    (of[k % 4].large && !pv_bits_is_there()),
                "%s of %s: %s", fold, tuple, a.reason);
    else
      cr_expect_eq(a.verdict, PV_REFUTED, "%s of %s: %s", fold, tuple,
                   a.reason);
    fixture_stop();
  }
  trail_end("integers-products");
}

/* Floats and integers; only one of very many values tells both sides apart. */
static const char *const literals[] = {
    X("1", "i32") SIDES(BUMP("123457"), "(compute (scale 0) x)"),
    X("6", "f32")
        SIDES("(compute relu (compute neg (compute (offset -0.25) (compute abs "
              "(compute (offset -1234.5) x)))))",
              "(compute (scale 0) x)"),
    X("6", "f64")
        SIDES("(compute relu (compute neg (compute (offset -0.5) (compute abs "
              "(compute (offset 777) (compute (scale -3) (compute neg x)))))))",
              "(compute (scale 0) x)"),
    X("6", "f64")
        SIDES("(compute relu (compute neg (compute (offset -0.5) (compute abs "
              "(compute (offset -7000.5) (compute (offset -2345.25) x))))))",
              "(compute (scale 0) x)"),
    X("6", "f32") SIDES(
        "(compute relu (compute neg (compute (offset -0.5) (compute abs "
        "(compute (offset -700) (compute square (compute (offset 31) x)))))))",
        "(compute (scale 0) x)"),
    X("6", "f32") SIDES("(compute (clip -9e9 40000) x)", "(compute (clip -9e9 "
                                                         "41000) x)"),
    X("6", "f32") "(const c (shape 6) f32 31415.5 31415.5 31415.5 31415.5 "
                  "31415.5 31415.5)" SIDES(
                      "(compute max (pair x c))",
                      "(compute max (pair (compute (clip -9e9 31415.5) x) "
                      "c))"),
    /* a sum that wraps, or ends, where all of its items are at one end alone */
    X("32770", "u16") SIDES("(compute relu (compute reduceSum (access x 0)))",
                            "(compute reduceSum (access x 0))"),
    X("2", "i16") SIDES(
        "(compute relu (compute dotProd (pair (access x 0) (access x 0))))",
        "(compute dotProd (pair (access x 0) (access x 0)))"),
    X("300", "i8")
        SIDES("(compute (clip -38399 40000) (compute reduceSum (access x 0)))",
              "(compute reduceSum (access x 0))"),
    X("300", "i8")
        SIDES("(compute (clip -40000 38099) (compute reduceSum (access x 0)))",
              "(compute reduceSum (access x 0))"),
};

Test(integers, inputs_lie_near_literals) {
  for (size_t k = 0; k < sizeof literals / sizeof literals[0]; k++) {
    fixture_start();
    pv_options o;
    pv_defaults(&o);
    o.max_elements = 0; /* runs alone */
    o.max_operations = 0;
    bs_putf(trail_text(), "literal %zu: ", k);
    pv_answer a = trail_outputs(program_over(NULL, literals[k]), &o);
    cr_expect_eq(a.verdict, PV_REFUTED, "%zu: %s", k, a.reason);
    fixture_stop();
  }
  trail_end("integers-literals");
}

/* Random terms of i8: Z3 and all values must agree on whether two are equal,
 * so that each definition of an operator is held against the other. */
static uint64_t random_state;

static uint32_t
draw(uint32_t n) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 33) % n;
}

static void
put_term(bs_text *out, int depth) {
  static const char *const one[] = {"neg",          "abs",         "relu",
                                    "square",       "(clip 3 70)", "(scale 5)",
                                    "(offset 100)", "floor",       "(scale 3)",
                                    "(clip 5 9)",   "(clip 0 110)"};
  static const char *const two[] = {"add", "sub", "mul", "div", "max", "min"};
  uint32_t kind = depth ? draw(8) : 0;
  if (kind == 0) {
    bs_put(out, draw(2) ? "x" : "y");
  } else if (kind < 4) {
    bs_putf(out, "(compute %s ", one[draw(sizeof one / sizeof one[0])]);
    put_term(out, depth - 1);
    bs_put(out, ")");
  } else if (kind < 7) {
    bs_putf(out, "(compute %s (pair ", two[draw(sizeof two / sizeof two[0])]);
    put_term(out, depth - 1);
    bs_put(out, " ");
    put_term(out, depth - 1);
    bs_put(out, "))");
  } else {
    bs_putf(out, "(compute (cast DTYPE) (compute (cast %s) ",
            draw(2)   ? "i32"
            : draw(2) ? "u8"
                      : "i8");
    put_term(out, depth - 1);
    bs_put(out, "))");
  }
}

/* Whether Z3 and all values say the same of an element of both outputs;
 * `differ` counts. */
static void
hold_against_each_other(const char *text, uint32_t at, uint32_t *differ) {
  gs_program *p = program_over(NULL, text);
  pv_options o;
  pv_defaults(&o);
  uint8_t live[128] = {0};
  cr_assert_lt(p->nodes.len, 128);
  memset(live, 1, p->nodes.len);
  pv_bare bare;
  pv_circuit c;
  double values[PV_MOST_LEAVES];
  pv_bare_init(&bare, &heap, p, &o);
  pv_circuit_init(&c, &heap);
  cr_assert(pv_bare_elements(&bare, live));
  pv_value left = bare.elements.of[p->outputs.data[0].term.i][at];
  pv_value right = bare.elements.of[p->outputs.data[1].term.i][at];
  cr_assert(pv_circuit_take(&bare, left, right, &c));
  pv_outcome tried = pv_exhaust(&c, ctx.values, values);
  pv_outcome found = pv_bits_decide(pv_bits_new(&heap), &c, ctx.values, values);
  cr_assert_neq(tried, PV_OPEN);
  cr_expect(!pv_bits_is_there() || found != PV_OPEN, "%s", text);
  cr_expect(found == PV_OPEN ||
                (found == PV_DIFFERENT) == (tried == PV_DIFFERENT),
            "%d %d: %s", found, tried, text);
  *differ += tried == PV_DIFFERENT;
}

/* One element of each side; both ways must find them equal, or different. */
static const struct {
  const char *left, *right;
  bool same;
} pairs[] = {
    {"(compute div (pair x (compute (scale 0) x)))", "(compute (scale 0) x)",
     true},
    {"(compute div (pair x y))",
     "(compute div (pair x (compute max (pair y "
     "(compute (offset 1) (compute (scale 0) "
     "x))))))",
     false},
    {"(compute neg (compute div (pair x y)))",
     "(compute div (pair (compute neg x) y))", false},
    {"(compute div (pair (compute div (pair x y)) y))",
     "(compute div (pair x (compute mul (pair y y))))", false},
    {"(compute reduceMean (access (compute neg (compute neg x)) 0))",
     "(compute (cast i32) (squeeze x 0))", true},
    {"(compute reduceProd (access (concat x y 0) 0))",
     "(compute mul (pair (squeeze x 0) (squeeze y 0)))", true},
    {"(compute reduceSum (access (concat x y 0) 0))",
     "(compute (cast i32) (compute add (pair (squeeze x 0) (squeeze y 0))))",
     false},
    {"(compute reduceMin (access (concat x y 0) 0))",
     "(compute min (pair (squeeze y 0) (squeeze x 0)))", true},
    {"(compute dotProd (pair x y))",
     "(compute mul (pair (compute (cast i32) x) (compute (cast i32) y)))",
     true},
    {"(compute select (concat (pair x x) (access (insertAxis (compute (scale "
     "0) x) 1) 1) 1))",
     "(compute relu x)", true},
    {"(compute gather (pair (access (concat x y 0) 0) (access (concat y x 0) "
     "0)))",
     "(compute gather (pair (access (concat x y 0) 0) (compute (clip 0 1) "
     "(access (concat y x 0) 0))))",
     true},
    {"(compute (lookup 2) (access (concat (concat x y 0) (concat y x 0) 0) "
     "0))",
     "(compute gather (pair (access (concat x y 0) 0) (compute (clip 0 1) "
     "(access (concat y x 0) 0))))",
     true},
    {"(compute (lookup 2) (access (concat (concat x y 0) x 0) 0))",
     "(compute (lookup 2) (access (concat (concat y x 0) x 0) 0))", false},
    {"(compute (cast u8) (compute (cast i32) x))", "(compute (cast u8) x)",
     true},
    {"(compute abs (compute neg x))", "(compute abs x)", true},
    {"(compute relu (compute abs x))", "(compute abs x)", false},
};

Test(integers, both_ways_know_each_operator) {
  for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
    uint32_t differ = 0;
    fixture_start();
    const char *text = bs_arena_printf(
        &arena,
        "(tensor x (shape 1) i8)(tensor y (shape 1) i8)" SIDES("%s", "%s"),
        pairs[k].left, pairs[k].right);
    hold_against_each_other(text, 0, &differ);
    cr_expect_eq(differ, pairs[k].same ? 0 : 1, "%s", text);
    fixture_stop();
  }
}

/* Operators of several results: a table of two, and the indexes x, y, x. */
static const struct {
  const char *left, *right;
  bool same[3];
} lists[] = {
/* The third entry is not reached. */
#define TABLE   "(access (concat (concat x y 0) y 0) 0)"
#define INDEXES "(concat (concat x y 0) x 0)"
    {"(compute (lookup 2) (access (concat (concat x y 0) " INDEXES " 0) 0))",
     "(compute gather (pair " TABLE " (compute (clip 0 1) (access " INDEXES
     " 0))))",
     {true, true, true}},
    {"(compute (lookup 2) (access (concat (concat x y 0) " INDEXES " 0) 0))",
     "(compute gather (pair " TABLE " (compute (clip 0 1) (access (concat "
     "(concat x x 0) y 0) 0))))",
     {true, false, false}},
    {"(compute (lookup 3) (access (concat " INDEXES " " INDEXES " 0) 0))",
     "(compute gather (pair (access " INDEXES " 0) (compute (clip 0 2) (access "
     "(concat (concat x y 0) y 0) 0))))",
     {true, true, false}},
};

Test(integers, both_ways_know_each_result) {
  for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
    for (uint32_t at = 0; at < 3; at++) {
      uint32_t differ = 0;
      fixture_start();
      const char *text = bs_arena_printf(
          &arena,
          "(tensor x (shape 1) i8)(tensor y (shape 1) i8)" SIDES("%s", "%s"),
          lists[k].left, lists[k].right);
      hold_against_each_other(text, at, &differ);
      cr_expect_eq(differ, lists[k].same[at] ? 0 : 1, "%u: %s", at, text);
      fixture_stop();
    }
}

Test(integers, both_ways_agree) {
  static const char *const dtypes[] = {"i8", "u8"};
  uint32_t differ = 0;
  for (uint32_t k = 0; k < 120 && pv_bits_is_there(); k++) {
    fixture_start();
    bs_text text;
    bs_text_init(&text, &heap);
    random_state = k * 7919 + 1;
    bs_putf(&text, "(tensor x (shape 1) DTYPE)(tensor y (shape 1) DTYPE)(let "
                   "l ");
    put_term(&text, 3);
    bs_put(&text, ")(let r (compute abs ");
    put_term(&text, 2);
    bs_put(&text, "))(output l)(output r)");
    bs_text named;
    bs_text_init(&named, &heap);
    for (const char *s = bs_text_str(&text); *s; s++)
      if (!strncmp(s, "DTYPE", 5)) {
        bs_put(&named, dtypes[k % 2]);
        s += 4;
      } else {
        bs_putf(&named, "%c", *s);
      }
    hold_against_each_other(bs_text_str(&named), 0, &differ);
    fixture_stop();
  }
  cr_expect(!pv_bits_is_there() || (differ > 10 && differ < 120), "%u", differ);
}

/* --- one byte, through floats and back -------------------------------------
 */

enum { DEEP = 4 };

static void
put_real_term(bs_text *out, int depth, uint32_t changed) {
  static const char *const ops[] = {
      "log",         "sqrt",        "rsqrt",      "recip",
      "floor",       "neg",         "abs",        "relu",
      "square",      "(scale 0.5)", "(scale 0)",  "(offset -3)",
      "(clip -9 9)", "(cast bf16)", "(cast f64)", "(cast f32)"};
  enum { OPS = sizeof ops / sizeof ops[0] };
  uint32_t op = draw(OPS), other = draw(OPS);
  if (!depth) {
    bs_put(out, changed > DEEP ? "odd" : "(compute (cast f32) x)");
    return;
  }
  bs_putf(out, "(compute %s ", ops[(uint32_t)depth == changed ? other : op]);
  put_real_term(out, depth - 1, changed);
  bs_put(out, ")");
}

/* One chain of operators twice, one of which may be another one in the second;
 * `changed`: its number, or 0; beyond the last one, the second is of a constant
 * instead of the byte. */
static const char *
put_two_chains(uint32_t seed, const char *dtype, const char *shape,
               uint32_t changed) {
  static const char *const ends[] = {"(compute (cast f32) %s)",
                                     "(compute (cast i32) %s)",
                                     "(compute (cast u8) %s)"};
  static const char *const odd[] = {"nan", "inf", "-inf", "nan"};
  bs_text side[2], text;
  for (uint32_t k = 0; k < 2; k++) {
    bs_text_init(&side[k], &heap);
    random_state = seed * 7919u + 5;
    put_real_term(&side[k], DEEP, k ? changed : 0);
  }
  bs_text_init(&text, &heap);
  bs_putf(&text,
          "(tensor x (shape %s) %s)(const one (shape 1) f32 %s)"
          "(let odd (broadcast one (shape %s)))",
          shape, dtype, odd[seed % 4], shape);
  for (uint32_t k = 0; k < 2; k++) {
    const char *end = ends[seed % 3], *at = strstr(end, "%s");
    bs_putf(&text, "(let %s %.*s%s%s)(output %s)", k ? "r" : "l",
            (int)(at - end), end, bs_text_str(&side[k]), at + 2, k ? "r" : "l");
  }
  return bs_text_str(&text);
}

/* Of all bytes, whether both outputs are the same number, or no number; false
 * where the types differ. */
static bool
are_same(const gs_program *p, bool signed_bytes, bool *same) {
  gs_tensor in, out[2];
  gs_type type;
  gs_type_at(p, p->inputs.data[0].term, &type);
  gs_tensor_init(&heap, &in, &type);
  for (int64_t k = 0; k < 256; k++)
    gs_tensor_set(&in, k, (double)(signed_bytes ? k - 128 : k));
  if (!gs_interpret(p, &in, out) || out[0].dtype != out[1].dtype)
    return false;
  *same = true;
  for (int64_t k = 0; k < 256; k++) {
    double a = gs_tensor_get(&out[0], k), b = gs_tensor_get(&out[1], k);
    *same &= a == b || (isnan(a) && isnan(b));
  }
  return true;
}

/* What is proved of a byte holds of all 256, and what differs of none by more
 * than rounding is not refuted. */
Test(integers, what_is_said_of_a_byte_is_so_of_all) {
  uint32_t proved = 0, refuted = 0, apart = 0;
  for (uint32_t k = 1; k <= 240; k++) {
    const char *dtype = k % 2 ? "i8" : "u8";
    bool same;
    fixture_start();
    const gs_program *p =
        program_over(NULL, put_two_chains(k, dtype, "256", k % (DEEP + 2)));
    if (are_same(p, k % 2, &same)) {
      const char *text = put_two_chains(k, dtype, "1", k % (DEEP + 2));
      pv_answer a = ask(text);
      cr_expect(same || a.verdict != PV_PROVED, "%s: %s", text, a.reason);
      cr_expect(!same || a.verdict != PV_REFUTED, "%s: %s", text, a.reason);
      proved += a.verdict == PV_PROVED;
      refuted += a.verdict == PV_REFUTED;
      apart += !same;
    }
    fixture_stop();
  }
  cr_log_info("%u proved, %u refuted, %u apart", proved, refuted, apart);
  cr_expect(proved > 40 && refuted > 40 && apart > 40);
  trail_end("integers-bytes");
}

/* --- memory --------------------------------------------------------------- */

static pv_verdict verdict;

static void
body(void *unused) {
  (void)unused;
  context_start();
  const char *text = questions[0].text;
  uint32_t source = bs_source_add(&diags, "test.glen", text, strlen(text));
  gs_program *p = gs_parse(&ctx, NULL, source);
  pv_options o;
  pv_defaults(&o);
  if (p)
    verdict = compare_outputs(p, &o).verdict;
}

static void
run_with(counter *c) {
  bs_hooks hooks = {count_down, c};
  verdict = PV_UNKNOWN;
  bs_heap_init(&heap, &hooks, 0);
  bs_protect(&heap, body, NULL);
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
}

Test(integers, memory_that_runs_out_proves_nothing) {
  counter whole = {.left = UINT64_MAX};
  run_with(&whole);
  cr_assert_eq(verdict, PV_PROVED);
  for (uint64_t k = 0; k < whole.used; k++) {
    counter c = {.left = k};
    run_with(&c);
    cr_assert(verdict == PV_UNKNOWN, "%lu", (unsigned long)k);
  }
}
