/* SPDX-License-Identifier: MIT */
/* progress.h - one status line on stderr while a saturation runs, on a TTY. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/cli_session.h"

typedef struct cl_progress {
  bool active;
  double shown; /* seconds when the line was last drawn */
} cl_progress;

void cl_progress_start(cl_progress *, const cl_session *,
                       glen_saturate_options *);
void cl_progress_end(cl_progress *); /* clears the line */

#endif
