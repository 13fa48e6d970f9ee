/* SPDX-License-Identifier: MIT */
/* small.h - a small language for the tests of the engine: leaves named by an
 * attribute, f/1, g/2, h/3, and terms written down as arrays. */
#ifndef TESTS_EGRAPH_SMALL_H
#define TESTS_EGRAPH_SMALL_H

#include "egraph/run.h"

enum { LEAF, F, G, H };

typedef struct small {
  bs_heap heap;
  bs_values *values;
  eg_graph *g;
} small;

static inline void
small_begin(small *s, const eg_options *o) {
  bs_heap_init(&s->heap, NULL, 0);
  s->values = bs_values_new(&s->heap);
  s->g = eg_new(&s->heap, s->values, o);
}

static inline void
small_end(small *s) {
  eg_free(s->g);
  bs_heap_done(&s->heap);
}

static inline eg_class
leaf(small *s, int k) {
  return eg_add(s->g, LEAF, bs_int(s->values, k), NULL, 0);
}

static inline eg_class
f(small *s, eg_class a) {
  return eg_add(s->g, F, BS_NIL, &a, 1);
}

static inline eg_class
g(small *s, eg_class a, eg_class b) {
  eg_class kids[2] = {a, b};
  return eg_add(s->g, G, BS_NIL, kids, 2);
}

static inline eg_class
h(small *s, eg_class a, eg_class b, eg_class c) {
  eg_class kids[3] = {a, b, c};
  return eg_add(s->g, H, BS_NIL, kids, 3);
}

static inline bool
unite(small *s, eg_class a, eg_class b) {
  return eg_union(s->g, a, b, (eg_reason){EG_BY_CLIENT, 0});
}

static inline bool
same(small *s, eg_class a, eg_class b) {
  return eg_find(s->g, a).i == eg_find(s->g, b).i;
}

/* Terms: V(slot), L(value), N(op, kids...) in an array, root last. */
#define KIDS(...) ((const uint32_t[]){__VA_ARGS__})
#define V(s)                                                                   \
  { .is_slot = true, .slot = (s) }
#define IS(v)                                                                  \
  { .kind = EG_ATTR_VALUE, .value = (v) }
#define NIL                                                                    \
  { .kind = EG_ATTR_VALUE }
#define L(v)                                                                   \
  { .op = LEAF, .attr = IS(v) }
#define N1(o, a)                                                               \
  { .op = (o), .attr = NIL, .n_kids = 1, .kids = KIDS(a) }
#define N2(o, a, b)                                                            \
  { .op = (o), .attr = NIL, .n_kids = 2, .kids = KIDS(a, b) }
#define N3(o, a, b, c)                                                         \
  { .op = (o), .attr = NIL, .n_kids = 3, .kids = KIDS(a, b, c) }
#define TERM(name, ...)                                                        \
  const eg_term_node name##_nodes[] = {__VA_ARGS__};                           \
  const eg_term name = {name##_nodes,                                          \
                        sizeof name##_nodes / sizeof *name##_nodes}

static inline eg_pattern *
pattern(small *s, const eg_term *t, uint32_t n_slots) {
  return eg_pattern_new(&s->heap, s->values, t, NULL, 1, n_slots);
}

/* g(?0, ?1) = g(?1, ?0) and g(?0, g(?1, ?2)) = g(g(?0, ?1), ?2) */
static const eg_term_node small_comm_l[] = {V(0), V(1), N2(G, 0, 1)};
static const eg_term_node small_comm_r[] = {V(1), V(0), N2(G, 0, 1)};
static const eg_term_node small_assoc_l[] = {V(0), V(1), V(2), N2(G, 1, 2),
                                             N2(G, 0, 3)};
static const eg_term_node small_assoc_r[] = {V(0), V(1), N2(G, 0, 1), V(2),
                                             N2(G, 2, 3)};
static const eg_result small_comm_result = {{small_comm_r, 3}, UINT32_MAX};
static const eg_result small_assoc_result = {{small_assoc_r, 5}, UINT32_MAX};

static inline void
small_ac(small *s, eg_rule rules[2]) {
  eg_term comm = {small_comm_l, 3}, assoc = {small_assoc_l, 5};
  rules[0] = (eg_rule){.name = "comm",
                       .id = 7,
                       .pattern = pattern(s, &comm, 2),
                       .n_slots = 2,
                       .results = &small_comm_result,
                       .n_results = 1};
  rules[1] = (eg_rule){.name = "assoc",
                       .id = 8,
                       .pattern = pattern(s, &assoc, 3),
                       .n_slots = 3,
                       .results = &small_assoc_result,
                       .n_results = 1};
}

static inline eg_class
small_sum(small *s, int n) {
  eg_class sum = leaf(s, n);
  for (int i = n - 1; i > 0; i--)
    sum = g(s, leaf(s, i), sum);
  return sum;
}

#endif
