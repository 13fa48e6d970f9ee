/* SPDX-License-Identifier: MIT */
/* test_explain.c - chains and proofs between all ways to write a sum, replayed
 * step by step; and that nothing of them stays. */
#include "../steady.h"
#include "egraph/lemmas.h"
#include "small.h"
#include <string.h>

enum { COMM = 7, ASSOC = 8, SHAPES = 9, MOST = 200 };

typedef struct sums {
  small s;
  eg_rule rules[2];
  eg_shape shapes[SHAPES];
  eg_explainer *x;
  uint32_t leaves[6]; /* terms */
  uint32_t n;
} sums;

static const eg_term comm_left = {small_comm_l, 3};
static const eg_term assoc_left = {small_assoc_l, 5};
static const uint32_t no_root;

/* A graph of all sums of leaves 1 to n. */
static void
make(sums *a, uint32_t n) {
  eg_options o = {.explain = true};
  a->n = n;
  a->s.g = eg_new(&a->s.heap, a->s.values, &o);
  small_ac(&a->s, a->rules);
  memset(a->shapes, 0, sizeof a->shapes);
  a->shapes[COMM] = (eg_shape){&comm_left, &no_root, 1, &small_comm_result, 1};
  a->shapes[ASSOC] =
      (eg_shape){&assoc_left, &no_root, 1, &small_assoc_result, 1};
  small_sum(&a->s, (int)n);
  eg_run_options how = {.backoff_matches = 1000, .backoff_ban = 5};
  eg_runner *r = eg_runner_new(&a->s.heap, a->s.g, a->rules, 2, &how);
  cr_expect_eq(eg_run_some(r, NULL, 0), EG_STOP_SATURATED);
  eg_runner_free(r);
  a->x = eg_explainer_new(a->s.g, a->shapes, SHAPES);
  for (uint32_t k = 0; k < n; k++)
    a->leaves[k] = eg_explain_term(
        a->x, LEAF, bs_int(a->s.values, (int64_t)k + 1), NULL, 0);
}

static void
drop(sums *a) {
  eg_explainer_free(a->x);
  for (uint32_t k = 0; k < 2; k++)
    eg_pattern_free(&a->s.heap, a->rules[k].pattern);
  eg_free(a->s.g);
}

static uint32_t
plus(const sums *a, uint32_t x, uint32_t y) {
  uint32_t kids[2] = {x, y};
  return eg_explain_term(a->x, G, BS_NIL, kids, 2);
}

/* The leaves from `at` on, in turn, to the left or to the right. */
static uint32_t
sum_of(const sums *a, uint32_t at, bool left) {
  uint32_t sum = a->leaves[at];
  for (uint32_t k = 1; k < a->n; k++) {
    uint32_t leaf = a->leaves[(at + k) % a->n];
    sum = left ? plus(a, sum, leaf) : plus(a, leaf, sum);
  }
  return sum;
}

/* The term with another one at the path. */
static uint32_t
replaced(const sums *a, uint32_t whole, const eg_link *l, uint32_t depth) {
  uint32_t n, kids[2];
  if (depth == l->n_path) {
    cr_expect_eq(whole, l->before, "the path leads elsewhere");
    return l->after;
  }
  memcpy(kids, eg_term_kids(a->x, whole, &n), sizeof kids);
  cr_assert_eq(n, 2);
  kids[l->path[depth]] = replaced(a, kids[l->path[depth]], l, depth + 1);
  return plus(a, kids[0], kids[1]);
}

/* One side of a rule under the bindings. */
static uint32_t
side_of(const sums *a, const eg_term *t, const uint32_t *slots) {
  uint32_t made[8] = {0};
  for (uint32_t k = 0; k < t->n; k++)
    made[k] = t->nodes[k].is_slot ? slots[t->nodes[k].slot]
                                  : plus(a, made[t->nodes[k].kids[0]],
                                         made[t->nodes[k].kids[1]]);
  return made[t->n - 1];
}

static void
rule_gives(const sums *a, uint32_t rule, const uint32_t *slots, uint32_t left,
           uint32_t right) {
  cr_assert(rule == COMM || rule == ASSOC);
  const eg_shape *s = &a->shapes[rule];
  cr_expect_eq(side_of(a, &s->parts[0], slots), left);
  cr_expect_eq(side_of(a, &s->results[0].term, slots), right);
}

static void
replay(const sums *a, const eg_chain *c, uint32_t from, uint32_t to) {
  uint32_t at = from;
  cr_expect(c->from == from && c->to == to);
  for (uint32_t k = 0; k < c->n; k++) {
    const eg_link *l = &c->links[k];
    cr_expect_eq(l->whole, at);
    cr_expect_eq(l->result, 0);
    cr_expect_eq(l->n_premises, 0);
    rule_gives(a, l->rule, l->slots, l->forward ? l->before : l->after,
               l->forward ? l->after : l->before);
    cr_expect_eq(replaced(a, at, l, 0), l->next);
    at = l->next;
  }
  cr_expect_eq(at, to);
}

/* The terms that a lemma read in one direction leads from and to. */
static uint32_t
end_of(const eg_lemma *all, eg_cite c, bool last) {
  const eg_lemma *l = &all[c / 2];
  return (c % 2 != 0) == last ? l->from : l->to;
}

