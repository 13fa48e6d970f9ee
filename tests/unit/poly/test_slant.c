/* SPDX-License-Identifier: MIT */
/* test_slant.c - loops that lean on others and tiles of any shape: skew,
 * enclose, and what they refuse. */
#include "walk.h"

TestSuite(slant, .init = start_program, .fini = fixture_stop);

/* for t { A[0] = A[1]  for i { A[i] = A[i - 1] + A[i + 1] } } */
static void
sweep(void) {
  array("X", PO_INPUT, GS_I32, 1, 18);
  array("A", PO_OUTPUT, GS_I32, 1, 18);
  ASSIGN("{ S0[a] : 0 <= a < 18 }", "{ S0[a] -> A[a] }", "a",
         .reads = {"{ S0[a] -> X[a] }"});
  ASSIGN("{ B[t] : 0 <= t < 7 }", "{ B[t] -> A[0] }", "t",
         .reads = {"{ B[t] -> A[1] }"});
  ASSIGN("{ S[t,i] : 0 <= t < 7 and 1 <= i < 17 }", "{ S[t,i] -> A[i] }", "t i",
         .op = GS_C_ADD,
         .reads = {"{ S[t,i] -> A[i-1] }", "{ S[t,i] -> A[i+1] }"});
}

#define TILES(slant)                                                           \
  "T, I = enclose t \"B[t] -> [floor(t / 3), floor(t / 8)];"                   \
  "S[t, i] -> [floor(t / 3), floor((" slant ") / 8)]\""

Test(slant, tiles) {
  sweep();
  FORM(TILES("t + i"), "for a<18\n"
                       "  A[a] = X[a]\n"
                       "for T<3\n"
                       "  for I<3\n"
                       "    for t=3 * T..min(6, 3 * T + 2)\n"
                       "      if (I == 0) A[0] = A[1]\n"
                       "      for i=max(1, 8 * I - t)..min(16, 8 * I - t + 7)\n"
                       "        A[i] = (A[i - 1] + A[i + 1])\n");
}

Test(slant, tiles_that_do_not_slant_enough) {
  sweep();
  REFUSED(TILES("i"), "flow dependence through A, S[");
  REFUSED(TILES("-t + i"), "flow dependence through A, S[");
  KEPT("enclose t \"B[t] -> [floor(t / 3), floor(2*t / 8)];"
       "S[t, i] -> [floor(t / 3), floor((2*t + i) / 8)]\"");
}

/* Waves of tiles, each of which threads may share. */
Test(slant, waves) {
  sweep();
  KEPT(TILES("t + i") "; w = skew I T 1; reorder [w, T]; parallel T");
  scheduled("serial T");
  REFUSED("parallel w", "iterations of loop w depend");
}

Test(slant, functions_that_are_none) {
  sweep();
  REFUSED("enclose t \"S[t, i] -> [t]\"", "the map says nothing about B");
  REFUSED("enclose S \"S[t, i] -> [t]; B[t] -> [t]\"", "B does not run there");
  REFUSED("enclose S \"S[t, i] -> [t]; S[t, i] -> [t]\"",
          "names a statement again");
  REFUSED("enclose t \"S[t, i] -> [t, i]; B[t] -> [t]\"",
          "another number of loops");
  REFUSED("enclose S \"S[t] -> [t]\"",
          "not a function of the statement's indices");
  REFUSED("enclose S \"S[t, i] -> [t / 2]\"", "not a function of");
  REFUSED("enclose S \"S[t, i] -> [n + i]\"", "not a function of");
  REFUSED("enclose S \"S[t, i] -> []\"", "not a function of");
  REFUSED("enclose S \"\"", "names no statement");
  REFUSED("enclose S \"S[t, i] -> [t];\"", "names no statement");
  REFUSED("enclose S \"X[t, i] -> [t]\"", "names no statement");
  REFUSED("enclose S \"S[t, i] -> [t * i]\"", "not a function of");
  REFUSED("enclose S \"S[t, i] -> [1000000000000 * t]\"", "not within 2^30");
  REFUSED("enclose S \"S[t, i] -> [t, t, t, t, t, t, t, t, t, t, t, t, t, t, "
          "t, t, t]\"",
          "not a function of");
  REFUSED("b, b = enclose S \"S[t, i] -> [t, i]\"", "b is named twice");
  REFUSED("a, a = enclose S \"S[t, i] -> [t, i]\"",
          "there is a loop a already");
}

Test(slant, loops_that_are_too_deep) {
  sweep();
  scheduled("enclose S \"S[t, i] -> [t, t, t, t, t, t, t, t, t, t, t, t]\"");
  scheduled("enclose S \"S[t, i] -> [t, t, t, t, t, t, t, t, t, t, t, t]\"");
  REFUSED("enclose S \"S[t, i] -> [t, t, t, t, t, t, t]\"",
          "more than 32 loops around S");
}

/* A[t, i] = A[t-1, i+1]: after a skew the loops may be exchanged. */
Test(slant, skew) {
  array("A", PO_OUTPUT, GS_I32, 2, 9, 9);
  ASSIGN("{ S[t,i] : 0 <= t < 8 and 0 <= i < 8 }", "{ S[t,i] -> A[t+1,i] }",
         "t i", .op = GS_C_ADD, .literal = 1,
         .reads = {"{ S[t,i] -> A[t,i+1] }"});
  REFUSED("reorder [i, t]", "flow dependence through A");
  REFUSED("skew t i 1", "loop t is not inside loop i");
  REFUSED("skew i i 1", "loop i is not inside loop i");
  REFUSED("skew i t 10000000", "skews are at most 2^20");
  KEPT("skew i t -3; parallel i; serial i; skew i t 3");
  scheduled("j = skew i t 1; reorder [j, t]; parallel j");
  LOOPS("parallel for j<15\n"
        "  for t=max(0, j - 7)..min(7, j)\n"
        "    A[t + 1, j - t] = (A[t, j - t + 1] + 1)\n");
}

Test(slant, skew_of_marked_loops) {
  array("A", PO_OUTPUT, GS_I32, 2, 9, 9);
  ASSIGN("{ S[t,i] : 0 <= t < 8 and 0 <= i < 8 }", "{ S[t,i] -> A[t,i] }",
         "t i", .literal = 3);
  scheduled("vectorize i 4");
  REFUSED("skew i t 1", "loop i is vectorized");
  scheduled("serial i; parallel i; skew i t 2");
  REFUSED("j = skew i t 1; t = skew j t 1", "there is a loop t already");
}
