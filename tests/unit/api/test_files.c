/* SPDX-License-Identifier: MIT */
/* test_files.c - files that are written, limits and interrupts, foreign
 * e-graphs, models, and what the library says of itself. */
#include "fixture.h"
#include <fcntl.h>
#include <sys/stat.h>

static void
expect_text(const char *path, const char *expected) {
  char have[100] = "";
  FILE *f = fopen(path, "r");
  cr_assert_not_null(f, "no %s", path);
  have[fread(have, 1, sizeof have - 1, f)] = '\0';
  fclose(f);
  cr_expect_str_eq(have, expected);
}

Test(files, outputs_are_written_together_or_not) {
  use_folder();
  put("a.txt", "old");
  glen_context *glen = begin();
  cr_assert(glen_write_file(glen, "alone.txt", "x", 1));
  expect_text("alone.txt", "x");
  cr_assert(glen_outputs_begin(glen));
  cr_assert(glen_write_file(glen, "a.txt", "new", 3));
  cr_assert(glen_write_file(glen, "b.txt", "more", 4));
  expect_text("a.txt", "old");
  cr_assert(glen_outputs_commit(glen));
  expect_text("a.txt", "new");
  expect_text("b.txt", "more");
  cr_assert(glen_outputs_begin(glen));
  cr_assert(glen_write_file(glen, "a.txt", "lost", 4));
  cr_expect_not(glen_write_file(glen, "none/c.txt", "c", 1) &&
                glen_outputs_commit(glen));
  glen_context_free(glen);
  expect_text("a.txt", "new");
}

