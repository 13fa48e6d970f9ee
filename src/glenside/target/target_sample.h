/* SPDX-License-Identifier: MIT */
/* target_sample.h - sizes that an instruction admits.
 *
 * A declaration speaks of all sizes at once; what is wrong with it shows on
 * some.  Sizes are drawn from primes (so that two dimensions are rarely equal
 * by accident), the integers that the declaration mentions, and small powers of
 * two.  Parameters that may be any number take numbers of their own. */
#ifndef GLENSIDE_TARGET_SAMPLE_H
#define GLENSIDE_TARGET_SAMPLE_H

#include "glenside/target/target.h"

#define GS_MAX_SIZES 48

typedef struct gs_sizing {
  const gs_context *ctx;
  const gs_instr *instr;
  int64_t sizes[GS_MAX_SIZES]; /* candidates */
  uint32_t n_sizes;
  uint32_t *choice; /* a candidate for each variable */
  /* Of the choice, once gs_sizing_holds: */
  uint32_t *slots;
  gs_type *types; /* of the operands */
  const gs_type **kids;
  bs_value attr; /* of the call */
  gs_type result;
} gs_sizing;

/* On the context's arena. */
void gs_sizing_init(gs_sizing *, const gs_context *, const gs_instr *);
/* Whether the choice is admitted. */
bool gs_sizing_holds(gs_sizing *);
/* The operands of an admitted choice, as tensors of `p`. */
void gs_sizing_declare(const gs_sizing *, gs_program *p, gs_term *operands);
/* The next choice, as an odometer; false past the last. */
bool gs_sizing_advance(gs_sizing *);
/* The next one of the parameters that are no dimension of an operand, with all
 * sizes as they are. */
bool gs_sizing_advance_free(gs_sizing *);
/* Between how many values a variable is chosen; an operand has none. */
uint32_t gs_sizing_choices(const gs_sizing *, uint32_t var);
/* What was chosen, for a message: "r = 3, c = 5"; in the arena. */
const char *gs_sizing_text(const gs_sizing *);

#endif
