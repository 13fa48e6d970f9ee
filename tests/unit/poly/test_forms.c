/* SPDX-License-Identifier: MIT */
/* test_forms.c - the exact forms that primitives give, at the sizes of the
 * examples they are described by elsewhere, and what each one refuses. */
#include "copies.h"

TestSuite(forms, .init = start_program, .fini = fixture_stop);

/* The form alone: these are too large to be walked through. */
#define SHOWN(text, loops)                                                     \
  do {                                                                         \
    scheduled(text);                                                           \
    LOOPS(loops);                                                              \
  } while (0)

Test(forms, compute_inline) {
  two_cubes(32);
  SHOWN("compute_inline B; assert instances(SC) == 32768",
        "for x<32\n"
        "  for y<32\n"
        "    for z<32\n"
        "      C[x, y, z] = ((A[y, x, z] + 1) * 2)\n");
  REFUSED("assert instances(SB) == 0", "SB");
}

Test(forms, compute_at_a_fused_loop) {
  two_cubes(32);
  SHOWN("f = fuse [x, y]; compute_at B z; assert instances(B) == 32768",
        "for f<1024\n"
        "  for z<32\n"
        "    B[f, z, 0, 0, 0] = (A[f % 32, f / 32, z] + 1)\n"
        "    C[f / 32, f % 32, z] = (B[f, z, 0, 0, 0] * 2)\n");
}

Test(forms, compute_at_the_second_loop) {
  two_cubes(32);
  SHOWN("compute_at B y; assert instances(B) == 32768",
        "for x<32\n"
        "  for y<32\n"
        "    for k<32\n"
        "      B[x, y, 0, 0, k] = (A[y, x, k] + 1)\n"
        "    for z<32\n"
        "      C[x, y, z] = (B[x, y, 0, 0, z] * 2)\n");
}

/* 16384 reads of A become 1024, and as many of the cache. */
Test(forms, cache_read) {
  array("A", PO_INPUT, GS_I32, 2, 32, 32);
  array("B", PO_OUTPUT, GS_I32, 3, 32, 32, 16);
  ASSIGN("{ S[i,j,k] : 0 <= i < 32 and 0 <= j < 32 and 0 <= k < 16 }",
         "{ S[i,j,k] -> B[i,j,k] }", "i j k",
         .reads = {"{ S[i,j,k] -> A[i,j] }"});
  KEPT("cache_read S A shared; assert instances(A_shared) == 1024;"
       "assert instances(S) == 16384");
}

/* The first value of the sum is set in the cache, too. */
Test(forms, cache_write) {
  array("A", PO_INPUT, GS_I32, 3, 64, 32, 32);
  array("B", PO_OUTPUT, GS_I32, 2, 64, 32);
  ASSIGN("{ I[i,j] : 0 <= i < 64 and 0 <= j < 32 }", "{ I[i,j] -> B[i,j] }",
         "i j", .literal = 0);
  UPDATE(GS_C_ADD, "{ U[i,j,k] : 0 <= i < 64 and 0 <= j < 32 and 0 <= k < 32 }",
         "{ U[i,j,k] -> B[i,j] }", "i j k",
         .reads = {"{ U[i,j,k] -> A[i,j,k] }"});
  SHOWN("cache_write B shared; assert instances(B_shared) == 67584;"
        "assert instances(B) == 2048",
        "for i<64\n"
        "  for j<32\n"
        "    B_shared[i, j] = 0\n"
        "    for k<32\n"
        "      B_shared[i, j] += A[i, j, k]\n"
        "for ax0<64\n"
        "  for ax1<32\n"
        "    B[ax0, ax1] = B_shared[ax0, ax1]\n");
}

/* B[i] = sum of A[i, j, k] over j < 2 and k < 16 */
static void
two_sums(void) {
  array("A", PO_INPUT, GS_I32, 3, 32, 2, 16);
  array("B", PO_OUTPUT, GS_I32, 1, 32);
  ASSIGN("{ I[i] : 0 <= i < 32 }", "{ I[i] -> B[i] }", "i", .literal = 0);
  UPDATE(GS_C_ADD, "{ U[i,j,k] : 0 <= i < 32 and 0 <= j < 2 and 0 <= k < 16 }",
         "{ U[i,j,k] -> B[i] }", "i j k",
         .reads = {"{ U[i,j,k] -> A[i,j,k] }"});
}

