/* SPDX-License-Identifier: MIT */
/* rules_test.c - the tests that stand beside the rules, all or some. */
#include "api/api.h"
#include "extract/extract_egraph.h"
#include "rules/test/sound.h"
#include "rules/rule/test.h"

#include <string.h>

typedef void (*test_report)(void *ctx, const char *name, bool passed,
                            const char *detail, double seconds);

typedef struct test_args {
  glen_context *ctx;
  test_report report;
  void *report_ctx;
  glen_test_counts *out;
} test_args;

static bs_value
type_of(void *ctx, const eg_graph *g, eg_class c) {
  (void)ctx;
  return rl_facts_of(g, c)->type;
}

/* What the greedy DAG extractor pays. */
static bool
cost_of_run(void *ctx, const gs_context *gs, const gs_target *target,
            const gs_program *original, const rl_run *run, double *out) {
  (void)ctx;
  ex_pricer pricer = {.target = target,
                      .limit = ex_limit_of(original, target),
                      .values = gs->values,
                      .type_of = type_of};
  ex_options options = {0};
  ex_bridge bridge;
  ex_solution s;
  ex_from_egraph(gs->heap, run->graph, run->outputs, run->n_outputs,
                 ex_price_enode, &pricer, &bridge);
  bool ok = ex_solve(&bridge.problem, EX_DAG, &options, &s);
  if (ok) {
    *out = s.dag_cost;
    ex_solution_done(&bridge.problem, &s);
  }
  ex_bridge_done(&bridge);
  return ok;
}

static void
tell(test_args *a, const rl_test *test, const rl_test_result *r) {
  const gs_context *gs = &a->ctx->gs;
  bs_text place;
  bs_text_init(&place, gs->heap);
  if (!r->passed) {
    bs_put_place(gs->diags, r->span.file ? r->span : test->span, &place);
    bs_put(&place, ": ");
  }
  const char *detail = bs_arena_printf(
      gs->arena, "%s%s%s%s: %u %s, %u %s, %u %s", bs_text_str(&place),
      r->message ? r->message : "", r->message ? "; " : "",
      eg_stop_name(r->stop), BS_COUNTED(r->iterations, "iteration"),
      BS_COUNTED(r->nodes, "e-node"),
      BS_COUNTED_AS(r->classes, "e-class", "e-classes"));
  bs_text_done(&place);
  a->report(a->report_ctx, test->name, r->passed, detail, r->seconds);
}

/* ---- random programs ---- */

static void
tell_random(const test_args *a, const rl_rule *rule, const rl_sound_result *r) {
  const gs_context *gs = &a->ctx->gs;
  const char *detail = r->message ? r->message
                       : r->fired
                           ? bs_arena_printf(gs->arena, "%u %s, %u %s",
                                             BS_COUNTED(r->fired, "program"),
                                             BS_COUNTED(r->compared, "variant"))
                           : "no program was found on which it fires";
  a->out->passed += r->sound;
  a->out->failed += !r->sound;
  a->report(a->report_ctx, rule->name, r->sound, detail, 0);
}

bool
glen_rules_test_random(glen_context *ctx, const glen_rules *rules,
                       uint32_t programs, uint64_t seed, const char *filter,
                       test_report report, void *report_ctx,
                       glen_test_counts *out) {
  test_args a = {ctx, report, report_ctx, out};
  *out = (glen_test_counts){0};
  API_ENTER_LISTENING(ctx, false);
  rl_sound_options o;
  rl_sound_defaults(&o);
  o.seed = seed;
  o.programs = programs;
  o.attempts = programs < 40000000 ? 100 * programs : UINT32_MAX;
  for (uint32_t k = 0; k < rl_count(rules->rules) && !ctx->interrupt; k++) {
    const rl_rule *rule = rl_at(rules->rules, k);
    rl_sound_result result;
    if (filter && !strstr(rule->name, filter))
      continue;
    rl_check_sound(&ctx->gs, rules->rules, k, &o, &result);
    tell_random(&a, rule, &result);
  }
  return true;
}

/* ---- written tests ---- */

bool
glen_rules_test(glen_context *ctx, const glen_rules *rules, const char *filter,
                test_report report, void *report_ctx, glen_test_counts *out) {
  test_args a = {ctx, report, report_ctx, out};
  *out = (glen_test_counts){0};
  API_ENTER_LISTENING(ctx, false);
  const rl_test_hooks hooks = {.cost = cost_of_run};
  uint32_t n = rl_count_tests(rules->rules);
  for (uint32_t k = 0; k < n && !ctx->interrupt; k++) {
    const rl_test *test = rl_test_at(rules->rules, k);
    rl_test_result result;
    if (filter && !strstr(test->name, filter))
      continue;
    rl_run_test(&ctx->gs, rules->rules, test, &hooks, &result);
    out->passed += result.passed;
    out->failed += !result.passed;
    tell(&a, test, &result);
  }
  return true;
}
