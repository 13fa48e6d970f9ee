/* SPDX-License-Identifier: MIT */
/* test_compile.c - the pipeline as one call, in a program that knows nothing of
 * glen but its public header. */
#include "glen/glen.h"
#include <criterion/criterion.h>
#include <glob.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PATH(name) GLEN_SOURCE_DIR "/" name

static const char *const rules[] = {PATH("rules")};

/* Blocks that are not yet given back. */
static void *
counting_realloc(void *ctx, void *block, size_t size) {
  long *live = ctx;
  if (!size) {
    *live -= block != NULL;
    free(block);
    return NULL;
  }
  void *made = realloc(block, size);
  *live += made && !block;
  return made;
}

typedef struct work {
  glen_compile_options options;
  const char *path;
  long live;
  bool ok, cheaper;
  char *c, *said;
  char verdict[16];
} work;

static void
keep(work *w, const glen_compiled *made) {
  glen_summary summary;
  w->c = strdup(made->c);
  if (made->result) {
    glen_result_summary(made->result, &summary);
    w->cheaper = summary.cost_after < summary.cost_before;
  }
  if (made->verdict)
    strncpy(w->verdict, made->verdict, sizeof w->verdict - 1);
}

static void *
compile(void *arg) {
  work *w = arg;
  const glen_allocator counting = {counting_realloc, &w->live};
  glen_context *glen = glen_context_new(&counting, 0);
  glen_compiled made;
  w->ok = glen && glen_compile(glen, w->path, &w->options, &made);
  if (w->ok) {
    keep(w, &made);
    glen_compiled_free(&made);
  }
  w->said = strdup(glen ? glen_take_diagnostics(glen, GLEN_DIAG_TEXT) : "");
  glen_context_free(glen);
  return NULL;
}

static work
work_on(const char *path) {
  work w = {.path = path};
  glen_compile_defaults(&w.options);
  return w;
}

static void
drop(work *w) {
  cr_expect_eq(w->live, 0, "%s: %ld blocks are left", w->path, w->live);
  free(w->c);
  free(w->said);
}

Test(compile, four_threads_at_once_make_the_same) {
  enum { N = 4 };
  pthread_t threads[N];
  work works[N];
  for (int k = 0; k < N; k++) {
    works[k] = work_on(PATH("examples/conv.glen"));
    works[k].options.target = PATH("targets/systolic.target");
    works[k].options.rules = rules;
    works[k].options.n_rules = 1;
    works[k].options.saturate.explain = works[k].options.verify = true;
    works[k].options.saturate.nodes = 20000;
  }
  for (int k = 0; k < N; k++)
    cr_assert(!pthread_create(&threads[k], NULL, compile, &works[k]));
  for (int k = 0; k < N; k++)
    pthread_join(threads[k], NULL);
  for (int k = 0; k < N; k++) {
    cr_assert(works[k].ok, "%s", works[k].said);
    cr_expect(works[k].cheaper);
    cr_expect_str_eq(works[k].verdict, "proved");
    cr_expect_str_eq(works[k].c, works[0].c);
  }
  for (int k = 0; k < N; k++)
    drop(&works[k]);
}

/* In builds with assertions loops and code are checked after each pass. */
Test(compile, every_example_leads_to_code) {
  glob_t found;
  cr_assert_eq(glob(PATH("examples/*.glen"), 0, NULL, &found), 0);
  cr_expect_geq(found.gl_pathc, 20);
  for (size_t k = 0; k < found.gl_pathc; k++) {
    work w = work_on(found.gl_pathv[k]);
    compile(&w);
    cr_expect(w.ok && w.c && *w.c, "%s: %s", w.path, w.said);
    drop(&w);
  }
  globfree(&found);
}

