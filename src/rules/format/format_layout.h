/* SPDX-License-Identifier: MIT */
/* format_layout.h - a file that is being formatted; private to format*.c. */
#ifndef RULES_FORMAT_LAYOUT_H
#define RULES_FORMAT_LAYOUT_H

#include "base/tokens.h"
#include "rules/format/format.h"

enum {
  WIDE = 1 << 20,     /* the width of what does not stand on one line */
  MOST_INDENT = 100,  /* deeper lists are indented no further */
  MOST_ALIGNED = 56,  /* the last column to align what must be broken */
  EASILY_ALIGNED = 40 /* where nothing was written in lines before */
};

typedef struct item {
  uint32_t token;
  uint32_t first, next; /* items; 0: none */
  uint32_t width;       /* on one line */
} item;

typedef struct layout {
  const gs_context *ctx;
  const char *text;
  bs_tokens tokens;
  BS_VEC(item) items; /* items.data[0] is the file */
  bs_text *out;
  uint32_t column, line;
  bool comment; /* what comes next needs a line of its own */
} layout;
/* A form whose parts stand on lines of their own, but for the first `kept`. */
typedef struct form {
  const char *head;
  uint8_t kept;
  bool block;  /* never on one line; blank lines around it */
  bool filled; /* the parts share lines */
} form;

/* --- items (format_tree.c) --- */

/* The tokens as a tree; false after an error: lists nested too deep. */
bool rl_build_tree(layout *l, uint32_t source);

const bs_token *rl_token_of(const layout *l, uint32_t i);

bool rl_is_kind(const layout *l, uint32_t i, bs_token_kind kind);

bool rl_spells(const layout *l, uint32_t i, const char *word);

/* The form of a list; NULL: a term or expression. */
const form *rl_form_of(const layout *l, uint32_t list);

/* A word that begins with a colon. */
bool rl_is_clause(const layout *l, uint32_t i);

/* A clause whose value is a list of data, not a term. */
bool rl_holds_data(const layout *l, uint32_t i);

/* A list headed by a function of expressions, by a variable, or the like. */
bool rl_wants_alignment(const layout *l, uint32_t head);

/* --- output (format_write.c) --- */

void rl_newline(layout *l, uint32_t indent);

void rl_put_word(layout *l, const char *s, uint32_t n);

void rl_put_atom(layout *l, uint32_t i);

void rl_put_space(layout *l);

/* `blank`: with an empty line before it, where it stands on a line of its own.
 */
void rl_put_comment(layout *l, uint32_t i, uint32_t indent, bool blank);

void rl_put_close(layout *l, uint32_t indent);

#endif
