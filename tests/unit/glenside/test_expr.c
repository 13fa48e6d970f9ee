/* SPDX-License-Identifier: MIT */
/* Expressions: values of every function, undefinedness, sorts, diagnostics. */
#include "fixture.h"
#include "glenside/expr/expr.h"
#include <stdio.h>
#include <stdlib.h>

static gs_scope scope;
static uint32_t slots[32];

static bs_value
param(void *arg, const char *name) {
  (void)arg;
  return strcmp(name, "q") ? BS_NIL : bs_int(ctx.values, 16);
}

static int
named(void *arg, const char *name) {
  (void)arg;
  return strcmp(name, "conv") ? -1 : 0;
}

/* ?a : ((2,3),(4)) f32, ?b : ((),(5)) i8; then attributes. */
static void
start(void) {
  static const struct {
    const char *name;
    gs_sort sort;
    const char *value;
  } vars[] = {
      {"a", GS_SORT_CLASS, NULL},     {"b", GS_SORT_CLASS, NULL},
      {"n", GS_SORT_INT, "7"},        {"l", GS_SORT_LIST, "(3 1 2)"},
      {"op", GS_SORT_OP, "relu"},     {"clip", GS_SORT_OP, "(clip 0 6)"},
      {"t", GS_SORT_DTYPE, "i8"},     {"r", GS_SORT_REAL, "2"},
      {"unbound", GS_SORT_INT, NULL}, {"any", GS_SORT_ANY, "5"},
      {"kind", GS_SORT_SYM, "min"},   {"sum", GS_SORT_OP, "reduceSum"},
  };
  fixture_start();
  scope = (gs_scope){.question_marks = true, .param = param, .named = named};
  for (size_t k = 0; k < sizeof vars / sizeof *vars; k++) {
    gs_scope_add(&ctx, &scope, vars[k].name, vars[k].sort, BS_NOWHERE);
    slots[k] = k < 2 ? (uint32_t)k : UINT32_MAX;
    if (!vars[k].value)
      continue;
    bs_sexps s = {0};
    uint32_t node = read_form(&s, vars[k].value);
    slots[k] = bs_sx_value(&heap, ctx.values, &s, node).i;
  }
}

TestSuite(expr, .init = start, .fini = fixture_stop);

static bs_value
type_of(void *facts, uint32_t c) {
  (void)facts;
  gs_type a = {2, 3, GS_F32, {2, 3, 4}}, b = {0, 1, GS_I8, {5}};
  return gs_type_intern(ctx.values, c ? &b : &a);
}

/* ?a is zero in [0,1) and [1,2) of axis 0, and in [1,3) of axis 2 */
static bs_value
zeros_of(void *facts, uint32_t c) {
  (void)facts;
  bs_sexps s = {0};
  if (c)
    return BS_NIL;
  uint32_t node = read_form(&s, "((2 1 3) (0 0 1) (0 1 2))");
  return bs_sx_value(&heap, ctx.values, &s, node);
}

static bs_value
constant_of(void *facts, uint32_t c) {
  (void)facts;
  return c ? bs_real(ctx.values, 2.5) : BS_NIL;
}

static const gs_expr *
parse(const char *text) {
  bs_sexps s = {0};
  return gs_expr_parse(&ctx, &s, read_form(&s, text), &scope);
}

/* The value as text, "undefined", or the diagnostics' codes. */
static const char *
eval(const char *text) {
  const gs_expr *e = parse(text);
  gs_env env = {.values = ctx.values,
                .slots = slots,
                .n_slots = scope.vars.len,
                .type_of = type_of,
                .zeros_of = zeros_of,
                .constant_of = constant_of};
  bs_text out;
  bs_value v;
  if (!e)
    return codes();
  if (!gs_expr_eval(e, &env, &v))
    return "undefined";
  bs_text_init(&out, &heap);
  bs_put_value(&out, ctx.values, v);
  return bs_text_str(&out);
}

#define EQ(text, expected) cr_expect_str_eq(eval(text), expected, "%s", text)

