/* SPDX-License-Identifier: MIT */
/* text_print.h - attributes, literals and line filling (private to
 * print*.c). */
#ifndef GLENSIDE_PRINT_H
#define GLENSIDE_PRINT_H

#include "glenside/program/program.h"

#define PRINT_WIDTH 80

/* Text whose current column is known; lines are filled up to PRINT_WIDTH. */
typedef struct print_out {
  bs_text *text;
  size_t line; /* offset of the current line's first byte */
} print_out;

static inline size_t
print_column(const print_out *o) {
  return o->text->len - o->line;
}
void print_newline(print_out *, uint32_t indent);
/* Puts words separated by blanks; what would pass the width goes to a new
 * line.  `tail`: bytes that must fit behind the last word. */
void print_words(print_out *, const char *words, uint32_t indent, size_t tail);

/* The head: "slice", or "systolicArray" for its call. */
const char *print_head(const bs_values *, gs_op, bs_value attr);
/* The attributes with a blank before each, without the head. */
void print_attrs(const bs_values *, const struct gs_sizes *, gs_op,
                 bs_value attr, bs_text *out);
/* Where attributes stand before the children. */
bool print_attrs_first(gs_op);
/* One element of a constant, exact. */
void print_literal(const gs_constant *, int64_t element, bs_text *out);

#endif
