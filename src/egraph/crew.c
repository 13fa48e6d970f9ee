/* crew.c - threads that share out numbered tasks.
 *
 * The caller works, too, and is the only one that begins a run.  Tasks are
 * taken by one atomic counter, so which thread does what is left to chance; the
 * results must not depend on it.  A helper that comes late, as it was asleep,
 * or its processor another's, takes no part in a run, and none waits for it.
 * Heaps of tasks draw their blocks from the caller's heap under a lock, so its
 * limits and hooks hold for all threads and hooks are never called twice at a
 * time.  Between runs the helpers sleep, or fault memory in: the system clears
 * pages, which is a good part of the time of a graph that grows, and here it is
 * not the caller's. */
#include "egraph/crew.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#ifdef __linux__
#include <sys/mman.h>
#endif
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
  MOST_THREADS = 256,
  GROUNDS = 16,      /* pieces of memory that wait, at most */
  PACE = 2 << 20,    /* bytes at a time */
  LEAST = 256 << 10, /* bytes that are worth it */
  LOOKS = 1 << 12    /* before a thread sleeps: some 0.2 ms */
};

typedef struct eg_ground {
  uintptr_t at, end;
} eg_ground;

/* What a run's word says. */
enum { COUNT_BITS = 16, CLOSED = 1 << 15 };

struct eg_crew {
  bs_heap *heap;
  pthread_mutex_t lock; /* the fields below, and the caller's heap */
  pthread_cond_t begin, end;
  /* The number of this run, whether it takes no more helpers, and how many it
   * has: what follows was set before. */
  atomic_ullong run;
  atomic_uint through; /* of these, with their tasks */
  atomic_uint asleep;  /* helpers */
  atomic_bool waiting; /* the caller sleeps */
  atomic_uint alerts;
  atomic_bool quit;
  size_t held;
  eg_ground grounds[GROUNDS];
  uint32_t n_grounds, laying; /* helpers at it */

  void (*task)(void *, uint32_t);
  void *ctx;
  uint32_t n_tasks;
  atomic_uint next;

  bool useless; /* of the caller's alone */
  uint32_t n_helpers;
  pthread_t helpers[];
};

static uint64_t
number_of(uint64_t run) {
  return run >> COUNT_BITS;
}

static uint32_t
count_of(uint64_t run) {
  return (uint32_t)(run & (CLOSED - 1));
}

static void
rest(void) {
#ifdef __SSE2__
  _mm_pause();
#endif
}

void
eg_crew_rest(uint32_t looks) {
  if (looks < LOOKS)
    rest();
  else
    sched_yield();
}

static void
work(eg_crew *c) {
  for (;;) {
    uint32_t i = atomic_fetch_add(&c->next, 1);
    if (i >= c->n_tasks)
      return;
    c->task(c->ctx, i);
  }
}

/* Faults pages in, writing nothing; where the system cannot, it does not. */
static void
populate(uintptr_t at, size_t n) {
#ifdef MADV_POPULATE_WRITE
  madvise((void *)at, n, MADV_POPULATE_WRITE);
#else
  (void)at;
  (void)n;
#endif
}

/* One step of what waits, under the lock. */
static void
lay_some(eg_crew *c) {
  eg_ground *g = &c->grounds[0];
  uintptr_t at = g->at;
  uintptr_t end = (at + PACE) & ~(uintptr_t)(PACE - 1);
  if (end >= g->end) {
    end = g->end;
    c->n_grounds--;
    for (uint32_t i = 0; i < c->n_grounds; i++)
      c->grounds[i] = c->grounds[i + 1];
  } else {
    g->at = end;
  }
  c->laying++;
  pthread_mutex_unlock(&c->lock);
  populate(at, end - at);
  pthread_mutex_lock(&c->lock);
  if (!--c->laying)
    pthread_cond_broadcast(&c->end);
}

/* A sleeper takes as long to wake up as some runs last, and a lock as long as
 * the tasks of some: so a helper first looks out for the next run, without one.
 * False when none came. */
static bool
look_out(eg_crew *c, uint64_t seen) {
  for (int i = 0; i < LOOKS; i++) {
    if (number_of(atomic_load(&c->run)) != seen)
      return true;
    rest();
  }
  return false;
}

/* Until there is a run that was not seen yet, or a reason to look out for it.
 * Whoever begins a run wakes those up that sleep by then; those that do not yet
 * see it before they do. */
