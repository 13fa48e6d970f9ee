/* SPDX-License-Identifier: MIT */
/* cmd_tiling.c - `glen tiling`: which of the codes for parts of the sizes takes
 * a call, and how it runs there. */
#include "cli/commands.h"
#include "cli/cli_session.h"

int
cl_tiling(const cl_options *options) {
  cl_session session = {0};
  if (!cl_open(&session, options))
    return GLEN_INTERNAL;
  glen_target *target = cl_target(&session);
  const char *path = options->files.items[0];
  const glen_program *program =
      target ? glen_program_load_at(session.glen, target, path, NULL, 0) : NULL;
  bool chosen = program && cl_choose_prepacked(&session, program);
  glen_code_options code = {.size = sizeof code,
                            .strict_fp = options->strict_fp,
                            .prepack = session.prepack,
                            .n_prepack = session.n_prepack,
                            .keys = (uint32_t)options->keys};
  const char *text = chosen ? glen_tiling(session.glen, program, target, &code,
                                          options->sizes.items,
                                          options->sizes.n, options->json)
                            : NULL;
  if (text)
    fputs(text, stdout);
  return cl_close(&session, text ? GLEN_OK : cl_failed(&session));
}
