/* SPDX-License-Identifier: MIT */
/* Terms with holes: parsed, printed, checked as patterns, built. */
#include "fixture.h"
#include "glenside/program/skeleton.h"
#include "glenside/target/target.h"

static gs_scope scope;
static gs_target *target;

static int
named(void *arg, const char *name) {
  (void)arg;
  return strcmp(name, "x") ? -1 : gs_scope_find(&scope, "x");
}

static const char *const machine =
    "(target t)"
    "(instr double (params n) (operands (a ((n) ()) f32)) (result ((n) ()) f32)"
    " (semantics (compute (scale 2) a)) (emit \"twice({n}, {result}, {a});\"))";

static void
start(void) {
  fixture_start();
  uint32_t source = bs_source_add(&diags, "t", machine, strlen(machine));
  target = gs_target_parse(&ctx, source);
  cr_assert(target, "%s", faults());
  scope = (gs_scope){.question_marks = true, .open = true};
}

TestSuite(skeleton, .init = start, .fini = fixture_stop);

static const gs_skeleton *
parse(const char *text) {
  bs_sexps s = {0};
  return gs_skeleton_parse(&ctx, target, &s, read_form(&s, text), &scope);
}

static const char *
print(const gs_skeleton *s) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_put_skeleton(&out, ctx.values, &scope, s);
  return bs_text_str(&out);
}

/* Printed, it is this text, and the same again when that is read. */
static void
prints(const char *text, const char *expected) {
  const gs_skeleton *s = parse(text);
  cr_assert(s, "%s", faults());
  cr_expect_str_eq(print(s), expected);
  cr_expect_str_eq(print(parse(expected)), expected);
}

static void
refuses(const char *text, const char *expected) {
  cr_expect_null(parse(text), "%s", text);
  cr_expect_str_eq(codes(), expected, "%s\n%s", text, faults());
}

Test(skeleton, forms) {
  prints("?a", "?a");
  prints("(transpose ?a (list 1 0))", "(transpose ?a (list 1 0))");
  prints("(transpose ?a ?p)", "(transpose ?a ?p)");
  prints("(windows ?a (shape 3 ?k) (stride 1 1))",
         "(windows ?a (shape 3 ?k) (stride 1 1))");
  prints("(windows ?a ?k ?s (dilation 2 2))",
         "(windows ?a ?k ?s (dilation 2 2))");
  prints("(pad ?a zero ?d 0 (- (round-up ?n 16) ?n))",
         "(pad ?a zero ?d 0 (- (round-up ?n 16) ?n))");
  prints("(pad ?a min 0 1 1)", "(pad ?a min 0 1 1)");
  prints("(compute dotProd (cartProd ?a ?b))",
         "(compute dotProd (cartProd ?a ?b))");
  prints("(compute (clip ?lo 6.0) ?a)", "(compute (clip ?lo 6.0) ?a)");
  prints("(compute (cast bf16) ?a)", "(compute (cast bf16) ?a)");
  prints("(compute ?op ?a)", "(compute ?op ?a)");
  prints("(double 8 ?a)", "(call double 8 ?a)");
  prints("(call double ?n ?a)", "(call double ?n ?a)");
  prints("(tensor w (shape ?n 2) f32)", "(tensor w (shape ?n 2) f32)");
  prints("(reshape (flatten ?a) (access-shape ?a) (compute-shape ?a))",
         "(reshape (flatten ?a) (access-shape ?a) (compute-shape ?a))");
}

Test(skeleton, concat_of_many_nests) {
  prints("(concat ?a ?b ?c 0)", "(concat ?a (concat ?b ?c 0) 0)");
  prints("(concat ?a ?b ?d)", "(concat ?a ?b ?d)");
}

Test(skeleton, sorts_follow_from_the_place) {
  cr_assert(parse("(slice ?a ?d ?lo (dim ?b ?d))"));
  cr_expect_eq(scope.vars.data[gs_scope_find(&scope, "a")].sort, GS_SORT_CLASS);
  cr_expect_eq(scope.vars.data[gs_scope_find(&scope, "d")].sort, GS_SORT_INT);
  cr_expect_eq(scope.vars.data[gs_scope_find(&scope, "b")].sort, GS_SORT_CLASS);
  refuses("(transpose ?a ?d)", "sort-mismatch");
  refuses("(flatten ?d)", "sort-mismatch");
  refuses("(slice ?a ?a 0 1)", "sort-mismatch");
}

