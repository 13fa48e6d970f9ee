/* worth.h - whether searching ahead on several threads is worth it; private. */
#ifndef EGRAPH_WORTH_H
#define EGRAPH_WORTH_H

#include "egraph/jobs.h"

void eg_worth_init(eg_ahead *);
/* Before a window of the plan is filled: shall its jobs wait for their turn
 * instead of being run ahead? */
bool eg_worth_waiting(eg_ahead *);
/* Is the next window likely to be run ahead? */
bool eg_worth_ahead_next(const eg_ahead *);

#endif
