/* SPDX-License-Identifier: MIT */
#include "small.h"
#include "egraph/egraph_testing.h"
#include <criterion/criterion.h>
#include <string.h>

Test(graph, equal_nodes_are_one) {
  small s;
  small_begin(&s, NULL);
  eg_class a = leaf(&s, 1), b = leaf(&s, 2);
  cr_assert_eq(g(&s, a, b).i, g(&s, a, b).i);
  cr_assert_neq(g(&s, a, b).i, g(&s, b, a).i);
  cr_assert_eq(eg_count_nodes(s.g), 4);
  cr_assert_eq(eg_lookup(s.g, F, BS_NIL, &a, 1).i, UINT32_MAX);
  cr_assert_eq(eg_count_nodes(s.g), 4);
  small_end(&s);
}

Test(graph, congruence_is_restored_upwards) {
  small s;
  small_begin(&s, NULL);
  eg_class a = leaf(&s, 1), b = leaf(&s, 2), x = a, y = b;
  for (int i = 0; i < 100000; i++) {
    x = f(&s, x);
    y = f(&s, y);
  }
  cr_assert(unite(&s, a, b));
  cr_assert_not(eg_is_clean(s.g));
  cr_assert_eq(eg_rebuild(s.g), 100000);
  cr_assert(eg_is_clean(s.g));
  cr_assert(same(&s, x, y));
  cr_assert_eq(eg_count_nodes(s.g), 100002);
  cr_assert_eq(eg_count_classes(s.g), 100001);
  cr_assert_null(eg_check(s.g));
  small_end(&s);
}

Test(graph, wide_nodes_are_congruent_too) {
  small s;
  small_begin(&s, NULL);
  eg_class a = leaf(&s, 1), b = leaf(&s, 2), c = leaf(&s, 3);
  eg_class p = h(&s, a, b, c), q = h(&s, a, c, b);
  eg_class r = h(&s, p, q, p), t = h(&s, q, q, q);
  cr_assert_not(same(&s, p, q));
  unite(&s, b, c);
  eg_rebuild(s.g);
  cr_assert(same(&s, p, q));
  cr_assert(same(&s, r, t));
  cr_assert_eq(eg_count_nodes(s.g), 5);
  cr_assert_null(eg_check(s.g));
  small_end(&s);
}

Test(graph, a_class_may_contain_itself) {
  small s;
  small_begin(&s, NULL);
  eg_class a = leaf(&s, 1), fa = f(&s, a), ffa = f(&s, fa);
  unite(&s, a, fa);
  eg_rebuild(s.g);
  cr_assert(same(&s, a, ffa));
  cr_assert_eq(eg_count_classes(s.g), 1);
  cr_assert_eq(eg_count_nodes(s.g), 2);
  cr_assert_null(eg_check(s.g));
  small_end(&s);
}

Test(graph, iteration_is_by_id) {
  small s;
  small_begin(&s, NULL);
  eg_class a = leaf(&s, 1), b = leaf(&s, 2), fa = f(&s, a);
  unite(&s, fa, b);
  eg_rebuild(s.g);
  uint32_t classes = 0, nodes = 0, n;
  uint32_t last = 0;
  for (eg_class c = eg_first_class(s.g); c.i != UINT32_MAX;
       c = eg_next_class(s.g, c)) {
    const eg_node *list = eg_class_nodes(s.g, c, &n);
    cr_assert(!classes || c.i > last);
    last = c.i;
    classes++;
    for (uint32_t i = 0; i < n; i++) {
      cr_assert(!i || list[i].i > list[i - 1].i);
      cr_assert_eq(eg_class_of(s.g, list[i]).i, c.i);
      nodes++;
    }
  }
  cr_assert_eq(classes, 2);
  cr_assert_eq(nodes, 3);
  small_end(&s);
}

/* --- analyses: the least leaf in a class, and a refusal ---------------- */

enum { BAD = 13 };

static bool
least_make(void *ctx, eg_graph *graph, uint32_t op, bs_value attr,
           const eg_class *kids, uint32_t n, void *data) {
  const small *s = ctx;
  int *least = data;
  *least = op == LEAF ? (int)bs_as_int(s->values, attr) : 1000;
  for (uint32_t i = 0; i < n; i++) {
    int k = *(int *)eg_data(graph, kids[i]);
    *least = k < *least ? k : *least;
  }
  return op != LEAF || *least != BAD;
}

