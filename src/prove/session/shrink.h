/* SPDX-License-Identifier: MIT */
/* shrink.h - a copy of terms with smaller sizes (private to this folder).
 *
 * Ranks, splits, operators and their parameters stay, and sizes that are equal
 * stay equal.  The copy is well-typed, but it need not mean what the terms
 * mean: what holds of them may depend on their sizes. */
#ifndef PROVE_SHRINK_H
#define PROVE_SHRINK_H

#include "prove/session/session.h"

/* A copy, in ctx, of what the pairs need of a program without calls, that takes
 * at most `most` element visits to run; the pairs in it.  NULL when none was
 * found. */
gs_program *pv_shrink(const gs_context *, const gs_program *,
                      const pv_pair *pairs, uint32_t n, int64_t most,
                      pv_pair *out);

#endif
