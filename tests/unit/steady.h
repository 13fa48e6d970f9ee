/* SPDX-License-Identifier: MIT */
/* steady.h - calls that leave nothing behind on their heap.
 *
 * A heap gives back all it has when it is done, so that what a function forgets
 * to free shows nowhere else: it is kept for as long as the heap lives, which
 * is the whole command. */
#ifndef TESTS_STEADY_H
#define TESTS_STEADY_H

#include "base/heap.h"
#include <criterion/criterion.h>

/* How many bytes each further call keeps.  The first may keep what it interns;
 * the others must all keep the same. */
static inline size_t
growth_of(const bs_heap *h, void (*call)(void *), void *argument,
          const char *what) {
  call(argument);
  call(argument);
  size_t kept = h->used, grows = SIZE_MAX;
  for (int k = 0; k < 3; k++) {
    call(argument);
    size_t more = h->used - kept;
    cr_expect(grows == SIZE_MAX || grows == more,
              "%s keeps %zu bytes, then %zu", what, grows, more);
    grows = more;
    kept = h->used;
  }
  return grows;
}

static inline void
expect_steady(const bs_heap *h, void (*call)(void *), void *argument,
              const char *what) {
  cr_expect_eq(growth_of(h, call, argument, what), 0, "%s keeps memory", what);
}

#endif