static void
sleep_until(eg_crew *c, uint64_t seen) {
  unsigned alerts = atomic_load(&c->alerts);
  pthread_mutex_lock(&c->lock);
  atomic_fetch_add(&c->asleep, 1);
  while (number_of(atomic_load(&c->run)) == seen && !c->quit &&
         atomic_load(&c->alerts) == alerts)
    if (c->n_grounds)
      lay_some(c);
    else
      pthread_cond_wait(&c->begin, &c->lock);
  atomic_fetch_sub(&c->asleep, 1);
  pthread_mutex_unlock(&c->lock);
}

/* Takes part in the run that is on, if it takes any more; *seen is its number.
 */
static bool
join(eg_crew *c, uint64_t *seen) {
  unsigned long long run = atomic_load(&c->run);
  while (!(run & CLOSED))
    if (atomic_compare_exchange_weak(&c->run, &run, run + 1))
      break;
  *seen = number_of(run);
  return !(run & CLOSED);
}

static void
be_through(eg_crew *c) {
  atomic_fetch_add(&c->through, 1);
  if (!atomic_load(&c->waiting))
    return;
  pthread_mutex_lock(&c->lock);
  pthread_cond_broadcast(&c->end);
  pthread_mutex_unlock(&c->lock);
}

static void *
helper(void *arg) {
  eg_crew *c = arg;
  uint64_t seen = 0;
  for (;;) {
    while (!look_out(c, seen) && !c->quit)
      sleep_until(c, seen);
    if (number_of(atomic_load(&c->run)) == seen)
      return NULL;
    if (!join(c, &seen))
      continue;
    work(c);
    be_through(c);
  }
}

/* Signals are for the threads of the program. */
static void
start(eg_crew *c, uint32_t n) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (c->n_helpers < n &&
         !pthread_create(&c->helpers[c->n_helpers], NULL, helper, c))
    c->n_helpers++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

eg_crew *
eg_crew_new(bs_heap *heap, uint32_t threads) {
  uint32_t n = threads > MOST_THREADS ? MOST_THREADS : threads;
  n = n ? n - 1 : 0;
  eg_crew *c = bs_calloc(heap, 1, sizeof *c + n * sizeof *c->helpers);
  c->heap = heap;
  c->run = CLOSED;
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->begin, NULL);
  pthread_cond_init(&c->end, NULL);
  start(c, n);
  return c;
}

void
eg_crew_free(eg_crew *c) {
  if (!c)
    return;
  pthread_mutex_lock(&c->lock);
  c->quit = true;
  pthread_cond_broadcast(&c->begin);
  pthread_mutex_unlock(&c->lock);
  for (uint32_t i = 0; i < c->n_helpers; i++)
    pthread_join(c->helpers[i], NULL);
  pthread_cond_destroy(&c->end);
  pthread_cond_destroy(&c->begin);
  pthread_mutex_destroy(&c->lock);
  bs_free(c->heap, c);
}

uint32_t
eg_crew_size(const eg_crew *c) {
  return c->n_helpers + 1;
}

uint32_t
eg_crew_parts(const eg_crew *c) {
  return c && !c->useless ? eg_crew_size(c) : 1;
}

void
eg_crew_useful(eg_crew *c, bool is) {
  c->useless = !is;
}

static void
wake_up(eg_crew *c) {
  if (!atomic_load(&c->asleep))
    return;
  pthread_mutex_lock(&c->lock);
  pthread_cond_broadcast(&c->begin);
  pthread_mutex_unlock(&c->lock);
}

/* The last task of a helper is mostly over sooner than a sleeper wakes up. */
static void
await_helpers(eg_crew *c) {
  uint32_t n = count_of(atomic_fetch_or(&c->run, CLOSED));
  for (int i = 0; i < LOOKS && atomic_load(&c->through) < n; i++)
    rest();
  if (atomic_load(&c->through) == n)
    return;
  pthread_mutex_lock(&c->lock);
  atomic_store(&c->waiting, true);
  while (atomic_load(&c->through) < n)
    pthread_cond_wait(&c->end, &c->lock);
  atomic_store(&c->waiting, false);
  pthread_mutex_unlock(&c->lock);
}

