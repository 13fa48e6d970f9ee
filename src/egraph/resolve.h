/* resolve.h - right sides looked up ahead of their turn; private. */
#ifndef EGRAPH_RESOLVE_H
#define EGRAPH_RESOLVE_H

#include "egraph/record.h"

/* Prepares the rules whose matches may be looked up ahead: those without a
 * guard whose right sides are plain, where no one asks where nodes come from.
 */
void eg_resolve_init(eg_runner *);
void eg_resolve_done(eg_runner *);
/* Words of scratch that looking up matches of a rule needs. */
size_t eg_resolve_scratch(const eg_runner *, uint32_t rule);
/* Words that a record of n matches of a rule takes, while it is written. */
size_t eg_resolve_room(const eg_runner *, uint32_t rule, uint32_t n);
/* Looks up the n <= EG_BATCH matches that stand in a record and completes it.
 * The graph is only read, so threads may do this side by side. */
void eg_resolve(const eg_runner *, uint32_t rule, uint32_t *scratch,
                eg_record *);

#endif
