/* test_rules.c - rules that are right and rules that are wrong. */
#include "fixture.h"
#include "tests/unit/sanitized.h"
#include <stdio.h>

enum { SHAPES = SANITIZED ? 6 : 48 };

#define DIR GLEN_SOURCE_DIR "/tests/unit/prove/"

static rl_rules *
load(const gs_target *target, const char *path) {
  rl_rules *rules = rl_new(&ctx, target);
  cr_assert(rl_load(rules, path) && rl_finish(rules), "%s", faults());
  return rules;
}

static pv_rule_answer
ask(const rl_rules *rules, const rl_rule *rule, uint64_t seed) {
  pv_rule_options o;
  pv_rule_answer a;
  pv_rule_defaults(&o);
  o.seed = seed;
  o.shapes = SHAPES;
  pv_prove_rule(&ctx, rules, rule, &o, &a);
  return a;
}

static const char *
text_of(const rl_rule *rule, const pv_rule_answer *a) {
  bs_text out;
  bs_text_init(&out, &heap);
  pv_put_rule_answer(&out, rule, a);
  return bs_text_str(&out);
}

static void
all_are(const char *path, pv_verdict verdict, uint32_t least) {
  rl_rules *rules = load(NULL, path);
  cr_assert_gt(rl_count(rules), least);
  for (uint32_t k = 0; k < rl_count(rules); k++) {
    const rl_rule *rule = rl_at(rules, k);
    pv_rule_answer a = ask(rules, rule, 1);
    cr_expect_eq(a.verdict, verdict, "%s", text_of(rule, &a));
    cr_expect(a.verdict != PV_REFUTED || a.shape);
  }
}

Test(rules, sound_ones_are_proved, .init = fixture_start,
     .fini = fixture_stop) {
  all_are(DIR "sound.rules", PV_PROVED, 25);
}

Test(rules, more_sound_ones_are_proved, .init = fixture_start,
     .fini = fixture_stop) {
  all_are(DIR "more-sound.rules", PV_PROVED, 35);
}

Test(rules, unsound_ones_are_refuted, .init = fixture_start,
     .fini = fixture_stop) {
  all_are(DIR "unsound.rules", PV_REFUTED, 50);
}

Test(rules, more_unsound_ones_are_refuted, .init = fixture_start,
     .fini = fixture_stop) {
  all_are(DIR "more-unsound.rules", PV_REFUTED, 45);
}

/* Equal up to rounding, or where they are defined. */
Test(rules, open_ones_are_neither, .init = fixture_start,
     .fini = fixture_stop) {
  all_are(DIR "open.rules", PV_TESTED, 20);
}

/* Samples alone tell neither kind from the other. */
static void
sizes_are(const char *path, bool all, uint32_t least) {
  rl_rules *rules = load(NULL, path);
  cr_assert_gt(rl_count(rules), least);
  for (uint32_t k = 0; k < rl_count(rules); k++) {
    const rl_rule *rule = rl_at(rules, k);
    if (SANITIZED && !strcmp(rule->name, "one-of-a-thousand"))
      continue; /* half the time of the suite */
    pv_rule_answer a = ask(rules, rule, 1);
    cr_expect_eq(a.verdict, PV_PROVED, "%s", text_of(rule, &a));
    cr_expect_eq(a.all_sizes, all, "%s", text_of(rule, &a));
    cr_expect(!all || (a.forms > 0 && a.general_forms == a.forms));
  }
}

Test(rules, proved_for_all_sizes, .init = fixture_start, .fini = fixture_stop) {
  sizes_are(DIR "all-sizes.rules", true, 15);
}

Test(rules, not_said_to_hold_for_all_sizes, .init = fixture_start,
     .fini = fixture_stop) {
  sizes_are(DIR "some-sizes.rules", false, 15);
}

/* What is refuted, or proved on no shape, is never claimed for all sizes. */
Test(rules, no_claim_without_a_proof_of_shapes, .init = fixture_start,
     .fini = fixture_stop) {
  rl_rules *rules = load(NULL, DIR "unsound.rules");
  for (uint32_t k = 0; k < rl_count(rules); k += 2) {
    pv_rule_answer a = ask(rules, rl_at(rules, k), 3);
    cr_expect_not(a.all_sizes);
  }
}

