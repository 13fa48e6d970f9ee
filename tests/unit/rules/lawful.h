/* lawful.h - a context for each test, rules and programs from text. */
#ifndef TEST_LAWFUL_H
#define TEST_LAWFUL_H

#include "rules/saturate.h"
#include "rules/test.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static bs_heap heap;
static bs_arena arena;
static bs_diags diags;
static gs_context ctx;

__attribute__((unused)) static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
}

__attribute__((unused)) static void
stop(void) {
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
}

/* All diagnostics, without colour. */
__attribute__((unused)) static const char *
rendered(void) {
  bs_text out;
  bs_text_init(&out, &heap);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &out);
  return bs_text_str(&out);
}

__attribute__((unused)) static uint32_t
source(const char *path, const char *text) {
  return bs_source_add(&diags, path, text, strlen(text));
}

__attribute__((unused)) static rl_rules *
rules_over(const gs_target *target, const char *text) {
  rl_rules *rules = rl_new(&ctx, target);
  bool ok = rl_load_source(rules, source("r", text));
  cr_assert(rl_finish(rules) && ok, "%s", rendered());
  return rules;
}

__attribute__((unused)) static rl_rules *
rules_of(const char *text) {
  return rules_over(NULL, text);
}

__attribute__((unused)) static gs_target *
target_of(const char *text) {
  gs_target *t = gs_target_parse(&ctx, source("t", text));
  cr_assert(t, "%s", rendered());
  return t;
}

__attribute__((unused)) static gs_program *
program_over(const gs_target *target, const char *text) {
  gs_program *p = gs_parse(&ctx, target, source("p", text));
  cr_assert(p, "%s", rendered());
  return p;
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
  cr_assert(rl_saturate(&ctx, p, rules, &o, &run), "%s", rendered());
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
