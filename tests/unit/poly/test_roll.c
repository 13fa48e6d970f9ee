/* SPDX-License-Identifier: MIT */
/* test_roll.c - roll and fold_storage: forms, counts of instances, places in
 * memory, refusals; outputs are compared in every case. */
#include "walk.h"

TestSuite(roll, .init = start_program, .fini = fixture_stop);

#define RANGE(s, n) "{ " s "[i] : 0 <= i < " n " }"

/* B = A + 3 over n; the consumers follow. */
static void
one_stage(int n) {
  static char domain[64];
  array("A", PO_INPUT, GS_I32, 1, n);
  array("C", PO_OUTPUT, GS_I32, 1, 24);
  array("B", PO_WORKSPACE, GS_I32, 1, n);
  snprintf(domain, sizeof domain, "{ SB[i] : 0 <= i < %d }", n);
  ASSIGN(domain, "{ SB[i] -> B[i] }", "i", .op = GS_C_ADD, .literal = 3,
         .reads = {"{ SB[i] -> A[i] }"});
}

static void
blur(void) {
  one_stage(26);
  ASSIGN(RANGE("SC", "24"), "{ SC[i] -> C[i] }", "x", .op = GS_C_ADD,
         .reads = {"{ SC[i] -> B[i] }", "{ SC[i] -> B[i+2] }"});
}

static const po_array *
array_named(const char *name) {
  for (uint32_t k = 0; k < hand->arrays.len; k++)
    if (!strcmp(hand->arrays.data[k].name, name))
      return &hand->arrays.data[k];
  cr_assert_fail("no array %s", name);
  return NULL;
}

/* Iterations before the first fill the window; nothing is computed twice. */
Test(roll, fills_before) {
  blur();
  FORM("roll B x; assert instances(B) == 26",
       "for x=-2..23\n"
       "  B[x + 2] = (A[x + 2] + 3)\n"
       "  if (x >= 0) C[x] = (B[x] + B[x + 2])\n");
  FORM("fold_storage B 0", "for x=-2..23\n"
                           "  B[x + 2] = (A[x + 2] + 3)\n"
                           "  if (x >= 0) C[x] = (B[x] + B[x + 2])\n");
  cr_assert_eq(array_named("B")->fold[0], 3);
}

/* The first iteration computes its whole window. */
Test(roll, fills_first) {
  blur();
  KEPT("roll B x fill=first; assert instances(B) == 26;"
       "assert extent(x) == 24");
  KEPT("fold_storage B 0");
  cr_assert_eq(array_named("B")->fold[0], 3);
}

/* The rims of strips are computed by both, in places of their own. */
Test(roll, strips) {
  blur();
  FORM("x0, x1 = split x [-1, 8]; roll B x1; fold_storage B 1; parallel x0;"
       "assert instances(B) == 30",
       "parallel for x0<3\n"
       "  for x1=-2..7\n"
       "    B[x0, x1 + 2] = (A[8 * x0 + x1 + 2] + 3)\n"
       "    if (x1 >= 0) C[8 * x0 + x1] = (B[x0, x1] + B[x0, x1 + 2])\n");
  cr_assert_eq(array_named("B")->fold[0], 1);
  cr_assert_eq(array_named("B")->dim[1], 10);
  cr_assert_eq(array_named("B")->fold[1], 3);
}

/* 24 is no multiple of 7. */
Test(roll, strips_of_odd_lengths) {
  blur();
  KEPT("x0, x1 = split x [-1, 7]; roll B x1; fold_storage B 1; parallel x0;"
       "assert instances(B) == 32");
}

Test(roll, strides) {
  one_stage(49);
  ASSIGN(RANGE("SC", "24"), "{ SC[i] -> C[i] }", "x", .op = GS_C_ADD,
         .reads = {"{ SC[i] -> B[2i] }", "{ SC[i] -> B[2i+2] }"});
  KEPT("roll B x; assert instances(B) == 25");
  KEPT("fold_storage B 0");
  cr_assert_eq(array_named("B")->fold[0], 3);
}

