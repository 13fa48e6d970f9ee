/* SPDX-License-Identifier: MIT */
/* random.h - numbers that look random and are the same everywhere (splitmix64).
 *
 * The sequence of a seed is mixed from seed + k * BS_RANDOM_STEP, so that any
 * place in it can be asked for. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

#define BS_RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t
bs_mix(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* The first number of the sequence of a seed. */
static inline uint64_t
bs_random_of(uint64_t seed) {
  return bs_mix(seed + BS_RANDOM_STEP);
}

static inline uint64_t
bs_random_next(uint64_t *state) {
  return bs_mix(*state += BS_RANDOM_STEP);
}

#endif
