/* SPDX-License-Identifier: MIT */
/* scan.h - a step applied again and again, with a state that is carried.
 *
 *   (scan init x... w... (step s (each x...) (with w...) TERM))
 *
 * is for t = 0, 1, ... the value of TERM, where s is what it was at t - 1, and
 * init at first, each x is item t of a sequence, and each w is the same always.
 * All states, after each step, are the result: (T, ...).
 *
 * The step is a program of its own, closed and without names, so that it is a
 * value like any other attribute, and equal steps are equal values.  It is the
 * list
 *
 *   (each with result node...), each node (OPERATOR attribute place...)
 *
 * of two counts, the place of the result, and nodes, each after those it
 * reads.  Places count parameters first - the state, the items, then what is
 * always the same - and nodes behind them.  Nodes stand in the order in which
 * a walk from the result leaves them, which is the same however the step was
 * written. */
#ifndef GLENSIDE_SCAN_H
#define GLENSIDE_SCAN_H

#include "glenside/program/program.h"

/* Parameters and nodes of a step. */
enum { GS_MAX_STEP = 1024 };

typedef struct gs_step {
  uint32_t n_each, n_with;
  uint32_t n_params; /* with the state */
  uint32_t n_nodes;
  uint32_t result; /* a place */
} gs_step;

/* Items of the attribute before those of its nodes. */
enum { GS_STEP_HEAD = 3 };

typedef struct gs_step_node {
  gs_op op;
  bs_value attr;
  uint32_t n_kids, kids[2]; /* places */
} gs_step_node;

/* Operators of one or two terms, with nothing of the program around them. */
bool gs_may_stand_in_step(gs_op);
/* step.c: the step of a scan's attribute; false where it is none. */
bool gs_step_read(const bs_values *, bs_value attr, gs_step *out);
/* Node k, from 0; false where it is none that a step may have: scans, calls and
 * constants are not. */
bool gs_step_node_at(const bs_values *, bs_value attr, const gs_step *,
                     uint32_t k, gs_step_node *out);
/* The type of a parameter, from that of the operand that it comes from. */
bool gs_step_param(const gs_step *, uint32_t k, const gs_type *operand,
                   gs_type *out);

/* infer_scan.c: the types of all places, which `types` has room for; false with
 * a fault. */
bool gs_step_types(bs_values *, bs_value attr, const gs_step *,
                   const gs_type *const *operands, bs_value *types, gs_fault *);

/* scan.c: the attribute of a scan from a program whose inputs are the
 * parameters. */
bool gs_step_encode(const gs_program *, gs_term result, uint32_t n_each,
                    bs_value *attr, gs_fault *);
/* The result over these parameters, in a program. */
gs_term gs_step_add(gs_program *, bs_value attr, const gs_term *params,
                    gs_fault *);
/* The step of a scan in a program as a program of its own, whose inputs are the
 * parameters and whose output is the next state. */
const gs_program *gs_step_program(const gs_program *, gs_term scan, gs_fault *);

/* unscan.c: the program with its scans as terms for all steps, and recurrences;
 * itself where it has none.  NULL: one has no type. */
const gs_program *gs_without_scans(const gs_program *);

/* All states of a scan over these terms of a program, step by step. */
gs_term gs_unroll_scan(gs_program *, bs_value attr, int64_t steps,
                       const gs_term *kids, gs_fault *);

/* print_step.c: (step s (each x0) TERM) */
void gs_put_step(bs_text *, const bs_values *, bs_value attr);

#endif
