/* SPDX-License-Identifier: MIT */
/* counts.h - the reference's counts after every iteration. */
#ifndef BENCH_EGRAPH_COUNTS_H
#define BENCH_EGRAPH_COUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CT_ITERATIONS = 128 };

typedef struct ct_row {
  uint32_t nodes, classes;
  uint64_t matches;
} ct_row;

typedef struct ct_section {
  char workload[64];
  bool backoff;
  uint32_t match_limit; /* 0: the default */
  uint32_t n;
  ct_row rows[CT_ITERATIONS];
} ct_section;

/* The next section of a counts file; false at its end. */
bool ct_next(FILE *, ct_section *);

#endif
