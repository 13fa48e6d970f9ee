/* SPDX-License-Identifier: MIT */
/* Explanations: chains are found, replay, and wrong ones are caught; the
 * nearest misses of rules. */
#include "../base/counting.h"
#include "lawful.h"
#include "rules/explain/explain.h"
#include "rules/explain/near.h"

TestSuite(explain, .init = fixture_start, .fini = fixture_stop);

static rl_run
recorded(const rl_rules *rules, const gs_program *p) {
  rl_options o = options();
  rl_run run;
  o.explain = true;
  o.run.nodes = 4000;
  cr_assert(rl_saturate(&ctx, p, rules, &o, &run), "%s", faults());
  return run;
}

/* Chains from the outputs of a to those of b; they must replay. */
static rl_explanation
explained(const rl_rules *rules, rl_run *run, const char *a, const char *b) {
  rl_explanation x;
  gs_program *p = program_of(a);
  gs_program *q = program_of(b);
  cr_assert(rl_explain(&ctx, run, p, q, 1000, &x), "why %d", x.why);
  const char *wrong = rl_check_explanation(&ctx, rules, &x);
  cr_assert_null(wrong, "%s", wrong);
  return x;
}

#define TENSORS "(tensor a (shape 4 6) f32)(tensor b (shape 6 5) f32)"

static const char transposes[] =
    "(rule twice \"Two are one.\" (transpose (transpose ?a ?p) ?q)"
    "  => (transpose ?a ?r) :where (= ?r (compose ?p ?q)))"
    "(rule idle \"The identity.\" (transpose ?a ?p) => ?a"
    "  :where (= ?p (range 0 (rank ?a))))";

Test(explain, computed_attributes_and_conditions) {
  rl_rules *rules = rules_of(transposes);
  const char *from = TENSORS
      "(let x (transpose (transpose a (list 1 0)) (list 1 0)))(output x)";
  rl_run run = recorded(rules, program_of(from));
  rl_explanation x = explained(rules, &run, from, TENSORS "(output a)");
  cr_expect_eq(x.chains[0].n, 2);
  cr_expect_str_eq(x.chains[0].links[0].rule->name, "twice");
  cr_expect(x.chains[0].links[0].forward);
  cr_expect_str_eq(x.chains[0].links[1].rule->name, "idle");
  rl_run_done(&run);
}

Test(explain, backwards_and_in_depth) {
  rl_rules *rules = rules_of(transposes);
  const char *from = TENSORS "(let x (compute relu a))(output x)";
  const char *both = TENSORS
      "(let x (compute relu a))"
      "(let y (compute relu (transpose (transpose a (list 1 0)) (list 1 0))))"
      "(output x)(output y)";
  const char *to = TENSORS
      "(let y (compute relu (transpose (transpose a (list 1 0)) (list 1 0))))"
      "(output y)";
  rl_run run = recorded(rules, program_of(both));
  rl_explanation x = explained(rules, &run, from, to);
  cr_assert_eq(x.chains[0].n, 2);
  cr_expect_not(x.chains[0].links[0].forward);
  cr_expect_eq(x.chains[0].links[0].n_path, 1);
  rl_run_done(&run);
}

Test(explain, loops_over_axes) {
  rl_rules *rules = rules_of(
      "(rule halves \"Cut.\" ?a => (concat (slice ?a ?d 0 ?m) (slice ?a ?d ?m "
      "?n) ?d) :for (?d (axes ?a)) :where (and (= ?n (dim ?a ?d)) (= (mod ?n "
      "2) 0) (= ?m (/ ?n 2)) (> ?n 3)) :match-limit 40)");
  const char *from = TENSORS "(let x (compute relu a))(output x)";
  const char *to = TENSORS
      "(let y (compute relu (concat (slice a 1 0 3) (slice a 1 3 6) 1)))"
      "(output y)";
  rl_run run = recorded(rules, program_of(from));
  rl_explanation x = explained(rules, &run, from, to);
  cr_expect_eq(x.chains[0].n, 1);
  rl_run_done(&run);
}

