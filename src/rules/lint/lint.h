/* SPDX-License-Identifier: MIT */
/* lint.h - what is wrong in rule files, as far as it shows without a proof.
 *
 * Each finding is a diagnostic with the span of what is at fault: an error for
 * what cannot be right, a warning for what is hardly meant, a note for what is
 * perhaps meant.  Findings stand in the order of the files. */
#ifndef RULES_LINT_H
#define RULES_LINT_H

#include "rules/rule/rules.h"

typedef struct rl_lint_counts {
  uint32_t files, rules; /* rules of the files, directions of <=> each */
  uint32_t tried;        /* that applied to some generated shapes */
} rl_lint_counts;

/* After rl_finish, which may have failed: then only the rules that could be
 * read are looked at.  `remarks`: notes, too. */
void rl_lint(const gs_context *, const rl_rules *, bool remarks,
             rl_lint_counts *out);

#endif
