/* SPDX-License-Identifier: MIT */
/* test_sample.h - random terms, for those who try rules; private to this
 * folder. */
#ifndef RULES_SAMPLE_H
#define RULES_SAMPLE_H

#include "glenside/array/tensor.h"
#include "rules/rule/rule_internal.h"

typedef struct rl_sample {
  const gs_context *ctx;
  gs_program *p;
  uint64_t state;        /* of the generator */
  gs_dtype dtype;        /* of the tensors made */
  uint32_t n_made;       /* tensors and constants */
  int64_t max_elements;  /* of a term */
  BS_VEC(gs_type) types; /* of the holes filled so far */
} rl_sample;

uint64_t rl_random(rl_sample *);
int64_t rl_random_below(rl_sample *, int64_t n); /* 0 .. n - 1 */
bool rl_chance(rl_sample *, uint32_t percent);

/* A new array, accessed at random, at times under a pad of zeros. */
gs_term rl_random_leaf(rl_sample *);
/* A likely attribute of op over children of these types; BS_NIL when there is
 * none (instructions). */
bs_value rl_random_attr(rl_sample *, gs_op, const gs_type *const *kids,
                        uint32_t n_kids);
/* op over kids with this attribute, or GS_NO_TERM when it has no type or is
 * too large. */
gs_term rl_sample_add(rl_sample *, gs_op, bs_value attr, const gs_term *kids,
                      uint32_t n_kids);
/* Terms that the patterns of a rule match; the last one is its root.  False
 * when this attempt failed. */
bool rl_sample_left(rl_sample *, const rl_compiled *, gs_term *root);

#endif
