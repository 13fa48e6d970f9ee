/* SPDX-License-Identifier: MIT */
/* token.h - the tokens of a .sched script. */
#ifndef POLY_SCHEDULE_TOKEN_H
#define POLY_SCHEDULE_TOKEN_H

#include "base/diag.h"

typedef enum po_sched_token_kind {
  PO_ST_WORD,   /* a name; dots are part of it */
  PO_ST_NUMBER, /* an integer */
  PO_ST_TEXT,   /* "..." */
  PO_ST_MARK,   /* one of [ ] { } ( ) , = or == <= >= < > */
  PO_ST_END     /* of a command: a line's end or ; */
} po_sched_token_kind;

typedef struct po_sched_token {
  po_sched_token_kind kind;
  bs_span span;
  int64_t number;
  const char *word; /* of WORD, TEXT (without quotes) and MARK; in an arena */
} po_sched_token;

typedef struct po_sched_tokens {
  BS_VEC(po_sched_token) list; /* ends with a PO_ST_END */
} po_sched_tokens;

/* False with a diagnostic. */
bool po_read_tokens(bs_heap *, bs_arena *, bs_diags *, uint32_t source,
                    po_sched_tokens *out);
void po_sched_tokens_done(bs_heap *, po_sched_tokens *);

#endif
