/* SPDX-License-Identifier: MIT */
/* decide.h - integers are decided (private to this folder).
 *
 * exhaust.c tries all values of the leaves of a circuit; bits.c asks Z3, where
 * glen is built with it.  Both are bounded by work and not by time, so that an
 * answer is the same everywhere. */
#ifndef PROVE_DECIDE_H
#define PROVE_DECIDE_H

#include "prove/integer/circuit.h"

/* Leaves of all bits together, which are tried at most; and gates, evaluated
 * once for each value. */
#define PV_MOST_BITS   24
#define PV_MOST_VISITS ((uint64_t)1 << 29)
#define PV_MOST_LEAVES 64 /* of a circuit that is decided */

typedef enum pv_outcome {
  PV_OPEN,
  PV_SAME_BY_VALUES, /* equal for all values, each of which was tried */
  PV_SAME_BY_BITS,   /* as Z3 says */
  PV_DIFFERENT
} pv_outcome;

/* values[leaf]: where both sides differ.  The leaves are integers, of at most
 * PV_MOST_BITS.  Floats may stand in between: equal then only where none of
 * them was rounded. */
pv_outcome pv_exhaust(const pv_circuit *, const bs_values *, double *values);

/* Z3, made when it is first asked; NULL is never returned.  Goes with the heap.
 * A build without Z3 leaves every circuit open. */
typedef struct pv_bits pv_bits;
pv_bits *pv_bits_new(bs_heap *);
bool pv_bits_is_there(void);
/* A circuit of integers alone. */
pv_outcome pv_bits_decide(pv_bits *, const pv_circuit *, const bs_values *,
                          double *values);

#endif
