/* SPDX-License-Identifier: MIT */
/* symbolic.h - one form of a rule, or two terms over sizes, proved for all
 * sizes at once.
 *
 * A form is what a rule looks like but for its sizes: the ranks and splits of
 * the terms that its variables stand for, axes, permutations, operators.
 * Sizes, bounds of slices and amounts of padding are parameters, constrained
 * by the types of the left side and by the condition as far as it is affine;
 * the rest of the condition is dropped, so what is proved is proved for more
 * than the rule asks.  The right side must have the type of the left one, and
 * both must lead from each index to the same element, as relations of isl.
 *
 * Nothing is ever refuted here: what is not understood is not claimed. */
#ifndef PROVE_SYMBOLIC_H
#define PROVE_SYMBOLIC_H

#include "prove/session/session_prove.h"
#include "prove/symbolic/system.h"
#include "rules/rule/rule_apply.h"

typedef struct pv_form {
  const rl_rules *rules;
  const rl_rule *rule;
  const gs_program *p;   /* of one application */
  const uint32_t *slots; /* its values of the variables of the rule */
  uint64_t max_operations;
  uint64_t any;      /* bits: variables whose operator stands for all that are
                        alike: nothing is known of what it computes */
  sy_memo *systems;  /* what is known by now, or NULL */
  pv_counts *counts; /* or NULL */
  bool *any_order;   /* set if the proof is one with any order of sums alone */
  bool *rounded;     /* set if floats that the rule computes are taken for the
                        numbers that they are near to; or NULL */
  bool *applies;     /* set unless the rule was only found never to apply to the
                        form; or NULL */
  /* Two sides over the sizes of p, whose leaves are `slots`, in place of those
   * of a rule, or NULL. */
  const gs_skeleton *open;
} pv_form;

/* Tells forms apart.  False when the rule is none of those looked at. */
bool pv_form_key(const pv_form *, bs_heap *, uint64_t *key);
/* Bits: variables of which the form says the value, or the operator; sizes,
 * literals and items of lists may be any. */
uint64_t pv_form_fixes(const pv_form *, bs_heap *);
/* True: proved for all sizes.  *numbers: with numbers of this application only.
 * Else *why says what was not understood. */
bool pv_prove_form(const pv_form *, bs_heap *, bool *numbers, const char **why);

/* symbolic_open.c: two terms of a program that leaves sizes open.  True: equal
 * for all sizes within their bounds and all inputs. */
bool pv_prove_open(const gs_program *, gs_term a, gs_term b, const pv_options *,
                   bs_heap *, bool *any_order, const char **why);

#endif
