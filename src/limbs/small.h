/* SPDX-License-Identifier: MIT */
/* small.h - blocks for small integers, from free lists; see limbs.c. */
#ifndef LIMBS_SMALL_H
#define LIMBS_SMALL_H

#include <gmp.h>

enum { LM_LIMBS = 2 };

typedef union lm_block {
  union lm_block *next; /* while it is free */
  mp_limb_t limbs[LM_LIMBS];
} lm_block;

#define LM_HIDDEN __attribute__((visibility("hidden")))

extern LM_HIDDEN _Thread_local lm_block *lm_unused; /* were freed */

/* When none of them is left. */
LM_HIDDEN lm_block *lm_take_fresh(void);

static inline lm_block *
lm_take(void) {
  lm_block *b = lm_unused;
  if (!b)
    return lm_take_fresh();
  lm_unused = b->next;
  return b;
}

static inline void
lm_give(void *block) {
  lm_block *b = block;
  b->next = lm_unused;
  lm_unused = b;
}

#endif
