/* SPDX-License-Identifier: MIT */
/* equal_open.h - are two programs whose sizes are open equal?
 *
 *   proved    for all sizes within their bounds: the outputs are the same
 *             terms over the sizes, or lead to the same elements at each
 *             index, or there are few sizes, at each of which they are proved
 *             equal
 *   checked   proved at each of some sizes, which the reason names
 *   refuted   at the first of the sizes looked at where they are; `at` are
 *             these, and the answer is the one there
 *   tested    at one of them runs agreed, and nothing more is known
 *   unknown   nothing is known at any of
 * them */
#ifndef PROVE_EQUAL_OPEN_H
#define PROVE_EQUAL_OPEN_H

#include "glenside/type/sizes.h"
#include "prove/session/session_prove.h"

enum { PV_MOST_LOOKED = 64 }; /* sizes that are looked at */

typedef struct pv_open_answer {
  pv_verdict verdict;
  const char *reason; /* one line, in the context's arena */
  pv_answer answer;   /* at the sizes that decided; proved, checked: the last */
  bool decided;       /* some sizes did: refuted, tested, unknown */
  int64_t at[GS_MOST_SIZES];
  uint32_t looked; /* sizes at which the programs were compared */
  bool all;        /* these are all there are */
} pv_open_answer;

/* Both programs have the same sizes, and inputs and outputs of the same types
 * over them. */
void pv_equal_open(const gs_context *, const gs_program *, const gs_program *,
                   const pv_options *, pv_open_answer *);

#endif
