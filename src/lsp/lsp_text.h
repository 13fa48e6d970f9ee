/* SPDX-License-Identifier: MIT */
/* lsp_text.h - a text with its lines: bytes to UTF-16 positions and back.
 *
 * A line ends with \n, \r\n or \r.  A position counts lines from 0 and UTF-16
 * code units from 0; one behind the end of its line means the end of the line,
 * one behind the last line the end of the text. */
#ifndef LSP_TEXT_H
#define LSP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lsp_position {
  uint32_t line, character;
} lsp_position;

typedef struct lsp_text {
  char *data; /* UTF-8, NUL-terminated */
  size_t size;
  size_t *lines; /* where each begins */
  size_t n_lines;
} lsp_text;

/* Takes a copy; false when there is no memory (the text is then as before). */
bool lsp_text_set(lsp_text *, const char *data, size_t size);
/* Puts `with` in the place of [lo, hi). */
bool lsp_text_splice(lsp_text *, size_t lo, size_t hi, const char *with,
                     size_t size);
void lsp_text_done(lsp_text *);

size_t lsp_offset(const lsp_text *, lsp_position);
lsp_position lsp_position_of(const lsp_text *, size_t offset);

#endif
