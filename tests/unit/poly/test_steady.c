/* SPDX-License-Identifier: MIT */
/* test_steady.c - loops that are made, read, scheduled and printed leave
 * nothing behind once they are freed but their heads, which the heap knows. */
#include "../steady.h"
#include "fixture.h"

TestSuite(steady, .init = fixture_start, .fini = fixture_stop);

/* Texts of the context go to an arena that ends with the call. */
static bs_arena own;

static void
begin(void) {
  bs_arena_init(&own, &heap);
  ctx.arena = &own;
}

static void
end(void) {
  ctx.arena = &arena;
  bs_arena_done(&own);
}

static void
print_all(const po_program *p) {
  bs_text out;
  bs_text_init(&out, &heap);
  po_print(p, &out);
  cr_expect_gt(out.len, 0);
  bs_text_done(&out);
}

static void
lower_once(void *program) {
  begin();
  po_options options = {0};
  po_program *p = po_lower(program, NULL, &options);
  cr_assert(p, "%s", faults());
  print_all(p);
  po_free(p);
  end();
}

static size_t
growth_of_lowering(const char *text) {
  return growth_of(&heap, lower_once,
                   program_over(gs_target_default(&ctx), text), text);
}

Test(steady, lowering_of_every_kind_of_term) {
  static const char *const texts[] = {
      MATMUL "(output c)",
      "(tensor a (shape 3 4) f32)(tensor b (shape 2 4) f32)"
      "(let s (compute softmax (access (pad (concat a b 0) edge 0 1 1) 1)))"
      "(let m (materialize (transpose s (list 1 0))))"
      "(let y (compute reduceMean (access (repeat m 0 2) 1)))"
      "(output y)(output m)",
      ("(tensor a (shape 2 9 9) f32)(let w (windows (access a 0) (shape 2 3 3) "
       "(stride 1 2 2)))(let y (compute reduceMax w))(output y)"),
  };
  size_t head = growth_of_lowering("(tensor a (shape 1) f32)(output a)");
  for (uint32_t k = 0; k < sizeof texts / sizeof *texts; k++)
    cr_expect_eq(growth_of_lowering(texts[k]), head, "%s", texts[k]);
}

static const char loops[] =
    "input A: f32[32, 48]\ninput B: f32[48, 32]\noutput C: f32[32, 32]\n"
    "output D: f32[32, 32]\n"
    "for i in 0..32 { for j in 0..32 { I: C[i, j] = 0\n"
    "for k in 0..48 { U: C[i, j] += A[i, k] * B[k, j] } } }\n"
    "for u in 0..32 { for v in 0..32 { S: D[u, v] = "
    "max(C[u, v], C[v, u] * 2.0) - 1.0 where u + v < 40 } }\n";

static void
read_once(void *source) {
  begin();
  po_program *p = po_read_loops(&ctx, gs_target_default(&ctx),
                                *(const uint32_t *)source, NULL, 0);
  cr_assert(p, "%s", faults());
  print_all(p);
  po_free(p);
  end();
}

static uint32_t
source_of(const char *text) {
  return bs_source_add(&diags, "test", text, strlen(text));
}

static size_t
growth_of_reading(const char *text) {
  uint32_t source = source_of(text);
  return growth_of(&heap, read_once, &source, text);
}

Test(steady, loops_that_are_read) {
  size_t head = growth_of_reading("input A: f32[1]\noutput B: f32[1]\n"
                                  "S: B[0] = A[0]\n");
  cr_expect_eq(growth_of_reading(loops), head);
}
