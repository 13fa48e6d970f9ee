/* SPDX-License-Identifier: MIT */
/* context.h - a context for tests that read programs and targets from text, and
 * its diagnostics. */
#ifndef TESTS_CONTEXT_H
#define TESTS_CONTEXT_H

#include "glenside/program/program.h"
#include "glenside/target/target.h"
#include <criterion/criterion.h>
#include <string.h>

static bs_heap heap;
static bs_arena arena;
static bs_diags diags;
static gs_context ctx;

/* Of a heap that was made. */
static inline void
context_start(void) {
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
}

static inline void
fixture_start(void) {
  bs_heap_init(&heap, NULL, 0);
  context_start();
}

static inline void
fixture_stop(void) {
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
}

/* All diagnostics as the user sees them, for the message of a failed test. */
static inline const char *
faults(void) {
  bs_text out;
  bs_text_init(&out, &heap);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &out);
  return bs_text_str(&out);
}

static inline gs_target *
target_of(const char *text) {
  uint32_t source = bs_source_add(&diags, "test.target", text, strlen(text));
  gs_target *t = gs_target_parse(&ctx, source);
  cr_assert(t, "%s", faults());
  return t;
}

static inline gs_program *
program_over(const gs_target *t, const char *text) {
  uint32_t source = bs_source_add(&diags, "test.glen", text, strlen(text));
  gs_program *p = gs_parse(&ctx, t, source);
  cr_assert(p, "%s\n%s", text, faults());
  return p;
}

#endif
