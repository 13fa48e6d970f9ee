/* SPDX-License-Identifier: MIT */
/* test_primitives.c - primitives that change statements: forms, counts of
 * instances, refusals; outputs are compared in every case. */
#include "copies.h"

TestSuite(primitives, .init = start_program, .fini = fixture_stop);

Test(primitives, compute_inline) {
  two_cubes(8);
  FORM("compute_inline B", "for x<8\n"
                           "  for y<8\n"
                           "    for z<8\n"
                           "      C[x, y, z] = ((A[y, x, z] + 1) * 2)\n");
}

Test(primitives, compute_at_fused) {
  two_cubes(8);
  FORM("f = fuse [x, y]; compute_at B z; assert instances(B) == 512",
       "for f<64\n"
       "  for z<8\n"
       "    B[f, z, 0, 0, 0] = (A[f % 8, f / 8, z] + 1)\n"
       "    C[f / 8, f % 8, z] = (B[f, z, 0, 0, 0] * 2)\n");
}

Test(primitives, compute_at_middle) {
  two_cubes(8);
  FORM("compute_at B y; assert instances(B) == 512; parallel x",
       "parallel for x<8\n"
       "  for y<8\n"
       "    for k<8\n"
       "      B[x, y, 0, 0, k] = (A[y, x, k] + 1)\n"
       "    for z<8\n"
       "      C[x, y, z] = (B[x, y, 0, 0, z] * 2)\n");
}

Test(primitives, compute_at_part_of_a_loop) {
  array("A", PO_INPUT, GS_I32, 2, 64, 64);
  array("C", PO_OUTPUT, GS_I32, 2, 64, 64);
  array("B", PO_WORKSPACE, GS_I32, 2, 64, 64);
  ASSIGN("{ SB[i,j] : 0 <= i < 64 and 0 <= j < 64 }", "{ SB[i,j] -> B[i,j] }",
         "i j", .reads = {"{ SB[i,j] -> A[i,j] }"});
  ASSIGN("{ SC[i,j] : 0 <= i < 64 and 0 <= j < 64 }", "{ SC[i,j] -> C[i,j] }",
         "x y", .reads = {"{ SC[i,j] -> B[i,j] }"});
  FORM("f = fuse [x, y]; f, g = split f [32, -1]; compute_at B f;"
       "assert instances(B) == 4096",
       "for f<32\n"
       "  for i<2\n"
       "    for j<64\n"
       "      B[f, i, j] = A[2 * f + i, j]\n"
       "  for g<128\n"
       "    C[2 * f + g / 64, g % 64] = B[f, g / 64, g % 64]\n");
}

/* C[i,j] = B[i+j, i+j]: a diagonal, not the square around it. */
Test(primitives, compute_at_takes_what_is_needed_only) {
  array("A", PO_INPUT, GS_I32, 2, 63, 63);
  array("C", PO_OUTPUT, GS_I32, 2, 32, 32);
  array("B", PO_WORKSPACE, GS_I32, 2, 63, 63);
  ASSIGN("{ SB[i,j] : 0 <= i < 63 and 0 <= j < 63 }", "{ SB[i,j] -> B[i,j] }",
         "i j", .reads = {"{ SB[i,j] -> A[i,j] }"});
  ASSIGN("{ SC[i,j] : 0 <= i < 32 and 0 <= j < 32 }", "{ SC[i,j] -> C[i,j] }",
         "x y", .reads = {"{ SC[i,j] -> B[i+j,i+j] }"});
  KEPT("assert instances(B) == 3969; compute_at B x;"
       "assert instances(B) == 1024");
}

/* Rows of B are rows of C in groups of four, end to end: what a tile of six
 * rows reads of them is found by divisions, and filled up. */
