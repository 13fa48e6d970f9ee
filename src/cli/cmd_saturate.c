/* SPDX-License-Identifier: MIT */
/* cmd_saturate.c - `glen saturate`: explore, extract, report. */
#include "cli/commands.h"
#include "cli/cli_session.h"

#include <string.h>

static bool
write_program(cl_session *session, const cl_explored *e) {
  return cl_write(session, session->options->output,
                  glen_program_text(session->glen, e->program, false));
}

/* Loops are shown where the program can be lowered: those that `glen compile`
 * writes. */
static bool
write_html(cl_session *session, const cl_explored *e) {
  const char *path = session->options->output;
  glen_code_options code;
  glen_scheduled done;
  glen_code_defaults(&code);
  glen_loops *loops =
      glen_lower_scheduled(session->glen, e->program, e->target, &code, &done);
  const char *page = cl_html(session, e, loops);
  glen_loops_free(loops);
  return page && cl_write(session, path ? path : "-", page);
}

static bool
wants_proof(const cl_options *o) {
  return !strcmp(o->form, "proof");
}

static bool
write_proof(cl_session *session, const cl_explored *e) {
  const char *path = session->options->output;
  const char *text = glen_result_proof(session->glen, e->result);
  return text && cl_write(session, path ? path : "-", text);
}

/* A page or a proof on stdout stands there alone. */
static bool
report(cl_session *session, const cl_explored *e) {
  const cl_options *o = session->options;
  const glen_report what = {
      .json = o->json, .seconds = o->timings, .stats = o->stats};
  bool html = cl_wants_html(o);
  bool page_only = (html || wants_proof(o)) && cl_on_stdout(o);
  if (!page_only)
    fputs(glen_result_report(session->glen, e->result, &what), stdout);
  if (wants_proof(o))
    return write_proof(session, e);
  return html ? write_html(session, e)
              : !o->output || write_program(session, e);
}

int
cl_saturate(const cl_options *options) {
  cl_session session;
  cl_explored e;
  int code;
  if (!cl_open(&session, options))
    return GLEN_INTERNAL;
  if (cl_explore(&session, &e) && report(&session, &e))
    code = cl_explored_code(&session, &e);
  else
    code = cl_failed(&session);
  return cl_close(&session, code);
}
