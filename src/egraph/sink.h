/* SPDX-License-Identifier: MIT */
/* sink.h - where a search writes its matches; private, inline.
 *
 * A match is `stride` words: root class, root node, then the pattern's slots.
 * The search writes them one behind the other, with no call a match, and asks
 * for room when the next would not fit. */
#ifndef EGRAPH_SINK_H
#define EGRAPH_SINK_H

#include <stdbool.h>
#include <stdint.h>

enum {
  EG_MATCH_HEAD = 2, /* words before the slots */
  EG_SINK_SLACK = 4  /* words behind a match that writing it may overwrite */
};

typedef struct eg_sink {
  uint32_t *at;   /* of the next match: there is room for it, and slack */
  uint32_t *last; /* the last place with room for one */
  uint32_t stride;
  bool (*full)(void *ctx); /* at > last: makes room; false ends the search */
  void *ctx;
} eg_sink;

/* The matches from `block` on, for which it has `words` words, slack included;
 * none has been written. */
static inline void
eg_sink_set(eg_sink *s, uint32_t *block, uint64_t words) {
  s->at = block;
  s->last = block + (words - EG_SINK_SLACK - s->stride);
}

/* After a match was written at `at`. */
static inline bool
eg_sink_next(eg_sink *s) {
  s->at += s->stride;
  return s->at <= s->last || s->full(s->ctx);
}

#endif
