/* SPDX-License-Identifier: MIT */
/* cmd_run.c - `glen run`: compile with cc, load, run on .npy or seeded input;
 * or interpret.  --check does both and compares. */
#include "cli/commands.h"
#include "cli/cli_profile.h"
#include "cli/cli_session.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

bool
cl_load_inputs(cl_session *session, glen_tensors *inputs) {
  const cl_list *list = &session->options->inputs;
  for (uint32_t k = 0; k < list->n; k++) {
    const char *item = list->items[k], *equals = strchr(item, '=');
    char name[256];
    if (equals && (size_t)(equals - item) < sizeof name) {
      memcpy(name, item, (size_t)(equals - item));
      name[equals - item] = '\0';
    }
    if (!glen_input_load(session->glen, inputs, equals ? name : NULL,
                         equals ? equals + 1 : item))
      return false;
  }
  return true;
}

/* What a run gave beside its outputs. */
typedef struct measured {
  double seconds; /* NaN: not compiled */
  glen_profile profile;
} measured;

/* general: the code for all sizes, or NULL. */
static glen_tensors *
build_and_run(cl_session *session, const glen_loops *general,
              const glen_loops *loops, const glen_tensors *inputs,
              measured *out) {
  const cl_options *o = session->options;
  glen_build_options build = {
      .cc = o->cc,
      .flags = o->cc_flags.items,
      .n_flags = o->cc_flags.n,
      .sanitize = o->sanitize,
      .keep = o->keep,
      .threads = o->omp_threads > 1024 ? 1024 : (uint32_t)o->omp_threads,
      .repeats = o->repeats > 1000000 ? 1000000 : (uint32_t)o->repeats,
      .profile = o->profile ? &out->profile : NULL,
  };
  return glen_build_and_run_at(session->glen, general, loops, inputs, &build,
                               &out->seconds);
}

/* The code for all sizes, called with those that were given. */
static glen_tensors *
execute_at_sizes(cl_session *session, const cl_explored *e,
                 const glen_tensors *inputs, measured *out) {
  const cl_options *o = session->options;
  glen_loops *at = glen_lower(session->glen, e->input, e->target, o->strict_fp);
  glen_program *open = at ? glen_program_load_at(session->glen, e->target,
                                                 o->files.items[0], NULL, 0)
                          : NULL;
  glen_loops *general = open ? cl_lower(session, open, e->target, NULL) : NULL;
  glen_tensors *outputs =
      general ? build_and_run(session, general, at, inputs, out) : NULL;
  glen_loops_free(general);
  glen_loops_free(at);
  return outputs;
}

static glen_tensors *
execute(cl_session *session, const cl_explored *e, const glen_tensors *inputs,
        measured *out) {
  const cl_options *o = session->options;
  if (o->interpret)
    return glen_interpret(session->glen, e->program, inputs);
  if (o->sizes.n)
    return execute_at_sizes(session, e, inputs, out);
  glen_loops *loops = cl_lower(session, e->program, e->target, NULL);
  if (!loops)
    return NULL;
  glen_tensors *outputs = build_and_run(session, NULL, loops, inputs, out);
  glen_loops_free(loops);
  return outputs;
}

static bool
save_outputs(cl_session *session, const glen_tensors *outputs) {
  const char *path = session->options->output;
  uint32_t n = glen_tensors_count(outputs);
  if (!path)
    return true;
  if (n == 1)
    return glen_tensor_save(session->glen, outputs, 0, path);
  for (uint32_t k = 0; k < n; k++) {
    char each[4096];
    size_t stem = strlen(path);
    if (stem > 4 && !strcmp(path + stem - 4, ".npy"))
      stem -= 4;
    snprintf(each, sizeof each, "%.*s.%s.npy", (int)stem, path,
             glen_tensor_name(outputs, k));
    if (!glen_tensor_save(session->glen, outputs, k, each))
      return false;
  }
  return true;
}

