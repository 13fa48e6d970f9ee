/* fixture.h - programs and rules from text, for the tests of the prover. */
#ifndef TESTS_PROVE_FIXTURE_H
#define TESTS_PROVE_FIXTURE_H

#include "glenside/target.h"
#include "prove/rule.h"
#include <criterion/criterion.h>
#include <string.h>

static bs_heap heap;
static bs_arena arena;
static bs_diags diags;
static gs_context ctx;

static inline void
fixture_start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
}

static inline void
fixture_stop(void) {
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
}

static inline const char *
faults(void) {
  bs_text out;
  bs_text_init(&out, &heap);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &out);
  return bs_text_str(&out);
}

static inline gs_program *
program_of(const gs_target *target, const char *text) {
  uint32_t source = bs_source_add(&diags, "test.glen", text, strlen(text));
  gs_program *p = gs_parse(&ctx, target, source);
  cr_assert_not_null(p, "%s\n%s", text, faults());
  return p;
}

static inline gs_target *
target_of(const char *text) {
  uint32_t source = bs_source_add(&diags, "test.target", text, strlen(text));
  gs_target *t = gs_target_parse(&ctx, source);
  cr_assert_not_null(t, "%s", faults());
  return t;
}

/* The first two outputs, compared. */
static inline pv_answer
compare_outputs(const gs_program *p, const pv_options *options) {
  pv_answer a;
  pv_equal_terms(&ctx, p, p->outputs.data[0].term, p->outputs.data[1].term,
                 options, &a);
  return a;
}

#endif
