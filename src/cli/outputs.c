/* SPDX-License-Identifier: MIT */
/* outputs.c - what a command will write must be none of what it reads, and no
 * two of its outputs one file: looked at before any work is done.
 *
 * What cannot be known yet, as files that rules include, and arrays that a
 * program has, is looked at when outputs are written. */
#include "cli/options_table.h"
#include "cli/cli_session.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, MOST_OUTPUTS = 40 };

typedef struct paths {
  char *items[MOST_OUTPUTS];
  uint32_t n;
  const cl_options *options;
  bool with_inputs; /* held against inputs; otherwise one against another */
  bool refused;
} paths;

static bool
refuse(paths *p, const char *output, const char *what, const char *other) {
  if (!p->refused)
    fprintf(stderr, "glen: the output %s would overwrite %s %s\n", output, what,
            other);
  p->refused = true;
  return false;
}

static bool
is_input(paths *p, const char *output, const char *input) {
  return input && glen_same_file(output, input) &&
         !refuse(p, output, "the input", input);
}

/* A directory stands for the rule files in it. */
static void
compare_with_rules(paths *p, const char *output, const char *rules) {
  char path[PATH_SIZE];
  DIR *directory = opendir(rules);
  is_input(p, output, rules);
  for (const struct dirent *e; directory && (e = readdir(directory));) {
    size_t n = strlen(e->d_name);
    int length = snprintf(path, sizeof path, "%s/%s", rules, e->d_name);
    if (n > 6 && !strcmp(e->d_name + n - 6, ".rules") && length > 0 &&
        (size_t)length < sizeof path)
      is_input(p, output, path);
  }
  if (directory)
    closedir(directory);
}

/* The path that a name leads to. */
static const char *
named(glen_data what, const char *name, char path[PATH_SIZE]) {
  return glen_find(what, name, path, PATH_SIZE) ? path : name;
}

static void
compare_with_inputs(paths *p, const char *output) {
  const cl_options *o = p->options;
  char path[PATH_SIZE];
  for (uint32_t k = 0; k < o->files.n; k++)
    is_input(p, output, o->files.items[k]);
  for (uint32_t k = 0; k < o->rules.n; k++)
    compare_with_rules(p, output,
                       named(GLEN_DATA_RULES, o->rules.items[k], path));
  for (uint32_t k = 0; k < o->inputs.n; k++) {
    const char *equals = strchr(o->inputs.items[k], '=');
    is_input(p, output, equals ? equals + 1 : o->inputs.items[k]);
  }
  if (o->target)
    is_input(p, output, named(GLEN_DATA_TARGET, o->target, path));
  is_input(p, output, o->script);
}

static void
add(paths *p, const char *path) {
  if (!path || !strcmp(path, "-") || p->n == MOST_OUTPUTS)
    return;
  for (uint32_t k = 0; k < p->n && !p->with_inputs; k++)
    if (glen_same_file(p->items[k], path))
      refuse(p, path, "another output,", p->items[k]);
  if (p->with_inputs)
    compare_with_inputs(p, path);
  p->items[p->n] = strdup(path);
  p->n += p->items[p->n] != NULL;
}

static void
add_phases(paths *p) {
  static const char *const names[] = {
      "0.input.glen", "1.egraph.json", "2.extracted.glen",
      "3.loops",      "4.sched",       "5.tree",
      "6.c"};
  char path[PATH_SIZE];
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    int n =
        snprintf(path, sizeof path, "%s/%s", p->options->dump_phases, names[k]);
    if (n > 0 && (size_t)n < sizeof path)
      add(p, path);
  }
}

/* The record of times is read, too, but is nothing else. */
static void
add_tuned(paths *p) {
  char path[PATH_SIZE];
  if (cl_beside_output(p->options, ".sched", path, sizeof path))
    add(p, path);
  if (p->options->tune_file)
    add(p, p->options->tune_file);
  else if (cl_beside_output(p->options, ".tune.json", path, sizeof path))
    add(p, path);
}

static void
add_all(paths *p, const cl_command *command) {
  const cl_options *o = p->options;
  char path[PATH_SIZE];
  bool (*many)(const cl_options *, uint32_t, char *, size_t) =
      cl_command_bit(command) == COMPILE  ? cl_compile_output
      : cl_command_bit(command) == IMPORT ? cl_import_output
                                          : NULL;
  for (uint32_t k = 0; many && many(o, k, path, sizeof path); k++)
    add(p, path);
  if (!many)
    add(p, o->output);
  add(p, o->depfile);
  add(p, o->stamp);
  if (o->dump_phases)
    add_phases(p);
  if (o->tune)
    add_tuned(p);
}

static int
look(const cl_command *command, const cl_options *options, bool with_inputs) {
  paths p = {.options = options, .with_inputs = with_inputs};
  add_all(&p, command);
  while (p.n)
    free(p.items[--p.n]);
  return p.refused ? GLEN_USAGE : GLEN_OK;
}

int
cl_refuse_overwriting(const cl_command *command, const cl_options *options) {
  return look(command, options, true);
}

int
cl_refuse_one_file(const cl_command *command, const cl_options *options) {
  return look(command, options, false);
}
