/* SPDX-License-Identifier: MIT */
/* test_rules.c - rules that are right and rules that are wrong. */
#include "fixture.h"
#include "prove/symbolic/symbolic_forms.h"
#include "rules/rule/rule_apply.h"
#include "tests/unit/sanitized.h"
#include <stdio.h>

enum { SHAPES = SANITIZED ? 6 : 48, EVERY = SANITIZED ? 6 : 1 };

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
  put_rule_answer(&out, rule, a);
  return bs_text_str(&out);
}

/* What is checked is proved on every shape, as what is proved is. */
static bool
is_as_expected(pv_verdict is, pv_verdict expected) {
  return is == expected || (is == PV_PROVED && expected == PV_CHECKED);
}

static void
all_are(const char *path, pv_verdict verdict, uint32_t least) {
  rl_rules *rules = load(NULL, path);
  cr_assert_gt(rl_count(rules), least);
  for (uint32_t k = 0; k < rl_count(rules); k += EVERY) {
    const rl_rule *rule = rl_at(rules, k);
    pv_rule_answer a = ask(rules, rule, 1);
    cr_expect(is_as_expected(a.verdict, verdict), "%s", text_of(rule, &a));
    cr_expect(a.verdict != PV_REFUTED || a.shape);
  }
}

Test(rules, sound_ones_are_proved, .init = fixture_start,
     .fini = fixture_stop) {
  all_are(DIR "sound.rules", PV_CHECKED, 25);
}

Test(rules, more_sound_ones_are_proved, .init = fixture_start,
     .fini = fixture_stop) {
  all_are(DIR "more-sound.rules", PV_CHECKED, 35);
}

Test(rules, unsound_ones_are_refuted, .init = fixture_start,
     .fini = fixture_stop) {
  all_are(DIR "unsound.rules", PV_REFUTED, 50);
}

Test(rules, more_unsound_ones_are_refuted, .init = fixture_start,
     .fini = fixture_stop) {
  all_are(DIR "more-unsound.rules", PV_REFUTED, 45);
}

/* Each of one file is a rule of the other with a word or a number changed. */
Test(rules, nearest_to_unsound_ones_are_proved, .init = fixture_start,
     .fini = fixture_stop) {
  all_are(DIR "nearest-sound.rules", PV_CHECKED, 39);
}

Test(rules, nearest_to_sound_ones_are_refuted, .init = fixture_start,
     .fini = fixture_stop) {
  all_are(DIR "nearest-unsound.rules", PV_REFUTED, 39);
}

/* Equal up to rounding. */
Test(rules, open_ones_are_neither, .init = fixture_start,
     .fini = fixture_stop) {
  all_are(DIR "open.rules", PV_TESTED, 10);
}

/* Samples alone tell neither kind from the other. How many are refuted. */
static uint32_t
sizes_are(const char *path, bool all, uint32_t least) {
  rl_rules *rules = load(NULL, path);
  uint32_t refuted = 0;
  cr_assert_gt(rl_count(rules), least);
  for (uint32_t k = 0; k < rl_count(rules); k += EVERY) {
    const rl_rule *rule = rl_at(rules, k);
    if (SANITIZED && !strcmp(rule->name, "one-of-a-thousand"))
      continue; /* half the time of the suite */
    pv_rule_answer a = ask(rules, rule, 1);
    cr_expect(all ? a.verdict == PV_PROVED
                  : a.verdict == PV_CHECKED || a.verdict == PV_REFUTED,
              "%s", text_of(rule, &a));
    cr_expect(!all || (a.forms > 0 && a.general_forms == a.forms));
    refuted += a.verdict == PV_REFUTED;
  }
  return refuted;
}

Test(rules, proved_for_all_sizes, .init = fixture_start, .fini = fixture_stop) {
  sizes_are(DIR "all-sizes.rules", true, 17);
}

/* Their numbers are written in them, and sizes beyond these are looked at. */
Test(rules, not_said_to_hold_for_all_sizes, .init = fixture_start,
     .fini = fixture_stop) {
  cr_expect_geq(sizes_are(DIR "some-sizes.rules", false, 15), 6 / EVERY);
}

