/* SPDX-License-Identifier: MIT */
/* landmark.h - lower bounds by disjunctive landmarks. */
#ifndef EXTRACT_LANDMARK_H
#define EXTRACT_LANDMARK_H

#include "extract/internal.h"

/* The dearest chain that every solution contains; near-linear. */
double ex_chain_bound(const ex_problem *);

/* forced.c: the sum over what every solution contains for want of choice. */
double ex_forced_bound(const ex_problem *);

/* A lower bound on the DAG cost of the roots.  `left` (per node) receives what
 * of each node's cost the bound did not use: any solution costs at least the
 * bound plus what is left of its nodes.  Ends early when the bound is `enough`
 * or after looking at about `visits` nodes. */
double ex_landmarks(const ex_problem *, ex_watch *, double enough,
                    uint64_t visits, double *left);
#define EX_LANDMARK_VISITS ((uint64_t)1 << 26)

/* Landmarks: sets of nodes of which every solution needs one, and prices. */
typedef struct ex_cuts {
  ex_list first, nodes;
  BS_VEC(double) price;
} ex_cuts;

/* Starts from given costs, in `left`; keeps the landmarks if `cuts`. */
double ex_cut_costs(const ex_problem *, ex_watch *, double enough,
                    uint64_t visits, double *left, ex_cuts *cuts);

/* One landmark for each root that the costs do not give for nothing. */
void ex_root_cuts(const ex_problem *, double *cost, ex_cuts *cuts);

/* price.c: the same with the landmarks' prices improved and new landmarks
 * found under them, some rounds. */
double ex_priced_landmarks(const ex_problem *, ex_watch *, double enough,
                           uint64_t visits, uint32_t rounds, double *left);

/* For each node, the least that solutions with it cost beyond the bound. */
void ex_node_bounds(const ex_problem *, const double *left, double *out);

/* count.c: another lower bound, by the number of uses, for problems whose
 * nodes have distinct children.  `goals`: the roots, and perhaps other classes
 * known to be in every solution.  Neither bound is always the better. */
double ex_count_bound(const ex_problem *, uint32_t *goals, uint32_t n_goals,
                      ex_watch *, double enough, uint64_t visits);

#endif
