/* SPDX-License-Identifier: MIT */
/* test_divide.c - an array by its readers: divide and trim, their forms and
 * what they refuse. */
#include "walk.h"

TestSuite(divide, .init = start_program, .fini = fixture_stop);

/* B[i] = A[i] over 20; who reads it is added by the tests. */
static void
producer(void) {
  array("A", PO_INPUT, GS_I32, 1, 20);
  array("C", PO_OUTPUT, GS_I32, 1, 20);
  array("D", PO_OUTPUT, GS_I32, 1, 20);
  array("E", PO_OUTPUT, GS_I32, 1, 20);
  array("B", PO_WORKSPACE, GS_I32, 1, 20);
  ASSIGN("{ P[x] : 0 <= x < 20 }", "{ P[x] -> B[x] }", "x", .op = GS_C_ADD,
         .literal = 1, .reads = {"{ P[x] -> A[x] }"});
}

Test(divide, parts_that_do_not_meet) {
  producer();
  ASSIGN("{ S[i] : 0 <= i < 5 }", "{ S[i] -> C[i] }", "i", .op = GS_C_ADD,
         .reads = {"{ S[i] -> B[i] }", "{ S[i] -> B[i+1] }"});
  ASSIGN("{ T[j] : 0 <= j < 7 }", "{ T[j] -> D[j] }", "j",
         .reads = {"{ T[j] -> B[19-j] }"});
  FORM("divide B; assert instances(P) == 6; assert instances(P_1) == 7",
       "for x<6\n"
       "  B[x] = (A[x] + 1)\n"
       "for x_1=13..19\n"
       "  B_1[x_1] = (A[x_1] + 1)\n"
       "for i<5\n"
       "  C[i] = (B[i] + B[i + 1])\n"
       "for j<7\n"
       "  D[j] = B_1[-j + 19]\n");
  KEPT("compute_at B i; compute_at B_1 j");
}

/* Of three readers two meet: they share a part. */
Test(divide, some_that_meet) {
  producer();
  ASSIGN("{ S[i] : 0 <= i < 5 }", "{ S[i] -> C[i] }", "i",
         .reads = {"{ S[i] -> B[i+3] }"});
  ASSIGN("{ T[j] : 0 <= j < 5 }", "{ T[j] -> D[j] }", "j",
         .reads = {"{ T[j] -> B[j+13] }"});
  ASSIGN("{ U[k] : 0 <= k < 5 }", "{ U[k] -> E[k] }", "k",
         .reads = {"{ U[k] -> B[k+7] }"});
  FORM("divide B", "for x=3..11\n"
                   "  B[x] = (A[x] + 1)\n"
                   "for x_1=13..17\n"
                   "  B_1[x_1] = (A[x_1] + 1)\n"
                   "for i<5\n"
                   "  C[i] = B[i + 3]\n"
                   "for j<5\n"
                   "  D[j] = B_1[j + 13]\n"
                   "for k<5\n"
                   "  E[k] = B[k + 7]\n");
}

Test(divide, refused) {
  producer();
  REFUSED("divide B", "nothing reads B");
  ASSIGN("{ S[i] : 0 <= i < 5 }", "{ S[i] -> C[i] }", "i",
         .reads = {"{ S[i] -> B[i] }"});
  REFUSED("divide B", "only one nest reads B");
  ASSIGN("{ T[j] : 0 <= j < 5 }", "{ T[j] -> D[j] }", "j",
         .reads = {"{ T[j] -> B[j+4] }"});
  REFUSED("divide B", "that 2 nests read meet: B[4] is in two of them");
  REFUSED("divide C", "the layout of C is the caller's");
  REFUSED("divide A", "the layout of A is the caller's");
}

/* What is made of itself needs what nobody else reads. */
Test(divide, recursive) {
  array("C", PO_OUTPUT, GS_I32, 1, 20);
  array("B", PO_WORKSPACE, GS_I32, 1, 21);
  ASSIGN("{ I[a] : a = 0 }", "{ I[a] -> B[0] }", "a", .literal = 1);
  ASSIGN("{ P[x] : 1 <= x < 21 }", "{ P[x] -> B[x] }", "x", .op = GS_C_ADD,
         .literal = 1, .reads = {"{ P[x] -> B[x-1] }"});
  ASSIGN("{ S[i] : 0 <= i < 5 }", "{ S[i] -> C[i] }", "i",
         .reads = {"{ S[i] -> B[i+9] }"});
  REFUSED("trim B", "what makes B, or a local that goes with it, reads it");
}

/* A sum in a local goes with the array; so do the instances that it needs. */
Test(divide, trim_with_locals) {
  array("A", PO_INPUT, GS_I32, 2, 12, 3);
  array("C", PO_OUTPUT, GS_I32, 1, 4);
  array("B", PO_WORKSPACE, GS_I32, 1, 12);
  uint32_t acc = array("acc", PO_LOCAL, GS_I32, 1, 12);
  hand->arrays.data[acc].fold[0] = 1;
  ASSIGN("{ I[x] : 0 <= x < 12 }", "{ I[x] -> acc[x] }", "x", .literal = 0);
  UPDATE(GS_C_ADD, "{ U[x,k] : 0 <= x < 12 and 0 <= k < 3 }",
         "{ U[x,k] -> acc[x] }", "x k", .reads = {"{ U[x,k] -> A[x,k] }"});
  ASSIGN("{ F[x] : 0 <= x < 12 }", "{ F[x] -> B[x] }", "x",
         .reads = {"{ F[x] -> acc[x] }"});
  ASSIGN("{ S[i] : 0 <= i < 4 }", "{ S[i] -> C[i] }", "i",
         .reads = {"{ S[i] -> B[2*i+3] }"});
  KEPT("trim B; assert instances(U) == 12; assert instances(I) == 4;"
       "assert instances(F) == 4");
  REFUSED("trim B", "all of B is read");
}
