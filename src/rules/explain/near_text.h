/* SPDX-License-Identifier: MIT */
/* near_text.h - a condition that fails, in words; private to this folder. */
#ifndef RULES_NEAR_TEXT_H
#define RULES_NEAR_TEXT_H

#include "rules/rule/internal.h"
#include "rules/explain/near.h"

/* False when there is nothing that an author wrote to tell about. */
bool rl_tell_need(const gs_context *, const gs_scope *, const gs_env *,
                  const rl_step *, rl_need *out);

#endif
