/* SPDX-License-Identifier: MIT */
/* test_steady.c - generating code leaves nothing behind. */
#include "../poly/fixture.h"
#include "../steady.h"
#include "codegen/file/c.h"

TestSuite(steady, .init = fixture_start, .fini = fixture_stop);

static bool only_lowered;

static void
emit_once(void *program) {
  bs_arena own;
  bs_text c, h;
  bs_arena_init(&own, &heap);
  ctx.arena = &own;
  bs_text_init(&c, &heap);
  bs_text_init(&h, &heap);
  po_options lowering = {0};
  cg_options options = {.name = "f", .header = "f.h", .openmp = true};
  po_program *p = po_lower(program, gs_target_default(&ctx), &lowering);
  cr_assert(p, "%s", faults());
  if (!only_lowered) {
    cr_assert(cg_emit_c(p, &options, &c, &h), "%s", faults());
    cr_expect(c.len && h.len);
    bs_text_clear(&c);
    cg_emit_manifest(p, &options, &c);
    cr_expect_gt(c.len, 0);
  }
  po_free(p);
  bs_text_done(&h);
  bs_text_done(&c);
  ctx.arena = &arena;
  bs_arena_done(&own);
}

Test(steady, c_of_every_kind_of_nest) {
  static const char *const texts[] = {
      MATMUL "(output c)",
      "(tensor a (shape 64 96) f32)(tensor b (shape 96 80) f32)"
      "(let c (compute dotProd (cartProd (access a 1) (access (transpose b "
      "(list 1 0)) 1))))(let y (compute relu c))(output y)",
      "(tensor x (shape 1 8 20 20) f32)(tensor w (shape 16 8 3 3) f32)"
      "(let y (compute dotProd (cartProd (access w 1) (windows (access (pad x "
      "zero 2 1 1) 1) (shape 8 3 3) (stride 1 1 1)))))(output y)",
      ("(tensor a (shape 5 7) i8)(let s (compute reduceSum (access a 1)))"
       "(let t (compute neg (pad a zero 0 1 2)))(output s)(output t)"),
  };
  for (uint32_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    gs_program *p = program_over(gs_target_default(&ctx), texts[k]);
    only_lowered = true;
    size_t head = growth_of(&heap, emit_once, p, texts[k]);
    only_lowered = false;
    cr_expect_eq(growth_of(&heap, emit_once, p, texts[k]), head, "%s",
                 texts[k]);
  }
}
