/* SPDX-License-Identifier: MIT */
/* format.h - .rules, .glen and .target files in their one form. */
#ifndef RULES_FORMAT_H
#define RULES_FORMAT_H

#include "glenside/type/context.h"

enum { RL_LINE = 80, RL_MAX_NESTING = 1000 };

/* Writes the source in its one form: the same tokens in the same order, every
 * comment kept, only white space changed.  Formatting what was written changes
 * nothing.  False with a diagnostic when the source cannot be read, or nests
 * deeper than RL_MAX_NESTING. */
bool rl_format(const gs_context *, uint32_t source, bs_text *out);

#endif
