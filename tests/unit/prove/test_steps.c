/* SPDX-License-Identifier: MIT */
/* test_steps.c - equalities that are proved by the rule applications that led
 * to them: how many are, what that takes for granted, and which is wrong. */
#include "fixture.h"
#include "prove/equal/equal_steps.h"
#include "rules/rule/saturate.h"

TestSuite(steps, .init = fixture_start, .fini = fixture_stop);

typedef struct row {
  const char *rules, *from, *to;
  uint32_t steps, proved;
  bool any_order;
  const char *wrong; /* a rule, or NULL */
} row;

#define TURNS                                                                  \
  "(rule twice \"d\" (transpose (transpose ?a ?p) ?q) => (transpose ?a ?r)"    \
  " :where (= ?r (compose ?p ?q)))"                                            \
  "(rule idle \"d\" (transpose ?a ?p) => ?a"                                   \
  " :where (= ?p (range 0 (rank ?a))))"
#define JOINS                                                                  \
  "(rule join \"d\" (compute add (pair (compute add (pair ?a ?b)) ?c))"        \
  " => (compute add (pair ?a (compute add (pair ?b ?c)))))"
#define A(type) "(tensor a (shape 4 6) " type ")"
#define ABC(type)                                                              \
  A(type)                                                                      \
  "(tensor b (shape 4 6) " type ")"                                            \
  "(tensor c (shape 4 6) " type ")"
#define LEFT(type)                                                             \
  ABC(type)                                                                    \
  "(let x (compute add (pair (compute add (pair a b)) c)))(output "            \
  "x)"
#define RIGHT(type)                                                            \
  ABC(type)                                                                    \
  "(let x (compute add (pair a (compute add (pair b c)))))(output "            \
  "x)"

static const row rows[] = {
    {TURNS,
     A("f32") "(let x (transpose (transpose a (list 1 0)) (list 1 0)))"
              "(output x)",
     A("f32") "(output a)", 2, 2, false, NULL},
    {JOINS, LEFT("i32"), RIGHT("i32"), 1, 1, false, NULL},
    {JOINS, LEFT("f32"), RIGHT("f32"), 1, 1, false, NULL},
    {JOINS, LEFT("f16"), RIGHT("f16"), 1, 1, true, NULL},
    {JOINS, LEFT("bf16"), RIGHT("bf16"), 1, 1, true, NULL},
    /* the order of sums that a step does not touch is nothing to it */
    {TURNS,
     ABC("f16") "(let x (compute add (pair (compute add (pair (transpose"
                " (transpose a (list 1 0)) (list 1 0)) b)) c)))(output x)",
     LEFT("f16"), 2, 2, false, NULL},
    {"(rule bad \"d\" (compute abs ?a) => (compute relu ?a))",
     A("f32") "(let x (compute abs a))(output x)",
     A("f32") "(let x (compute relu a))(output x)", 1, 0, false, "bad"},
};

static rl_rules *
rules_of(const char *text) {
  rl_rules *rules = rl_new(&ctx, NULL);
  bool ok =
      rl_load_source(rules, bs_source_add(&diags, "r", text, strlen(text)));
  cr_assert(rl_finish(rules) && ok, "%s", faults());
  return rules;
}

static void
expect_row(const row *x) {
  rl_rules *rules = rules_of(x->rules);
  gs_program *from = program_over(NULL, x->from);
  rl_options o = {.explain = true};
  rl_run run;
  rl_proof proof;
  pv_proof_answer found;
  pv_options options;
  eg_run_defaults(&o.run);
  pv_defaults(&options);
  cr_assert(rl_saturate(&ctx, from, rules, &o, &run), "%s", faults());
  cr_assert(rl_prove(&ctx, &run, from, program_over(NULL, x->to), 1 << 16,
                     false, &proof));
  pv_stepper *s = pv_stepper_new(&ctx, rules, proof.program, &options);
  pv_prove_steps(s, &proof, &found);
  cr_expect_eq(found.steps, x->steps, "%s: %u", x->from, found.steps);
  cr_expect_eq(found.proved, x->proved, "%s: %u", x->from, found.proved);
  cr_expect_eq(found.any_order, x->any_order, "%s", x->from);
  cr_expect_geq(found.questions, 1);
  cr_expect_eq(found.n_open, x->wrong ? 1u : 0u, "%s", x->from);
  const pv_step_answer *worst = pv_worst_step(s, &proof, &found, 0);
  cr_expect_eq(worst != NULL, x->wrong != NULL, "%s", x->from);
  if (worst) {
    cr_expect_eq(worst->answer.verdict, PV_REFUTED);
    cr_expect_str_eq(proof.lemmas[worst->lemma].rule->name, x->wrong);
  }
  pv_stepper_free(s);
  rl_run_done(&run);
}

Test(steps, what_they_prove) {
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    expect_row(&rows[k]);
}
