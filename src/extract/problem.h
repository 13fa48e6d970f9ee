/* SPDX-License-Identifier: MIT */
/* problem.h - extraction, stated without a language.
 *
 * Classes 0..n_classes-1, each with nodes; a node has a cost and child
 * classes.  Choose one node for each class that the roots need so that the
 * choice is acyclic and cheapest: as trees (a shared class counts each time it
 * is used) or as a DAG (once).  Costs are finite and >= 0; +inf forbids. */
#ifndef EXTRACT_PROBLEM_H
#define EXTRACT_PROBLEM_H

#include "base/heap.h"
#include "base/vec.h"
#include "base/diag.h"

typedef struct ex_problem {
  bs_heap *heap;
  uint32_t n_classes, n_nodes, n_roots;
  uint32_t *class_first; /* n_classes + 1: nodes of class c stand together */
  double *cost;          /* per node */
  uint32_t *kid_first;   /* n_nodes + 1 */
  uint32_t *kids;        /* class indices */
  uint32_t *roots;       /* class indices */
  /* Set by the importer: names for the output; else NULL. */
  const char **node_names, **class_names;
  char *names; /* the block those point into, or NULL */
} ex_problem;

/* Nodes in any order, with the class of each, to a problem; all is copied.
 * Nodes keep their order within a class.  `place`, if not NULL, receives the
 * index each given node got. */
typedef struct ex_draft {
  uint32_t n_classes, n_nodes, n_roots;
  const uint32_t *class_of;
  const double *cost;
  const uint32_t *kid_first; /* n_nodes + 1 */
  const uint32_t *kids, *roots;
} ex_draft;
void ex_problem_build(bs_heap *, const ex_draft *, uint32_t *place,
                      ex_problem *out);
void ex_problem_done(ex_problem *);
/* NULL, or what of this does not hold:
 *
 *  1. Rows of classes cover the nodes in order, rows of children their list.
 *  2. Children and roots are classes.
 *  3. A cost is a number, or +inf. */
const char *ex_validate(const ex_problem *);

#define EX_NONE UINT32_MAX

typedef struct ex_solution {
  uint32_t *choice; /* node of a class, or EX_NONE where none is needed; on the
                     * problem's heap, freed by ex_solution_done */
  double tree_cost; /* of the roots, each use counted; may be inf on overflow */
  double dag_cost;  /* sum over the chosen classes */
  double bound;     /* no choice has a lower cost (the extractor's kind) */
  bool optimal;     /* proved */
  bool feasible;    /* every root has a finite, acyclic term */
  uint64_t steps;   /* nodes of the search tree, where there was one */
} ex_solution;

typedef struct ex_options {
  double seconds;                /* 0: no limit */
  const volatile int *interrupt; /* stop early with the best so far */
} ex_options;

typedef enum ex_method { EX_TREE, EX_DAG, EX_EXACT, EX_ILP } ex_method;
bool ex_method_find(const char *name, ex_method *out);
const char *ex_method_name(ex_method);
bool ex_method_is_there(ex_method);
bool ex_method_trees(ex_method); /* it minimizes the tree cost */

/* Throws when out of memory.  False when the problem is infeasible or the
 * method is not there. */
bool ex_solve(const ex_problem *, ex_method, const ex_options *,
              ex_solution *out);
void ex_solution_done(const ex_problem *, ex_solution *);
/* Recomputes costs of a choice; false when it is incomplete or cyclic. */
bool ex_price(const ex_problem *, const uint32_t *choice, double *tree,
              double *dag);
/* NULL, or what of this does not hold of what a method has found:
 *
 *  4. A class has no node, or one of its own.
 *  5. Where there is a solution, classes that the roots need have nodes, none
 *     of which needs itself, at a finite cost.
 *  6. The costs are those of the choice, and none is below the bound.
 *  7. Without a solution none is said to be optimal at a finite cost.
 *
 * Asserted in ex_solve, as 1 to 3 are of the problem and of what it is made
 * smaller to. */
const char *ex_check_solution(const ex_problem *, const ex_solution *,
                              bool trees);
/* The chosen classes that the roots need, children before parents; returns
 * how many.  The choice must be complete and acyclic. */
uint32_t ex_order(const ex_problem *, const uint32_t *choice, uint32_t *out);

/* egraph-serialize JSON in (needs jansson; otherwise the error "no-jansson")
 * and a solution out. */
bool ex_import_json(bs_heap *, bs_diags *, uint32_t source, ex_problem *out);
void ex_put_solution(const ex_problem *, const ex_solution *, bool json,
                     bs_text *out);

#endif
