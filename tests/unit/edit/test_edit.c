/* SPDX-License-Identifier: MIT */
/* Documents: what is mended, what is found, where terms and names stand. */
#include "edit/edit.h"
#include <criterion/criterion.h>
#include <string.h>

typedef struct fixture {
  bs_heap heap;
  bs_arena arena;
  bs_diags diags;
  gs_context ctx;
  ed_document *d;
} fixture;

static void
set_up(fixture *f) {
  bs_heap_init(&f->heap, NULL, 0);
  bs_arena_init(&f->arena, &f->heap);
  bs_diags_init(&f->diags, &f->heap);
  f->ctx =
      (gs_context){&f->heap, &f->arena, bs_values_new(&f->heap), &f->diags};
}

static void
give(fixture *f, const char *path, const char *text) {
  cr_assert(bs_overlay_set(&f->diags, path, text, strlen(text)));
}

static void
open_text(fixture *f, const char *path, const char *text) {
  set_up(f);
  give(f, path, text);
  f->d = ed_open(&f->ctx, NULL, path);
  cr_assert_not_null(f->d);
}

static void
tear_down(fixture *f) {
  bs_heap_done(&f->heap);
  cr_assert_eq(f->heap.used, 0);
}

static void
expect_findings(const fixture *f, const char *const *codes, uint32_t n) {
  cr_assert_eq(f->d->findings.len, n, "%u findings", f->d->findings.len);
  for (uint32_t k = 0; k < n; k++)
    cr_assert_str_eq(f->d->findings.data[k].code, codes[k]);
}

static const char *
hover(const fixture *f, const char *mark) {
  const bs_source *s = &f->diags.sources.data[f->d->raw - 1];
  const char *at = strstr(s->text, mark);
  bs_text out;
  bs_span what;
  cr_assert_not_null(at);
  bs_text_init(&out, f->ctx.heap);
  if (!ed_hover(f->d, (uint32_t)(at - s->text), &out, &what))
    return "";
  const char *text = bs_arena_strdup(f->ctx.arena, bs_text_str(&out));
  bs_text_done(&out);
  return text;
}

Test(edit, equal_terms_have_a_type_wherever_they_stand) {
  fixture f;
  open_text(&f, "a.glen",
            "(tensor A (shape 4 8) f32)\n"
            "(let x (compute neg (access A 1)))\n"
            "(let y (compute abs (access A 1 )))\n"
            "(output x) (output y)\n");
  expect_findings(&f, NULL, 0);
  cr_assert(strstr(hover(&f, "access A 1)"), "((4), (8)) f32"));
  cr_assert(strstr(hover(&f, "access A 1 )"), "((4), (8)) f32"));
  tear_down(&f);
}

Test(edit, a_form_that_does_not_end_keeps_its_name) {
  static const char *const codes[] = {"unclosed-paren"};
  fixture f;
  open_text(&f, "a.glen",
            "(tensor A (shape 4 8) f32)\n"
            "(let x (compute neg (access A\n"
            "(let y (compute abs x))\n"
            "(let z (access A 1))\n"
            "(output y) (output z)\n");
  expect_findings(&f, codes, 1);
  cr_assert(strstr(hover(&f, "access A 1"), "((4), (8)) f32"));
  tear_down(&f);
}

Test(edit, one_parenthesis_too_many_hurts_nothing_else) {
  static const char *const codes[] = {"unexpected-paren"};
  fixture f;
  open_text(&f, "a.glen",
            "(tensor A (shape 4 8) f32)\n"
            "(let x (access A 1)))\n"
            "(output x)\n");
  expect_findings(&f, codes, 1);
  cr_assert(strstr(hover(&f, "access"), "((4), (8)) f32"));
  tear_down(&f);
}

Test(edit, a_faulty_term_leaves_the_others_their_types) {
  static const char *const codes[] = {"axis-range"};
  fixture f;
  open_text(&f, "a.glen",
            "(tensor A (shape 4 8) f32)\n"
            "(let x (squeeze (transpose A (list 1 0)) 7))\n"
            "(output A)\n");
  expect_findings(&f, codes, 1);
  cr_assert(strstr(hover(&f, "transpose"), "((8, 4), ()) f32"));
  tear_down(&f);
}

