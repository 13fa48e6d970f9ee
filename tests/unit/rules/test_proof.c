/* SPDX-License-Identifier: MIT */
/* Proofs by lemmas: each cites what stands before it, says what it cites makes
 * true, and shares what programs share. */
#include "../base/counting.h"
#include "lawful.h"
#include "rules/explain/explain_proof.h"

TestSuite(proof, .init = fixture_start, .fini = fixture_stop);

static rl_run
recorded(const rl_rules *rules, const gs_program *p) {
  rl_options o = options();
  rl_run run;
  o.explain = true;
  o.run.nodes = 20000;
  cr_assert(rl_saturate(&ctx, p, rules, &o, &run), "%s", faults());
  return run;
}

static void
ends_of(const rl_proof *x, eg_cite c, gs_term *from, gs_term *to) {
  const rl_lemma *l = &x->lemmas[c / 2];
  *from = c & 1 ? l->to : l->from;
  *to = c & 1 ? l->from : l->to;
}

static void
check_congruence(const rl_proof *x, const rl_lemma *l) {
  const gs_node *a = gs_at(x->program, l->from), *b = gs_at(x->program, l->to);
  cr_assert_eq(a->op, b->op);
  cr_assert(bs_same(a->attr, b->attr));
  cr_assert_eq(a->n_kids, l->n_cites);
  for (uint32_t k = 0; k < l->n_cites; k++) {
    gs_term from = a->kids[k], to = from;
    if (l->cites[k] != EG_SAME)
      ends_of(x, l->cites[k], &from, &to);
    cr_assert_eq(from.i, a->kids[k].i);
    cr_assert_eq(to.i, b->kids[k].i);
  }
}

static void
check_chain(const rl_proof *x, const rl_lemma *l) {
  gs_term at = l->from, from, to;
  for (uint32_t k = 0; k < l->n_cites; k++) {
    ends_of(x, l->cites[k], &from, &to);
    cr_assert_eq(from.i, at.i);
    at = to;
  }
  cr_assert_eq(at.i, l->to.i);
}

static void
check_lemmas(const rl_proof *x) {
  for (uint32_t k = 0; k < x->n_lemmas; k++) {
    const rl_lemma *l = &x->lemmas[k];
    cr_assert_neq(l->from.i, l->to.i);
    for (uint32_t j = 0; j < l->n_cites; j++)
      cr_assert(l->cites[j] == EG_SAME || l->cites[j] / 2 < k);
    if (l->kind == EG_LEMMA_CONGRUENCE)
      check_congruence(x, l);
    if (l->kind == EG_LEMMA_CHAIN)
      check_chain(x, l);
    if (l->kind == EG_LEMMA_RULE)
      cr_assert_not_null(l->rule);
  }
}

static rl_proof
proved(rl_run *run, const char *a, const char *b) {
  rl_proof x;
  cr_assert(
      rl_prove(&ctx, run, program_of(a), program_of(b), 1 << 20, true, &x),
      "why %d", x.why);
  check_lemmas(&x);
  for (uint32_t k = 0; k < x.n_claims; k++) {
    const rl_claim *c = &x.claims[k];
    gs_term from = c->from, to = from;
    if (c->cite != EG_SAME)
      ends_of(&x, c->cite, &from, &to);
    cr_assert_eq(from.i, c->from.i);
    cr_assert_eq(to.i, c->to.i);
  }
  return x;
}

#define TENSORS "(tensor a (shape 4 4) f32)(tensor b (shape 4 4) f32)"

static const char transposes[] =
    "(rule twice \"Two are one.\" (transpose (transpose ?a ?p) ?q)"
    "  => (transpose ?a ?r) :where (= ?r (compose ?p ?q)))"
    "(rule idle \"The identity.\" (transpose ?a ?p) => ?a"
    "  :where (= ?p (range 0 (rank ?a))))";

Test(proof, of_two_rules) {
  rl_rules *rules = rules_of(transposes);
  const char *from = TENSORS
      "(let x (transpose (transpose a (list 1 0)) (list 1 0)))(output x)";
  rl_run run = recorded(rules, program_of(from));
  rl_proof x = proved(&run, from, TENSORS "(output a)");
  cr_expect_eq(x.n_rules, 2);
  rl_run_done(&run);
}

