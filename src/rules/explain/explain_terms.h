/* SPDX-License-Identifier: MIT */
/* explain_terms.h - the terms of an explainer of the engine, as terms of a
 * program; private to those who explain. */
#ifndef RULES_EXPLAIN_TERMS_H
#define RULES_EXPLAIN_TERMS_H

#include "egraph/egraph_explain.h"
#include "rules/rule/rule_internal.h"

typedef struct rl_terms {
  const gs_context *ctx;
  const rl_run *run;
  const gs_program *a; /* whose constants are meant */
  eg_explainer *x;
  eg_shape *shapes;
  gs_program *program;     /* holds what was asked for */
  BS_VEC(gs_term) term_of; /* by term of the engine */
  BS_VEC(uint32_t) todo;
  eg_node *smallest; /* by class; made when a witness is wanted */
  uint32_t n_smallest;
} rl_terms;

/* The program gets the inputs of `a`. */
void rl_terms_init(rl_terms *, const gs_context *, const rl_run *,
                   const gs_program *a);
void rl_terms_done(rl_terms *);
gs_term rl_term_of(rl_terms *, uint32_t term);
/* The terms of a program's outputs, as the engine has them, in the context's
 * arena; EG_NO_TERM where the e-graph lacks one. */
uint32_t *rl_output_terms(rl_terms *, const gs_program *);
/* The term of a node over the smallest terms of its children's classes. */
uint32_t rl_witness(rl_terms *, eg_node);
/* Slots with terms of the program. */
const uint32_t *rl_slot_terms(rl_terms *, const uint32_t *slots,
                              const uint8_t *is_class, uint32_t n);

#endif