/* Refuted, or checked at the shapes looked at: never more. */
Test(rules, near_misses_do_not_hold_for_all_sizes, .init = fixture_start,
     .fini = fixture_stop) {
  rl_rules *rules = load(NULL, DIR "near-sizes.rules");
  cr_assert_gt(rl_count(rules), 12);
  for (uint32_t k = 0; k < rl_count(rules); k += EVERY) {
    pv_rule_answer a = ask(rules, rl_at(rules, k), 1);
    cr_expect_neq(a.verdict, PV_PROVED, "%s", text_of(rl_at(rules, k), &a));
  }
}

/* What is refuted, or proved on no shape, is never claimed for all sizes. */
Test(rules, no_claim_without_a_proof_of_shapes, .init = fixture_start,
     .fini = fixture_stop) {
  rl_rules *rules = load(NULL, DIR "unsound.rules");
  for (uint32_t k = 0; k < rl_count(rules); k += 2 * EVERY) {
    pv_rule_answer a = ask(rules, rl_at(rules, k), 3);
    cr_expect_neq(a.verdict, PV_PROVED);
  }
}

Test(rules, answers_do_not_depend_on_the_seed, .init = fixture_start,
     .fini = fixture_stop) {
  rl_rules *good = load(NULL, DIR "sound.rules");
  rl_rules *bad = load(NULL, DIR "unsound.rules");
  for (uint32_t k = 0; k < rl_count(bad); k += 3 * EVERY) {
    const rl_rule *rule = rl_at(bad, k);
    pv_rule_answer a = ask(bad, rule, 77 + k);
    cr_expect_eq(a.verdict, PV_REFUTED, "%s", text_of(rule, &a));
  }
  for (uint32_t k = 0; k < rl_count(good); k += 3 * EVERY) {
    const rl_rule *rule = rl_at(good, k);
    pv_rule_answer a = ask(good, rule, 77 + k);
    cr_expect(is_as_expected(a.verdict, PV_CHECKED), "%s", text_of(rule, &a));
  }
}

Test(rules, one_seed_gives_one_answer, .init = fixture_start,
     .fini = fixture_stop) {
  rl_rules *rules = load(NULL, DIR "unsound.rules");
  for (uint32_t k = 0; k < rl_count(rules); k += 7 * EVERY) {
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

static bool
any_form(void *arg, const gs_program *p, const uint32_t *slots, uint64_t any) {
  (void)arg;
  (void)any;
  (void)p;
  (void)slots;
  return true;
}

static uint32_t
forms_of(const rl_rules *rules, uint32_t rank) {
  uint32_t n;
  pv_listing l = {.ctx = &ctx,
                  .rules = rules,
                  .rule = rl_at(rules, 0),
                  .rank = rank,
                  .max_tries = 100000,
                  .max_forms = 100000,
                  .found = any_form};
  cr_expect(pv_list_forms(&l, &n));
  return n;
}

/* Ranks and splits times axes, permutations, lengths, operators and dtypes. */
Test(rules, forms_are_listed, .init = fixture_start, .fini = fixture_stop) {
  static const struct {
    const char *left, *where;
    uint32_t rank, n;
  } rows[] = {
      {"(slice ?a ?d ?lo ?hi)", "", 2, 2 + 6},
      {"(transpose ?a ?p)", "", 3, 1 + 2 + 6 + 24},
      {"(transpose ?a ?p)", ":where (= (access-rank ?a) 1)", 3, 1 + 2 + 6},
      {"(transpose ?a ?p)", ":where (= ?p (list 1 0))", 4, 3},
      {"(reshape ?a ?s ?c)", "", 2, 6 * 9},
      {"(concat ?a ?b ?d)", "", 2, 2 + 6},
      {"(pair ?a ?b)", "", 2, 1 + 2 + 3},
      {"(cartProd ?a ?b)", "", 1, 2 * 2 + 1},
      {"(access ?a ?k)", "", 2, 1 + 2 * 2 + 3 * 3},
      {"(pad ?a ?k ?d ?b ?e)", "", 1, 2 * 3},
      {"(compute (cast ?t) ?a)", "", 0, GS_DTYPE_COUNT * GS_DTYPE_COUNT},
      {"(compute sqrt ?a)", "", 1, 3 * 4},
      {"(slice ?a ?d ?lo ?hi)", ":where (and (< ?d 2) (= (dtype ?a) i8))", 4,
       2 + 6 + 8 + 10},
  };
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    char text[300];
    snprintf(text, sizeof text, "(rule r \"x\" %s => ?a %s)", rows[k].left,
             rows[k].where);
    cr_expect_eq(forms_of(rules_of(text), rows[k].rank), rows[k].n, "%s: %u",
                 text, forms_of(rules_of(text), rows[k].rank));
  }
}

/* The rank beyond which a rule tells ranks apart no more; 0: there is none. */
Test(rules, reach_of_a_rule, .init = fixture_start, .fini = fixture_stop) {
  static const struct {
    const char *where;
    uint32_t reach;
  } rows[] = {
      {"(> ?lo 1000)", 2},
      {"(= (rank ?a) 7)", 9},
      {"(= ?d 5)", 7},
      {"(= ?d (- (rank ?a) 3))", 5},
      {"(= (dim ?a 5) ?lo)", 7},
      {"(= (take (shape ?a) 2) (list 4 4))", 4},
      {"(member (list 0 8) ?d)", 9},
      {"(= (* ?d ?d) 9)", 0},
      {"(= (dim ?a ?d) (rank ?a))", 0},
      {"(= (sum (shape ?a)) 9)", 0},
      {"(= (prod (fill (rank ?a) 2)) 32)", 0},
      {"(divides 2 (rank ?a))", 0},
      {"(= (nth (list 0 0 0 1 0) ?d) 1)", 7},
  };
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    char text[300];
    snprintf(text, sizeof text,
             "(rule r \"x\" (slice ?a ?d ?lo ?hi) => ?a :where %s)",
             rows[k].where);
    rl_rules *rules = rules_of(text);
    uint32_t reach = pv_rank_reach(&ctx, rl_at(rules, 0));
    cr_expect_eq(reach, rows[k].reach ? rows[k].reach : UINT32_MAX, "%s: %u",
                 rows[k].where, reach);
  }
}

