/* SPDX-License-Identifier: MIT */
/* history.h - the journal read backwards: who was equal when, and why; private.
 *
 * Rows are united in the order of events without compressing paths, so one
 * forest answers for every time (log n steps a question).  Beside it stand all
 * events as a graph over rows, and the rows of equal keys as chains. */
#ifndef EGRAPH_HISTORY_H
#define EGRAPH_HISTORY_H

#include "egraph/egraph_explain.h"
#include "egraph/journal.h"

typedef struct eg_history {
  const eg_graph *g;
  const eg_journal *j;
  const eg_shape *shapes;
  uint32_t n_shapes, n_rows, n_events;
  uint32_t *first;         /* class -> the row that made it */
  uint32_t *ends;          /* 2 an event: the rows it makes equal */
  uint32_t *up, *when;     /* forest over rows; the event of the link up */
  uint32_t *start, *edges; /* row -> its events */
  uint32_t *heads, *next;  /* rows of one key, oldest first */
  uint32_t mask;           /* of heads */
  /* Scratch of a search. */
  uint32_t *dist, *from; /* by row; the event it was reached by */
  BS_VEC(uint32_t) seen;
  BS_VEC(uint32_t) queue[3];
} eg_history;

void eg_history_init(eg_history *, const eg_graph *, const eg_shape *,
                     uint32_t n_shapes);
void eg_history_done(eg_history *);

/* The row that is the j-th child of a row as it was added. */
uint32_t eg_history_kid(const eg_history *, uint32_t row, uint32_t j);
static inline uint32_t
eg_history_arity(const eg_history *h, uint32_t row) {
  return eg_head_of(h->g, h->g->rows[row].head)->arity;
}
static inline uint32_t
eg_history_class(const eg_history *h, uint32_t row) {
  return eg_root(h->g, h->g->rows[row].cls);
}
/* The event after which two rows are equal; 0 when they are one; EG_NONE when
 * they are not equal.  Else the number of events needed. */
uint32_t eg_history_since(const eg_history *, uint32_t a, uint32_t b);
/* The first row with this head and children of these classes; EG_NONE. */
uint32_t eg_history_find(const eg_history *, uint32_t head,
                         const uint32_t *classes, uint32_t n);
/* The next row with the same head and children of the same classes. */
uint32_t eg_history_next(const eg_history *, uint32_t row);
bool eg_history_congruent(const eg_history *, uint32_t a, uint32_t b);

/* A way from row a to row b over events before `bound`: event numbers, each
 * with bit EG_BACK set when it is walked from its second end.  `shortest`: by
 * a search over all events, else in the forest.  False: not equal by then. */
#define EG_BACK 0x80000000u
typedef struct eg_way {
  uint32_t *data;
  uint32_t len, cap;
} eg_way;
bool eg_history_way(eg_history *, uint32_t a, uint32_t b, uint32_t bound,
                    bool shortest, eg_way *out);

/* Words of a match. */
static inline const uint32_t *
eg_match_at(const eg_history *h, uint32_t place) {
  return h->j->matches.data + place;
}
static inline bool
eg_is_rule(const eg_history *h, const eg_event *e) {
  return e->why < h->j->matches.len;
}

#endif
