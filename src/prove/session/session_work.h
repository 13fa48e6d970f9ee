/* SPDX-License-Identifier: MIT */
/* session_work.h - what was done for an answer, counted.
 *
 * Things that were looked at, and no seconds: one question and one seed give
 * the same numbers on every machine, so that an argument which does less or
 * more than it did is seen although its verdict stays. */
#ifndef PROVE_WORK_H
#define PROVE_WORK_H

#include "base/json.h"
#include "base/text.h"

typedef enum pv_work {
  /* for all sizes */
  PV_W_LISTED,  /* combinations, to list forms */
  PV_W_PATHS,   /* of forms, one for each case of their sizes */
  PV_W_CASES,   /* that paths took */
  PV_W_SIZES,   /* numbers over sizes and indices */
  PV_W_FACTS,   /* known of them */
  PV_W_SYSTEMS, /* of inequalities */
  PV_W_SUMS,    /* reductions over open sizes */
  /* samples */
  PV_W_SAMPLES,  /* drawn */
  PV_W_ELEMENTS, /* of these, and ranks */
  PV_W_MATCHES,  /* where the rule applies */
  /* questions about two terms */
  PV_W_QUESTIONS,
  PV_W_VALUES,  /* words of normal forms */
  PV_W_ATOMS,   /* of relations */
  PV_W_ENTRIES, /* of relations */
  PV_W_CIRCUITS,
  PV_W_GATES,
  PV_W_LANDMARKS,
  PV_W_RUNS,
  PV_W_VISITS, /* of elements, by runs */
  PV_W_DOUBTS, /* differences of floats looked into */
  PV_W_COPIES, /* with smaller sizes, held against a proof */
  PV_W_COUNT
} pv_work;

typedef struct pv_counts {
  uint64_t of[PV_W_COUNT];
} pv_counts;

/* NULL: nobody counts. */
static inline void
pv_count(pv_counts *c, pv_work what, uint64_t n) {
  if (c)
    c->of[what] += n;
}

/* "3 paths, 24 runs": those that are not 0. */
void pv_put_counts(bs_text *, const pv_counts *);
/* An object with all of them. */
void pv_json_counts(bs_json *, const char *key, const pv_counts *);

#endif
