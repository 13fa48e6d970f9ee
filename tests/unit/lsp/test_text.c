/* SPDX-License-Identifier: MIT */
/* Positions: UTF-16 code units, line ends of all kinds, clamping. */
#include "lsp/lsp_text.h"
#include <criterion/criterion.h>
#include <string.h>

/* a, e with acute (2 bytes, 1 unit), a pair (4 bytes, 2 units), b */
#define MIXED                                                                  \
  "a\xc3\xa9\xf0\x9d\x9b\xbc"                                                  \
  "b"

static void
set(lsp_text *t, const char *s) {
  cr_assert(lsp_text_set(t, s, strlen(s)));
}

static void
at(const lsp_text *t, uint32_t line, uint32_t character, size_t offset) {
  lsp_position p = {line, character};
  cr_assert_eq(lsp_offset(t, p), offset, "%u:%u is %zu", line, character,
               lsp_offset(t, p));
}

Test(text, units_are_those_of_utf16) {
  lsp_text t = {0};
  static const struct {
    uint32_t unit;
    size_t byte;
  } marks[] = {{0, 0}, {1, 1}, {2, 3}, {4, 7}, {5, 8}};
  set(&t, MIXED "\n" MIXED);
  for (uint32_t line = 0; line < 2; line++)
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
      size_t byte = line * (strlen(MIXED) + 1) + marks[k].byte;
      at(&t, line, marks[k].unit, byte);
      lsp_position p = lsp_position_of(&t, byte);
      cr_assert_eq(p.line, line);
      cr_assert_eq(p.character, marks[k].unit);
    }
  lsp_text_done(&t);
}

Test(text, a_place_inside_a_pair_is_behind_it) {
  lsp_text t = {0};
  set(&t, MIXED);
  at(&t, 0, 3, 7);
  lsp_text_done(&t);
}

Test(text, lines_end_in_three_ways) {
  lsp_text t = {0};
  set(&t, "a\nbb\r\nccc\rd");
  cr_assert_eq(t.n_lines, 4);
  at(&t, 1, 0, 2);
  at(&t, 2, 0, 6);
  at(&t, 3, 0, 10);
  at(&t, 1, 99, 4);
  at(&t, 2, 99, 9);
  at(&t, 9, 0, 11);
  lsp_text_done(&t);
}

Test(text, an_empty_text_has_one_line) {
  lsp_text t = {0};
  set(&t, "");
  cr_assert_eq(t.n_lines, 1);
  at(&t, 0, 5, 0);
  at(&t, 5, 5, 0);
  lsp_text_done(&t);
}

Test(text, splices) {
  lsp_text t = {0};
  set(&t, "one two");
  cr_assert(lsp_text_splice(&t, 4, 7, "2\n3", 3));
  cr_assert_str_eq(t.data, "one 2\n3");
  cr_assert_eq(t.n_lines, 2);
  cr_assert(lsp_text_splice(&t, 0, t.size, "", 0));
  cr_assert_str_eq(t.data, "");
  lsp_text_done(&t);
}
