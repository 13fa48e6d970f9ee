/* SPDX-License-Identifier: MIT */
/* progress.c - see progress.h.  Nothing is drawn when stderr is no terminal,
 * so logs and tests see no progress. */
#include "cli/progress.h"

#include <math.h>
#include <unistd.h>

static void
draw(void *ctx, const glen_progress *p) {
  cl_progress *progress = ctx;
  if (p->seconds - progress->shown < 0.05 && p->iteration > 1)
    return;
  progress->shown = p->seconds;
  fprintf(stderr, "\r\033[Kiteration %u: %u nodes, %u classes", p->iteration,
          p->nodes, p->classes);
  if (!isnan(p->best_cost))
    fprintf(stderr, ", best cost %.4g", p->best_cost);
  if (p->seconds > 0)
    fprintf(stderr, ", %.3g nodes/s", p->nodes / p->seconds);
  fflush(stderr);
}

void
cl_progress_start(cl_progress *progress, const cl_session *session,
                  glen_saturate_options *options) {
  progress->active = !session->options->quiet && isatty(STDERR_FILENO);
  progress->shown = 0;
  if (!progress->active)
    return;
  options->progress = draw;
  options->progress_ctx = progress;
  options->progress_cost = true;
}

void
cl_progress_end(cl_progress *progress) {
  if (progress->active)
    fputs("\r\033[K", stderr);
}
