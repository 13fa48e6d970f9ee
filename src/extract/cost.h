/* SPDX-License-Identifier: MIT */
/* cost.h - the price of one e-node for one target, in estimated cycles.
 *
 * Views are free but for a small tie-break (fewer views win); computes pay
 * arithmetic and traffic; materialize and packing pay traffic; calls pay what
 * their declaration says.  See docs/COST.md for the formulas. */
#ifndef EXTRACT_COST_H
#define EXTRACT_COST_H

#include "extract/once.h"
#include "glenside/target/target.h"

typedef struct ex_cost {
  double arithmetic, memory, call, view; /* cycles; the sum is the price */
} ex_cost;

double ex_cost_total(const ex_cost *);
/* Elements that the work of an operator's row in ops.def is done for. */
double ex_work_items(gs_compute_kind, const gs_type *in, const gs_type *out);

#define EX_MAX_SLOTS 256 /* an instruction with more variables is refused */

/* What a program's time is bound by: the memory that holds its inputs and
 * outputs, or what it computes. It is asked of the program as written, and
 * holds for all that is compared with it. */
typedef enum ex_limit { EX_BY_MEMORY, EX_BY_WORK } ex_limit;
ex_limit ex_limit_of(const gs_program *, const gs_target *);

/* +inf total for what the target cannot run. */
void ex_price_node(const gs_target *, ex_limit, bs_values *, gs_op op,
                   bs_value attr, const gs_type *const *kids, uint32_t n_kids,
                   const gs_type *type, ex_cost *out);

/* A contraction of arrays that are there once for all calls and have so many
 * bytes takes no less than these take to be read: `out`, its price, grows. */
void ex_price_resident(const gs_target *, const bs_values *, gs_op op,
                       bs_value attr, double kept, ex_cost *out);

typedef struct ex_line {
  gs_term term;
  ex_cost cost;
} ex_line;
/* Prices each live term of a program, dearest first (`lines` has room for
 * nodes.len); returns how many.  *total is the sum in order of the terms.
 * prepacked: inputs that are the same for all calls, or NULL. */
uint32_t ex_breakdown(const gs_program *, const gs_target *, ex_limit,
                      const ex_names *prepacked, ex_line *lines, double *total);

#endif