/* A table at a place, a product of ranks, a power: all are as wrong at one rank
 * as their sound neighbours are right, and none is proved. */
Test(rules, ranks_are_told_apart, .init = fixture_start, .fini = fixture_stop) {
  static const char *const tests[] = {
      "(= (* (rank ?a) (rank ?a)) 121)",
      "(= (rank ?a) 11)",
      "(= (prod (fill (rank ?a) 2)) 2048)",
      "(= (sum (iota (rank ?a))) 55)",
      "(= (nth (list 0 0 0 0 0 0 0 0 0 0 0 1) (rank ?a)) 1)",
      "(= (mod (rank ?a) 11) 10)"};
  for (size_t k = 0; k < sizeof tests / sizeof tests[0]; k++) {
    char text[400];
    snprintf(text, sizeof text,
             "(rule r \"x\" (transpose ?a ?p) => (transpose ?a ?q)"
             " :where (and (all-equal (shape ?a))"
             "             (= ?q (if %s (iota (rank ?a)) ?p))))",
             tests[k]);
    rl_rules *rules = rules_of(text);
    pv_rule_answer a = ask(rules, rl_at(rules, 0), 1);
    cr_expect_neq(a.verdict, PV_PROVED, "%s", tests[k]);
  }
}

/* Operators that a rule does not tell apart are one form, and one that it does
 * is none of them: each of these is wrong for one operator, dtype or cast. */
