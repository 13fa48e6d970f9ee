/* SPDX-License-Identifier: MIT */
/* tests/fail: each ill-formed program gives exactly the diagnostics beside it.
 *
 * A first line `; target: FILE` names the target it is read with.  With
 * GLEN_BLESS set in the environment the expectations are written anew; look at
 * the difference before committing it.  (run.py checks the same files through
 * the program.) */
#include "lang.h"
#include "base/file.h"
#include <stdlib.h>
#include <unistd.h>

TestSuite(fail, .init = start, .fini = fixture_stop);

static const char *
target_named_in(const char *path) {
  static char name[100];
  char first[120] = "";
  FILE *f = fopen(path, "rb");
  if (!fgets(first, sizeof first, f))
    first[0] = '\0';
  fclose(f);
  return sscanf(first, "; target: %99s", name) == 1 ? name : NULL;
}

/* The diagnostics of a file, read as `path` says it. */
static void
diagnose(const char *path, bs_text *out) {
  bs_arena a;
  bs_diags d;
  bs_arena_init(&a, &heap);
  bs_diags_init(&d, &heap);
  gs_context c = {&heap, &a, ctx.values, &d};
  const char *t = target_named_in(path);
  const gs_target *with = t ? gs_target_parse_file(&c, t) : NULL;
  cr_assert(!t || with, "%s: its target is ill-formed", path);
  gs_program *p = gs_parse_file(&c, with, path);
  cr_expect_null(p, "%s was accepted", path);
  cr_expect_gt(d.errors, 0);
  for (uint32_t k = 0; k < d.list.len; k++)
    bs_render(&d, &d.list.data[k], false, out);
}

static const char *
expectation_path(const char *path) {
  char *out = bs_arena_strdup(&arena, path);
  strcpy(strrchr(out, '.'), ".err");
  return out;
}

static void
check_file(const char *path) {
  bs_text out;
  size_t size;
  bs_text_init(&out, &heap);
  diagnose(path, &out);
  const char *expected = expectation_path(path);
  if (getenv("GLEN_BLESS"))
    cr_assert(bs_file_write(&diags, expected, out.data, out.len));
  char *text = read_whole(expected, &size);
  cr_expect(size == out.len && !memcmp(text, out.data, size),
            "%s:\n%s\n--- but %s says\n%s", path, out.data, expected, text);
  bs_text_done(&out);
}

Test(fail, every_file) {
  const char *const *paths;
  uint32_t n;
  cr_assert_eq(chdir(GLEN_SOURCE_DIR "/tests/fail"), 0);
  cr_assert(bs_dir_list(&diags, ".", ".glen", &paths, &n));
  cr_assert_geq(n, 80);
  for (uint32_t k = 0; k < n; k++)
    check_file(strncmp(paths[k], "./", 2) ? paths[k] : paths[k] + 2);
}

/* Every code the language can give has a file here that gives it. */
Test(fail, every_fault_has_a_file) {
  static const char *const codes[] = {
      "axis-range",       "bad-attribute",
      "bad-form",         "bad-literal",
      "bad-name",         "bad-permutation",
      "bad-size",         "bad-term",
      "broadcast",        "dtype-mismatch",
      "duplicate-name",   "duplicate-output",
      "empty-compute",    "literal-count",
      "literal-range",    "needs-float",
      "no-output",        "not-text",
      "not-unit",         "number-range",
      "rank-limit",       "refused-by-where",
      "reshape",          "shape-mismatch",
      "slice-range",      "too-large",
      "tuple-size",       "type-mismatch",
      "unclosed-paren",   "unclosed-string",
      "unexpected-paren", "unknown-compute",
      "unknown-dtype",    "unknown-form",
      "unknown-name",     "unknown-instruction",
      "unknown-operator", "window-rank",
      "window-size",      "used-before-definition",
      "wrong-arity",      "bad-escape",
  };
  const char *const *paths;
  uint32_t n;
  bs_text all;
  bs_text_init(&all, &heap);
  cr_assert(
      bs_dir_list(&diags, GLEN_SOURCE_DIR "/tests/fail", ".err", &paths, &n));
  for (uint32_t k = 0; k < n; k++) {
    size_t size;
    bs_put(&all, read_whole(paths[k], &size));
  }
  for (size_t k = 0; k < sizeof codes / sizeof *codes; k++) {
    char bracketed[40];
    snprintf(bracketed, sizeof bracketed, "[%s]", codes[k]);
    cr_expect(strstr(bs_text_str(&all), bracketed), "no file gives %s",
              codes[k]);
  }
}
