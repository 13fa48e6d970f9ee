/* SPDX-License-Identifier: MIT */
/* cmd_lsp.c - `glen lsp`: the language server over stdin and stdout. */
#include "cli/commands.h"
#include "cli/cli_session.h"
#include "glen-features.h"
#include "lsp/lsp.h"

#include <unistd.h>

int
cl_lsp(const cl_options *options) {
#if GLEN_HAVE_JANSSON
  lsp_options settings = {.target = options->target};
  return lsp_serve(STDIN_FILENO, STDOUT_FILENO, &settings);
#else
  (void)options;
  fputs("glen: the language server needs jansson; install libjansson-dev and "
        "build again\n",
        stderr);
  return GLEN_BAD_INPUT;
#endif
}