Test(rules, operators_are_told_apart, .init = fixture_start,
     .fini = fixture_stop) {
  static const struct {
    const char *rule;
    bool proved;
  } rows[] = {
      {"(compute ?op (slice ?a 0 ?lo ?hi)) => (slice (compute ?op ?a) 0 ?lo "
       "?hi)"
       " :where (and (> (access-rank ?a) 0) (!= (op-kind ?op) lookup))",
       true},
      {"(compute ?op (slice ?a 0 ?lo ?hi)) => (slice (compute ?op ?a) 0 ?lo "
       "?hi)"
       " :where (> (access-rank ?a) 0)",
       true},
      {"(compute ?op (compute ?op ?a)) => (compute ?op ?a)", false},
      {"(compute ?op (compute ?op ?a)) => (compute ?op ?a)"
       " :where (member (list relu abs floor) (op-name ?op))",
       true},
      {"(compute ?op (compute ?op ?a)) => (compute ?op ?a)"
       " :where (member (list relu abs floor square) (op-name ?op))",
       false},
      {"(compute ?op (compute ?f ?a)) => (compute ?f (compute ?op ?a))"
       " :where (and (= (op-kind ?op) cast) (= (op-kind ?f) elementwise))",
       false},
      {"(compute ?op ?a) => ?a :where (= (op-kind ?op) cast)", false},
      {"(compute ?op (compute ?f ?a)) => (compute ?op ?a)"
       " :where (and (= (op-kind ?op) cast) (= (op-kind ?f) cast))",
       false},
      {"(compute ?op (transpose ?a (list 1 0)))"
       " => (transpose (compute ?op ?a) (list 1 0))"
       " :where (and (= (access-rank ?a) 0) (!= (op-name ?op) softmax)"
       "             (member (list elementwise softmax) (op-kind ?op)))",
       true},
      {"(compute ?op (transpose ?a (list 1 0))) => (compute ?op ?a)"
       " :where (and (= (access-rank ?a) 0) (= (op-kind ?op) reduce))",
       true},
      {"(compute ?op (repeat ?a 0 2)) => (compute ?op ?a)"
       " :where (and (= (access-rank ?a) 0) (= (op-kind ?op) reduce)"
       "             (is-associative ?op))",
       false},
      {"(compute ?op (pair ?a ?b)) => (compute ?op (pair ?b ?a))"
       " :where (and (= (op-kind ?op) fold) (= (dtype ?a) (dtype ?b)))",
       false},
  };
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    char text[500];
    snprintf(text, sizeof text, "(rule r \"x\" %s)", rows[k].rule);
    rl_rules *rules = rules_of(text);
    pv_rule_answer a = ask(rules, rl_at(rules, 0), 1);
    cr_expect_eq(a.verdict == PV_PROVED, rows[k].proved, "%s: %s", rows[k].rule,
                 text_of(rl_at(rules, 0), &a));
  }
}

/* A right side that is right today, whatever a target sets. */
Test(rules, parameters_have_any_value, .init = fixture_start,
     .fini = fixture_stop) {
  rl_rules *rules = rules_of(
      "(param w 0 \"x\")"
      "(rule r \"x\" (slice ?a ?d ?lo ?hi) => (slice ?a ?d (- ?lo ?x) ?hi)"
      " :where (= ?x (if (= $w 977) 1 0)))"
      "(rule s \"x\" (slice (slice ?a ?d ?lo ?m) ?d ?from ?to)"
      " => (slice ?a ?d (+ ?lo ?from) (+ ?lo ?to)) :where (> ?m $w))");
  pv_rule_answer a = ask(rules, rl_at(rules, 0), 1);
  cr_expect_eq(a.verdict, PV_REFUTED, "%s", text_of(rl_at(rules, 0), &a));
  a = ask(rules, rl_at(rules, 1), 1);
  cr_expect_eq(a.verdict, PV_PROVED, "%s", text_of(rl_at(rules, 1), &a));
}

/* A fault that a parameter turns on, of a value that two numbers of the rule
 * give, and one at a rank that stands in the rule. */
Test(rules, what_two_numbers_give_is_tried, .init = fixture_start,
     .fini = fixture_stop) {
  static const char *const tests[] = {
      "(= (+ $w 17) 40)", "(= $w (+ 17 40))", "(= (- $w 9) 31)",
      "(= (+ $w 40) 17)", "(= (rank ?a) 11)", "(= (rank ?a) (+ 6 7))"};
  for (size_t k = 0; k < sizeof tests / sizeof tests[0]; k++) {
    char text[300];
    snprintf(text, sizeof text,
             "(param w 0 \"x\")(rule r \"x\" (compute relu ?a)"
             " => (compute (offset ?x) (compute relu ?a))"
             " :where (= ?x (if %s 1 0)))",
             tests[k]);
    rl_rules *rules = rules_of(text);
    pv_rule_answer a = ask(rules, rl_at(rules, 0), 1);
    cr_expect_eq(a.verdict, PV_REFUTED, "%s: %s", tests[k],
                 text_of(rl_at(rules, 0), &a));
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
    for (uint32_t k = 0; k < rl_count(rules); k += EVERY) {
      const rl_rule *rule = rl_at(rules, k);
      pv_rule_answer a = ask(rules, rule, 1);
      if (rl_makes_right_side(rule)) /* so there is nothing to ask about */
        cr_expect_eq(a.verdict, PV_UNKNOWN, "%s", text_of(rule, &a));
      else
        cr_expect(is_as_expected(a.verdict, PV_CHECKED), "%s",
                  text_of(rule, &a));
    }
  }
}
