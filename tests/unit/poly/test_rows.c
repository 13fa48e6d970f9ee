/* SPDX-License-Identifier: MIT */
/* test_rows.c - rows of stages in turn, chosen by itself: which programs get
 * them, what is computed, kept and left alone; values against the program as
 * it was lowered. */
#include "chosen.h"
#include "poly/loops/storage.h"

TestSuite(rows, .init = fixture_start, .fini = fixture_stop);

static int64_t
made(const po_program *p, uint32_t array) {
  int64_t n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].array == array && p->stmts.data[k].kind == PO_ASSIGN)
      n += po_count_instances(p, k);
  return n;
}

/* Exact sums, so that any order of them is right. */
#define BLUR(shape, row, column)                                               \
  "(tensor image (shape " shape ") i32)"                                       \
  "(let a (compute reduceSum"                                                  \
  "  (windows (access image 0) (shape " row ") (stride 1 1))))"                \
  "(let b (compute reduceSum"                                                  \
  "  (windows (access a 0) (shape " column ") (stride 1 1))))"                 \
  "(output b)"

/* 71 rows in strips of 36 and 35: two more of `a` for each. */
Test(rows, blur) {
  static const char *const text = BLUR("73 99", "1 3", "3 1");
  po_program *p = chosen(text);
  cr_assert_eq(count_commands(p, "roll "), 1);
  cr_assert_eq(count_commands(p, "fold_storage "), 1);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *a = &p->arrays.data[k];
    if (a->role != PO_LOCAL || po_elements(a) == 1)
      continue;
    cr_assert_eq(a->fold[1], 3);
    cr_assert_eq(a->dim[1], 38);
    cr_assert_eq(made(p, k), (71 + 2 * 2) * 97);
  }
  const po_nest_node *root = &p->nest.nodes.data[0];
  cr_assert_eq(root->first, root->last);
  cr_assert_eq(p->nest.nodes.data[root->first].mark, PO_PARALLEL);
  expect_right(p, text);
  po_free(p);
}

/* Rows are shared out evenly, in few strips where there are few of them. */
Test(rows, strips_for_all_cores) {
  static const char *const text = BLUR("602 66", "1 3", "3 1");
  static const struct {
    int cores, rows;
  } cases[] = {{1, 150}, {2, 300}, {12, 50}, {40, 32}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const gs_target *target = target_of(
        bs_arena_printf(&arena, "(target m (cores %d))", cases[k].cores));
    po_program *p = chosen_for(target, text);
    bs_text script;
    bs_text_init(&script, &heap);
    po_print_script(p, &script);
    const char *size = bs_arena_printf(&arena, " [-1, %d]\n", cases[k].rows);
    cr_expect(strstr(bs_text_str(&script), size), "%d cores: %s",
              cases[k].cores, bs_text_str(&script));
    po_free(p);
  }
}

Test(rows, windows_both_ways) {
  static const char *const text = BLUR("80 70", "3 5", "5 3");
  po_program *p = chosen(text);
  cr_assert_eq(count_commands(p, "roll "), 1);
  expect_right(p, text);
  po_free(p);
}

/* Two stages, the first of which both others read, with windows of their own.
 */
Test(rows, consumers_with_windows_of_their_own) {
  static const char *const text =
      "(tensor image (shape 70 90) i32)"
      "(let a (compute reduceSum"
      "  (windows (access image 0) (shape 3 3) (stride 1 1))))"
      "(let b (compute reduceSum"
      "  (windows (access a 0) (shape 5 1) (stride 1 1))))"
      "(let c (compute reduceSum"
      "  (windows (access a 0) (shape 3 3) (stride 1 1))))"
      "(let d (compute reduceSum"
      "  (windows (access c 0) (shape 3 1) (stride 1 1))))"
      "(let e (compute add (pair (slice b 1 0 80) (slice d 1 0 80))))"
      "(output e)";
  po_program *p = chosen(text);
  cr_assert_geq(count_commands(p, "roll "), 2);
  expect_right(p, text);
  po_free(p);
}

/* Planes around rows are outer loops; a plane that is the same for all of them
 * is made once for a row of each. */
Test(rows, planes) {
  static const char *const text =
      "(tensor image (shape 2 66 70) i32)"
      "(let a (compute reduceSum (windows (access image 0)"
      "  (shape 1 1 3) (stride 1 1 1))))"
      "(let b (compute reduceSum (windows (access a 0)"
      "  (shape 1 3 1) (stride 1 1 1))))"
      "(output b)";
  po_program *p = chosen(text);
  cr_assert_eq(count_commands(p, "roll "), 1);
  expect_right(p, text);
  po_free(p);
}

