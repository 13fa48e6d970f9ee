/* SPDX-License-Identifier: MIT */
/* options_table.h - a row of the table that the command line is parsed,
 * explained and completed from. */
#ifndef CLI_OPTIONS_TABLE_H
#define CLI_OPTIONS_TABLE_H

#include "cli/cli_options.h"

/* WORDS: some of the `choices`, divided by commas.  MAYBE: a word of `choices`
 * may stand behind `=`; alone it is the empty text, and means the first of
 * them.  UP_TO: a COUNT that is at most its preset.  FROM_1: a COUNT that is
 * not 0. */
typedef enum cl_kind {
  FLAG,
  TEXT,
  WORDS,
  LIST,
  COUNT,
  FROM_1,
  UP_TO,
  BYTES,
  SECONDS,
  MAYBE
} cl_kind;

enum { /* bits of cl_commands, in its order */
       SATURATE = 1 << 0,
       COMPILE = 1 << 1,
       RUN = 1 << 2,
       CHECK = 1 << 3,
       SCHEDULE = 1 << 4,
       LAYOUT = 1 << 5,
       EXPLAIN = 1 << 6,
       MAP = 1 << 7,
       RULES_TEST = 1 << 8,
       RULES_CHECK = 1 << 9,
       RULES_PROVE = 1 << 10,
       RULES_FMT = 1 << 11,
       RULES_ABLATE = 1 << 12,
       TARGET_TEST = 1 << 13,
       TARGET = 1 << 14,
       EXTRACT = 1 << 15,
       IMPORT = 1 << 16,
       LSP = 1 << 17,
       COMPLETIONS = 1 << 18,
       FMT = 1 << 19,
       SIMULATE = 1 << 20,
       TILING = 1 << 21,
       LAST = TILING,
       EVERY = -1,
       WORKS = EVERY & ~(COMPLETIONS | LSP),
       CHOOSES =
           SATURATE | COMPILE | RUN | RULES_ABLATE | EXPLAIN | MAP | SIMULATE,
       WRITES = SATURATE | COMPILE | SCHEDULE | LAYOUT | IMPORT | MAP,
       BUILDS = WRITES | CHECK | RULES_TEST | RULES_CHECK | RULES_PROVE |
                TARGET_TEST,
       EXPLORES = CHOOSES | RULES_TEST | RULES_CHECK | RULES_PROVE
};

typedef struct cl_row {
  const char *name;
  char letter;
  const char *argument; /* NULL: a flag */
  cl_kind kind;
  size_t offset;
  int commands;
  const char *preset;  /* the default as it would be written, or NULL */
  const char *choices; /* words allowed, separated by spaces, or NULL */
  const char *help;
} cl_row;

extern const cl_row cl_rows[];
extern const size_t cl_row_count;

/* Does the option need no word behind it? */
static inline bool
cl_stands_alone(const cl_row *r) {
  return r->kind == FLAG || r->kind == MAYBE;
}

/* What stands between an option and its argument. */
static inline const char *
cl_before_argument(const cl_row *r) {
  return r->kind == MAYBE ? "[=" : r->argument ? " " : "";
}

/* The bit of a command; all of them where there is none. */
int cl_command_bit(const cl_command *);
/* The first row of that name, of commands with one of the bits; or NULL. */
const cl_row *cl_find_row(const char *name, size_t len, int bits);

#endif
