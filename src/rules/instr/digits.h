/* SPDX-License-Identifier: MIT */
/* digits.h - indices as rows of digits; private to this folder.
 *
 * What a term computes is looked at from its result down.  Each dimension of
 * the result is a digit, and so is each that is reduced over.  A view says
 * which digits stand in which dimension of its operand: a transpose puts them
 * in another order, a broadcast drops some, a reshape splits them where it has
 * to.  So however views are spelled, what is left in the end is an iteration
 * space and, for each operand, a row of digits for each dimension. */
#ifndef RULES_DIGITS_H
#define RULES_DIGITS_H

#include "glenside/type/type.h"

enum { RL_DIGITS = 256, RL_ROW = 24 };

typedef struct rl_digit {
  int64_t size;
  uint16_t high, low; /* what it was split into; 0: nothing */
  uint16_t group;     /* the reduction that runs over it; 0: the result's */
} rl_digit;

/* A sequence of digits, the highest first. */
typedef struct rl_row {
  uint16_t n, digit[RL_ROW];
  int64_t item; /* where the index is one number: an item of a tuple */
} rl_row;

typedef struct rl_index {
  uint32_t rank;
  rl_row at[GS_MAX_RANK];
} rl_index;

typedef struct rl_digits {
  uint32_t n; /* digit 0 is none */
  bool failed;
  rl_digit digit[RL_DIGITS];
} rl_digits;

void rl_digits_clear(rl_digits *);
/* An index of each of the dimensions from..to of a type, behind what is there.
 */
void rl_digits_push(rl_digits *, const gs_type *, uint32_t from, uint32_t to,
                    uint32_t group, rl_index *);
void rl_index_insert(rl_index *, uint32_t at, const rl_row *);
/* Digits that were split are replaced by what they were split into. */
void rl_row_normalise(rl_digits *, rl_row *);
void rl_index_normalise(rl_digits *, rl_index *);
/* As when there were n digits, of which some have been split since. */
void rl_digits_undo(rl_digits *, uint32_t n);
/* The child below a view and the index into it; false where the view does more
 * than move digits, and nothing has changed. */
bool rl_digits_down(rl_digits *, const bs_values *, gs_op, bs_value attr,
                    const gs_type *, const gs_type *const *kids, rl_index *,
                    uint32_t *kid);

#endif
