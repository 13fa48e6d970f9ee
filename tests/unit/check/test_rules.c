/* SPDX-License-Identifier: MIT */
/* test_rules.c - rules as the proof checker reads them by itself: their sides
 * and conditions, parameters that are given, and what is no rule. */
#include "../context.h"
#include "check/check.h"

TestSuite(rules, .init = fixture_start, .fini = fixture_stop);

static bool
load(ck_rules *r, const char *text) {
  uint32_t source = bs_source_add(&diags, "r", text, strlen(text));
  return gs_forms_load_source(&r->forms, source);
}

static ck_rule *
rule_of(ck_rules *r, const char *text, const char *name) {
  ck_rules_init(r, &ctx, NULL);
  cr_assert(load(r, text), "%s: %s", text, faults());
  ck_rule *rule = ck_find_rule(r, name);
  cr_assert(rule, "%s", text);
  return rule;
}

Test(rules, sides_and_conditions_are_counted) {
  static const struct {
    const char *rule;
    uint32_t parts, results, conditions, lets;
  } rows[] = {
      {"(compute relu ?a) => ?a", 1, 1, 0, 0},
      {"\"d\" (compute relu ?a) => ?a", 1, 1, 0, 0},
      {"(compute relu ?a) => ?a :where (= (rank ?a) 1)", 1, 1, 1, 0},
      {":where (= (rank ?a) 1) (compute relu ?a) => ?a", 1, 1, 1, 0},
      {"(compute relu ?a) => ?a :where (= (rank ?a) 1)"
       " :for (?n (list 1 2)) :where (< ?n 2)",
       1, 1, 3, 0},
      {"(compute relu ?a) => ?a :with (?a (transpose ?b ?p))"
       " :with (?a (compute abs ?c))",
       3, 1, 0, 0},
      {"(compute relu ?a) => ?a :also (?a (compute abs ?a))", 1, 2, 0, 0},
      {"(compute relu ?a) => (compute relu ?m) :let (?m (compute abs ?a))"
       " :let (?n (compute abs ?m)) :also (?a ?n)",
       1, 2, 0, 2},
      {":kind cleanup :match-limit 3 (compute relu ?a) => ?a", 1, 1, 0, 0},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    ck_rules r;
    ck_rule *x =
        rule_of(&r, bs_arena_printf(&arena, "(rule x %s)", rows[k].rule), "x");
    cr_assert(ck_parse_rule(&r, x), "%s: %s", rows[k].rule, faults());
    cr_expect_eq(x->parts.len, rows[k].parts, "%s", rows[k].rule);
    cr_expect_eq(x->results.len, rows[k].results, "%s", rows[k].rule);
    cr_expect_eq(x->conditions.len, rows[k].conditions, "%s", rows[k].rule);
    cr_expect_eq(x->scope.n_lets, rows[k].lets, "%s", rows[k].rule);
    cr_expect(ck_parse_rule(&r, x), "once more");
  }
}

/* A proof that applies one of these is not accepted. */
Test(rules, what_cannot_be_read_is_refused_each_time) {
  static const char *const rows[] = {
      "(compute relu ?a) => ?a :let ?m",
      "(compute relu ?a) => ?a :let (?m)",
      "(compute relu ?a) => ?a :let (1 ?a)",
      "(compute relu ?a) => ?a :let (?m ?a) :let ()",
      "(compute relu ?a) => ?a :with ?a",
      "(compute relu ?a) => ?a :with (?a)",
      "(compute relu ?a) => ?a :with (?a (compute))",
      "(compute relu ?a) => ?a :also ?a",
      "(compute relu ?a) => ?a :also (?a (nothing ?a))",
      "(compute relu ?a) => ?a :for ?n",
      "(compute relu ?a) => ?a :for (?n)",
      "(compute relu ?a) => ?a :for (?n 3)",
      "(compute relu ?a) => ?a :where (nothing ?a)",
      "(compute relu ?a) => ?a :where 3",
      "(nothing ?a) => ?a",
      "(compute relu ?a) => (nothing ?a)",
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    ck_rules r;
    ck_rule *x =
        rule_of(&r, bs_arena_printf(&arena, "(rule x %s)", rows[k]), "x");
    uint32_t before = diags.errors;
    cr_expect_not(ck_parse_rule(&r, x), "%s", rows[k]);
    cr_expect_gt(diags.errors, before, "%s", rows[k]);
    cr_expect_not(ck_parse_rule(&r, x), "%s, once more", rows[k]);
  }
}

