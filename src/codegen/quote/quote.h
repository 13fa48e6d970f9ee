/* SPDX-License-Identifier: MIT */
/* quote.h - C as one writes it, made into nodes of the code tree.
 *
 * The generator of a kernel that is long, and whose shape is known, says in C
 * what it generates; names and numbers are put in as by printf.  Each quote is
 * read at once and becomes nodes, so that what is generated is a tree like any
 * other: checked, walked for what it needs, and printed (Mainland, "Why it's
 * nice to be quoted: quasiquoting for Haskell", 2007).
 *
 *   cg_write(w, "for (int k = 0; k < %u; k++) {", n);
 *   cg_write(w, "sum += x[k] * y[k];");
 *   cg_write(w, "}");
 *
 * A function begins with its head and is closed by cg_end instead of a brace.
 * A quote holds statements that are whole, heads of loops and tests, braces,
 * and lines of the preprocessor.  The statement behind a head without a brace
 * is its body.  Where an operand begins on a new line in a quote it does so in
 * the text that is printed.
 *
 *   operands.c expressions
 *   declare.c  declarations and parameters
 *   head.c     loops
 *   write.c    statements, and what is open */
#ifndef CODEGEN_QUOTE_QUOTE_H
#define CODEGEN_QUOTE_QUOTE_H

#include "codegen/tree/tree.h"

/* A list that is open, and what it will be the body of. */
typedef struct cg_frame {
  cg_node *node; /* NULL: the body of the function */
  cg_list list;
  bool bare;       /* closed by its first statement */
  bool second;     /* it is what is done otherwise */
  uint32_t opened; /* the number of the quote */
  struct cg_frame *around;
} cg_frame;

typedef struct cg_writer {
  bs_arena *arena;
  cg_frame *top;
  const char *why;   /* what is wrong with a quote; NULL: nothing */
  const char *begun; /* of the next quote */
  uint32_t n_quotes;
  cg_function function;
  cg_parameter *parameters;
  uint32_t room; /* for parameters */
  /* Threads share the next loop and those right in it: so many, of which as
   * many are still to come. */
  uint32_t shared, team;
  const cg_expr *pays;
  bool simd;         /* the iterations of the next loop are lanes */
  uint32_t unrolled; /* of the next loop at a time; 0: as it is */
} cg_writer;

/* Nothing is written so far: the first quote is the head of a function,
 *
 *   static void
 *   name(const float *from, float *to) {
 *
 * unless the function, or a body alone, is opened before. */
void cg_start(cg_writer *, bs_arena *);
void cg_open_function(cg_writer *, const cg_function *);
void cg_open_body(cg_writer *);
void cg_write(cg_writer *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Begins the next quote, or goes on with what was begun. */
void cg_add(cg_writer *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds nodes as they are. */
void cg_write_nodes(cg_writer *, cg_node *chain);
/* target = value; the target is quoted. */
void cg_write_store(cg_writer *, const char *target, const cg_expr *value);
/* Opens the body of a test. */
void cg_write_if(cg_writer *, const cg_expr *condition);
/* Threads share so many loops from the next one on; where `pays` holds, unless
 * it is NULL. */
void cg_write_team(cg_writer *, uint32_t loops, const char *pays);
/* So many iterations of the next loop are written out at a time. */
void cg_write_unrolled(cg_writer *, uint32_t iterations);
/* The body, or NULL where something is wrong or still open: see `why`. */
cg_node *cg_end(cg_writer *);

/* One expression; NULL where it is none. */
const cg_expr *cg_quote(bs_arena *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
