/* SPDX-License-Identifier: MIT */
/* execute.h - loop programs run one instance at a time: the oracle of the
 * schedule. */
#ifndef POLY_EXECUTE_H
#define POLY_EXECUTE_H

#include "glenside/array/tensor.h"
#include "poly/loops/loops.h"

/* Runs the instances in the order of the nest, on tensors of the inputs' and
 * outputs' types; outputs hold what the program finds there.  Folded arrays
 * have the places that they have in memory; workspace and locals start with
 * NaN, or with the lowest value.  Values are computed as in generated code but
 * for functions of math.h, which are rounded from f64.
 * False with a diagnostic: more instances than fit, a call with a layout. */
bool po_execute(const po_program *, const gs_tensor *inputs,
                gs_tensor *outputs);

/* What runs calls, and counts: it is told of every instance, in order, before
 * it runs.  memory: by array; calls read and write it.  False stops with a
 * diagnostic that it gave. */
typedef struct po_machine {
  void *self;
  bool (*step)(void *self, const po_stmt *, const int64_t *index,
               gs_tensor *memory);
} po_machine;

bool po_execute_on(const po_program *, const po_machine *,
                   const gs_tensor *inputs, gs_tensor *outputs);

#endif
