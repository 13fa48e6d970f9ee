/* SPDX-License-Identifier: MIT */
/* test_pad.c - pad_einsum: extents rounded up, outputs as before. */
#include "walk.h"

TestSuite(pad, .init = start_program, .fini = fixture_stop);

/* C[i, j] = sum of A[i, k] * B[k, j] over k */
static void
product(gs_dtype dtype, gs_compute op) {
  array("A", PO_INPUT, dtype, 2, 5, 7);
  array("B", PO_INPUT, dtype, 2, 7, 3);
  array("C", PO_OUTPUT, dtype, 2, 5, 3);
  ASSIGN("{ I[i,j] : 0 <= i < 5 and 0 <= j < 3 }", "{ I[i,j] -> C[i,j] }",
         "i j",
         .literal = op == GS_C_MUL   ? 1
                    : op == GS_C_MAX ? -9
                                     : 0);
  UPDATE(op, "{ U[i,j,k] : 0 <= i < 5 and 0 <= j < 3 and 0 <= k < 7 }",
         "{ U[i,j,k] -> C[i,j] }", "i j k", .op = GS_C_MUL,
         .reads = {"{ U[i,j,k] -> A[i,k] }", "{ U[i,j,k] -> B[k,j] }"});
}

Test(pad, all_extents) {
  product(GS_I32, GS_C_ADD);
  FORM("pad_einsum U [4, 4, 4]; assert instances(U) == 256",
       "for ax0_1<5\n"
       "  for ax1_1<7\n"
       "    A_pad[ax0_1, ax1_1] = A[ax0_1, ax1_1]\n"
       "for ax0_2<8\n"
       "  for ax1_2=ax0_2 >= 5 ? 0 : 7..7\n"
       "    A_pad[ax0_2, ax1_2] = 0\n"
       "for ax0_3<7\n"
       "  for ax1_3<3\n"
       "    B_pad[ax0_3, ax1_3] = B[ax0_3, ax1_3]\n"
       "for ax0_4<8\n"
       "  for ax1_4=ax0_4 == 7 ? 0 : 3..3\n"
       "    B_pad[ax0_4, ax1_4] = 0\n"
       "for i<8\n"
       "  for j<4\n"
       "    C_pad[i, j] = 0\n"
       "    for k<8\n"
       "      C_pad[i, j] += (A_pad[i, k] * B_pad[k, j])\n"
       "for ax0<5\n"
       "  for ax1<3\n"
       "    C[ax0, ax1] = C_pad[ax0, ax1]\n");
}

/* What does not grow stays where it is; multiples stay as they are. */
Test(pad, one_extent) {
  product(GS_I32, GS_C_ADD);
  FORM("pad_einsum C [1, 3, 1]", "for i<5\n"
                                 "  for j<3\n"
                                 "    C[i, j] = 0\n"
                                 "    for k<7\n"
                                 "      C[i, j] += (A[i, k] * B[k, j])\n");
  KEPT("pad_einsum U [1, 1, 5]; assert instances(U) == 150;"
       "assert instances(I) == 15; vectorize U.j 2; assert legal");
}

Test(pad, products_of_products) {
  product(GS_I32, GS_C_MUL);
  KEPT("pad_einsum U [2, 2, 2]; assert instances(U) == 192");
}

/* Nothing times itself is the least of all numbers. */
Test(pad, no_neutral_value) {
  product(GS_I32, GS_C_MAX);
  REFUSED("pad_einsum U [2, 2, 2]",
          "no value for which U's body leaves C as it is");
}

Test(pad, the_greatest) {
  array("A", PO_INPUT, GS_I32, 2, 5, 7);
  array("C", PO_OUTPUT, GS_I32, 1, 5);
  ASSIGN("{ I[i] : 0 <= i < 5 }", "{ I[i] -> C[i] }", "i", .literal = -5000);
  UPDATE(GS_C_MAX, "{ U[i,k] : 0 <= i < 5 and 0 <= k < 7 }",
         "{ U[i,k] -> C[i] }", "i k", .reads = {"{ U[i,k] -> A[4-i,k] }"});
  KEPT("pad_einsum U [4, 4]; assert instances(U) == 64; assert legal");
}

/* A local sum is taken by the statement that finishes it, which grows, too. */
Test(pad, a_local_and_what_takes_it) {
  array("A", PO_INPUT, GS_I32, 2, 5, 7);
  array("b", PO_INPUT, GS_I32, 1, 5);
  array("C", PO_OUTPUT, GS_I32, 1, 5);
  array("s", PO_LOCAL, GS_I32, 1, 5);
  hand->arrays.data[3].fold[0] = 1;
  ASSIGN("{ I[i] : 0 <= i < 5 }", "{ I[i] -> s[i] }", "i", .literal = 0);
  UPDATE(GS_C_ADD, "{ U[i,k] : 0 <= i < 5 and 0 <= k < 7 }",
         "{ U[i,k] -> s[i] }", "i k", .reads = {"{ U[i,k] -> A[i,k] }"});
  ASSIGN("{ F[i] : 0 <= i < 5 }", "{ F[i] -> C[i] }", "i", .op = GS_C_ADD,
         .reads = {"{ F[i] -> s[i] }", "{ F[i] -> b[i] }"});
  KEPT("pad_einsum s [4, 1]; assert instances(F) == 8;"
       "assert instances(I) == 8; parallel i");
}