/* Two patterns ask of classes; the second result is of the second. */
Test(explain, several_patterns_and_results) {
  rl_rules *rules = rules_of(
      "(rule share \"One wide product.\" (compute dotProd (cartProd ?x ?a))"
      "  => (slice (compute dotProd (cartProd ?x (concat ?a ?b 0))) 1 0 ?n)"
      "  :with (?y (compute dotProd (cartProd ?x ?b)))"
      "  :also (?y (slice (compute dotProd (cartProd ?x (concat ?a ?b 0))) 1 "
      "?n ?m)) :where (and (!= ?a ?b) (= ?n (dim ?a 0)) (= ?m (+ ?n (dim ?b "
      "0)))) :match-limit 4)");
  const char *arrays = "(tensor x (shape 4 6) f32)(tensor u (shape 3 6) f32)"
                       "(tensor v (shape 2 6) f32)";
  const char *tail =
      "(let p (compute dotProd (cartProd (access x 1) (access u 1))))"
      "(let q (compute dotProd (cartProd (access x 1) (access v 1))))"
      "(output p)(output q)";
  const char *wide =
      "(let w (compute dotProd (cartProd (access x 1) (concat (access u 1) "
      "(access v 1) 0))))(let p (slice w 1 0 3))(let q (slice w 1 3 5))"
      "(output p)(output q)";
  const char *from = bs_arena_printf(&arena, "%s%s", arrays, tail);
  const char *to = bs_arena_printf(&arena, "%s%s", arrays, wide);
  rl_run run = recorded(rules, program_of(from));
  rl_explanation x = explained(rules, &run, from, to);
  cr_assert_eq(x.n_chains, 2);
  cr_expect_eq(x.chains[0].n, 1);
  cr_expect_eq(x.chains[1].n, 1);
  cr_expect_eq(x.chains[1].links[0].result, 1);
  rl_run_done(&run);
}

/* That the factor is zero is proven by a term that the chain does not have. */
Test(explain, a_fact_of_another_term) {
  rl_rules *rules = rules_of(
      "(rule nothing \"Zero times x.\" (compute mul (pair ?a ?b)) => ?a"
      "  :where (is-zero ?a))"
      "(rule cancel \"x - x.\" (compute sub (pair ?a ?a))"
      "  => (slice (pad ?a zero 0 0 4) 0 4 8))");
  const char *from = "(tensor a (shape 4) f32)(tensor b (shape 4) f32)"
                     "(let z (compute sub (pair a a)))"
                     "(let m (compute mul (pair z b)))(output m)";
  const char *to = "(tensor a (shape 4) f32)(tensor b (shape 4) f32)"
                   "(let z (compute sub (pair a a)))(output z)";
  rl_run run = recorded(rules, program_of(from));
  rl_explanation x = explained(rules, &run, from, to);
  cr_assert_eq(x.chains[0].n, 1);
  cr_assert_eq(x.n_lemmas, 1);
  cr_expect_eq(x.chains[0].links[0].n_lemmas, 1);
  cr_expect_eq(x.lemmas[0].n, 1);
  cr_expect_str_eq(x.lemmas[0].links[0].rule->name, "cancel");
  rl_run_done(&run);
}

/* One variable is asked for two patterns: at most one can stand in the term,
 * the other is a lemma. */
Test(explain, an_equality_beside_the_term) {
  rl_rules *rules = rules_of(
      "(rule turn \"Twice.\" (compute sqrt ?a) => (transpose (transpose "
      "(compute sqrt ?a) (list 1 0)) (list 1 0)) :match-limit 1)"
      "(rule known \"Two forms.\" (compute relu ?x) => ?x"
      "  :with (?x (transpose ?a ?p)) :with (?x (compute sqrt ?b)))");
  const char *from =
      TENSORS "(let s (compute sqrt a))(let x (compute relu s))(output x)";
  rl_run run = recorded(rules, program_of(from));
  rl_explanation x = explained(rules, &run, from,
                               TENSORS "(let s (compute sqrt a))(output s)");
  cr_expect_geq(x.n_lemmas, 1);
  for (uint32_t k = 0; k < x.n_lemmas; k++)
    cr_expect(x.lemmas[k].found);
  rl_run_done(&run);
}

static const char array_text[] =
    "(target t (cores 1)) (instr wide (params n)"
    "  (operands (x ((m) (k)) f32) (y (() (k n)) f32))"
    "  (result ((m n) ()) f32)"
    "  (semantics (compute dotProd (cartProd x (access (transpose y (list 1 "
    "0)) 1))))"
    "  (where (and (= (mod k 16) 0) (<= n 4))) (cost (cycles m))"
    "  (emit \"wide();\"))";

