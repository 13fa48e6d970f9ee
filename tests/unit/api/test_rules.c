/* SPDX-License-Identifier: MIT */
/* test_rules.c - rules as their authors have them checked, and what a
 * saturation tells. */
#include "fixture.h"
#include <math.h>

static const char rules_text[] =
    "(rule twice \"Two are one.\"\n"
    "  (compute relu (compute relu ?a)) => (compute relu ?a))\n"
    "(rule back \"Nothing is below zero.\"\n"
    "  (compute abs (compute relu ?a)) => (compute relu ?a))\n"
    "(test two-are-one\n"
    "  (program (tensor x (shape 4) f32)\n"
    "    (let y (compute relu (compute relu (access x 0)))) (output y))\n"
    "  (finds (compute relu (access x 0))))\n"
    "(test that-fails\n"
    "  (program (tensor x (shape 4) f32) (output x))\n"
    "  (finds (compute relu ?a)))\n";

static const char twice_text[] =
    "(tensor x (shape 4) f32)\n"
    "(let y (compute abs (compute relu (compute relu (access x 0)))))\n"
    "(output y)\n";

static const char once_text[] = "(tensor x (shape 4) f32)\n"
                                "(let y (compute relu (access x 0)))\n"
                                "(output y)\n";

typedef struct told {
  uint32_t lines, failed;
  char last[64];
} told;

static void
tell(void *arg, const char *name, bool passed, const char *detail,
     double seconds) {
  told *t = arg;
  t->lines++;
  t->failed += !passed;
  snprintf(t->last, sizeof t->last, "%s", name);
  cr_expect(detail && seconds >= 0);
}

Test(rules, tests_beside_rules_are_run) {
  told all = {0}, some = {0}, random = {0};
  glen_test_counts counts;
  glen_context *glen = begin();
  glen_rules *rules = rules_of(glen, NULL, rules_text);
  cr_assert(glen_rules_test(glen, rules, NULL, tell, &all, &counts));
  cr_expect(counts.passed == 1 && counts.failed == 1);
  cr_expect(all.lines == 2 && all.failed == 1);
  cr_assert(glen_rules_test(glen, rules, "two", tell, &some, &counts));
  cr_expect(some.lines == 1 && counts.passed == 1 && !counts.failed);
  cr_expect_str_eq(some.last, "two-are-one");
  cr_assert(
      glen_rules_test_random(glen, rules, 5, 1, NULL, tell, &random, &counts));
  cr_expect(random.lines == 2 && counts.failed == 0);
  glen_context_free(glen);
}

Test(rules, each_is_proved) {
  glen_prove_options options;
  glen_proof proof;
  glen_prove_defaults(&options);
  glen_context *glen = begin();
  glen_rules *rules = rules_of(
      glen, NULL,
      "(rule right \"Two are one.\"\n"
      "  (compute relu (compute relu ?a)) => (compute relu ?a))\n"
      "(rule wrong \"It is not.\" (compute abs ?a) => (compute relu ?a))\n");
  cr_assert(glen_rule_prove(glen, rules, 0, &options, &proof));
  cr_expect_str_eq(proof.verdict, "proved", "%s", proof.reason);
  cr_expect_str_eq(proof.rule, "right");
  cr_expect(proof.all_sizes);
  cr_assert(glen_rule_prove(glen, rules, 1, &options, &proof));
  cr_expect_str_eq(proof.verdict, "refuted");
  cr_expect(*proof.detail && strstr(proof.json, "\"refuted\""));
  glen_context_free(glen);
}