/* Two new rows an iteration, short rows, no window over rows: tiles. */
Test(rows, left_for_tiles) {
  static const char *const texts[] = {
      "(tensor image (shape 141 99) i32)"
      "(let a (compute reduceSum"
      "  (windows (access image 0) (shape 1 3) (stride 1 1))))"
      "(let b (compute reduceSum"
      "  (windows (access a 0) (shape 3 1) (stride 2 1))))"
      "(output b)",
      BLUR("73 40", "1 3", "3 1"), BLUR("73 99", "3 1", "1 3")};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    po_program *p = chosen(texts[k]);
    cr_assert_eq(count_commands(p, "roll "), 0, "%s", texts[k]);
    expect_right(p, texts[k]);
    po_free(p);
  }
}

/* Sizes of tiles that are given are taken. */
Test(rows, not_where_tiles_are_given) {
  po_auto_options options = {
      .fuse = PO_FUSE_POST_TILE, .tiles = {16, 32}, .n_tiles = 2};
  po_program *p = lower(BLUR("73 99", "1 3", "3 1"));
  po_schedule_automatically(&p, &options);
  cr_assert_eq(count_commands(p, "roll "), 0);
  cr_assert_eq(count_commands(p, "tile "), 1);
  po_free(p);
}

/* Rows of which not enough fit into the cache are cut. */
Test(rows, cut_where_they_are_long) {
  static const char *const text =
      "(tensor image (shape 40 60002) f32)"
      "(let a (compute reduceSum"
      "  (windows (access image 0) (shape 1 3) (stride 1 1))))"
      "(let b (compute reduceSum"
      "  (windows (access a 0) (shape 3 1) (stride 1 1))))"
      "(output b)";
  po_program *p = chosen(text);
  cr_assert_eq(count_commands(p, "tile "), 1);
  cr_assert_eq(count_commands(p, "roll "), 1);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].role == PO_LOCAL)
      cr_assert_leq(po_bytes(&p->arrays.data[k]), 256 << 10);
  po_free(p);
}

/* Where a result is written through the caches, rows stay whole as long as they
 * fit into the second one, and two loops that are all become one. */
Test(rows, whole_where_stores_go_through_the_caches) {
  static const char *const text = BLUR("9 3002", "1 3", "3 1"),
                           *const machine = "(target m (memory (bytes-per-cycle"
                                            " 4) (stored-bytes-per-cycle %d)))";
  for (int stored = 4; stored >= 3; stored--) {
    const gs_target *target =
        target_of(bs_arena_printf(&arena, machine, stored));
    po_program *p = chosen_for(target, text);
    cr_assert_eq(count_commands(p, "roll "), 1);
    cr_expect_eq(count_commands(p, "tile "), stored == 4);
    cr_expect_eq(count_commands(p, "merge "), stored == 3);
    expect_right_for(target, p, text);
    po_free(p);
  }
}

/* The least that a target may say of itself. */
Test(rows, machines_of_one_byte) {
  static const char *const text = BLUR("9 302", "1 3", "3 1");
  const gs_target *target =
      target_of("(target m (vector-bytes 4) (cache 1 (bytes 1)) "
                "(cache 2 (bytes 1)))");
  po_program *p = chosen_for(target, text);
  expect_right_for(target, p, text);
  po_free(p);
}

static const po_array *
folded_array(const po_program *p) {
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (po_is_folded(&p->arrays.data[k]) && po_elements(&p->arrays.data[k]) > 1)
      return &p->arrays.data[k];
  return NULL;
}

/* What is read at the point alone that is made takes the place of the row that
 * is read first; not where other points of that row are read later, nor where
 * two sums read it, nor on other targets. */
Test(rows, written_where_the_oldest_was) {
  static const struct {
    const char *text;
    uint32_t moves;
    int64_t kept;
  } cases[] = {{BLUR("41 70", "1 3", "3 1"), 1, 2},
               {BLUR("41 70", "1 3", "3 3"), 0, 3},
               {"(tensor image (shape 41 70) i32)"
                "(let a (compute reduceSum"
                "  (windows (access image 0) (shape 1 3) (stride 1 1))))"
                "(let w (windows (access a 0) (shape 3 1) (stride 1 1)))"
                "(let b (compute mul"
                "  (pair (compute reduceSum w) (compute reduceMax w))))"
                "(output b)",
                0, 3}};
  const gs_target *target = target_of(
      "(target m (memory (bytes-per-cycle 4) (stored-bytes-per-cycle 3)))");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    po_program *p = chosen_for(target, cases[k].text);
    cr_expect_eq(count_commands(p, "put_after "), cases[k].moves, "%zu", k);
    const po_array *a = folded_array(p);
    cr_assert(a);
    cr_expect_eq(a->fold[1], cases[k].kept, "%zu: %lld rows", k,
                 (long long)a->fold[1]);
    if (cases[k].moves)
      expect_right_for(target, p, cases[k].text);
    po_free(p);
  }
  po_program *p = chosen(cases[0].text);
  cr_expect_eq(count_commands(p, "put_after "), 0);
  po_free(p);
}

