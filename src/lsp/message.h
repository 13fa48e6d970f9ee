/* SPDX-License-Identifier: MIT */
/* message.h - the base protocol: bodies behind Content-Length headers.
 *
 * Bytes are fed as they come; bodies come out whole.  A header that makes no
 * sense is reported once and passed over, and so is a body that is too large:
 * its bytes are dropped as they come, never held. */
#ifndef LSP_MESSAGE_H
#define LSP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LSP_MAX_HEADER = 4096, LSP_MAX_BODY = 64 << 20 };

typedef enum lsp_found {
  LSP_MORE,      /* feed more bytes */
  LSP_BODY,      /* a body, valid until the next call */
  LSP_TOO_LARGE, /* a body beyond LSP_MAX_BODY is being dropped */
  LSP_BAD_HEADER
} lsp_found;

typedef struct lsp_reader {
  char *data;
  size_t at, len, cap; /* unread bytes are [at, len) */
  uint64_t drop;       /* bytes still to be dropped */
} lsp_reader;

/* False when there is no memory for them. */
bool lsp_reader_feed(lsp_reader *, const char *bytes, size_t n);
lsp_found lsp_reader_next(lsp_reader *, const char **body, size_t *size);
void lsp_reader_done(lsp_reader *);

#endif
