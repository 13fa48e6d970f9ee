/* SPDX-License-Identifier: MIT */
/* cmd_simulate.c - `glen simulate`: a program on the machine of its target. */
#include "cli/commands.h"
#include "cli/cli_session.h"

typedef struct job {
  cl_session session;
  cl_explored explored; /* of a program of terms */
  bool terms;
  glen_loops *loops;
  glen_tensors *inputs;
  glen_simulation result;
} job;

static bool
load(job *j) {
  cl_session *s = &j->session;
  const char *path = s->options->files.items[0];
  const glen_program *program;
  j->terms = !cl_is_loops(path);
  if (j->terms && !cl_explore(s, &j->explored))
    return false;
  j->loops = j->terms ? glen_lower(s->glen, j->explored.program,
                                   j->explored.target, s->options->strict_fp)
                      : cl_load_loops(s, path, true);
  if (!j->loops)
    return false;
  program =
      j->terms ? j->explored.input : glen_loops_program(s->glen, j->loops);
  j->inputs =
      program ? glen_inputs_new(s->glen, program, s->options->seed) : NULL;
  return j->inputs && cl_load_inputs(s, j->inputs);
}

static void
print_result(const job *j) {
  const cl_options *o = j->session.options;
  if (o->json) {
    printf("{\"schema\":1,\"simulation\":%s", j->result.json);
    if (o->trace) {
      printf(",\"trace\":");
      cl_print_json_text(j->result.trace);
    }
    puts("}");
    return;
  }
  if (o->trace)
    fputs(j->result.trace, stdout);
  fputs(j->result.text, stdout);
}

/* Against the interpreter on the program as it was written. */
static int
compare(job *j) {
  cl_session *s = &j->session;
  const glen_program *p = j->explored.input;
  if (!j->terms)
    return GLEN_OK;
  return cl_compare(s, p, j->inputs, glen_interpret(s->glen, p, j->inputs),
                    j->result.outputs);
}

static int
simulate(job *j) {
  cl_session *s = &j->session;
  bool done = load(j) && glen_simulate(s->glen, j->loops, j->inputs,
                                       s->options->trace, &j->result);
  if (!done) {
    fputs(s->options->trace ? j->result.trace : "", stdout);
    return cl_failed(s);
  }
  int code = compare(j);
  print_result(j);
  return code || !j->terms ? code : cl_explored_code(s, &j->explored);
}

int
cl_simulate(const cl_options *options) {
  job j = {.result = {.trace = ""}};
  if (!cl_open(&j.session, options))
    return GLEN_INTERNAL;
  return cl_close(&j.session, simulate(&j));
}
