/* crew.h - threads that share out numbered tasks; private to this folder. */
#ifndef EGRAPH_CREW_H
#define EGRAPH_CREW_H

#include "base/heap.h"
#include <stdatomic.h>

typedef struct eg_crew eg_crew;

/* A caller and up to threads - 1 helpers: fewer when the system gives fewer.
 * It must be ended before its heap is. */
eg_crew *eg_crew_new(bs_heap *, uint32_t threads);
void eg_crew_free(eg_crew *); /* NULL is fine */
uint32_t eg_crew_size(const eg_crew *);
/* How many parts a task is worth cutting into: as many as there are threads, or
 * one while helpers are said to be of no use, or without a crew. */
uint32_t eg_crew_parts(const eg_crew *);
void eg_crew_useful(eg_crew *, bool);

/* Calls task(ctx, i) once for each i < n, in this order begun, side by side;
 * returns when all have returned.  A task must not unwind past itself. */
void eg_crew_run(eg_crew *, void (*task)(void *ctx, uint32_t i), void *ctx,
                 uint32_t n);

/* Where the tasks of a run, no more than there are threads, wait for each
 * other: those that joined before one of them came to the first meeting; all
 * others shall return.  The last to come calls `alone`, if there is one, before
 * any goes on. */
typedef struct eg_meeting {
  atomic_uint members, come, turn;
} eg_meeting;

void eg_meeting_call(eg_meeting *); /* before the run */
bool eg_crew_join(eg_meeting *);
void eg_crew_meet(eg_meeting *, void (*alone)(void *), void *ctx);

/* Between looks at what another thread is about to do, `looks` so far: first
 * only a moment, then that thread may need the processor. */
void eg_crew_rest(uint32_t looks);

/* Tasks that threads share out as they come.  Each takes its own first, so that
 * what it has written it also reads; then what is left of others', for
 * processors may differ in speed. */
enum { EG_OWNERS = 16 }; /* of tasks; more threads take what is left */
typedef struct eg_claims {
  uint32_t n, owners;
  char apart[64];
  struct {
    atomic_uint next;
    char apart[64 - sizeof(atomic_uint)]; /* a cache line each */
  } of[EG_OWNERS];
} eg_claims;

/* n tasks for so many threads. */
void eg_claims_open(eg_claims *, uint32_t n, uint32_t threads);
/* The next of them for one of these; false: all are taken. */
bool eg_claim(eg_claims *, uint32_t thread, uint32_t *task);

/* The next run is near: helpers wake up, and look out for it for a while. */
void eg_crew_alert(eg_crew *);

/* Has the helpers take memory that will be written soon from the system, while
 * they have nothing else to do: its content and that of others stays.  Before
 * such memory moves or is freed, `settle` drops what is left to do. */
void eg_crew_lay(eg_crew *, const void *memory, size_t n); /* no crew: none */
void eg_crew_settle(eg_crew *);

/* A heap whose blocks are the caller's heap's, taken one thread at a time; for
 * tasks and, between runs, for the caller.  It unwinds to a trap of its own. */
void eg_crew_heap_init(eg_crew *, bs_heap *);
/* One block of the caller's heap, for a task; NULL: refused. */
void *eg_crew_take(eg_crew *, size_t);
void eg_crew_give(eg_crew *, void *block); /* NULL is fine */
size_t eg_crew_held(const eg_crew *); /* bytes in all these; between runs */

#endif
