/* SPDX-License-Identifier: MIT */
/* interpret.h - the reference interpreter: slow, obvious, the oracle.
 *
 * Every element of every term is computed one at a time from the definition in
 * docs/LANGUAGE.md, sums in f64 (exact integers wrap).  It shares no code with
 * lowering. */
#ifndef GLENSIDE_INTERPRET_H
#define GLENSIDE_INTERPRET_H

#include "glenside/program/program.h"
#include "glenside/array/tensor.h"

/* inputs[k] for program.inputs[k]; fills outputs[k] (on ctx.heap).  False with
 * diagnostics (wrong input type, too large). */
bool gs_interpret(const gs_program *, const gs_tensor *inputs,
                  gs_tensor *outputs);
/* Interprets, and gives for each element of the outputs a bound, in f64, of how
 * far rounding can move it: what is beyond twice of it is another value. */
bool gs_interpret_bounded(const gs_program *, const gs_tensor *inputs,
                          gs_tensor *outputs, gs_tensor *bounds);

#endif
