/* SPDX-License-Identifier: MIT */
/* meter.h - how much is computed with integers, counted by each thread.
 *
 * isl counts what it allocates, but what one operation takes grows with the
 * square of its tableau, and with the cube where that has integer divisions.
 * The operations on its integers are what the time goes to: some nanoseconds
 * each.  They are counted where the functions of small.c stand in for GMP's,
 * which is in programs; elsewhere nothing is counted. */
#ifndef LIMBS_METER_H
#define LIMBS_METER_H

#include <stdint.h>

typedef struct lm_meter {
  int64_t left; /* operations until `look` is called */
  /* Sets `left` anew; NULL: nobody wants to look.  In the midst of isl: it may
   * abort what isl does, and nothing more. */
  void (*look)(void *ctx, struct lm_meter *);
  void *ctx;
} lm_meter;

extern __attribute__((visibility("hidden"))) _Thread_local lm_meter lm_counted;

/* When none are left. */
__attribute__((visibility("hidden"))) void lm_look(void);

static inline void
lm_count(void) {
  if (__builtin_expect(--lm_counted.left < 0, 0))
    lm_look();
}

#endif
