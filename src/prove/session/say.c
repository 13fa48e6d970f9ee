/* SPDX-License-Identifier: MIT */
/* say.c - what is told of a proof. */
#include "prove/session/session.h"
#include <stdarg.h>
#include <stdio.h>

const char *
pv_say(const pv_session *s, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return bs_arena_strdup(s->outer->arena, text);
}
