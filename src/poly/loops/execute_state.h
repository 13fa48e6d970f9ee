/* SPDX-License-Identifier: MIT */
/* execute_state.h - one execution in progress (private). */
#ifndef POLY_EXECUTE_STATE_H
#define POLY_EXECUTE_STATE_H

#include "glenside/interpret/interpret_state.h"
#include "poly/loops/execute.h"
#include "poly/loops/quasi.h"

/* A statement, its functions as numbers. */
typedef struct po_executed {
  const po_stmt *stmt;
  po_quasi *address; /* of the expressions that read; then the target */
  int64_t *now;      /* what these are for the instance that runs */
  po_quasi *time;
  uint32_t depth;
  uint32_t place[PO_MAX_DEPTH + 1]; /* on the way down; its leaf's is last */
  in_operator *operators;           /* of unary expressions */
  int64_t instances, lo[PO_MAX_DEPTH], hi[PO_MAX_DEPTH];
  int64_t *at; /* the instance that is next, or NULL, as in the list */
} po_executed;

typedef struct po_execution {
  const po_program *p;
  bs_arena arena;
  po_pool pool;
  gs_tensor *memory;  /* by array */
  po_executed *stmts; /* of a child of the root */
  uint32_t n, most_iters, most_depth, most_exprs, most_room;
  int64_t *list, width; /* instances: statement, time, indices */
  int64_t len, count;
  bool compares; /* times are needed: of several statements, or to check them */
  uint32_t filling; /* the statement that instances are listed of */
  double *values;
  int64_t *room;
  const gs_tensor *inputs;
  gs_tensor *outputs;
  const po_machine *machine; /* NULL: none */
  bool ok;
} po_execution;

/* execute_value.c: an expression of a statement, where those that it names and
 * the addresses are there. */
double po_execute_expr(po_execution *, const po_executed *, uint32_t expr);
double po_execute_fold(gs_compute, gs_dtype, double, double);

#endif
