/* SPDX-License-Identifier: MIT */
/* test_steady.c - what is done with rules once they are read leaves nothing
 * behind, and what a rule that is refused keeps is no more than its text. */
#include "../steady.h"
#include "lawful.h"
#include "rules/explain/near.h"
#include "rules/format/format.h"
#include "rules/lint/lint.h"
#include "rules/test/sound.h"

TestSuite(steady, .init = fixture_start, .fini = fixture_stop);

static const char text[] =
    "(param most 8 \"d\")"
    "(ruleset views (rule twice \"Two are one.\" (transpose (transpose ?a ?p)"
    "  ?q) => (transpose ?a ?r) :where (= ?r (compose ?p ?q))))"
    "(ruleset more (rule idle \"The identity.\" (transpose ?a ?p) => ?a"
    "  :where (= ?p (range 0 (rank ?a))))"
    "(rule halves \"Two halves.\" (compute reduceSum ?a) => (compute reduceSum"
    "  (compute (scale 1) ?a)) :for (?n (list 1 2)) :where (< ?n $most)))"
    "(rule back \"Add goes both ways.\" (compute add (pair ?a ?b)) <=>"
    "  (compute add (pair ?b ?a)))"
    "(rule shared \"What two have.\" (compute add (pair ?x ?y))"
    "  => (compute add (pair ?y ?x)) :with (?x (transpose ?z ?p))"
    "  :let (?t (transpose ?z ?p)) :also (?x ?t))"
    "(strategy main (seq (repeat 2 views) (saturate more)))"
    "(test holds (program (tensor a (shape 4 6) f32) (let x (transpose"
    "  (transpose a (list 1 0)) (list 1 0))) (output x))"
    "  (equal x a) (finds (transpose ?a ?p) :where (= (rank ?a) 2)))"
    "(test fails (program (tensor a (shape 4 6) f32) (let x (transpose"
    "  a (list 1 0))) (output x)) (never (transpose ?a ?p)))";

/* A call has an arena and diagnostics of its own, which end with it. */
typedef struct own {
  bs_heap told; /* of the diagnostics */
  bs_arena arena;
  bs_diags diags;
  gs_context ctx;
} own;

static void
begin(own *o) {
  bs_arena_init(&o->arena, &heap);
  bs_heap_init(&o->told, NULL, 0);
  bs_diags_init(&o->diags, &o->told);
  bs_source_add(&o->diags, "r", text, sizeof text - 1); /* as rules_of does */
  o->ctx = (gs_context){&heap, &o->arena, ctx.values, &o->diags};
}

static void
end(own *o) {
  bs_arena_done(&o->arena);
  bs_heap_done(&o->told);
}

static rl_rules *rules;
static gs_program *from;

#define TENSORS "(tensor a (shape 4 6) f32)(tensor b (shape 4 6) f32)"

static void
start(void) {
  rules = rules_of(text);
  from = program_of(
      TENSORS "(let x (compute reduceSum (access (compute add (pair (transpose"
              " (transpose a (list 1 0)) (list 1 0)) b)) 1)))(output x)");
}

/* ---- what is done with rules ---- */

static bool
run_of(const gs_context *c, const char *strategy, rl_run *run) {
  rl_options o = options();
  o.run.nodes = 300;
  o.strategy = strategy;
  return rl_saturate(c, from, rules, &o, run);
}

static void
saturate(void *strategy) {
  own o;
  rl_run run;
  begin(&o);
  cr_assert(run_of(&o.ctx, strategy, &run));
  rl_run_done(&run);
  end(&o);
}

static void
nearest(void *unused) {
  (void)unused;
  own o;
  rl_run run;
  rl_nearness near;
  begin(&o);
  cr_assert(run_of(&o.ctx, NULL, &run));
  for (uint32_t k = 0; k < rl_count(rules); k++)
    rl_nearest(&o.ctx, &run, rl_at(rules, k), 3, &near);
  rl_run_done(&run);
  end(&o);
}

static void
run_tests(void *unused) {
  (void)unused;
  own o;
  rl_test_result r;
  begin(&o);
  cr_assert(rl_run_test(&o.ctx, rules, rl_test_at(rules, 0), NULL, &r));
  cr_assert_not(rl_run_test(&o.ctx, rules, rl_test_at(rules, 1), NULL, &r));
  end(&o);
}

static void
try_on_programs(void *unused) {
  (void)unused;
  own o;
  rl_sound_options s;
  rl_sound_result r;
  begin(&o);
  rl_sound_defaults(&s);
  s.attempts = 20;
  for (uint32_t k = 0; k < rl_count(rules); k++)
    rl_check_sound(&o.ctx, rules, k, &s, &r);
  end(&o);
}

static void
format(void *unused) {
  (void)unused;
  own o;
  bs_text out;
  begin(&o);
  bs_text_init(&out, &heap);
  cr_assert(rl_format(
      &o.ctx, bs_source_add(&o.diags, "r", text, sizeof text - 1), &out));
  bs_text_done(&out);
  end(&o);
}

static void
lint(void *unused) {
  (void)unused;
  own o;
  rl_lint_counts counts;
  begin(&o);
  rl_lint(&o.ctx, rules, true, &counts);
  end(&o);
}

Test(steady, what_is_done_with_rules) {
  start();
  expect_steady(&heap, saturate, NULL, "saturation");
  expect_steady(&heap, saturate, "main", "a strategy");
  expect_steady(&heap, nearest, NULL, "what a rule lacks");
  expect_steady(&heap, run_tests, NULL, "a test");
  expect_steady(&heap, try_on_programs, NULL, "a trial");
  expect_steady(&heap, format, NULL, "a layout");
  expect_steady(&heap, lint, NULL, "a search for faults");
}

/* ---- rules that are refused ---- */

/* Of memory for texts, which are all of one length, with as many nodes. */
static void
refuse(void *clauses) {
  own o;
  begin(&o);
  const char *rule = bs_arena_printf(
      &o.arena, "(rule r \"d\" (transpose ?a ?p) => (transpose ?a ?q) %s)",
      (const char *)clauses);
  rl_rules *wrong = rl_new(&o.ctx, NULL);
  cr_assert(
      rl_load_source(wrong, bs_source_add(&o.diags, "r", rule, strlen(rule))));
  cr_assert_not(rl_finish(wrong));
  end(&o);
}

/* Whichever clauses it has, it leaves the same. */
Test(steady, rules_that_are_refused) {
  static const char *const clauses[] = {
      ":with  (?p (range 0 (f 2 3)))", ":let   (?p (range 0 (f 2 3)))",
      ":also  (?p (range 0 (f 2 3)))", ":for   (?p (range 0 (f 2 3)))",
      ":for   (?n (range 0 (+ 2 3)))", ":where (=  3 (nth 0 (+ 2 3)))",
      ":where (=  ?q (rank (+ 2 3)))",
  };
  size_t first = 0;
  for (uint32_t k = 0; k < sizeof clauses / sizeof *clauses; k++) {
    size_t grows =
        growth_of(&heap, refuse, (void *)(uintptr_t)clauses[k], clauses[k]);
    first = k ? first : grows;
    cr_expect_eq(grows, first, "%s: %zu, not %zu", clauses[k], grows, first);
  }
}