Test(forms, rfactor_first_axis) {
  two_sums();
  FORM("rf, k = rfactor k 0", "for rf<16\n"
                              "  for i_1<32\n"
                              "    rf_B[rf, i_1] = 0\n"
                              "    for j_1<2\n"
                              "      rf_B[rf, i_1] += A[i_1, j_1, rf]\n"
                              "for i<32\n"
                              "  B[i] = 0\n"
                              "  for k<16\n"
                              "    B[i] += rf_B[k, i]\n");
  cr_assert_eq(hand->arrays.data[2].dim[0], 16);
  cr_assert_eq(hand->arrays.data[2].dim[1], 32);
}

Test(forms, rfactor_last_axis) {
  two_sums();
  FORM("rf, j = rfactor j 1", "for i_1<32\n"
                              "  for rf<2\n"
                              "    rf_B[i_1, rf] = 0\n"
                              "    for k_1<16\n"
                              "      rf_B[i_1, rf] += A[i_1, rf, k_1]\n"
                              "for i<32\n"
                              "  B[i] = 0\n"
                              "  for j<2\n"
                              "    B[i] += rf_B[i, j]\n");
}

/* A loop that does not start from 0. */
Test(forms, unroll_from_another_first_value) {
  copy_line(30);
  FORM("a, b = peel i 26; unroll b", "for a<26\n"
                                     "  B[a] = A[a]\n"
                                     "unroll for b=26..29\n"
                                     "  B[b] = A[b]\n");
}

Test(forms, unroll_of_bounds_that_depend) {
  array("A", PO_INPUT, GS_I32, 2, 9, 9);
  array("B", PO_OUTPUT, GS_I32, 2, 9, 9);
  ASSIGN("{ S[i,j] : 0 <= j <= i < 9 }", "{ S[i,j] -> B[i,j] }", "i j",
         .reads = {"{ S[i,j] -> A[i,j] }"});
  KEPT("unroll j");
}

Test(forms, reorder_of_loops_that_are_not_nested) {
  two_cubes(32);
  REFUSED("reorder [i, y]", "loops i and y are not around each other");
  REFUSED("reorder [k, z, y]", "loop");
}

Test(forms, merge_of_other_values) {
  array("A", PO_INPUT, GS_I32, 1, 32);
  array("B", PO_OUTPUT, GS_I32, 1, 32);
  array("C", PO_OUTPUT, GS_I32, 1, 32);
  ASSIGN("{ S[i] : 0 <= i < 32 }", "{ S[i] -> B[i] }", "i",
         .reads = {"{ S[i] -> A[i] }"});
  ASSIGN("{ T[i] : 0 <= i < 31 }", "{ T[i] -> C[i] }", "x",
         .reads = {"{ T[i] -> A[i] }"});
  REFUSED("merge i x", "runs over");
  REFUSED("merge x i", "does not stand right after");
}

Test(forms, put_after_what_is_elsewhere) {
  array("A", PO_INPUT, GS_I32, 1, 32);
  array("B", PO_OUTPUT, GS_I32, 1, 32);
  array("C", PO_OUTPUT, GS_I32, 1, 32);
  ASSIGN("{ S[i] : 0 <= i < 32 }", "{ S[i] -> B[i] }", "i",
         .reads = {"{ S[i] -> A[i] }"});
  ASSIGN("{ T[i] : 0 <= i < 32 }", "{ T[i] -> C[i] }", "x",
         .reads = {"{ T[i] -> A[i] }"});
  REFUSED("put_after S T", "do not stand in the same loop");
  REFUSED("put_after i i", "do not stand in the same loop");
  REFUSED("put_after x i", "it is there already");
  KEPT("put_after i x; m = merge x i; put_after T S");
}

