/* SPDX-License-Identifier: MIT */
/* test_system.c - systems of inequalities and the answers that are kept. */
#include "prove/symbolic/system.h"
#include <isl/options.h>
#include <criterion/criterion.h>

typedef struct row {
  int64_t constant, x, y;
} row;

static bs_heap heap;
static isl_ctx *isl;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  isl = isl_ctx_alloc();
}

static void
stop(void) {
  isl_ctx_free(isl);
  bs_heap_done(&heap);
}

static void
write_system(sy_system *s, const row *rows, uint32_t n) {
  sy_start(s, 2, n);
  for (uint32_t k = 0; k < n; k++) {
    sy_row(s, 3);
    sy_term(s, 0, rows[k].constant);
    sy_term(s, 1, rows[k].x);
    sy_term(s, 2, rows[k].y);
  }
}

static const struct {
  uint32_t n;
  row rows[4];
  sy_answer answer;
} systems[] = {
    {2, {{-1, 1, 0}, {3, -1, 0}}, SY_POINT},                /* 1 <= x <= 3 */
    {2, {{-4, 1, 0}, {3, -1, 0}}, SY_NO_POINT},             /* 4 <= x <= 3 */
    {2, {{-1, 2, 0}, {1, -2, 0}}, SY_NO_POINT},             /* 2 x = 1 */
    {2, {{-1, 0, 2}, {1, 0, -2}}, SY_NO_POINT},             /* 2 y = 1 */
    {2, {{-2, 2, 0}, {2, -2, 0}}, SY_POINT},                /* 2 x = 2 */
    {3, {{0, 1, -1}, {-1, -1, 1}, {0, 1, 0}}, SY_NO_POINT}, /* y < x <= y */
    {4, {{0, 1, 1}, {0, -1, -1}, {-1, 1, 0}, {-1, 0, 1}}, SY_NO_POINT},
};
enum { SYSTEMS = sizeof systems / sizeof systems[0] };

/* Each is asked twice: answers that are kept are those that were given, and
 * systems that differ in one number are told apart. */
Test(system, answers_are_kept, .init = start, .fini = stop) {
  sy_memo *memo = sy_memo_new(&heap);
  for (uint32_t k = 0; k < 2 * SYSTEMS; k++) {
    sy_system s;
    uint32_t i = k % SYSTEMS;
    write_system(&s, systems[i].rows, systems[i].n);
    cr_expect_eq(sy_ask(memo, isl, &s), systems[i].answer, "%u", i);
    cr_expect_eq(sy_ask(NULL, isl, &s), systems[i].answer, "%u", i);
  }
}

/* What no answer was found to is not kept as one. */
Test(system, bounds_are_no_answer, .init = start, .fini = stop) {
  sy_memo *memo = sy_memo_new(&heap);
  sy_system s;
  isl_options_set_on_error(isl, ISL_ON_ERROR_CONTINUE);
  write_system(&s, systems[6].rows, systems[6].n);
  isl_ctx_set_max_operations(isl, 1);
  cr_expect_eq(sy_ask(memo, isl, &s), SY_UNKNOWN);
  isl_ctx_reset_operations(isl);
  isl_ctx_set_max_operations(isl, 0);
  isl_ctx_reset_error(isl);
  cr_expect_eq(sy_ask(memo, isl, &s), SY_NO_POINT);
}
