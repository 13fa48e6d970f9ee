/* SPDX-License-Identifier: MIT */
/* What is quoted becomes a tree that prints as it was written, and that the
 * checker and the walk for helpers understand. */
#include "base/text.h"
#include "codegen/above/above.h"
#include "codegen/print/print.h"
#include "codegen/quote/quote.h"
#include "codegen/tree/tree_check.h"
#include <criterion/criterion.h>
#include <string.h>

static bs_heap heap;
static bs_arena arena;
static bs_text text;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  bs_text_init(&text, &heap);
}

static void
end(void) {
  bs_text_done(&text);
  bs_arena_done(&arena);
  bs_heap_done(&heap);
}

TestSuite(quote, .init = start, .fini = end);

static const char *
printed(const cg_node *body) {
  bs_text_clear(&text);
  cg_print_nodes(&text, &cg_c, body, 0);
  return bs_text_str(&text);
}

/* Each line is a quote of its own; NULL where one of them is refused. */
static cg_node *
quoted(const char *lines) {
  cg_writer w;
  cg_start(&w, &arena);
  cg_open_body(&w);
  for (const char *at = lines; *at;) {
    size_t n = strcspn(at, "\n");
    cg_write(&w, "%.*s", (int)n, at);
    at += n + (at[n] != 0);
  }
  return cg_end(&w);
}

static const char *
why(const char *line) {
  cg_writer w;
  cg_start(&w, &arena);
  cg_open_body(&w);
  cg_write(&w, "%s", line);
  return cg_end(&w) ? NULL : w.why;
}

/* ---- what is read ---- */

Test(quote, statements_print_as_they_were_quoted) {
  static const char *const bodies[] = {
      "int k = 0;\nk += 2;\nk++;\n",
      "const float *const x = p + 4 * k0 - -3;\n",
      "float y[16] __attribute__((aligned(64)));\n",
      "v_v a = {0}, b = {0};\n",
      "int run[4], length[4], runs = 0;\n",
      "*(v_v *)(c + 8) += s0_0;\n",
      "s = (v_v){0} + w[3];\n",
      "(void)a, (void)b;\n",
      "inside = row[r] = from + (2 * m0);\n",
      "at[runs++] = a < lo || a >= hi ? 0 : (unsigned)b[t];\n",
      "memset(line, 0, sizeof *line * 4 * (size_t)(end - begin));\n",
      "bits[1] = (uint32_t)x[g * 8 + i % 4] << 16;\n",
      "for (; t + 4 <= n; t += 4)\n  f(t);\n",
      "for (int m = lo, rows; m < hi; m += rows) {\n  rows = 2;\n}\n",
      "for (int i = 0; i < n;) {\n  i += n - i;\n}\n",
      "for (t = 0; t < n; t++, k++)\n  a[t] = k;\n",
      "if (a && !b) {\n  return;\n} else {\n  return a + 1;\n}\n",
      "if (n & 4)\n  continue;\n",
      "switch (3 * a + b) {\ncase 0:\n  f();\n  return;\ncase 4:\n  g();\n}\n",
      "#ifdef X\nf();\n#elif defined(Y)\n#error \"no\"\n#else\ng();\n#endif\n",
      "for (int k = 0; k < 4; k++)\n  {\n    f(k);\n  }\n",
      "{ v_v a = {0}; f(&a); }\n",
  };
  for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
    cg_node *body = quoted(bodies[k]);
    cr_expect_not_null(body, "%s", bodies[k]);
    cr_expect_str_eq(printed(body), bodies[k]);
  }
}

Test(quote, operands_on_new_lines_stay_there) {
  cg_writer w;
  cg_start(&w, &arena);
  cg_open_body(&w);
  cg_write(&w, "for (int k = 0; k < 2; k++)");
  cg_write(&w, "a = b ? c\n: f(d,\ne + 1);");
  cr_expect_str_eq(printed(cg_end(&w)),
                   "for (int k = 0; k < 2; k++)\n"
                   "  a = b ? c\n      : f(d,\n      e + 1);\n");
}

Test(quote, operands_bind_as_in_c) {
  const cg_expr *x = cg_quote(&arena, "a + b * c - d");
  cr_assert_eq(x->kind, CG_INFIX);
  cr_expect_eq(x->op, CG_OP_SUBTRACT);
  cr_expect_eq(x->args[0]->op, CG_OP_ADD);
  cr_expect_eq(x->args[0]->args[1]->op, CG_OP_MULTIPLY);
  x = cg_quote(&arena, "a && b && c || d");
  cr_expect_eq(x->op, CG_OP_OR);
  cr_expect_eq(x->args[0]->n, 3, "operands of one operator are one node");
  x = cg_quote(&arena, "(int)(a) + -2");
  cr_expect_eq(x->args[0]->kind, CG_CAST);
  cr_expect_eq(x->args[1]->number, -2);
}

Test(quote, heads_of_functions_are_read) {
  cg_writer w;
  cg_start(&w, &arena);
  cg_add(&w, "GLEN_PACK static void\nf_pack(const float *restrict from,\n");
  cg_add(&w, "    const float *const *row");
  cg_write(&w, ", int n) {");
  cg_write(&w, "f(from, row, n);");
  w.function.body = cg_end(&w);
  cr_assert_null(w.why);
  cr_expect_eq(w.function.n_parameters, 3);
  cg_print_function(&text, &cg_c, &w.function);
  cr_expect_str_eq(bs_text_str(&text),
                   "GLEN_PACK static void\nf_pack(const float *restrict from,\n"
                   "    const float *const *row, int n) {\n"
                   "  f(from, row, n);\n}\n");
  cg_needs needs = {{0}, 0};
  cg_need_for_function(&needs, &w.function);
  cr_expect(cg_needs_helper(&needs, CG_PACK), "its head names a macro");
}

