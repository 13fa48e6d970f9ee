/* SPDX-License-Identifier: MIT */
/* match_buffer.h - the matches of a rule that wait to be applied; private. */
#ifndef EGRAPH_MATCH_BUFFER_H
#define EGRAPH_MATCH_BUFFER_H

#include "egraph/runner.h"
#include "egraph/sink.h"

typedef struct eg_match_buffer {
  eg_runner *r;
  uint32_t rule;
  eg_sink sink;
  bool hold;        /* apply nothing: there may be too many */
  bool banned;      /* there are */
  uint64_t applied; /* matches so far */
  double apply_s, restore_s;
} eg_match_buffer;

/* The sink is open for matches of the rule.  With `hold` none is applied until
 * it is known that they are not too many. */
void eg_match_buffer_open(eg_match_buffer *, eg_runner *, uint32_t rule,
                          bool hold);
/* Applies what waits. */
void eg_match_buffer_flush(eg_match_buffer *);

#endif
