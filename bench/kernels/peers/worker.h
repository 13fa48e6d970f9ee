/* SPDX-License-Identifier: MIT */
/* worker.h - what a peer of the kernel benchmark implements.
 *
 * A worker is a process that holds one implementation of one problem.  It fills
 * its inputs from a seed, so that all workers of a problem have the same, and
 * answers commands on its standard input (see worker.c). */
#ifndef GLEN_BENCH_WORKER_H
#define GLEN_BENCH_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MOST_ARRAYS = 12, MOST_SIZES = 16 };

typedef struct problem {
  const char *kind;       /* "gemm", "conv", ... */
  const char *variant;    /* a setting of the peer; "" for none */
  long size[MOST_SIZES];  /* in the problem's order */
  float *in[MOST_ARRAYS]; /* row-major */
  float *out[MOST_ARRAYS];
  size_t in_elements[MOST_ARRAYS], out_elements[MOST_ARRAYS];
  int n_sizes, n_in, n_out, threads;
} problem;

/* All that is done once and not timed: plans, packed weights, code.  NULL, or
 * why this problem is not for this peer. */
const char *peer_prepare(problem *);
/* What is timed; may be called any number of times. */
void peer_run(problem *);
/* Brings the results into `out`; not timed. */
void peer_finish(problem *);

/* Memory aligned to 64 bytes, every page touched; ends the process when there
 * is none. */
void *worker_block(size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