static uint32_t
least_merge(void *ctx, eg_graph *graph, void *into, const void *from) {
  int *a = into;
  const int *b = from;
  (void)ctx;
  (void)graph;
  if (*a < 0 && *b < 0 && *a != *b)
    return EG_MERGE_CONFLICT;
  uint32_t bits = *b < *a ? 1 : *a < *b ? 2 : 0;
  *a = *b < *a ? *b : *a;
  return bits;
}

static eg_options
least(small *s) {
  eg_options o = {
      .analysis = {s, sizeof(int), least_make, least_merge, NULL, false}};
  return o;
}

Test(analysis, data_flows_to_parents) {
  small s;
  eg_options o = least(&s);
  small_begin(&s, &o);
  eg_class x = leaf(&s, 9), top = x;
  for (int i = 0; i < 1000; i++)
    top = f(&s, top);
  cr_assert_eq(*(int *)eg_data(s.g, top), 9);
  unite(&s, x, leaf(&s, 4));
  eg_rebuild(s.g);
  cr_assert_eq(*(int *)eg_data(s.g, top), 4);
  *(int *)eg_data(s.g, x) = 2;
  eg_touch(s.g, x);
  eg_rebuild(s.g);
  cr_assert_eq(*(int *)eg_data(s.g, top), 2);
  cr_assert_null(eg_check(s.g));
  small_end(&s);
}

Test(analysis, a_refused_node_is_not_added) {
  small s;
  eg_options o = least(&s);
  small_begin(&s, &o);
  leaf(&s, 1);
  cr_assert_eq(leaf(&s, BAD).i, UINT32_MAX);
  cr_assert_eq(eg_count_nodes(s.g), 1);
  cr_assert_eq(eg_fault(s.g), EG_FAULT_NODE);
  cr_assert_eq(f(&s, EG_NO_CLASS).i, UINT32_MAX);
  small_end(&s);
}

Test(analysis, a_refused_merge_leaves_the_classes_apart) {
  small s;
  eg_options o = least(&s);
  small_begin(&s, &o);
  eg_class a = leaf(&s, -1), b = leaf(&s, -2), x, y;
  eg_reason why;
  cr_assert_not(eg_union(s.g, a, b, (eg_reason){5, 0}));
  cr_assert_eq(eg_fault(s.g), EG_FAULT_MERGE);
  eg_fault_merge(s.g, &x, &y, &why);
  cr_assert_eq(why.rule, 5);
  cr_assert_eq(x.i, a.i);
  cr_assert_eq(y.i, b.i);
  eg_rebuild(s.g);
  cr_assert_not(same(&s, a, b));
  cr_assert_eq(*(int *)eg_data(s.g, a), -1);
  small_end(&s);
}

Test(analysis, a_conflict_by_congruence_names_itself) {
  small s;
  eg_options o = least(&s);
  small_begin(&s, &o);
  eg_class a = leaf(&s, 1), b = leaf(&s, 2), fa = f(&s, a), fb = f(&s, b);
  unite(&s, fa, leaf(&s, -1));
  unite(&s, fb, leaf(&s, -2));
  eg_rebuild(s.g);
  cr_assert_eq(eg_fault(s.g), EG_FINE);
  unite(&s, a, b);
  eg_rebuild(s.g);
  eg_class x, y;
  eg_reason why;
  eg_fault_merge(s.g, &x, &y, &why);
  cr_assert_eq(eg_fault(s.g), EG_FAULT_MERGE);
  cr_assert_eq(why.rule, EG_BY_CONGRUENCE);
  cr_assert(same(&s, x, fa) ? same(&s, y, fb) : same(&s, x, fb));
  small_end(&s);
}

/* --- pruning ----------------------------------------------------------- */

static bool
keep_leaves(void *ctx, uint32_t op, uint32_t n_kids) {
  (void)ctx;
  (void)op;
  return !n_kids;
}

Test(prune, removes_nodes_but_not_their_meaning) {
  small s;
  small_begin(&s, NULL);
  eg_class a = leaf(&s, 1), b = leaf(&s, 2), fa = f(&s, a), fb = f(&s, b);
  unite(&s, fa, leaf(&s, 3));
  eg_prune(s.g, fa, keep_leaves, NULL);
  eg_rebuild(s.g);
  uint32_t n;
  eg_class_nodes(s.g, fa, &n);
  cr_assert_eq(n, 1);
  cr_assert_eq(eg_count_nodes(s.g), 4);
  unite(&s, a, b);
  eg_rebuild(s.g);
  cr_assert(same(&s, fa, fb));
  cr_assert_eq(eg_lookup(s.g, F, BS_NIL, &a, 1).i, eg_find(s.g, fa).i);
  cr_assert_null(eg_check(s.g));
  small_end(&s);
}

