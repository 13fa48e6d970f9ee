/* SPDX-License-Identifier: MIT */
/* extract_search.h - the heuristics that find good DAGs, used by `dag` and
 * `exact`. */
#ifndef EXTRACT_SEARCH_H
#define EXTRACT_SEARCH_H

#include "extract/internal.h"

/* greedy.c: greedy with shared subterms counted once, from the tree choices or
 * (NULL) from nothing; a
 * choice for every class that has a term.  False when its budget of work or the
 * time ran out; the choice may (rarely) be cyclic. */
bool ex_greedy(const ex_problem *, ex_watch *, const uint32_t *tree,
               uint32_t *choice);

/* share.c: extracts trees again and again with each node's cost divided by the
 * uses of its class in the last solution; `choice` receives the best DAG found
 * if it is cheaper than *dag.  Starts from and returns choices for every class
 * that has a term, acyclic as a whole. */
void ex_share(const ex_problem *, ex_watch *, uint32_t rounds, uint32_t *choice,
              double *dag);

/* local.c: improves a choice (total and acyclic) by single replacements until
 * none helps or `budget` steps are used.  Returns the DAG cost saved. */
double ex_local(const ex_problem *, ex_watch *, uint64_t budget,
                uint32_t *choice);

/* dag.c: the best DAG all of them find, choices for every class that has a
 * term, and a lower bound.  False when there is none. */
bool ex_heuristic(const ex_problem *, ex_watch *, uint32_t *choice, double *dag,
                  double *bound);

/* What a solution cheaper than `cost` saves at least: the unit all costs are
 * multiples of, if they are, else next to nothing. */
double ex_least_saving(const ex_problem *, double cost);

#endif
