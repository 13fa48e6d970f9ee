/* SPDX-License-Identifier: MIT */
/* cmd_map.c - `glen map`: what went to which instruction, and what did not. */
#include "cli/commands.h"
#include "cli/cli_session.h"

int
cl_map(const cl_options *options) {
  cl_session session;
  glen_saturate_options how;
  glen_mapped out;
  if (!cl_open(&session, options))
    return GLEN_INTERNAL;
  glen_context *glen = session.glen;
  glen_target *target = cl_target(&session);
  glen_rules *rules = target ? cl_rules(&session, target) : NULL;
  glen_program *p =
      rules ? cl_load_program(&session, target, options->files.items[0]) : NULL;
  if (p && !cl_choose_prepacked(&session, p)) /* as the compiler does */
    p = NULL;
  cl_saturate_options(&session, &how);
  /* Whether a rule led to what was chosen is told from the steps there. */
  how.contribution = options->why_not != NULL;
  glen_result *r = p ? glen_saturate(glen, p, rules, target, &how) : NULL;
  int code = GLEN_OK;
  bool told = r && (options->all ? glen_map_all(glen, r, &out)
                                 : glen_map(glen, r, options->why_not, &out));
  if (!told ||
      !cl_write(&session, options->output ? options->output : "-",
                options->json ? out.json : out.text) ||
      (options->required.n &&
       !glen_map_require(glen, r, options->required.items,
                         options->required.n)))
    code = cl_failed(&session);
  glen_result_free(r);
  return cl_close(&session, code);
}
