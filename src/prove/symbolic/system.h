/* SPDX-License-Identifier: MIT */
/* system.h - have linear inequalities a common point of whole numbers?
 *
 * The same few systems are asked about in form after form of a rule, as forms
 * that differ in an operator or a dtype have the same sizes.  So a system is
 * written down without the names of its variables, and its answer is kept. */
#ifndef PROVE_SYSTEM_H
#define PROVE_SYSTEM_H

#include "base/heap.h"
#include <isl/ctx.h>

enum {
  SY_COLUMNS = 30,
  SY_ROWS = 72,
  SY_WORDS = 2 + SY_ROWS * (1 + 2 * (SY_COLUMNS + 1))
};

/* Row by row: how many terms there are, and of each the column, 0 for the
 * constant, and the factor.  The sum of a row is at least 0. */
typedef struct sy_system {
  uint32_t n;
  int64_t word[SY_WORDS];
} sy_system;

typedef struct sy_memo sy_memo;

/* On the heap until that is done; it takes what it needs at once. */
sy_memo *sy_memo_new(bs_heap *);

void sy_start(sy_system *, uint32_t columns, uint32_t rows);
void sy_row(sy_system *, uint32_t terms);
void sy_term(sy_system *, uint32_t column, int64_t times);

typedef enum sy_answer { SY_UNKNOWN, SY_POINT, SY_NO_POINT } sy_answer;

/* SY_UNKNOWN: a bound of work was reached.  The memo may be NULL. */
sy_answer sy_ask(sy_memo *, isl_ctx *, const sy_system *);

#endif
