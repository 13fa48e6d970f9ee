/* SPDX-License-Identifier: MIT */
/* fuzz_sched.c - any bytes as a .sched script: no crash, no endless work, and
 * what is accepted keeps the program legal. */
#include "common.h"
#include "poly/loops/loops.h"
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

static common of_all;
static po_program *start; /* what the loops are, in of_all */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  po_violation v;
  bs_text out;
  if (size > 2000)
    return 0;
  if (renew(&of_all))
    start = po_read_loops(
        &of_all.ctx, gs_target_default(&of_all.ctx),
        bs_source_add(&of_all.diags, "fuzz.loops", loops, sizeof loops - 1),
        NULL, 0);
  require(start != NULL);
  uint32_t source =
      bs_source_add(&of_all.diags, "fuzz.sched", (const char *)data, size);
  if (!source)
    return 0;
  po_program *p = po_copy(start);
  bs_text_init(&out, &of_all.heap);
  po_run_script(&p, source, &out);
  bs_clear(&out);
  po_print_script(p, &out);
  /* what no command changed is legal as it was */
  require(!out.len || po_program_is_legal(p, &v));
  bs_text_done(&out);
  po_free(p);
  return 0;
}
