/* SPDX-License-Identifier: MIT */
/* naming.h - the e-graph's nodes and classes in the words of the language. */
#ifndef RULES_NAMING_H
#define RULES_NAMING_H

#include "egraph/export.h"
#include "glenside/type/context.h"

/* Fills a naming that prints a node's head with its attributes and a class's
 * type.  `ctx` must outlive it. */
void rl_naming(const gs_context *ctx, eg_naming *out);

#endif
