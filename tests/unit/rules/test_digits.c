/* SPDX-License-Identifier: MIT */
/* A view that does more than move digits leaves them as they were. */
#include "rules/instr/digits.h"
#include <criterion/criterion.h>
#include <string.h>

/* 5 x 4 elements as 2 x 5 x 2 ones: the 4 is split before 5 does not go into
 * what is left. */
Test(digits, a_reshape_that_does_not_go_changes_nothing) {
  gs_type from = {.access = 2, .rank = 2, .dim = {5, 4}};
  gs_type to = {.access = 3, .rank = 3, .dim = {2, 5, 2}};
  const gs_type *kids[1] = {&to};
  rl_digits *d = calloc(1, sizeof *d), *was = calloc(1, sizeof *was);
  rl_index x = {0}, y;
  uint32_t kid;
  rl_digits_clear(d);
  rl_digits_push(d, &from, 0, 2, 0, &x);
  y = x;
  *was = *d;
  cr_expect_not(
      rl_digits_down(d, NULL, GS_RESHAPE, BS_NIL, &from, kids, &x, &kid));
  cr_expect_eq(d->n, was->n);
  cr_expect_not(d->failed);
  cr_expect_not(memcmp(d->digit, was->digit, d->n * sizeof *d->digit));
  cr_expect_not(memcmp(&x, &y, sizeof x));
  free(was);
  free(d);
}

/* What was split, and is not any more, is as before, and may be split anew. */
Test(digits, a_split_is_undone) {
  gs_type from = {.access = 1, .rank = 1, .dim = {12}};
  gs_type halves = {.access = 2, .rank = 2, .dim = {6, 2}};
  gs_type thirds = {.access = 2, .rank = 2, .dim = {4, 3}};
  const gs_type *kids[1] = {&halves};
  rl_digits *d = calloc(1, sizeof *d);
  rl_index x = {0}, first;
  uint32_t kid;
  rl_digits_clear(d);
  rl_digits_push(d, &from, 0, 1, 0, &x);
  first = x;
  cr_assert(rl_digits_down(d, NULL, GS_RESHAPE, BS_NIL, &from, kids, &x, &kid));
  cr_expect_eq(d->n, 4);
  rl_digits_undo(d, 2);
  kids[0] = &thirds;
  x = first;
  cr_assert(rl_digits_down(d, NULL, GS_RESHAPE, BS_NIL, &from, kids, &x, &kid));
  cr_expect_eq(d->n, 4);
  cr_expect_eq(d->digit[x.at[0].digit[0]].size, 4);
  cr_expect_eq(d->digit[x.at[1].digit[0]].size, 3);
  free(d);
}
