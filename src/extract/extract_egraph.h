/* SPDX-License-Identifier: MIT */
/* extract_egraph.h - from an e-graph to an extraction problem and back.
 *
 *   ex_bridge b;
 *   ex_from_egraph(heap, g, roots, n_roots, price, ctx, &b);
 *   if (ex_solve(&b.problem, EX_EXACT, &options, &s))
 *     choice = ex_chosen(heap, &b, &s);   // as rl_extracted wants it */
#ifndef EXTRACT_EGRAPH_H
#define EXTRACT_EGRAPH_H

#include "egraph/egraph.h"
#include "extract/cost.h"
#include "extract/problem.h"
#include "glenside/target/target.h"

/* The cost of one e-node, >= 0; +inf or NaN leaves the node out. */
typedef double (*ex_price_fn)(void *ctx, const eg_graph *, eg_node);

typedef struct ex_bridge {
  ex_problem problem;
  eg_class *classes; /* of each class of the problem, in id order */
  eg_node *nodes;    /* of each node of the problem */
  uint32_t n_ids;    /* every canonical class id is below it */
} ex_bridge;

/* The classes that the roots can reach, renumbered in the order of their ids.
 * The e-graph must be rebuilt.  Unwinds where a stage is over. */
void ex_from_egraph(bs_heap *, const eg_graph *, const eg_class *roots,
                    uint32_t n_roots, ex_price_fn, void *ctx, ex_bridge *out);
void ex_bridge_done(ex_bridge *);
/* n_ids nodes, indexed by canonical class id; EG_NO_NODE where the solution
 * has none.  The caller frees it. */
eg_node *ex_chosen(bs_heap *, const ex_bridge *, const ex_solution *);

#define EX_MAX_KIDS 64 /* a call with more operands is priced +inf */

/* The price of a tensor e-node for a target (cost.h); operators of the e-graph
 * are gs_op. */
typedef struct ex_pricer {
  const gs_target *target;
  ex_limit limit;
  const uint8_t *once;     /* by class id (ex_once_classes), or NULL */
  const double *kept;      /* by class id (ex_resident_classes), or NULL */
  const uint8_t *stranded; /* by class id (stranded.h), or NULL */
  bs_values *values;
  ex_type_fn *type_of;
  void *type_ctx;
} ex_pricer;
double ex_price_enode(void *pricer, const eg_graph *, eg_node);

#endif
