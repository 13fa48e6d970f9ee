/* SPDX-License-Identifier: MIT */
/* tokens.h - the tokens of an S-expression file, comments and all.
 *
 * Nothing but white space stands between two tokens, so the tokens in order
 * are the whole text.  What a token says is its bytes in the source. */
#ifndef BASE_TOKENS_H
#define BASE_TOKENS_H

#include "base/diag.h"

typedef enum bs_token_kind {
  BS_T_OPEN,
  BS_T_CLOSE,
  BS_T_ATOM, /* a symbol or a number */
  BS_T_STRING,
  BS_T_COMMENT /* without the white space at its end */
} bs_token_kind;

typedef struct bs_token {
  bs_token_kind kind;
  uint32_t lo, hi; /* bytes of the source */
  uint32_t lines;  /* line ends between the token before and this one */
  uint32_t column; /* from 0, in characters */
} bs_token;

typedef struct bs_tokens {
  BS_VEC(bs_token) list;
} bs_tokens;

/* False with one diagnostic when the source is no text, or its strings or
 * parentheses do not match. */
bool bs_tokens_read(bs_heap *, bs_diags *, uint32_t source, bs_tokens *out);
void bs_tokens_done(bs_heap *, bs_tokens *);

#endif
