/* SPDX-License-Identifier: MIT */
/* test_blocks.c - transpositions go block by block, and nothing else does. */
#include "chosen.h"

TestSuite(blocks, .init = fixture_start, .fini = fixture_stop);

/* The relu of some view of x. */
static const char *
relu_of(const char *shape, const char *dtype, const char *view) {
  return bs_arena_printf(&arena,
                         "(tensor x (shape %s) %s)"
                         "(let y (compute relu %s))(output y)",
                         shape, dtype, view);
}

static void
expect_tiles(const char *text, const char *tiles) {
  po_program *p = chosen(text);
  cr_expect_eq(count_commands(p, "tile "), *tiles ? 1u : 0u, "%s", text);
  for (uint32_t k = 0; k < p->script.len; k++)
    if (strstr(p->script.data[k], " = tile "))
      cr_expect(strstr(p->script.data[k], tiles), "%s: %s", text,
                p->script.data[k]);
  expect_right(p, text);
  po_free(p);
}

Test(blocks, of_both_loops_that_run_along_memory) {
  expect_tiles(relu_of("140 150", "f32", "(transpose x (list 1 0))"),
               "[i0, i1] [32, 32]");
  /* Part of an array, and elements of another size. */
  expect_tiles(
      relu_of("140 150", "i8", "(transpose (slice x 1 3 149) (list 1 0))"),
      "[i0, i1] [32, 32]");
  /* The outermost loop goes to the innermost one. */
  expect_tiles(relu_of("80 9 30", "f64", "(transpose x (list 2 1 0))"),
               "[i0, i2] [30, 32]");
  /* Channels last become channels first's rows. */
  expect_tiles(relu_of("2 100 9 11", "f32", "(transpose x (list 0 2 3 1))"),
               "[i2, i3] [11, 32]");
}

Test(blocks, not_where_lines_are_used_up_anyway) {
  /* Elements of a line follow each other. */
  expect_tiles(relu_of("140 150", "f32", "x"), "");
  expect_tiles(relu_of("40 60 70", "f32", "(transpose x (list 1 0 2))"), "");
  /* All lines of a row stay in the cache. */
  expect_tiles(relu_of("50 900", "f32", "(transpose x (list 1 0))"), "");
  /* It is soon over. */
  expect_tiles(relu_of("100 70", "f32", "(transpose x (list 1 0))"), "");
  /* A line holds all that is read of it. */
  expect_tiles(relu_of("9000 3", "f32", "(transpose x (list 1 0))"), "");
}

/* ---- reductions along memory ---- */

static uint32_t
loops_written_out(const char *text) {
  po_program *p = chosen(text);
  uint32_t n = count_commands(p, "unroll ");
  expect_right(p, text);
  po_free(p);
  return n;
}

/* A row of a sum is left to vectors; what is added down columns, or is short,
 * is written out. */
Test(blocks, rows_of_sums_are_not_written_out) {
  cr_expect_eq(loops_written_out("(tensor x (shape 40 30 30) i32)"
                                 "(let y (compute reduceSum (access x 1)))"
                                 "(output y)"),
               0);
  cr_expect_eq(
      loops_written_out("(tensor x (shape 14 2000) i32)(let y (compute "
                        "reduceSum (access (transpose x (list 1 0)) 1)))"
                        "(output y)"),
      1);
  cr_expect_eq(loops_written_out("(tensor x (shape 2000 12) i32)"
                                 "(let y (compute reduceSum (access x 1)))"
                                 "(output y)"),
               1);
}
