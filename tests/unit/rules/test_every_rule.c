/* SPDX-License-Identifier: MIT */
/* Every shipped rule applies somewhere, and what it builds keeps the value. */
#include "agree.h"
#include "instance.h"
#include "lawful.h"
#include "rules/test/sound.h"
#include "tests/unit/sanitized.h"

TestSuite(every_rule, .init = fixture_start, .fini = fixture_stop);

#define CASES (SANITIZED ? 1 : 2) /* that each rule must apply to */
#define STEP  (SANITIZED ? 6 : 1) /* from rule to rule */
#define TRIES 1500                /* at making such cases */
#define MOST  12000               /* tries, where none was made by then */

/* Small units, so that small dimensions are cut and padded. */
static const struct {
  const char *name;
  int64_t value;
} params[] = {
    {"split-quantum", 2}, {"split-into", 2},     {"pad-multiple", 3},
    {"pad-limit", 6},     {"tile-rows", 2},      {"fewer-products", 2},
    {"tile-pieces", 64},  {"group-pieces", 128},
};

/* The rules, and a strategy `only-K` for each. */
static rl_rules *
shipped(void) {
  rl_rules *names = rl_new(&ctx, NULL), *rules = rl_new(&ctx, NULL);
  bs_text text;
  bs_text_init(&text, &heap);
  cr_assert(rl_load(names, GLEN_SOURCE_DIR "/rules") && rl_finish(names), "%s",
            faults());
  for (uint32_t k = 0; k < rl_count(names); k++)
    bs_putf(&text, "(strategy only-%u %s%s)\n", k, rl_at(names, k)->name,
            rl_at(names, k)->both_ways && !strstr(rl_at(names, k)->name, "~rev")
                ? "~fwd"
                : "");
  bool ok = rl_load(rules, GLEN_SOURCE_DIR "/rules") &&
            rl_load_source(rules, source("strategies", bs_text_str(&text)));
  for (size_t k = 0; k < sizeof params / sizeof *params; k++)
    ok &= rl_set_param(rules, params[k].name,
                       bs_int(ctx.values, params[k].value));
  cr_assert(ok && rl_finish(rules), "%s", faults());
  return rules;
}

/* Runs one rule on one random instance: did it apply?  `bad` gets what it
 * broke. */
static bool
try_once(const rl_rules *rules, uint32_t index, uint64_t seed, bs_text *bad) {
  const rl_rule *r = rl_at(rules, index);
  char strategy[32];
  bs_heap child;
  bs_arena local;
  generator g = {0};
  bs_heap_init_child(&child, &heap, 0);
  bs_arena_init(&local, &child);
  gs_context c = {&child, &local, ctx.values, &diags};
  gs_program *p = gen_instance(&g, &c, seed, r->left, &r->scope);
  bool applied = false;
  if (p) {
    snprintf(strategy, sizeof strategy, "only-%u", index);
    uint8_t *only = BS_NEWS(&local, uint8_t, rl_count(rules));
    only[index] = 1;
    rl_options o = {.strategy = strategy, .only = only};
    rl_run run;
    eg_run_defaults(&o.run);
    o.run.iterations = 1;
    if (!rl_saturate(&c, p, rules, &o, &run))
      bs_put(bad, faults());
    else if (eg_runner_stats(run.runner)[index].applied) {
      applied = true;
      agree(&c, p, &run, seed, bad);
    }
    rl_run_done(&run);
  }
  bs_heap_done(&child);
  return applied;
}

static void
try_rule(const rl_rules *rules, uint32_t index) {
  const rl_rule *r = rl_at(rules, index);
  bs_text bad;
  uint32_t cases = 0;
  bs_text_init(&bad, &heap);
  for (uint32_t k = 0; k < (cases ? TRIES : MOST) && cases < CASES && !bad.len;
       k++)
    cases += try_once(rules, index, (uint64_t)k * 1000003u + index, &bad);
  cr_expect(!bad.len, "%s:\n%s", r->name, bs_text_str(&bad));
  if (!cases) { /* several patterns, perhaps */
    rl_sound_options o;
    rl_sound_result s;
    rl_sound_defaults(&o);
    o.attempts = TRIES;
    cr_expect(rl_check_sound(&ctx, rules, index, &o, &s), "%s", s.message);
    cases = s.fired;
  }
  cr_expect_gt(cases, 0, "%s never applied", r->name);
  bs_text_done(&bad);
}

Test(every_rule, applies_and_keeps_the_value) {
  const rl_rules *rules = shipped();
  for (uint32_t k = 0; k < rl_count(rules); k += STEP)
    try_rule(rules, k);
}