Test(quote, threads_share_the_next_loops) {
  cg_writer w;
  cg_start(&w, &arena);
  cg_open_body(&w);
  cg_write_team(&w, 2, "1.0 * n >= 8.0");
  cg_write(&w, "for (int a = 0; a < 2; a++)");
  cg_write(&w, "for (int b = 0; b < 2; b++)");
  cg_write(&w, "f(a, b);");
  cr_expect_str_eq(
      printed(cg_end(&w)),
      "#ifdef _OPENMP\nif (1.0 * n >= 8.0) {\n"
      "  #pragma omp parallel for collapse(2)\n"
      "  for (int a = 0; a < 2; a++)\n    for (int b = 0; b < 2; b++)\n"
      "      f(a, b);\n"
      "} else\n#endif\n{\n"
      "  for (int a = 0; a < 2; a++)\n    for (int b = 0; b < 2; b++)\n"
      "      f(a, b);\n"
      "}\n");
}

Test(quote, no_else_is_taken_for_that_of_a_test_around_it) {
  cg_writer w;
  cg_start(&w, &arena);
  cg_open_body(&w);
  cg_write(&w, "if (n > 1)");
  cg_write_team(&w, 1, "1.0 * n >= 8.0");
  cg_write(&w, "for (int a = 0; a < n; a++)");
  cg_write(&w, "f(a);");
  cr_expect_str_eq(printed(cg_end(&w)),
                   "if (n > 1) {\n"
                   "#ifdef _OPENMP\n  if (1.0 * n >= 8.0) {\n"
                   "    #pragma omp parallel for\n"
                   "    for (int a = 0; a < n; a++)\n      f(a);\n"
                   "  } else\n#endif\n  {\n"
                   "    for (int a = 0; a < n; a++)\n      f(a);\n"
                   "  }\n}\n");
}

Test(quote, cases_may_hang_on_the_preprocessor_and_one_is_for_all_others) {
  static const char source[] = "switch (f()) {\n"
                               "#if defined(X)\n"
                               "case 2:\n  return g();\n"
                               "case 1:\n  return h();\n"
                               "#endif\n"
                               "default:\n  return 0;\n"
                               "}\n";
  cg_node *body = quoted(source);
  cg_asked asked = {&arena, true, NULL, NULL};
  cr_expect_null(cg_check_tree(&asked, body));
  cr_expect_str_eq(printed(body), source);
  body->first->first->next = cg_make_return(&arena, NULL);
  cr_expect_str_eq(cg_check_tree(&asked, body),
                   "a switch: something that is no case");
}

Test(quote, types_of_other_headers_and_strings_are_read) {
  cr_expect_str_eq(printed(quoted("cl_int error = f(program, \"-O2 a\");\n"
                                  "cl_mem *buffer = g();\n"
                                  "a = b * c;\n")),
                   "cl_int error = f(program, \"-O2 a\");\n"
                   "cl_mem *buffer = g();\n"
                   "a = b * c;\n");
}

Test(quote, a_function_may_take_nothing) {
  cg_writer w;
  cg_start(&w, &arena);
  cg_write(&w, "int\nf(void) {");
  cg_write(&w, "return 1;");
  w.function.body = cg_end(&w);
  cg_print_function(&text, &cg_c, &w.function);
  cr_expect_str_eq(bs_text_str(&text), "int\nf(void) {\n  return 1;\n}\n");
}

/* ---- what is not ---- */

Test(quote, what_is_no_c_is_refused) {
  static const char *const wrong[] = {
      "a = ;",      "f(a;",       "int = 3;", "for (int k) f(k);",
      "}",          "#else",      "if (a {",  "case a:",
      "a = b ? c;", "for (;;) {", "a[1 = 2;", "if (a) {",
      "#ifdef X",   "a b c;"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    cr_expect_not_null(why(wrong[k]), "%s", wrong[k]);
}

/* ---- what is made of it ---- */

static bool
knows(const char *name, void *known) {
  return !strcmp(name, known);
}

Test(quote, the_checker_finds_what_a_quote_leaves_undeclared) {
  cg_asked asked = {&arena, true, knows, "n"};
  cg_node *sound = quoted("int t = 0;\nfor (; t < n; t += 4)\n  f(t);\n");
  cr_expect_null(cg_check_tree(&asked, sound));
  cg_node *broken = quoted("int t = 0;\nfor (; t < n; t += step)\n  f(t);\n");
  cr_expect(strstr(cg_check_tree(&asked, broken), "step"));
  cg_node *stands = quoted("for (int i = 0; i < n;) {\n  f(i);\n}\n");
  cr_expect(strstr(cg_check_tree(&asked, stands), "go up"));
  cg_node *twice = quoted("int t = 0;\nint t = 1;\n");
  cr_expect(strstr(cg_check_tree(&asked, twice), "twice"));
  cg_node *left = quoted("t_lanes.v = 0;\n");
  cr_expect(strstr(cg_check_tree(&asked, left), "not declared"));
}

Test(quote, the_walk_finds_macros_in_conditions_and_by_their_family) {
  cg_needs needs = {{0}, 0};
  cg_need_for_nodes(&needs, quoted("#ifdef GLEN_TURNS\nGLEN_TURN4X2(a, b);\n"
                                   "#else\nk = glen_min(k, 3);\n#endif\n"));
  cr_expect(cg_needs_helper(&needs, CG_TURNS));
  cr_expect(cg_needs_helper(&needs, CG_TURN_4));
  cr_expect(cg_needs_helper(&needs, CG_MIN_INDEX));
  cr_expect_not(cg_needs_helper(&needs, CG_TURN_8));
}
