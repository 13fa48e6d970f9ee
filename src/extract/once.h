/* SPDX-License-Identifier: MIT */
/* once.h - what is paid once for all calls of a program.
 *
 * A term that is made of constants and of inputs that are the same for all
 * calls is computed by NAME_prepack, unless that needs a workspace: sums of
 * products and calls of instructions stay where they are.  Its price is kept
 * only as far as it decides between two ways to make it. */
#ifndef EXTRACT_ONCE_H
#define EXTRACT_ONCE_H

#include "egraph/egraph.h"
#include "glenside/program/program.h"

/* The names of the inputs; none: nothing is paid once. */
typedef struct ex_names {
  const char *const *name;
  uint32_t n;
} ex_names;

/* The interned type of a class. */
typedef bs_value ex_type_fn(void *ctx, const eg_graph *, eg_class);

/* What remains of a price that is paid once. */
#define EX_ONCE 1e-6

/* By term of the program, by class id; NULL where there are no names.  The
 * caller frees it. */
uint8_t *ex_once_terms(bs_heap *, const gs_program *, const ex_names *);
uint8_t *ex_once_classes(bs_heap *, bs_values *, const eg_graph *,
                         const ex_names *);

/* Bytes of the arrays that are there once for all calls and that a term or a
 * class shows a view of, each counted where it is named; of a class, the least
 * of its terms.  once: from above; NULL where that is.  The caller frees it. */
double *ex_resident_terms(bs_heap *, const gs_program *, const uint8_t *once);
double *ex_resident_classes(bs_heap *, bs_values *, const eg_graph *,
                            const uint8_t *once, ex_type_fn, void *ctx);

#endif
