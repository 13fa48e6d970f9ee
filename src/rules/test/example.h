/* SPDX-License-Identifier: MIT */
/* example.h - a small instance of a rule, to show types by. */
#ifndef RULES_EXAMPLE_H
#define RULES_EXAMPLE_H

#include "rules/rule/rules.h"

typedef struct rl_example {
  /* By node of the rule's left side. */
  gs_type *types;
  uint8_t *known;
} rl_example;

/* Random small terms that the left side matches and the rule applies to, tried
 * until one is found; the same in each run.  False when none was.  The lists
 * are in ctx->arena. */
bool rl_find_example(const gs_context *, const rl_rules *, const rl_rule *,
                     rl_example *out);

#endif
