/* SPDX-License-Identifier: MIT */
#include "egraph/runner.h"
#include "small.h"
#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static eg_run_options
no_limits(void) {
  return (eg_run_options){.backoff_matches = 1000, .backoff_ban = 5};
}

Test(run, associativity_and_commutativity_saturate) {
  for (int full = 0; full < 2; full++)
    for (int backoff = 0; backoff < 2; backoff++) {
      small s;
      small_begin(&s, NULL);
      eg_rule rules[2];
      small_ac(&s, rules);
      small_sum(&s, 7);
      eg_run_options o = no_limits();
      o.full_search = full;
      o.scheduler = backoff ? EG_BACKOFF : EG_SIMPLE;
      eg_runner *r = eg_runner_new(&s.heap, s.g, rules, 2, &o);
      cr_assert_eq(eg_run_some(r, NULL, 0), EG_STOP_SATURATED);
      cr_assert_eq(eg_count_nodes(s.g), 1939);
      cr_assert_eq(eg_count_classes(s.g), 127);
      cr_assert_null(eg_check(s.g));
      eg_runner_free(r);
      small_end(&s);
    }
}

Test(run, incremental_applies_each_match_once) {
  small s;
  small_begin(&s, NULL);
  eg_rule rules[2];
  small_ac(&s, rules);
  small_sum(&s, 6);
  eg_run_options o = no_limits();
  eg_runner *r = eg_runner_new(&s.heap, s.g, rules, 2, &o);
  eg_run_some(r, NULL, 0);
  const eg_rule_stats *stats = eg_runner_stats(r);
  cr_assert_lt(stats[1].applied, stats[1].matches);
  uint64_t applied = stats[1].applied;
  cr_assert_eq(eg_run_some(r, NULL, 3), EG_STOP_SATURATED);
  cr_assert_eq(stats[1].applied, applied);
  eg_runner_free(r);
  small_end(&s);
}

static bool
ignore(void *ctx, eg_class c, eg_node n, const uint32_t *slots) {
  (void)ctx, (void)c, (void)n, (void)slots;
  return true;
}

/* A chain that grows by a node an epoch, for more epochs than stamps tell
 * apart; the rule that marks its nodes runs seldom, at the end often. */
Test(run, many_epochs_keep_what_is_fresh) {
  enum { LINKS = 500, PAUSE = 90, OFTEN = 480 };
  TERM(link, V(0), N1(F, 0));
  TERM(mark, V(0), N2(G, 0, 0));
  for (int full = 0; full < 2; full++) {
    small s;
    small_begin(&s, NULL);
    eg_result marked = {mark, UINT32_MAX};
    eg_rule rule = {.name = "mark",
                    .pattern = pattern(&s, &link, 1),
                    .n_slots = 1,
                    .results = &marked,
                    .n_results = 1};
    eg_run_options o = no_limits();
    o.full_search = full;
    eg_runner *r = eg_runner_new(&s.heap, s.g, &rule, 1, &o);
    eg_class end = leaf(&s, 0);
    for (uint32_t i = 1; i <= LINKS; i++) {
      end = f(&s, end);
      eg_rebuild(s.g);
      eg_search(s.g, rule.pattern, ignore, NULL);
      if (i % PAUSE && i < OFTEN)
        continue;
      eg_run_some(r, NULL, 1);
      cr_assert_eq(eg_count_nodes(s.g), 1 + 2 * i);
    }
    cr_assert_eq(full, eg_runner_stats(r)->applied > 4 * LINKS);
    cr_assert_null(eg_check(s.g));
    eg_runner_free(r);
    small_end(&s);
  }
}

/* Equal leaves make wide nodes die, until the live ones move together; their
 * parents must still be found. */