Test(expr, arithmetic) {
  EQ("(+ 1 2 3)", "6");
  EQ("(- 5)", "-5");
  EQ("(- 5 2 1)", "2");
  EQ("(* 2 3.5)", "7");
  EQ("(* ?r 0.25)", "0.5");
  EQ("(/ ?r 4)", "0.5");
  EQ("(/ (* 2 0.5) 2)", "0.5");
  EQ("(/ (/ 6 2.0) 2)", "1.5");
  EQ("(/ (if (< 1 2) (* 2 0.5) ?n) 2)", "0.5");
  EQ("(/ (if (< 1 2) 3 0.5) 2)", "1.5");
  EQ("(/ (max 3 (- 0.5 0.5)) 2)", "1.5");
  EQ("(/ 7 2)", "3");
  EQ("(/ -7 2)", "-4");
  EQ("(mod -7 3)", "2");
  EQ("(mod 7 -3)", "-2");
  EQ("(min 3 1 2)", "1");
  EQ("(max 3 1.5)", "3");
  EQ("(abs -4)", "4");
  EQ("(gcd 12 18 -8)", "2");
  EQ("(divides 3 12)", "true");
  EQ("(divides 0 12)", "false");
  EQ("(ceil-div 7 2)", "4");
  EQ("(ceil-div -7 2)", "-3");
  EQ("(round-up 17 16)", "32");
  EQ("(round-up 16 16)", "16");
  EQ("(round-down 17 16)", "16");
  EQ("(+ ?n ?any)", "12");
}

Test(expr, undefined) {
  EQ("(/ 1 0)", "undefined");
  EQ("(mod 1 0)", "undefined");
  EQ("(/ 1.5 0)", "undefined");
  EQ("(* 9223372036854775807 2)", "undefined");
  EQ("(- -9223372036854775807 2)", "undefined");
  EQ("(/ (- -9223372036854775807 1) -1)", "undefined");
  EQ("(abs (- -9223372036854775807 1))", "undefined");
  EQ("(round-up 9223372036854775807 2)", "undefined");
  EQ("(nth ?l 3)", "undefined");
  EQ("(nth ?l -1)", "undefined");
  EQ("(last (list))", "undefined");
  EQ("(take ?l 4)", "undefined");
  EQ("(index-of ?l 9)", "undefined");
  EQ("?unbound", "undefined");
  EQ("(+ ?unbound 1)", "undefined");
  EQ("(dim ?a 3)", "undefined");
  EQ("(iota 100000)", "undefined");
  EQ("(fill 1025 0)", "undefined");
  EQ("(range 0 10 0)", "undefined");
  EQ("(prod (list 4611686018427387904 4))", "undefined");
  EQ("(cuts 10 0)", "undefined");
  EQ("(add-lists (list 1) (list 1 2))", "undefined");
  EQ("(compose (list 0 0) (list 0 1))", "undefined");
  EQ("(op-param ?op 0)", "undefined");
  EQ("(fold-of ?op)", "undefined");
  EQ("(constant ?a)", "undefined");
}

Test(expr, logic) {
  EQ("(< 1 2 3)", "true");
  EQ("(< 1 3 3)", "false");
  EQ("(<= 1 3 3)", "true");
  EQ("(> 3 2 2)", "false");
  EQ("(>= 3 2 2)", "true");
  EQ("(= 2 ?r 2.0)", "true");
  EQ("(!= (list 1 2) (list 1 2))", "false");
  EQ("(= ?a ?a)", "true");
  EQ("(= ?a ?b)", "false");
  EQ("(and true (< 1 2))", "true");
  EQ("(and)", "true");
  EQ("(not (and (and)))", "false");
  EQ("(and (= 1 (/ 1 0)) false)", "false");
  EQ("(and (= 1 (/ 1 0)) true)", "undefined");
  EQ("(or (= 1 (/ 1 0)) true)", "true");
  EQ("(or (= 1 (/ 1 0)) false)", "undefined");
  EQ("(not (= 1 (/ 1 0)))", "undefined");
  EQ("(not false)", "true");
  EQ("(if (> ?n 3) 10 (/ 1 0))", "10");
  EQ("(if (/ 1 0) 1 2)", "sort-mismatch");
}

Test(expr, a_test_holds_only_when_defined_and_true) {
  gs_env env = {.values = ctx.values,
                .slots = slots,
                .n_slots = scope.vars.len,
                .type_of = type_of};
  cr_expect(gs_expr_test(parse("(= ?n 7)"), &env));
  cr_expect_not(gs_expr_test(parse("(= ?n 8)"), &env));
  cr_expect_not(gs_expr_test(parse("(= ?unbound ?unbound)"), &env));
  cr_expect_not(gs_expr_test(parse("(is-const ?a)"), &env));
}

