/* SPDX-License-Identifier: MIT */
/* test_groups.c - elements that lie side by side, and in rows of their own
 * elsewhere, are moved together. */
#include "chosen.h"

TestSuite(groups, .init = fixture_start, .fini = fixture_stop);

static void
expect_commands(const char *text, const char *reorder, const char *split) {
  po_program *p = chosen(text);
  cr_expect_eq(count_commands(p, "reorder "), *reorder ? 1u : 0u, "%s", text);
  cr_expect_eq(count_commands(p, "split "), *split ? 1u : 0u, "%s", text);
  for (uint32_t k = 0; k < p->script.len; k++) {
    const char *line = p->script.data[k];
    if (!strncmp(line, "reorder ", 8))
      cr_expect_str_eq(line, reorder, "%s", text);
    if (strstr(line, " = split "))
      cr_expect(strstr(line, split), "%s: %s", text, line);
  }
  expect_right(p, text);
  po_free(p);
}

static const char *
relu_of(const char *input, const char *view) {
  return bs_arena_printf(
      &arena, "(tensor x %s)(let y (compute relu %s))(output y)", input, view);
}

/* y[c, i] = x[k i + c]: the loop over c goes innermost. */
Test(groups, rows_of_every_kth_element) {
  expect_commands(
      relu_of("(shape 5 160) f32",
              "(transpose (reshape (access x 2) (shape 5 40 4) (shape))"
              " (list 2 0 1))"),
      "reorder [i1, i2, i0]", "");
  expect_commands(relu_of("(shape 60 2) f64", "(transpose x (list 1 0))"),
                  "reorder [i1, i0]", "");
  /* Windows of six at every fourth element. */
  expect_commands(
      relu_of("(shape 42) f32",
              "(transpose (access (windows (access x 0) (shape 6) (stride 4))"
              " 2) (list 1 0))"),
      "reorder [i1, i0]", "");
}

/* y[k i + c] = x[c, i]: the loop over y is split by k. */
Test(groups, one_row_of_several) {
  expect_commands(
      relu_of("(shape 4 5 40) f32",
              "(reshape (access (transpose x (list 1 2 0)) 3) (shape 5 160)"
              " (shape))"),
      "", "[-1, 4]");
  /* The last group has less than four. */
  expect_commands(
      relu_of("(shape 4 5 40) f32",
              "(slice (reshape (access (transpose x (list 1 2 0)) 3)"
              " (shape 5 160) (shape)) 1 0 158)"),
      "", "[-1, 4]");
}

Test(groups, not_what_lies_in_order_or_far_apart) {
  expect_commands(relu_of("(shape 4 40) f32", "x"), "", "");
  /* Elements of a group lie in the order of the rows. */
  expect_commands(relu_of("(shape 5 40 4) f32",
                          "(reshape (access x 3) (shape 5 160) (shape))"),
                  "", "");
  /* Nine rows are more than a group. */
  expect_commands(relu_of("(shape 60 9) f32", "(transpose x (list 1 0))"), "",
                  "");
  expect_commands(
      relu_of("(shape 9 5 40) f32",
              "(reshape (access (transpose x (list 1 2 0)) 3) (shape 5 360)"
              " (shape))"),
      "", "");
  /* Fewer than two groups. */
  expect_commands(
      relu_of("(shape 4 50 1) f32",
              "(reshape (access (transpose x (list 1 2 0)) 3) (shape 50 4)"
              " (shape))"),
      "", "");
}