Test(run, rows_that_move_keep_their_parents) {
  enum { MANY = 3000, PART = 1000 };
  small s;
  small_begin(&s, NULL);
  eg_rule rules[2];
  small_ac(&s, rules);
  small_sum(&s, 4);
  eg_run_options o = no_limits();
  eg_runner *r = eg_runner_new(&s.heap, s.g, rules, 2, &o);
  eg_run_some(r, NULL, 0);
  eg_class leaves[MANY], wide[MANY];
  for (int i = 0; i < MANY; i++) {
    leaves[i] = leaf(&s, 100 + i);
    wide[i] = f(&s, h(&s, leaves[i], leaves[i], leaves[0]));
  }
  for (int from = 1; from < MANY; from += PART) {
    for (int i = from; i < from + PART && i < MANY; i++)
      unite(&s, leaves[0], leaves[i]);
    eg_rebuild(s.g);
    cr_assert_eq(eg_run_some(r, NULL, 0), EG_STOP_SATURATED);
    cr_assert_null(eg_check(s.g));
    for (int i = 0; i < MANY; i++) {
      cr_assert_eq(i < from + PART, same(&s, wide[i], wide[0]));
      eg_class w = eg_find(s.g, wide[i]), l = eg_find(s.g, leaves[i]);
      cr_assert_eq(eg_find(s.g, f(&s, h(&s, l, l, leaves[0]))).i, w.i);
    }
  }
  eg_runner_free(r);
  small_end(&s);
}

/* A tower of nodes, each the first child of the next, found when all but one of
 * them were there before. */
static void
expect_found_by(const eg_term *tower, uint32_t n, uint32_t last, bool full) {
  enum { MOST = 4 };
  TERM(top, V(0), N1(F, 0));
  small s;
  eg_class level[MOST + 1];
  small_begin(&s, NULL);
  eg_result made = {top, UINT32_MAX};
  eg_rule rule = {.name = "tower",
                  .pattern = pattern(&s, tower, n + 1),
                  .n_slots = n + 1,
                  .results = &made,
                  .n_results = 1};
  eg_run_options o = no_limits();
  o.full_search = full;
  eg_runner *r = eg_runner_new(&s.heap, s.g, &rule, 1, &o);
  for (uint32_t k = 0; k <= n; k++)
    level[k] = leaf(&s, (int)k);
  for (uint32_t k = 1; k <= n; k++)
    if (k != last)
      unite(&s, level[k], g(&s, level[k - 1], leaf(&s, 9)));
  eg_rebuild(s.g);
  eg_run_some(r, NULL, 0);
  cr_assert_not(same(&s, level[n], f(&s, level[0])));
  unite(&s, level[last], g(&s, level[last - 1], leaf(&s, 9)));
  eg_rebuild(s.g);
  eg_run_some(r, NULL, 0);
  cr_expect(same(&s, level[n], f(&s, level[0])), "node %u of %u is new", last,
            n);
  eg_runner_free(r);
  small_end(&s);
}

Test(run, whichever_node_of_a_match_is_new) {
  TERM(one, V(0), V(1), N2(G, 0, 1));
  TERM(two, V(0), V(1), N2(G, 0, 1), V(2), N2(G, 2, 3));
  TERM(three, V(0), V(1), N2(G, 0, 1), V(2), N2(G, 2, 3), V(3), N2(G, 4, 5));
  TERM(four, V(0), V(1), N2(G, 0, 1), V(2), N2(G, 2, 3), V(3), N2(G, 4, 5),
       V(4), N2(G, 6, 7));
  const eg_term *const towers[] = {&one, &two, &three, &four};
  for (uint32_t n = 1; n <= 4; n++)
    for (uint32_t last = 1; last <= n; last++)
      for (int full = 0; full < 2; full++)
        expect_found_by(towers[n - 1], n, last, full);
}

