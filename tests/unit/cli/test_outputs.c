/* SPDX-License-Identifier: MIT */
/* Where outputs go that a command line does not name whole. */
#include "cli/cli_emit.h"
#include "cli/cli_session.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cl_options
options_of(const char *file, const char *output) {
  cl_options o = {.output = output, .emit = "c"};
  o.files.items[o.files.n++] = file;
  return o;
}

Test(outputs, suffixes_are_those_of_the_last_name) {
  cr_expect_str_eq(cl_suffix_of("a/b.glen"), ".glen");
  cr_expect_str_eq(cl_suffix_of("a.d/b"), "");
  cr_expect_str_eq(cl_suffix_of(".hidden"), "");
  cr_expect_str_eq(cl_suffix_of("a.tar.gz"), ".gz");
  cr_expect_str_eq(cl_base_name("a/b.glen"), "b.glen");
  cr_expect_str_eq(cl_base_name("b"), "b");
}

Test(outputs, forms_are_found_by_their_whole_word) {
  for (int k = 0; k < CL_FORM_COUNT; k++)
    cr_expect_eq(cl_find_form(cl_forms[k].word, strlen(cl_forms[k].word)),
                 &cl_forms[k]);
  cr_expect_null(cl_find_form("c", 0));
  cr_expect_null(cl_find_form("cu", 2));
  cr_expect(cl_has_word("c,h", "h"));
  cr_expect_not(cl_has_word("c,header", "h"));
  cr_expect_not(cl_has_word("", "h"));
}

Test(outputs, are_named_after_what_is_written_or_read) {
  cl_named named;
  cl_options o = options_of("a/conv.glen", "out/f.c");
  cr_assert(cl_name_outputs(&o, &named));
  cr_expect_str_eq(named.stem, "out/f");
  cr_expect_str_eq(named.name, "f");
  o = options_of("a/conv.glen", NULL);
  cr_assert(cl_name_outputs(&o, &named));
  cr_expect_str_eq(named.stem, "a/conv");
  cr_expect_str_eq(named.name, "conv");
  o = options_of("-", "-");
  o.name = "g";
  cr_assert(cl_name_outputs(&o, &named));
  cr_expect_str_eq(named.stem, "kernel");
  cr_expect_str_eq(named.name, "g");
}

Test(outputs, that_are_too_long_are_refused) {
  static char path[CL_PATH + 8];
  char room[16];
  cl_named named;
  memset(path, 'a', sizeof path - 1);
  cl_options o = options_of("a.glen", path);
  cr_expect_not(cl_name_outputs(&o, &named));
  cr_expect_not(cl_beside_output(&o, ".h", room, sizeof room));
  cr_expect_not(cl_import_output(&o, 0, room, sizeof room));
}

Test(outputs, lie_beside_a_file_and_not_beside_a_stream) {
  char path[64];
  cl_options o = options_of("a.glen", "dir.d/f.c");
  cr_assert(cl_beside_output(&o, ".h", path, sizeof path));
  cr_expect_str_eq(path, "dir.d/f.h");
  static const char *const streams[] = {NULL, "-", "/dev/stdout", "/dev/fd/3",
                                        "/dev/null"};
  for (size_t k = 0; k < sizeof streams / sizeof *streams; k++) {
    o.output = streams[k];
    cr_expect_not(cl_beside_output(&o, ".h", path, sizeof path), "stream %zu",
                  k);
  }
}

Test(outputs, of_an_import_are_a_program_and_its_weights) {
  char path[64];
  cl_options o = options_of("models.d/net.onnx", NULL);
  cr_assert(cl_import_output(&o, 0, path, sizeof path));
  cr_expect_str_eq(path, "net.glen");
  cr_assert(cl_import_output(&o, 1, path, sizeof path));
  cr_expect_str_eq(path, "net.weights");
  cr_expect_not(cl_import_output(&o, 2, path, sizeof path));
  o.output = "out.d/net";
  cr_assert(cl_import_output(&o, 1, path, sizeof path));
  cr_expect_str_eq(path, "out.d/net.weights");
}

/* ---- outputs that would overwrite ---- */

static const cl_command *
command_of(const char *name) {
  for (size_t k = 0; k < cl_command_count; k++)
    if (!strcmp(cl_commands[k].name, name))
      return &cl_commands[k];
  cr_assert(false, "%s", name);
  return NULL;
}

static void
touch(const char *path) {
  FILE *f = fopen(path, "w");
  cr_assert(f && !fclose(f), "%s", path);
}

/* Nothing that is written may be something that is read, however both are
 * named, nor may two outputs be one file. */
Test(outputs, overwrite_nothing) {
  char folder[] = "/tmp/outputs-XXXXXX";
  cr_assert(mkdtemp(folder) && !chdir(folder));
  static const char *const files[] = {"a.glen",  "r.rules", "x.npy",
                                      "s.sched", "6.c",     "t.target"};
  for (size_t k = 0; k < sizeof files / sizeof *files; k++)
    touch(files[k]);
  static const struct {
    const char *command, *output, *depfile, *stamp, *phases;
    bool over, one; /* is it refused? */
  } rows[] = {
      {"compile", "f.c", NULL, NULL, NULL, false, false},
      {"compile", "f.c", "f.d", "f.ok", ".", false, false},
      {"schedule", "a.glen", NULL, NULL, NULL, true, false},
      {"schedule", "./a.glen", NULL, NULL, NULL, true, false},
      {"schedule", "r.rules", NULL, NULL, NULL, true, false},
      {"schedule", "x.npy", NULL, NULL, NULL, true, false},
      {"schedule", "s.sched", NULL, NULL, NULL, true, false},
      {"schedule", "f.c", "a.glen", NULL, NULL, true, false},
      {"schedule", "f.c", NULL, "a.glen", NULL, true, false},
      {"schedule", "f.c", "x.npy", "f.ok", NULL, true, false},
      {"schedule", "f.c", "f.c", NULL, NULL, false, true},
      {"schedule", "f.c", NULL, "f.c", NULL, false, true},
      {"schedule", "f.c", "f.d", "f.d", NULL, false, true},
      {"schedule", "6.c", NULL, NULL, ".", false, true},
      {"schedule", "f.c", "6.c", NULL, ".", false, true},
      {"schedule", "f.c", NULL, "3.loops", ".", false, true},
      {"schedule", "f.c", NULL, "7.loops", ".", false, false},
      {"schedule", "-", NULL, NULL, NULL, false, false},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    cl_options o = options_of("a.glen", rows[k].output);
    const cl_command *c = command_of(rows[k].command);
    o.rules.items[o.rules.n++] = "r.rules";
    o.inputs.items[o.inputs.n++] = "in=x.npy";
    o.script = "s.sched";
    o.depfile = rows[k].depfile;
    o.stamp = rows[k].stamp;
    o.dump_phases = rows[k].phases;
    if (rows[k].one) /* two that are there are one if they are the same */
      touch(rows[k].output);
    cr_expect_eq(cl_refuse_overwriting(c, &o) != GLEN_OK, rows[k].over,
                 "row %zu", k);
    cr_expect_eq(cl_refuse_one_file(c, &o) != GLEN_OK, rows[k].one, "row %zu",
                 k);
    unlink("f.c");
  }
  for (size_t k = 0; k < sizeof files / sizeof *files; k++)
    unlink(files[k]);
  cr_expect(!chdir("/") && !rmdir(folder));
}
