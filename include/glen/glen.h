/* SPDX-License-Identifier: MIT */
/* glen.h - the public interface of libglen.
 *
 * One context owns everything made with it; objects live until the context is
 * freed (or until their own *_free).  A context is used by one thread at a
 * time; several contexts are independent.  The library never prints, exits or
 * aborts on user input: a function that fails returns false or NULL and leaves
 * diagnostics in the context.  When memory runs out it fails with the
 * diagnostic "out-of-memory" and the context may only be freed.  The locale of
 * the calling thread changes nothing, and is there again afterwards.  A stack
 * of 256 KiB is enough for any function.
 *
 * Strings returned are owned by the context and NUL-terminated; those that are
 * printed for the caller, as the text of a program, live until
 * glen_free_strings. */
#ifndef GLEN_GLEN_H
#define GLEN_GLEN_H

#include <glen/context.h>
#include <glen/inputs.h>
#include <glen/saturate.h>
#include <glen/loops.h>
#include <glen/schedule.h>
#include <glen/run.h>
#include <glen/rules.h>
#include <glen/models.h>

#endif
