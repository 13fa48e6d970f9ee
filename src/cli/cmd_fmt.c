/* SPDX-License-Identifier: MIT */
/* cmd_fmt.c - `glen fmt`: programs in their one form, and what they stand
 * for. */
#include "cli/commands.h"
#include "cli/cli_session.h"

static int
expand_file(cl_session *session, const glen_target *target, const char *path) {
  glen_context *glen = session->glen;
  glen_program *program = glen_program_load_at(glen, target, path, NULL, 0);
  if (!program)
    return cl_failed(session);
  const char *text = glen_program_text(glen, program, false);
  if (session->options->json)
    cl_print_json_object("program", text);
  else
    fputs(text, stdout);
  glen_program_free(program);
  return GLEN_OK;
}

static int
expand(cl_session *session) {
  const cl_options *o = session->options;
  glen_target *target = cl_target(session);
  int code = target ? GLEN_OK : cl_failed(session);
  for (uint32_t k = 0; k < o->files.n && !code; k++)
    code = expand_file(session, target, o->files.items[k]);
  glen_target_free(target);
  return code;
}

int
cl_fmt(const cl_options *options) {
  cl_session session;
  if (!options->expand)
    return cl_rules_fmt(options);
  if (!cl_open(&session, options))
    return GLEN_INTERNAL;
  return cl_close(&session, expand(&session));
}