/* Windows: of whole numbers one factor of nought is enough, of others not. */
static void
windows(gs_dtype dtype) {
  array("x", PO_INPUT, dtype, 1, 12);
  array("w", PO_INPUT, dtype, 1, 3);
  array("y", PO_OUTPUT, dtype, 1, 10);
  ASSIGN("{ I[i] : 0 <= i < 10 }", "{ I[i] -> y[i] }", "i", .literal = 0);
  UPDATE(GS_C_ADD, "{ U[i,k] : 0 <= i < 10 and 0 <= k < 3 }",
         "{ U[i,k] -> y[i] }", "i k", .op = GS_C_MUL,
         .reads = {"{ U[i,k] -> x[i+k] }", "{ U[i,k] -> w[k] }"});
}

Test(pad, windows_of_integers) {
  windows(GS_I32);
  KEPT("pad_einsum U [8, 4]; assert instances(U) == 64");
}

Test(pad, windows_of_floats) {
  windows(GS_F32);
  REFUSED("pad_einsum U [8, 4]", "instances that are added to U would read "
                                 "elements of x that others read");
  scheduled("pad_einsum U [8, 1]; assert instances(U) == 48; assert legal");
}

/* B[i] starts from `start`, one of D[i], and sums up A[i, j] + C[i]. */
static void
sums(gs_compute start) {
  array("A", PO_INPUT, GS_I32, 2, 5, 5);
  array("C", PO_INPUT, GS_I32, 1, 5);
  array("D", PO_INPUT, GS_I32, 1, 5);
  array("B", PO_OUTPUT, GS_I32, 1, 5);
  ASSIGN("{ I[i] : 0 <= i < 5 }", "{ I[i] -> B[i] }", "i", .op = start,
         .reads = {"{ I[i] -> C[i] }", "{ I[i] -> D[i] }"});
  UPDATE(GS_C_ADD, "{ U[i,j] : 0 <= i < 5 and 0 <= j < 5 }",
         "{ U[i,j] -> B[i] }", "i j", .op = GS_C_ADD,
         .reads = {"{ U[i,j] -> A[i,j] }", "{ U[i,j] -> C[i] }"});
}

/* C[i] is added where j is new, and is no zero. */
Test(pad, terms_that_are_not_padded) {
  sums(GS_C_ADD);
  REFUSED("pad_einsum U [1, 4]", "instances that are added to U would read "
                                 "elements of C that others read");
}

/* Where i is new, D would hold zeros. */
Test(pad, starts_that_divide) {
  sums(GS_C_DIV);
  REFUSED("pad_einsum U [4, 1]", "I divides integers or looks up a table");
}

Test(pad, refusals) {
  product(GS_I32, GS_C_ADD);
  REFUSED("pad_einsum U [4, 4]", "U has 3 indices, not 2");
  REFUSED("pad_einsum U [4, 4, 0]", "a factor is not positive");
  REFUSED("pad_einsum I [4, 4]", "0 updates have this name, not one");
  REFUSED("pad_einsum A [4, 4]", "no statement is named or computes A");
}

Test(pad, triangles_have_no_extents) {
  array("A", PO_INPUT, GS_I32, 2, 8, 8);
  array("C", PO_OUTPUT, GS_I32, 1, 8);
  ASSIGN("{ I[i] : 0 <= i < 8 }", "{ I[i] -> C[i] }", "i", .literal = 0);
  UPDATE(GS_C_ADD, "{ U[i,k] : 0 <= k <= i < 8 }", "{ U[i,k] -> C[i] }", "i k",
         .reads = {"{ U[i,k] -> A[i,k] }"});
  REFUSED("pad_einsum U [3, 3]",
          "the bounds of U's indices depend on each other");
}

/* Between the start and the update C is read. */
Test(pad, values_in_between) {
  product(GS_I32, GS_C_ADD);
  array("D", PO_OUTPUT, GS_I32, 2, 5, 3);
  ASSIGN("{ S[i,j] : 0 <= i < 5 and 0 <= j < 3 }", "{ S[i,j] -> D[i,j] }",
         "i j", .reads = {"{ S[i,j] -> C[i,j] }"});
  REFUSED("pad_einsum U [4, 4, 4]", "values would change");
}
