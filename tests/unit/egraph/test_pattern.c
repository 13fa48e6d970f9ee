/* SPDX-License-Identifier: MIT */
#include "small.h"
#include "egraph/egraph_testing.h"
#include <criterion/criterion.h>
#include <string.h>

typedef struct found {
  uint32_t n, slots[64][4], stop_at;
  eg_class roots[64];
} found;

static bool
note(void *ctx, eg_class root, eg_node node, const uint32_t *slots) {
  found *f = ctx;
  (void)node;
  memcpy(f->slots[f->n], slots, sizeof f->slots[0]);
  f->roots[f->n++] = root;
  return f->n != f->stop_at;
}

static found
search(small *s, const eg_pattern *p) {
  found f = {.n = 0};
  eg_search(s->g, p, note, &f);
  return f;
}

Test(pattern, a_bare_variable_matches_each_class_once) {
  small s;
  small_begin(&s, NULL);
  eg_class a = leaf(&s, 1), b = leaf(&s, 2);
  f(&s, a);
  unite(&s, a, b);
  eg_rebuild(s.g);
  TERM(any, V(2));
  found got = search(&s, pattern(&s, &any, 4));
  cr_assert_eq(got.n, 2);
  cr_assert_eq(got.slots[0][2], got.roots[0].i);
  cr_assert_eq(got.slots[0][0], UINT32_MAX);
  small_end(&s);
}

Test(pattern, repeated_variables_must_agree) {
  small s;
  small_begin(&s, NULL);
  eg_class a = leaf(&s, 1), b = leaf(&s, 2);
  eg_class aa = g(&s, a, a);
  g(&s, a, b);
  eg_rebuild(s.g);
  TERM(twice, V(0), N2(G, 0, 0));
  const eg_pattern *p = pattern(&s, &twice, 4);
  found got = search(&s, p);
  cr_assert_eq(got.n, 1);
  cr_assert_eq(got.roots[0].i, aa.i);
  unite(&s, a, b);
  eg_rebuild(s.g);
  cr_assert_eq(search(&s, p).n, 1);
  small_end(&s);
}

Test(pattern, ground_subterms_are_looked_up) {
  small s;
  small_begin(&s, NULL);
  eg_class a = leaf(&s, 1), b = leaf(&s, 2);
  eg_class fa = f(&s, a);
  g(&s, b, fa);
  g(&s, fa, b);
  eg_rebuild(s.g);
  TERM(t, V(0), L(bs_int(s.values, 1)), N1(F, 1), N2(G, 0, 2));
  const eg_pattern *p = pattern(&s, &t, 4);
  found got = search(&s, p);
  cr_assert_eq(got.n, 1);
  cr_assert_eq(got.slots[0][0], b.i);
  TERM(absent, V(0), L(bs_int(s.values, 5)), N2(G, 0, 1));
  cr_assert_eq(search(&s, pattern(&s, &absent, 4)).n, 0);
  small_end(&s);
}

Test(pattern, attributes_bind_compare_and_come_apart) {
  small s;
  small_begin(&s, NULL);
  int64_t ab[2] = {3, 4}, aa[2] = {3, 3};
  eg_class x = leaf(&s, 0);
  eg_class p = eg_add(s.g, F, bs_ints(s.values, ab, 2), &x, 1);
  eg_class q = eg_add(s.g, F, bs_ints(s.values, aa, 2), &x, 1);
  eg_add(s.g, F, bs_int(s.values, 3), &x, 1);
  eg_rebuild(s.g);
  eg_attr_pattern two[2] = {{.kind = EG_ATTR_SLOT, .slot = 1},
                            {.kind = EG_ATTR_SLOT, .slot = 2}};
  eg_attr_pattern list = {.kind = EG_ATTR_LIST, .n = 2, .items = two};
  TERM(t, V(0), {.op = F, .attr = list, .n_kids = 1, .kids = KIDS(0)});
  found got = search(&s, pattern(&s, &t, 4));
  cr_assert_eq(got.n, 2);
  cr_assert_eq(got.slots[0][1], bs_int(s.values, 3).i);
  two[1].slot = 1;
  got = search(&s, pattern(&s, &t, 4));
  cr_assert_eq(got.n, 1);
  cr_assert_eq(got.roots[0].i, q.i);
  two[1] =
      (eg_attr_pattern){.kind = EG_ATTR_VALUE, .value = bs_int(s.values, 4)};
  got = search(&s, pattern(&s, &t, 4));
  cr_assert_eq(got.n, 1);
  cr_assert_eq(got.roots[0].i, p.i);
  TERM(any, V(0), {.op = F, .n_kids = 1, .kids = KIDS(0)});
  cr_assert_eq(search(&s, pattern(&s, &any, 4)).n, 3);
  small_end(&s);
}

