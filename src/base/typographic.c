/* SPDX-License-Identifier: MIT */
/* typographic.c - see typographic.h. */
#include "base/typographic.h"

#include <string.h>

#define QUOTES                                                                 \
  "it is a typographic quotation mark; write straight ones: \"...\""
#define MINUS "it is a typographic dash; a minus sign is the hyphen, -"
#define SPACE "it is a space of another width; write an ordinary one"
#define WIDE  "it is a full-width character; write the ASCII one"

const char *
bs_typographic(const char *s, size_t n) {
  static const struct {
    const char *bytes, *hint;
  } marks[] = {
      {"\xe2\x80\x98", QUOTES}, /* U+2018 to U+201F */
      {"\xe2\x80\x99", QUOTES},
      {"\xe2\x80\x9a", QUOTES},
      {"\xe2\x80\x9c", QUOTES},
      {"\xe2\x80\x9d", QUOTES},
      {"\xe2\x80\x9e", QUOTES},
      {"\xc2\xab", QUOTES},
      {"\xc2\xbb", QUOTES},
      {"\xe2\x88\x92", MINUS}, /* U+2212 */
      {"\xe2\x80\x90", MINUS}, /* U+2010 to U+2014 */
      {"\xe2\x80\x91", MINUS},
      {"\xe2\x80\x92", MINUS},
      {"\xe2\x80\x93", MINUS},
      {"\xe2\x80\x94", MINUS},
      {"\xc2\xa0", SPACE},
      {"\xe2\x80\xaf", SPACE}, /* U+00A0, U+202F */
      {"\xe3\x80\x80", SPACE},
      {"\xe2\x80\x89", SPACE},
      {"\xe2\x80\x8b", "it is invisible; delete it"}, /* U+200B */
      {"\xef\xbc\x88", WIDE}, /* U+FF08, U+FF09, U+FF1A, U+FF1B */
      {"\xef\xbc\x89", WIDE},
      {"\xef\xbc\x9a", WIDE},
      {"\xef\xbc\x9b", WIDE},
  };
  for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
    size_t length = strlen(marks[k].bytes);
    if (n >= length && !memcmp(s, marks[k].bytes, length))
      return marks[k].hint;
  }
  return NULL;
}