/* Windows of three at every second element: two new ones an iteration. */
Test(roll, stride_two_window_three) {
  one_stage(49);
  array("D", PO_OUTPUT, GS_I32, 1, 24);
  ASSIGN(RANGE("SC", "24"), "{ SC[i] -> C[i] }", "x", .op = GS_C_ADD,
         .reads = {"{ SC[i] -> B[2i] }", "{ SC[i] -> B[2i+1] }"});
  ASSIGN(RANGE("SD", "24"), "{ SD[i] -> D[i] }", "x", .op = GS_C_MUL,
         .reads = {"{ SD[i] -> B[2i+1] }", "{ SD[i] -> B[2i+2] }"});
  FORM("x0, x1 = split x [-1, 8]; roll B x1; fold_storage B 1;"
       "assert instances(B) == 51",
       "for x0<3\n"
       "  for x1=-1..7\n"
       "    for i=max(16 * x0, 16 * x0 + 2 * x1 + 1)..16 * x0 + 2 * x1 + 2\n"
       "      B[x0, -16 * x0 + i] = (A[i] + 3)\n"
       "    if (x1 >= 0) C[8 * x0 + x1] = (B[x0, 2 * x1] + B[x0, 2 * x1 + 1])\n"
       "    if (x1 >= 0) D[8 * x0 + x1] = (B[x0, 2 * x1 + 1] * B[x0, 2 * x1 + "
       "2])\n");
  cr_assert_eq(array_named("B")->fold[1], 3);
}

/* Three reads whose rows begin at different columns: rows are filled up, so
 * that all iterations make one of the same length. */
Test(roll, rows_of_several_pieces_are_filled_up) {
  array("A", PO_INPUT, GS_I32, 2, 28, 40);
  array("C", PO_OUTPUT, GS_I32, 2, 24, 36);
  array("B", PO_WORKSPACE, GS_I32, 2, 28, 40);
  ASSIGN("{ SB[i, j] : 0 <= i < 28 and 0 <= j < 40 }",
         "{ SB[i, j] -> B[i, j] }", "i j", .op = GS_C_ADD, .literal = 3,
         .reads = {"{ SB[i, j] -> A[i, j] }"});
  ASSIGN("{ SC[i, j] : 0 <= i < 24 and 0 <= j < 36 }",
         "{ SC[i, j] -> C[i, j] }", "x y", .op = GS_C_ADD,
         .reads = {"{ SC[i, j] -> B[i, j+1] }", "{ SC[i, j] -> B[i+4, j] }"});
  FORM("x0, x1 = split x [-1, 8]; roll B x1; fold_storage B 1; parallel x0;"
       "assert instances(B) == 1332",
       "parallel for x0<3\n"
       "  for x1=-4..7\n"
       "    for j<37\n"
       "      B[x0, x1 + 4, j] = (A[8 * x0 + x1 + 4, j] + 3)\n"
       "    if (x1 >= 0) for y<36\n"
       "      C[8 * x0 + x1, y] = (B[x0, x1, y + 1] + B[x0, x1 + 4, y])\n");
}

Test(roll, dilation) {
  one_stage(32);
  ASSIGN(RANGE("SC", "24"), "{ SC[i] -> C[i] }", "x", .op = GS_C_ADD,
         .reads = {"{ SC[i] -> B[i] }", "{ SC[i] -> B[i+8] }"});
  KEPT("roll B x; assert instances(B) == 32; fold_storage B 0");
  cr_assert_eq(array_named("B")->fold[0], 9);
}