Test(expr, lists) {
  EQ("(list 1 (list 2) relu)", "(1 (2) relu)");
  EQ("(shape 2 ?n)", "(2 7)");
  EQ("(stride 1 1)", "(1 1)");
  EQ("(len ?l)", "3");
  EQ("(nth ?l 0)", "3");
  EQ("(last ?l)", "2");
  EQ("(cons 9 ?l)", "(9 3 1 2)");
  EQ("(append ?l (list) ?l)", "(3 1 2 3 1 2)");
  EQ("(take ?l 2)", "(3 1)");
  EQ("(drop ?l 2)", "(2)");
  EQ("(slice-list ?l 1 1)", "()");
  EQ("(slice-list ?l 1 3)", "(1 2)");
  EQ("(set-nth ?l 1 8)", "(3 8 2)");
  EQ("(insert-nth ?l 3 8)", "(3 1 2 8)");
  EQ("(remove-nth ?l 0)", "(1 2)");
  EQ("(reverse ?l)", "(2 1 3)");
  EQ("(iota 3)", "(0 1 2)");
  EQ("(iota 0)", "()");
  EQ("(range 2 5)", "(2 3 4)");
  EQ("(range 2 9 3)", "(2 5 8)");
  EQ("(fill 2 ?n)", "(7 7)");
  EQ("(prod ?l)", "6");
  EQ("(prod (list))", "1");
  EQ("(sum ?l)", "6");
  EQ("(mul-lists ?l ?l)", "(9 1 4)");
  EQ("(div-lists (list 7 8) (list 2 3))", "(3 2)");
  EQ("(mod-lists (list 7 8) (list 2 3))", "(1 2)");
  EQ("(index-of ?l 2)", "2");
  EQ("(member ?l 5)", "false");
  EQ("(all-equal (list 4 4))", "true");
  EQ("(all-equal (list 4 4) 5)", "false");
  EQ("(all-equal (list))", "true");
  EQ("(all-ones (list 1 1))", "true");
}

Test(expr, permutations) {
  EQ("(is-permutation (list 2 0 1))", "true");
  EQ("(is-permutation (list 2 0 2))", "false");
  EQ("(is-permutation (list))", "true");
  EQ("(compose (list 1 3 2 0) (list 3 2 1 0))", "(0 2 3 1)");
  EQ("(invert (list 2 0 1))", "(1 2 0)");
  EQ("(compose (list 2 0 1) (invert (list 2 0 1)))", "(0 1 2)");
  EQ("(permute (list 5 6 7) (list 2 0 1))", "(7 5 6)");
}

Test(expr, cut_points) {
  EQ("(halvings 8)", "(4)");
  EQ("(halvings 8 5)", "()");
  EQ("(halvings 9)", "()");
  EQ("(cuts 16 16)", "()");
  EQ("(cuts 17 16)", "(16)");
  EQ("(cuts 48 16)", "(16)");
  EQ("(cuts 64 16)", "(32)");
  EQ("(cuts 576 16)", "(288)");
  EQ("(cuts 100 16)", "(48)");
  EQ("(cuts 52 16)", "(32)");
}

/* Cut a dimension again and again: blocks of q, and one smaller at the end. */
static void
cut_all(int64_t lo, int64_t n, int64_t q, int64_t end) {
  char text[80];
  int64_t at;
  snprintf(text, sizeof text, "(cuts %lld %lld)", (long long)n, (long long)q);
  const char *found = eval(text);
  if (!strcmp(found, "()")) {
    cr_expect(n == q || (n < q && lo + n == end), "%s", text);
    return;
  }
  at = atoll(found + 1);
  cr_assert(at > 0 && at < n && at % q == 0, "%s gave %s", text, found);
  cut_all(lo, at, q, end);
  cut_all(lo + at, n - at, q, end);
}

Test(expr, cuts_end_in_blocks) {
  for (int64_t n = 1; n < 80; n++)
    for (int64_t q = 1; q < 20; q += 3)
      cut_all(0, n, q, n);
}

