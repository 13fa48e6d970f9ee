/* SPDX-License-Identifier: MIT */
/* cli_html.c - the HTML report of an exploration.  What cannot be made - a
 * chain of rules, loops - is left out of it. */
#include "cli/cli_emit.h"
#include "cli/cli_session.h"

#include <string.h>

enum { CHAIN_STEPS = 60 }; /* of each output, on the page */

bool
cl_wants_html(const cl_options *o) {
  return cl_has_word(o->emit, "html") || !strcmp(o->form, "html");
}

const char *
cl_html(cl_session *session, const cl_explored *e, const glen_loops *loops) {
  glen_context *glen = session->glen;
  glen_explain_options chains;
  glen_explained explained;
  glen_html what = {.title = session->options->files.items[0]};
  glen_explain_defaults(&chains);
  chains.json_steps = CHAIN_STEPS;
  if (glen_result_explain(glen, e->result, &chains, &explained))
    what.explained = explained.json;
  if (loops)
    what.loops = glen_loops_text(glen, loops);
  return glen_result_html(glen, e->result, &what);
}
