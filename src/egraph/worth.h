/* worth.h - whether searching ahead on several threads is worth it; private. */
#ifndef EGRAPH_WORTH_H
#define EGRAPH_WORTH_H

#include "egraph/jobs.h"

void eg_worth_init(eg_ahead *);
/* Before a window is filled: shall its jobs wait for their turn instead? */
bool eg_worth_waiting(eg_ahead *);
/* Runs a window's jobs from `at` on; sum: of their seconds. */
void eg_worth_run(eg_ahead *, double *sum);

#endif