Test(run, only_enabled_rules_run) {
  small s;
  small_begin(&s, NULL);
  eg_rule rules[2];
  small_ac(&s, rules);
  small_sum(&s, 5);
  eg_run_options o = no_limits();
  eg_runner *r = eg_runner_new(&s.heap, s.g, rules, 2, &o);
  uint8_t enabled[2] = {1, 0};
  cr_assert_eq(eg_run_some(r, enabled, 0), EG_STOP_SATURATED);
  cr_assert_eq(eg_runner_stats(r)[1].searches, 0);
  uint32_t nodes = eg_count_nodes(s.g);
  cr_assert_eq(eg_run_some(r, NULL, 1), EG_STOP_ITERATIONS);
  cr_assert_gt(eg_count_nodes(s.g), nodes);
  eg_runner_free(r);
  small_end(&s);
}

/* What is done to the graph before each of some iterations: nothing, a node
 * of another operator or of the rule's own, two of its nodes that become one,
 * one whose child becomes such a node. */
enum { ACTS = 8 };

static void
act(small *s, int i) {
  eg_class one = leaf(s, 1), two = leaf(s, 2);
  if (i == 2)
    g(s, leaf(s, 8), leaf(s, 9));
  else if (i == 3)
    f(s, f(s, two));
  else if (i == 4)
    unite(s, one, two);
  else if (i == 6)
    unite(s, leaf(s, 7), f(s, leaf(s, 6)));
  eg_rebuild(s->g);
}

/* Matches of each iteration, under rules over g and one over f. */
static void
count_acts(bool full, bool backoff, uint64_t out[ACTS]) {
  small s;
  small_begin(&s, NULL);
  eg_rule rules[3];
  small_ac(&s, rules);
  TERM(left, V(0), N1(F, 0), N1(F, 1));
  TERM(right, V(0), N1(F, 0));
  eg_result result = {right, UINT32_MAX};
  rules[2] = (eg_rule){.name = "twice",
                       .pattern = pattern(&s, &left, 1),
                       .n_slots = 1,
                       .results = &result,
                       .n_results = 1};
  f(&s, f(&s, f(&s, leaf(&s, 1))));
  f(&s, leaf(&s, 6));
  f(&s, leaf(&s, 7));
  small_sum(&s, 5);
  eg_run_options o = no_limits();
  o.full_search = full;
  o.scheduler = backoff ? EG_BACKOFF : EG_SIMPLE;
  eg_runner *r = eg_runner_new(&s.heap, s.g, rules, 3, &o);
  for (int i = 0; i < ACTS; i++) {
    uint64_t before = eg_runner_stats(r)[2].matches;
    act(&s, i);
    eg_run_some(r, NULL, 1);
    cr_assert_null(eg_check(s.g));
    out[i] = eg_runner_stats(r)[2].matches - before;
  }
  eg_runner_free(r);
  small_end(&s);
}

Test(run, a_rule_that_is_not_searched_again_counts_the_same) {
  for (int backoff = 0; backoff < 2; backoff++) {
    uint64_t full[ACTS], mine[ACTS];
    count_acts(true, backoff, full);
    count_acts(false, backoff, mine);
    cr_assert_eq(full[0], 2);
    cr_assert_gt(full[3], full[2]);
    cr_assert_lt(full[4], full[3]);
    cr_assert_gt(full[6], full[5]);
    for (int i = 0; i < ACTS; i++)
      cr_assert_eq(mine[i], full[i], "iteration %d", i);
  }
}

static void
stops(eg_run_options o, eg_stop want, uint32_t most_nodes) {
  small s;
  small_begin(&s, NULL);
  eg_rule rules[2];
  small_ac(&s, rules);
  small_sum(&s, 11);
  eg_runner *r = eg_runner_new(&s.heap, s.g, rules, 2, &o);
  eg_stop got = eg_run_some(r, NULL, 0);
  cr_assert_eq(got, want, "%s, not %s", eg_stop_name(got), eg_stop_name(want));
  cr_assert(eg_is_clean(s.g));
  cr_assert_null(eg_check(s.g));
  cr_assert_leq(eg_count_nodes(s.g), most_nodes);
  eg_runner_free(r);
  small_end(&s);
}

Test(limits, iterations) {
  eg_run_options o = no_limits();
  o.iterations = 3;
  stops(o, EG_STOP_ITERATIONS, 10000);
}