Test(primitives, compute_at_fills_up_what_divisions_leave_out) {
  array("A", PO_INPUT, GS_I32, 2, 4, 36);
  array("C", PO_OUTPUT, GS_I32, 2, 24, 6);
  array("B", PO_WORKSPACE, GS_I32, 2, 4, 36);
  ASSIGN("{ SB[i,j] : 0 <= i < 4 and 0 <= j < 36 }", "{ SB[i,j] -> B[i,j] }",
         "i j", .reads = {"{ SB[i,j] -> A[i,j] }"});
  ASSIGN("{ SC[i,j] : 0 <= i < 24 and 0 <= j < 6 }", "{ SC[i,j] -> C[i,j] }",
         "x y", .reads = {"{ SC[i,j] -> B[i mod 4, 6*floor(i / 4) + j] }"});
  FORM("x0, x1 = split x [-1, 6]; compute_at B x0;"
       "assert instances(B) == 192",
       "for x0<4\n"
       "  for i<4\n"
       "    for j=max(0, 9 * x0 - 2 * i + (i + 1) / 2)..min(35, 9 * x0 - 2 * i "
       "+ "
       "(i + 1) / 2 + 12)\n"
       "      B[x0, i, -9 * x0 + j + 4] = A[i, j]\n"
       "  for x1<6\n"
       "    for y<6\n"
       "      C[6 * x0 + x1, y] = B[x0, (2 * x0 + x1) % 4, -3 * x0 + y + 6 * "
       "((2 * x0 + x1) / 4) + 4]\n");
}

/* Every fourth element is not worth the others. */
Test(primitives, compute_at_leaves_out_what_is_far_between) {
  array("A", PO_INPUT, GS_I32, 1, 64);
  array("C", PO_OUTPUT, GS_I32, 1, 16);
  array("B", PO_WORKSPACE, GS_I32, 1, 64);
  ASSIGN("{ SB[i] : 0 <= i < 64 }", "{ SB[i] -> B[i] }", "i",
         .reads = {"{ SB[i] -> A[i] }"});
  ASSIGN("{ SC[i] : 0 <= i < 16 }", "{ SC[i] -> C[i] }", "x",
         .reads = {"{ SC[i] -> B[4i] }"});
  KEPT("x0, x1 = split x [-1, 8]; compute_at B x0; assert instances(B) == 16");
}

Test(primitives, compute_at_of_a_decreasing_index) {
  array("A", PO_INPUT, GS_I32, 1, 32);
  array("C", PO_OUTPUT, GS_I32, 1, 32);
  array("B", PO_WORKSPACE, GS_I32, 1, 32);
  ASSIGN("{ SB[i] : 0 <= i < 32 }", "{ SB[i] -> B[i] }", "i",
         .reads = {"{ SB[i] -> A[i] }"});
  ASSIGN("{ SC[i] : 0 <= i < 32 }", "{ SC[i] -> C[i] }", "x",
         .reads = {"{ SC[i] -> B[31-i] }"});
  FORM("x0, x1 = split x [4, 8]; compute_at B x0; assert instances(B) == 32",
       "for x0<4\n"
       "  for i<8\n"
       "    B[x0, i] = A[-8 * x0 + i + 24]\n"
       "  for x1<8\n"
       "    C[8 * x0 + x1] = B[x0, -x1 + 7]\n");
}

/* The rims of tiles are computed twice, in places of their own. */
Test(primitives, compute_at_overlapping_tiles) {
  array("A", PO_INPUT, GS_I32, 1, 66);
  array("C", PO_OUTPUT, GS_I32, 1, 64);
  array("B", PO_WORKSPACE, GS_I32, 1, 66);
  ASSIGN("{ SB[i] : 0 <= i < 66 }", "{ SB[i] -> B[i] }", "i", .op = GS_C_ADD,
         .literal = 3, .reads = {"{ SB[i] -> A[i] }"});
  ASSIGN("{ SC[i] : 0 <= i < 64 }", "{ SC[i] -> C[i] }", "x", .op = GS_C_ADD,
         .reads = {"{ SC[i] -> B[i] }", "{ SC[i] -> B[i+2] }"});
  FORM("x0, x1 = split x [-1, 16]; compute_at B x0; parallel x0;"
       "assert instances(B) == 72",
       "parallel for x0<4\n"
       "  for i<18\n"
       "    B[x0, i] = (A[16 * x0 + i] + 3)\n"
       "  for x1<16\n"
       "    C[16 * x0 + x1] = (B[x0, x1] + B[x0, x1 + 2])\n");
}

Test(primitives, compute_at_refusals) {
  two_cubes(8);
  REFUSED("compute_at C k", "C is an output");
  REFUSED("compute_at B k", "B is inside loop k already");
  REFUSED("compute_at A z", "no statement is named or computes A");
  scheduled("compute_at B y");
  REFUSED("compute_at B x", "B is inside loop x already");
}

