/* SPDX-License-Identifier: MIT */
/* test_memory.c - lowering and scheduling when memory runs out, at every
 * allocation. */
#include "../refusals.h"
#include "fixture.h"
#include "poly/loops/pool.h"
#include "poly/schedule/primitive.h"
#include <isl/space.h>

static const char text[] =
    "(tensor a (shape 3 4) f32)(tensor b (shape 2 4) f32)"
    "(let s (compute softmax (access (pad (concat a b 0) edge 0 1 1) 1)))"
    "(let m (materialize (transpose s (list 1 0))))"
    "(let y (compute reduceMean (access (repeat m 0 2) 1)))"
    "(output y)(output m)";

static void
lower_body(void *unused) {
  (void)unused;
  context_start();
  uint32_t source = bs_source_add(&diags, "test.glen", text, strlen(text));
  gs_program *program = gs_parse(&ctx, NULL, source);
  po_options options = {0};
  po_program *p = program ? po_lower(program, NULL, &options) : NULL;
  bs_text out;
  bs_text_init(&out, &heap);
  if (p)
    po_print(p, &out);
}

/* A product padded, cut and called. */
static void
schedule_body(void *unused) {
  static const char target[] =
      "(target t)(instr mm (params r c) (operands (x ((b) (r)) f32) (y (() (r "
      "c)) f32)) (result ((b c) ()) f32) (semantics (compute dotProd (cartProd "
      "x (access (transpose y (list 1 0)) 1)))) (emit \"mm({result}, "
      "{result.stride.0}, {x}, {x.stride.0}, {y}, {y.stride.0});\"))";
  static const char loops[] =
      "input A: f32[3, 5]\ninput B: f32[5, 3]\noutput C: f32[3, 3]\n"
      "for i in 0..3 { for j in 0..3 { I: C[i, j] = 0\n"
      "for k in 0..5 { U: C[i, j] += A[i, k] * B[k, j] } } }";
  static const char script[] =
      "pad_einsum U [2, 1, 1]; a, b = split i [-1, 2]; tensorize b mm";
  (void)unused;
  context_start();
  uint32_t source = bs_source_add(&diags, "t.target", target, strlen(target));
  gs_target *t = gs_target_parse(&ctx, source);
  source = bs_source_add(&diags, "t.loops", loops, strlen(loops));
  po_program *p = t ? po_read_loops(&ctx, t, source, NULL, 0) : NULL;
  source = bs_source_add(&diags, "t.sched", script, strlen(script));
  bs_text out;
  bs_text_init(&out, &heap);
  if (p)
    po_run_script(&p, source, &out);
}

static bool
run_with(counter *c, void (*body)(void *)) {
  bs_hooks hooks = {count_down, c};
  bs_heap_init(&heap, &hooks, 0);
  bool ok = bs_protect(&heap, body, NULL);
  bs_heap_done(&heap);
  return ok;
}

static void
refuse_some(void (*body)(void *), uint64_t times) {
  counter whole = {.left = UINT64_MAX};
  cr_assert(run_with(&whole, body));
  uint64_t step = whole.used / times + 1;
  for (uint64_t n = 0; n < whole.used; n += step) {
    counter c = {.left = n};
    cr_assert_not(run_with(&c, body), "allocation %llu", (unsigned long long)n);
  }
}

Test(memory, every_refused_allocation_unwinds) {
  refuse_some(lower_body, 150);
}

Test(memory, schedules_unwind) {
  refuse_some(schedule_body, 100);
}

Test(memory, a_pool_frees_what_it_cannot_hold) {
  counter c = {.left = 1};
  bs_hooks hooks = {count_down, &c};
  bs_heap_init(&heap, &hooks, 0);
  po_pool pool;
  po_pool_init(&pool, &heap);
  isl_ctx *isl = isl_ctx_alloc();
  cr_assert_not(po_keep_set(&pool, NULL));
  cr_assert(pool.failed);
  cr_assert(
      po_keep_set(&pool, isl_set_universe(isl_space_set_alloc(isl, 0, 1))));
  uint32_t mark = po_pool_mark(&pool);
  cr_assert(
      po_keep_set(&pool, isl_set_universe(isl_space_set_alloc(isl, 0, 2))));
  po_pool_release(&pool, mark);
  cr_assert_eq(pool.len, mark);
  po_pool_done(&pool);
  isl_ctx_free(isl);
  bs_heap_done(&heap);
}
