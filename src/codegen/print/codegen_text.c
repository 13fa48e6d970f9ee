/* SPDX-License-Identifier: MIT */
/* codegen_text.c - comments, and lists that are broken into lines. */
#include "codegen/print/print.h"
#include <assert.h>
#include <string.h>

#define LINE_LENGTH 76

void
cg_put_item(bs_text *out, const char *format, ...) {
  size_t start = out->len;
  va_list args;
  va_start(args, format);
  bs_putv(out, format, args);
  va_end(args);
  cg_end_item(out, start);
}

void
cg_end_item(bs_text *out, size_t start) {
  assert(start <= out->len);
  size_t n = out->len - start, line = start;
  while (line && out->data[line - 1] != '\n')
    line--;
  if (out->len - line <= LINE_LENGTH + 1 || out->data[start - 1] != ' ')
    return;
  bs_put(out, "    ");
  memmove(out->data + start + 4, out->data + start, n);
  memset(out->data + start, ' ', 4);
  out->data[start - 1] = '\n';
}

void
cg_put_comment(bs_text *out, uint32_t indent, const char *text) {
  cg_indent(out, indent);
  bs_put(out, "/* ");
  for (const char *at = text; *at; at++) {
    if (*at == '/' && at > text && at[-1] == '*')
      bs_putc(out, ' ');
    bs_putc(out, *at == '\n' ? ' ' : *at);
    if (*at == '/' && at[1] == '*')
      bs_putc(out, ' ');
  }
  bs_put(out, " */\n");
}
