/* SPDX-License-Identifier: MIT */
/* completions.c - `glen completions`: shell completions and the man page. */
#include "cli/commands.h"

int
cl_completions(const cl_options *options) {
  if (cl_print_generated(stdout, options->files.items[0]))
    return 0;
  fprintf(stderr, "glen: completions: one of bash, zsh, fish, man\n");
  return 2;
}
