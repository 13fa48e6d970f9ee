/* SPDX-License-Identifier: MIT */
/* The language server's reader of messages on any bytes, and positions in any
 * text.
 *
 * Bytes that come one by one, or in pieces, give the same messages as bytes
 * that come at once; every offset at a character is that of its position. */
#include "fuzz.h"
#include "base/utf8.h"
#include "lsp/message.h"
#include "lsp/lsp_text.h"

/* What came out, as one number. */
static uint64_t
read_in_pieces(const uint8_t *bytes, size_t size, size_t piece) {
  lsp_reader r = {0};
  uint64_t hash = 14695981039346656037u, bodies = 0;
  const char *body;
  size_t n;
  for (size_t at = 0; at < size; at += piece) {
    size_t k = size - at < piece ? size - at : piece;
    require(lsp_reader_feed(&r, (const char *)bytes + at, k));
    for (lsp_found f; (f = lsp_reader_next(&r, &body, &n)) != LSP_MORE;) {
      hash = (hash ^ f) * 1099511628211u;
      if (f != LSP_BODY)
        continue;
      bodies += n;
      for (size_t i = 0; i < n; i++)
        hash = (hash ^ (uint8_t)body[i]) * 1099511628211u;
    }
    require(r.cap <= 4 * (size + 4096));
  }
  require(bodies <= size);
  lsp_reader_done(&r);
  return hash;
}

static void
check_positions(const char *s, size_t size) {
  lsp_text t = {0};
  require(lsp_text_set(&t, s, size));
  for (size_t at = 0; at <= size;) {
    lsp_position p = lsp_position_of(&t, at);
    size_t back = lsp_offset(&t, p);
    bool in_line_end = at && at < size && s[at - 1] == '\r' && s[at] == '\n';
    require(back == at || (in_line_end && back == at - 1));
    at += at < size ? bs_utf8_length(s + at, size - at) : 1;
  }
  lsp_position far = {UINT32_MAX, UINT32_MAX};
  require(lsp_offset(&t, far) == size);
  require(lsp_text_splice(&t, size / 3, size / 2, s, size));
  require(t.size == size - (size / 2 - size / 3) + size);
  lsp_text_done(&t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  uint64_t whole = read_in_pieces(bytes, size, size ? size : 1);
  require(whole == read_in_pieces(bytes, size, 1));
  require(whole == read_in_pieces(bytes, size, 7));
  if (bs_utf8_fault((const char *)bytes, size) == size)
    check_positions((const char *)bytes, size);
  return 0;
}
