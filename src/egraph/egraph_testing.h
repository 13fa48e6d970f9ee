/* SPDX-License-Identifier: MIT */
/* egraph_testing.h - what tests and the benchmarks of the engine ask of it, and
 * no pass does. */
#ifndef EGRAPH_TESTING_H
#define EGRAPH_TESTING_H

#include "egraph/egraph_explain.h"
#include "egraph/pattern.h"

/* Removes all nodes of a class but those that `keep` accepts (egg's pruning in
 * the constant-folding example); done by the next rebuild.  A pruned node keeps
 * its part in congruence and is still found by eg_add and eg_lookup. */
void eg_prune(eg_graph *, eg_class,
              bool (*keep)(void *ctx, uint32_t op, uint32_t n_kids), void *ctx);
/* Builds a template under slots; EG_NO_CLASS when a node was refused. */
eg_class eg_instantiate(eg_graph *, const eg_term *, const uint32_t *slots);
/* The term that a class's first node was added as. */
uint32_t eg_explain_class(eg_explainer *, eg_class);

#endif