Test(rules, what_is_no_rule_is_not_loaded) {
  static const char *const rows[] = {
      "(rule)",
      "(rule x)",
      "(rule x ?a)",
      "(rule x ?a =>)",
      "(rule x => ?a)",
      "(rule x ?a ?b => ?c)",
      "(rule x ?a => ?b ?c)",
      "(rule x ?a => ?b :what 3)",
      "(rule x ?a => ?b :where)",
      "(rule 3 ?a => ?b)",
      "3",
      "(rule x ?a => ?b",
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    ck_rules r;
    ck_rules_init(&r, &ctx, NULL);
    uint32_t before = diags.errors;
    cr_expect_not(load(&r, rows[k]), "%s", rows[k]);
    cr_expect_gt(diags.errors, before, "%s", rows[k]);
  }
}

Test(rules, both_ways_are_two) {
  ck_rules r;
  const char *text =
      "(ruleset s (rule x (compute abs ?a) <=> (compute relu ?a)))";
  ck_rule *x = rule_of(&r, text, "x"), *back = ck_find_rule(&r, "x~rev");
  cr_assert(back && back != x && !ck_find_rule(&r, "x~"));
  cr_assert(ck_parse_rule(&r, x) && ck_parse_rule(&r, back), "%s", faults());
  gs_program *p = program_over(NULL, "(tensor a (shape 4) f32)"
                                     "(let x (compute abs a))(output x)");
  uint32_t slots[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
  ck_env e = {.ctx = &ctx, .p = p, .slots = slots, .scope = &x->scope};
  gs_term t = p->outputs.data[0].term;
  cr_expect(ck_match(&e, x->parts.data[0].term, t, true));
  cr_expect_not(ck_match(&e, back->parts.data[0].term, t, true));
  cr_expect(ck_match(&e, back->results.data[0].term, t, false));
}

/* What is given stands before what the target sets, and that before what a file
 * declares. */
Test(rules, parameters) {
  static const struct {
    const char *given;
    bool set;
    int64_t value;
  } rows[] = {{NULL, false, 3},     {"least=5", false, 5},
              {"most=7", false, 3}, {"least=-1", false, -1},
              {NULL, true, 4},      {"least=5", true, 5},
              {"most=7", true, 4}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    ck_rules r;
    ck_rules_init(&r, &ctx,
                  rows[k].set ? target_of("(target t (set least 4))") : NULL);
    cr_assert(!rows[k].given || ck_give_param(&r, rows[k].given));
    cr_assert(load(&r, "(param least 3 \"d\")(param most 9 \"d\")"
                       "(rule x (compute relu ?a) => ?a :where (= ?n $least))"),
              "%s", faults());
    ck_rule *x = ck_find_rule(&r, "x");
    cr_assert(ck_parse_rule(&r, x), "%s", faults());
    const gs_expr *c = x->conditions.data[0].expr;
    cr_assert(c->kind == GS_X_CALL && c->n_args == 2);
    cr_assert_eq(c->args[1]->kind, GS_X_LITERAL);
    cr_expect_eq(bs_as_int(ctx.values, c->args[1]->literal), rows[k].value,
                 "%s", rows[k].given);
  }
  ck_rules r;
  ck_rules_init(&r, &ctx, NULL);
  cr_expect_not(ck_give_param(&r, "least"));
  cr_expect_not(ck_give_param(&r, "=3"));
}
