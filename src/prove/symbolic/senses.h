/* SPDX-License-Identifier: MIT */
/* senses.h - whether the whole numbers of a rule are places or sizes (private
 * to uniform.c).
 *
 * Places are ranks, axes, boundaries, indices and lengths. */
#ifndef PROVE_SYMBOLIC_SENSES_H
#define PROVE_SYMBOLIC_SENSES_H

#include "glenside/expr/expr_functions.h"

typedef enum fm_sense { FM_EITHER, FM_PLACE, FM_SIZE } fm_sense;

/* How a function's result and arguments hang together.  A letter an argument,
 * the last for all that follow, then the result: `a` the sense of the whole,
 * `p` a place, `s` a size, `-` neither, `~` alike among themselves. */
typedef struct fm_senses {
  gs_function_id id;
  char args[4], result;
} fm_senses;

/* NULL: nothing is known of the function. */
const fm_senses *fm_senses_of(gs_function_id);
char fm_letter_at(const fm_senses *, uint32_t argument);
fm_sense fm_sense_of(char letter, fm_sense whole);

#endif
