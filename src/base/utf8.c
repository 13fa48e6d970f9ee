/* SPDX-License-Identifier: MIT */
/* utf8.c - a table-free decoder after table 3-7 of the Unicode standard: the
 * second byte's range depends on the first, all later ones are 80..BF. */
#include "base/utf8.h"
#include <assert.h>
#include <string.h>

static bool
within(unsigned char byte, unsigned low, unsigned high) {
  return byte >= low && byte <= high;
}

/* The length announced by a first byte and the range of the second. */
static unsigned
announced(unsigned char first, unsigned *low, unsigned *high) {
  *low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  *high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (within(first, 0xc2, 0xdf))
    return 2;
  if (within(first, 0xe0, 0xef))
    return 3;
  return within(first, 0xf0, 0xf4) ? 4 : 0;
}

unsigned
bs_utf8_length(const char *s, size_t n) {
  assert(n);
  const unsigned char *byte = (const unsigned char *)s;
  if (byte[0] < 0x80)
    return 1;
  unsigned low, high;
  unsigned length = announced(byte[0], &low, &high);
  if (!length || length > n || !within(byte[1], low, high))
    return 0;
  for (unsigned i = 2; i < length; i++)
    if (!within(byte[i], 0x80, 0xbf))
      return 0;
  return length;
}

/* Whether eight bytes are all ASCII and none is NUL. */
static bool
plain_eight(const char *s) {
  uint64_t word;
  memcpy(&word, s, sizeof word);
  const uint64_t top = 0x8080808080808080u, ones = 0x0101010101010101u;
  return !((word | (word - ones)) & top);
}

size_t
bs_utf8_fault(const char *s, size_t n) {
  assert(s || !n);
  size_t at = 0;
  while (at < n) {
    if (n - at >= 8 && plain_eight(s + at)) {
      at += 8;
      continue;
    }
    unsigned length = s[at] ? bs_utf8_length(s + at, n - at) : 0;
    if (!length)
      return at;
    at += length;
  }
  return n;
}

uint32_t
bs_utf8_begin(const char *s, size_t n) {
  return n >= 3 && !memcmp(s, "\xef\xbb\xbf", 3) ? 3 : 0;
}

size_t
bs_utf8_count(const char *s, size_t n) {
  assert(s || !n);
  size_t count = 0;
  for (size_t at = 0; at < n; count++) {
    unsigned length = bs_utf8_length(s + at, n - at);
    at += length ? length : 1;
  }
  return count;
}
