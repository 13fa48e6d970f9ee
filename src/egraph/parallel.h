/* parallel.h - rules searched ahead on several threads; private. */
#ifndef EGRAPH_PARALLEL_H
#define EGRAPH_PARALLEL_H

#include "egraph/runner.h"

/* Tells which rules this iteration will search, in order, the index built and
 * pinned.  Does nothing with one thread or where there is little to search. */
void eg_ahead_begin(eg_runner *, const uint32_t *rules, uint32_t n);
/* As eg_search_with.  *skew: seconds of this rule's search that were spent in
 * an earlier call, less those this call spent for later rules. */
uint64_t eg_ahead_search(eg_runner *, uint32_t rule, const eg_search_options *,
                         eg_sink *, double *skew);
/* How many matches the search of a rule has in all, if that is known before
 * they are all handed on; or that they are more than its limit. */
bool eg_ahead_knows(const eg_runner *, uint32_t rule, uint64_t *count);
/* As eg_search_with without a sink, the index built and pinned; of what is
 * beyond the limit it counts some. */
uint64_t eg_ahead_count(eg_runner *, uint32_t rule, const eg_search_options *);
void eg_ahead_end(eg_runner *);  /* of an iteration */
void eg_ahead_done(eg_runner *); /* of a run: ends the threads */

#endif