Test(primitives, compute_at_needs_a_consumer) {
  array("A", PO_INPUT, GS_I32, 1, 8);
  array("C", PO_OUTPUT, GS_I32, 1, 8);
  array("D", PO_OUTPUT, GS_I32, 1, 8);
  array("B", PO_WORKSPACE, GS_I32, 1, 8);
  ASSIGN("{ SB[i] : 0 <= i < 8 }", "{ SB[i] -> B[i] }", "i",
         .reads = {"{ SB[i] -> A[i] }"});
  ASSIGN("{ SC[i] : 0 <= i < 8 }", "{ SC[i] -> C[i] }", "x",
         .reads = {"{ SC[i] -> A[i] }"});
  ASSIGN("{ SD[i] : 0 <= i < 8 }", "{ SD[i] -> D[i] }", "y",
         .reads = {"{ SD[i] -> B[i] }"});
  REFUSED("compute_at B x", "SD reads B outside loop x");
  KEPT("compute_at B y");
  REFUSED("compute_inline C", "nothing reads C");
}

Test(primitives, compute_at_nothing_there) {
  array("A", PO_INPUT, GS_I32, 1, 8);
  array("C", PO_OUTPUT, GS_I32, 1, 8);
  array("B", PO_WORKSPACE, GS_I32, 1, 8);
  ASSIGN("{ SB[i] : 0 <= i < 8 }", "{ SB[i] -> B[i] }", "i",
         .reads = {"{ SB[i] -> A[i] }"});
  ASSIGN("{ SC[i] : 0 <= i < 8 }", "{ SC[i] -> C[i] }", "x",
         .reads = {"{ SC[i] -> A[i] }"});
  REFUSED("compute_at B x", "nothing inside loop x reads B");
}

/* A[i] is overwritten between B and C. */
static void
overwritten(void) {
  array("I", PO_INPUT, GS_I32, 1, 32);
  array("C", PO_OUTPUT, GS_I32, 1, 32);
  array("A", PO_WORKSPACE, GS_I32, 1, 32);
  array("B", PO_WORKSPACE, GS_I32, 1, 32);
  ASSIGN("{ SA[i] : 0 <= i < 32 }", "{ SA[i] -> A[i] }", "a",
         .reads = {"{ SA[i] -> I[i] }"});
  ASSIGN("{ SB[i] : 0 <= i < 32 }", "{ SB[i] -> B[i] }", "b",
         .reads = {"{ SB[i] -> A[i] }"});
  ASSIGN("{ SX[i] : 0 <= i < 32 }", "{ SX[i] -> A[i] }", "c", .literal = 9);
  ASSIGN("{ SC[i] : 0 <= i < 32 }", "{ SC[i] -> C[i] }", "d", .op = GS_C_ADD,
         .reads = {"{ SC[i] -> B[i] }", "{ SC[i] -> A[i] }"});
}

Test(primitives, inputs_overwritten_in_between) {
  overwritten();
  REFUSED("compute_inline B", "values would change");
  REFUSED("compute_at B d", "values would change");
  KEPT("merge b c; assert legal");
}

Test(primitives, compute_inline_refusals) {
  array("A", PO_INPUT, GS_I32, 1, 32);
  array("C", PO_OUTPUT, GS_I32, 1, 16);
  array("B", PO_WORKSPACE, GS_I32, 1, 32);
  array("D", PO_WORKSPACE, GS_I32, 1, 16);
  ASSIGN("{ S0[i] : 0 <= i < 16 }", "{ S0[i] -> B[i] }", "i", .literal = 0);
  ASSIGN("{ S1[i] : 16 <= i < 32 }", "{ S1[i] -> B[i] }", "j",
         .reads = {"{ S1[i] -> A[i] }"});
  ASSIGN("{ SD[i] : 0 <= i < 16 }", "{ SD[i] -> D[i] }", "k", .literal = 0);
  UPDATE(GS_C_ADD, "{ UD[i,j] : 0 <= i < 16 and 0 <= j < 2 }",
         "{ UD[i,j] -> D[i] }", "k l", .reads = {"{ UD[i,j] -> B[2i+j] }"});
  ASSIGN("{ SC[i] : 0 <= i < 16 }", "{ SC[i] -> C[i] }", "m",
         .reads = {"{ SC[i] -> D[i] }"});
  REFUSED("compute_inline B", "B is computed by 2 statements, not one");
  REFUSED("compute_inline D", "D is computed by 2 statements, not one");
  KEPT("compute_at D m; assert instances(D) == 48");
}

