/* SPDX-License-Identifier: MIT */
/* team.c - the part of an OpenMP run-time library that generated kernels need,
 * on POSIX threads.
 *
 * The thread sanitizer does not see the barriers inside the system's library
 * and reports races that are none.  Here a team is made and joined with
 * pthread_create and pthread_join, which it knows.  Entry points are those that
 * gcc calls for a parallel loop of static schedule; a loop of another kind does
 * not link. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 8 };

typedef struct member {
  void (*body)(void *);
  void *data;
  int number;
} member;

static int team_size = 1;     /* of the next region */
static unsigned long regions; /* run by more than one thread */
static pthread_barrier_t barrier;
static _Thread_local int number, size = 1;

void team_set(int threads);
unsigned long team_regions(void);
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads,
                   unsigned flags);
void GOMP_barrier(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
int omp_get_max_threads(void);
int omp_in_parallel(void);

void
team_set(int threads) {
  team_size = threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads;
}

unsigned long
team_regions(void) {
  return regions;
}

static void *
work(void *pointer) {
  member *self = pointer;
  number = self->number;
  size = team_size;
  self->body(self->data);
  return NULL;
}

/* A region inside a region has a team of one, and as gcc calls it:
 * threads 1 means an `if` clause that does not hold. */
void
GOMP_parallel(void (*body)(void *), void *data, unsigned threads,
              unsigned flags) {
  pthread_t thread[MOST_THREADS];
  member members[MOST_THREADS];
  (void)flags;
  if (size > 1 || team_size == 1 || threads == 1) {
    int outer_number = number, outer_size = size;
    number = 0, size = 1;
    body(data);
    number = outer_number, size = outer_size;
    return;
  }
  regions++;
  pthread_barrier_init(&barrier, NULL, (unsigned)team_size);
  for (int t = 0; t < team_size; t++)
    members[t] = (member){body, data, t};
  for (int t = 1; t < team_size; t++)
    if (pthread_create(&thread[t], NULL, work, &members[t])) {
      perror("pthread_create");
      exit(3);
    }
  work(&members[0]);
  for (int t = 1; t < team_size; t++)
    pthread_join(thread[t], NULL);
  number = 0, size = 1;
  pthread_barrier_destroy(&barrier);
}

void
GOMP_barrier(void) {
  if (size > 1)
    pthread_barrier_wait(&barrier);
}

int
omp_get_num_threads(void) {
  return size;
}

int
omp_get_thread_num(void) {
  return number;
}

int
omp_get_max_threads(void) {
  return size > 1 ? 1 : team_size;
}

int
omp_in_parallel(void) {
  return size > 1;
}
