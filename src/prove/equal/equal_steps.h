/* SPDX-License-Identifier: MIT */
/* equal_steps.h - an equality proved by the rule applications of a proof.
 *
 * Terms too large for one question are equal when each step of a proof of it
 * is: a step is one rule application, and of that only the part above what both
 * sides share.  The rules are not believed; each step is a question of its own,
 * and steps of one form are one question.  What the proof makes of its steps,
 * by congruence and in chains, is looked at, too. */
#ifndef PROVE_STEPS_H
#define PROVE_STEPS_H

#include "prove/session/session_prove.h"
#include "rules/explain/explain_proof.h"

typedef struct pv_stepper pv_stepper;

/* A lemma that is not proved. */
typedef struct pv_step_answer {
  pv_answer answer;
  uint32_t lemma; /* of the proof */
  uint32_t step;  /* its number among the rule applications */
} pv_step_answer;

/* A refuted step says that its rule is wrong, not yet that what the proof
 * claims is.  After one, or after some that are open, no more are asked. */
typedef struct pv_proof_answer {
  uint32_t steps;     /* rule applications */
  uint32_t proved;    /* of these */
  uint32_t questions; /* put to the prover */
  uint32_t left_out;  /* rule applications that were not asked about */
  bool any_order;     /* as in the answers */
  pv_step_answer *open;
  uint32_t n_open; /* in the context's arena */
} pv_proof_answer;

/* The rules of the run, and the program of the proof.  Answers are remembered.
 * A step too large to run is tried smaller (smaller.h). */
pv_stepper *pv_stepper_new(const gs_context *, const rl_rules *,
                           const gs_program *, const pv_options *);
void pv_prove_steps(pv_stepper *, const rl_proof *, pv_proof_answer *);
/* The worst step that a claim rests on; NULL: all of them are proved. */
const pv_step_answer *pv_worst_step(pv_stepper *, const rl_proof *,
                                    const pv_proof_answer *, uint32_t claim);
void pv_stepper_free(pv_stepper *);

#endif
