/* SPDX-License-Identifier: MIT */
/* meter.c - see meter.h.  In a library of its own: who sets a meter need not
 * know whether the program has the functions that count. */
#include "limbs/meter.h"

_Thread_local lm_meter lm_counted = {.left = INT64_MAX};

void
lm_look(void) {
  lm_counted.left = INT64_MAX;
  if (lm_counted.look)
    lm_counted.look(lm_counted.ctx, &lm_counted);
}
