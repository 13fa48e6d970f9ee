/* SPDX-License-Identifier: MIT */
/* cmd_tune.c - `--tune N`: strategies measured, the fastest taken.
 *
 * The chosen script is written beside the output, as F.sched for F.c, and
 * replays with --schedule; times are kept in F.tune.json, or where --tune-file
 * says.  Ctrl-C ends the search, not the command: the best so far is used. */
#include "cli/cli_session.h"

#include <string.h>
#include <unistd.h>

static void
draw(void *ctx, const glen_tune_progress *p) {
  (void)ctx;
  fprintf(stderr, "\r\033[Kround %u/%u, %u/%u: %s %s", p->round, p->rounds,
          p->candidate + 1, p->candidates, p->doing, p->name);
  if (p->best > 0)
    fprintf(stderr, ", best %.3g s", p->best);
  fflush(stderr);
}

static uint32_t
at_most(uint64_t n, uint32_t most) {
  return n > most ? most : (uint32_t)n;
}

static void
read_options(const cl_session *session, glen_tune_options *out) {
  const cl_options *o = session->options;
  glen_tune_defaults(out);
  out->build = (glen_build_options){.cc = o->cc,
                                    .flags = o->cc_flags.items,
                                    .n_flags = o->cc_flags.n,
                                    .keep = o->keep,
                                    .threads = at_most(o->omp_threads, 1024)};
  out->candidates = at_most(o->tune, 1000);
  out->rounds = at_most(o->tune_rounds, 1000);
  out->seconds = o->tune_time;
  out->tolerance = o->tolerance;
  out->file = o->tune_file;
  out->program = o->files.items[0];
  out->seed = o->seed;
}

static bool
write_results(cl_session *session, const glen_tuned *tuned) {
  const cl_options *o = session->options;
  char path[4096];
  bool to_file = cl_beside_output(o, ".sched", path, sizeof path);
  session->tuned = tuned->json;
  if (!o->json)
    cl_note(session, "%s", tuned->text);
  return !to_file || cl_write(session, path, tuned->script);
}

bool
cl_tune(cl_session *session, glen_loops *loops) {
  glen_tune_options options;
  glen_tuned tuned;
  char file[4096];
  bool drawn = !session->options->quiet && isatty(STDERR_FILENO);
  read_options(session, &options);
  if (!options.file &&
      cl_beside_output(session->options, ".tune.json", file, sizeof file))
    options.file = file;
  if (drawn)
    options.progress = draw;
  const glen_program *program = glen_loops_program(session->glen, loops);
  glen_tensors *inputs =
      program ? glen_inputs_new(session->glen, program, options.seed) : NULL;
  bool ok = inputs && glen_tune(session->glen, loops, inputs, &options, &tuned);
  glen_tensors_free(inputs);
  if (drawn)
    fputs("\r\033[K", stderr);
  if (!ok)
    return false;
  session->wrong |= tuned.wrong;
  return write_results(session, &tuned);
}