Test(limits, nodes_hold) {
  for (uint32_t n = 25; n < 100000; n = n * 2 + 1) {
    eg_run_options o = no_limits();
    o.nodes = n;
    stops(o, EG_STOP_NODES, n + 8);
  }
}

Test(limits, seconds) {
  eg_run_options o = no_limits();
  o.seconds = 1e-9;
  stops(o, EG_STOP_TIME, 10000000);
}

/* Each of the parts has so many matches: all together too many. */
Test(limits, work_of_parts_that_share_nothing) {
  enum { PARTS = 6, LEAVES = 40 };
  small s;
  small_begin(&s, NULL);
  TERM(one, V(0), N1(F, 0));
  for (uint32_t i = 0; i < LEAVES; i++)
    f(&s, leaf(&s, i));
  eg_rebuild(s.g);
  eg_term parts[PARTS];
  uint32_t roots[PARTS];
  static eg_term_node nodes[PARTS][2];
  for (uint32_t k = 0; k < PARTS; k++) {
    parts[k] = one;
    roots[k] = UINT32_MAX;
    memcpy(nodes[k], one.nodes, sizeof nodes[k]);
    nodes[k][0].slot = k;
    parts[k].nodes = nodes[k];
  }
  TERM(same, V(0), N1(F, 0));
  eg_result made = {same, UINT32_MAX};
  eg_rule rule = {
      .name = "join",
      .id = 7,
      .pattern = eg_pattern_new(&s.heap, s.values, parts, roots, PARTS, PARTS),
      .n_slots = PARTS,
      .results = &made,
      .n_results = 1};
  eg_run_options o = no_limits();
  o.work = 1 << 20;
  eg_runner *r = eg_runner_new(&s.heap, s.g, &rule, 1, &o);
  cr_assert_eq(eg_run_some(r, NULL, 0), EG_STOP_WORK);
  cr_assert_eq(eg_runner_fault_rule(r), 7);
  cr_assert_leq(eg_runner_stats(r)->applied, (1 << 20) / 16 + 4096);
  eg_runner_free(r);
  small_end(&s);
}

Test(limits, interrupt) {
  int stop = 1;
  eg_run_options o = no_limits();
  o.interrupt = &stop;
  stops(o, EG_STOP_INTERRUPT, 100);
}

static bool
third(void *ctx, const eg_graph *g, const eg_iteration *it) {
  (void)ctx;
  return it->nodes == eg_count_nodes(g) && it->index < 2;
}

Test(limits, the_client) {
  eg_run_options o = no_limits();
  o.progress = third;
  stops(o, EG_STOP_CLIENT, 10000);
}

Test(limits, bytes_hold_within_a_tenth) {
  for (size_t bytes = 500000; bytes < 20000000; bytes = bytes * 3 / 2) {
    small s;
    small_begin(&s, NULL);
    eg_rule rules[2];
    small_ac(&s, rules);
    small_sum(&s, 14);
    eg_run_options o = no_limits();
    o.bytes = bytes;
    eg_runner *r = eg_runner_new(&s.heap, s.g, rules, 2, &o);
    cr_assert_eq(eg_run_some(r, NULL, 0), EG_STOP_BYTES);
    cr_assert_leq(s.heap.peak, bytes + bytes / 10, "%zu of %zu", s.heap.peak,
                  bytes);
    cr_assert_geq(s.heap.peak, bytes / 2, "%zu of %zu", s.heap.peak, bytes);
    cr_assert_null(eg_check(s.g));
    eg_runner_free(r);
    small_end(&s);
  }
}

/* --- guards ------------------------------------------------------------ */

/* f(?0) => leaf(?1) for ?1 = 10, 11, 12; the middle one is skipped. */
static eg_guard_result
count_up(void *ctx, eg_graph *graph, uint32_t *slots, uint32_t alternative) {
  small *s = ctx;
  (void)graph;
  cr_assert_eq(slots[1], UINT32_MAX);
  slots[1] = bs_int(s->values, 10 + (int)alternative).i;
  if (alternative == 3)
    return EG_GUARD_END;
  return alternative == 1 ? EG_GUARD_SKIP : EG_GUARD_EMIT;
}

