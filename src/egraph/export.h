/* SPDX-License-Identifier: MIT */
/* export.h - an e-graph as egraph-serialize JSON and as DOT. */
#ifndef EGRAPH_EXPORT_H
#define EGRAPH_EXPORT_H

#include "egraph/egraph.h"

typedef struct eg_naming {
  const void *ctx;
  void (*put_node)(const void *ctx, bs_text *, uint32_t op, bs_value attr);
  double (*cost)(const void *ctx, const eg_graph *, eg_node); /* NULL: 1 */
  /* Extra text of a class (its type), or NULL. */
  void (*put_class)(const void *ctx, bs_text *, const eg_graph *, eg_class);
} eg_naming;

/* {"nodes":{ID:{"op","children","eclass","cost"}},"root_eclasses":[..]} */
void eg_put_json(const eg_graph *, const eg_naming *, const eg_class *roots,
                 uint32_t n_roots, bs_text *out);
/* Graphviz, one cluster a class; at most max_classes, nearest to the roots. */
void eg_put_dot(const eg_graph *, const eg_naming *, const eg_class *roots,
                uint32_t n_roots, uint32_t max_classes, bs_text *out);

#endif