Test(explain, lowering_is_a_step) {
  gs_target *t = target_of(array_text);
  rl_rules *rules = rules_over(t, transposes);
  const char *from = "(tensor a (shape 8 16) f32)(tensor b (shape 4 16) f32)"
                     "(let x (compute dotProd (cartProd (access a 1) (access b "
                     "1))))(output x)";
  const char *to = "(tensor a (shape 8 16) f32)(tensor b (shape 4 16) f32)"
                   "(let x (wide 4 (access a 1) (access (transpose (access b "
                   "1) (list 1 0)) 0)))(output x)";
  gs_program *p = program_over(t, from), *q = program_over(t, to);
  rl_run run = recorded(rules, p);
  rl_explanation x;
  cr_assert(rl_explain(&ctx, &run, p, q, 100, &x));
  cr_expect_null(rl_check_explanation(&ctx, rules, &x));
  cr_expect_eq(x.chains[0].n, 1);
  cr_expect_str_eq(x.chains[0].links[0].rule->name, "wide");
  rl_run_done(&run);
}

Test(explain, unequal_programs) {
  rl_rules *rules = rules_of(transposes);
  const char *both = TENSORS "(let x (compute relu a))(output a)(output x)";
  rl_run run = recorded(rules, program_of(both));
  rl_explanation x;
  gs_program *p = program_of(TENSORS "(output a)");
  gs_program *q = program_of(TENSORS "(let x (compute relu a))(output x)");
  cr_expect_not(rl_explain(&ctx, &run, p, q, 100, &x));
  cr_expect_eq(x.why, EG_NOT_EQUAL);
  rl_run_done(&run);
  run = saturated(rules, program_of(both));
  cr_expect_not(rl_explain(&ctx, &run, p, q, 100, &x));
  cr_expect_eq(x.why, EG_NOT_RECORDED);
  rl_run_done(&run);
}

/* --- wrong chains --------------------------------------------------------- */

Test(explain, wrong_steps_are_caught) {
  rl_rules *rules = rules_of(transposes);
  const char *from = TENSORS
      "(let x (compute relu (transpose (transpose a (list 1 0)) (list 1 0))))"
      "(output x)";
  const char *to = TENSORS "(let x (compute relu a))(output x)";
  rl_run run = recorded(rules, program_of(from));
  rl_explanation x = explained(rules, &run, from, to);
  cr_assert_eq(x.chains[0].n, 2);
  rl_link good = x.chains[0].links[0], bad = good;
  cr_expect_null(rl_check_link(&ctx, rules, &x, &good));
  bad.rule = rl_find(rules, "idle");
  cr_expect_not_null(rl_check_link(&ctx, rules, &x, &bad));
  bad = good;
  bad.forward = false;
  cr_expect_not_null(rl_check_link(&ctx, rules, &x, &bad));
  bad = good;
  bad.after = good.before;
  cr_expect_not_null(rl_check_link(&ctx, rules, &x, &bad));
  bad = good;
  bad.next = x.chains[0].to;
  cr_expect_not_null(rl_check_link(&ctx, rules, &x, &bad));
  bad = good;
  bad.n_path = 0;
  cr_expect_not_null(rl_check_link(&ctx, rules, &x, &bad));
  rl_chain torn = x.chains[0];
  uint32_t step;
  torn.links++;
  torn.n--;
  cr_expect_not_null(rl_check_chain(&ctx, rules, &x, &torn, &step));
  rl_run_done(&run);
}

/* --- near misses ---------------------------------------------------------- */

static rl_nearness
nearest(gs_target *t, rl_rules *rules, rl_run *run, const char *text) {
  rl_nearness near;
  *run = recorded(rules, program_over(t, text));
  rl_nearest(&ctx, run, rl_find(rules, "wide"), 3, &near);
  return near;
}

Test(explain, a_size_that_does_not_divide) {
  gs_target *t = target_of(array_text);
  rl_rules *rules = rules_over(t, transposes);
  rl_run run;
  rl_nearness near =
      nearest(t, rules, &run,
              "(tensor a (shape 8 3) f32)(tensor b (shape 9 3) f32)"
              "(let x (compute dotProd (cartProd (access a 1) (access b 1))))"
              "(output x)");
  cr_assert_eq(near.n, 1);
  cr_expect_eq(near.applying, 0);
  cr_assert_eq(near.list[0].n_needs, 2);
  cr_expect(near.list[0].given);
  cr_expect_str_eq(near.list[0].needs[0].wanted, "?k % 16 = 0");
  cr_expect_str_eq(near.list[0].needs[0].have, "?k is 3");
  cr_expect_str_eq(near.list[0].needs[0].hint, "pad ?k from 3 to 16");
  cr_expect_str_eq(near.list[0].needs[1].wanted, "?n <= 4");
  cr_expect_str_eq(near.list[0].needs[1].hint,
                   "split ?n = 9 into parts of at most 4");
  rl_run_done(&run);
}

