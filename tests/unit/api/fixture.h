/* SPDX-License-Identifier: MIT */
/* fixture.h - what suites of the public interface share: a context, programs
 * from text, a folder of the test's own. */
#ifndef TESTS_API_FIXTURE_H
#define TESTS_API_FIXTURE_H

#include "glen/glen.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH(name) GLEN_SOURCE_DIR "/" name

/* The product of a by b, and how far it is above zero. */
#define PRODUCT                                                                \
  "(tensor a (shape 4 8) f32)\n(tensor b (shape 8 6) f32)\n"                   \
  "(let c (compute dotProd (cartProd (access a 1)\n"                           \
  "  (access (transpose b (list 1 0)) 1))))\n"                                 \
  "(let d (compute relu c))\n(output d)\n"

static inline glen_context *
begin(void) {
  glen_context *glen = glen_context_new(NULL, 0);
  cr_assert_not_null(glen);
  return glen;
}

/* Each test is a process of its own. */
static inline void
use_folder(void) {
  static char folder[] = "/tmp/glen-test-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  cr_assert_eq(chdir(folder), 0);
}

static inline void
put(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  cr_assert_not_null(f);
  fputs(text, f);
  cr_assert_eq(fclose(f), 0);
}

static inline glen_program *
parse(glen_context *glen, const char *text) {
  glen_program *p =
      glen_program_parse(glen, NULL, "test.glen", text, strlen(text));
  cr_assert_not_null(p, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  return p;
}

static inline glen_rules *
rules_of(glen_context *glen, const glen_target *target, const char *text) {
  glen_rules *rules =
      glen_rules_parse(glen, target, NULL, 0, "test.rules", text, strlen(text));
  cr_assert_not_null(rules, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  return rules;
}

static inline glen_loops *
lower(glen_context *glen, const glen_program *p) {
  glen_loops *loops = glen_lower(glen, p, glen_target_load(glen, NULL), false);
  cr_assert_not_null(loops, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  return loops;
}

/* The code of the first diagnostic, which is forgotten then. */
static inline void
expect_code(glen_context *glen, const char *code) {
  glen_diagnostic d;
  cr_assert(glen_diagnostic_at(glen, 0, &d), "nothing is told, not %s", code);
  cr_expect_str_eq(d.code, code, "%s: %s", d.code, d.message);
  glen_clear_diagnostics(glen);
}

#endif