Test(forms, put_after_what_is_read) {
  array("A", PO_INPUT, GS_I32, 1, 32);
  array("B", PO_OUTPUT, GS_I32, 1, 32);
  array("C", PO_OUTPUT, GS_I32, 1, 32);
  ASSIGN("{ S[i] : 0 <= i < 32 }", "{ S[i] -> B[i] }", "i",
         .reads = {"{ S[i] -> A[i] }"});
  ASSIGN("{ T[i] : 0 <= i < 32 }", "{ T[i] -> C[i] }", "x",
         .reads = {"{ T[i] -> B[i] }"});
  REFUSED("put_after i x", "flow dependence through B");
}

/* C[x] needs B[x] to B[x + 3]. */
static void
two_stages(void) {
  array("A", PO_INPUT, GS_I32, 1, 40);
  array("B", PO_WORKSPACE, GS_I32, 1, 40);
  array("C", PO_OUTPUT, GS_I32, 1, 37);
  ASSIGN("{ S[i] : 0 <= i < 40 }", "{ S[i] -> B[i] }", "i",
         .reads = {"{ S[i] -> A[i] }"});
  ASSIGN("{ T[i] : 0 <= i < 37 }", "{ T[i] -> C[i] }", "x", .op = GS_C_ADD,
         .reads = {"{ T[i] -> B[i] }", "{ T[i] -> B[i+3] }"});
}

Test(forms, interleave) {
  two_stages();
  SHOWN("c = interleave [i, x] 16 [0, 3]; assert extent(c) == 3",
        "for c<3\n"
        "  for i=16 * c..min(39, 16 * c + 15)\n"
        "    B[i] = A[i]\n"
        "  for x=max(0, 16 * c - 3)..min(36, 16 * c + 12)\n"
        "    C[x] = (B[x] + B[x + 3])\n");
}

Test(forms, interleave_refused) {
  two_stages();
  REFUSED("interleave [i, x] 16 [0, 2]", "flow dependence through B");
  REFUSED("interleave [i, x] 16", "flow dependence through B");
  REFUSED("interleave [x, i] 16 [0, 3]", "does not stand right after loop x");
  REFUSED("interleave [i, i] 16", "does not stand right after");
  REFUSED("interleave [i] 16", "it takes two loops or more");
  REFUSED("interleave [i, x] 0", "a part cannot have 0 iterations");
  REFUSED("interleave [i, x] 16 [3]", "1 skew is given for 2 loops");
  REFUSED("interleave [i, x] 16 [0, -3]", "skews are 0 to 2^20");
  KEPT("interleave [i, x] 7 [0, 5]");
  KEPT("interleave [i, x] 3 [2, 9]");
  scheduled("unroll x");
  REFUSED("interleave [i, x] 16 [0, 3]", "loop x is unrolled");
}

Test(forms, peel_of_bounds_that_depend) {
  array("A", PO_INPUT, GS_I32, 2, 9, 9);
  array("B", PO_OUTPUT, GS_I32, 2, 9, 9);
  ASSIGN("{ S[i,j] : 0 <= j <= i < 9 }", "{ S[i,j] -> B[i,j] }", "i j",
         .reads = {"{ S[i,j] -> A[i,j] }"});
  REFUSED("peel j -2", "where loop j ends depends on other loops");
  REFUSED("partition i []", "1 to 15 cuts can be made");
  KEPT("a, b = peel j 2; assert instances(S) == 17");
  KEPT("peel i -3");
}

Test(forms, compute_inline_of_a_recurrence) {
  array("A", PO_INPUT, GS_I32, 1, 8);
  array("B", PO_WORKSPACE, GS_I32, 1, 9);
  array("C", PO_OUTPUT, GS_I32, 1, 8);
  ASSIGN("{ SB[i] : 1 <= i < 8 }", "{ SB[i] -> B[i] }", "i", .op = GS_C_ADD,
         .reads = {"{ SB[i] -> B[i-1] }", "{ SB[i] -> A[i] }"});
  ASSIGN("{ SC[i] : 0 <= i < 8 }", "{ SC[i] -> C[i] }", "x",
         .reads = {"{ SC[i] -> B[i] }"});
  REFUSED("compute_inline B", "SB reads B itself");
}

