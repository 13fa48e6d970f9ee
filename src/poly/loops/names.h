/* SPDX-License-Identifier: MIT */
/* names.h - identifiers of generated code. */
#ifndef POLY_NAMES_H
#define POLY_NAMES_H

#include "glenside/target/target.h"

/* `name` with every other character than [A-Za-z0-9_] made `_`, and no digit
 * or underscore in front; with `v_` in front where that is reserved. */
const char *po_sanitize(bs_arena *, const char *name);
/* A name of a function beside those of the C library, which it would hide, and
 * of what the target's own C text has; as above. */
const char *po_function_name(bs_arena *, const gs_target *, const char *name);
/* A word of a target's own C text: called or defined by what stands at the top
 * of files, or anything in what calls an instruction. */
bool po_name_is_of_target(const gs_target *, const char *name);
/* names_library.c: a function of the C library or POSIX; a macro of
 * its headers. */
bool po_name_is_of_library(const char *name);
bool po_name_is_of_header(const char *name);
/* A function of math.h. */
bool po_name_is_of_math(const char *name);
/* Keywords of C and C++, macros and types of the standard headers, and what
 * the generator names itself: t0, acc0, i0, S0, k0. */
bool po_name_is_reserved(const char *name);

#endif
