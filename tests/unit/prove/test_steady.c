/* SPDX-License-Identifier: MIT */
/* test_steady.c - the prover gives back all it took but its answer. */
#include "../steady.h"
#include "fixture.h"
#include "rules/rule/rules.h"

TestSuite(steady, .init = fixture_start, .fini = fixture_stop);

typedef struct asked {
  const gs_program *p;
  int64_t max_elements;
  const rl_rules *rules;
  uint32_t n_rules;
} asked;

static void
equal_once(void *argument) {
  const asked *q = argument;
  bs_arena own;
  pv_options o;
  bs_arena_init(&own, &heap);
  ctx.arena = &own;
  pv_defaults(&o);
  o.max_elements = q->max_elements;
  compare_outputs(q->p, &o);
  ctx.arena = &arena;
  bs_arena_done(&own);
}

/* Proved and refuted, element by element and as relations. */
Test(steady, two_terms) {
  static const char *const texts[] = {
      "(tensor a (shape 3 4) f32)(tensor b (shape 2 4) f32)"
      "(let l (compute dotProd (cartProd (access (pad a zero 0 1 1) 1) "
      "(access b 1))))(let r (transpose (compute dotProd (cartProd (access b "
      "1) (access (pad a zero 0 1 1) 1))) (list 1 0)))(output l)(output r)",
      "(tensor a (shape 3 4) f32)(tensor b (shape 3 4) f32)"
      "(let l (compute sub (pair a b)))(let r (compute sub (pair b a)))"
      "(output l)(output r)",
      "(tensor a (shape 6) i8)(let l (compute neg (compute neg a)))"
      "(let r a)(output l)(output r)",
      "(tensor a (shape 6) i8)(tensor b (shape 6) i8)"
      "(let l (compute mul (pair a (compute add (pair a b)))))(let r (compute "
      "add (pair (compute mul (pair a a)) (compute mul (pair a b)))))"
      "(output l)(output r)",
      /* by their bits */
      "(tensor a (shape 6) i8)(tensor b (shape 6) i8)"
      "(let l (compute add (pair (compute min (pair a b)) (compute max (pair a "
      "b)))))(let r (compute add (pair a b)))(output l)(output r)",
      "(tensor a (shape 6) u8)(let l (compute (clip 3 9) (compute (clip 0 20) "
      "a)))(let r (compute (clip 3 9) a))(output l)(output r)",
      "(tensor a (shape 6) i8)(tensor b (shape 6) i8)"
      "(let l (compute max (pair a b)))(let r (compute max (pair a (compute "
      "neg b))))(output l)(output r)",
      /* where they may have no value, or none that is a number */
      "(tensor a (shape 6) f32)(let l (compute sqrt (compute square a)))"
      "(let r (compute abs a))(output l)(output r)",
      "(tensor a (shape 6) f64)(tensor b (shape 6) f64)(let l (compute div "
      "(pair (compute mul (pair a b)) b)))(let r a)(output l)(output r)",
      "(tensor a (shape 6) f32)(let l (compute log (compute exp a)))(let r a)"
      "(output l)(output r)",
      "(tensor a (shape 6) f32)(let l (compute recip (compute (offset 0) a)))"
      "(let r (compute recip a))(output l)(output r)",
      "(tensor a (shape 6) f32)(tensor b (shape 6) f32)(let l (compute div "
      "(pair a b)))(let r (compute div (pair b a)))(output l)(output r)",
      "(tensor a (shape 6) f32)(tensor b (shape 6) f32)(let l (mod a b))"
      "(let r (sub a (mul b (div a b))))(output l)(output r)",
      "(tensor a (shape 6) f32)(let l (compute rsqrt a))(let r (compute sqrt "
      "(compute recip a)))(output l)(output r)",
      "(tensor a (shape 6) i16)(tensor b (shape 6) i16)(let l (compute div "
      "(pair a b)))(let r (compute div (pair b a)))(output l)(output r)",
      /* reductions, gathers, windows */
      "(tensor a (shape 4 6) f32)(let l (compute reduceMax (access (compute "
      "reduceMax (access a 1)) 0)))(let r (compute neg (compute reduceMin "
      "(access (compute neg (access a 2)) 0))))(output l)(output r)",
      "(tensor a (shape 4 3) i32)(let l (compute reduceProd (access a 1)))"
      "(let r (compute reduceProd (access (reverse a 1) 1)))(output l)(output "
      "r)",
      "(tensor a (shape 6) i32)(tensor b (shape 6) i32)(let l (compute gather "
      "(pair (access a 0) (access b 0))))(let r (compute gather (pair (access "
      "(reverse a 0) 0) (access b 0))))(output l)(output r)",
      "(tensor a (shape 3 7) f32)(let l (compute reduceSum (windows (access a "
      "1) (shape 3) (stride 2))))(let r (compute reduceSum (access (reverse "
      "(windows (access a 1) (shape 3) (stride 2)) 2) 2)))(output l)(output r)",
      /* casts, scales, and a number for each element */
      "(tensor a (shape 6) f32)(let l (compute (cast i8) (compute (scale 2) "
      "a)))(let r (compute (cast i8) (compute add (pair a a))))(output l)"
      "(output r)",
      "(tensor a (shape 6) f32)(let l (compute (scale 1.00001) a))(let r a)"
      "(output l)(output r)",
      "(const c (shape 3) f32 1 2 4)(tensor a (shape 3) f32)(let l (compute "
      "mul "
      "(pair a c)))(let r (compute mul (pair c a)))(output l)(output r)",
      /* steps of a scan */
      "(tensor x (shape 5 3) f32)(tensor z (shape 3) f32)(let l (scan z x "
      "(step s (each x) (compute add (pair s x)))))(let r (scan z x (step s "
      "(each x) (compute add (pair x s)))))(output l)(output r)",
      "(tensor x (shape 5 3) i8)(tensor z (shape 3) i8)(let l (scan z x (step "
      "s (each x) (compute sub (pair s x)))))(let r (scan z x (step s (each x) "
      "(compute sub (pair x s)))))(output l)(output r)",
      /* sizes that are open */
      "(size n 2 9)(tensor a (shape n 4) f32)(let l (transpose (transpose a "
      "(list 1 0)) (list 1 0)))(let r a)(output l)(output r)",
      "(size n 2 9)(size m 4 40 4)(tensor a (shape n m) f32)(tensor b (shape n "
      "m) f32)(let l (compute dotProd (cartProd (access a 1) (access b 1))))"
      "(let r (transpose (compute dotProd (cartProd (access b 1) (access a 1)))"
      " (list 1 0)))(output l)(output r)",
      "(size n 2 9)(tensor a (shape n 4) i8)(let l (compute reduceSum (access "
      "(concat a a 0) 1)))(let r (compute reduceSum (access (repeat a 0 2) 1)))"
      "(output l)(output r)",
      "(size n 2 9)(tensor a (shape n 4) f32)(let l (reverse a 0))(let r a)"
      "(output l)(output r)",
      "(tensor a (shape 5 8) f32)(let l (compute softmax (access a 1)))"
      "(let r (compute softmax (access (slice a 1 0 8) 1)))(output l)(output "
      "r)",
  };
  for (uint32_t k = 0; k < sizeof texts / sizeof *texts; k++)
    for (int relations = 0; relations < 2; relations++) {
      asked q = {.p = program_over(NULL, texts[k]),
                 .max_elements = relations ? 0 : 100000};
      expect_steady(&heap, equal_once, &q, texts[k]);
    }
}

