/* SPDX-License-Identifier: MIT */
/* egraph_explain.h - why two terms are equal: a chain of rule applications.
 *
 * The graph must have been made with `explain` in its options.  An explainer
 * looks at a graph that is not changed meanwhile.  Its terms are hash-consed:
 * equal terms have equal numbers; each has a node in the graph.
 *
 * A chain is a sequence of whole terms t0 .. tn.  Step i turns t(i) into
 * t(i+1): at `path` it replaces `before` by `after`, the two sides of one
 * result of one rule under one substitution, as written or backwards. */
#ifndef EGRAPH_EXPLAIN_H
#define EGRAPH_EXPLAIN_H

#include "egraph/run.h"

typedef struct eg_explainer eg_explainer;

#define EG_NO_TERM UINT32_MAX

/* A rule as it was written.  parts[0] is the left side; part k stands for what
 * is bound to part_roots[k]. */
typedef struct eg_shape {
  const eg_term *parts;
  const uint32_t *part_roots;
  uint32_t n_parts;
  const eg_result *results;
  uint32_t n_results;
} eg_shape;

/* Two terms that a step needs to be equal, too. */
typedef struct eg_premise {
  uint32_t from, to;
} eg_premise;

typedef struct eg_link {
  uint32_t rule; /* EG_BY_CLIENT: the client said so */
  uint32_t result;
  bool forward;         /* left to right */
  const uint32_t *path; /* child numbers from the root of the whole term */
  uint32_t n_path;
  uint32_t before, after;     /* terms */
  uint32_t whole, next;       /* t(i), t(i+1) */
  uint32_t root;              /* the instance of parts[0] */
  const uint32_t *slots;      /* a term where is_class, else a value */
  const uint8_t *is_class;    /* by slot */
  uint32_t n_slots;           /* unbound slots are UINT32_MAX */
  const eg_premise *premises; /* besides what stands in the terms */
  uint32_t n_premises;
} eg_link;

typedef enum eg_explained {
  EG_EXPLAINED,
  EG_NOT_EQUAL,   /* of different classes */
  EG_TOO_LONG,    /* no chain of at most `steps` was found */
  EG_NOT_RECORDED /* the graph has no journal */
} eg_explained;

typedef struct eg_chain {
  uint32_t from, to;
  const eg_link *links;
  uint32_t n;
} eg_chain;

/* shapes: by rule id. */
eg_explainer *eg_explainer_new(const eg_graph *, const eg_shape *shapes,
                               uint32_t n_shapes);
void eg_explainer_free(eg_explainer *);

/* A term; EG_NO_TERM when the graph has no such node. */
uint32_t eg_explain_term(eg_explainer *, uint32_t op, bs_value attr,
                         const uint32_t *kids, uint32_t n);
uint32_t eg_term_op(const eg_explainer *, uint32_t term);
bs_value eg_term_attr(const eg_explainer *, uint32_t term);
const uint32_t *eg_term_kids(const eg_explainer *, uint32_t term, uint32_t *n);
eg_class eg_term_class(const eg_explainer *, uint32_t term);
uint32_t eg_count_terms(const eg_explainer *);

/* The shortest chain that was found; it lives as long as the explainer. */
eg_explained eg_explain(eg_explainer *, uint32_t from, uint32_t to,
                        uint32_t max_steps, eg_chain *out);

#endif
