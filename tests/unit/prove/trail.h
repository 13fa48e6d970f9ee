/* SPDX-License-Identifier: MIT */
/* trail.h - what is answered to one question after another, a line each, held
 * against answers/NAME.txt.
 *
 * A line has the whole answer and how much each part of the prover did for it,
 * so that an argument that is taken no more, or that does less or more than it
 * did, is seen although the verdict stays.  GLEN_RECORD=1 writes the lines
 * anew; read the difference.  Under the sanitizers fewer questions are asked,
 * and no lines are compared. */
#ifndef TESTS_PROVE_TRAIL_H
#define TESTS_PROVE_TRAIL_H

#include "fixture.h"
#include "tests/unit/sanitized.h"
#include <stdio.h>
#include <stdlib.h>

static bs_heap trail_heap;
static bs_text trail;

static inline bs_text *
trail_text(void) {
  if (!trail.heap) {
    bs_heap_init(&trail_heap, NULL, 0);
    bs_text_init(&trail, &trail_heap);
  }
  return &trail;
}

/* Behind what was put into the text for the line. */
static inline void
trail_answer(const pv_answer *a, const pv_counts *work) {
  bs_text *out = trail_text();
  bs_putf(out, "%s by %s: %s; ", pv_verdict_name(a->verdict),
          pv_method_name(a->method), a->reason);
  pv_put_counts(out, work);
  bs_putc(out, '\n');
}

/* compare_outputs, and its line. */
static inline pv_answer
trail_outputs(const gs_program *p, const pv_options *options) {
  pv_counts work = {{0}};
  pv_options o = *options;
  o.counts = &work;
  pv_answer a = compare_outputs(p, &o);
  trail_answer(&a, &work);
  return a;
}

static inline void
trail_write(const char *path) {
  FILE *f = fopen(path, "w");
  cr_assert(f && fwrite(trail.data, 1, trail.len, f) == trail.len && !fclose(f),
            "%s", path);
}

/* Each line of both, to the first that differs. */
static inline void
trail_compare(FILE *f) {
  const char *now = bs_text_str(&trail);
  char was[4000];
  for (uint32_t k = 1; fgets(was, sizeof was, f); k++) {
    size_t n = strcspn(now, "\n");
    n += now[n] == '\n';
    cr_assert(n == strlen(was) && !memcmp(was, now, n),
              "line %u, recorded:\n%snow:\n%.*s", k, was, (int)n, now);
    now += n;
  }
  cr_expect_eq(*now, '\0', "not recorded:\n%s", now);
}

static inline void
trail_end(const char *name) {
  char path[1000];
  snprintf(path, sizeof path, "%s/tests/unit/prove/answers/%s.txt",
           GLEN_SOURCE_DIR, name);
  trail_text();
  if (getenv("GLEN_RECORD")) {
    trail_write(path);
  } else if (!SANITIZED) {
    FILE *f = fopen(path, "r");
    cr_assert(f, "%s is not there", path);
    trail_compare(f);
    fclose(f);
  }
  bs_heap_done(&trail_heap);
  trail.heap = NULL;
}

#endif