/* Two consumers: of i - 1 and i + 1, and of i - 2 and i + 2, kept inside. */
Test(roll, consumers_with_borders) {
  one_stage(24);
  array("D", PO_OUTPUT, GS_I32, 1, 24);
  ASSIGN("{ SC[i] : 1 <= i < 23 }", "{ SC[i] -> C[i] }", "x", .op = GS_C_ADD,
         .reads = {"{ SC[i] -> B[i-1] }", "{ SC[i] -> B[i+1] }"});
  ASSIGN("{ SD[i] : 2 <= i < 22 }", "{ SD[i] -> D[i] }", "x", .op = GS_C_MUL,
         .reads = {"{ SD[i] -> B[i-2] }", "{ SD[i] -> B[i+2] }"});
  KEPT("x0, x1 = split x [-1, 5]; roll B x1; fold_storage B 1; parallel x0");
  cr_assert_eq(array_named("B")->fold[1], 5);
}

#define GRID(s, n, m) "{ " s "[i,j] : 0 <= i < " n " and 0 <= j < " m " }"

/* C = sum of 3x3 of (B = sum of 3x3 of A), each as two reads. */
static void
two_stages(void) {
  array("A", PO_INPUT, GS_I32, 2, 15, 13);
  array("C", PO_OUTPUT, GS_I32, 2, 11, 9);
  array("B", PO_WORKSPACE, GS_I32, 2, 15, 13);
  array("D", PO_WORKSPACE, GS_I32, 2, 13, 11);
  ASSIGN(GRID("SB", "15", "13"), "{ SB[i,j] -> B[i,j] }", "i j", .op = GS_C_ADD,
         .literal = 3, .reads = {"{ SB[i,j] -> A[i,j] }"});
  ASSIGN(GRID("SD", "13", "11"), "{ SD[i,j] -> D[i,j] }", "k l", .op = GS_C_ADD,
         .reads = {"{ SD[i,j] -> B[i,j+2] }", "{ SD[i,j] -> B[i+2,j] }"});
  ASSIGN(GRID("SC", "11", "9"), "{ SC[i,j] -> C[i,j] }", "x y", .op = GS_C_MUL,
         .reads = {"{ SC[i,j] -> D[i,j+1] }", "{ SC[i,j] -> D[i+2,j] }"});
}

/* C = two rows of (D = two rows of (B = A + 3)). */
static void
two_rows(void) {
  array("A", PO_INPUT, GS_I32, 2, 15, 9);
  array("C", PO_OUTPUT, GS_I32, 2, 11, 9);
  array("B", PO_WORKSPACE, GS_I32, 2, 15, 9);
  array("D", PO_WORKSPACE, GS_I32, 2, 13, 9);
  ASSIGN(GRID("SB", "15", "9"), "{ SB[i,j] -> B[i,j] }", "i j", .op = GS_C_ADD,
         .literal = 3, .reads = {"{ SB[i,j] -> A[i,j] }"});
  ASSIGN(GRID("SD", "13", "9"), "{ SD[i,j] -> D[i,j] }", "k l", .op = GS_C_ADD,
         .reads = {"{ SD[i,j] -> B[i,j] }", "{ SD[i,j] -> B[i+2,j] }"});
  ASSIGN(GRID("SC", "11", "9"), "{ SC[i,j] -> C[i,j] }", "x y", .op = GS_C_MUL,
         .reads = {"{ SC[i,j] -> D[i,j] }", "{ SC[i,j] -> D[i+2,j] }"});
}

Test(roll, rows_of_two_stages) {
  two_rows();
  FORM("x0, x1 = split x [-1, 4]; roll D x1; fold_storage D 1;"
       "roll B x1; fold_storage B 1; parallel x0;"
       "assert instances(D) == 153; assert instances(B) == 207",
       "parallel for x0<3\n"
       "  for x1=-4..min(3, -4 * x0 + 10)\n"
       "    for j<9\n"
       "      B[x0, x1 + 4, j] = (A[4 * x0 + x1 + 4, j] + 3)\n"
       "    if (x1 >= -2) for l<9\n"
       "      D[x0, x1 + 2, l] = (B[x0, x1 + 2, l] + B[x0, x1 + 4, l])\n"
       "    if (x1 >= 0) for y<9\n"
       "      C[4 * x0 + x1, y] = (D[x0, x1, y] * D[x0, x1 + 2, y])\n");
  cr_assert_eq(array_named("B")->fold[1], 3);
  cr_assert_eq(array_named("D")->fold[1], 3);
}

