/* SPDX-License-Identifier: MIT */
/* test_schedule.c - structural primitives: forms, counts, refusals. */
#include "copies.h"

TestSuite(schedule, .init = start_program, .fini = fixture_stop);

/* B[i,j] = A[i,j] */
static void
copy_program(int n, int m) {
  char domain[100];
  array("A", PO_INPUT, GS_I32, 2, n, m);
  array("B", PO_OUTPUT, GS_I32, 2, n, m);
  snprintf(domain, sizeof domain, "{ S[i,j] : 0 <= i < %d and 0 <= j < %d }", n,
           m);
  ASSIGN(domain, "{ S[i,j] -> B[i,j] }", "i j",
         .reads = {"{ S[i,j] -> A[i,j] }"});
}

Test(schedule, fuse) {
  copy_program(32, 64);
  FORM("f = fuse [i, j]", "for f<2048\n"
                          "  B[f / 64, f % 64] = A[f / 64, f % 64]\n");
}

Test(schedule, split) {
  copy_program(32, 64);
  FORM("j0, j1 = split S.j [4, 16]",
       "for i<32\n"
       "  for j0<4\n"
       "    for j1<16\n"
       "      B[i, 16 * j0 + j1] = A[i, 16 * j0 + j1]\n");
}

Test(schedule, split_with_a_rest_writes_no_more) {
  copy_line(1024);
  FORM("a, b = split i [-1, 20]; assert instances(B) == 1024",
       "for a<52\n"
       "  for b=0..min(19, -20 * a + 1023)\n"
       "    B[20 * a + b] = A[20 * a + b]\n");
}

Test(schedule, split_in_three_and_more) {
  copy_line(1024);
  FORM("split i [-1, 4, 2, 8]", "for i_0<16\n"
                                "  for i_1<4\n"
                                "    for i_2<2\n"
                                "      for i_3<8\n"
                                "        B[64 * i_0 + 16 * i_1 + 8 * i_2 + "
                                "i_3] = A[64 * i_0 + 16 * i_1 + 8 * i_2 + "
                                "i_3]\n");
}

Test(schedule, split_open_in_the_middle) {
  copy_line(1000);
  FORM("split i [4, -1, 25]; assert extent(i_1) == 10",
       "for i_0<4\n"
       "  for i_1<10\n"
       "    for i_2<25\n"
       "      B[250 * i_0 + 25 * i_1 + i_2] = A[250 * i_0 + 25 * i_1 + i_2]\n");
}

Test(schedule, split_counts_from_the_first_value) {
  array("A", PO_INPUT, GS_I32, 1, 40);
  array("B", PO_OUTPUT, GS_I32, 1, 40);
  ASSIGN("{ S[i] : 5 <= i < 21 }", "{ S[i] -> B[i] }", "i",
         .reads = {"{ S[i] -> A[i] }"});
  FORM("split i [4, 4]", "for i_0<4\n"
                         "  for i_1<4\n"
                         "    B[4 * i_0 + i_1 + 5] = A[4 * i_0 + i_1 + 5]\n");
}

Test(schedule, fuse_counts_from_the_first_value) {
  array("A", PO_INPUT, GS_I32, 2, 40, 40);
  array("B", PO_OUTPUT, GS_I32, 2, 40, 40);
  ASSIGN("{ S[i,j] : 5 <= i < 10 and 2 <= j < 8 }", "{ S[i,j] -> B[i,j] }",
         "i j", .reads = {"{ S[i,j] -> A[i,j] }"});
  FORM("f = fuse [i, j]",
       "for f<30\n"
       "  B[f / 6 + 5, (f % 6) + 2] = A[f / 6 + 5, (f % 6) + 2]\n");
}

