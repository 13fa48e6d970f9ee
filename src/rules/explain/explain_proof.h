/* SPDX-License-Identifier: MIT */
/* explain_proof.h - why two programs of a saturated e-graph are equal: lemmas
 * that cite earlier ones, each rule application once.
 *
 * Where a chain (explain.h) changes one program into the other place by place,
 * for people, a proof is as long as what it shares allows, for checkers.  The
 * run must have been started with `explain` in its options. */
#ifndef RULES_PROOF_H
#define RULES_PROOF_H

#include "egraph/lemmas.h"
#include "rules/rule/saturate.h"

/* A lemma of the engine over terms of a program; what it cites stands before
 * it.  Of RULE, `root` is the instance of the left side, and `facts` are
 * equalities of what variables stand for with terms that show what the
 * condition asks for. */
typedef struct rl_lemma {
  eg_lemma_kind kind;
  gs_term from, to;
  const eg_cite *cites;
  uint32_t n_cites;
  const rl_rule *rule;
  uint32_t result;
  gs_term root;
  const uint32_t *slots; /* by variable of the rule's scope; UINT32_MAX: none */
  const uint8_t *is_term; /* the slot is a term, else a value */
  uint32_t n_slots;
  const eg_cite *facts;
  uint32_t n_facts;
} rl_lemma;

/* An output of the one is that of the other. */
typedef struct rl_claim {
  gs_term from, to;
  eg_cite cite;
  bool found;
} rl_claim;

typedef struct rl_proof {
  gs_program *program; /* holds all terms */
  rl_lemma *lemmas;
  uint32_t n_lemmas;
  rl_claim *claims; /* by output */
  uint32_t n_claims;
  uint32_t n_rules; /* lemmas that are rule applications */
  eg_explained why; /* of the first output without a proof */
} rl_proof;

/* A proof that the outputs of a are those of b, whose terms the run has, of at
 * most `max` lemmas.  `facts`: with what conditions rest on, for a checker that
 * asks them; that takes longer.  False when an output has none.  What it gives
 * lives in the context's arena. */
bool rl_prove(const gs_context *, const rl_run *, const gs_program *a,
              const gs_program *b, uint32_t max, bool facts, rl_proof *out);

/* As text, with the outputs of `result`, which the claims lead to. */
void rl_put_proof(const gs_context *, const rl_proof *,
                  const gs_program *result, bs_text *out);

#endif