/* Its statement stays, and who reads it reads what it read. */
Test(primitives, compute_inline_of_an_output) {
  array("A", PO_INPUT, GS_I32, 1, 8);
  array("C", PO_OUTPUT, GS_I32, 1, 8);
  array("D", PO_OUTPUT, GS_I32, 1, 8);
  ASSIGN("{ SC[i] : 0 <= i < 8 }", "{ SC[i] -> C[i] }", "i", .op = GS_C_ADD,
         .literal = 1, .reads = {"{ SC[i] -> A[i] }"});
  ASSIGN("{ SD[i] : 0 <= i < 8 }", "{ SD[i] -> D[i] }", "j", .op = GS_C_MUL,
         .literal = 2, .reads = {"{ SD[i] -> C[7 - i] }"});
  FORM("compute_inline C; merge i j", "for i<8\n"
                                      "  C[i] = (A[i] + 1)\n"
                                      "  D[i] = ((A[-i + 7] + 1) * 2)\n");
  REFUSED("compute_inline C; compute_inline C", "nothing reads C");
}

Test(primitives, compute_inline_of_an_overwritten_output) {
  array("I", PO_INPUT, GS_I32, 1, 8);
  array("C", PO_OUTPUT, GS_I32, 1, 8);
  array("D", PO_OUTPUT, GS_I32, 1, 8);
  array("A", PO_WORKSPACE, GS_I32, 1, 8);
  ASSIGN("{ SA[i] : 0 <= i < 8 }", "{ SA[i] -> A[i] }", "a",
         .reads = {"{ SA[i] -> I[i] }"});
  ASSIGN("{ SC[i] : 0 <= i < 8 }", "{ SC[i] -> C[i] }", "b",
         .reads = {"{ SC[i] -> A[i] }"});
  ASSIGN("{ SX[i] : 0 <= i < 8 }", "{ SX[i] -> A[i] }", "c", .literal = 9);
  ASSIGN("{ SD[i] : 0 <= i < 8 }", "{ SD[i] -> D[i] }", "d", .op = GS_C_ADD,
         .reads = {"{ SD[i] -> C[i] }", "{ SD[i] -> A[i] }"});
  REFUSED("compute_inline C", "values would change");
  REFUSED("reverse_compute_inline D", "D reads both");
}

Test(primitives, reverse_compute_inline) {
  two_cubes(8);
  FORM("reverse_compute_inline C", "for i<8\n"
                                   "  for j<8\n"
                                   "    for k<8\n"
                                   "      C[j, i, k] = ((A[i, j, k] + 1) * "
                                   "2)\n");
}

/* The inside and the ends of a row read different things; what doubles them
 * becomes part of each, and the end that nothing reads is gone. */
Test(primitives, reverse_compute_inline_into_parts) {
  array("A", PO_INPUT, GS_I32, 1, 16);
  array("C", PO_OUTPUT, GS_I32, 1, 15);
  array("B", PO_WORKSPACE, GS_I32, 1, 16);
  ASSIGN("{ SF[i] : i = 0 }", "{ SF[i] -> B[i] }", "x",
         .reads = {"{ SF[i] -> A[i] }"});
  ASSIGN("{ SI[i] : 1 <= i < 15 }", "{ SI[i] -> B[i] }", "i",
         .reads = {"{ SI[i] -> A[i - 1] }"});
  ASSIGN("{ SL[i] : i = 15 }", "{ SL[i] -> B[i] }", "y",
         .reads = {"{ SL[i] -> A[i] }"});
  ASSIGN("{ SC[j] : 0 <= j < 15 }", "{ SC[j] -> C[j] }", "j", .op = GS_C_MUL,
         .literal = 2, .reads = {"{ SC[j] -> B[j] }"});
  FORM("reverse_compute_inline SC", "for x<1\n"
                                    "  C[0] = (A[0] * 2)\n"
                                    "for i=1..14\n"
                                    "  C[i] = (A[i - 1] * 2)\n");
}

