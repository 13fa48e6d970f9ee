/* SPDX-License-Identifier: MIT */
/* counts.c - reading counts files: a line `== NAME iters=N [sched=backoff]
 * [matchlimit=N]`, then a line an iteration. */
#include "counts.h"
#include <stdlib.h>
#include <string.h>

static void
read_title(const char *line, ct_section *s) {
  memset(s, 0, sizeof *s);
  sscanf(line, "== %63s", s->workload);
  s->backoff = strstr(line, "sched=backoff") != NULL;
  const char *limit = strstr(line, "matchlimit=");
  if (limit)
    s->match_limit = (uint32_t)strtoul(limit + 11, NULL, 10);
}

static void
read_row(const char *line, ct_section *s) {
  ct_row r;
  unsigned iteration, memo;
  unsigned long long matches;
  if (sscanf(line, " iter %u nodes %u classes %u memo %u matches %llu",
             &iteration, &r.nodes, &r.classes, &memo, &matches) != 5)
    return;
  r.matches = matches;
  if (s->n < CT_ITERATIONS)
    s->rows[s->n++] = r;
}

bool
ct_next(FILE *f, ct_section *s) {
  char line[256];
  bool begun = false;
  long before = ftell(f);
  while (fgets(line, sizeof line, f)) {
    if (!strncmp(line, "==", 2)) {
      if (begun) {
        fseek(f, before, SEEK_SET);
        return true;
      }
      read_title(line, s);
      begun = true;
    } else if (begun) {
      read_row(line, s);
    }
    before = ftell(f);
  }
  return begun;
}