Test(compile, without_rules_it_is_compiled_as_it_is_written) {
  glen_context *glen = glen_context_new(NULL, 0);
  glen_compile_options options;
  glen_compiled made;
  glen_compile_defaults(&options);
  options.name = "two-layers";
  options.header = "layers.h";
  options.code.keep_lowered = true;
  cr_assert(glen_compile(glen, PATH("examples/mlp.glen"), &options, &made),
            "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_expect_null(made.result);
  cr_expect_eq(made.program, made.input);
  cr_expect(strstr(made.c, "two_layers") && strstr(made.h, "two_layers"));
  cr_expect_not_null(strstr(made.c, "\"layers.h\""));
  cr_expect_not_null(made.scheduled.lowered);
  cr_expect_str_eq(made.scheduled.printed, "");
  glen_compiled_free(&made);
  glen_context_free(glen);
}

Test(compile, code_for_several_processors_holds_each) {
  static const char *const both[] = {"avx2", "avx512"};
  static const char *const unknown[] = {"avx2", "avx9"};
  work w = work_on(PATH("examples/mlp.glen")), plain = w, bad = w;
  w.options.code.variants = both;
  bad.options.code.variants = unknown;
  w.options.code.n_variants = bad.options.code.n_variants = 2;
  compile(&w);
  compile(&plain);
  compile(&bad);
  cr_assert(w.ok && plain.ok, "%s%s", w.said, plain.said);
  cr_expect(strstr(w.c, "avx2") && strstr(w.c, "avx512"));
  cr_expect_null(strstr(plain.c, "avx512"));
  cr_expect(!bad.ok && strstr(bad.said, "avx9"), "%s", bad.said);
  drop(&w);
  drop(&plain);
  drop(&bad);
}

Test(compile, a_schedule_is_chosen_where_that_is_asked) {
  glen_context *glen = glen_context_new(NULL, 0);
  glen_compile_options options;
  glen_compiled chosen, fused, laid;
  const char *path = PATH("examples/softmax.glen");
  glen_compile_defaults(&options);
  options.code.choose = 4;
  cr_assert(glen_compile(glen, path, &options, &chosen));
  cr_expect_not_null(chosen.scheduled.chosen);
  options.code.choose = 0;
  options.code.fusion = GLEN_FUSE_SMART;
  cr_assert(glen_compile(glen, path, &options, &fused));
  cr_expect_null(fused.scheduled.chosen);
  options.code.fusion = GLEN_FUSE_AUTO;
  options.code.layout = GLEN_LAYOUT_LINES;
  cr_assert(glen_compile(glen, path, &options, &laid));
  glen_compiled_free(&laid);
  glen_compiled_free(&fused);
  glen_compiled_free(&chosen);
  glen_context_free(glen);
}

/* Each stage fails in turn, with what it has to say, and nothing is left. */
Test(compile, what_fails_says_why_and_leaves_nothing) {
  static const char *const no_rules[] = {"/nowhere/none.rules"};
  static const char *const no_input[] = {"nobody"};
  work works[] = {
      work_on("/nowhere/none.glen"), work_on(PATH("examples/mlp.glen")),
      work_on(PATH("examples/mlp.glen")), work_on(PATH("examples/mlp.glen")),
      work_on(PATH("examples/mlp.glen"))};
  static const char *const words[] = {"none.glen", "none.target", "none.rules",
                                      "nobody", "none.sched"};
  works[1].options.target = "/nowhere/none.target";
  works[2].options.rules = no_rules;
  works[2].options.n_rules = 1;
  works[3].options.code.prepack = no_input;
  works[3].options.code.n_prepack = 1;
  works[4].options.code.script = "/nowhere/none.sched";
  for (size_t k = 0; k < sizeof works / sizeof *works; k++) {
    compile(&works[k]);
    cr_expect(!works[k].ok && strstr(works[k].said, words[k]), "%s: %s",
              words[k], works[k].said);
    drop(&works[k]);
  }
}

Test(compile, modes_are_found_by_their_words) {
  glen_fusion fusion = GLEN_FUSE_MAX;
  glen_layout_cost cost = GLEN_LAYOUT_DOC;
  glen_printed printed = GLEN_PRINT_LOOPS;
  glen_extractor extractor = GLEN_EXTRACT_TREE;
  cr_expect(glen_fusion_find("post-tile", &fusion));
  cr_expect_eq(fusion, GLEN_FUSE_POST_TILE);
  cr_expect(glen_layout_cost_find("lines", &cost));
  cr_expect_eq(cost, GLEN_LAYOUT_LINES);
  cr_expect(glen_printed_find("script", &printed));
  cr_expect_eq(printed, GLEN_PRINT_SCRIPT);
  cr_expect(glen_extractor_find("exact", &extractor));
  cr_expect_eq(extractor, GLEN_EXTRACT_EXACT);
  cr_expect(!glen_extractor_find("none", &extractor));
  cr_expect(!glen_fusion_find("lines", &fusion));
  cr_expect(!glen_layout_cost_find("", &cost));
  cr_expect_eq(fusion, GLEN_FUSE_POST_TILE);
}

/* A program whose struct ends before `extractor`, and one that forgot it all.
 */
Test(compile, options_say_their_size) {
  static const char text[] = "(tensor x (shape 4) f32)\n(let y (compute relu "
                             "x))\n(output y)\n";
  glen_context *glen = glen_context_new(NULL, 0);
  glen_target *target = glen_target_load(glen, NULL);
  glen_program *p =
      glen_program_parse(glen, target, "<test>", text, strlen(text));
  glen_rules *own_rules = glen_rules_load(glen, target, NULL, 0, NULL, 0);
  glen_saturate_options shorter, none = {0};
  memset(&shorter, 0xff, sizeof shorter);
  size_t size = offsetof(glen_saturate_options, extractor);
  glen_saturate_defaults_of(&shorter, size);
  cr_assert_eq(shorter.size, size);
  cr_assert_eq(*(unsigned char *)&shorter.extractor, 0xff);
  glen_result *r = glen_saturate(glen, p, own_rules, target, &shorter);
  cr_assert(r, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_assert_not(glen_saturate(glen, p, own_rules, target, &none));
  cr_assert_eq(glen_failure(glen), GLEN_USAGE);
  cr_assert(
      strstr(glen_take_diagnostics(glen, GLEN_DIAG_TEXT), "[options-size]"));
  glen_result_free(r);
  glen_context_free(glen);
}

Test(compile, sizes_of_options_for_loops_and_proofs) {
  static const char text[] = "(tensor x (shape 4) f32)\n(let y (compute relu "
                             "x))\n(output y)\n";
  glen_context *glen = glen_context_new(NULL, 0);
  glen_target *target = glen_target_load(glen, NULL);
  glen_program *p =
      glen_program_parse(glen, target, "<test>", text, strlen(text));
  glen_scheduled scheduled;
  glen_code_options code, none = {0};
  glen_code_defaults(&code);
  glen_loops *loops = glen_lower_scheduled(glen, p, target, &code, &scheduled);
  cr_assert(loops);
  cr_assert_not(glen_lower_scheduled(glen, p, target, &none, &scheduled));
  cr_assert_not(glen_schedule_loops(glen, loops, &none, &scheduled));
  glen_tune_options tune = {0};
  glen_tuned tuned;
  cr_assert_not(glen_tune(glen, loops, NULL, &tune, &tuned));
  glen_loops_free(loops);
  glen_context_free(glen);
}