/* A part that is a sum takes no formula; one value read twice neither. */
Test(primitives, reverse_compute_inline_refusals) {
  array("A", PO_INPUT, GS_I32, 1, 16);
  array("C", PO_OUTPUT, GS_I32, 1, 16);
  array("B", PO_WORKSPACE, GS_I32, 1, 16);
  ASSIGN("{ SB[i] : 0 <= i < 16 }", "{ SB[i] -> B[i] }", "i", .literal = 0);
  UPDATE(GS_C_ADD, "{ UB[i,j] : 0 <= i < 16 and 0 <= j < 2 }",
         "{ UB[i,j] -> B[i] }", "k l", .reads = {"{ UB[i,j] -> A[i] }"});
  ASSIGN("{ SC[j] : 0 <= j < 16 }", "{ SC[j] -> C[j] }", "j",
         .reads = {"{ SC[j] -> B[j] }"});
  REFUSED("reverse_compute_inline SC", "UB computes B by a reduction");
}

Test(primitives, reverse_compute_inline_not_covered) {
  array("A", PO_INPUT, GS_I32, 1, 32);
  array("C", PO_OUTPUT, GS_I32, 1, 32);
  array("B", PO_WORKSPACE, GS_I32, 1, 16);
  ASSIGN("{ SB[i] : 0 <= i < 16 }", "{ SB[i] -> B[i] }", "i",
         .reads = {"{ SB[i] -> A[i] }"});
  ASSIGN("{ SC[i] : 0 <= i < 32 }", "{ SC[i] -> C[i] }", "x",
         .reads = {"{ SC[i] -> B[floor(i/2)] }"});
  REFUSED("reverse_compute_inline C", "is not one quasi-affine function");
  REFUSED("reverse_compute_inline B", "B reads nothing that is computed");
}

Test(primitives, reverse_compute_at) {
  two_cubes(8);
  FORM("reverse_compute_at C j", "for i<8\n"
                                 "  for j<8\n"
                                 "    for k<8\n"
                                 "      B[i, j, k] = (A[i, j, k] + 1)\n"
                                 "    for z<8\n"
                                 "      C[j, i, z] = (B[i, j, z] * 2)\n");
  REFUSED("reverse_compute_at B z", "B reads nothing that is made inside");
}

/* What is updated in place must not be set after it was moved up. */
Test(primitives, reverse_compute_at_keeps_the_order_of_writes) {
  array("A", PO_INPUT, GS_I32, 2, 8, 8);
  array("T", PO_OUTPUT, GS_I32, 2, 8, 8);
  ASSIGN("{ S0[i,j] : 0 <= i < 8 and 0 <= j < 8 }", "{ S0[i,j] -> T[i,j] }",
         "i j", .reads = {"{ S0[i,j] -> A[i,j] }"});
  ASSIGN("{ S1[i,j] : 1 <= i < 8 and 0 <= j < 8 }", "{ S1[i,j] -> T[i,j] }",
         "x y", .op = GS_C_ADD,
         .reads = {"{ S1[i,j] -> T[i-1,j] }", "{ S1[i,j] -> A[i,j] }"});
  REFUSED("reverse_compute_at S1 j", "output dependence through T");
}

Test(primitives, cache_read) {
  array("A", PO_INPUT, GS_I32, 2, 32, 32);
  array("B", PO_OUTPUT, GS_I32, 3, 32, 32, 16);
  ASSIGN("{ S[i,j,k] : 0 <= i < 32 and 0 <= j < 32 and 0 <= k < 16 }",
         "{ S[i,j,k] -> B[i,j,k] }", "i j k",
         .reads = {"{ S[i,j,k] -> A[i,j] }"});
  FORM("cache_read B A shared; assert instances(A_shared) == 1024",
       "for ax0<32\n"
       "  for ax1<32\n"
       "    A_shared[ax0, ax1] = A[ax0, ax1]\n"
       "for i<32\n"
       "  for j<32\n"
       "    for k<16\n"
       "      B[i, j, k] = A_shared[i, j]\n");
  REFUSED("cache_read B A shared", "S does not read A");
}

Test(primitives, cache_read_in_a_loop) {
  array("A", PO_INPUT, GS_I32, 1, 34);
  array("B", PO_OUTPUT, GS_I32, 1, 32);
  ASSIGN("{ S[i] : 0 <= i < 32 }", "{ S[i] -> B[i] }", "i", .op = GS_C_MUL,
         .reads = {"{ S[i] -> A[i] }", "{ S[i] -> A[i+2] }"});
  FORM("a, b = split i [-1, 8]; cache_read B A local at a;"
       "assert instances(A_local) == 40",
       "for a<4\n"
       "  for ax0<10\n"
       "    A_local[a, ax0] = A[8 * a + ax0]\n"
       "  for b<8\n"
       "    B[8 * a + b] = (A_local[a, b] * A_local[a, b + 2])\n");
  REFUSED("cache_read B A_local everywhere", "there is no memory everywhere");
}

