/* SPDX-License-Identifier: MIT */
/* cli_session.h - what every command does around its work: a context, SIGINT,
 * diagnostics on stderr, the exit code, outputs and dependency files. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "cli/cli_options.h"
#include "glen/glen.h"

typedef struct cl_session {
  glen_context *glen;
  const cl_options *options;
  bool color;  /* of stderr */
  bool wrong;  /* a candidate of --tune gave another result */
  bool failed; /* nothing is written */
  int refused; /* the code of what was said in vain; 0: nothing was */
  /* Inputs that are packed once for all calls; `files`: the list, where it is
   * the session's own. */
  const char *const *prepack;
  uint32_t n_prepack;
  const char **files;
  const char *tuned; /* what --tune found, as JSON; NULL: nothing was tuned */
} cl_session;

bool cl_open(cl_session *, const cl_options *);
/* Sets the limits that the command line gave. */
void cl_limit(glen_context *, const cl_options *);
/* Puts the outputs in their places, unless something failed; shows what
 * diagnostics are left and frees the context.  Returns the exit code. */
int cl_close(cl_session *, int code);
/* False where stdout did not take everything: then it was said why, once. */
bool cl_flush(void);
/* Arguments of "%u %s": so many of what the word names. */
#define CL_COUNTED(n, word)           CL_COUNTED_AS(n, word, word "s")
#define CL_COUNTED_AS(n, one, others) (n), (n) == 1 ? one : others

/* Shows the diagnostics so far and returns the failure's exit code. */
int cl_failed(cl_session *);

/* Says so and returns GLEN_USAGE where --no-native forbids what is asked for;
 * else GLEN_OK. */
int cl_refuse_native(const cl_command *, const cl_options *);
/* depfile.c: --depfile and --stamp; an error is a diagnostic. */
bool cl_write_depfile(cl_session *, int code);
/* outputs.c: say so and return GLEN_USAGE where an output of the command is one
 * of its inputs, or another output; else GLEN_OK. */
int cl_refuse_overwriting(const cl_command *, const cl_options *);
int cl_refuse_one_file(const cl_command *, const cl_options *);
/* suffixes.c: say so and return GLEN_USAGE where the name of an input, or that
 * of an output, ends as that of something else; else GLEN_OK. */
int cl_refuse_inputs(const cl_command *, const cl_options *);
int cl_refuse_suffixes(const cl_command *, const cl_options *);
/* suffixes.c: refuses --json where its report and the result would share
 * stdout. */
int cl_refuse_json(const cl_command *, const cl_options *);
/* cli_emit.c: the path of output k of `glen compile`; false: there are no
 * more. */
bool cl_compile_output(const cl_options *, uint32_t k, char *path, size_t size);
/* paths.c: the same of `glen import`. */
bool cl_import_output(const cl_options *, uint32_t k, char *path, size_t size);

/* The target of --target; NULL after a failure. */
glen_target *cl_target(cl_session *);
/* The path is that of a loop program in its text form. */
bool cl_is_loops(const char *path);
/* code_options.c: --tune or --choose; or --fuse, then --schedule, then
 * --layout: what the script printed. False: it was said why. */
bool cl_schedule_loops(cl_session *, glen_loops *, const char **printed);
/* The program lowered and scheduled, for each variant of --dispatch; *lowered:
 * the text of the loops before they were scheduled, unless lowered is NULL.
 * NULL: it was said why. */
glen_loops *cl_lower(cl_session *, const glen_program *, const glen_target *,
                     const char **lowered);
/* cmd_tune.c: --tune N; the search's script and results go beside the
 * output. */
bool cl_tune(cl_session *, glen_loops *);
/* paths.c: the name of a file without its folder; and where the suffix of that
 * begins, by its last dot, or its end where it has none.  A first dot begins no
 * suffix. */
const char *cl_base_name(const char *path);
const char *cl_suffix_of(const char *path);
/* paths.c: does the output go to stdout? */
bool cl_on_stdout(const cl_options *);
/* Does the output go to stdout, a pipe or a device, beside which no other file
 * can lie? */
bool cl_to_stream(const cl_options *);
/* The output's path with this suffix in place of its own; false where it goes
 * to a stream or is too long. */
bool cl_beside_output(const cl_options *, const char *suffix, char *path,
                      size_t size);
