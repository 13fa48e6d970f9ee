/* SPDX-License-Identifier: MIT */
/* test_memory.c - the prover when memory runs out, at every allocation. */
#include "../refusals.h"
#include "fixture.h"

static const char text[] =
    "(tensor a (shape 3 4) f32)(tensor b (shape 2 4) f32)"
    "(let l (compute relu (compute dotProd (cartProd (access (pad a zero 0 1 "
    "1) 1) (access b 1)))))"
    "(let r (transpose (compute relu (compute dotProd (cartProd (access b 1) "
    "(access (pad a zero 0 1 1) 1)))) (list 1 0)))"
    "(output l)(output r)";

static int64_t max_elements;
static pv_verdict verdict;

static void
body(void *unused) {
  (void)unused;
  context_start();
  uint32_t source = bs_source_add(&diags, "test.glen", text, strlen(text));
  gs_program *p = gs_parse(&ctx, NULL, source);
  pv_options o;
  pv_defaults(&o);
  o.max_elements = max_elements;
  if (p)
    verdict = compare_outputs(p, &o).verdict;
}

static void
run_with(counter *c) {
  bs_hooks hooks = {count_down, c};
  verdict = PV_UNKNOWN;
  bs_heap_init(&heap, &hooks, 0);
  bs_protect(&heap, body, NULL);
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
}

static void
try_all(void) {
  counter whole = {.left = UINT64_MAX};
  run_with(&whole);
  cr_assert_eq(verdict, PV_PROVED);
  for (uint64_t k = 0; k < whole.used; k++) {
    counter c = {.left = k};
    run_with(&c);
    cr_assert_neq(verdict, PV_REFUTED);
  }
}

Test(memory, refused_to_polynomials) {
  max_elements = 100000;
  try_all();
}

Test(memory, refused_to_relations) {
  max_elements = 0;
  try_all();
}