Test(rules, files_are_checked_and_formatted) {
  use_folder();
  put("mine.rules", "(rule one (compute relu (compute relu ?a))   => "
                    "(compute relu ?a))\n");
  put("bad.rules", "(rule one \"why\" (compute relo ?a) => ?a)\n");
  static const char *const good[] = {"mine.rules"}, *const bad[] = {
                                                        "bad.rules"};
  glen_check_options options = {.paths = good, .n_paths = 1};
  glen_check_counts counts;
  glen_context *glen = begin();
  cr_expect(glen_rules_check(glen, NULL, &options, &counts), "%s",
            glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_expect(counts.files == 1 && counts.rules == 1 && !counts.errors);
  cr_expect_eq(counts.warnings, 1, "its intent is missing");
  options.paths = bad;
  cr_expect_not(glen_rules_check(glen, NULL, &options, &counts));
  cr_expect_eq(counts.errors, 1);
  const char *table = glen_rules_functions(glen, false);
  const char *json = glen_rules_functions(glen, true);
  cr_expect(strstr(table, "compose") && table[0] == '|');
  cr_expect(strstr(json, "\"compose\"") && strchr("[{", json[0]));
  glen_context_free(glen);
}

static void
keep_format(void *arg, const glen_formatted *f) {
  char *out = arg;
  cr_expect_str_eq(f->path, "wide.glen");
  cr_expect(f->differs && f->size == strlen(f->text));
  snprintf(out, 200, "%s", f->text);
}

Test(rules, a_program_has_one_form) {
  char out[200] = "";
  use_folder();
  put("wide.glen", "(tensor   x (shape 4)\nf32)\n(output x  )\n");
  glen_context *glen = begin();
  cr_assert(glen_format(glen, "wide.glen", keep_format, out));
  cr_expect_str_eq(out, "(tensor x (shape 4) f32)\n(output x)\n");
  cr_expect_not(glen_format(glen, "none.glen", keep_format, out));
  expect_code(glen, "no-file");
  glen_context_free(glen);
}

static void
count_runs(void *arg, uint32_t done, uint32_t of, const char *rule) {
  uint32_t *n = arg;
  cr_expect(done < of && (rule || !done));
  ++*n;
}

Test(rules, what_leaving_one_out_does) {
  uint32_t n, runs = 0;
  glen_saturate_options options;
  glen_saturate_defaults(&options);
  glen_context *glen = begin();
  glen_program *p = parse(glen, twice_text);
  glen_rules *rules = rules_of(glen, NULL, rules_text);
  const glen_ablation *all =
      glen_rules_ablate(glen, p, rules, glen_target_load(glen, NULL), &options,
                        NULL, count_runs, &runs, &n);
  cr_assert_not_null(all);
  cr_assert_eq(n, 3);
  cr_expect_eq(runs, 2);
  cr_expect_null(all[0].rule);
  cr_expect(all[1].cost >= all[0].cost && all[2].cost >= all[0].cost);
  cr_expect(!isnan(all[0].cost) && all[0].nodes > 0);
  glen_context_free(glen);
}

static glen_result *
saturate(glen_context *glen, const char *target, const glen_program *p,
         const glen_rules *rules) {
  glen_saturate_options options;
  glen_saturate_defaults(&options);
  options.explain = true;
  options.nodes = 5000;
  glen_result *r =
      glen_saturate(glen, p, rules, glen_target_load(glen, target), &options);
  cr_assert_not_null(r, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  return r;
}

Test(rules, a_result_says_how_it_came_about) {
  glen_explain_options chains;
  glen_saturate_options options;
  glen_explained explained;
  glen_saturate_defaults(&options);
  glen_explain_defaults(&chains);
  glen_context *glen = begin();
  glen_program *p = parse(glen, twice_text), *q = parse(glen, once_text);
  glen_rules *rules = rules_of(glen, NULL, rules_text);
  glen_result *r = saturate(glen, NULL, p, rules);
  cr_expect(glen_result_saturated(r));
  cr_expect_str_eq(glen_result_verify(glen, r), "proved");
  cr_expect(strstr(glen_result_verified_text(glen, r, false), "proved"));
  cr_expect(strstr(glen_result_verified_text(glen, r, true), "\"proved\""));
  cr_expect(strstr(glen_result_json(glen, r, false), "\"proved\""));
  cr_assert(glen_explain(glen, p, q, rules, glen_target_load(glen, NULL),
                         &options, &chains, &explained));
  cr_expect(explained.equal && explained.checked && explained.steps == 2,
            "%u steps", explained.steps);
  cr_expect(strstr(explained.text, "twice") && strstr(explained.json, "back"));
  glen_result_free(r);
  glen_context_free(glen);
}

Test(rules, layers_that_must_be_mapped) {
  static const char *const paths[] = {PATH("rules")};
  static const char *const product[] = {"c"}, *const rest[] = {"d*"};
  glen_mapped mapped;
  glen_context *glen = begin();
  glen_target *target = glen_target_load(glen, PATH("targets/systolic.target"));
  glen_rules *rules = glen_rules_load(glen, target, paths, 1, NULL, 0);
  glen_program *p = parse(glen, PRODUCT);
  glen_result *r = saturate(glen, PATH("targets/systolic.target"), p, rules);
  cr_expect(glen_map_require(glen, r, product, 1), "%s",
            glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_expect_not(glen_map_require(glen, r, rest, 1));
  expect_code(glen, "not-mapped"); /* no instruction has a relu */
  cr_assert(glen_map_all(glen, r, &mapped));
  cr_expect(strstr(mapped.text, "systolicArray") && mapped.json[0] == '{');
  glen_result_free(r);
  r = saturate(glen, PATH("targets/systolic.target"), p,
               rules_of(glen, NULL, rules_text));
  cr_expect_not(glen_map_require(glen, r, product, 1));
  cr_expect_eq(glen_failure(glen), GLEN_LIMIT);
  expect_code(glen, "not-mapped");
  glen_result_free(r);
  glen_context_free(glen);
}

Test(rules, regions_have_names) {
  glen_regions regions = GLEN_REGIONS_AUTO;
  cr_expect(glen_regions_find("layers", &regions));
  cr_expect_eq(regions, GLEN_REGIONS_LAYERS);
  cr_expect_not(glen_regions_find("parts", &regions));
}
