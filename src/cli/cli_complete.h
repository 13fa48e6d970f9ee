/* SPDX-License-Identifier: MIT */
/* cli_complete.h - candidates for the last word of a command line. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli/cli_options.h"

/* The words behind the program's name; the last one is being typed. */
void cl_complete(FILE *, const char *const *words, uint32_t n);

/* Where candidates go: those that begin with `typed` are printed, with what
 * stands before and behind them. */
typedef struct cl_offer {
  FILE *out;
  const char *typed, *before, *behind;
} cl_offer;

/* what: said of it, or NULL. */
void cl_offer_word(cl_offer *, const char *word, const char *what);

/* The words behind a command. */
typedef struct cl_words {
  const char *const *words;
  uint32_t n;
} cl_words;

/* What an option was given before the last word, or NULL; letter 0: none. */
const char *cl_said(const cl_words *, const char *name, char letter);

#endif
