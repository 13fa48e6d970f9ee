/* SPDX-License-Identifier: MIT */
#include "egraph/export.h"
#include "small.h"
#include <criterion/criterion.h>
#include <string.h>

static void
name_node(const void *ctx, bs_text *t, uint32_t op, bs_value attr) {
  const small *s = ctx;
  static const char *const names[] = {"", "f", "\"g\"", "h"};
  bs_put(t, names[op]);
  if (op == LEAF)
    bs_put_value(t, s->values, attr);
}

static double
cost(const void *ctx, const eg_graph *graph, eg_node n) {
  (void)ctx;
  return eg_op(graph, n) == F ? 2.5 : 1;
}

static void
name_class(const void *ctx, bs_text *t, const eg_graph *graph, eg_class c) {
  (void)ctx;
  (void)graph;
  bs_putf(t, "type%u", c.i);
}

static eg_class
example(small *s) {
  eg_class a = leaf(s, 1), fa = f(s, a), gg = g(s, fa, a);
  unite(s, fa, gg);
  eg_rebuild(s->g);
  return fa;
}

static void
squeeze(const char *from, char *to) {
  for (; *from; from++)
    if (*from != ' ' && *from != '\n')
      *to++ = *from;
  *to = 0;
}

Test(export, json) {
  small s;
  small_begin(&s, NULL);
  eg_class root = example(&s);
  eg_naming how = {&s, name_node, cost, name_class};
  bs_text t;
  bs_text_init(&t, &s.heap);
  eg_put_json(s.g, &how, &root, 1, &t);
  char got[4096];
  squeeze(bs_text_str(&t), got);
  cr_assert_str_eq(
      got,
      "{\"nodes\":{"
      "\"0.0\":{\"op\":\"1\",\"children\":[],\"eclass\":\"0\",\"cost\":1.0},"
      "\"1.0\":{\"op\":\"f\",\"children\":[\"0.0\"],\"eclass\":\"1\","
      "\"cost\":2.5},"
      "\"1.1\":{\"op\":\"\\\"g\\\"\",\"children\":[\"1.0\",\"0.0\"],"
      "\"eclass\":\"1\",\"cost\":1.0}},"
      "\"class_data\":{\"0\":{\"type\":\"type0\"},\"1\":{\"type\":\"type1\"}},"
      "\"root_eclasses\":[\"1\"]}");
  small_end(&s);
}

Test(export, dot) {
  small s;
  small_begin(&s, NULL);
  eg_class root = example(&s);
  eg_naming how = {&s, name_node, NULL, NULL};
  bs_text t;
  bs_text_init(&t, &s.heap);
  eg_put_dot(s.g, &how, &root, 1, 10, &t);
  const char *got = bs_text_str(&t);
  cr_assert(strstr(got, "subgraph cluster_0"));
  cr_assert(strstr(got, "\"1.1\" [label=\"\\\"g\\\"\"]"));
  cr_assert(strstr(got, "\"1.1\" -> \"1.0\" [lhead=cluster_1, "));
  bs_text_clear(&t);
  eg_put_dot(s.g, &how, &root, 1, 1, &t);
  got = bs_text_str(&t);
  cr_assert_null(strstr(got, "cluster_0"));
  cr_assert(strstr(got, "\"1.0\" -> \"0\""));
  small_end(&s);
}
