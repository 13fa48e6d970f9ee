/* SPDX-License-Identifier: MIT */
/* agree.h - do all nodes of each class of an e-graph denote the same array? */
#ifndef TEST_AGREE_H
#define TEST_AGREE_H

#include "rules/rule/saturate.h"

/* Interprets every node of every class over seeded inputs, beside one term of
 * its class, and tries the facts of the class (zeros, constant) on the values.
 * False with the first disagreement in `why`. */
bool agree(const gs_context *, const gs_program *original, const rl_run *,
           uint64_t seed, bs_text *why);

#endif
