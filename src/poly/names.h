/* names.h - identifiers of generated code. */
#ifndef POLY_NAMES_H
#define POLY_NAMES_H

#include "base/arena.h"

/* `name` with every other character than [A-Za-z0-9_] made `_`, and no digit
 * or underscore in front; with `v_` in front where that is reserved. */
const char *po_sanitize(bs_arena *, const char *name);
/* Keywords of C and C++, macros and types of the standard headers, and what
 * the generator names itself: t0, acc0, i0, S0, k0. */
bool po_name_is_reserved(const char *name);

#endif
