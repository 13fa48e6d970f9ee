/* SPDX-License-Identifier: MIT */
/* clock.c - the time, for limits and measurements. */
#include "base/file.h"
#include <time.h>

double
bs_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
