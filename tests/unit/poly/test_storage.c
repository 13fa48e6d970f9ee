/* SPDX-License-Identifier: MIT */
/* Sizes of arrays, and folds that a program must not have. */
#include "byhand.h"
#include "poly/loops/storage.h"

TestSuite(storage, .init = start_program);

Test(storage, bytes_that_are_too_many) {
  po_array a = {.dtype = GS_F64, .rank = 2, .dim = {1 << 30, 1 << 30}};
  cr_assert_eq(po_elements(&a), (int64_t)1 << 60);
  cr_assert_eq(po_bytes(&a), INT64_MAX);
  a.dtype = GS_F32;
  cr_assert_eq(po_bytes(&a), (int64_t)1 << 62);
}

/* Row i is read when row i + 1 is there: two places do, one does not. */
Test(storage, folds_are_part_of_a_program_being_legal) {
  po_violation v;
  array("A", PO_INPUT, GS_I32, 1, 8);
  uint32_t w = array("W", PO_LOCAL, GS_I32, 1, 8);
  array("B", PO_OUTPUT, GS_I32, 1, 8);
  ASSIGN("{ S[i] : 0 <= i < 8 }", "{ S[i] -> W[i] }", "i",
         .reads = {"{ S[i] -> A[i] }"});
  ASSIGN("{ T[i] : 1 <= i < 8 }", "{ T[i] -> B[i] }", "i",
         .reads = {"{ T[i] -> W[i - 1] }"});
  hand->arrays.data[w].fold[0] = 2;
  cr_assert(po_program_is_legal(hand, &v));
  hand->arrays.data[w].fold[0] = 1;
  cr_assert_not(po_program_is_legal(hand, &v));
  cr_assert(v.fold);
  REFUSED("assert legal", "the program is not legal");
}
