/* SPDX-License-Identifier: MIT */
/* line.c - a line of a function, indented. */
#include "codegen/contract/contract.h"
#include <stdarg.h>

void
cg_line(bs_text *out, uint32_t indent, const char *format, ...) {
  va_list args;
  cg_indent(out, indent);
  va_start(args, format);
  bs_putv(out, format, args);
  va_end(args);
  bs_putc(out, '\n');
}
