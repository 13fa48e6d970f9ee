/* SPDX-License-Identifier: MIT */
/* typographic.h - characters that word processors put in the place of those
 * of a source. */
#ifndef BASE_TYPOGRAPHIC_H
#define BASE_TYPOGRAPHIC_H

#include <stddef.h>

/* What to write instead of the character that begins at `s` (n bytes may be
 * read); NULL: it is none of these. */
const char *bs_typographic(const char *s, size_t n);

#endif
