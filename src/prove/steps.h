/* steps.h - an equality proved along a chain of rule applications.
 *
 * Terms too large for one question are equal when each step of a chain between
 * them is: a step changes one sub-term, and of that only the part above what
 * both sides share.  The rules are not believed; each step is a question of
 * its own, and steps of one form are one question. */
#ifndef PROVE_STEPS_H
#define PROVE_STEPS_H

#include "prove/prove.h"
#include "rules/explain.h"

typedef struct pv_stepper pv_stepper;

/* The verdict on a chain is that of its worst step:
 *   proved    each step is
 *   refuted   both sides of a step differ for an input; this says that its rule
 *             is wrong, not yet that the ends of the chain differ
 *   else      that of the step which is named */
typedef struct pv_chain_answer {
  pv_answer answer;
  uint32_t steps;      /* of the chain */
  uint32_t proved;     /* of these */
  uint32_t questions;  /* put to the prover, over all chains so far */
  uint32_t at;         /* the step the verdict is about, unless proved */
  const rl_link *link; /* that one; NULL when proved or the chain is torn */
} pv_chain_answer;

/* Answers are remembered from chain to chain. */
pv_stepper *pv_stepper_new(const gs_context *, const rl_explanation *,
                           const pv_options *);
void pv_prove_chain(pv_stepper *, const rl_chain *, pv_chain_answer *);
void pv_stepper_free(pv_stepper *);

#endif
