/* SPDX-License-Identifier: MIT */
/* cli_main.c - dispatch: the function of the command that was named. */
#include "cli/commands.h"
#include "cli/cli_session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* In the order of cl_commands. */
static int (*const functions[])(const cl_options *) = {
    cl_saturate,     cl_compile,     cl_run,
    cl_check,        cl_schedule,    cl_layout,
    cl_explain,      cl_map,         cl_rules_test,
    cl_rules_check,  cl_rules_prove, cl_rules_fmt,
    cl_rules_ablate, cl_target_test, cl_target_command,
    cl_extract,      cl_import,      cl_lsp,
    cl_completions,  cl_fmt,         cl_simulate,
    cl_tiling,
};

static int
run_command(const cl_command *command, const cl_options *options) {
  size_t k = (size_t)(command - cl_commands);
  return k < sizeof functions / sizeof *functions ? functions[k](options)
                                                  : GLEN_INTERNAL;
}

static int
print_version(const cl_options *options) {
  printf("glen %s\n", glen_version());
  if (!options->verbose)
    return 0;
  glen_context *glen = glen_context_new(NULL, 0);
  if (!glen)
    return GLEN_INTERNAL;
  fputs(glen_version_details(glen), stdout);
  glen_context_free(glen);
  return 0;
}

/* A descriptor that is closed would be that of the first file opened, which
 * what is printed would then go to.  These fail as a closed one does: they are
 * open the wrong way round. */
static bool
hold_standard_descriptors(void) {
  for (int k = STDIN_FILENO; k <= STDERR_FILENO; k++)
    if (fcntl(k, F_GETFD) < 0 && errno == EBADF &&
        open("/dev/null", k == STDIN_FILENO ? O_WRONLY : O_RDONLY) != k)
      return false;
  return true;
}

/* What the command line asks for and no command does.  That an input would be
 * lost is said before what the end of a name means, and that before two outputs
 * have one name, which most often is such an end. */
static int
refuse(const cl_command *command, const cl_options *options) {
  static int (*const refusals[])(const cl_command *, const cl_options *) = {
      cl_refuse_native,   cl_refuse_rules,       cl_refuse_sizes,
      cl_refuse_inputs,   cl_refuse_overwriting, cl_refuse_suffixes,
      cl_refuse_one_file, cl_refuse_json,        cl_refuse_schedules};
  int code = GLEN_OK;
  for (size_t k = 0; !code && k < sizeof refusals / sizeof *refusals; k++)
    code = refusals[k](command, options);
  return code;
}

static int
run(int argc, char **argv) {
  cl_options options;
  int code = 0;
  const cl_command *command = cl_parse(argc, argv, &options, &code);
  if (command)
    code = refuse(command, &options);
  if (command && !code)
    return run_command(command, &options);
  /* glen -v: elsewhere it asks for the version, and here for more of it. */
  if (!code && !options.help && (options.version || options.verbose))
    return print_version(&options);
  return code;
}

int
main(int argc, char **argv) {
  if (!hold_standard_descriptors())
    return GLEN_INTERNAL;
  int code = run(argc, argv);
  /* Whatever the command. */
  return cl_flush() || code ? code : GLEN_BAD_INPUT;
}
