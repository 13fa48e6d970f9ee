/* SPDX-License-Identifier: MIT */
/* test_steady.c - a graph that is freed, what ran on it and what explained it,
 * leave nothing behind. */
#include "../steady.h"
#include "egraph/egraph_explain.h"
#include "small.h"

typedef struct way {
  small s;
  bool explain, full;
} way;

static void
run_once(void *argument) {
  way *w = argument;
  eg_options o = {.explain = w->explain};
  w->s.g = eg_new(&w->s.heap, w->s.values, &o);
  eg_rule rules[2];
  small_ac(&w->s, rules);
  small_sum(&w->s, 5);
  eg_run_options how = {.scheduler = EG_BACKOFF,
                        .backoff_matches = 100,
                        .backoff_ban = 2,
                        .full_search = w->full};
  eg_runner *r = eg_runner_new(&w->s.heap, w->s.g, rules, 2, &how);
  cr_expect_eq(eg_run_some(r, NULL, 0), EG_STOP_SATURATED);
  eg_runner_free(r);
  for (uint32_t k = 0; k < 2; k++)
    eg_pattern_free(&w->s.heap, rules[k].pattern);
  eg_free(w->s.g);
}

Test(steady, runs_of_rules) {
  for (int k = 0; k < 4; k++) {
    way w = {.explain = k % 2, .full = k / 2};
    bs_heap_init(&w.s.heap, NULL, 0);
    w.s.values = bs_values_new(&w.s.heap);
    expect_steady(&w.s.heap, run_once, &w,
                  w.explain ? "a run that is recorded" : "a run");
    bs_heap_done(&w.s.heap);
  }
}
