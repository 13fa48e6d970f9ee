/* SPDX-License-Identifier: MIT */
/* refuse.c - a step is not taken, and why. */
#include "poly/schedule/primitive.h"
#include <assert.h>
#include <stdarg.h>

bool
po_refuse(const po_program *p, const po_step_call *call, const char *code,
          const char *format, ...) {
  assert(code && *code && format);
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

static const char *
copy_of(const po_program *p, const char *text) {
  return text ? bs_arena_strdup(&p->ctx.diags->messages, text) : NULL;
}

void
po_tell_violation(const po_program *p, const po_step_call *call,
                  const po_violation *v) {
  if (!call->violation)
    return;
  *call->violation = *v;
  call->violation->array = copy_of(p, v->array);
  call->violation->source = copy_of(p, v->source);
  call->violation->sink = copy_of(p, v->sink);
  call->violation->loop = copy_of(p, v->loop);
  call->violation->sizes = copy_of(p, v->sizes);
}
