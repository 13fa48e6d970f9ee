/* SPDX-License-Identifier: MIT */
/* small.h - loop programs for targets whose caches are small. */
#ifndef TESTS_CODEGEN_SMALL_H
#define TESTS_CODEGEN_SMALL_H

#include "nests.h"

/* For a machine of small caches; one that stores slowly past them. */
static inline gs_target *
small_target(void) {
  gs_target *target = gs_target_default(&ctx);
  for (uint32_t k = 0; k < target->caches.len; k++)
    target->caches.data[k].bytes = 4096;
  return target;
}

static inline po_program *
read_small(const char *text) {
  return read_loops_for(small_target(), text);
}

static inline po_program *
read_through(const char *text) {
  gs_target *target = small_target();
  target->stored_bytes_per_cycle = target->memory_bytes_per_cycle / 2;
  return read_loops_for(target, text);
}

/* Rows that are no whole lines. */
static inline const char *
rows_of(int height, int width, const char *outer, const char *inner,
        const char *element) {
  return bs_arena_printf(&arena,
                         "input A: f32[%d, %d]\noutput B: f32[%d, %d]\n"
                         "%s for i in 0..%d { %s for j in 0..%d {\n"
                         "  S: B[%s] = A[i, j] * 2 + 1 } }\n",
                         height, width, height, width, outer, height, inner,
                         width, element);
}

#endif
