/* SPDX-License-Identifier: MIT */
/* printed.h - what a call prints, as a text. */
#ifndef TESTS_PRINTED_H
#define TESTS_PRINTED_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

static char printed_text[1 << 16];

/* What call(argument) prints to stdout (1) or to stderr (2). */
static inline const char *
printed(int to, void (*call)(const void *), const void *argument) {
  FILE *stream = to == 1 ? stdout : stderr, *kept = tmpfile();
  fflush(stream);
  int was = dup(to);
  cr_assert(kept && was >= 0 && dup2(fileno(kept), to) == to);
  call(argument);
  fflush(stream);
  dup2(was, to);
  close(was);
  rewind(kept);
  size_t n = fread(printed_text, 1, sizeof printed_text - 1, kept);
  printed_text[n] = '\0';
  fclose(kept);
  return printed_text;
}

#endif