static void
print_json(cl_session *session, const glen_tensors *outputs,
           const measured *m) {
  printf("{\"schema\":1,\"outputs\":[");
  for (uint32_t k = 0; k < glen_tensors_count(outputs); k++) {
    printf("%s{\"name\":", k ? "," : "");
    cl_print_json_text(glen_tensor_name(outputs, k));
    printf(",\"hash\":\"%016" PRIx64 "\"}", glen_tensor_hash(outputs, k));
  }
  printf("]");
  if (!isnan(m->seconds) && session->options->repeats > 1)
    printf(",\"seconds\":%.9g", m->seconds);
  if (session->options->profile)
    cl_print_profile_json(&m->profile);
  if (session->tuned)
    printf(",\"tune\":%s", session->tuned);
  printf("}\n");
}

static void
print_outputs(cl_session *session, const glen_tensors *outputs,
              const measured *m) {
  const cl_options *o = session->options;
  uint32_t most = o->print_limit > 1000000 ? 1000000 : (uint32_t)o->print_limit;
  if (o->json) {
    print_json(session, outputs, m);
    return;
  }
  for (uint32_t k = 0; k < glen_tensors_count(outputs); k++)
    printf("%s: %s\n", glen_tensor_name(outputs, k),
           glen_tensor_text(session->glen, outputs, k, most));
  if (!isnan(m->seconds) && o->repeats > 1)
    printf("time: %.6g s, the fastest of %" PRIu64 "\n", m->seconds,
           o->repeats);
  if (o->profile)
    cl_print_profile(&m->profile);
}

static bool
save_chart(cl_session *session, const measured *m) {
  const cl_options *o = session->options;
  return !o->flame || cl_write_flame(session, &m->profile, o->flame);
}

static void
note_equal(cl_session *session, const glen_comparison *c) {
  if (c->rounding)
    cl_note(session,
            "equal to the interpreter (largest difference %.3g), %" PRId64
            " elements only up to rounding, to which they are sensitive\n",
            c->max_abs, c->rounding);
  else
    cl_note(session, "equal to the interpreter (largest difference %.3g)\n",
            c->max_abs);
}

/* Is what differs beyond the tolerance ill-conditioned?  Both sides round. */
static bool
is_rounding(cl_session *session, const glen_program *program,
            const glen_tensors *inputs, const glen_tensors *expected,
            const glen_tensors *outputs, glen_comparison *c) {
  glen_tensors *bounds = glen_rounding_bounds(session->glen, program, inputs);
  bool equal = bounds && glen_tensors_compare_within(
                             expected, outputs, session->options->tolerance,
                             bounds, bounds, c);
  glen_tensors_free(bounds);
  return equal;
}

/* With inputs, the program is one of terms. */
int
cl_compare(cl_session *session, const glen_program *program,
           const glen_tensors *inputs, glen_tensors *expected,
           const glen_tensors *outputs) {
  glen_comparison c;
  if (!expected)
    return cl_failed(session);
  bool equal =
      glen_tensors_compare(expected, outputs, session->options->tolerance,
                           &c) ||
      (inputs && is_rounding(session, program, inputs, expected, outputs, &c));
  glen_tensors_free(expected);
  if (equal) {
    note_equal(session, &c);
    return GLEN_OK;
  }
  fprintf(stderr,
          "glen: mismatch: element %" PRId64 " of %s is %.9g, the interpreter "
          "says %.9g (%" PRId64 " %s)\n",
          c.index, glen_output_name(program, c.output), c.b, c.a,
          CL_COUNTED_AS(c.differing, "element differs", "elements differ"));
  return GLEN_REFUTED;
}

/* Compares with the interpreter on the program as it was written, so that
 * rules and code generation are both under test. */
static int
compare(cl_session *session, const cl_explored *e, const glen_tensors *inputs,
        const glen_tensors *outputs) {
  glen_tensors *expected = glen_interpret(session->glen, e->input, inputs);
  return cl_compare(session, e->input, inputs, expected, outputs);
}