Test(edit, an_open_text_stands_for_the_included_file) {
  fixture f;
  const char *path;
  bs_span span;
  set_up(&f);
  give(&f, "/nowhere/base.rules",
       "(rule r \"why\" (access ?a 0) => (access ?a 0 ))");
  give(&f, "/nowhere/top.rules",
       "(include \"base.rules\")\n(ruleset all-of-it r)");
  f.d = ed_open(&f.ctx, NULL, "/nowhere/top.rules");
  cr_assert_not_null(f.d);
  const bs_source *s = &f.diags.sources.data[f.d->raw - 1];
  uint32_t at = (uint32_t)(strstr(s->text, " r)") + 1 - s->text);
  cr_assert(ed_definition(f.d, at, &path, &span));
  cr_assert_str_eq(path, "/nowhere/base.rules");
  cr_assert_eq(span.lo, 6);
  tear_down(&f);
}

/* Beside this file is meson.build. */
Test(edit, strings_that_name_files_lead_to_them) {
  static const struct {
    const char *name, *text;
    bool found;
  } strings[] = {
      {"t.rules", "(include \"meson.build\")", true},
      {"t.rules", "(include \"no-such-file\")", false},
      {"t.rules", "(include \"\")", false},
      {"t.rules", "(rule r \"meson.build\" ?a => ?a)", false},
      {"t.target", "(include \"meson.build\")", true},
      {"t.target", "(target t (prelude-file \"meson.build\"))", true},
      {"t.target", "(target t (prelude-file \"no-such-file\"))", false},
      {"t.target", "(target t (prelude \"meson.build\"))", false},
  };
  for (size_t k = 0; k < sizeof strings / sizeof *strings; k++) {
    fixture f;
    const char *path;
    bs_span span;
    char at[sizeof __FILE__ + 16] = __FILE__;
    strcpy(strrchr(at, '/') + 1, strings[k].name);
    open_text(&f, at, strings[k].text);
    uint32_t lo = (uint32_t)(strchr(strings[k].text, '"') - strings[k].text);
    bool found = ed_definition(f.d, lo + 1, &path, &span);
    cr_expect_eq(found, strings[k].found, "%s", strings[k].text);
    if (found)
      cr_expect_str_eq(strrchr(path, '/'), "/meson.build");
    tear_down(&f);
  }
}

Test(edit, a_schedule_is_tried_on_the_program_beside_it) {
  static const char *const codes[] = {"unknown-name"};
  fixture f;
  set_up(&f);
  give(&f, "/nowhere/p.glen",
       "(tensor A (shape 4 8) f32)\n"
       "(let x (compute neg (access A 1)))\n(output x)\n");
  give(&f, "/nowhere/p.sched", "unroll i0\nunroll i77\n");
  f.d = ed_open(&f.ctx, NULL, "/nowhere/p.sched");
  cr_assert_not_null(f.d);
  expect_findings(&f, codes, 1);
  cr_assert_eq(f.d->findings.data[0].span.lo, 17);
  tear_down(&f);
}

static uint32_t
count_references(const fixture *f, const char *mark) {
  const bs_source *s = &f->diags.sources.data[f->d->raw - 1];
  uint32_t at = (uint32_t)(strstr(s->text, mark) - s->text);
  ed_use use;
  ed_references all;
  cr_assert(ed_use_at(f->d, s->path, at, &use), "%s", mark);
  if (!ed_references_to(f->d, &use, &all))
    return 0;
  uint32_t n = all.len;
  bs_vec_done(f->ctx.heap, &all);
  return n;
}

Test(edit, names_of_a_step_are_its_own) {
  fixture f;
  open_text(&f, "t.glen",
            "(tensor x (shape 5 3) f32)(tensor s (shape 3) f32)"
            "(let y (scan s x (step old (each x) (let sum (compute add (pair "
            "old x))) (compute max (pair sum x)))))(let z (compute abs x))"
            "(output y)");
  cr_expect_eq(count_references(&f, "x (shape"), 3);
  cr_expect_eq(count_references(&f, "x) (let"), 3);
  cr_expect_eq(count_references(&f, "sum (compute"), 2);
  cr_expect_eq(count_references(&f, "old (each"), 2);
  cr_expect_eq(count_references(&f, "s (shape"), 2);
  tear_down(&f);
}
