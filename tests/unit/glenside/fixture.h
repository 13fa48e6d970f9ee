/* fixture.h - a context for the tests of the language, and its diagnostics. */
#ifndef TESTS_GLENSIDE_FIXTURE_H
#define TESTS_GLENSIDE_FIXTURE_H

#include "base/sexp.h"
#include "glenside/context.h"
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
  diags.limit = 1000;
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
}

static inline void
fixture_stop(void) {
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
}

/* The codes of all diagnostics since the last call, "a b". */
static inline const char *
codes(void) {
  static uint32_t seen;
  bs_text out;
  bs_text_init(&out, &heap);
  if (seen > diags.list.len)
    seen = 0;
  for (; seen < diags.list.len; seen++) {
    if (diags.list.data[seen].severity == BS_NOTE)
      continue;
    bs_putf(&out, "%s%s", out.len ? " " : "", diags.list.data[seen].code);
  }
  return bs_text_str(&out);
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

/* The last diagnostic's message, "" when there is none. */
static inline const char *
last_message(void) {
  return diags.list.len ? bs_last(&diags.list).message : "";
}

/* Reads text; the index of its first form. */
static inline uint32_t
read_form(bs_sexps *sexps, const char *text) {
  uint32_t source = bs_source_add(&diags, "test", text, strlen(text));
  cr_assert(bs_sexp_read(&heap, ctx.values, &diags, source, sexps), "%s", text);
  cr_assert(sexps->roots.len > 0);
  return sexps->roots.data[0];
}

#endif
