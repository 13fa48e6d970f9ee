/* SPDX-License-Identifier: MIT */
/* cmd_explain.c - `glen explain`: why two programs are equal, or a program and
 * what is extracted for it. */
#include "cli/commands.h"
#include "cli/cli_session.h"

#include <string.h>

static glen_explain_options
how(const cl_options *o) {
  glen_explain_options out;
  glen_explain_defaults(&out);
  out.max_steps =
      o->max_steps > UINT32_MAX ? UINT32_MAX : (uint32_t)o->max_steps;
  out.all_steps = o->verbose;
  return out;
}

static bool
explain_two(cl_session *session, const glen_target *target,
            const glen_rules *rules, const glen_program *a,
            const glen_program *b, glen_explained *out) {
  glen_saturate_options options;
  const glen_explain_options chains = how(session->options);
  if (!glen_programs_agree(session->glen, a, b))
    return false;
  cl_saturate_options(session, &options);
  return glen_explain(session->glen, a, b, rules, target, &options, &chains,
                      out);
}

static bool
explain_one(cl_session *session, const glen_target *target,
            const glen_rules *rules, const glen_program *a,
            glen_explained *out) {
  glen_saturate_options options;
  const glen_explain_options chains = how(session->options);
  cl_saturate_options(session, &options);
  options.explain = true;
  options.regions = GLEN_REGIONS_WHOLE;
  glen_result *r = glen_saturate(session->glen, a, rules, target, &options);
  bool ok = r && glen_result_explain(session->glen, r, &chains, out);
  glen_result_free(r);
  return ok;
}

static int
load(cl_session *session, const glen_target *target, glen_program **a,
     glen_program **b) {
  const cl_options *o = session->options;
  *b = NULL;
  if (o->files.n == 2)
    return cl_load_pair(session, target, a, b);
  *a = cl_load_program(session, target, o->files.items[0]);
  return *a ? GLEN_OK : cl_failed(session);
}

static int
explain(cl_session *session) {
  const cl_options *o = session->options;
  glen_explained out;
  glen_program *a, *b;
  glen_target *target = cl_target(session);
  glen_rules *rules = target ? cl_rules(session, target) : NULL;
  int code = rules ? load(session, target, &a, &b) : cl_failed(session);
  if (code)
    return code;
  if (!(b ? explain_two(session, target, rules, a, b, &out)
          : explain_one(session, target, rules, a, &out)))
    return cl_failed(session);
  fputs(o->json ? out.json : out.text, stdout);
  if (o->timings)
    cl_note(session, "explained in %.3f s\n", out.seconds);
  return !out.equal ? GLEN_BAD_INPUT : out.checked ? GLEN_OK : GLEN_INTERNAL;
}

int
cl_explain(const cl_options *options) {
  cl_session session;
  if (options->why_not)
    return cl_map(options);
  if (!cl_open(&session, options))
    return GLEN_INTERNAL;
  return cl_close(&session, explain(&session));
}