/* Whole rows that are more than the first cache has room for: stages of a row
 * in turn, part by part, with loops over planes inside of parts; not where all
 * is one loop, nor where rows fit, nor on other targets. */
Test(rows, in_parts_where_they_are_more_than_the_first_cache) {
  static const struct {
    const char *text;
    uint32_t parts, moves;
  } cases[] = {{BLUR("5 3002", "1 3", "3 3"), 1, 0},
               {BLUR("5 3002", "1 3", "3 1"), 0, 0},
               {BLUR("5 1002", "1 3", "3 3"), 0, 0},
               {"(tensor image (shape 5 3002) i32)"
                "(let a (compute reduceSum"
                "  (windows (access image 0) (shape 1 3) (stride 1 1))))"
                "(let b (compute reduceSum"
                "  (windows (access a 0) (shape 3 5) (stride 1 1))))"
                "(let c (compute mul (pair b b)))"
                "(let d (compute mul (pair"
                "  (broadcast (insertAxis c 0) (shape 2 3 2996))"
                "  (broadcast (insertAxis b 0) (shape 2 3 2996)))))"
                "(output d)",
                1, 3}};
  const gs_target *target = target_of(
      "(target m (memory (bytes-per-cycle 4) (stored-bytes-per-cycle 3)))");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    po_program *p = chosen_for(target, cases[k].text);
    cr_expect_eq(count_commands(p, "interleave "), cases[k].parts, "%zu", k);
    cr_expect_eq(count_commands(p, "reorder "), cases[k].moves, "%zu", k);
    if (cases[k].parts)
      expect_right_for(target, p, cases[k].text);
    po_free(p);
  }
  po_program *p = chosen(cases[0].text);
  cr_expect_eq(count_commands(p, "interleave "), 0);
  po_free(p);
}

/* Sums of squares of what `term` makes of each element of x and of the mean m
 * of its row, and that over them. */
#define SQUARED(term)                                                          \
  "(tensor x (shape 16 300) f32) (tensor y (shape 16 300) f32)"                \
  "(let m (broadcast (insertAxis (compute reduceMean (access x 1)) 1)"         \
  "  (shape 16 300)))"                                                         \
  "(let d (compute " term "))"                                                 \
  "(let s (compute reduceSum (access (compute mul (pair d d)) 1)))"            \
  "(let z (compute div (pair d (broadcast (insertAxis s 1)"                    \
  "  (shape 16 300))))) (output z)"

static uint32_t
inlined_unasked(const char *text) {
  po_auto_options options = {.fuse = PO_FUSE_POST_TILE, .unasked = true};
  po_program *p = lower(text);
  po_auto_result done = po_schedule_automatically(&p, &options);
  cr_assert(done.finished);
  expect_right(p, text);
  uint32_t n = count_commands(p, "compute_inline ");
  po_free(p);
  return n;
}

/* A difference from the mean, which a register holds, is one load as the
 * difference itself would be, and both factors of its square are one: it is
 * made again.  Of two arrays, or of more operations, it is kept. */
Test(rows, differences_are_made_again) {
  uint32_t made = inlined_unasked(SQUARED("sub (pair x m)"));
  cr_expect_gt(made, inlined_unasked(SQUARED("sub (pair x y)")));
  cr_expect_gt(made, inlined_unasked(SQUARED("div (pair x m)")));
}

/* The loop that a statement with this operation shares with what it reads. */
static bool
shares_iteration(const po_program *p, const char *text) {
  uint32_t above[2] = {PO_NO_NODE, PO_NO_NODE};
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    bool function = false;
    for (uint32_t j = 0; j < s->n_exprs; j++)
      function |= s->exprs[j].kind == PO_UNARY;
    if (function || s->kind == PO_UPDATE)
      above[function] = p->nest.nodes.data[s->leaf].parent;
  }
  cr_assert(above[0] != PO_NO_NODE && above[1] != PO_NO_NODE, "%s", text);
  uint32_t up = above[0];
  while (up != PO_NO_NODE && up != above[1])
    up = p->nest.nodes.data[up].parent;
  return up == above[1];
}

/* An exponential in the iteration of a sum of nine would wait for all of it. */
Test(rows, functions_wait_for_no_long_sum) {
  static const struct {
    const char *window, *function;
    bool shares;
  } cases[] = {{"3 3", "exp", false},
               {"2 4", "tanh", false},
               {"1 3", "exp", true},
               {"3 3", "square", true}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const char *text =
        bs_arena_printf(&arena,
                        "(tensor image (shape 80 120) f32)"
                        "(let sum (compute reduceSum"
                        "  (windows (access image 0) (shape %s) (stride 1 1))))"
                        "(let values (compute %s sum))"
                        "(output values)",
                        cases[k].window, cases[k].function);
    po_program *p = chosen(text);
    cr_expect_eq(shares_iteration(p, text), cases[k].shares, "%s", text);
    expect_right(p, text);
    po_free(p);
  }
}