Test(guard, alternatives_give_several_results) {
  small s;
  small_begin(&s, NULL);
  eg_class fa = f(&s, leaf(&s, 1));
  TERM(left, V(0), N1(F, 0));
  const eg_term_node made[] = {
      {.op = LEAF, .attr = {.kind = EG_ATTR_SLOT, .slot = 1}}};
  eg_result result = {{made, 1}, UINT32_MAX};
  eg_rule rule = {.name = "count",
                  .pattern = pattern(&s, &left, 1),
                  .n_slots = 2,
                  .guard = count_up,
                  .guard_ctx = &s,
                  .alternatives = true,
                  .results = &result,
                  .n_results = 1};
  eg_run_options o = no_limits();
  eg_runner *r = eg_runner_new(&s.heap, s.g, &rule, 1, &o);
  cr_assert_eq(eg_run_some(r, NULL, 0), EG_STOP_SATURATED);
  cr_assert(same(&s, fa, leaf(&s, 10)));
  cr_assert(same(&s, fa, leaf(&s, 12)));
  cr_assert_eq(eg_lookup(s.g, LEAF, bs_int(s.values, 11), NULL, 0).i,
               UINT32_MAX);
  cr_assert_eq(eg_runner_stats(r)[0].applied, 2);
  eg_runner_free(r);
  small_end(&s);
}

static eg_guard_result
never(void *ctx, eg_graph *graph, uint32_t *slots, uint32_t alternative) {
  (void)graph;
  (void)slots;
  (void)alternative;
  return *(bool *)ctx ? EG_GUARD_EMIT : EG_GUARD_SKIP;
}

Test(guard, what_was_refused_is_asked_again) {
  small s;
  small_begin(&s, NULL);
  eg_class a = leaf(&s, 1), fa = f(&s, a);
  TERM(left, V(0), N1(F, 0));
  TERM(right, V(0));
  eg_result result = {right, UINT32_MAX};
  bool open = false;
  eg_rule rule = {.name = "r",
                  .pattern = pattern(&s, &left, 1),
                  .n_slots = 1,
                  .guard = never,
                  .guard_ctx = &open,
                  .results = &result,
                  .n_results = 1};
  eg_run_options o = no_limits();
  eg_runner *r = eg_runner_new(&s.heap, s.g, &rule, 1, &o);
  cr_assert_eq(eg_run_some(r, NULL, 0), EG_STOP_SATURATED);
  cr_assert_eq(eg_runner_stats(r)[0].refused, 1);
  cr_assert_not(same(&s, fa, a));
  open = true;
  eg_run_some(r, NULL, 1);
  cr_assert(same(&s, fa, a));
  eg_runner_free(r);
  small_end(&s);
}

Test(rule, several_results_and_targets) {
  small s;
  small_begin(&s, NULL);
  eg_class a = leaf(&s, 1), b = leaf(&s, 2), gab = g(&s, a, b);
  TERM(left, V(0), V(1), N2(G, 0, 1));
  TERM(one, V(1), V(0), N2(G, 0, 1));
  TERM(two, V(1), N1(F, 0));
  eg_result results[2] = {{one, UINT32_MAX}, {two, 0}};
  eg_rule rule = {.name = "r",
                  .id = 3,
                  .pattern = pattern(&s, &left, 2),
                  .n_slots = 2,
                  .match_limit = 1,
                  .results = results,
                  .n_results = 2};
  eg_run_options o = no_limits();
  eg_runner *r = eg_runner_new(&s.heap, s.g, &rule, 1, &o);
  cr_assert_eq(eg_run_some(r, NULL, 0), EG_STOP_SATURATED);
  cr_assert_eq(eg_runner_stats(r)[0].applied, 1);
  cr_assert(same(&s, gab, g(&s, b, a)));
  cr_assert(same(&s, a, f(&s, b)));
  cr_assert_not(same(&s, b, f(&s, a)));
  eg_runner_free(r);
  small_end(&s);
}

