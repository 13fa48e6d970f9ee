/* SPDX-License-Identifier: MIT */
/* explain.h - why two programs of a saturated e-graph are equal: chains of rule
 * applications, one an output, and their independent check.
 *
 * The run must have been started with `explain` in its options. */
#ifndef RULES_EXPLAIN_H
#define RULES_EXPLAIN_H

#include "egraph/egraph_explain.h"
#include "rules/rule/saturate.h"

/* One step: t(i) becomes t(i+1) where `before` at `path` becomes `after`.
 * Both are sides of one result of the rule. */
typedef struct rl_link {
  const rl_rule *rule;
  uint32_t result;
  bool forward; /* left to right */
  gs_term whole, next, before, after;
  gs_term root; /* the instance of the left side */
  const uint32_t *path;
  uint32_t n_path;
  const uint32_t *slots; /* by variable of the rule's scope; UINT32_MAX: none */
  const uint8_t *is_term; /* the slot is a term, else a value */
  uint32_t n_slots;
  uint32_t first_lemma, n_lemmas; /* equalities that the step rests on, too */
} rl_link;

typedef struct rl_chain {
  gs_term from, to;
  const rl_link *links;
  uint32_t n;
  bool found; /* of a lemma: else it is taken on trust */
} rl_chain;

typedef struct rl_explanation {
  gs_program *program; /* holds all terms */
  rl_chain *chains;    /* by output */
  uint32_t n_chains;
  rl_chain *lemmas;
  uint32_t n_lemmas;
  uint32_t failed; /* the output without a chain */
  eg_explained why;
} rl_explanation;

/* Chains from the outputs of a to those of b, whose terms the run has.  False
 * when an output has none; then `failed` and `why` tell.  What it gives lives
 * in the context's arena. */
bool rl_explain(const gs_context *, const rl_run *, const gs_program *a,
                const gs_program *b, uint32_t max_steps, rl_explanation *out);

/* Replays each step on its terms alone, without the e-graph.  NULL when all is
 * right, else what is wrong at *step of the chain. */
const char *rl_check_chain(const gs_context *, const rl_rules *,
                           const rl_explanation *, const rl_chain *,
                           uint32_t *step);
/* All chains and lemmas. */
const char *rl_check_explanation(const gs_context *, const rl_rules *,
                                 const rl_explanation *);
/* One step; lemmas count as given. */
const char *rl_check_link(const gs_context *, const rl_rules *,
                          const rl_explanation *, const rl_link *);

#endif
