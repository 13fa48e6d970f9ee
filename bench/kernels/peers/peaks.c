/* SPDX-License-Identifier: MIT */
/* peaks.c - the roofs: multiply-add throughput and memory bandwidth.
 *
 *   peaks THREADS        prints GFLOP/s and GB/s, each the best of several
 *
 * Vectors of the widest registers the compiler was told of; the memory test
 * reads and writes arrays far beyond the caches (a = b + s c, 12 bytes an
 * element). */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __AVX512F__
typedef float vector __attribute__((vector_size(64)));
#else
typedef float vector __attribute__((vector_size(32)));
#endif

enum {
  LANES = sizeof(vector) / sizeof(float),
  CHAINS = 12,
  TRIES = 300,
  PASSES = 30
};

static double
now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile float sink;

#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

static void
multiply_add(long rounds) {
  vector a = (vector){0} + 0.999f, b = (vector){0} + 0.001f;
  __asm__ volatile("" : "+x"(a), "+x"(b));
#define DEFINE(k) vector c##k = (vector){0} + (float)k;
#define STEP(k)   c##k = c##k * a + b;
#define KEEP(k)   __asm__ volatile("" : "+x"(c##k));
#define ADD(k)    +c##k[0]
  EACH(DEFINE)
  for (long r = 0; r < rounds; r++) {
    EACH(STEP)
    EACH(KEEP)
  }
  sink = 0 EACH(ADD);
}

static double
peak_flops(int threads) {
  double best = 1e30;
  const long rounds = 400000; /* short: some try is not disturbed */
  for (int t = 0; t < TRIES; t++) {
    double start = now();
#pragma omp parallel num_threads(threads)
    multiply_add(rounds);
    double time = now() - start;
    best = time < best ? time : best;
  }
  return 2e-9 * (double)rounds * CHAINS * LANES * threads / best;
}

static double
peak_bytes(int threads) {
  const long n = 1l << 24;
  float *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b),
        *c = malloc(n * sizeof *c);
  double best = 1e30;
  if (!a || !b || !c)
    return 0;
  for (int t = 0; t <= PASSES; t++) {
    double start = now();
#pragma omp parallel for num_threads(threads)
    for (long i = 0; i < n; i++)
      a[i] = t ? b[i] + 3 * c[i] : (b[i] = c[i] = (float)i);
    double time = now() - start;
    if (t && time < best)
      best = time;
  }
  sink = a[n / 2];
  free(a), free(b), free(c);
  return 12e-9 * (double)n / best;
}

int
main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  printf("%.1f %.1f\n", peak_flops(threads), peak_bytes(threads));
  return 0;
}