Test(expr, facts) {
  EQ("(axes ?a)", "(0 1 2)");
  EQ("(access-shape ?a)", "(2 3)");
  EQ("(compute-shape ?a)", "(4)");
  EQ("(shape ?a)", "(2 3 4)");
  EQ("(shape conv)", "unknown-name");
  EQ("(dim conv 2)", "4");
  EQ("(dim ?a 2)", "4");
  EQ("(dtype ?b)", "i8");
  EQ("(rank ?a)", "3");
  EQ("(rank ?l)", "3");
  EQ("(access-rank ?b)", "0");
  EQ("(compute-rank ?b)", "1");
  EQ("(elements ?a)", "24");
  EQ("(zeros ?b)", "()");
  EQ("(is-zero ?a)", "true");
  EQ("(is-zero ?b)", "false");
  EQ("(is-zero ?a 2 1 3)", "true");
  EQ("(is-zero ?a 2 0 3)", "false");
  EQ("(is-zero ?a 2 2 2)", "true");
  EQ("(is-zero ?a 2 1 5)", "undefined");
  EQ("(is-const ?b)", "true");
  EQ("(constant ?b)", "2.5");
}

Test(expr, operators_and_dtypes) {
  EQ("(dtype-bytes ?t)", "1");
  EQ("(sum-dtype ?t)", "i32");
  EQ("(is-integer ?t)", "true");
  EQ("(= ?t i8)", "true");
  EQ("(op-kind ?op)", "elementwise");
  EQ("(= (op-kind ?sum) reduce)", "true");
  EQ("(op-name ?clip)", "clip");
  EQ("(op-param ?clip 1)", "6");
  EQ("(fold-of ?sum)", "add");
  EQ("(reduce-of (fold-of ?sum))", "reduceSum");
  EQ("(is-associative ?sum)", "true");
  EQ("(is-monotone ?op)", "true");
  EQ("(maps-zero ?op)", "true");
  EQ("(maps-zero (clip 1 6))", "false");
  EQ("(maps-zero (clip -1 6))", "true");
  EQ("(maps-zero (offset 1))", "false");
  EQ("(clip 0.0 6.5)", "(clip 0 6.5)");
  EQ("(cast ?t)", "(cast i8)");
  EQ("(scale (* ?r 3))", "(scale 6)");
  EQ("(= ?op relu)", "true");
  EQ("(= ?kind min)", "true");
}

Test(expr, parameters) {
  EQ("(* $q 2)", "32");
  EQ("(* $p 2)", "unknown-param");
  cr_expect_eq(parse("(* $q 2)")->kind, GS_X_LITERAL);
}

Test(expr, parameters_simplify_conditions) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_put_expr(&out, ctx.values, &scope,
              parse("(and (or (= $q 0) (= ?n $q)) (= $q 16) (< ?n 3))"));
  cr_expect_str_eq(bs_text_str(&out), "(and (= ?n 16) (< ?n 3))");
  cr_expect_eq(parse("(or (= $q 16) (= ?n 3))")->kind, GS_X_LITERAL);
}

/* What another value of a parameter would change says so. */
Test(expr, parameters_leave_a_mark) {
  cr_expect(parse("(* $q 2)")->settable);
  cr_expect(parse("(if (= $q 16) 1 0)")->settable);
  cr_expect(parse("(or (= $q 0) (= ?n 3))")->settable);
  cr_expect_not(parse("(* 2 3)")->settable);
  cr_expect_not(parse("(+ ?n 3)")->settable);
}

Test(expr, wrong_sorts) {
  EQ("(+ 1 true)", "sort-mismatch");
  EQ("(dim 3 0)", "sort-mismatch");
  EQ("(+ ?a 1)", "sort-mismatch");
  EQ("?a", "sort-mismatch");
  EQ("(len ?n)", "sort-mismatch");
  EQ("(= ?n ?l)", "sort-mismatch");
  EQ("(= ?a 1)", "sort-mismatch");
  EQ("(mod 1.5 2)", "sort-mismatch");
  EQ("(rank ?n)", "sort-mismatch");
  EQ("(and 1 true)", "sort-mismatch");
}

Test(expr, wrong_forms) {
  EQ("(frobnicate 1)", "unknown-function");
  EQ("(comopse ?l ?l)", "unknown-function");
  cr_expect(strstr(faults(), "did you mean 'compose'?"));
  EQ("(mod 1)", "wrong-arity");
  EQ("(is-zero ?a 1)", "wrong-arity");
  EQ("(clip 1)", "wrong-arity");
  EQ("(= ?clip clip)", "sort-mismatch");
  EQ("(= (op-name ?clip) clip)", "true");
  EQ("(1 2)", "not-an-expression");
  EQ("()", "not-an-expression");
  EQ("?nobody", "unknown-variable");
  EQ("nobody", "unknown-name");
  EQ("(+ (mod 1) ?nobody)", "wrong-arity unknown-variable");
}