/* Only the named reader uses the copy, which has all that it needs. */
Test(primitives, cache_read_leaves_other_readers) {
  array("A", PO_INPUT, GS_I32, 1, 32);
  array("B", PO_OUTPUT, GS_I32, 1, 8);
  array("C", PO_OUTPUT, GS_I32, 1, 32);
  ASSIGN("{ SB[i] : 0 <= i < 8 }", "{ SB[i] -> B[i] }", "i",
         .reads = {"{ SB[i] -> A[i+3] }"});
  ASSIGN("{ SC[i] : 0 <= i < 32 }", "{ SC[i] -> C[i] }", "x",
         .reads = {"{ SC[i] -> A[i] }"});
  FORM("cache_read B A local", "for ax0<8\n"
                               "  A_local[ax0] = A[ax0 + 3]\n"
                               "for i<8\n"
                               "  B[i] = A_local[i]\n"
                               "for x<32\n"
                               "  C[x] = A[x]\n");
}

static void
row_sums(void) {
  array("A", PO_INPUT, GS_I32, 3, 16, 8, 8);
  array("B", PO_OUTPUT, GS_I32, 2, 16, 8);
  ASSIGN("{ I[i,j] : 0 <= i < 16 and 0 <= j < 8 }", "{ I[i,j] -> B[i,j] }",
         "i j", .literal = 0);
  UPDATE(GS_C_ADD, "{ U[i,j,k] : 0 <= i < 16 and 0 <= j < 8 and 0 <= k < 8 }",
         "{ U[i,j,k] -> B[i,j] }", "i j k",
         .reads = {"{ U[i,j,k] -> A[i,j,k] }"});
}

Test(primitives, cache_write) {
  row_sums();
  FORM("cache_write B shared", "for i<16\n"
                               "  for j<8\n"
                               "    B_shared[i, j] = 0\n"
                               "    for k<8\n"
                               "      B_shared[i, j] += A[i, j, k]\n"
                               "for ax0<16\n"
                               "  for ax1<8\n"
                               "    B[ax0, ax1] = B_shared[ax0, ax1]\n");
}

Test(primitives, cache_write_in_a_loop) {
  row_sums();
  FORM("cache_write B local at j; parallel i",
       "parallel for i<16\n"
       "  for j<8\n"
       "    B_local[i, j, 0, 0] = 0\n"
       "    for k<8\n"
       "      B_local[i, j, 0, 0] += A[i, j, k]\n"
       "    B[i, j] = B_local[i, j, 0, 0]\n");
}

Test(primitives, cache_write_of_partial_sums) {
  row_sums();
  REFUSED("cache_write B local at k", "I is not inside loop k");
}

Test(primitives, set_buffer) {
  two_cubes(8);
  KEPT("set_buffer B local");
  cr_assert_eq(hand->arrays.data[2].role, PO_LOCAL);
  cr_assert_eq(hand->arrays.data[2].scope, PO_STACK);
  KEPT("set_buffer B shared");
  cr_assert_eq(hand->arrays.data[2].scope, PO_SHARED);
  KEPT("set_buffer B global");
  cr_assert_eq(hand->arrays.data[2].role, PO_WORKSPACE);
  REFUSED("set_buffer C local", "C is an output");
  REFUSED("set_buffer A local", "A is an input");
  scheduled("bind k threadIdx.x; bind z threadIdx.x; bind y blockIdx.x");
  scheduled("set_buffer B global");
  REFUSED("set_buffer B shared", "different iterations of loop y");
}

static void
sums_of_two(void) {
  array("A", PO_INPUT, GS_I32, 3, 32, 2, 16);
  array("B", PO_OUTPUT, GS_I32, 1, 32);
  ASSIGN("{ I[i] : 0 <= i < 32 }", "{ I[i] -> B[i] }", "i", .literal = 0);
  UPDATE(GS_C_ADD, "{ U[i,j,k] : 0 <= i < 32 and 0 <= j < 2 and 0 <= k < 16 }",
         "{ U[i,j,k] -> B[i] }", "i j k",
         .reads = {"{ U[i,j,k] -> A[i,j,k] }"});
}

