/* SPDX-License-Identifier: MIT */
/* filter.h - candidates that cannot match, left out early; private. */
#ifndef EGRAPH_FILTER_H
#define EGRAPH_FILTER_H

#include "egraph/pattern_code.h"
#include "egraph/segments.h"

/* What a root's child must be: a known class, the first child again, in a set
 * of classes, or a class that has a symbol. */
typedef struct eg_test {
  enum { EG_TEST_IS, EG_TEST_SAME, EG_TEST_IN, EG_TEST_HAS } kind;
  uint32_t kid, is;
  uint64_t *set;   /* IN: a bit a class */
  uint32_t symbol; /* HAS */
} eg_test;

enum { EG_TESTS = 4 };

typedef struct eg_filter {
  eg_test tests[EG_TESTS];
  uint32_t n;
} eg_filter;

/* The filter of a pattern's first atom, where that is a scan, ground terms in
 * their registers; `symbols`: of each atom.  False when nothing can match. */
bool eg_filter_init(eg_filter *, bs_heap *, const eg_graph *,
                    const eg_pattern *, const uint32_t *symbols,
                    const uint32_t *regs);
void eg_filter_done(eg_filter *, bs_heap *);
/* The greatest end in (at, end] whose last entry passes, or `at`. */
uint32_t eg_filter_skip(const eg_filter *, const eg_index *, uint32_t at,
                        uint32_t end);

/* The tests from `first` on. */
static inline bool
eg_filter_passes(const eg_filter *f, uint32_t first, const eg_index *x,
                 uint32_t i, bool wide) {
  const eg_entries *e = &x->by_symbol;
  for (uint32_t k = first; k < f->n; k++) {
    const eg_test *t = &f->tests[k];
    uint32_t c = eg_entry_kid(e, i, t->kid, wide);
    eg_segment s;
    bool ok = t->kind == EG_TEST_IN     ? t->set[c / 64] >> (c % 64) & 1
              : t->kind == EG_TEST_HAS  ? eg_segment_find(x, c, t->symbol, &s)
              : t->kind == EG_TEST_SAME ? c == eg_entry_kid(e, i, 0, wide)
                                        : c == t->is;
    if (!ok)
      return false;
  }
  return true;
}

/* The entries of a segment by one child, for a level that opens the same
 * segment again and again to compare that child. */
typedef struct eg_chains {
  uint32_t kid;   /* EG_NONE: the level compares none */
  uint32_t start; /* of the segment opened last */
  bool ready;     /* built for it */
  uint32_t shift;
  BS_VEC(uint32_t) heads; /* by hash: the place after the last entry */
  BS_VEC(uint32_t) next;  /* by entry: likewise of the one before */
} eg_chains;

void eg_chains_init(eg_chains *, const eg_pattern *, const eg_atom *);
void eg_chains_done(eg_chains *, bs_heap *);
/* Tells that the segment [start, end) is opened; true when chains serve it. */
bool eg_chains_open(eg_chains *, bs_heap *, const eg_graph *, uint32_t start,
                    uint32_t end);

/* Do chains that are there serve [start, end)? */
static inline bool
eg_chains_ready(const eg_chains *c, uint32_t start, uint32_t end) {
  return c->ready && c->start == start && start < end;
}

static inline uint32_t
eg_chains_head(const eg_chains *c, uint32_t cls) {
  return c->heads.data[(cls * 2654435761u) >> c->shift];
}

#endif
