/* SPDX-License-Identifier: MIT */
/* random.c - numbers that follow from a seed alone. */
#include "scripts.h"

static uint64_t state;

void
random_start(uint64_t seed) {
  state = seed * 1000003u;
}

static uint64_t
random64(void) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int
pick(int lo, int hi) {
  return lo + (int)(random64() % (uint64_t)(hi - lo + 1));
}
