/* SPDX-License-Identifier: MIT */
/* reader.h - a quote that is being read (private to its folder). */
#ifndef CODEGEN_QUOTE_READER_H
#define CODEGEN_QUOTE_READER_H

#include "codegen/quote/quote.h"

typedef struct cg_reader {
  bs_arena *arena;
  const char *all, *at; /* the quote, and what is left of it */
  const char *why;      /* what is wrong; NULL: nothing */
} cg_reader;

/* Where the text stands, behind spaces. */
const char *cg_read_space(cg_reader *);
/* Takes the sign, where it stands there; or it is wrong that it does not. */
bool cg_take(cg_reader *, const char *sign);
void cg_expect(cg_reader *, const char *sign);
/* The length of the word that begins there; 0: none does. */
size_t cg_word_length(const char *at);
/* Takes the word, where it is the next one; takes any. */
bool cg_take_word(cg_reader *, const char *word);
const char *cg_read_word(cg_reader *);
/* A type begins there; a type and, behind it, a name. */
bool cg_begins_type(const char *at);
bool cg_begins_declaration(const char *at);

/* operands.c: an expression; operands between braces, too. */
const cg_expr *cg_read_expr(cg_reader *);
/* declare.c: one or several variables of a type, up to the semicolon. */
cg_node *cg_read_declaration(cg_reader *);
/* `static void`, and on a line of its own `name(parameters) {` */
void cg_read_function(cg_writer *, cg_reader *);
/* head.c: `(int k = 0; k < n; k++)` */
cg_node *cg_read_for(cg_reader *);

#endif