Test(origins, name_the_rule_and_the_root) {
  small s;
  eg_options options = {.origins = true};
  small_begin(&s, &options);
  eg_rule rules[2];
  small_ac(&s, rules);
  eg_class top = small_sum(&s, 2);
  eg_run_options o = no_limits();
  eg_runner *r = eg_runner_new(&s.heap, s.g, rules, 2, &o);
  eg_run_some(r, NULL, 0);
  uint32_t n;
  const eg_node *nodes = eg_class_nodes(s.g, top, &n);
  cr_assert_eq(n, 2);
  cr_assert_eq(eg_origin_of(s.g, nodes[0]).rule, EG_BY_CLIENT);
  cr_assert_eq(eg_origin_of(s.g, nodes[1]).rule, 7);
  cr_assert_eq(eg_origin_of(s.g, nodes[1]).root.i, nodes[0].i);
  eg_runner_free(r);
  small_end(&s);
}

/* --- faults ------------------------------------------------------------ */

static bool
value_make(void *ctx, eg_graph *graph, uint32_t op, bs_value attr,
           const eg_class *kids, uint32_t n, void *data) {
  const small *s = ctx;
  (void)graph;
  (void)kids;
  (void)n;
  *(int *)data = op == LEAF ? (int)bs_as_int(s->values, attr) : 0;
  return op != H;
}

static uint32_t
value_merge(void *ctx, eg_graph *graph, void *into, const void *from) {
  int *a = into;
  const int *b = from;
  (void)ctx;
  (void)graph;
  if (*a && *b && *a != *b)
    return EG_MERGE_CONFLICT;
  uint32_t bits = *b && !*a ? 1 : *a && !*b ? 2 : 0;
  *a = *b ? *b : *a;
  return bits;
}

static void
faults(const eg_term *right, eg_fault_kind want) {
  small s;
  eg_options options = {
      .analysis = {&s, sizeof(int), value_make, value_merge, NULL, false}};
  small_begin(&s, &options);
  eg_class a = leaf(&s, 1), b = leaf(&s, 2);
  unite(&s, f(&s, a), leaf(&s, 3));
  g(&s, a, b);
  TERM(left, V(0), N1(F, 0));
  eg_result result = {*right, UINT32_MAX};
  eg_rule rule = {.name = "unsound",
                  .id = 42,
                  .pattern = pattern(&s, &left, 1),
                  .n_slots = 1,
                  .results = &result,
                  .n_results = 1};
  eg_run_options o = no_limits();
  eg_runner *r = eg_runner_new(&s.heap, s.g, &rule, 1, &o);
  cr_assert_eq(eg_run_some(r, NULL, 0), EG_STOP_FAULT);
  cr_assert_eq(eg_fault(s.g), want);
  cr_assert_eq(eg_runner_fault_rule(r), 42);
  eg_class x, y;
  eg_reason why;
  eg_fault_merge(s.g, &x, &y, &why);
  cr_assert_eq(why.rule, 42);
  eg_runner_free(r);
  small_end(&s);
}

Test(fault, a_union_that_cannot_be) {
  TERM(right, V(0));
  faults(&right, EG_FAULT_MERGE);
}

Test(fault, a_new_node_that_cannot_be_equal) {
  small s;
  bs_heap_init(&s.heap, NULL, 0);
  TERM(right, L(bs_int(bs_values_new(&s.heap), 77)));
  faults(&right, EG_FAULT_MERGE);
  bs_heap_done(&s.heap);
}

Test(fault, a_node_that_cannot_be) {
  TERM(right, V(0), N3(H, 0, 0, 0));
  faults(&right, EG_FAULT_NODE);
}

