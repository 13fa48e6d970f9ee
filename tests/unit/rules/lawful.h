/* SPDX-License-Identifier: MIT */
/* lawful.h - a context for each test, rules and programs from text. */
#ifndef TEST_LAWFUL_H
#define TEST_LAWFUL_H

#include "../context.h"
#include "rules/rule/saturate.h"
#include "rules/rule/test.h"
#include <stdio.h>

__attribute__((unused)) static uint32_t
source(const char *path, const char *text) {
  return bs_source_add(&diags, path, text, strlen(text));
}

__attribute__((unused)) static rl_rules *
rules_over(const gs_target *target, const char *text) {
  rl_rules *rules = rl_new(&ctx, target);
  bool ok = rl_load_source(rules, source("r", text));
  cr_assert(rl_finish(rules) && ok, "%s", faults());
  return rules;
}

__attribute__((unused)) static rl_rules *
rules_of(const char *text) {
  return rules_over(NULL, text);
}

__attribute__((unused)) static gs_program *
program_of(const char *text) {
  return program_over(NULL, text);
}

__attribute__((unused)) static rl_options
options(void) {
  rl_options o = {0};
  eg_run_defaults(&o.run);
  return o;
}

/* Saturates; the run must end without a fault. */
__attribute__((unused)) static rl_run
saturated(const rl_rules *rules, const gs_program *p) {
  rl_options o = options();
  rl_run run;
  cr_assert(rl_saturate(&ctx, p, rules, &o, &run), "%s", faults());
  return run;
}

__attribute__((unused)) static const char *
printed(const gs_program *p) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_print(p, false, &out);
  return bs_text_str(&out);
}

/* Runs every test of the rules; all must pass. */
__attribute__((unused)) static void
all_pass(const rl_rules *rules) {
  cr_assert_gt(rl_count_tests(rules), 0);
  for (uint32_t k = 0; k < rl_count_tests(rules); k++) {
    rl_test_result r;
    const rl_test *t = rl_test_at(rules, k);
    cr_expect(rl_run_test(&ctx, rules, t, NULL, &r), "%s: %s", t->name,
              r.message ? r.message : "?");
  }
}

#endif
