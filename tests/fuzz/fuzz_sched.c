/* SPDX-License-Identifier: MIT */
/* fuzz_sched.c - any bytes as a .sched script: no crash, no endless work, and
 * what is accepted keeps the program legal. */
#include "fuzz.h"
#include "poly/schedule/primitive.h"

static const char loops[] = "input A: i32[6, 6]\n"
                            "output C: i32[6]\n"
                            "workspace B: i32[6, 6]\n\n"
                            "for x in 0..6 {\n"
                            "  for y in 0..6 {\n"
                            "    SB: B[x, y] = A[y, x] + 1.0\n"
                            "  }\n"
                            "}\n"
                            "for i in 0..6 {\n"
                            "  I: C[i] = 0.0\n"
                            "  for k in 0..6 {\n"
                            "    U: C[i] += B[i, k]\n"
                            "  }\n"
                            "}\n";

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bs_heap heap;
  bs_arena arena;
  bs_diags diags;
  if (size > 2000)
    return 0;
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  gs_context ctx = {&heap, &arena, bs_values_new(&heap), &diags};
  uint32_t program =
      bs_source_add(&diags, "fuzz.loops", loops, sizeof loops - 1);
  po_program *p = po_read_loops(&ctx, gs_target_default(&ctx), program);
  uint32_t source =
      bs_source_add(&diags, "fuzz.sched", (const char *)data, size);
  bs_text out;
  bs_text_init(&out, &heap);
  require(p != NULL);
  if (source) {
    po_violation v;
    po_run_script(&p, source, &out);
    require(po_program_is_legal(p, &v));
  }
  bs_heap_done(&heap);
  return 0;
}