Test(pattern, parts_join_on_their_variables) {
  small s;
  small_begin(&s, NULL);
  eg_class a = leaf(&s, 1), b = leaf(&s, 2);
  eg_class top = g(&s, a, b);
  g(&s, b, a);
  unite(&s, a, f(&s, b));
  eg_rebuild(s.g);
  TERM(first, V(0), V(1), N2(G, 0, 1));
  TERM(second, V(1), N1(F, 0));
  eg_term parts[2] = {first, second};
  uint32_t roots[2] = {UINT32_MAX, 0};
  found got = search(&s, eg_pattern_new(&s.heap, s.values, parts, roots, 2, 4));
  cr_assert_eq(got.n, 1);
  cr_assert_eq(got.roots[0].i, top.i);
  roots[1] = UINT32_MAX;
  got = search(&s, eg_pattern_new(&s.heap, s.values, parts, roots, 2, 4));
  cr_assert_eq(got.n, 1);
  TERM(apart, V(2), N1(F, 0));
  parts[1] = apart;
  got = search(&s, eg_pattern_new(&s.heap, s.values, parts, roots, 2, 4));
  cr_assert_eq(got.n, 2);
  small_end(&s);
}

Test(pattern, a_search_stops_and_keeps_to_a_class) {
  small s;
  small_begin(&s, NULL);
  eg_class a = leaf(&s, 1), fa = f(&s, a), ffa = f(&s, fa);
  eg_rebuild(s.g);
  TERM(t, V(0), N1(F, 0));
  const eg_pattern *p = pattern(&s, &t, 4);
  found got = {.stop_at = 1};
  eg_search(s.g, p, note, &got);
  cr_assert_eq(got.n, 1);
  got = (found){.n = 0};
  eg_search_class(s.g, p, ffa, note, &got);
  cr_assert_eq(got.n, 1);
  cr_assert_eq(got.slots[0][0], fa.i);
  eg_search_class(s.g, p, a, note, &got);
  cr_assert_eq(got.n, 1);
  small_end(&s);
}

static bool
count(void *ctx, eg_class root, eg_node node, const uint32_t *slots) {
  (void)root;
  (void)node;
  (void)slots;
  ++*(uint32_t *)ctx;
  return true;
}

/* Parts that share nothing have as many matches as theirs multiplied. */
Test(pattern, a_search_within_some_steps_says_whether_it_ended) {
  small s;
  small_begin(&s, NULL);
  enum { MANY = 600 };
  eg_class last = EG_NO_CLASS;
  for (int k = 0; k < MANY; k++)
    last = f(&s, leaf(&s, k));
  eg_rebuild(s.g);
  TERM(one, V(0), N1(F, 0));
  TERM(other, V(1), N1(F, 0));
  TERM(third, V(2), N1(F, 0));
  const eg_term parts[] = {one, other, third};
  const uint32_t roots[] = {UINT32_MAX, 3, 4};
  const eg_pattern *p = eg_pattern_new(&s.heap, s.values, parts, roots, 3, 5);
  uint32_t n = 0;
  cr_assert(eg_search_within(s.g, p, last, MANY * MANY * 2, count, &n));
  cr_assert_eq(n, MANY * MANY);
  n = 0;
  cr_assert_not(eg_search_within(s.g, p, last, MANY * MANY / 4, count, &n));
  cr_assert_lt(n, MANY * MANY);
  n = 0;
  eg_search_class(s.g, p, last, count, &n);
  cr_assert_eq(n, MANY * MANY);
  small_end(&s);
}

Test(pattern, deep_patterns_need_no_stack) {
  small s;
  small_begin(&s, NULL);
  enum { DEEP = 50000 };
  eg_term_node *nodes = bs_calloc(&s.heap, DEEP + 1, sizeof *nodes);
  uint32_t *kids = bs_calloc(&s.heap, DEEP + 1, sizeof *kids);
  nodes[0] = (eg_term_node)V(0);
  eg_class x = leaf(&s, 1), top = x;
  for (uint32_t i = 1; i <= DEEP; i++) {
    kids[i] = i - 1;
    nodes[i] = (eg_term_node){
        .op = F, .attr = IS(BS_NIL), .n_kids = 1, .kids = &kids[i]};
    top = f(&s, top);
  }
  eg_rebuild(s.g);
  eg_term t = {nodes, DEEP + 1};
  found got = {.n = 0};
  eg_search_class(s.g, pattern(&s, &t, 4), top, note, &got);
  cr_assert_eq(got.n, 1);
  cr_assert_eq(got.slots[0][0], x.i);
  uint32_t slots[1] = {x.i};
  cr_assert_eq(eg_instantiate(s.g, &t, slots).i, top.i);
  small_end(&s);
}

