/* SPDX-License-Identifier: MIT */
/* refuse.c - a step is not taken, and why. */
#include "poly/schedule/primitive.h"
#include <stdarg.h>

bool
po_refuse(const po_program *p, const po_step_call *call, const char *code,
          const char *format, ...) {
  bs_text text;
  va_list args;
  bs_text_init(&text, p->ctx.heap);
  va_start(args, format);
  bs_putv(&text, format, args);
  va_end(args);
  bs_error(p->ctx.diags, call->span, code, "%s: %s", call->primitive->name,
           bs_text_str(&text));
  bs_text_done(&text);
  return false;
}