Test(roll, rows_of_windows) {
  two_stages();
  KEPT("x0, x1 = split x [-1, 4]; roll D x1; fold_storage D 1;"
       "roll B x1; fold_storage B 1; parallel x0");
  cr_assert_eq(array_named("B")->fold[1], 3);
  cr_assert_eq(array_named("D")->fold[1], 3);
}

/* Columns in turn inside tiles. */
Test(roll, columns) {
  two_stages();
  KEPT("x0, y0, x1, y1 = tile [x, y] [4, 5]; reorder [y1, x1]; roll D y1;"
       "fold_storage D 3; roll B y1; fold_storage B 3; parallel x0");
  cr_assert_eq(array_named("D")->fold[3], 2);
  cr_assert_eq(array_named("B")->fold[3], 3);
}

/* Neighbours over the same values of the steady state become one loop. */
Test(roll, merged) {
  array("A", PO_INPUT, GS_I32, 2, 14, 9);
  array("C", PO_OUTPUT, GS_I32, 2, 12, 9);
  array("B", PO_WORKSPACE, GS_I32, 2, 14, 9);
  ASSIGN(GRID("SB", "14", "9"), "{ SB[i,j] -> B[i,j] }", "i j", .op = GS_C_ADD,
         .literal = 3, .reads = {"{ SB[i,j] -> A[i,j] }"});
  ASSIGN(GRID("SC", "12", "9"), "{ SC[i,j] -> C[i,j] }", "x y", .op = GS_C_ADD,
         .reads = {"{ SC[i,j] -> B[i,j] }", "{ SC[i,j] -> B[i+2,j] }"});
  FORM("x0, x1 = split x [-1, 5]; roll B x1; fold_storage B 1;"
       "a, b = peel x1 2; m = merge j_1 y_1; assert instances(SB) == 54;"
       "assert instances(SB_1) == 108",
       "for x0<3\n"
       "  for a=-2..-1\n"
       "    for j<9\n"
       "      B[x0, a + 2, j] = (A[5 * x0 + a + 2, j] + 3)\n"
       "  for b=0..min(4, -5 * x0 + 11)\n"
       "    for m<9\n"
       "      B[x0, b + 2, m] = (A[5 * x0 + b + 2, m] + 3)\n"
       "      C[5 * x0 + b, m] = (B[x0, b, m] + B[x0, b + 2, m])\n");
}

/* A reduction moves with its start; all of a sum in one iteration. */
Test(roll, reduction) {
  array("A", PO_INPUT, GS_I32, 2, 18, 3);
  array("C", PO_OUTPUT, GS_I32, 1, 16);
  array("B", PO_WORKSPACE, GS_I32, 1, 18);
  ASSIGN(RANGE("SB", "18"), "{ SB[i] -> B[i] }", "i", .literal = 0);
  UPDATE(GS_C_ADD, "{ UB[i,k] : 0 <= i < 18 and 0 <= k < 3 }",
         "{ UB[i,k] -> B[i] }", "i k", .reads = {"{ UB[i,k] -> A[i,k] }"});
  ASSIGN(RANGE("SC", "16"), "{ SC[i] -> C[i] }", "x", .op = GS_C_ADD,
         .reads = {"{ SC[i] -> B[i] }", "{ SC[i] -> B[i+2] }"});
  KEPT("roll B x; assert instances(SB) == 18; assert instances(UB) == 54;"
       "fold_storage B 0");
  cr_assert_eq(array_named("B")->fold[0], 3);
}