/* Every limit of ids stops the run in order, with what was there intact. */
Test(fault, ids_that_run_out) {
  for (uint32_t ids = 16; ids < 3000; ids += ids / 3) {
    small s;
    eg_options options = {.ids = ids};
    small_begin(&s, &options);
    eg_rule rules[2];
    small_ac(&s, rules);
    eg_class top = small_sum(&s, 8);
    eg_run_options o = no_limits();
    eg_runner *r = eg_runner_new(&s.heap, s.g, rules, 2, &o);
    cr_assert_eq(eg_run_some(r, NULL, 0), EG_STOP_FAULT);
    cr_assert_eq(eg_fault(s.g), EG_FAULT_IDS);
    cr_assert_leq(eg_count_nodes(s.g), ids);
    uint32_t n, seen = 0;
    for (eg_class c = eg_first_class(s.g); c.i != UINT32_MAX;
         c = eg_next_class(s.g, c)) {
      const eg_node *nodes = eg_class_nodes(s.g, c, &n);
      for (uint32_t i = 0; i < n; i++)
        cr_assert_lt(nodes[i].i, ids);
      seen += n;
    }
    cr_assert_eq(seen, eg_count_nodes(s.g));
    cr_assert_neq(eg_find(s.g, top).i, UINT32_MAX);
    eg_runner_free(r);
    small_end(&s);
  }
}

/* --- memory that runs out ---------------------------------------------- */

typedef struct budget {
  int left;
} budget;

static void *
failing(void *ctx, void *block, size_t size) {
  budget *b = ctx;
  if (!size) {
    free(block);
    return NULL;
  }
  return b->left-- > 0 ? realloc(block, size) : NULL;
}

typedef struct trial {
  small s;
  eg_stop stop;
  bool ran;
} trial;

static void
saturate(void *arg) {
  trial *t = arg;
  t->s.values = bs_values_new(&t->s.heap);
  t->s.g = eg_new(&t->s.heap, t->s.values, NULL);
  eg_rule rules[2];
  small_ac(&t->s, rules);
  small_sum(&t->s, 6);
  eg_run_options o = no_limits();
  eg_runner *r = eg_runner_new(&t->s.heap, t->s.g, rules, 2, &o);
  t->stop = eg_run_some(r, NULL, 0);
  t->ran = true;
}

Test(memory, each_allocation_may_fail) {
  bool done = false;
  for (int n = 0; !done; n++) {
    budget b = {n};
    bs_hooks hooks = {failing, &b};
    trial t = {.ran = false};
    bs_heap_init(&t.s.heap, &hooks, 0);
    bool ok = bs_protect(&t.s.heap, saturate, &t);
    if (ok && t.stop == EG_STOP_SATURATED) {
      cr_assert_eq(eg_count_nodes(t.s.g), 608);
      done = true;
    } else if (ok) {
      cr_assert_eq(t.stop, EG_STOP_BYTES);
      b.left = 1000;
      cr_assert_null(eg_check(t.s.g), "after %d", n);
    }
    bs_heap_done(&t.s.heap);
    cr_assert_lt(n, 5000);
  }
}

/* Terms over some leaves, a quarter of which are then equal to others. */
static void
many_unions(small *s) {
  enum { LEAVES = 400, NODES = 4 * LEAVES };
  eg_class leaves[LEAVES], terms[NODES];
  uint32_t r = 1;
  for (int i = 0; i < LEAVES; i++)
    leaves[i] = leaf(s, i);
  for (int i = 0; i < NODES; i++) {
    r = r * 1664525 + 1013904223;
    terms[i] = g(s, leaves[(r >> 8) % LEAVES], leaves[(r >> 18) % LEAVES]);
    g(s, terms[(r >> 12) % (uint32_t)(i + 1)], leaves[(r >> 22) % LEAVES]);
  }
  for (int i = 0; i < LEAVES; i++)
    if (i % 4)
      unite(s, leaves[i], leaves[i - i % 4]);
}

static void
rebuild(void *arg) {
  small *s = arg;
  eg_rebuild(s->g);
}

