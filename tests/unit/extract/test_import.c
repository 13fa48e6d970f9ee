/* SPDX-License-Identifier: MIT */
#include "../base/counting.h"
#include "base/diag.h"
#include "extract/problem.h"
#include <criterion/criterion.h>
#include <string.h>

static bs_heap heap;
static bs_diags diags;
static ex_problem p;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_diags_init(&diags, &heap);
}

static void
stop(void) {
  bs_heap_done(&heap);
}

TestSuite(import, .init = start, .fini = stop);

static bool
import(const char *json) {
  uint32_t source = bs_source_add(&diags, "e.json", json, strlen(json));
  return ex_import_json(&heap, &diags, source, &p);
}

static const char good[] =
    "{\"nodes\": {"
    " \"b1\": {\"op\": \"+\", \"children\": [\"a2\", \"a1\"],"
    "          \"eclass\": \"b\", \"cost\": 2.5},"
    " \"a1\": {\"op\": \"x\", \"eclass\": \"a\"},"
    " \"a2\": {\"op\": \"y\", \"children\": [], \"eclass\": \"a\","
    "          \"cost\": 3, \"subsumed\": false}},"
    " \"root_eclasses\": [\"b\"], \"class_data\": {}}";

Test(import, a_child_names_a_class_by_one_of_its_nodes) {
  cr_assert(import(good));
  cr_assert_eq(diags.errors, 0);
  cr_assert_null(ex_validate(&p));
  cr_assert_eq(p.n_classes, 2);
  cr_assert_str_eq(p.class_names[0], "b"); /* by first appearance */
  cr_assert_str_eq(p.node_names[1], "a1");
  cr_assert_eq(p.cost[1], 1); /* the default */
  cr_assert_eq(p.cost[2], 3);
  cr_assert_eq(p.kid_first[1], 2);
  cr_assert_eq(p.kids[0], 1);
  cr_assert_eq(p.roots[0], 0);
}

Test(import, a_solution_as_text_and_json) {
  ex_solution s;
  bs_text out;
  bs_text_init(&out, &heap);
  cr_assert(import(good));
  cr_assert(ex_solve(&p, EX_EXACT, NULL, &s));
  ex_put_solution(&p, &s, false, &out);
  cr_assert_str_eq(bs_text_str(&out), "dag cost 3.5, tree cost 4.5, optimal\n"
                                      "a = a1  ; 1.0\n"
                                      "b = b1  ; 2.5\n");
  bs_text_clear(&out);
  ex_put_solution(&p, &s, true, &out);
  cr_assert_str_eq(bs_text_str(&out), "{\n"
                                      "  \"schema\": 1,\n"
                                      "  \"feasible\": true,\n"
                                      "  \"optimal\": true,\n"
                                      "  \"dag_cost\": 3.5,\n"
                                      "  \"tree_cost\": 4.5,\n"
                                      "  \"bound\": 3.5,\n"
                                      "  \"choices\": {\n"
                                      "    \"a\": \"a1\",\n"
                                      "    \"b\": \"b1\"\n"
                                      "  }\n"
                                      "}\n");
}

Test(import, no_solution_is_said_so) {
  ex_solution s;
  bs_text out;
  bs_text_init(&out, &heap);
  cr_assert(import("{\"nodes\": {\"n\": {\"op\": \"f\", \"eclass\": \"c\","
                   "\"children\": [\"n\"]}}, \"root_eclasses\": [\"c\"]}"));
  cr_assert_not(ex_solve(&p, EX_EXACT, NULL, &s));
  ex_put_solution(&p, &s, false, &out);
  cr_assert_str_eq(bs_text_str(&out), "no finite, acyclic term\n");
}

static void
refused(const char *json, const char *code, const char *message) {
  cr_assert_not(import(json), "%s", json);
  const bs_diag *d = &bs_last(&diags.list);
  cr_assert_str_eq(d->code, code, "%s", json);
  cr_assert_not_null(strstr(d->message, message), "%s: %s", json, d->message);
}

Test(import, what_is_wrong_is_named) {
  refused("{\"nodes\": ", "json-syntax", "not JSON");
  refused("[]", "json-egraph", "no object \"nodes\"");
  refused("3", "json-syntax", "not JSON");
  refused("{\"nodes\": {}}", "json-egraph", "root_eclasses");
  refused("{\"nodes\": {\"n\": 3}, \"root_eclasses\": []}", "json-egraph",
          "'n' is not an object");
  refused("{\"nodes\": {\"n\": {}}, \"root_eclasses\": []}", "json-egraph",
          "'n' has no \"eclass\"");
  refused("{\"nodes\": {\"n\": {\"eclass\": \"c\", \"cost\": -1}},"
          "\"root_eclasses\": []}",
          "no-roots", "names no class");
  refused("{\"nodes\": {\"n\": {\"eclass\": \"c\", \"cost\": \"1\"}},"
          "\"root_eclasses\": []}",
          "json-egraph", "not a number");
  refused("{\"nodes\": {\"n\": {\"eclass\": \"c\", \"children\": [\"m\"]}},"
          "\"root_eclasses\": []}",
          "json-egraph", "not a node of the file");
  refused("{\"nodes\": {\"n\": {\"eclass\": \"c\", \"children\": 1}},"
          "\"root_eclasses\": []}",
          "json-egraph", "not an array");
  refused("{\"nodes\": {\"n\": {\"eclass\": \"c\"}},"
          "\"root_eclasses\": [\"n\"]}",
          "json-egraph", "'n' is not a class");
  refused("{\"nodes\": {\"n\": {\"eclass\": \"c\"}, \"n\": {}},"
          "\"root_eclasses\": []}",
          "json-syntax", "not JSON");
}

Test(import, a_syntax_error_has_its_place) {
  uint32_t line, column;
  cr_assert_not(import("{\"nodes\":\n  {,}}"));
  bs_position(&diags, bs_last(&diags.list).span, &line, &column);
  cr_assert_eq(line, 2);
}

/* The whole way, so that every allocation of it fails once. */
static void
whole_way(bs_heap *h, void *argument) {
  bs_diags d;
  bs_text out;
  ex_problem q;
  ex_solution s;
  (void)argument;
  bs_diags_init(&d, h);
  bs_text_init(&out, h);
  uint32_t source = bs_source_add(&d, "e.json", good, strlen(good));
  if (!ex_import_json(h, &d, source, &q))
    return;
  for (int m = EX_TREE; m <= EX_EXACT; m++) {
    ex_solve(&q, (ex_method)m, NULL, &s);
    ex_put_solution(&q, &s, m == EX_DAG, &out);
    ex_solution_done(&q, &s);
  }
  ex_problem_done(&q);
}

Test(import, running_out_of_memory_leaves_nothing_behind) {
  cr_assert_gt(sweep(whole_way, NULL), 100);
}