/* A window that moves down: what is new is below. */
Test(roll, decreasing) {
  one_stage(26);
  ASSIGN(RANGE("SC", "24"), "{ SC[i] -> C[23 - i] }", "x", .op = GS_C_ADD,
         .reads = {"{ SC[i] -> B[23 - i] }", "{ SC[i] -> B[25 - i] }"});
  KEPT("roll B x; assert instances(B) == 26; fold_storage B 0");
  cr_assert_eq(array_named("B")->fold[0], 3);
}

Test(roll, refusals) {
  blur();
  REFUSED("roll C x", "C is an output");
  REFUSED("roll B i", "B is inside loop i already");
  REFUSED("roll B x fill=never", "fill must be before or first, not never");
  REFUSED("fold_storage A 0 3", "the layout of A is the caller's");
  REFUSED("fold_storage B 1", "B has 1 dimension, no dimension 1");
  REFUSED("fold_storage B 0", "all 26 elements along dimension 0 of B are");
  REFUSED("fold_storage B 0 27", "27 places are not within 1..26");
  scheduled("parallel x");
  REFUSED("roll B x", "loop x is parallel, not serial");
  scheduled("serial x; roll B x");
  REFUSED("fold_storage B 0 2", "elements of B that share a place are needed "
                                "at once");
  REFUSED("parallel x", "iterations of loop x depend on each other");
}

/* Each element is needed by one iteration, in no order of iterations. */
Test(roll, no_order) {
  one_stage(24);
  ASSIGN("{ SC[i] : 0 <= i < 12 }", "{ SC[i] -> C[i] }", "x", .op = GS_C_ADD,
         .reads = {"{ SC[i] -> B[i] }", "{ SC[i] -> B[23-i] }"});
  REFUSED("roll B x", "are not needed in an order");
  KEPT("roll B x fill=first; assert instances(B) == 24");
}

/* A value that is overwritten before the window gets there. */
Test(roll, inputs_overwritten) {
  array("I", PO_INPUT, GS_I32, 1, 26);
  array("C", PO_OUTPUT, GS_I32, 1, 24);
  array("A", PO_WORKSPACE, GS_I32, 1, 26);
  array("B", PO_WORKSPACE, GS_I32, 1, 26);
  ASSIGN(RANGE("SA", "26"), "{ SA[i] -> A[i] }", "a",
         .reads = {"{ SA[i] -> I[i] }"});
  ASSIGN(RANGE("SB", "26"), "{ SB[i] -> B[i] }", "b",
         .reads = {"{ SB[i] -> A[i] }"});
  ASSIGN(RANGE("SX", "26"), "{ SX[i] -> A[i] }", "c", .literal = 9);
  ASSIGN(RANGE("SC", "24"), "{ SC[i] -> C[i] }", "x", .op = GS_C_ADD,
         .reads = {"{ SC[i] -> B[i] }", "{ SC[i] -> B[i+2] }"});
  REFUSED("roll B x", "values would change");
}

/* Storage alone: rows of a workspace that the nest computes in turn. */
Test(roll, fold_a_workspace) {
  array("A", PO_INPUT, GS_I32, 2, 12, 7);
  array("C", PO_OUTPUT, GS_I32, 2, 12, 7);
  array("B", PO_WORKSPACE, GS_I32, 2, 12, 7);
  ASSIGN(GRID("SB", "12", "7"), "{ SB[i,j] -> B[i,j] }", "x y", .op = GS_C_ADD,
         .literal = 1, .reads = {"{ SB[i,j] -> A[i,j] }"});
  ASSIGN("{ SC[i,j] : 1 <= i < 12 and 0 <= j < 7 }", "{ SC[i,j] -> C[i,j] }",
         "x z", .op = GS_C_ADD,
         .reads = {"{ SC[i,j] -> B[i,j] }", "{ SC[i,j] -> B[i-1,j] }"});
  REFUSED("fold_storage B 0 1", "elements of B that share a place");
  REFUSED("fold_storage B 1", "all 7 elements along dimension 1");
  KEPT("fold_storage B 0");
  cr_assert_eq(array_named("B")->fold[0], 2);
}
