/* SPDX-License-Identifier: MIT */
/* counting.h - an allocation hook that counts and refuses on demand. */
#ifndef TEST_COUNTING_H
#define TEST_COUNTING_H

#include "base/heap.h"
#include <stdlib.h>

typedef struct counting {
  long calls;   /* allocations asked for so far */
  long live;    /* blocks handed out and not returned */
  long fail_at; /* the call that is refused, counted from 1; 0 = none */
  bool onwards; /* refuse all later ones, too */
} counting;

static inline void *
counting_realloc(void *context, void *block, size_t size) {
  counting *c = context;
  if (!size) {
    c->live -= block != NULL;
    free(block);
    return NULL;
  }
  c->calls++;
  if (c->fail_at &&
      (c->calls == c->fail_at || (c->onwards && c->calls > c->fail_at)))
    return NULL;
  c->live += block == NULL;
  return realloc(block, size);
}

static inline bs_hooks
counting_hooks(counting *c) {
  return (bs_hooks){counting_realloc, c};
}

typedef struct sweep_call {
  void (*body)(bs_heap *, void *);
  bs_heap *heap;
  void *argument;
} sweep_call;

static inline void
sweep_body(void *argument) {
  sweep_call *call = argument;
  call->body(call->heap, call->argument);
}

/* Runs body with the 1st, 2nd, ... allocation refused until none is; each
 * time nothing may stay behind.  The number of allocations of a whole run, or
 * -1 when something stayed behind. */
static inline long
sweep(void (*body)(bs_heap *, void *), void *argument) {
  for (long n = 1;; n++)
    for (int onwards = 0; onwards < 2; onwards++) {
      counting c = {.fail_at = n, .onwards = onwards};
      bs_hooks hooks = counting_hooks(&c);
      bs_heap small;
      bs_heap_init(&small, &hooks, 0);
      sweep_call call = {body, &small, argument};
      bool whole = bs_protect(&small, sweep_body, &call);
      bool clean = small.trap == NULL;
      bs_heap_done(&small);
      if (c.live || small.used || !clean || whole != (c.calls < n))
        return -1;
      if (whole)
        return c.calls;
    }
}

#endif
