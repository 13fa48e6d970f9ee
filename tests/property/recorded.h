/* SPDX-License-Identifier: MIT */
/* recorded.h - what each seed of a search came to, held against what it came to
 * before.
 *
 * A search says what is wrong; what is as right as before, and worse, shows in
 * a line for each seed: how much was accepted or found, and a hash of the
 * texts. recorded/NAME.txt holds the lines of the seeds that the tests begin
 * with; GLEN_RECORD=1 in the environment writes them anew, and the difference
 * is to be read.  Seeds that are not there are for a search by hand. */
#ifndef TESTS_PROPERTY_RECORDED_H
#define TESTS_PROPERTY_RECORDED_H

#include "base/hash.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDED_LINE = 400 };

/* A text, or other bytes, after what was hashed before. */
static inline void
recorded_hash(uint64_t *hash, const void *data, size_t n) {
  uint64_t both[2] = {*hash, bs_hash(data, n)};
  *hash = bs_hash(both, sizeof both);
}

static inline bool
recorded_find(FILE *f, uint64_t seed, char *line) {
  while (fgets(line, RECORDED_LINE, f))
    if (strtoull(line, NULL, 10) == seed) {
      line[strcspn(line, "\n")] = '\0';
      return true;
    }
  return false;
}

/* Whether the seed came to what is recorded, which is told where it did not.
 * Where it is being recorded, seeds come in their order. */
__attribute__((format(printf, 3, 4))) static inline bool
recorded_same(const char *name, uint64_t seed, const char *format, ...) {
  char path[1000], line[RECORDED_LINE], now[RECORDED_LINE];
  bool records = getenv("GLEN_RECORD");
  int n = snprintf(now, sizeof now, "%" PRIu64 ": ", seed);
  va_list args;
  va_start(args, format);
  vsnprintf(now + n, sizeof now - (size_t)n, format, args);
  va_end(args);
  snprintf(path, sizeof path, GLEN_SOURCE_DIR "/tests/property/recorded/%s.txt",
           name);
  FILE *f = fopen(path, !records ? "r" : seed == 1 ? "w" : "a");
  if (!f)
    return printf("%s is not there\n", path), false;
  bool same = true;
  if (records)
    fprintf(f, "%s\n", now);
  else if (recorded_find(f, seed, line))
    same = !strcmp(line, now);
  fclose(f);
  if (!same)
    printf("recorded: %s\n     now: %s\n", line, now);
  return same;
}

#endif
