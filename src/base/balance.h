/* SPDX-License-Identifier: MIT */
/* balance.h - the check before an S-expression file is read. */
#ifndef BASE_BALANCE_H
#define BASE_BALANCE_H

#include "base/diag.h"

/* Whether the source is UTF-8 without control characters, its strings end and
 * its parentheses match; else false with one error.  Needs no memory, so it
 * answers at once for any nesting. */
bool bs_balanced(bs_diags *, uint32_t source);
/* Just behind the closing quote of the string that opens at `at`, or `size`
 * when there is none. */
uint32_t bs_string_end(const char *text, uint32_t size, uint32_t at,
                       bool *closed);

#endif