typedef struct pruned {
  eg_class class;
  uint32_t has, keeps; /* bits by number of children */
} pruned;

static bool
keep_some(void *ctx, uint32_t op, uint32_t n_kids) {
  (void)op;
  return *(const uint32_t *)ctx >> n_kids & 1;
}

/* A class of nodes with up to three children, of which `has` tells. */
static pruned
class_of_many(small *s, int k, uint32_t has) {
  eg_class a = leaf(s, 1000 + k), b = leaf(s, 2000 + k);
  const eg_class made[] = {leaf(s, k), f(s, a), g(s, a, b), h(s, a, a, b)};
  pruned p = {.class = made[0], .has = has | 1, .keeps = 0xf};
  for (uint32_t n = 1; n < 4; n++)
    if (has >> n & 1)
      unite(s, made[0], made[n]);
  return p;
}

static void
expect_kept(const small *s, const pruned *p, uint32_t round) {
  uint32_t n, found = 0, kids;
  const eg_node *nodes = eg_class_nodes(s->g, p->class, &n);
  for (uint32_t k = 0; k < n; k++) {
    eg_kids(s->g, nodes[k], &kids);
    found |= 1u << kids;
  }
  cr_expect_eq(found, p->has & p->keeps, "round %u: %x of %x, kept are %x",
               round, found, p->has, p->keeps);
}

/* Several classes by several requests, each for what it keeps, in some rounds:
 * a class has what all requests for it keep, and the others lose nothing. */
Test(prune, each_request_is_of_its_classes) {
  enum { CLASSES = 24, REQUESTS = 4, ROUNDS = 3 };
  uint32_t masks[ROUNDS * REQUESTS], state = 1;
  pruned all[CLASSES];
  small s;
  small_begin(&s, NULL);
  for (int k = 0; k < CLASSES; k++)
    all[k] = class_of_many(&s, k, (uint32_t)k % 8 * 2);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    for (uint32_t r = 0; r < REQUESTS; r++) {
      uint32_t *mask = &masks[round * REQUESTS + r];
      state = state * 1664525 + 1013904223;
      *mask = 1 | (state >> 24 & 0xe);
      for (uint32_t k = r; k < CLASSES; k += REQUESTS + 1 + round) {
        eg_prune(s.g, all[k].class, keep_some, mask);
        all[k].keeps &= *mask;
      }
    }
    eg_rebuild(s.g);
    for (uint32_t k = 0; k < CLASSES; k++)
      expect_kept(&s, &all[k], round);
    cr_assert_null(eg_check(s.g));
  }
  small_end(&s);
}

Test(graph, heads_and_symbols_grow) {
  small s;
  small_begin(&s, NULL);
  for (int i = 0; i < 3000; i++) {
    eg_class a = leaf(&s, i);
    eg_class kids[2] = {a, a};
    eg_add(s.g, 100 + (uint32_t)i * 1000003u, bs_int(s.values, i), kids,
           (uint32_t)i % 3);
  }
  eg_rebuild(s.g);
  cr_assert_eq(eg_count_nodes(s.g), 6000);
  cr_assert_null(eg_check(s.g));
  small_end(&s);
}

/* --- ids that run out -------------------------------------------------- */

Test(ids, nodes_end_at_the_limit) {
  small s;
  eg_options options = {.ids = 5};
  small_begin(&s, &options);
  eg_class a = leaf(&s, 1);
  for (int i = 0; i < 4; i++)
    a = f(&s, a);
  cr_assert_neq(a.i, UINT32_MAX);
  cr_assert_eq(eg_fault(s.g), EG_FINE);
  cr_assert_eq(leaf(&s, 1).i, 0);
  cr_assert_eq(f(&s, a).i, UINT32_MAX);
  cr_assert_eq(eg_fault(s.g), EG_FAULT_IDS);
  cr_assert_eq(eg_count_nodes(s.g), 5);
  cr_assert_eq(f(&s, f(&s, a)).i, UINT32_MAX);
  small_end(&s);
}

Test(ids, children_of_wide_nodes_end_at_the_limit) {
  small s;
  eg_options options = {.ids = 8};
  small_begin(&s, &options);
  eg_class a = leaf(&s, 1), b = leaf(&s, 2);
  cr_assert_neq(h(&s, a, a, b).i, UINT32_MAX);
  cr_assert_neq(h(&s, a, b, b).i, UINT32_MAX);
  cr_assert_eq(h(&s, b, b, b).i, UINT32_MAX);
  cr_assert_eq(eg_fault(s.g), EG_FAULT_IDS);
  cr_assert_eq(eg_count_nodes(s.g), 4);
  small_end(&s);
}
