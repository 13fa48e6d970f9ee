/* SPDX-License-Identifier: MIT */
/* test_steady.c - a graph that is freed, what ran on it and what explained it,
 * leave nothing behind. */
#include "../steady.h"
#include "egraph/egraph_explain.h"
#include "small.h"

static const eg_term_node left[] = {V(0)}, once[] = {V(0), N1(F, 0)};
static const eg_result results[] = {{{left, 1}, UINT32_MAX},
                                    {{once, 2}, UINT32_MAX}};

/* g(?0, 1) = ?0 and g(2, ?0) = f(?0), whose patterns hold terms without a
 * variable; f(f(?0)) with g(f(?0), ?1), which are two terms. */
static uint32_t
small_more(small *s, eg_rule *rules) {
  const eg_term_node unit[] = {V(0), L(bs_int(s->values, 1)), N2(G, 0, 1)},
                     head[] = {L(bs_int(s->values, 2)), V(0), N2(G, 0, 1)},
                     twice[] = {V(0), N1(F, 0), N1(F, 1)},
                     beside[] = {V(0), N1(F, 0), V(1), N2(G, 1, 2)};
  const eg_term terms[] = {{unit, 3}, {head, 3}},
                parts[] = {{twice, 3}, {beside, 4}};
  static const uint32_t roots[] = {UINT32_MAX, UINT32_MAX};
  for (uint32_t k = 0; k < 2; k++)
    rules[k] = (eg_rule){.name = k ? "head" : "unit",
                         .id = 9 + k,
                         .pattern = pattern(s, &terms[k], 1),
                         .n_slots = 1,
                         .results = &results[k],
                         .n_results = 1};
  rules[2] = (eg_rule){
      .name = "both",
      .id = 11,
      .pattern = eg_pattern_new(&s->heap, s->values, parts, roots, 2, 2),
      .n_slots = 2,
      .results = &results[1],
      .n_results = 1};
  return 3;
}

typedef struct way {
  small s;
  bool explain, full, more;
} way;

static bool
any(void *context, eg_class root, eg_node node, const uint32_t *slots) {
  (void)root, (void)node, (void)slots;
  ++*(uint32_t *)context;
  return true;
}

/* All matches, those of one class, and those of one class within a bound. */
static void
search_once(const small *s, const eg_pattern *p, eg_class c) {
  uint32_t all = 0, some = 0, few = 0;
  eg_search(s->g, p, any, &all);
  eg_search_class(s->g, p, c, any, &some);
  eg_search_within(s->g, p, c, 1, any, &few);
  cr_expect(few <= some && some <= all, "%u, %u, %u", all, some, few);
}

static void
run_once(void *argument) {
  way *w = argument;
  eg_options o = {.explain = w->explain};
  w->s.g = eg_new(&w->s.heap, w->s.values, &o);
  eg_rule rules[5];
  uint32_t n = 2;
  small_ac(&w->s, rules);
  if (w->more)
    n += small_more(&w->s, rules + n);
  eg_class sum = small_sum(&w->s, 5);
  eg_run_options how = {.scheduler = EG_BACKOFF,
                        .backoff_matches = 100,
                        .backoff_ban = 2,
                        .full_search = w->full};
  eg_runner *r = eg_runner_new(&w->s.heap, w->s.g, rules, n, &how);
  cr_expect_eq(eg_run_some(r, NULL, 0), EG_STOP_SATURATED);
  eg_runner_free(r);
  for (uint32_t k = 0; k < n; k++)
    search_once(&w->s, rules[k].pattern, sum);
  for (uint32_t k = 0; k < n; k++)
    eg_pattern_free(&w->s.heap, rules[k].pattern);
  eg_free(w->s.g);
}

Test(steady, runs_of_rules) {
  for (int k = 0; k < 8; k++) {
    way w = {.explain = k % 2, .full = k / 2 % 2, .more = k / 4};
    bs_heap_init(&w.s.heap, NULL, 0);
    w.s.values = bs_values_new(&w.s.heap);
    expect_steady(&w.s.heap, run_once, &w,
                  w.explain ? "a run that is recorded" : "a run");
    bs_heap_done(&w.s.heap);
  }
}
