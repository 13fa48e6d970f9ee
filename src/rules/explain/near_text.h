/* SPDX-License-Identifier: MIT */
/* near_text.h - a condition that fails, in words; private to this folder. */
#ifndef RULES_NEAR_TEXT_H
#define RULES_NEAR_TEXT_H

#include "rules/rule/rule_internal.h"
#include "rules/explain/near.h"

/* False when there is nothing that an author wrote to tell about.  `instr`:
 * whose rule it is, or NULL: what its memories have no room for is told so. */
bool rl_tell_need(const gs_context *, const gs_scope *, const gs_instr *instr,
                  const gs_env *, const rl_step *, rl_need *out);
/* near_size.c: up to which sizes the condition, of which the text of each
 * variable is `?name`, would hold; NULL: no single size decides that. */
const char *rl_hint_sizes(const gs_context *, const gs_scope *, const gs_env *,
                          const gs_expr *);

#endif