Test(skeleton, wrong_terms) {
  refuses("(frob ?a)", "unknown-operator");
  refuses("(relu ?a)", "unknown-operator");
  refuses("(transpoze ?a (list 0))", "unknown-operator");
  refuses("(flatten ?a ?b)", "wrong-arity");
  refuses("(concat ?a 0)", "wrong-arity");
  refuses("(windows ?a (shape 1))", "wrong-arity");
  refuses("(double ?a)", "wrong-arity");
  refuses("(call)", "wrong-arity");
  refuses("(call triple ?a)", "unknown-instruction");
  refuses("(compute frob ?a)", "unknown-name");
  refuses("(compute clip ?a)", "wrong-arity");
  refuses("(pad ?a 3 0 1 1)", "sort-mismatch");
  refuses("3", "not-a-term");
  refuses("()", "not-a-term");
  refuses("((flatten) ?a)", "not-a-term");
  refuses("a", "unknown-name");
  refuses("(cartProd (flatten) (frob))", "wrong-arity unknown-operator");
}

Test(skeleton, a_closed_scope_knows_its_variables) {
  scope.open = false;
  refuses("(flatten ?a)", "unknown-name");
  refuses("(slice ?a ?d 0 1)", "unknown-name unknown-variable");
}

Test(skeleton, bare_names) {
  gs_scope_add(&ctx, &scope, "x", GS_SORT_CLASS, BS_NOWHERE);
  scope.named = named;
  const gs_skeleton *s = parse("(flatten x)");
  cr_assert(s, "%s", faults());
  cr_expect(s->nodes[0].hole);
  refuses("(flatten y)", "unknown-name");
}

Test(skeleton, an_anonymous_variable_is_new_each_time) {
  const gs_skeleton *s = parse("(cartProd ?_ ?_)");
  cr_assert(s);
  cr_expect_neq(s->nodes[0].slot, s->nodes[1].slot);
}

Test(skeleton, patterns) {
  static const char *const good[] = {
      "?a", "(slice ?a ?d 0 ?hi)", "(reshape ?a (shape ?n 4) ?c)",
      "(compute (clip ?lo 6) ?a)", "(windows ?a ?k (stride 1 1))"};
  for (size_t k = 0; k < sizeof good / sizeof *good; k++)
    cr_expect(gs_skeleton_is_pattern(&ctx, parse(good[k])), "%s", good[k]);
  cr_expect_not(gs_skeleton_is_pattern(&ctx, parse("(slice ?a 0 0 (+ ?n 1))")));
  cr_expect_str_eq(codes(), "not-a-pattern");
}

Test(skeleton, depth_is_bounded) {
  bs_text text;
  bs_text_init(&text, &heap);
  for (int k = 0; k < 100000; k++)
    bs_put(&text, "(flatten ");
  bs_put(&text, "?a");
  for (int k = 0; k < 100000; k++)
    bs_put(&text, ")");
  refuses(bs_text_str(&text), "too-deep");
  bs_text_clear(&text);
  bs_put(&text, "(concat");
  for (int k = 0; k < 5000; k++)
    bs_put(&text, " ?a");
  bs_put(&text, " 0)");
  refuses(bs_text_str(&text), "too-deep");
}

/* Builds over one tensor of ((4),(6)) f32 bound to ?a, ?n = 3. */
static const char *
build(const char *text) {
  static gs_fault fault;
  gs_program *p = gs_program_new(&ctx, target);
  gs_type t = {1, 2, GS_F32, {4, 6}};
  uint32_t slots[8] = {0};
  gs_term holes[8];
  gs_type out;
  const gs_skeleton *s = parse(text);
  cr_assert(s, "%s", faults());
  int n = gs_scope_find(&scope, "n");
  for (int k = 0; k < 8; k++)
    slots[k] = UINT32_MAX;
  if (n >= 0)
    slots[n] = bs_int(ctx.values, 3).i;
  t.access = 2;
  gs_term tensor = gs_add_tensor(p, "a", &t, BS_NOWHERE);
  bs_value one = bs_int(ctx.values, 1);
  holes[gs_scope_find(&scope, "a")] =
      gs_add(p, GS_ACCESS, bs_list(ctx.values, &one, 1), &tensor, 1, BS_NOWHERE,
             &fault);
  gs_env env = {.values = ctx.values, .slots = slots, .n_slots = 8};
  gs_term built = gs_skeleton_build(s, p, &env, holes, &fault);
  if (!gs_term_ok(built))
    return fault.code;
  gs_type_at(p, built, &out);
  bs_text type;
  bs_text_init(&type, &heap);
  gs_put_type(&type, &out);
  return bs_text_str(&type);
}

Test(skeleton, building) {
  cr_expect_str_eq(build("?a"), "((4), (6)) f32");
  cr_expect_str_eq(build("(windows ?a (shape ?n) (stride 2))"),
                   "((4, 2), (3)) f32");
  cr_expect_str_eq(build("(reshape ?a (shape 2 2) (shape (* 2 ?n)))"),
                   "((2, 2), (6)) f32");
  cr_expect_str_eq(build("(compute (scale (/ ?n 2)) ?a)"), "((4), (6)) f32");
  cr_expect_str_eq(build("(slice ?a 0 0 (/ ?n 0))"), "undefined");
  cr_expect_str_eq(build("(slice ?a 0 0 (* ?n 5))"), "slice-range");
}
