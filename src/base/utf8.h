/* SPDX-License-Identifier: MIT */
/* utf8.h - decoding of UTF-8, strict: no overlong form, no surrogate. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of the code point that starts at `s` (n > 0 of them readable);
 * 0 when it is ill-formed. */
unsigned bs_utf8_length(const char *s, size_t n);
/* The offset of the first NUL or ill-formed byte, or n. */
size_t bs_utf8_fault(const char *s, size_t n);
/* Where the text begins: after the byte order mark that a file may have. */
uint32_t bs_utf8_begin(const char *s, size_t n);
/* Code points in n bytes; an ill-formed byte counts for one. */
size_t bs_utf8_count(const char *s, size_t n);

#define BS_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

#endif
