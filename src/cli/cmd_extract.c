/* SPDX-License-Identifier: MIT */
/* cmd_extract.c - `glen extract`: the cheapest term of a foreign e-graph. */
#include "cli/commands.h"
#include "cli/cli_session.h"

int
cl_extract(const cl_options *options) {
  cl_session session;
  glen_extractor extractor = GLEN_EXTRACT_DAG;
  int code = GLEN_OK;
  if (!cl_open(&session, options))
    return GLEN_INTERNAL;
  glen_extractor_find(options->extractor, &extractor);
  const char *text =
      glen_extract_foreign(session.glen, options->files.items[0], extractor,
                           options->extract_time, options->json);
  if (text)
    fputs(text, stdout);
  else
    code = cl_failed(&session);
  return cl_close(&session, code);
}
