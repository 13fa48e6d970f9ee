/* SPDX-License-Identifier: MIT */
/* life.c - calls a net from several threads on one set of weights, and its
 * NAME_init with files that are not as they were.
 *
 *   life FOLDER ERROR IN OUT
 *
 * Exits with 0 where NAME_init of FOLDER returns ERROR; where that is 0, it
 * runs the net on the elements of IN in each thread, which must agree, and
 * writes them to OUT. */
#include "net.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, CALLS = 3 };

static const void *prepacked;
static float x[NET_ELEMENTS_x], y[THREADS][NET_ELEMENTS_y];

static void *
work(void *to) {
  void *workspace = NULL;
  if (posix_memalign(&workspace, 64, NET_WORKSPACE_BYTES + 1))
    return NULL;
  for (int k = 0; k < CALLS; k++)
    if (net(x, to, prepacked, workspace))
      to = NULL;
  free(workspace);
  return to;
}

static int
run(void) {
  pthread_t threads[THREADS];
  int wrong = 0;
  for (int k = 0; k < THREADS; k++)
    if (pthread_create(&threads[k], NULL, work, y[k]))
      abort();
  for (int k = 0; k < THREADS; k++) {
    void *to = NULL;
    pthread_join(threads[k], &to);
    wrong |= to != y[k] || memcmp(y[k], y[0], sizeof y[0]) != 0;
  }
  return wrong;
}

static int
copy(const char *path, const char *mode, float *a, size_t n) {
  FILE *file = fopen(path, mode);
  size_t done = !file          ? 0
                : *mode == 'r' ? fread(a, sizeof *a, n, file)
                               : fwrite(a, sizeof *a, n, file);
  if (file)
    fclose(file);
  return done != n;
}

int
main(int argc, char **argv) {
  void *made = x;
  int failed = argc == 5 ? net_init(argv[1], &made) : -1;
  if (failed != atoi(argv[2]) || (failed && made))
    return printf("net_init returned %d\n", failed), 1;
  net_free(NULL);
  if (failed)
    return 0;
  prepacked = made;
  if (copy(argv[3], "rb", x, NET_ELEMENTS_x) || run() ||
      copy(argv[4], "wb", y[0], NET_ELEMENTS_y))
    return 2;
  net_free(made);
  const void *none[8] = {0};
  size_t sizes[8] = {0};
  return net_init_from(none, sizes, &made) != NET_ERROR_POINTER || made;
}
