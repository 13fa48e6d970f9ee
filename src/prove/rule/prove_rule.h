/* SPDX-License-Identifier: MIT */
/* prove_rule.h - is a rule sound?
 *
 * A rule is a claim about every term its left side matches.  It is asked of
 * many shapes: terms are grown from the left side at random, small ones first,
 * with sizes of one, primes, windows that do not reach the end, uneven halves,
 * empty sides, every dtype; where the condition holds, left and right must be
 * equal.  Fresh tensors stand for the variables, so one shape speaks for all
 * terms of that shape.
 *
 *   proved    for all sizes, parameters and numbers that the rule admits
 *             (symbolic.h), at the ranks that the answer names
 *   checked   proved on each of `shapes` shapes, which the answer describes
 *   refuted   on one of them: the right side has no type or another one, or
 *             some input gives different results; the smallest that was found
 *   tested    some shape was not proved, but none refuted
 *   unknown   no shape was found on which the rule applies, or none decided */
#ifndef PROVE_RULE_H
#define PROVE_RULE_H

#include "prove/rule/looked.h"
#include "prove/session/session_prove.h"
#include "rules/rule/rules.h"

typedef struct pv_rule_options {
  pv_options equal; /* of each shape */
  uint64_t seed;
  uint32_t shapes;   /* to look at; 0: all sizes or nothing */
  uint32_t attempts; /* to find one more, in each class of sizes */
} pv_rule_options;

typedef struct pv_rule_answer {
  pv_verdict verdict;
  const char *reason; /* one line */
  uint32_t shapes;    /* looked at */
  uint32_t proved, tested, unknown;
  uint32_t too_large; /* not decided, and not among those looked at */
  uint32_t cut;       /* samples with more choices than were looked at */
  /* Forms up to a rank, listed (symbolic_forms.h); how many of them were proved
   * for all sizes. */
  uint32_t rank, forms, general_forms;
  const char *why;  /* it is not proved for all sizes; NULL where it is */
  pv_looked looked; /* what the shapes had in them */
  pv_counts work;   /* all that was done */
  /* The shape that decided, unless proved: its variables, as
   * "?a ((4), (6)) f32, ?d 1"; left and right as terms (right may be NULL). */
  const char *shape, *left, *right;
  pv_answer answer; /* on that shape */
} pv_rule_answer;

void pv_rule_defaults(pv_rule_options *);
/* Texts are in ctx->arena; `rules` must be finished, and ctx its context or
 * one with the same values. */
void pv_prove_rule(const gs_context *, const rl_rules *, const rl_rule *,
                   const pv_rule_options *, pv_rule_answer *);
/* The shape that decided, left, right and the answer there, as lines. */
void pv_put_shape(bs_text *, const pv_rule_answer *);

#endif
