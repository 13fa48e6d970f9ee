/* SPDX-License-Identifier: MIT */
/* fixture.h - a context for the tests of the language, and its diagnostics. */
#ifndef TESTS_GLENSIDE_FIXTURE_H
#define TESTS_GLENSIDE_FIXTURE_H

#include "../context.h"
#include "base/sexp.h"

/* However many faults there are, all are listed. */
static inline void
start_listing(void) {
  fixture_start();
  diags.limit = 1000;
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
