/* SPDX-License-Identifier: MIT */
/* instance.h - random instances of a rule's left side.
 *
 * From a random type of the root downwards: each node of the pattern gets an
 * attribute and children's types that give its type, so that nearly every
 * instance is well typed, whatever the shapes; variables keep what they were
 * bound to first.  Holes become tensors, now and then padded or constant ones,
 * so that facts (zeros, constants) are met too. */
#ifndef TEST_INSTANCE_H
#define TEST_INSTANCE_H

#include "rules/rule/rules.h"

typedef struct generator {
  const gs_context *ctx;
  uint64_t state; /* of the random numbers */
  gs_program *program;
  const gs_scope *scope;
  bs_value *values; /* by slot: attribute variables */
  gs_term *terms;   /* by slot: class variables */
  uint32_t n_tensors;
} generator;

uint64_t gen_random(generator *, uint64_t below);
/* A program whose output is an instance of the pattern; NULL when this try
 * came to nothing. */
gs_program *gen_instance(generator *, const gs_context *, uint64_t seed,
                         const gs_skeleton *, const gs_scope *);

#endif