static void
lemma_holds(const sums *a, const eg_lemma *all, uint32_t k) {
  const eg_lemma *l = &all[k];
  uint32_t n, at = l->from;
  cr_expect_eq(eg_term_class(a->x, l->from).i, eg_term_class(a->x, l->to).i);
  for (uint32_t i = 0; i < l->n_cites; i++)
    cr_expect(l->cites[i] == EG_SAME || l->cites[i] / 2 < k, "cites itself");
  if (l->kind == EG_LEMMA_RULE) {
    rule_gives(a, l->rule, l->slots, l->from, l->to);
    return;
  }
  cr_assert(l->kind == EG_LEMMA_CONGRUENCE || l->kind == EG_LEMMA_CHAIN);
  for (uint32_t i = 0; i < l->n_cites; i++) {
    bool chain = l->kind == EG_LEMMA_CHAIN;
    uint32_t have = chain ? at : eg_term_kids(a->x, l->from, &n)[i];
    uint32_t led = have;
    if (l->cites[i] != EG_SAME) {
      cr_expect_eq(end_of(all, l->cites[i], false), have);
      led = end_of(all, l->cites[i], true);
    }
    if (!chain)
      cr_expect_eq(led, eg_term_kids(a->x, l->to, &n)[i]);
    at = led;
  }
  cr_expect(l->kind != EG_LEMMA_CHAIN || at == l->to);
}

/* The terms that a call is about: each of the sums with each. */
static void
pair_at(const sums *a, uint32_t k, uint32_t *from, uint32_t *to) {
  *from = sum_of(a, k % a->n, k & 1);
  *to = sum_of(a, k / a->n % a->n, k & 2);
  cr_assert(*from != EG_NO_TERM && *to != EG_NO_TERM);
}

Test(explain, chains_between_all_sums) {
  sums a;
  bs_heap_init(&a.s.heap, NULL, 0);
  a.s.values = bs_values_new(&a.s.heap);
  make(&a, 5);
  for (uint32_t k = 0; k < 4 * a.n * a.n; k++) {
    uint32_t from, to;
    eg_chain c;
    pair_at(&a, k, &from, &to);
    cr_assert_eq(eg_explain(a.x, from, to, MOST, &c), EG_EXPLAINED);
    cr_expect_eq(c.n == 0, from == to);
    replay(&a, &c, from, to);
  }
  drop(&a);
  bs_heap_done(&a.s.heap);
}

Test(explain, proofs_between_all_sums) {
  sums a;
  bs_heap_init(&a.s.heap, NULL, 0);
  a.s.values = bs_values_new(&a.s.heap);
  make(&a, 5);
  uint32_t n;
  for (uint32_t k = 0; k < 4 * a.n * a.n; k++) {
    uint32_t from, to;
    eg_cite cite;
    pair_at(&a, k, &from, &to);
    cr_assert_eq(eg_prove(a.x, from, to, 100 * MOST, &cite), EG_EXPLAINED);
    const eg_lemma *all = eg_lemmas(a.x, &n);
    cr_expect_eq(cite == EG_SAME, from == to);
    if (cite == EG_SAME)
      continue;
    cr_assert_lt(cite / 2, n);
    cr_expect_eq(end_of(all, cite, false), from);
    cr_expect_eq(end_of(all, cite, true), to);
  }
  const eg_lemma *all = eg_lemmas(a.x, &n);
  for (uint32_t k = 0; k < n; k++)
    lemma_holds(&a, all, k);
  cr_expect_gt(n, 20);
  drop(&a);
  bs_heap_done(&a.s.heap);
}

Test(explain, what_is_no_sum_and_what_is_not_equal) {
  sums a;
  eg_chain c;
  eg_cite cite;
  bs_heap_init(&a.s.heap, NULL, 0);
  a.s.values = bs_values_new(&a.s.heap);
  make(&a, 4);
  cr_expect_eq(plus(&a, a.leaves[0], a.leaves[0]), EG_NO_TERM);
  cr_expect_eq(plus(&a, a.leaves[0], EG_NO_TERM), EG_NO_TERM);
  uint32_t part = plus(&a, a.leaves[0], a.leaves[1]);
  uint32_t all = sum_of(&a, 0, true), other = sum_of(&a, 2, false);
  cr_expect_eq(eg_explain(a.x, part, all, MOST, &c), EG_NOT_EQUAL);
  cr_expect_eq(eg_prove(a.x, part, all, MOST, &cite), EG_NOT_EQUAL);
  cr_expect_eq(eg_explain(a.x, all, other, 1, &c), EG_TOO_LONG);
  cr_expect_eq(eg_prove(a.x, all, other, 1, &cite), EG_TOO_LONG);
  cr_expect_eq(eg_explain(a.x, all, other, MOST, &c), EG_EXPLAINED);
  cr_expect_eq(eg_prove(a.x, all, other, MOST, &cite), EG_EXPLAINED);
  drop(&a);
  small_begin(&a.s, NULL);
  eg_explainer *x = eg_explainer_new(a.s.g, NULL, 0);
  cr_expect_eq(eg_explain(x, 0, 0, MOST, &c), EG_NOT_RECORDED);
  eg_explainer_free(x);
  small_end(&a.s);
}

static void
explain_once(void *argument) {
  sums *a = argument;
  eg_chain c;
  eg_cite cite;
  make(a, 4);
  uint32_t from = sum_of(a, 0, true), to = sum_of(a, 2, false);
  cr_expect_eq(eg_explain(a->x, from, to, MOST, &c), EG_EXPLAINED);
  cr_expect_eq(eg_prove(a->x, from, to, MOST, &cite), EG_EXPLAINED);
  drop(a);
}

Test(explain, nothing_stays) {
  sums a;
  bs_heap_init(&a.s.heap, NULL, 0);
  a.s.values = bs_values_new(&a.s.heap);
  expect_steady(&a.s.heap, explain_once, &a, "an explanation");
  bs_heap_done(&a.s.heap);
}