/* It, with the script of --script applied; NULL after a failure. */
/* sized: with the numbers of --size put in. */
glen_loops *cl_load_loops(cl_session *, const char *path, bool sized);
/* Read and not scheduled. */
glen_loops *cl_read_loops(cl_session *, const char *path, bool sized);
/* rules_chosen.c: the rules of --rules and --param, or those that come with
 * glen where the command has these by default; NULL after a failure. */
glen_rules *cl_rules(cl_session *, const glen_target *);
/* Is the program rewritten at all? */
bool cl_uses_rules(const cl_options *, const glen_target *);
/* --rules none was given. */
bool cl_without_rules(const cl_options *);
/* Says so and returns GLEN_USAGE where --rules says none and some, or options
 * say how rules run though there are none; else GLEN_OK. */
int cl_refuse_rules(const cl_command *, const cl_options *);
/* Where none run for that target: says so, and true, if options say how. */
bool cl_refuse_idle_rules(cl_session *);
/* --size of a model, whose dimensions get numbers by --dim. */
int cl_refuse_sizes(const cl_command *, const cl_options *);
/* code_options.c: says so and returns GLEN_USAGE where options of the schedule
 * are none, or contradict each other; else GLEN_OK. */
int cl_refuse_schedules(const cl_command *, const cl_options *);
/* The program of a file, with the numbers of --size. */
glen_program *cl_load_program(cl_session *, const glen_target *,
                              const char *path);
/* The two programs that a command is about; numbers are for sizes that one of
 * them has, or both.  A NULL target was refused before. */
int cl_load_pair(cl_session *, const glen_target *, glen_program **a,
                 glen_program **b);
/* cli_emit.c: does --emit ask for what only a saturation gives; for code of
 * blocks and threads? */
bool cl_emits_egraph(const cl_options *);
bool cl_emits_device(const cl_options *);
void cl_saturate_options(cl_session *, glen_saturate_options *);
/* cli_weights.c: which inputs are packed once; false where memory ran out. */
bool cl_choose_prepacked(cl_session *, const glen_program *);
/* The file of weights of a model that was read, beside the output. */
bool cl_write_weights(cl_session *, const glen_program *);
/* Writes text to the path; an error is a diagnostic. */
bool cl_write(cl_session *, const char *path, const char *text);
/* DIR/name, making DIR when it is missing. */
bool cl_write_in(cl_session *, const char *dir, const char *name,
                 const char *text);
/* A JSON string on stdout. */
void cl_print_json_text(const char *);
/* A number that reads back as it is; null where it is not finite. */
void cl_print_json_number(double);
/* An object with a schema and one text. */
void cl_print_json_object(const char *key, const char *text);
/* Whether what goes to stdout is coloured. */
bool cl_stdout_color(const cl_options *);
/* On stderr unless --quiet. */
void cl_note(const cl_session *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The note that nothing was chosen: no WHAT has the text of --filter in its
 * name, or without that option, there is none. */
void cl_note_filter(const cl_session *, const char *what);

/* `glen saturate|compile|run F`: parse, saturate when there are rules, dump
 * the phases asked for. */
typedef struct cl_explored {
  glen_target *target;
  glen_program *input;
  glen_result *result;         /* NULL: it was not rewritten */
  const glen_program *program; /* what to compile */
  const char *verdict;         /* of --verify; NULL: not asked */
} cl_explored;

bool cl_explore(cl_session *, cl_explored *);
/* cmd_run.c: the arrays of --input. */
bool cl_load_inputs(cl_session *, glen_tensors *inputs);
/* cmd_run.c: exit code of comparing outputs with those expected, which are
 * freed; NULL stands for a failure.  With inputs, the program is one of terms,
 * and what differs by rounding alone is equal. */
int cl_compare(cl_session *, const glen_program *, const glen_tensors *inputs,
               glen_tensors *expected, const glen_tensors *outputs);
/* Is an HTML report among what --emit asks for? */
bool cl_wants_html(const cl_options *);
/* The report; loops may be NULL.  NULL after a failure. */
const char *cl_html(cl_session *, const cl_explored *, const glen_loops *);
/* Exit code of a finished exploration (3 under --require-saturation). */
int cl_explored_code(const cl_session *, const cl_explored *);

#endif