/* Iterations of the loop that two are fused into are those of both. */
Test(schedule, fuse_keeps_threads_that_do_not_need_each_other) {
  static const struct {
    const char *read, *outer;
  } cases[] = {{"{ S[i,j] -> A[i,j] }", "parallel for f"},
               {"{ S[i,j] -> B[i,j-1] }", "for f"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    start_program();
    array("A", PO_INPUT, GS_I32, 2, 5, 7);
    array("B", PO_OUTPUT, GS_I32, 2, 5, 7);
    ASSIGN("{ S[i,j] : 0 <= i < 5 and 1 <= j < 7 }", "{ S[i,j] -> B[i,j] }",
           "i j", .reads = {cases[k].read});
    KEPT("parallel i; f = fuse [i, j]");
    const char *loops = scheduled("print loops");
    cr_expect(!strncmp(loops, cases[k].outer, strlen(cases[k].outer)), "%s",
              loops);
  }
}

Test(schedule, split_refusals) {
  copy_line(1024);
  REFUSED("split i []", "split: the list of factors is empty");
  REFUSED("split i [4, 0]", "factor 0 is neither positive nor -1");
  REFUSED("split i [4, -2]", "factor -2 is neither positive nor -1");
  REFUSED("split i [-1, -1]", "only one factor may be -1");
  REFUSED("split i [4, 16]", "the product of the factors, 64, is less than "
                             "the extent of loop i, 1024");
  REFUSED("split i [-1, 2000]", "the product of the other factors, 2000, is "
                                "more than the extent of loop i, 1024");
  REFUSED("split i [9223372036854775807, 9223372036854775807]",
          "product is too large");
  REFUSED("split q [4, -1]", "no loop is named q");
  REFUSED("a, a = split i [4, -1]", "a is named twice");
  REFUSED("split i", "[ is expected");
  LOOPS("for i<1024\n"
        "  B[i] = A[i]\n");
}

Test(schedule, reorder) {
  copy_program(32, 64);
  FORM("reorder [j, i]", "for j<64\n"
                         "  for i<32\n"
                         "    B[i, j] = A[i, j]\n");
}

static void
five(void) {
  array("A", PO_INPUT, GS_I32, 5, 2, 3, 2, 3, 2);
  array("B", PO_OUTPUT, GS_I32, 5, 2, 3, 2, 3, 2);
  ASSIGN("{ S[a,b,c,d,e] : 0 <= a < 2 and 0 <= b < 3 and 0 <= c < 2 and "
         "0 <= d < 3 and 0 <= e < 2 }",
         "{ S[a,b,c,d,e] -> B[a,b,c,d,e] }", "a b c d e",
         .reads = {"{ S[a,b,c,d,e] -> A[a,b,c,d,e] }"});
}

Test(schedule, reorder_swaps_places_and_leaves_the_others) {
  five();
  FORM("reorder [e, a]", "for e<2\n"
                         "  for b<3\n"
                         "    for c<2\n"
                         "      for d<3\n"
                         "        for a<2\n"
                         "          B[a, b, c, d, e] = A[a, b, c, d, e]\n");
}

Test(schedule, reorder_of_parts_runs_every_instance_once) {
  array("A", PO_INPUT, GS_I32, 3, 32, 32, 32);
  array("B", PO_OUTPUT, GS_I32, 3, 32, 32, 32);
  ASSIGN("{ S[i,j,k] : 0 <= i < 32 and 0 <= j < 32 and 0 <= k < 1 }",
         "{ S[i,j,k] -> B[i,j,k] }", "i j k",
         .reads = {"{ S[i,j,k] -> A[i,j,k] }"});
  FORM("i0, i1 = split i [-1, 5]; j0, j1 = split j [-1, 2]\n"
       "reorder [j1, i1, j0, i0, k]; assert instances(S) == 1024",
       "for j1<2\n"
       "  for i1<5\n"
       "    for j0<16\n"
       "      for i0=0..-((i1 + 3) / 5) + 6\n"
       "        for k<1\n"
       "          B[i1 + 5 * i0, j1 + 2 * j0, 0] = A[i1 + 5 * i0, j1 + 2 * "
       "j0, 0]\n");
}

Test(schedule, reorder_of_a_triangle) {
  array("A", PO_INPUT, GS_I32, 2, 32, 32);
  array("B", PO_OUTPUT, GS_I32, 2, 32, 32);
  ASSIGN("{ S[i,j] : 0 <= j < i < 32 }", "{ S[i,j] -> B[i,j] }", "i j",
         .reads = {"{ S[i,j] -> A[i,j] }"});
  FORM("reorder [j, i]", "for j<31\n"
                         "  for i=j + 1..31\n"
                         "    B[i, j] = A[i, j]\n");
}

Test(schedule, reorder_refusals) {
  five();
  REFUSED("reorder [a, a]", "reorder: loop a is listed twice");
  scheduled("reorder [a]; reorder []");
}

/* A[i+1, j-1] from A[i, j]: interchange runs it backwards. */
static void
skewed(int di, int dj) {
  char write[100], read[200];
  array("A", PO_OUTPUT, GS_I32, 2, 40, 40);
  snprintf(write, sizeof write, "{ S[i,j] -> A[i,j] }");
  snprintf(read, sizeof read, "{ S[i,j] -> A[i - %d, j - %d] }", di, dj);
  ASSIGN("{ S[i,j] : 4 <= i < 36 and 4 <= j < 36 }", write, "i j",
         .reads = {read});
}

Test(schedule, interchange) {
  skewed(1, -1);
  REFUSED("reorder [j, i]", "flow dependence through A, S[");
  REFUSED("reorder [j, i]", "(961 of 961 pairs)");
}

Test(schedule, interchange_of_the_diagonal) {
  skewed(1, 1);
  KEPT("reorder [j, i]");
}

Test(schedule, tiles_across_a_dependence) {
  skewed(1, -1);
  REFUSED("tile [i, j] [4, 4]", "(168 of 961 pairs)");
}

Test(schedule, parallel) {
  copy_program(32, 64);
  FORM("parallel i", "parallel for i<32\n"
                     "  for j<64\n"
                     "    B[i, j] = A[i, j]\n");
  REFUSED("parallel i", "loop i is parallel, not serial");
}

Test(schedule, parallel_against_a_dependence) {
  skewed(1, 0);
  REFUSED("parallel i", "iterations of loop i depend on each other: flow "
                        "dependence through A");
  REFUSED("parallel i", "(992 of 992 pairs)");
  KEPT("parallel j");
}

/* A row at a time in one place, made and used in each iteration of m. */
static void
rows_in_one_place(po_role role) {
  array("A", PO_INPUT, GS_I32, 2, 8, 16);
  array("B", PO_OUTPUT, GS_I32, 2, 8, 16);
  array("T", role, GS_I32, 2, 8, 16);
  hand->arrays.data[2].fold[0] = 1;
  ASSIGN("{ S[i,j] : 0 <= i < 8 and 0 <= j < 16 }", "{ S[i,j] -> T[i,j] }",
         "m j", .reads = {"{ S[i,j] -> A[i,j] }"});
  ASSIGN("{ U[i,j] : 0 <= i < 8 and 0 <= j < 16 }", "{ U[i,j] -> B[i,j] }",
         "m y", .reads = {"{ U[i,j] -> T[i,15-j] }"});
}

Test(schedule, parallel_iterations_share_no_place) {
  rows_in_one_place(PO_WORKSPACE);
  REFUSED("parallel m", "iterations of loop m would use one place of T for "
                        "different elements");
  REFUSED("bind m blockIdx.x", "would use one place of T");
  REFUSED("vectorize m 4", "would use one place of T");
  KEPT("parallel j; parallel y");
}

/* A local belongs to the iteration that it is declared in. */
Test(schedule, parallel_iterations_have_locals_of_their_own) {
  rows_in_one_place(PO_LOCAL);
  KEPT("parallel m");
}

Test(schedule, vectorize) {
  copy_program(32, 32);
  FORM("vectorize j 16", "for i<32\n"
                         "  vectorize[16] for j<32\n"
                         "    B[i, j] = A[i, j]\n");
}

Test(schedule, vectorize_with_a_rest) {
  copy_line(30);
  FORM("vectorize i 16 tail=mask; assert instances(S) == 30",
       "vectorize[16] for i<30\n"
       "  B[i] = A[i]\n");
  REFUSED("vectorize i 8", "loop i is vectorized, not serial");
}

Test(schedule, vectorize_by_distance) {
  array("A", PO_OUTPUT, GS_I32, 1, 34);
  ASSIGN("{ S[i] : 0 <= i < 32 }", "{ S[i] -> A[i + 2] }", "i", .literal = 1,
         .op = GS_C_ADD, .reads = {"{ S[i] -> A[i] }"});
  REFUSED("vectorize i 4", "(16 of 30 pairs)");
  KEPT("vectorize i 2");
}

Test(schedule, vectorize_refusals) {
  copy_line(30);
  REFUSED("vectorize i 0", "factor 0 is not positive");
  REFUSED("vectorize i -4", "factor -4 is not positive");
  REFUSED("vectorize i 3", "a vector has");
  REFUSED("vectorize i 4 tail=what", "tail must be peel or mask");
  REFUSED("vectorize i 4 head=peel", "there is no option head");
  FORM("vectorize i 1", "for i<30\n"
                        "  B[i] = A[i]\n");
}

Test(schedule, unroll) {
  array("A", PO_INPUT, GS_I32, 1, 64);
  array("B", PO_OUTPUT, GS_I32, 1, 64);
  ASSIGN("{ S[i,j] : 0 <= i < 32 and 0 <= j < 2 }", "{ S[i,j] -> B[2i+j] }",
         "i j", .reads = {"{ S[i,j] -> A[2i+j] }"});
  FORM("unroll j", "for i<32\n"
                   "  unroll for j<2\n"
                   "    B[2 * i + j] = A[2 * i + j]\n");
  REFUSED("unroll j", "loop j is unrolled, not serial");
}

Test(schedule, unroll_is_bounded) {
  copy_line(2000);
  REFUSED("unroll i", "loop i has 2000 iterations, more than the 1024");
}

Test(schedule, bind) {
  copy_program(32, 2);
  FORM("bind i threadIdx.x", "bind[threadIdx.x] for i<32\n"
                             "  for j<2\n"
                             "    B[i, j] = A[i, j]\n");
  REFUSED("bind j threadIdx.x", "threadIdx.x is loop i's already");
  REFUSED("bind j blockIdx.x", "would be inside one over threads");
  REFUSED("bind j gridIdx", "there is no axis gridIdx");
}

Test(schedule, bind_limits) {
  copy_program(64, 64);
  KEPT("bind i threadIdx.y");
  REFUSED("bind j threadIdx.x", "more than 1024 threads");
}

Test(schedule, bind_against_a_dependence) {
  skewed(1, 0);
  REFUSED("bind i blockIdx.x", "iterations of loop i depend on each other");
}

Test(schedule, sync_threads) {
  copy_program(32, 32);
  FORM("sync_threads j after=false", "for i<32\n"
                                     "  sync_threads\n"
                                     "  for j<32\n"
                                     "    B[i, j] = A[i, j]\n");
  FORM("sync_threads j", "for i<32\n"
                         "  sync_threads\n"
                         "  for j<32\n"
                         "    B[i, j] = A[i, j]\n"
                         "  sync_threads\n");
}

/* A barrier that some threads of a block would not reach. */
Test(schedule, sync_threads_in_a_triangle) {
  array("A", PO_INPUT, GS_I32, 2, 32, 32);
  array("B", PO_OUTPUT, GS_I32, 2, 32, 32);
  ASSIGN("{ S[i,j] : 0 <= j <= i < 32 }", "{ S[i,j] -> B[i,j] }", "i j",
         .reads = {"{ S[i,j] -> A[i,j] }"});
  scheduled("bind i threadIdx.x");
  REFUSED("sync_threads S", "not all threads reach the barrier in loop j "
                            "equally often: that depends on loop i, which is "
                            "threadIdx.x");
  KEPT("sync_threads j after=false");
}

Test(schedule, sync_threads_before_bind) {
  array("A", PO_INPUT, GS_I32, 2, 32, 32);
  array("B", PO_OUTPUT, GS_I32, 2, 32, 32);
  ASSIGN("{ S[i,j] : 0 <= j <= i < 32 }", "{ S[i,j] -> B[i,j] }", "i j",
         .reads = {"{ S[i,j] -> A[i,j] }"});
  scheduled("sync_threads S");
  REFUSED("bind i threadIdx.x", "not all threads reach the barrier in loop j");
  KEPT("bind i blockIdx.x");
}

/* The block is as wide as its longest loop. */
Test(schedule, sync_threads_in_a_narrow_loop) {
  array("A", PO_INPUT, GS_I32, 2, 8, 32);
  array("B", PO_OUTPUT, GS_I32, 2, 8, 32);
  array("C", PO_OUTPUT, GS_I32, 2, 8, 32);
  ASSIGN("{ S[i,j] : 0 <= i < 8 and 0 <= j < 32 }", "{ S[i,j] -> B[i,j] }",
         "i j", .reads = {"{ S[i,j] -> A[i,j] }"});
  ASSIGN("{ T[i,j] : 0 <= i < 8 and 0 <= j < 20 }", "{ T[i,j] -> C[i,j] }",
         "i k", .reads = {"{ T[i,j] -> A[i,j] }"});
  scheduled("bind i blockIdx.x; bind j threadIdx.x; bind k threadIdx.x");
  REFUSED("sync_threads T", "loop k: it has 20 of the 32 of threadIdx.x");
  KEPT("sync_threads S; sync_threads k");
}

/* All threads but one come to it. */
Test(schedule, sync_threads_one_short) {
  array("A", PO_INPUT, GS_I32, 2, 8, 32);
  array("B", PO_OUTPUT, GS_I32, 2, 8, 32);
  array("C", PO_OUTPUT, GS_I32, 2, 8, 32);
  ASSIGN("{ S[i,j] : 0 <= i < 8 and 0 <= j < 32 }", "{ S[i,j] -> B[i,j] }",
         "i j", .reads = {"{ S[i,j] -> A[i,j] }"});
  ASSIGN("{ T[i,j] : 0 <= i < 8 and 0 <= j < 31 }", "{ T[i,j] -> C[i,j] }",
         "i k", .reads = {"{ T[i,j] -> A[i,j] }"});
  scheduled("bind i blockIdx.x; bind j threadIdx.x; bind k threadIdx.x");
  REFUSED("sync_threads T", "loop k: it has 31 of the 32 of threadIdx.x");
}

/* A barrier is not left in a loop over nothing. */
Test(schedule, fission_of_a_barrier) {
  copy_program(4, 4);
  scheduled("sync_threads S");
  REFUSED("fission j S", "a barrier would be alone in loop j");
}

/* Threads are those of the old place. */
Test(schedule, compute_at_of_a_bound_loop) {
  array("A", PO_INPUT, GS_I32, 2, 8, 8);
  array("W", PO_WORKSPACE, GS_I32, 2, 8, 8);
  array("B", PO_OUTPUT, GS_I32, 2, 8, 8);
  ASSIGN("{ S[i,j] : 0 <= i < 8 and 0 <= j < 8 }", "{ S[i,j] -> W[i,j] }",
         "h k", .reads = {"{ S[i,j] -> A[i,j] }"});
  ASSIGN("{ T[i,j] : 0 <= i < 8 and 0 <= j < 8 }", "{ T[i,j] -> B[i,j] }",
         "i j", .reads = {"{ T[i,j] -> W[i,j] }"});
  scheduled("bind k threadIdx.x; bind j threadIdx.x");
  FORM("compute_at W i", "for i<8\n"
                         "  for k<8\n"
                         "    W[i, 0, k] = A[i, k]\n"
                         "  bind[threadIdx.x] for j<8\n"
                         "    B[i, j] = W[i, 0, j]\n");
}

/* What holds when loops are bound holds after each later step. */
Test(schedule, blocks_stay_outside_of_threads) {
  copy_program(8, 16);
  scheduled("bind i blockIdx.x; bind j threadIdx.x");
  REFUSED("reorder [j, i]",
          "a loop over blocks would be inside one over threads");
}

/* Blocks are as wide as their longest loops, which need not stand inside each
 * other; those of different axes do not add up where they are the same. */
Test(schedule, threads_of_neighbours) {
  array("A", PO_INPUT, GS_I32, 2, 8, 64);
  array("B", PO_OUTPUT, GS_I32, 2, 8, 64);
  array("C", PO_OUTPUT, GS_I32, 2, 8, 64);
  ASSIGN("{ S[i,j] : 0 <= i < 8 and 0 <= j < 64 }", "{ S[i,j] -> B[i,j] }",
         "i j", .reads = {"{ S[i,j] -> A[i,j] }"});
  ASSIGN("{ T[i,j] : 0 <= i < 8 and 0 <= j < 64 }", "{ T[i,j] -> C[i,j] }",
         "i k", .reads = {"{ T[i,j] -> A[i,j] }"});
  scheduled("bind j threadIdx.x");
  REFUSED("bind k threadIdx.y", "more than 1024 threads");
  scheduled("bind k threadIdx.x");
  KEPT("bind i threadIdx.y");
}

/* A block of 1024 threads, and one of 1056. */
Test(schedule, most_threads) {
  copy_program(33, 32);
  scheduled("bind j threadIdx.x");
  REFUSED("bind i threadIdx.y", "more than 1024 threads");
  scheduled("a, b = peel i 32");
  KEPT("bind a threadIdx.y");
}

Test(schedule, longest_axes) {
  copy_program(1025, 65);
  REFUSED("bind i threadIdx.x",
          "1025 iterations, but threadIdx.x at most 1024");
  REFUSED("bind j threadIdx.z", "65 iterations, but threadIdx.z at most 64");
  KEPT("bind i blockIdx.y; bind j threadIdx.x");
}

Test(schedule, rfactor_around_a_barrier) {
  array("A", PO_INPUT, GS_I32, 2, 4, 4);
  array("B", PO_OUTPUT, GS_I32, 1, 4);
  ASSIGN("{ I[i] : 0 <= i < 4 }", "{ I[i] -> B[i] }", "h", .literal = 1);
  UPDATE(GS_C_ADD, "{ U[i,k] : 0 <= i < 4 and 0 <= k < 4 }",
         "{ U[i,k] -> B[i] }", "i k", .reads = {"{ U[i,k] -> A[i,k] }"});
  scheduled("sync_threads U");
  REFUSED("rfactor k", "a barrier stands inside loop k");
}

/* Two unrelated nests. */
static void
unrelated(const char *other_read) {
  array("A", PO_INPUT, GS_I32, 1, 32);
  array("C", PO_OUTPUT, GS_I32, 1, 32);
  array("B", PO_OUTPUT, GS_I32, 1, 32);
  ASSIGN("{ SC[i] : 0 <= i < 32 }", "{ SC[i] -> C[i] }", "i",
         .reads = {"{ SC[i] -> A[31 - i] }"});
  ASSIGN("{ SB[i] : 0 <= i < 32 }", "{ SB[i] -> B[i] }", "j",
         .reads = {other_read});
}

Test(schedule, simple_compute_at) {
  unrelated("{ SB[i] -> A[i] }");
  FORM("simple_compute_at B i", "for i<32\n"
                                "  B[i] = A[i]\n"
                                "  C[i] = A[-i + 31]\n");
}

Test(schedule, simple_compute_at_against_a_dependence) {
  unrelated("{ SB[i] -> C[31 - i] }");
  REFUSED("simple_compute_at B i", "flow dependence through C");
  REFUSED("merge i j", "(16 of 32 pairs)");
}

Test(schedule, simple_compute_at_of_other_extents) {
  unrelated("{ SB[i] -> A[i] }");
  scheduled("split i [8, 4]");
  REFUSED("simple_compute_at B i_0", "loop j runs over 0..31, loop i_0 over "
                                     "0..7");
  REFUSED("simple_compute_at B i_1", "SB has 1 loop around it");
}

Test(schedule, merge) {
  unrelated("{ SB[i] -> A[i] }");
  FORM("m = merge i j", "for m<32\n"
                        "  C[m] = A[-m + 31]\n"
                        "  B[m] = A[m]\n");
  FORM("fission m SB", "for m_1<32\n"
                       "  C[m_1] = A[-m_1 + 31]\n"
                       "for m<32\n"
                       "  B[m] = A[m]\n");
  REFUSED("merge m m_1", "loop m_1 does not stand right after loop m");
  REFUSED("merge m m", "loop m is listed twice");
}

Test(schedule, fuse_refusals) {
  array("A", PO_INPUT, GS_I32, 2, 32, 32);
  array("B", PO_OUTPUT, GS_I32, 2, 32, 32);
  array("C", PO_OUTPUT, GS_I32, 2, 32, 32);
  ASSIGN("{ S[i,j] : 0 <= j <= i < 32 }", "{ S[i,j] -> B[i,j] }", "i j",
         .reads = {"{ S[i,j] -> A[i,j] }"});
  ASSIGN("{ T[i,j,k] : 0 <= i < 32 and 0 <= j < 32 and k = 0 }",
         "{ T[i,j,k] -> C[i,j] }", "x y z",
         .reads = {"{ T[i,j,k] -> A[i,j] }"});
  REFUSED("fuse []", "the list of loops is empty");
  REFUSED("fuse [i, j]", "the bounds of loop j depend on the loops around it");
  REFUSED("fuse [x, z]", "loop z is not directly inside loop x");
  REFUSED("fuse [y, x]", "loop x is not directly inside loop y");
  scheduled("unroll z");
  REFUSED("fuse [y, z]", "loop z is unrolled, not serial");
}

/* init; for k update */
static void
sums(void) {
  array("A", PO_INPUT, GS_I32, 2, 4, 8);
  array("B", PO_OUTPUT, GS_I32, 1, 4);
  ASSIGN("{ I[i] : 0 <= i < 4 }", "{ I[i] -> B[i] }", "i", .literal = 0);
  UPDATE(GS_C_ADD, "{ U[i,k] : 0 <= i < 4 and 0 <= k < 8 }",
         "{ U[i,k] -> B[i] }", "i k", .reads = {"{ U[i,k] -> A[i,k] }"});
}

Test(schedule, fuse_not_the_only_child) {
  sums();
  REFUSED("fuse [i, k]", "loop k is not all that is inside loop i");
}

Test(schedule, reorder_distributes_what_stands_between) {
  sums();
  FORM("reorder [k, i]", "for i_1<4\n"
                         "  B[i_1] = 0\n"
                         "for k<8\n"
                         "  for i<4\n"
                         "    B[i] += A[i, k]\n");
  REFUSED("parallel k", "reduction dependence through B");
  REFUSED("vectorize k 4", "reduction dependence through B");
  KEPT("parallel i");
}

Test(schedule, reorder_does_not_distribute_against_a_dependence) {
  array("P", PO_OUTPUT, GS_I32, 1, 5);
  array("T", PO_OUTPUT, GS_I32, 2, 4, 4);
  ASSIGN("{ P[i] : 0 <= i < 4 }", "{ P[i] -> P[i] }", "i", .literal = 7,
         .op = GS_C_ADD, .reads = {"{ P[i] -> T[i - 1, 3] : i >= 1 }"});
  ASSIGN("{ T[i,j] : 0 <= i < 4 and 0 <= j < 4 }", "{ T[i,j] -> T[i,j] }",
         "i j", .reads = {"{ T[i,j] -> P[i] }"});
  REFUSED("reorder [j, i]", "3 of 19 pairs");
}

Test(schedule, shift_against_a_dependence) {
  sums();
  REFUSED("shift I i 1", "flow dependence through B");
  REFUSED("shift I k 1", "I is not inside loop k");
}

Test(schedule, tile) {
  copy_program(32, 64);
  FORM("tile [i, j] [8, 16]",
       "for i_0<4\n"
       "  for j_0<4\n"
       "    for i_1<8\n"
       "      for j_1<16\n"
       "        B[8 * i_0 + i_1, 16 * j_0 + j_1] = A[8 * i_0 + i_1, 16 * j_0 "
       "+ j_1]\n");
  REFUSED("tile [i_1] [0]", "size 0 is not positive");
  REFUSED("tile [i_1, j_1] [2]", "1 size for 2 loops");
}

Test(schedule, peel_and_partition) {
  copy_line(30);
  FORM("a, b = peel i 16", "for a<16\n"
                           "  B[a] = A[a]\n"
                           "for b=16..29\n"
                           "  B[b] = A[b]\n");
  FORM("partition b [20, 25]; assert instances(B) == 30",
       "for a<16\n"
       "  B[a] = A[a]\n"
       "for b=16..19\n"
       "  B[b] = A[b]\n"
       "for b_1=20..24\n"
       "  B[b_1] = A[b_1]\n"
       "for b_2=25..29\n"
       "  B[b_2] = A[b_2]\n");
  REFUSED("partition a [0]", "a cut before 0 leaves nothing on a side");
  REFUSED("peel a 16", "a cut before 16 leaves nothing on a side");
}
