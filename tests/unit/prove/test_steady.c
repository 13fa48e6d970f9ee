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
      "(= (mod ?n 2) 0) (= ?m (/ ?n 2)) (> ?n 1)))";
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
