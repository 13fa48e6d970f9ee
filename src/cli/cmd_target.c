/* SPDX-License-Identifier: MIT */
/* cmd_target.c - `glen target`: a machine description, read or detected. */
#include "cli/commands.h"
#include "cli/cli_session.h"

int
cl_target_command(const cl_options *options) {
  cl_session session;
  cl_options settings = *options;
  int code = GLEN_OK;
  if (options->files.n)
    settings.target = options->files.items[0];
  if (options->detect)
    settings.target = "native";
  if (!cl_open(&session, &settings))
    return GLEN_INTERNAL;
  glen_target *target = cl_target(&session);
  if (target && options->json)
    cl_print_json_object("target", glen_target_text(session.glen, target));
  else if (target)
    fputs(glen_target_text(session.glen, target), stdout);
  else
    code = cl_failed(&session);
  return cl_close(&session, code);
}