/* x becomes x + x, and so on: 2 to the n places of the first one. */
static const char *
doubled(uint32_t layers, bool plain) {
  const char *text = TENSORS;
  for (uint32_t k = 0; k < layers; k++) {
    const char *last = k ? bs_arena_printf(&arena, "x%u", k - 1) : "a";
    const char *form =
        plain ? "%s(let x%u (compute add (pair (compute relu %s) %s)))"
              : "%s(let x%u (compute add (pair (compute relu (transpose "
                "(transpose %s (list 1 0)) (list 1 0))) %s)))";
    text = bs_arena_printf(&arena, form, text, k, last, last);
  }
  return bs_arena_printf(&arena, "%s(output x%u)", text, layers - 1);
}

static rl_proof
proof_of_layers(const rl_rules *rules, uint32_t n) {
  const char *from = doubled(n, false), *to = doubled(n, true);
  rl_run run = recorded(rules, program_of(from));
  rl_proof x = proved(&run, from, to);
  rl_run_done(&run);
  return x;
}

/* What is shared is changed once, however many places it has. */
Test(proof, is_linear_in_the_layers) {
  rl_rules *rules = rules_of(transposes);
  rl_proof small = proof_of_layers(rules, 20);
  rl_proof large = proof_of_layers(rules, 40);
  cr_expect(small.n_rules >= 20);
  cr_expect_leq(large.n_rules * 10, small.n_rules * 22);
  cr_expect_leq(large.n_lemmas * 10, small.n_lemmas * 22);
}

/* That the factor is zero is proven by a term that the program does not have:
 * an equality with it is cited. */
Test(proof, cites_what_a_condition_rests_on) {
  rl_rules *rules = rules_of(
      "(rule nothing \"Zero times x.\" (compute mul (pair ?a ?b)) => ?a"
      "  :where (is-zero ?a))"
      "(rule cancel \"x - x.\" (compute sub (pair ?a ?a))"
      "  => (slice (pad ?a zero 0 0 4) 0 4 8))");
  const char *arrays = "(tensor a (shape 4) f32)(tensor b (shape 4) f32)";
  const char *from =
      bs_arena_printf(&arena,
                      "%s(let z (compute sub (pair a a)))"
                      "(let m (compute mul (pair z b)))(output m)",
                      arrays);
  const char *to = bs_arena_printf(
      &arena, "%s(let z (compute sub (pair a a)))(output z)", arrays);
  rl_run run = recorded(rules, program_of(from));
  rl_proof x = proved(&run, from, to);
  cr_assert_eq(x.n_rules, 2);
  const rl_lemma *last = &x.lemmas[x.n_lemmas - 1];
  cr_expect_str_eq(last->rule->name, "nothing");
  cr_assert_eq(last->n_facts, 1);
  cr_expect_str_eq(x.lemmas[last->facts[0] / 2].rule->name, "cancel");
  rl_run_done(&run);
}

/* What stands beside the left side is a premise of its own. */
Test(proof, several_patterns_and_results) {
  rl_rules *rules = rules_of(
      "(rule turn \"Twice.\" (compute sqrt ?a) => (transpose (transpose "
      "(compute sqrt ?a) (list 1 0)) (list 1 0)) :match-limit 1)"
      "(rule known \"Two forms.\" (compute relu ?x) => ?x"
      "  :with (?x (transpose ?a ?p)) :with (?x (compute sqrt ?b)))");
  const char *from =
      TENSORS "(let s (compute sqrt a))(let x (compute relu s))(output x)";
  rl_run run = recorded(rules, program_of(from));
  rl_proof x = proved(&run, from, TENSORS "(let s (compute sqrt a))(output s)");
  const rl_lemma *last = &x.lemmas[x.n_lemmas - 1];
  cr_expect_str_eq(last->rule->name, "known");
  cr_assert_eq(last->n_cites, 2);
  cr_expect(last->cites[0] != EG_SAME || last->cites[1] != EG_SAME);
  rl_run_done(&run);
}

Test(proof, of_what_is_not_equal) {
  rl_rules *rules = rules_of(transposes);
  rl_proof x;
  const char *from = TENSORS "(let y (compute relu a))(output y)";
  rl_run run = recorded(rules, program_of(from));
  cr_expect_not(rl_prove(&ctx, &run, program_of(from),
                         program_of(TENSORS "(output b)"), 1000, false, &x));
  cr_expect_eq(x.why, EG_NOT_EQUAL);
  rl_run_done(&run);
}

Test(proof, of_too_many_lemmas) {
  rl_rules *rules = rules_of(transposes);
  rl_proof x;
  const char *from = doubled(20, false), *to = doubled(20, true);
  rl_run run = recorded(rules, program_of(from));
  cr_expect_not(
      rl_prove(&ctx, &run, program_of(from), program_of(to), 30, false, &x));
  cr_expect_eq(x.why, EG_TOO_LONG);
  rl_run_done(&run);
}
