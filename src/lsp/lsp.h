/* SPDX-License-Identifier: MIT */
/* lsp.h - the language server: LSP 3.17 over two descriptors.
 *
 * It stands on the public interface alone (glen/editor.h): each state of a
 * document is analysed in a context of its own, whose memory is limited.
 * Whatever a client sends is answered or passed over; nothing that it sends
 * ends the server but `exit` and the end of the input. */
#ifndef LSP_LSP_H
#define LSP_LSP_H

typedef struct lsp_options {
  const char *target; /* declares the instructions, or NULL */
} lsp_options;

/* Serves until the client is done; returns the exit code: 0 after a shutdown,
 * else 1. */
int lsp_serve(int in, int out, const lsp_options *);

#endif
