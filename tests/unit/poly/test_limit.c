/* SPDX-License-Identifier: MIT */
/* test_limit.c - isl does no more than it may: by operations, by what they take
 * on large tableaux, by the stage of the governor; and then goes on. */
#include "poly/loops/limit.h"
#include "base/governor.h"

#include <criterion/criterion.h>
#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/set.h>

static bs_heap heap;
static bs_governor governor;
static isl_ctx *isl;
static isl_set *sets[2];

/* With divisions by many numbers. */
static const char *const texts[2] = {
    "{ [a, b, c, d, e] : 0 <= a, b, c, d, e < 5040 and "
    "(35a + 7b) mod 144 = c mod 35 and (72b + 5c) mod 70 = d mod 72 }",
    "{ [a, b, c, d, e] : (90c + 11d) mod 56 = e mod 90 and "
    "(63d + 13e) mod 80 = a mod 63 and (120e + 17a) mod 42 = b mod 120 and "
    "7a + 11b + 13c > 4d + 5e + 1 }"};

static void
open_isl(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_governor_init(&governor);
  bs_govern(&governor, 1000, 0);
  heap.governor = &governor;
  isl = isl_ctx_alloc();
  isl_options_set_on_error(isl, ISL_ON_ERROR_CONTINUE);
  for (int k = 0; k < 2; k++) {
    sets[k] = isl_set_read_from_str(isl, texts[k]);
    cr_assert_not_null(sets[k]);
  }
}

static void
close_isl(void) {
  isl_set_free(sets[0]);
  isl_set_free(sets[1]);
  po_free_isl(isl);
  bs_governor_done(&governor);
  bs_heap_done(&heap);
}

/* Have they no point in common?  The pivots of its tableaux take many
 * operations each. */
static isl_bool
ask_much(void) {
  isl_set *both =
      isl_set_intersect(isl_set_copy(sets[0]), isl_set_copy(sets[1]));
  isl_bool empty = isl_set_is_empty(both);
  isl_set_free(both);
  return empty;
}

static void
expect_that_it_goes_on(void) {
  po_bind_isl(isl, &heap, 0);
  isl_ctx_reset_error(isl);
  isl_set *s = isl_set_read_from_str(isl, "{ [i] : 0 <= i < 9 }");
  cr_assert_eq(isl_set_is_empty(s), isl_bool_false);
  isl_set_free(s);
  cr_assert_not(po_gave_up(isl));
}

Test(limit, operations_are_bounded) {
  open_isl();
  po_bind_isl(isl, &heap, 20);
  cr_assert_eq(ask_much(), isl_bool_error);
  cr_assert(po_gave_up(isl));
  cr_assert(po_is_exhausted(isl));
  expect_that_it_goes_on();
  close_isl();
}

/* As long as isl counts: each of its operations may be any number of ours. */
Test(limit, what_they_take_is_bounded) {
  open_isl();
  po_bind_isl(isl, &heap, 1500);
  isl_ctx_set_max_operations(isl, 0);
  cr_assert_eq(ask_much(), isl_bool_error);
  cr_assert_eq(isl_ctx_last_error(isl), isl_error_abort);
  expect_that_it_goes_on();
  close_isl();
}

Test(limit, a_stage_that_is_over_stops_it) {
  open_isl();
  po_bind_isl(isl, &heap, 0);
  governor.stage.end = 0;
  cr_assert_eq(ask_much(), isl_bool_error);
  cr_assert(po_gave_up(isl));
  governor.stage.over = BS_GOES_ON;
  governor.stage.end = governor.end;
  expect_that_it_goes_on();
  close_isl();
}

Test(limit, one_that_is_freed_is_forgotten) {
  open_isl();
  po_bind_isl(isl, &heap, 10);
  close_isl();
  open_isl();
  cr_assert_neq(ask_much(), isl_bool_error, "the bound went with it");
  close_isl();
}