/* What a rebuild had done when memory ran out is done; the next goes on. */
static void
fail_in_rebuild(bool explain) {
  uint32_t nodes = 0, failed = 0;
  for (bool ok = false; !ok; failed += !ok) {
    small s;
    budget b = {INT_MAX};
    bs_hooks hooks = {failing, &b};
    eg_options o = {.explain = explain};
    bs_heap_init(&s.heap, &hooks, 0);
    s.values = bs_values_new(&s.heap);
    s.g = eg_new(&s.heap, s.values, &o);
    many_unions(&s);
    b.left = (int)failed;
    ok = bs_protect(&s.heap, rebuild, &s);
    b.left = INT_MAX;
    eg_rebuild(s.g);
    cr_assert_null(eg_check(s.g), "after %u", failed);
    nodes = nodes ? nodes : eg_count_nodes(s.g);
    cr_assert_eq(eg_count_nodes(s.g), nodes, "after %u", failed);
    small_end(&s);
  }
  cr_assert_gt(failed, 4);
}

Test(memory, a_rebuild_goes_on_where_it_ran_out) {
  fail_in_rebuild(false);
  fail_in_rebuild(true);
}

/* Each count of the one is added to that of the other. */
Test(run, counts_are_credited_to_another_run) {
  small s;
  small_begin(&s, NULL);
  eg_rule rules[2];
  small_ac(&s, rules);
  eg_run_options o = no_limits();
  eg_runner *a = eg_runner_new(&s.heap, s.g, rules, 2, &o);
  eg_runner *b = eg_runner_new(&s.heap, s.g, rules, 1, &o);
  eg_rule_stats *mine = a->stats;
  eg_rule_stats *its = b->stats;
  mine[0] = mine[1] = (eg_rule_stats){1, 2, 3, 4, 5, 6, 7, 0.5, 0.25};
  its[0] = (eg_rule_stats){10, 20, 30, 40, 50, 60, 70, 8, 16};
  eg_runner_credit(a, b);
  cr_expect_eq(mine[0].searches, 11);
  cr_expect_eq(mine[0].matches, 22);
  cr_expect_eq(mine[0].applied, 33);
  cr_expect_eq(mine[0].refused, 44);
  cr_expect_eq(mine[0].nodes, 55);
  cr_expect_eq(mine[0].unions, 66);
  cr_expect_eq(mine[0].banned, 77);
  cr_expect_eq(mine[0].search_s, 8.5);
  cr_expect_eq(mine[0].apply_s, 16.25);
  cr_expect_eq(mine[1].searches, 1, "it has no such rule");
  cr_expect_eq(its[0].searches, 10);
  eg_runner_free(a);
  eg_runner_free(b);
  small_end(&s);
}

static eg_guard_result
raise_flag(void *flag, eg_graph *g, uint32_t *slots, uint32_t alternative) {
  (void)g, (void)slots, (void)alternative;
  *(int *)flag = 1;
  return EG_GUARD_EMIT;
}

/* Limits are asked between the groups of a rule's matches. */
Test(limits, an_interrupt_ends_the_matches_of_a_rule) {
  enum { MANY = 1000, GROUP = 10 };
  small s;
  int flag = 0;
  small_begin(&s, NULL);
  eg_rule rules[2];
  small_ac(&s, rules);
  rules[0].guard = raise_flag;
  rules[0].guard_ctx = &flag;
  for (int k = 0; k < MANY; k++)
    g(&s, leaf(&s, 0), leaf(&s, k + 1));
  eg_run_options o = no_limits();
  o.interrupt = &flag;
  o.group = GROUP;
  eg_runner *r = eg_runner_new(&s.heap, s.g, rules, 1, &o);
  cr_expect_eq(eg_run_some(r, NULL, 0), EG_STOP_INTERRUPT);
  cr_expect_leq(eg_runner_stats(r)->applied, MANY / 2, "%u",
                (unsigned)eg_runner_stats(r)->applied);
  eg_runner_free(r);
  small_end(&s);
}
