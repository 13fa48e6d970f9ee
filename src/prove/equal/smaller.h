/* SPDX-License-Identifier: MIT */
/* smaller.h - a rule application that is too large to run, tried smaller. */
#ifndef PROVE_SMALLER_H
#define PROVE_SMALLER_H

#include "prove/session/session_prove.h"
#include "rules/explain/explain_proof.h"
#include "rules/rule/rules.h"

/* Applies the lemma's rule to the same term with smaller sizes.  True when both
 * sides differ there for an input; then *out is that refutation. */
bool pv_refuted_smaller(const gs_context *, const rl_rules *,
                        const gs_program *, const rl_lemma *,
                        const pv_options *, pv_answer *out);

#endif
