/* SPDX-License-Identifier: MIT */
/* journal.h - what is written down while a graph grows, so that equalities can
 * be explained later; private to this folder.
 *
 * A graph without explanations has no journal: every hook is a branch on one
 * pointer.  The journal only appends; all thinking is done in proof.c.
 *
 * A row is the term it was added as: its children are the rows that made the
 * classes it was added over.  An event says that two rows are equal, and why;
 * its number is its time.  Everything an event rests on was equal before it. */
#ifndef EGRAPH_JOURNAL_H
#define EGRAPH_JOURNAL_H

#include "egraph/graph.h"

/* A row as it was added; of a wide row kid[0] is the place in the pool. */
typedef struct eg_was {
  eg_class kid[2];
  uint32_t cls;
} eg_was;

/* why: the place of a match; then `a` is the row of the right side (EG_NONE:
 * the right side is a variable) and b the number of the result.  Else
 * EG_BY_CONGRUENCE over two rows, or EG_BY_CLIENT over two classes. */
typedef struct eg_event {
  uint32_t a, b, why;
} eg_event;

/* A match in the journal: these words, then the slots. */
enum { EG_M_RULE, EG_M_SLOTS, EG_M_ROOT, EG_M_NODE, EG_M_HEAD };

enum { EG_AGAIN = 1u << 12 }; /* a power of two */

typedef struct eg_journal {
  BS_VEC(eg_was) was; /* by row */
  BS_VEC(eg_class) pool;
  BS_VEC(eg_event) events;
  BS_VEC(uint32_t) matches;

  /* The batch being built, and where its matches stand in `matches`. */
  const uint32_t *ready;
  uint32_t stride, n_slots, n_ready, rule, result;
  BS_VEC(uint32_t) place;

  uint32_t row, other; /* what the next union is about: rows, or classes */
  uint32_t n_again;    /* events that said nothing new */
  uint64_t *again;     /* what was said last, by hash */
} eg_journal;

eg_journal *eg_journal_new(bs_heap *);
void eg_journal_free(bs_heap *, eg_journal *);
size_t eg_journal_bytes(const eg_journal *);
/* Room for one row of `pool` children and so many events. */
void eg_journal_room(eg_graph *, uint32_t pool, uint64_t events);
/* The row added last; `into` as for eg_add_key. */
void eg_journal_row(eg_graph *, const eg_class *kids, uint32_t n, uint32_t cls,
                    uint32_t into, eg_reason);
/* Two classes become one. */
void eg_journal_union(eg_graph *, eg_reason);
/* A rule said what was known, of a row that it did not just add. */
void eg_journal_again(eg_graph *, eg_reason);
/* Right sides are built for n matches; a reason's `match` counts them. */
void eg_journal_batch(eg_graph *, uint32_t rule, const uint32_t *ready,
                      uint32_t stride, uint32_t n_slots, uint32_t n);
void eg_journal_batch_over(eg_graph *);

#endif