Test(rules, answers_do_not_depend_on_the_seed, .init = fixture_start,
     .fini = fixture_stop) {
  rl_rules *good = load(NULL, DIR "sound.rules");
  rl_rules *bad = load(NULL, DIR "unsound.rules");
  for (uint32_t k = 0; k < rl_count(bad); k += 3) {
    const rl_rule *rule = rl_at(bad, k);
    pv_rule_answer a = ask(bad, rule, 77 + k);
    cr_expect_eq(a.verdict, PV_REFUTED, "%s", text_of(rule, &a));
  }
  for (uint32_t k = 0; k < rl_count(good); k += 3) {
    const rl_rule *rule = rl_at(good, k);
    pv_rule_answer a = ask(good, rule, 77 + k);
    cr_expect_eq(a.verdict, PV_PROVED, "%s", text_of(rule, &a));
  }
}

Test(rules, one_seed_gives_one_answer, .init = fixture_start,
     .fini = fixture_stop) {
  rl_rules *rules = load(NULL, DIR "unsound.rules");
  for (uint32_t k = 0; k < rl_count(rules); k += 7) {
    const rl_rule *rule = rl_at(rules, k);
    pv_rule_answer a = ask(rules, rule, 5), b = ask(rules, rule, 5);
    cr_expect_str_eq(text_of(rule, &a), text_of(rule, &b));
  }
}

static rl_rules *
rules_of(const char *text) {
  rl_rules *rules = rl_new(&ctx, NULL);
  uint32_t source = bs_source_add(&diags, "test.rules", text, strlen(text));
  cr_assert(rl_load_source(rules, source) && rl_finish(rules), "%s", faults());
  return rules;
}

/* Sizes 1 and 2 are not enough for this one, 3 is. */
Test(rules, the_shape_is_small, .init = fixture_start, .fini = fixture_stop) {
  rl_rules *rules =
      rules_of("(rule r \"x\" (slice ?a ?d 0 ?n) => (slice ?a ?d 1 (+ ?n 1))"
               " :where (and (= ?n (- (dim ?a ?d) 1)) (> (dim ?a ?d) 2)))");
  pv_rule_answer a = ask(rules, rl_at(rules, 0), 1);
  cr_assert_eq(a.verdict, PV_REFUTED);
  cr_assert_eq(a.answer.n_inputs, 1);
  cr_assert_leq(a.answer.inputs[0].tensor.elements, 6);
}

Test(rules, nowhere_is_unknown, .init = fixture_start, .fini = fixture_stop) {
  rl_rules *rules =
      rules_of("(rule r \"x\" (slice ?a ?d ?lo ?hi) => ?a :where (> ?lo ?hi))");
  pv_rule_answer a = ask(rules, rl_at(rules, 0), 1);
  cr_assert_eq(a.verdict, PV_UNKNOWN);
  cr_assert_eq(a.shapes, 0);
}

Test(rules, sizes_that_the_condition_names, .init = fixture_start,
     .fini = fixture_stop) {
  rl_rules *rules =
      rules_of("(rule r \"x\" (compute reduceSum ?a)"
               " => (compute reduceSum (slice ?a 1 0 63))"
               " :where (and (= (access-rank ?a) 1) (= (compute-rank ?a) 1)"
               "             (= (dim ?a 1) 64)))"
               "(rule s \"x\" (compute relu ?a) => (compute neg ?a)"
               " :where (and (= (dim ?a 0) 17) (= (mod (dim ?a 1) 16) 0)"
               "             (= (rank ?a) 2) (= (dtype ?a) u8)))");
  for (uint32_t k = 0; k < 2; k++) {
    pv_rule_answer a = ask(rules, rl_at(rules, k), 1);
    cr_expect_eq(a.verdict, PV_REFUTED, "%s", text_of(rl_at(rules, k), &a));
  }
}

Test(rules, of_instructions_follow_from_their_meaning, .init = fixture_start,
     .fini = fixture_stop) {
  static const char *const targets[] = {"systolic", "systolic16", "pool"};
  for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
    char path[400];
    snprintf(path, sizeof path, "%s/targets/%s.target", GLEN_SOURCE_DIR,
             targets[t]);
    const gs_target *target = gs_target_parse_file(&ctx, path);
    cr_assert_not_null(target, "%s", faults());
    rl_rules *rules = rl_new(&ctx, target);
    cr_assert(rl_finish(rules), "%s", faults());
    cr_assert_gt(rl_count(rules), 0);
    for (uint32_t k = 0; k < rl_count(rules); k++) {
      const rl_rule *rule = rl_at(rules, k);
      pv_rule_answer a = ask(rules, rule, 1);
      cr_expect_eq(a.verdict, PV_PROVED, "%s", text_of(rule, &a));
    }
  }
}
