/* SPDX-License-Identifier: MIT */
/* sound.h - rules tried on random programs: do they keep the value?
 *
 * For one rule: small random terms that its left side matches are made into
 * programs, the rule runs on them, and random equal programs extracted from the
 * e-graph are interpreted beside the original: exact for integers, within a
 * tolerance for floats.  For a whole collection: random programs made of all
 * operators, all rules together.  A search for counterexamples, not a proof. */
#ifndef RULES_SOUND_H
#define RULES_SOUND_H

#include "rules/rule/saturate.h"

typedef struct rl_sound_options {
  uint64_t seed;
  uint32_t programs; /* that the rule must fire on (4) */
  uint32_t attempts; /* at making one of them, all in all (400) */
  uint32_t variants; /* extracted from each (4) */
  uint32_t nodes;    /* of an e-graph (2000) */
  bool explain;      /* and check the chain to each variant */
} rl_sound_options;

void rl_sound_defaults(rl_sound_options *);

typedef struct rl_sound_result {
  bool sound;     /* no counterexample was found */
  uint32_t fired; /* programs the rule fired on; 0: nothing was tried */
  uint32_t attempts;
  uint32_t compared; /* variants interpreted */
  uint32_t explained, steps, lemmas;
  const char *message; /* the counterexample, several lines; or NULL */
} rl_sound_result;

/* One rule alone.  The message lives in ctx->arena.  Returns `sound`. */
bool rl_check_sound(const gs_context *, const rl_rules *, uint32_t rule,
                    const rl_sound_options *, rl_sound_result *out);

#endif
