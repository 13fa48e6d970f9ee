/* SPDX-License-Identifier: MIT */
/* message.c - the reader of messages.
 *
 * Headers are lines up to an empty one.  Content-Length is looked for anywhere
 * in them, not only where a line begins: so a client that sent one bad message
 * is understood again from the next one on. */
#include "lsp/message.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char field[] = "Content-Length:";

bool
lsp_reader_feed(lsp_reader *r, const char *bytes, size_t n) {
  assert(bytes || !n);
  assert(r->at <= r->len && r->len <= r->cap);
  if (r->drop) {
    size_t k = n < r->drop ? n : (size_t)r->drop;
    r->drop -= k;
    bytes += k;
    n -= k;
  }
  if (r->at) {
    memmove(r->data, r->data + r->at, r->len - r->at);
    r->len -= r->at;
    r->at = 0;
  }
  if (r->cap - r->len < n) {
    size_t cap = r->cap ? r->cap : 4096;
    while (cap - r->len < n)
      cap *= 2;
    char *data = realloc(r->data, cap);
    if (!data)
      return false;
    r->data = data;
    r->cap = cap;
  }
  if (n)
    memcpy(r->data + r->len, bytes, n);
  r->len += n;
  return true;
}

/* Behind the empty line that ends the header, or 0. */
static size_t
header_end(const lsp_reader *r) {
  size_t limit = r->len - r->at;
  if (limit > LSP_MAX_HEADER)
    limit = LSP_MAX_HEADER;
  for (size_t k = 0; k + 1 < limit; k++) {
    const char *s = r->data + r->at + k;
    if (s[0] != '\n')
      continue;
    if (s[1] == '\n')
      return r->at + k + 2;
    if (s[1] == '\r' && k + 2 < limit && s[2] == '\n')
      return r->at + k + 3;
  }
  return 0;
}

/* The last field of the header; NULL when there is none. */
static const char *
find_field(const char *from, const char *to) {
  size_t n = sizeof field - 1;
  for (const char *s = to - n; s >= from; s--)
    if (!strncasecmp(s, field, n))
      return s + n;
  return NULL;
}

static bool
read_length(const char *from, const char *to, uint64_t *out) {
  const char *s =
      (size_t)(to - from) >= sizeof field ? find_field(from, to) : NULL;
  if (!s)
    return false;
  while (s < to && (*s == ' ' || *s == '\t'))
    s++;
  const char *digits = s;
  for (*out = 0; s < to && *s >= '0' && *s <= '9'; s++) {
    if (*out > (UINT64_MAX - 9) / 10)
      return false;
    *out = *out * 10 + (uint64_t)(*s - '0');
  }
  return s > digits && s < to && (*s == '\r' || *s == '\n' || *s == ' ');
}

/* What was read of a body that is dropped goes at once. */
static void
drop(lsp_reader *r, uint64_t n) {
  size_t have = r->len - r->at;
  size_t k = n < have ? (size_t)n : have;
  r->at += k;
  r->drop = n - k;
}

static lsp_found
bad_header(lsp_reader *r, size_t end) {
  r->at = end ? end : r->at + LSP_MAX_HEADER;
  return LSP_BAD_HEADER;
}

lsp_found
lsp_reader_next(lsp_reader *r, const char **body, size_t *size) {
  uint64_t length;
  if (r->at == r->len)
    return LSP_MORE;
  size_t end = header_end(r);
  if (!end && r->len - r->at < LSP_MAX_HEADER)
    return LSP_MORE;
  if (!end || !read_length(r->data + r->at, r->data + end, &length))
    return bad_header(r, end);
  if (length > LSP_MAX_BODY) {
    r->at = end;
    drop(r, length);
    return LSP_TOO_LARGE;
  }
  if (r->len - end < length)
    return LSP_MORE;
  *body = r->data + end;
  *size = (size_t)length;
  r->at = end + (size_t)length;
  return LSP_BODY;
}

void
lsp_reader_done(lsp_reader *r) {
  free(r->data);
  *r = (lsp_reader){0};
}
