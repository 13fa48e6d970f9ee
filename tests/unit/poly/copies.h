/* SPDX-License-Identifier: MIT */
/* copies.h - small programs by hand of which tests schedule many: copies, and a
 * chain of two. */
#ifndef TESTS_POLY_COPIES_H
#define TESTS_POLY_COPIES_H

#include "walk.h"

/* B[i] = A[i] */
static inline void
copy_line(int n) {
  char domain[100];
  array("A", PO_INPUT, GS_I32, 1, n);
  array("B", PO_OUTPUT, GS_I32, 1, n);
  snprintf(domain, sizeof domain, "{ S[i] : 0 <= i < %d }", n);
  ASSIGN(domain, "{ S[i] -> B[i] }", "i", .reads = {"{ S[i] -> A[i] }"});
}

static inline const char *
cube(char domain[100], const char *stmt, int n) {
  snprintf(domain, 100,
           "{ %s[i,j,k] : 0 <= i < %d and 0 <= j < %d and 0 <= k < %d }", stmt,
           n, n, n);
  return domain;
}

/* B = 1 + A; C[i,j,k] = 2 * B[j,i,k] */
static inline void
two_cubes(int n) {
  char domain[100];
  array("A", PO_INPUT, GS_I32, 3, n, n, n);
  array("C", PO_OUTPUT, GS_I32, 3, n, n, n);
  array("B", PO_WORKSPACE, GS_I32, 3, n, n, n);
  ASSIGN(cube(domain, "SB", n), "{ SB[i,j,k] -> B[i,j,k] }", "i j k",
         .op = GS_C_ADD, .literal = 1, .reads = {"{ SB[i,j,k] -> A[i,j,k] }"});
  ASSIGN(cube(domain, "SC", n), "{ SC[i,j,k] -> C[i,j,k] }", "x y z",
         .op = GS_C_MUL, .literal = 2, .reads = {"{ SC[i,j,k] -> B[j,i,k] }"});
}

#endif
