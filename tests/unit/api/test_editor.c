/* SPDX-License-Identifier: MIT */
/* test_editor.c - documents, as an editor's server asks for them. */
#include "glen/editor.h"
#include "fixture.h"

static const char text[] = "(tensor image (shape 4 4) f32)\n"
                           "(let sum (compute relo (access imgae 2)))\n"
                           "(let top (compute relu (access image 2)))\n"
                           "(output  top)\n";

static glen_document *
open_text(glen_context *glen, const char *path, const char *all) {
  cr_assert(glen_overlay(glen, path, all, strlen(all)));
  glen_document *d = glen_document_read(glen, NULL, path);
  cr_assert_not_null(d, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  return d;
}

static size_t
at(const char *mark) {
  return (size_t)(strstr(text, mark) - text);
}

/* The bytes of a place. */
static void
expect_place(const glen_place *p, const char *word, size_t lo) {
  cr_expect_str_eq(p->path, "a.glen");
  cr_expect_eq(p->lo, lo, "at %zu", p->lo);
  cr_expect_eq(p->hi - p->lo, strlen(word));
  cr_expect_eq(memcmp(text + p->lo, word, strlen(word)), 0);
}

Test(editor, languages_go_by_the_ends_of_names) {
  cr_expect(glen_is_source("a/b.glen") && glen_is_source("b.rules") &&
            glen_is_source("b.target") && glen_is_source("b.sched"));
  cr_expect_not(glen_is_source("b.c") || glen_is_source("glen"));
}

Test(editor, findings_and_their_fixes) {
  uint32_t n, fixes;
  glen_context *glen = begin();
  glen_document *d = open_text(glen, "a.glen", text);
  const glen_finding *found = glen_document_findings(d, &n);
  const glen_fix *fix = glen_document_fixes(d, &fixes);
  cr_assert_eq(n, 2);
  cr_expect_str_eq(found[0].code, "unknown-compute");
  cr_expect_str_eq(found[0].severity, "error");
  cr_expect_str_eq(found[0].hint, "did you mean `relu`?");
  cr_assert_eq(fixes, 2);
  cr_expect_str_eq(fix[0].text, "relu");
  expect_place(&fix[0].place, "relo", at("relo"));
  cr_expect_str_eq(fix[1].text, "image");
  cr_expect_eq(fix[1].finding, 1);
  expect_place(&fix[1].place, "imgae", at("imgae"));
  glen_context_free(glen);
}

Test(editor, names_are_found) {
  uint32_t n;
  glen_place place;
  glen_context *glen = begin();
  glen_document *d = open_text(glen, "a.glen", text);
  const glen_symbol *symbols = glen_document_symbols(d, &n);
  cr_assert_eq(n, 3);
  cr_expect_str_eq(symbols[2].name, "top");
  cr_expect_str_eq(symbols[2].head, "let");
  expect_place(&symbols[2].name_place, "top", at("top"));
  cr_assert(glen_document_definition(d, at("image 2"), &place));
  expect_place(&place, "image", at("image"));
  cr_expect_not(glen_document_definition(d, at("relu"), &place));
  const glen_use *uses = glen_document_uses(d, NULL, at("image 2"), &n);
  cr_assert_eq(n, 2);
  cr_expect(uses[0].definition && !uses[1].definition);
  expect_place(&uses[1].place, "image", at("image 2"));
  expect_place(&uses[1].name, "image", at("image 2"));
  cr_expect_null(glen_document_uses(d, NULL, at("relu"), &n));
  cr_expect_eq(n, 0);
  cr_expect_null(glen_document_refuses(d, at("image 2"), "photo"));
  cr_expect_not_null(glen_document_refuses(d, at("image 2"), "top"));
  cr_expect_not_null(glen_document_refuses(d, at("image 2"), "a b"));
  cr_expect_not_null(glen_document_refuses(d, at("relu"), "photo"));
  glen_context_free(glen);
}

Test(editor, what_stands_there_and_what_may) {
  uint32_t n;
  size_t size;
  glen_place what;
  glen_context *glen = begin();
  glen_document *d = open_text(glen, "a.glen", text);
  const char *about = glen_document_hover(d, at("relu"), &what);
  cr_assert_not_null(about);
  cr_expect_not_null(strstr(about, "(compute relu"));
  cr_expect(what.lo <= at("relu") && at("relu") < what.hi);
  const glen_completion *list =
      glen_document_complete(d, at("top)") + 1, &n, &what);
  bool offered = false;
  for (uint32_t k = 0; k < n; k++)
    offered |= !strcmp(list[k].label, "image");
  cr_expect(offered, "of %u completions none is a name", n);
  expect_place(&what, "t", at("top)"));
  const char *formatted = glen_document_format(d, &size);
  cr_assert_not_null(formatted);
  cr_expect_eq(strlen(formatted), size);
  cr_expect_not_null(strstr(formatted, "(output top)"));
  glen_context_free(glen);
}

/* A script of a schedule is no list, and there is no one way to lay it out. */
Test(editor, what_is_no_list_is_not_laid_out) {
  size_t size;
  glen_context *glen = begin();
  glen_document *d = open_text(glen, "a.sched", "tile(y.j,  8)\n");
  cr_expect_null(glen_document_format(d, &size));
  d = open_text(glen, "b.rules", "(rule  a \"b\" ?x => ?x)");
  cr_expect_not_null(glen_document_format(d, &size));
  glen_context_free(glen);
}

Test(editor, what_is_no_source_is_told) {
  glen_context *glen = begin();
  cr_expect_null(glen_document_read(glen, NULL, "a.c"));
  expect_code(glen, "unknown-language");
  cr_expect_null(glen_document_read(glen, NULL, "/none/a.glen"));
  expect_code(glen, "no-file");
  glen_context_free(glen);
}