Test(explain, a_part_that_is_missing) {
  gs_target *t = target_of(array_text);
  rl_rules *rules = rules_over(t, transposes);
  rl_run run;
  rl_nearness near =
      nearest(t, rules, &run,
              "(tensor a (shape 8 3) f32)(tensor b (shape 8 3) f32)"
              "(let x (compute dotProd (pair (access a 1) (access b 1))))"
              "(output x)");
  cr_assert_eq(near.n, 1);
  cr_expect_eq(near.list[0].matched, 2);
  cr_expect_eq(near.list[0].total, 4);
  cr_expect_str_eq(near.list[0].expected, "(cartProd ?x ?y)");
  cr_expect_str_eq(near.list[0].found, "(pair (access a 1) (access b 1))");
  rl_run_done(&run);
}

Test(explain, where_it_applies) {
  gs_target *t = target_of(array_text);
  rl_rules *rules = rules_over(t, transposes);
  rl_run run;
  rl_nearness near =
      nearest(t, rules, &run,
              "(tensor a (shape 8 16) f32)(tensor b (shape 4 16) f32)"
              "(let x (compute dotProd (cartProd (access a 1) (access b 1))))"
              "(output x)");
  cr_expect_eq(near.applying, 1);
  cr_assert_eq(near.n, 1);
  cr_expect(near.list[0].applies);
  const rl_rule *found;
  cr_expect_eq(rl_rules_for(rules, "wide", &found, 1), 1);
  cr_expect_eq(rl_rules_for(rules, "narrow", &found, 1), 0);
  rl_run_done(&run);
}

/* --- memory --------------------------------------------------------------- */

static void
whole(bs_heap *h, const char *text) {
  bs_arena_init(&arena, h);
  bs_diags_init(&diags, h);
  ctx = (gs_context){h, &arena, bs_values_new(h), &diags};
  rl_rules *rules = rl_new(&ctx, NULL);
  rl_load_source(rules,
                 bs_source_add(&diags, "r", transposes, sizeof transposes - 1));
  rl_finish(rules);
  gs_program *p =
      gs_parse(&ctx, NULL, bs_source_add(&diags, "p", text, strlen(text)));
  rl_options o = options();
  rl_explanation x;
  rl_run run;
  rl_nearness near;
  gs_program *one = gs_program_new(&ctx, NULL),
             *two = gs_program_new(&ctx, NULL);
  o.explain = true;
  rl_saturate(&ctx, p, rules, &o, &run);
  gs_type type;
  gs_fault fault;
  gs_type_at(p, p->inputs.data[0].term, &type);
  gs_term t = gs_add_tensor(one, "a", &type, BS_NOWHERE);
  gs_add_output(one, "a", t, BS_NOWHERE);
  t = gs_add_tensor(two, "a", &type, BS_NOWHERE);
  bs_value attr = gs_at(p, p->outputs.data[0].term)->attr;
  for (int k = 0; k < 2; k++)
    t = gs_add(two, GS_TRANSPOSE, attr, &t, 1, BS_NOWHERE, &fault);
  gs_add_output(two, "x", t, BS_NOWHERE);
  if (rl_explain(&ctx, &run, two, one, 100, &x))
    rl_check_explanation(&ctx, rules, &x);
  rl_nearest(&ctx, &run, rl_at(rules, 1), 2, &near);
  rl_run_done(&run);
}

typedef struct call {
  bs_heap *heap;
  const char *text;
} call;

static void
whole_call(void *arg) {
  call *c = arg;
  whole(c->heap, c->text);
}

/* A run that stops for lack of memory goes on to be explained. */
Test(explain, memory_that_runs_out, .init = NULL, .fini = NULL) {
  long n = 0, calls;
  do {
    counting c = {.fail_at = ++n};
    bs_hooks hooks = counting_hooks(&c);
    bs_heap h;
    bs_heap_init(&h, &hooks, 0);
    call body = {&h, "(tensor a (shape 2 3) f32)"
                     "(let x (transpose (transpose a (list 1 0)) (list 1 0)))"
                     "(output x)"};
    bs_protect(&h, whole_call, &body);
    bs_heap_done(&h);
    cr_assert_eq(c.live, 0);
    calls = c.calls;
  } while (calls >= n);
  cr_expect_gt(calls, 100);
}