Test(primitives, rfactor_first_axis) {
  sums_of_two();
  FORM("rfactor k 0; parallel rf_k",
       "parallel for rf_k<16\n"
       "  for i_1<32\n"
       "    rf_B[rf_k, i_1] = 0\n"
       "    for j_1<2\n"
       "      rf_B[rf_k, i_1] += A[i_1, j_1, rf_k]\n"
       "for i<32\n"
       "  B[i] = 0\n"
       "  for k<16\n"
       "    B[i] += rf_B[k, i]\n");
}

Test(primitives, rfactor_last_axis) {
  sums_of_two();
  FORM("rfactor j 1", "for i_1<32\n"
                      "  for rf_j<2\n"
                      "    rf_B[i_1, rf_j] = 0\n"
                      "    for k_1<16\n"
                      "      rf_B[i_1, rf_j] += A[i_1, rf_j, k_1]\n"
                      "for i<32\n"
                      "  B[i] = 0\n"
                      "  for j<2\n"
                      "    B[i] += rf_B[i, j]\n");
}

Test(primitives, rfactor_of_a_split_loop) {
  sums_of_two();
  FORM("k0, k1 = split k [-1, 4]; rf, back = rfactor k1; vectorize i_1 4",
       "for rf<4\n"
       "  vectorize[4] for i_1<32\n"
       "    rf_B[rf, i_1] = 0\n"
       "    for j_1<2\n"
       "      for k0_1<4\n"
       "        rf_B[rf, i_1] += A[i_1, j_1, rf + 4 * k0_1]\n"
       "for i<32\n"
       "  B[i] = 0\n"
       "  for back<4\n"
       "    B[i] += rf_B[back, i]\n");
}

Test(primitives, rfactor_of_a_loop_that_is_shorter_at_the_end) {
  sums_of_two();
  FORM("k0, k1 = split k [-1, 5]; rf, back = rfactor k1; parallel rf",
       "parallel for rf<5\n"
       "  for i_1<32\n"
       "    rf_B[rf, i_1] = 0\n"
       "    for j_1<2\n"
       "      for k0_1=0..-((rf + 4) / 5) + 3\n"
       "        rf_B[rf, i_1] += A[i_1, j_1, rf + 5 * k0_1]\n"
       "for i<32\n"
       "  B[i] = 0\n"
       "  for back<5\n"
       "    B[i] += rf_B[back, i]\n");
}

Test(primitives, rfactor_in_another_nest) {
  two_cubes(8);
  array("D", PO_OUTPUT, GS_I32, 1, 8);
  ASSIGN("{ I[i] : 0 <= i < 8 }", "{ I[i] -> D[i] }", "p", .literal = 0);
  UPDATE(GS_C_MAX, "{ U[i,j] : 0 <= i < 8 and 0 <= j < 8 }",
         "{ U[i,j] -> D[i] }", "p q", .reads = {"{ U[i,j] -> C[i,j,j] }"});
  KEPT("rfactor q 0; assert instances(rf_D) == 128");
}

Test(primitives, rfactor_refusals) {
  sums_of_two();
  REFUSED("rfactor i", "2 statements stand inside loop i, not one");
  REFUSED("rfactor j 5", "5 is not a place among the 1 dimension of B");
  REFUSED("rfactor j -4", "-4 is not a place among the 1 dimension of B");
  scheduled("reorder [j, i]");
  REFUSED("rfactor i", "B is not reduced over loop i");
}

Test(primitives, decompose_reduction) {
  row_sums();
  FORM("decompose_reduction B i", "for i_1<16\n"
                                  "  for j_1<8\n"
                                  "    B[i_1, j_1] = 0\n"
                                  "for i<16\n"
                                  "  for j<8\n"
                                  "    for k<8\n"
                                  "      B[i, j] += A[i, j, k]\n");
  REFUSED("decompose_reduction B k", "is not set inside loop k");
}

