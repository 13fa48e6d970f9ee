/* SPDX-License-Identifier: MIT */
/* worker.c - the process around a peer.
 *
 *   worker --kind K --variant V --sizes n,n,... --in n,n,... --out n,n,...
 *          --threads T --range lo,hi --types t,t,...
 *
 * --in and --out give the elements of each array.  Those of the inputs are
 * values of the types, held as f32.  Commands, one a line, and
 * their answers:
 *
 *   write FILE     runs once, writes the results as f32      ok
 *   check FILE     runs once, compares with such a file      ok ERROR
 *   time N         one call to warm up, then N timed ones    ok WALL CPU ...
 *
 * ERROR is the largest difference over the largest magnitude of an output.
 * WALL and CPU are seconds of each call; CPU is that of the whole process.
 * Anything that goes wrong is answered by `failed REASON`. */
#include "worker.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void *
worker_block(size_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 64, (bytes + 63) / 64 * 64 + 64)) {
    printf("failed out of memory\n");
    exit(1);
  }
  memset(memory, 0x7f, bytes); /* NaN in every element: touched, not zero */
  return memory;
}

static int
parse_sizes(const char *text, long *out, int most) {
  int n = 0;
  while (text && *text && n < most) {
    char *end;
    out[n++] = strtol(text, &end, 10);
    text = *end == ',' ? end + 1 : NULL;
  }
  return n;
}

static int
make_arrays(const char *text, float **arrays, size_t *elements) {
  long n[MOST_ARRAYS];
  int count = parse_sizes(text, n, MOST_ARRAYS);
  for (int k = 0; k < count; k++) {
    elements[k] = (size_t)n[k];
    arrays[k] = (float *)worker_block((size_t)n[k] * sizeof(float));
  }
  return count;
}

static void
fill(float *array, size_t n, double low, double high, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (size_t k = 0; k < n; k++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    array[k] =
        (float)(low + (high - low) * (double)(state >> 40) / (double)(1 << 24));
  }
}

/* The nearest bf16. */
static float
as_bf16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* What an array of that type can hold; integers over all of their range, but
 * for the least i8, which has no opposite. */
static void
fill_typed(float *array, size_t n, const double range[2], uint64_t seed,
           const char *type) {
  if (!strncmp(type, "i8", 2))
    fill(array, n, -127.49, 127.49, seed);
  else if (!strncmp(type, "u8", 2))
    fill(array, n, -0.49, 255.49, seed);
  else
    fill(array, n, range[0], range[1], seed);
  for (size_t k = 0; k < n; k++) {
    if (!strncmp(type, "bf16", 4))
      array[k] = as_bf16(array[k]);
    else if (strncmp(type, "f32", 3) != 0)
      array[k] = rintf(array[k]);
  }
}

static double
seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
run_once(problem *p) {
  for (int k = 0; k < p->n_out; k++)
    memset(p->out[k], 0x7f, p->out_elements[k] * sizeof(float));
  peer_run(p);
  peer_finish(p);
}

static const char *
write_results(problem *p, const char *path) {
  FILE *file = fopen(path, "wb");
  if (!file)
    return "cannot write the results";
  bool whole = true;
  for (int k = 0; k < p->n_out; k++)
    whole &= fwrite(p->out[k], sizeof(float), p->out_elements[k], file) ==
             p->out_elements[k];
  return fclose(file) || !whole ? "cannot write the results" : NULL;
}

/* The largest difference over the largest magnitude; a NaN is infinitely far
 * from anything. */
static double
distance(const float *a, const float *b, size_t n) {
  double most = 0, large = 1e-30;
  for (size_t k = 0; k < n; k++) {
    double apart = fabs((double)a[k] - (double)b[k]);
    if (!(apart <= most))
      most = isnan(apart) ? INFINITY : apart;
    if (fabs((double)b[k]) > large)
      large = fabs((double)b[k]);
  }
  return most / large;
}

static const char *
check_results(problem *p, const char *path, double *error) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return "cannot read the expected results";
  const char *fault = NULL;
  *error = 0;
  for (int k = 0; k < p->n_out && !fault; k++) {
    size_t n = p->out_elements[k];
    float *expected = (float *)worker_block(n * sizeof(float));
    if (fread(expected, sizeof(float), n, file) != n)
      fault = "the expected results are too short";
    else
      *error = fmax(*error, distance(p->out[k], expected, n));
    free(expected);
  }
  fclose(file);
  return fault;
}

static void
time_calls(problem *p, long calls) {
  peer_run(p);
  printf("ok");
  for (long k = 0; k < calls; k++) {
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double wall = seconds(CLOCK_MONOTONIC);
    peer_run(p);
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf(" %.9f %.9f", wall, cpu);
  }
  printf("\n");
}

static void
answer(problem *p, char *line) {
  line[strcspn(line, "\n")] = 0;
  char *argument = strchr(line, ' ');
  if (!argument) {
    printf("failed unknown command\n");
    return;
  }
  *argument++ = 0;
  if (!strcmp(line, "time")) {
    time_calls(p, strtol(argument, NULL, 10));
    return;
  }
  double error = 0;
  run_once(p);
  const char *fault = !strcmp(line, "write")
                          ? write_results(p, argument)
                          : check_results(p, argument, &error);
  if (fault)
    printf("failed %s\n", fault);
  else
    printf("ok %g\n", error);
}

int
main(int argc, char **argv) {
  problem p = {.kind = "", .variant = "", .threads = 1};
  double range[2] = {0, 1};
  const char *types = "";
  for (int k = 1; k + 1 < argc; k += 2) {
    const char *option = argv[k], *value = argv[k + 1];
    if (!strcmp(option, "--kind"))
      p.kind = value;
    else if (!strcmp(option, "--variant"))
      p.variant = value;
    else if (!strcmp(option, "--sizes"))
      p.n_sizes = parse_sizes(value, p.size, MOST_SIZES);
    else if (!strcmp(option, "--in"))
      p.n_in = make_arrays(value, p.in, p.in_elements);
    else if (!strcmp(option, "--out"))
      p.n_out = make_arrays(value, p.out, p.out_elements);
    else if (!strcmp(option, "--threads"))
      p.threads = atoi(value);
    else if (!strcmp(option, "--types"))
      types = value;
    else if (!strcmp(option, "--range") &&
             sscanf(value, "%lf,%lf", &range[0], &range[1]) != 2)
      return 2;
  }
  for (int k = 0; k < p.n_in; k++) {
    fill_typed(p.in[k], p.in_elements[k], range, (uint64_t)k + 1,
               *types ? types : "f32");
    types += strcspn(types, ",");
    types += *types == ',';
  }
  const char *fault = peer_prepare(&p);
  if (fault)
    printf("failed %s\n", fault);
  else
    printf("ok\n");
  fflush(stdout);
  char line[4096];
  while (!fault && fgets(line, sizeof line, stdin)) {
    answer(&p, line);
    fflush(stdout);
  }
  return fault ? 1 : 0;
}
