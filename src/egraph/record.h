/* record.h - matches looked up ahead, as they wait for their turn; private.
 *
 * A record holds up to EG_BATCH matches of one rule, in their order, and tells
 * which are known: their right sides are there already, in the classes they
 * shall be in.  Applying such a match does nothing, as long as the classes that
 * its right sides name are canonical. */
#ifndef EGRAPH_RECORD_H
#define EGRAPH_RECORD_H

#include "egraph/runner.h"

typedef struct eg_record {
  uint64_t unions; /* of the graph, when the matches were looked up */
  uint32_t length; /* words it takes */
  uint32_t n, n_known;
  uint32_t none;
  uint8_t known[EG_BATCH]; /* 1 or 0 */
  /* The matches, then columns of n words: classes of inner nodes of right
   * sides. */
  uint32_t words[];
} eg_record;

enum { EG_RECORD_HEAD = sizeof(eg_record) / sizeof(uint32_t) };

/* Some matches of a record: those from `from` on. */
typedef struct eg_piece {
  const eg_record *record;
  uint32_t from, n;
} eg_piece;

/* Copies all matches of a piece, or those that are not known or may not do
 * nothing any more; returns how many. */
uint32_t eg_piece_rest(const eg_runner *, uint32_t rule, const eg_piece *,
                       bool all, uint32_t *to);

#endif