Test(files, what_is_touched_is_new_though_it_is_the_same) {
  struct stat before, after;
  use_folder();
  put("a.txt", "same");
  put("b.txt", "same");
  const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
  cr_assert_eq(utimensat(AT_FDCWD, "a.txt", old, 0), 0);
  cr_assert_eq(utimensat(AT_FDCWD, "b.txt", old, 0), 0);
  cr_assert_eq(stat("b.txt", &before), 0);
  glen_context *glen = begin();
  cr_assert(glen_outputs_begin(glen));
  cr_assert(glen_outputs_touch(glen, "a.txt"));
  cr_assert(glen_write_file(glen, "a.txt", "same", 4));
  cr_assert(glen_write_file(glen, "b.txt", "same", 4));
  cr_assert(glen_outputs_commit(glen));
  cr_assert_eq(stat("b.txt", &after), 0);
  cr_expect_eq(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
  cr_assert_eq(stat("a.txt", &after), 0);
  cr_expect_gt(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
  glen_context_free(glen);
}

static int64_t
nanoseconds(const char *path) {
  struct stat st;
  cr_assert_eq(stat(path, &st), 0);
  return st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
}

/* The clock of the system may be ahead of the one that dates new files. */
Test(files, what_is_touched_is_no_later_than_what_is_made_next) {
  use_folder();
  glen_context *glen = begin();
  for (int k = 0; k < 300; k++) {
    cr_assert(glen_outputs_begin(glen));
    cr_assert(glen_outputs_touch(glen, NULL));
    const char *text = k % 2 ? "odd" : "even";
    cr_assert(glen_write_file(glen, "a.txt", text, strlen(text)));
    cr_assert(glen_write_file(glen, "b.txt", text, strlen(text)));
    cr_assert(glen_outputs_commit(glen));
    unlink("next.txt");
    int next = open("next.txt", O_CREAT | O_WRONLY, 0600);
    cr_assert_eq(write(next, "x", 1), 1);
    close(next);
    cr_assert_eq(nanoseconds("a.txt"), nanoseconds("b.txt"));
    cr_assert_leq(nanoseconds("b.txt"), nanoseconds("next.txt"), "turn %d", k);
  }
  glen_context_free(glen);
}

Test(files, what_was_read_is_replaced_when_that_is_meant) {
  use_folder();
  put("p.glen", "(tensor x (shape 4) f32)\n(output x)\n");
  cr_assert_eq(symlink("p.glen", "link.glen"), 0);
  glen_context *glen = begin();
  cr_assert_not_null(glen_program_load(glen, NULL, "p.glen"));
  cr_expect(glen_same_file("p.glen", "link.glen"));
  cr_expect_not(glen_same_file("p.glen", "other.glen"));
  cr_expect_not(glen_same_file("-", "-"));
  cr_assert(glen_outputs_begin(glen));
  bool written = glen_write_file(glen, "link.glen", "x", 1);
  cr_expect_not(written && glen_outputs_commit(glen));
  cr_expect_eq(glen_failure(glen), GLEN_USAGE);
  glen_context_free(glen);
  glen = begin();
  cr_assert(glen_replace_file(glen, "p.glen", "(output", 7));
  expect_text("p.glen", "(output");
  glen_context_free(glen);
}

Test(files, limits_are_told) {
  glen_context *glen = begin();
  glen_limit(glen, 0, 1); /* no process is so small */
  glen_program *p =
      glen_program_parse(glen, NULL, "p.glen", PRODUCT, sizeof PRODUCT - 1);
  cr_expect_null(p ? glen_lower(glen, p, glen_target_load(glen, NULL), false)
                   : NULL);
  cr_expect_eq(glen_failure(glen), GLEN_LIMIT);
  cr_expect_not_null(
      strstr(glen_take_diagnostics(glen, GLEN_DIAG_TEXT), "memory-limit"));
  glen_context_free(glen);
  cr_expect_gt(glen_default_memory_limit(), (size_t)1 << 20);
}

static void
stop(void *arg, const glen_progress *progress) {
  glen_context *glen = arg;
  cr_expect_geq(progress->iteration, 1);
  cr_expect(glen_interrupt(glen));
}

Test(files, a_saturation_is_interrupted) {
  static const char *const paths[] = {PATH("rules")};
  glen_saturate_options options;
  glen_summary summary;
  glen_saturate_defaults(&options);
  glen_context *glen = begin();
  options.progress = stop;
  options.progress_ctx = glen;
  cr_expect_not(glen_interrupt(glen), "nothing is running");
  glen_target *target = glen_target_load(glen, NULL);
  glen_rules *rules = glen_rules_load(glen, target, paths, 1, NULL, 0);
  glen_result *r =
      glen_saturate(glen, parse(glen, PRODUCT), rules, target, &options);
  cr_assert_not_null(r, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  glen_result_summary(r, &summary);
  cr_expect_not_null(strstr(summary.stop, "interrupt"), "%s", summary.stop);
  cr_expect_not(glen_result_saturated(r));
  glen_result_free(r);
  glen_context_free(glen);
}

/* What would stay behind when a signal ends the program. */
Test(files, what_is_unfinished_is_removed) {
  use_folder();
  glen_context *glen = begin();
  cr_assert(glen_outputs_begin(glen));
  cr_assert(glen_write_file(glen, "a.txt", "x", 1));
  glen_abandon(glen);
  cr_expect_neq(access("a.txt", F_OK), 0);
  cr_expect_neq(system("test -n \"$(ls -A)\""), 0, "something was left");
  glen_context_free(glen);
}

Test(files, an_e_graph_of_others_is_extracted) {
  use_folder();
  put("g.json",
      "{\"nodes\": {"
      "\"f\": {\"op\": \"f\", \"children\": [\"a\"], \"eclass\": \"0\", "
      "\"cost\": 5},"
      "\"g\": {\"op\": \"g\", \"children\": [], \"eclass\": \"0\", \"cost\": "
      "2},"
      "\"a\": {\"op\": \"a\", \"children\": [], \"eclass\": \"1\", \"cost\": "
      "1}}, \"root_eclasses\": [\"0\"]}");
  glen_context *glen = begin();
  if (!strstr(glen_version_details(glen), "jansson")) {
    puts("skipped egraph-json: this build reads no JSON");
    return;
  }
  const char *text =
      glen_extract_foreign(glen, "g.json", GLEN_EXTRACT_EXACT, 10, false);
  cr_assert_not_null(text, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_expect(strchr(text, 'g') && strchr(text, '2'), "%s", text);
  cr_expect_null(
      glen_extract_foreign(glen, "none.json", GLEN_EXTRACT_EXACT, 10, true));
  expect_code(glen, "no-file");
  glen_context_free(glen);
}

/* relu of an array whose first size, N, is open, in the ONNX format. */
static const unsigned char model[] = {
    0x08, 0x08, 0x3a, 0x3d, 0x0a, 0x0c, 0x0a, 0x01, 0x78, 0x12, 0x01, 0x79,
    0x22, 0x04, 0x52, 0x65, 0x6c, 0x75, 0x12, 0x01, 0x67, 0x5a, 0x14, 0x0a,
    0x01, 0x78, 0x12, 0x0f, 0x0a, 0x0d, 0x08, 0x01, 0x12, 0x09, 0x0a, 0x03,
    0x12, 0x01, 0x4e, 0x0a, 0x02, 0x08, 0x04, 0x62, 0x14, 0x0a, 0x01, 0x79,
    0x12, 0x0f, 0x0a, 0x0d, 0x08, 0x01, 0x12, 0x09, 0x0a, 0x03, 0x12, 0x01,
    0x4e, 0x0a, 0x02, 0x08, 0x04, 0x42, 0x04, 0x0a, 0x00, 0x10, 0x11,
};

Test(files, a_model_is_a_program) {
  use_folder();
  FILE *f = fopen("relu.onnx", "wb");
  cr_assert_eq(fwrite(model, 1, sizeof model, f), sizeof model);
  fclose(f);
  static const char *const dims[] = {"N=3"};
  glen_import_summary made;
  glen_import_options options = {
      .path = "relu.onnx", .dims = dims, .n_dims = 1, .output = "relu.glen"};
  glen_context *glen = begin();
  if (!*glen_import_operators(glen)) {
    puts("skipped onnx: this build imports no models");
    return;
  }
  cr_expect_not_null(strstr(glen_import_operators(glen), "Relu"));
  cr_expect_str_eq(glen_model_open_dims(glen, "relu.onnx"), "N\n");
  cr_expect_null(glen_model_open_dims(glen, "none.onnx"));
  expect_code(glen, "no-file");
  cr_assert(glen_import(glen, &options, &made), "%s",
            glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_expect(made.nodes == 1 && made.weights == 0);
  glen_program *p = glen_program_load(glen, NULL, "relu.glen");
  cr_assert_not_null(p);
  glen_model_dims(glen, dims, 1);
  glen_program *q = glen_program_load(glen, NULL, "relu.onnx");
  cr_assert_not_null(q, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  cr_expect(glen_programs_agree(glen, p, q));
  const char *file;
  size_t bytes;
  cr_expect_null(glen_weights_held(q, &file, &bytes), "there are no weights");
  options.n_dims = 0;
  cr_expect_not(glen_import(glen, &options, &made), "N is open");
  glen_context_free(glen);
}

Test(files, versions_and_near_names) {
  static const char *const names[] = {"saturate", "compile", "run"};
  cr_expect_str_eq(glen_version(), GLEN_VERSION);
  cr_expect_eq(glen_version_number(), GLEN_VERSION_NUMBER);
  cr_expect_str_eq(glen_nearest("compiel", names, 3), "compile");
  cr_expect_null(glen_nearest("zzz", names, 3));
  glen_context *glen = begin();
  cr_expect_not_null(strstr(glen_version_details(glen), "isl"));
  glen_context_free(glen);
}