Test(primitives, transform_layout) {
  array("A", PO_INPUT, GS_I32, 2, 6, 40);
  array("C", PO_OUTPUT, GS_I32, 2, 6, 40);
  array("B", PO_WORKSPACE, GS_I32, 2, 6, 40);
  ASSIGN("{ SB[i,j] : 0 <= i < 6 and 0 <= j < 40 }", "{ SB[i,j] -> B[i,j] }",
         "i j", .reads = {"{ SB[i,j] -> A[i,j] }"});
  ASSIGN("{ SC[i,j] : 0 <= i < 6 and 0 <= j < 40 }", "{ SC[i,j] -> C[i,j] }",
         "x y", .reads = {"{ SC[i,j] -> B[i,j] }"});
  FORM("transform_layout B \"[i, j] -> [floor(j / 16), i, j mod 16]\"",
       "for i<6\n"
       "  for j<40\n"
       "    B[j / 16, i, j % 16] = A[i, j]\n"
       "for x<6\n"
       "  for y<40\n"
       "    C[x, y] = B[y / 16, x, y % 16]\n");
  cr_assert_eq(hand->arrays.data[2].dim[0], 3);
  cr_assert_eq(hand->arrays.data[2].dim[2], 16);
  REFUSED("transform_layout B \"[i, j, k] -> [i, j]\"",
          "puts B[0,0,0] and B[0,0,1] in one place");
  REFUSED("transform_layout B \"[i, j] -> [i]\"",
          "is not a map of the 3 indices");
  REFUSED("transform_layout B \"[i, j, k] -> [i - 1, j, k]\"", "below 0");
  REFUSED("transform_layout B \"nonsense\"", "is not a map");
  REFUSED("transform_layout A \"[i, j] -> [j, i]\"",
          "the layout of A is the caller's");
  KEPT("storage_align B 1 32 1");
  cr_assert_eq(hand->arrays.data[2].pad[2], 17);
  REFUSED("storage_align B 7 32", "B has 3 dimensions, no dimension 7");
  REFUSED("storage_align B 1 0", "factor 0 is not");
  REFUSED("storage_align B 1 4 9", "offset 9 is not in 0..3");
  REFUSED("storage_align A 0 4", "the layout of A is the caller's");
}

Test(primitives, pack) {
  array("A", PO_INPUT, GS_I32, 2, 8, 32);
  array("B", PO_OUTPUT, GS_I32, 2, 8, 32);
  ASSIGN("{ S[i,j] : 0 <= i < 8 and 0 <= j < 32 }", "{ S[i,j] -> B[i,j] }",
         "i j", .reads = {"{ S[i,j] -> A[i,j] }"});
  KEPT("j0, j1 = split j [-1, 16]; reorder [j0, i, j1]\n"
       "pack B A \"[i, j] -> [j, i]\" local at j0");
  const po_array *packed = &hand->arrays.data[2];
  cr_assert_eq(packed->rank, 3);
  cr_assert_eq(packed->dim[1], 16);
  cr_assert_eq(packed->dim[2], 8);
}

Test(primitives, pipeline) {
  array("A", PO_INPUT, GS_I32, 1, 32);
  array("B", PO_OUTPUT, GS_I32, 1, 32);
  ASSIGN("{ S[i] : 0 <= i < 32 }", "{ S[i] -> B[i] }", "i",
         .reads = {"{ S[i] -> A[i] }"});
  scheduled("a, b = split i [-1, 8]; cache_read B A local at a");
  REFUSED("shift A_local a -1", "elements of A_local that share a place");
  FORM("pipeline A_local a", "for a=-1..3\n"
                             "  if (a <= 2) for ax0<8\n"
                             "    A_local[a + 1, ax0] = A[8 * a + ax0 + 8]\n"
                             "  if (a >= 0) for b<8\n"
                             "    B[8 * a + b] = A_local[a, b]\n");
  cr_assert_eq(hand->arrays.data[2].fold[0], 2);
  REFUSED("pipeline B a", "B is not made anew in each iteration");
  REFUSED("parallel a", "iterations of loop a depend on each other");
}

Test(primitives, double_buffer) {
  array("A", PO_INPUT, GS_I32, 1, 32);
  array("B", PO_OUTPUT, GS_I32, 1, 32);
  ASSIGN("{ S[i] : 0 <= i < 32 }", "{ S[i] -> B[i] }", "i",
         .reads = {"{ S[i] -> A[i] }"});
  KEPT("a, b = split i [-1, 8]; cache_read B A local at a\n"
       "double_buffer A_local a; shift A_local a -1");
  REFUSED("shift A_local a -1", "elements of A_local that share a place");
}