static int
run(cl_session *session) {
  cl_explored e;
  measured m = {.seconds = NAN};
  if (!cl_explore(session, &e))
    return cl_failed(session);
  glen_tensors *inputs =
      glen_inputs_new(session->glen, e.input, session->options->seed);
  if (!inputs || !cl_load_inputs(session, inputs))
    return cl_failed(session);
  glen_tensors *outputs = execute(session, &e, inputs, &m);
  if (!outputs)
    return cl_failed(session);
  if (session->options->check) {
    int code = compare(session, &e, inputs, outputs);
    if (code)
      return code;
  }
  if (!save_outputs(session, outputs) || !save_chart(session, &m))
    return cl_failed(session);
  print_outputs(session, outputs, &m);
  glen_tensors_free(outputs);
  glen_tensors_free(inputs);
  return cl_explored_code(session, &e);
}

/* Loops in their text form, against the loops without the script. */
static int
check_loops(cl_session *session, const char *path, const glen_program *program,
            const glen_tensors *inputs, const glen_tensors *outputs) {
  glen_loops *plain = cl_read_loops(session, path, true);
  if (!plain)
    return cl_failed(session);
  return cl_compare(session, program, NULL,
                    glen_loops_interpret(session->glen, plain, inputs),
                    outputs);
}

/* The code for all sizes, called with those that were given. */
static glen_tensors *
run_at_sizes(cl_session *session, const char *path, const glen_loops *at,
             const glen_tensors *inputs, measured *out) {
  glen_loops *general = cl_load_loops(session, path, false);
  return general ? build_and_run(session, general, at, inputs, out) : NULL;
}

static glen_tensors *
execute_loops(cl_session *session, const char *path, const glen_loops *loops,
              const glen_tensors *inputs, measured *out) {
  if (session->options->interpret)
    return glen_loops_interpret(session->glen, loops, inputs);
  return session->options->sizes.n
             ? run_at_sizes(session, path, loops, inputs, out)
             : build_and_run(session, NULL, loops, inputs, out);
}

static int
run_loops(cl_session *session, const char *path) {
  const cl_options *o = session->options;
  measured m = {.seconds = NAN};
  glen_loops *loops = o->sizes.n && !o->interpret
                          ? cl_read_loops(session, path, true)
                          : cl_load_loops(session, path, true);
  const glen_program *program =
      loops ? glen_loops_program(session->glen, loops) : NULL;
  glen_tensors *inputs =
      program ? glen_inputs_new(session->glen, program, o->seed) : NULL;
  if (!inputs || !cl_load_inputs(session, inputs))
    return cl_failed(session);
  glen_tensors *outputs = execute_loops(session, path, loops, inputs, &m);
  if (!outputs)
    return cl_failed(session);
  int code =
      o->check ? check_loops(session, path, program, inputs, outputs) : GLEN_OK;
  if (code)
    return code;
  if (!save_outputs(session, outputs) || !save_chart(session, &m))
    return cl_failed(session);
  print_outputs(session, outputs, &m);
  return GLEN_OK;
}

/* Steps are those of one variant of compiled code. */
static int
refuse_profile(const cl_options *o) {
  const char *what = o->interpret ? "--interpret"
                     : o->sizes.n ? "--size"
                     : o->dispatch && strcmp(o->dispatch, "none") != 0
                         ? "--dispatch"
                         : NULL;
  if (o->flame && !o->profile)
    fputs(
        "glen: --flame draws what --profile measures, so it needs --profile\n",
        stderr);
  else if (o->profile && what)
    fprintf(stderr, "glen: %s cannot be combined with --profile\n", what);
  else
    return GLEN_OK;
  return GLEN_USAGE;
}

int
cl_run(const cl_options *options) {
  cl_session session;
  int refused = refuse_profile(options);
  if (refused)
    return refused;
  if (!cl_open(&session, options))
    return GLEN_INTERNAL;
  const char *path = options->files.items[0];
  int code = cl_is_loops(path) ? run_loops(&session, path) : run(&session);
  if (!code && session.wrong)
    code = GLEN_REFUTED;
  return cl_close(&session, code);
}
