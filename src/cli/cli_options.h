/* SPDX-License-Identifier: MIT */
/* cli_options.h - one table of commands and options; from it come the parser,
 * --help, the man page and the shell completions. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CL_MAX_LIST 256
#define CL_AUTO     UINT64_MAX /* a number of bytes that fits the machine */

typedef struct cl_list {
  const char *items[CL_MAX_LIST];
  uint32_t n;
} cl_list;

/* What the command line said, defaults filled in. */
typedef struct cl_options {
  const struct cl_command *command;
  cl_list files; /* positional arguments */
  cl_list required, rules, params, disabled, inputs, cc_flags, prepack, dims,
      sizes;
  const char *target, *strategy, *scheduler, *extractor, *regions;
  const char *output, *emit, *form, *name, *dump_phases, *cc;
  const char *depfile, *depfile_format, *stamp; /* of build systems */
  bool touch;
  const char *color, *error_format, *filter, *why_not;
  uint64_t work_limit;
  uint64_t iter_limit, node_limit, memory_limit, match_limit, seed;
  uint64_t max_steps, repeats, random, print_limit, samples, omp_threads,
      shapes, jobs;
  double time_limit, extract_time, tolerance;
  bool require_saturation, json, quiet, help, version, verbose;
  bool interpret, check, trace, strict_fp, sanitize, keep, detect, timings,
      profile;
  bool strict, list, stats, list_operators, all, expand;
  const char *verify;   /* the least that will do, or NULL */
  const char *dispatch; /* variants, or NULL */
  const char *weights;  /* "init" or "inputs" */
  const char *flame;    /* a chart of the profile, or NULL */
  const char *script, *print, *fuse, *tile; /* of schedules */
  uint64_t tune, tune_rounds, choose, keys; /* 0: not asked */
  double tune_time, recompute;
  const char *tune_file;
  const char *layout, *layout_cost, *widths;
  bool dry_run, explain, keep_order, no_native;
} cl_options;

typedef struct cl_command cl_command;

struct cl_command {
  const char *name;     /* "rules test" is written with a space */
  const char *operands; /* "F.glen", for the usage line */
  uint32_t min_operands, max_operands;
  const char *summary; /* one line */
  const char *teach;   /* paragraphs and examples of --help */
};

extern const cl_command cl_commands[];
extern const size_t cl_command_count;

/* Is it one of `words`, which spaces divide? */
bool cl_is_choice(const char *words, const char *word);
/* Finds the command that argv[1..] names and parses the rest.  Returns NULL
 * and sets *exit_code when there is nothing to run: help or version was asked
 * for, or the usage is wrong (reported on stderr). */
const cl_command *cl_parse(int argc, char **argv, cl_options *, int *exit_code);

void cl_print_help(FILE *, const cl_command *); /* NULL: the overview */
/* The commands whose first word it is. */
void cl_print_group(FILE *, const char *word);
/* generated.c: "bash", "zsh" or "fish"; false for another word. */
bool cl_print_generated(FILE *, const char *shell);
/* man.c: the manual page of a command, or of all of them for the empty name;
 * false where there is no such command. */
bool cl_print_man(FILE *, const char *command);

#endif
