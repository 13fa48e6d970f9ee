/* SPDX-License-Identifier: MIT */
/* fixture.h - programs and rules from text, for the tests of the prover. */
#ifndef TESTS_PROVE_FIXTURE_H
#define TESTS_PROVE_FIXTURE_H

#include "../context.h"
#include "prove/rule/prove_rule.h"

/* The first two outputs, compared. */
static inline pv_answer
compare_outputs(const gs_program *p, const pv_options *options) {
  pv_answer a;
  pv_equal_terms(&ctx, p, p->outputs.data[0].term, p->outputs.data[1].term,
                 options, &a);
  return a;
}

/* Its verdict and why, and the shape that decided. */
static inline void
put_rule_answer(bs_text *out, const rl_rule *rule, const pv_rule_answer *a) {
  bs_putf(out, "%s %s: %s\n", pv_verdict_name(a->verdict), rule->name,
          a->reason);
  if (a->shape)
    pv_put_shape(out, a);
}

#endif
