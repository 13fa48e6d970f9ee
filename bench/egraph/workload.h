/* SPDX-License-Identifier: MIT */
/* workload.h - rewrite workloads in plain text, onto the generic engine.
 *
 * Forms, one a line: (analysis none|constfold|constfold-prune),
 * (rule NAME LHS RHS COND...), (start EXPR).  An atom that is a number is a
 * real constant, one that begins with ? a variable, any other a symbol. */
#ifndef BENCH_EGRAPH_WORKLOAD_H
#define BENCH_EGRAPH_WORKLOAD_H

#include "base/diag.h"
#include "base/sexp.h"
#include "egraph/run.h"

typedef struct wl_workload {
  bs_heap *heap;
  bs_values *values;
  bs_arena arena, start; /* start: of the start terms */
  bool fold, prune;
  BS_VEC(bs_value) ops; /* names; an operator is an index */
  BS_VEC(eg_rule) rules;
  BS_VEC(eg_term) starts;
} wl_workload;

/* Operators of the leaves; the others follow. */
enum { WL_CONST, WL_SYM, WL_FIRST };

/* False with diagnostics. */
bool wl_read(wl_workload *, bs_heap *, bs_values *, bs_diags *,
             const char *path);
void wl_done(wl_workload *);
/* A graph of the start terms, which are forgotten. */
eg_graph *wl_graph(wl_workload *);

/* The analysis: a class's constant, and whether it holds a symbol, and the
 * constant itself. */
typedef struct wl_facts {
  uint32_t value : 30; /* an interned value; BS_NIL: not known */
  uint32_t symbol : 1, constant : 1;
} wl_facts;

eg_analysis wl_analysis(wl_workload *);

/* The named conditions of the files. */
typedef struct wl_condition {
  enum { WL_NOT_ZERO, WL_IS_SYM, WL_IS_CONST, WL_CONST_OR_OTHER } kind;
  uint32_t a, b; /* slots */
} wl_condition;

typedef struct wl_conditions {
  const bs_values *values;
  wl_condition *list;
  uint32_t n;
} wl_conditions;

eg_guard_result wl_guard(void *ctx, eg_graph *, uint32_t *slots, uint32_t);

#endif