Test(expr, depth_and_width_are_bounded) {
  bs_text text;
  bs_text_init(&text, &heap);
  for (int k = 0; k < 100000; k++)
    bs_put(&text, "(- ");
  bs_put(&text, "1");
  for (int k = 0; k < 100000; k++)
    bs_put(&text, ")");
  EQ(bs_text_str(&text), "too-deep");
  bs_text_clear(&text);
  bs_put(&text, "(list");
  for (int k = 0; k < 500; k++)
    bs_putf(&text, " %d", k);
  bs_put(&text, ")");
  cr_expect_eq(strlen(eval(bs_text_str(&text))),
               2 + 10 + 90 * 2 + 400 * 3 + 499);
  bs_text_clear(&text);
  bs_put(&text, "(+");
  for (int k = 0; k < 33; k++)
    bs_put(&text, " ?n");
  bs_put(&text, ")");
  EQ(bs_text_str(&text), "wrong-arity");
}

Test(expr, an_open_scope_takes_new_variables) {
  scope.open = true;
  const gs_expr *e = parse("(and (= ?new (dim ?a 0)) (= ?s (shape ?a)))");
  cr_assert(e, "%s", faults());
  cr_expect_eq(scope.vars.data[gs_scope_find(&scope, "new")].sort, GS_SORT_INT);
  cr_expect_eq(scope.vars.data[gs_scope_find(&scope, "?s")].sort, GS_SORT_LIST);
  cr_expect_null(parse("(len ?new)"));
  cr_expect_str_eq(codes(), "sort-mismatch");
}

Test(expr, targets_write_bare_names) {
  scope.question_marks = false;
  EQ("(+ n 1)", "8");
  EQ("(dim a 1)", "3");
  EQ("(= t i8)", "true");
  EQ("(= kind zero)", "false");
  EQ("(+ x 1)", "unknown-variable");
}

Test(expr, what_is_printed_reads_back) {
  static const char *const texts[] = {
      "(and (= ?n (dim ?a 0)) (or (< ?n 3) true))",
      "(append ?l (list 1 2) (list ?n ?n))",
      "(if (divides 2 ?n) (list (list 1) (list)) ?l)",
      "(= ?clip (clip 0 ?r))",
      "(scale (* ?r 1.5))",
      "(= ?op relu)",
  };
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    bs_text once, twice;
    bs_text_init(&once, &heap);
    bs_text_init(&twice, &heap);
    gs_put_expr(&once, ctx.values, &scope, parse(texts[k]));
    const gs_expr *again = parse(bs_text_str(&once));
    cr_assert(again, "%s", faults());
    gs_put_expr(&twice, ctx.values, &scope, again);
    cr_expect_str_eq(bs_text_str(&once), bs_text_str(&twice));
    cr_expect_str_eq(eval(bs_text_str(&once)), eval(texts[k]));
  }
}

static void
count_slot(void *arg, uint32_t slot, bs_span span) {
  (void)span;
  ((int *)arg)[slot]++;
}

Test(expr, variables_are_listed) {
  int counts[32] = {0};
  gs_expr_vars(parse("(+ ?n (dim ?a ?n))"), count_slot, counts);
  cr_expect_eq(counts[gs_scope_find(&scope, "n")], 2);
  cr_expect_eq(counts[gs_scope_find(&scope, "a")], 1);
  cr_expect_eq(counts[gs_scope_find(&scope, "l")], 0);
}

Test(expr, the_table_is_whole) {
  for (uint16_t k = 0; k < gs_function_count(); k++) {
    const gs_function_info *f = gs_function_at(k);
    cr_expect_eq(gs_function_find(f->name), k, "%s stands twice", f->name);
    cr_expect(f->min_args <= f->max_args && f->doc[0]);
    cr_expect_str_eq(gs_function_name(k), f->name);
  }
  cr_expect_eq(gs_function_find("nothing"), -1);
}

Test(expr, the_documentation_holds_the_table) {
  bs_text table;
  uint32_t source = bs_source_read(
      &diags, GLEN_SOURCE_DIR "/docs/EXPRESSIONS.md", BS_NOWHERE);
  cr_assert(source, "%s", faults());
  bs_text_init(&table, &heap);
  gs_put_functions(&table);
  cr_expect(strstr(diags.sources.data[source - 1].text, bs_text_str(&table)),
            "put this into docs/EXPRESSIONS.md:\n%s", bs_text_str(&table));
}
