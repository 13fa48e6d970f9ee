/* SPDX-License-Identifier: MIT */
/* test_private.c - nests run by each other's loops, code for some iterations,
 * and reductions by threads: compute_with, specialise, privatise. */
#include "copies.h"

TestSuite(private, .init = start_program, .fini = fixture_stop);

/* B[i, j] = A[i, j] for all, then C[k, l] = B[k + late, l] for fewer. */
static void
two_nests(int late) {
  char read[60];
  array("A", PO_INPUT, GS_I32, 2, 8, 6);
  array("B", PO_OUTPUT, GS_I32, 2, 8, 6);
  array("C", PO_OUTPUT, GS_I32, 2, 5, 4);
  ASSIGN("{ S[i,j] : 0 <= i < 8 and 0 <= j < 6 }", "{ S[i,j] -> B[i,j] }",
         "i j", .reads = {"{ S[i,j] -> A[i,j] }"});
  snprintf(read, sizeof read, "{ T[k,l] -> B[k+%d,l] }", late);
  ASSIGN("{ T[k,l] : 0 <= k < 5 and 0 <= l < 4 }", "{ T[k,l] -> C[k,l] }",
         "k l", .op = GS_C_ADD, .reads = {read, "{ T[k,l] -> A[k,l] }"});
}

Test(private, nests_of_other_extents) {
  two_nests(0);
  FORM("compute_with i k",
       "for i<8\n"
       "  for j<6\n"
       "    B[i, j] = A[i, j]\n"
       "    if (i <= 4 && j <= 3) C[i, j] = (B[i, j] + A[i, j])\n");
}

Test(private, one_level) {
  two_nests(0);
  FORM("p = compute_with i k 1; parallel p",
       "parallel for p<8\n"
       "  for j<6\n"
       "    B[p, j] = A[p, j]\n"
       "  if (p <= 4) for l<4\n"
       "    C[p, l] = (B[p, l] + A[p, l])\n");
}

Test(private, a_nest_that_needs_what_comes_later) {
  two_nests(2);
  REFUSED("compute_with i k", "flow dependence through B, S[");
  KEPT("shift T k 2; compute_with i k");
}

Test(private, a_nest_that_would_run_first) {
  two_nests(0);
  REFUSED("compute_with k i", "flow dependence through B, S[");
}

Test(private, nests_that_cannot_be_joined) {
  two_nests(0);
  REFUSED("compute_with i i", "loop i is listed twice");
  REFUSED("compute_with i j", "are not inside the same loop");
  REFUSED("compute_with i k 0", "1 to 16 loops can be joined");
  REFUSED("compute_with i k 3", "2 loops can be joined");
  scheduled("shift T k 40");
  REFUSED("compute_with i k", "loops i and k have no value in common");
}

Test(private, a_loop_on_a_condition) {
  two_nests(0);
  FORM("a, b = specialise j \"i mod 4 = 0 or i > 6\"; unroll a",
       "for i<8\n"
       "  if (i == 7 || i % 4 == 0) unroll for a<6\n"
       "    B[i, a] = A[i, a]\n"
       "  if (i <= 6 && i % 4 >= 1) for b<6\n"
       "    B[i, b] = A[i, b]\n"
       "for k<5\n"
       "  for l<4\n"
       "    C[k, l] = (B[k, l] + A[k, l])\n");
}

Test(private, a_statement_on_a_condition) {
  two_nests(0);
  KEPT("specialise S \"i + j < 7\"; assert instances(S) == 27;"
       "assert instances(S_1) == 21");
}

Test(private, conditions_that_are_none) {
  two_nests(0);
  REFUSED("specialise S \"j < 6\"", "\"j < 6\" always holds");
  REFUSED("specialise S \"j > i + 8\"", "never holds");
  REFUSED("specialise j \"j < 3\"", "is not a condition on the loops around");
  REFUSED("specialise j \"i mod 0 = 0\"", "is not a condition");
  REFUSED("specialise j \"i < 3 }; { [i] : i > 0\"", "is not a condition");
  REFUSED("specialise i \"0 = 1\"", "never holds");
  REFUSED("a = specialise S \"j < 3\"", "copies of a statement are not loops");
}

/* B[i] = sum over k of A[i, k] */
static void
sums(int n, int m) {
  char domain[80];
  array("A", PO_INPUT, GS_I32, 2, n, m);
  array("B", PO_OUTPUT, GS_I32, 1, n);
  snprintf(domain, sizeof domain, "{ I[i] : 0 <= i < %d }", n);
  ASSIGN(domain, "{ I[i] -> B[i] }", "i", .reads = {NULL});
  snprintf(domain, sizeof domain, "{ U[i,k] : 0 <= i < %d and 0 <= k < %d }", n,
           m);
  UPDATE(GS_C_ADD, domain, "{ U[i,k] -> B[i] }", "i k",
         .reads = {"{ U[i,k] -> A[i,k] }"});
}

Test(private, copies_for_threads) {
  sums(3, 10);
  FORM("rf, k = privatise U.k 4", "parallel for rf<4\n"
                                  "  for i_1<3\n"
                                  "    rf_B[rf, i_1] = 0\n"
                                  "    for k_1_1=0..min(2, -3 * rf + 9)\n"
                                  "      rf_B[rf, i_1] += A[i_1, 3 * rf + "
                                  "k_1_1]\n"
                                  "for i<3\n"
                                  "  B[i] = 0\n"
                                  "  for k<4\n"
                                  "    B[i] += rf_B[k, i]\n");
}

Test(private, a_copy_for_each_iteration) {
  sums(3, 4);
  KEPT("privatise U.k 8; assert instances(rf_B) == 24");
}

Test(private, what_is_no_reduction) {
  sums(3, 10);
  REFUSED("privatise U.k 1", "the number of copies must be from 2 to 1024");
  REFUSED("privatise i 2", "iterations of loop i update nothing together");
}

Test(private, iterations_that_need_each_other) {
  array("A", PO_OUTPUT, GS_I32, 1, 9);
  ASSIGN("{ S[i] : 0 <= i < 8 }", "{ S[i] -> A[i+1] }", "i", .op = GS_C_ADD,
         .reads = {"{ S[i] -> A[i] }", "{ S[i] -> A[i] }"});
  REFUSED("privatise i 2", "flow dependence through A, S[");
}