Test(template, attributes_are_built) {
  small s;
  small_begin(&s, NULL);
  eg_attr_pattern in[2] = {
      {.kind = EG_ATTR_SLOT, .slot = 0},
      {.kind = EG_ATTR_VALUE, .value = bs_int(s.values, 8)}};
  eg_attr_pattern inner = {.kind = EG_ATTR_LIST, .n = 2, .items = in};
  eg_attr_pattern out[2] = {inner, in[0]};
  eg_attr_pattern list = {.kind = EG_ATTR_LIST, .n = 2, .items = out};
  uint32_t slots[1] = {bs_int(s.values, 5).i};
  bs_value got = eg_attr_build(s.values, &list, slots);
  cr_assert_eq(bs_len(s.values, got), 2);
  cr_assert_eq(bs_as_int(s.values, bs_item(s.values, got, 1)), 5);
  bs_value head = bs_item(s.values, got, 0);
  cr_assert_eq(bs_as_int(s.values, bs_item(s.values, head, 1)), 8);
  small_end(&s);
}

Test(pattern, long_segments_join_on_a_child) {
  small s;
  small_begin(&s, NULL);
  eg_class x = leaf(&s, 100), y = leaf(&s, 101), z = leaf(&s, 102);
  eg_class left = g(&s, leaf(&s, 0), x), right = g(&s, leaf(&s, 0), y);
  for (int i = 0; i < 20; i++) {
    unite(&s, left, g(&s, leaf(&s, i), x));
    unite(&s, right, g(&s, leaf(&s, 2 * i), y));
    unite(&s, right, g(&s, leaf(&s, 2 * i), z));
  }
  eg_class root = g(&s, left, right), other = g(&s, right, left);
  eg_rebuild(s.g);
  TERM(t, V(0), V(1), V(2), N2(G, 0, 1), N2(G, 0, 2), N2(G, 3, 4));
  found got = search(&s, pattern(&s, &t, 4));
  cr_assert_eq(got.n, 40);
  uint32_t seen[2] = {0, 0};
  for (uint32_t i = 0; i < got.n; i++) {
    bool back = got.roots[i].i == other.i;
    cr_assert(back || got.roots[i].i == root.i);
    cr_assert_eq(got.slots[i][back ? 2 : 1], x.i);
    uint32_t far = got.slots[i][back ? 1 : 2];
    cr_assert(far == y.i || far == z.i);
    for (int k = 0; k < 10; k++)
      if (got.slots[i][0] == leaf(&s, 2 * k).i)
        seen[back] |= 1u << (2 * k + (far == z.i));
  }
  cr_assert_eq(seen[0], 0xfffff);
  cr_assert_eq(seen[1], 0xfffff);
  small_end(&s);
}

Test(pattern, rare_operators_are_found_below_common_ones) {
  small s;
  small_begin(&s, NULL);
  for (int i = 0; i < 40; i++)
    g(&s, leaf(&s, i), leaf(&s, 2 * i));
  eg_class a = leaf(&s, 7), fa = f(&s, a), fb = f(&s, leaf(&s, 8));
  eg_class both = g(&s, fa, fa), one = g(&s, fa, fb);
  g(&s, leaf(&s, 3), fb);
  eg_rebuild(s.g);
  TERM(t, V(0), V(1), N1(F, 0), N2(G, 2, 1));
  found got = search(&s, pattern(&s, &t, 4));
  cr_assert_eq(got.n, 2);
  cr_assert_eq(got.roots[0].i, one.i);
  cr_assert_eq(got.roots[1].i, both.i);
  TERM(pair, V(0), N1(F, 0), N2(G, 1, 1));
  got = search(&s, pattern(&s, &pair, 4));
  cr_assert_eq(got.n, 1);
  cr_assert_eq(got.slots[0][0], a.i);
  TERM(never, V(0), V(1), N3(H, 0, 0, 0), N2(G, 2, 1));
  cr_assert_eq(search(&s, pattern(&s, &never, 4)).n, 0);
  small_end(&s);
}
