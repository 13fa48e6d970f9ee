/* SPDX-License-Identifier: MIT */
/* precise.h - two terms with other floats (private to confirm.c and precise.c).
 *
 * A copy of both terms of a pair in which every float is of one wide dtype.
 * A cast to a narrower float still rounds, as it says.  `shake` moves the
 * result of each operator that rounds by a little more than rounding does,
 * another seed another way: what changes then was rounding, too. */
#ifndef PROVE_PRECISE_H
#define PROVE_PRECISE_H

#include "prove/session/session.h"

typedef struct pv_precision {
  gs_dtype wide;
  uint64_t shake; /* 0: not shaken */
} pv_precision;

typedef struct pv_precise {
  gs_program *p; /* outputs: left, right, then every compute term if `all` */
  gs_tensor *inputs, *outputs;
  gs_tensor *bounds; /* of the outputs; NULL: not asked for */
  bool ran;
} pv_precise;

/* False when some term has no type at that precision. */
bool pv_precise_make(pv_session *, uint32_t pair, pv_precision, bool all,
                     pv_precise *out);
/* The inputs of `given`, floats moved by at most a 128th where `move`. */
void pv_precise_load(pv_precise *, const gs_program *given,
                     const gs_tensor *inputs, uint64_t move);
bool pv_precise_run(pv_precise *);
/* Runs give the rounding bounds of the outputs, too. */
void pv_precise_bound(pv_precise *);
/* Appends to the outputs the operand and the result of every compute term, in
 * the order of p's terms.  Before the first run. */
void pv_precise_watch(pv_session *, pv_precise *);
/* Does the operator round, on floats of that dtype? */
bool pv_rounds(gs_compute, gs_dtype);

#endif
