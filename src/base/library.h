/* SPDX-License-Identifier: MIT */
/* library.h - shared libraries that are loaded when they are first needed. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Loads the first library that is there, of `names` separated by spaces, and
 * puts the addresses of its functions, of `functions` separated by spaces, into
 * `out` in their order.  False where there is none, or a function is missing
 * from it.  A library that was loaded stays. */
bool bs_library_load(const char *names, const char *functions, void **out);

/* The library that has the function, which `library` needs, stays loaded until
 * the process ends; nothing where none has it. */
void bs_library_keep(void *library, const char *function);

#endif
