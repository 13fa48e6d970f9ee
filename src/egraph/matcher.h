/* matcher.h - a search's state; private to match.c and search.c. */
#ifndef EGRAPH_MATCHER_H
#define EGRAPH_MATCHER_H

#include "egraph/narrow.h"

typedef struct eg_level {
  uint32_t at, end;     /* candidates left; the last one is next */
  const uint32_t *next; /* or chained: the end after each */
  uint32_t symbol;
  bool fresh; /* something fresh was chosen before this level */
  bool attr;  /* the attribute must be looked at */
  bool plain; /* nothing is compared: every node matches */
} eg_level;

/* How a match is written from a plain entry of the last atom: the words that
 * its children and its class go to, and which of these the root is. */
typedef struct eg_writing {
  uint32_t kid[2], out;
  enum { EG_ROOT_KNOWN, EG_ROOT_OUT, EG_ROOT_KID0, EG_ROOT_KID1 } root;
} eg_writing;

struct eg_matcher {
  bs_heap *heap;
  const eg_graph *g;
  const eg_index *x;
  const eg_pattern *p;
  const eg_search_options *how;
  eg_sink *sink; /* NULL: matches are only counted */
  eg_level *levels;
  eg_chains *chains; /* one a level */
  eg_filter filter;  /* of level 0 */
  uint32_t *symbols; /* one a level */
  uint32_t *regs;
  eg_node root_node;
  eg_writing writing;
  uint64_t count, steps;
  uint32_t since; /* as stamps count */
  uint32_t depth; /* where to go on */
  bool stopped;
  bool ready;  /* something may match */
  bool lent;   /* the filter is another's */
  bool by_bit; /* fresh means recent */
};

/* match.c: opens the first level, all else being ready. */
void eg_matcher_open(eg_matcher *);
/* Goes on until the end of the roots, or until stopped. */
void eg_matcher_walk(eg_matcher *);

#endif