Test(forms, double_buffer_of_what_is_no_buffer) {
  copy_line(32);
  REFUSED("double_buffer B i", "B is not made anew in each iteration");
  scheduled("a, b = split i [-1, 8]; cache_read S A local at a");
  REFUSED("double_buffer A_local a 0", "0 buffers are not within 1..");
  REFUSED("double_buffer A_local a 99999", "99999 buffers are not within 1..");
  REFUSED("double_buffer A_local b", "A_local is not made anew");
  REFUSED("pipeline A_local a 0", "0 iterations are not within 1..");
  KEPT("double_buffer A_local a 3; shift A_local a -2");
}

/* Made and used in one iteration, with a value that outlives it. */
Test(forms, pipeline_of_what_another_iteration_needs) {
  copy_line(32);
  scheduled("a, b = split i [-1, 8]; cache_read S A local at a;"
            "pipeline A_local a 2");
  cr_assert_eq(hand->arrays.data[2].fold[0], 3);
  REFUSED("shift A_local a -1", "elements of A_local that share a place");
}

Test(forms, decompose_reduction_of_what_is_none) {
  copy_line(8);
  REFUSED("decompose_reduction S i", "S");
}

Test(forms, reverse_compute_at_with_a_producer_elsewhere) {
  array("A", PO_INPUT, GS_I32, 1, 8);
  array("B", PO_WORKSPACE, GS_I32, 1, 8);
  array("C", PO_WORKSPACE, GS_I32, 1, 8);
  array("D", PO_OUTPUT, GS_I32, 1, 8);
  ASSIGN("{ SB[i] : 0 <= i < 8 }", "{ SB[i] -> B[i] }", "b",
         .reads = {"{ SB[i] -> A[i] }"});
  ASSIGN("{ SC[i] : 0 <= i < 8 }", "{ SC[i] -> C[i] }", "c",
         .reads = {"{ SC[i] -> A[i] }"});
  ASSIGN("{ SD[i] : 0 <= i < 8 }", "{ SD[i] -> D[i] }", "d", .op = GS_C_ADD,
         .reads = {"{ SD[i] -> B[i] }", "{ SD[i] -> C[i] }"});
  REFUSED("reverse_compute_at SD b", "flow dependence through C");
  KEPT("reverse_compute_at SD c");
}

/* Two elements in one place, and a layout for another rank. */
Test(forms, storage_align_and_layouts_of_calls) {
  copy_line(8);
  REFUSED("storage_align A 0 4", "the layout of A is the caller's");
  REFUSED("transform_layout B \"[i] -> [floor(i / 2)]\"", "layout of B");
}

Test(forms, vectorize_writes_no_more) {
  copy_line(30);
  FORM("vectorize i 16 tail=mask; assert instances(S) == 30",
       "vectorize[16] for i<30\n"
       "  B[i] = A[i]\n");
}

/* What is written over the value later on is not what was read. */
Test(forms, reverse_compute_inline_of_what_is_overwritten) {
  array("A", PO_INPUT, GS_I32, 1, 4);
  array("T", PO_WORKSPACE, GS_I32, 1, 4);
  array("B", PO_OUTPUT, GS_I32, 1, 4);
  ASSIGN("{ S[i] : 0 <= i < 4 }", "{ S[i] -> T[i] }", "i",
         .reads = {"{ S[i] -> A[i] }"});
  ASSIGN("{ R[i] : 0 <= i < 4 }", "{ R[i] -> B[i] }", "i",
         .reads = {"{ R[i] -> T[i] }"});
  ASSIGN("{ V[i] : 0 <= i < 4 }", "{ V[i] -> T[i] }", "i", .op = GS_C_ADD,
         .literal = 1, .reads = {"{ V[i] -> A[i] }"});
  scheduled("reverse_compute_inline R");
  LOOPS("for i<4\n"
        "  B[i] = A[i]\n");
}
