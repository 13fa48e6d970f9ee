/* share.h - large groups of matches built by several threads; private. */
#ifndef EGRAPH_SHARE_H
#define EGRAPH_SHARE_H

#include "egraph/lookup.h"

typedef struct eg_share eg_share;

/* Room for an iteration's groups, in a run with a crew. */
void eg_share_begin(eg_runner *);
void eg_share_free(eg_runner *);

/* Room that only several threads need; NULL: there is none. */
void *eg_take_room(eg_runner *, void *block, size_t n);

/* Shall a group be shared out?  That depends on the threads: the outcome does
 * not. */
bool eg_share_takes(const eg_runner *, const eg_batch *);

/* A plain step.  There is room for its nodes, for classes and in `equal`. */
void eg_share_step(eg_runner *, const eg_batch *, const eg_code *,
                   uint32_t step);

#endif