static void
rules_once(void *argument) {
  const asked *q = argument;
  bs_arena own;
  bs_arena_init(&own, &heap);
  ctx.arena = &own;
  for (uint32_t k = 0; k < q->n_rules; k++) {
    pv_rule_options o;
    pv_rule_answer a;
    pv_rule_defaults(&o);
    o.shapes = 4;
    pv_prove_rule(&ctx, q->rules, rl_at(q->rules, k), &o, &a);
  }
  ctx.arena = &arena;
  bs_arena_done(&own);
}

Test(steady, rules_right_and_wrong) {
  static const char text[] =
      "(rule twice \"Two signs.\" (compute neg (compute neg ?a)) => ?a)"
      "(rule lost \"One sign.\" (compute neg ?a) => ?a)"
      "(rule turned \"Two turns.\" (transpose (transpose ?a ?p) ?q) => "
      "(transpose ?a ?r) :where (= ?r (compose ?p ?q)))"
      "(rule halves \"Two halves.\" ?a => (concat (slice ?a ?d 0 ?m) (slice ?a "
      "?d ?m ?n) ?d) :for (?d (axes ?a)) :where (and (= ?n (dim ?a ?d)) "
      "(= (mod ?n 2) 0) (= ?m (/ ?n 2)) (> ?n 1)))"
      "(rule sums \"One sum.\" (compute reduceSum (access (compute reduceSum "
      "(access ?a ?k)) ?j)) => (compute reduceSum (access ?a ?j)) :where (and "
      "(< ?j ?k) (< ?k (rank ?a))))"
      "(rule lost-pad \"No zeros.\" (compute reduceSum (access (pad ?a zero ?d "
      "?b ?c) ?k)) => (compute reduceSum (access ?a ?k)) :where (>= ?d ?k))"
      "(rule clips \"One clip.\" (compute (clip ?a ?b) (compute (clip ?c ?d) "
      "?x)) => (compute (clip ?c ?b) ?x) :where (and (<= ?a ?c) (<= ?b ?d) (<= "
      "?c ?b)))"
      "(rule distribute \"One product.\" (compute add (pair (compute mul (pair "
      "?a ?b)) (compute mul (pair ?a ?c)))) => (compute mul (pair ?a (compute "
      "add (pair ?b ?c)))))"
      "(rule casts \"One cast.\" (compute (cast ?t) (compute (cast ?u) ?a)) => "
      "(compute (cast ?t) ?a) :where (= ?u (dtype ?a)))"
      "(rule repeats \"Twice.\" (repeat ?a ?d 2) => (concat ?a ?a ?d))";
  rl_rules *rules = rl_new(&ctx, NULL);
  uint32_t source = bs_source_add(&diags, "test.rules", text, strlen(text));
  cr_assert(rl_load_source(rules, source) && rl_finish(rules), "%s", faults());
  /* The head of what is remembered for a rule is the heap's own. */
  asked q = {.rules = rules, .n_rules = 1};
  size_t head = growth_of(&heap, rules_once, &q, "a proof of a rule");
  q.n_rules = rl_count(rules);
  cr_expect_eq(growth_of(&heap, rules_once, &q, "proofs of rules"),
               q.n_rules * head);
  uint32_t values = bs_values_count(ctx.values);
  q.n_rules = 2;
  rules_once(&q);
  cr_expect_eq(bs_values_count(ctx.values), values);
}