void
eg_crew_run(eg_crew *c, void (*task)(void *, uint32_t), void *ctx, uint32_t n) {
  c->task = task;
  c->ctx = ctx;
  c->n_tasks = n;
  atomic_store(&c->next, 0);
  atomic_store(&c->through, 0);
  atomic_store(&c->run, (number_of(atomic_load(&c->run)) + 1) << COUNT_BITS);
  wake_up(c);
  work(c);
  await_helpers(c);
}

void
eg_meeting_call(eg_meeting *m) {
  atomic_store(&m->come, 0);
  atomic_store(&m->turn, 0);
  atomic_store(&m->members, 0);
}

bool
eg_crew_join(eg_meeting *m) {
  unsigned members = atomic_load(&m->members);
  while (!(members & CLOSED))
    if (atomic_compare_exchange_weak(&m->members, &members, members + 1))
      return true;
  return false;
}

/* They come at about the same time; where one does not, its processor is for
 * others just now. */
void
eg_crew_meet(eg_meeting *m, void (*alone)(void *), void *ctx) {
  unsigned n = atomic_fetch_or(&m->members, CLOSED) & (CLOSED - 1);
  unsigned turn = atomic_load(&m->turn);
  if (atomic_fetch_add(&m->come, 1) + 1 == n) {
    if (alone)
      alone(ctx);
    atomic_store(&m->come, 0);
    atomic_store(&m->turn, turn + 1);
    return;
  }
  for (uint32_t i = 0; atomic_load(&m->turn) == turn; i++)
    eg_crew_rest(i);
}

/* The first task of an owner. */
static uint32_t
first_of(const eg_claims *c, uint32_t owner) {
  return (uint32_t)((uint64_t)c->n * owner / c->owners);
}

void
eg_claims_open(eg_claims *c, uint32_t n, uint32_t threads) {
  c->n = n;
  c->owners = threads < EG_OWNERS ? threads : EG_OWNERS;
  for (uint32_t i = 0; i < c->owners; i++)
    atomic_store_explicit(&c->of[i].next, first_of(c, i), memory_order_relaxed);
}

bool
eg_claim(eg_claims *c, uint32_t thread, uint32_t *task) {
  uint32_t owner = thread % c->owners;
  for (uint32_t k = 0; k < c->owners; k++) {
    atomic_uint *next = &c->of[owner].next;
    uint32_t end = first_of(c, owner + 1);
    if (atomic_load(next) < end && (*task = atomic_fetch_add(next, 1)) < end)
      return true;
    owner = owner + 1 < c->owners ? owner + 1 : 0;
  }
  return false;
}

void
eg_crew_alert(eg_crew *c) {
  atomic_fetch_add(&c->alerts, 1);
  wake_up(c);
}

void
eg_crew_lay(eg_crew *c, const void *memory, size_t n) {
  uintptr_t page = 4096;
  uintptr_t at = ((uintptr_t)memory + page - 1) & ~(page - 1);
  uintptr_t end = ((uintptr_t)memory + n) & ~(page - 1);
  if (!c || c->useless || !c->n_helpers || n < LEAST)
    return;
  pthread_mutex_lock(&c->lock);
  if (c->n_grounds < GROUNDS) {
    c->grounds[c->n_grounds++] = (eg_ground){at, end};
    pthread_cond_signal(&c->begin);
  }
  pthread_mutex_unlock(&c->lock);
}

void
eg_crew_settle(eg_crew *c) {
  if (!c)
    return;
  pthread_mutex_lock(&c->lock);
  c->n_grounds = 0;
  while (c->laying)
    pthread_cond_wait(&c->end, &c->lock);
  pthread_mutex_unlock(&c->lock);
}

/* --- heaps ------------------------------------------------------------- */

static void *
take(void *ctx, void *block, size_t size) {
  eg_crew *c = ctx;
  void *out = NULL;
  pthread_mutex_lock(&c->lock);
  size_t before = c->heap->used;
  if (size)
    out = bs_try_realloc(c->heap, block, size);
  else
    bs_free(c->heap, block);
  c->held += c->heap->used - before;
  pthread_mutex_unlock(&c->lock);
  return out;
}

void
eg_crew_heap_init(eg_crew *c, bs_heap *heap) {
  bs_heap_init(heap, &(bs_hooks){take, c}, 0);
}

void *
eg_crew_take(eg_crew *c, size_t size) {
  return take(c, NULL, size);
}

void
eg_crew_give(eg_crew *c, void *block) {
  if (block)
    take(c, block, 0);
}

size_t
eg_crew_held(const eg_crew *c) {
  return c->held;
}
