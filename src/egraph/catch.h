/* SPDX-License-Identifier: MIT */
/* catch.h - a rule's matches between search and application; private. */
#ifndef EGRAPH_CATCH_H
#define EGRAPH_CATCH_H

#include "egraph/runner.h"
#include "egraph/sink.h"

typedef struct eg_catch {
  eg_runner *r;
  uint32_t rule;
  eg_sink sink;
  bool hold;       /* apply nothing: there may be too many */
  bool banned;     /* there are */
  uint64_t caught; /* matches that were applied */
  double apply_s, restore_s;
} eg_catch;

/* The sink is open for matches of the rule.  With `hold` none is applied until
 * it is known that they are not too many. */
void eg_catch_begin(eg_catch *, eg_runner *, uint32_t rule, bool hold);
/* Applies what waits. */
void eg_catch_flush(eg_catch *);

#endif
