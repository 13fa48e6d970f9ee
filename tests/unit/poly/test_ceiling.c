/* SPDX-License-Identifier: MIT */
/* test_ceiling.c - programs that isl cannot cope with end within the limits.
 *
 * isl asks isl_ctx_next_operation before each operation; here it asks this
 * program, which counts. */
#include "fixture.h"
#include "poly/loops/limit.h"
#include "poly/search/auto.h"
#include <dlfcn.h>
#include <isl/set.h>
#include <isl/space.h>

TestSuite(ceiling, .init = fixture_start, .fini = fixture_stop);

static unsigned long operations;

__attribute__((visibility("default"))) int
isl_ctx_next_operation(isl_ctx *isl) {
  static int (*of_isl)(isl_ctx *);
  if (!of_isl)
    *(void **)&of_isl = dlsym(RTLD_NEXT, "isl_ctx_next_operation");
  operations++;
  return of_isl(isl);
}

/* Of a loop over i around one over j, with 3 * depth divisions and one. */
static const char *
subscript(int depth) {
  const char *e = "(i + j)";
  for (int k = 0; k < depth; k++) {
    bs_text longer;
    bs_text_init(&longer, &heap);
    bs_putf(&longer, "((%s * %d + i %% %d + (j + %d) / %d) %% %d)", e,
            3 + 2 * k, 5 + k, k, 4 + k, 97 + k);
    e = bs_arena_strdup(&arena, bs_text_str(&longer));
    bs_text_done(&longer);
  }
  return e;
}

/* A1 is made of A0, and A2 of A1, by such subscripts. */
static po_program *
read_floors(int depth) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_put(&text, "input A0: f32[64, 64]\nworkspace A1: f32[64, 64]\n"
                "output A2: f32[64, 64]\n");
  for (int s = 0; s < 2; s++) {
    const char *e = subscript(depth);
    bs_putf(&text,
            "for i%d in 0..64 { for j%d in 0..64 { "
            "S%d[i, j]: A%d[i, j] = A%d[%s %% 64, %s %% 63] + 1 "
            "where 0 <= i < 64 and 0 <= j < 64 at i, j } }\n",
            s, s, s, s + 1, s, e, e);
  }
  const char *str = bs_arena_strdup(&arena, bs_text_str(&text));
  bs_text_done(&text);
  uint32_t source = bs_source_add(&diags, "floors.loops", str, strlen(str));
  po_program *p = po_read_loops(&ctx, NULL, source, NULL, 0);
  cr_assert(p, "%s", faults());
  return p;
}

/* Limits as they are by default: those of `post-tile` and `smart`, and of
 * what looks at the program in between. */
Test(ceiling, too_many_divisions_are_left_as_they_are) {
  po_program *p = read_floors(4);
  unsigned long weight = po_weight_of(p);
  unsigned long of_pairs = po_weight(2 * po_divisions_of(p));
  cr_assert_gt(weight, 10);
  operations = 0;
  po_auto_options options = {.fuse = PO_FUSE_POST_TILE};
  po_auto_result done = po_schedule_automatically(&p, &options);
  cr_assert_eq(done.fuse, PO_FUSE_MIN);
  cr_assert_gt(operations, 1000000 / of_pairs);
  cr_assert_lt(operations, 2 * 10000000 / weight, "%lu", operations);
  po_free(p);
}

Test(ceiling, programs_without_divisions_have_all_of_a_limit) {
  po_program *p = lower("(tensor a (shape 8 8) f32)"
                        "(let y (compute relu a)) (output y)");
  cr_assert_eq(po_weight_of(p), 1);
  cr_assert_eq(po_weight(6), 1);
  cr_assert_eq(po_weight(12), 8);
  cr_assert_eq(po_weight(60), 1000);
  po_free(p);
}

/* What is asked for inside counts for what is outside. */
Test(ceiling, a_limit_within_another_is_that_one) {
  po_program *p = lower("(tensor a (shape 8 8) f32)"
                        "(let y (compute relu a)) (output y)");
  po_limit outer = po_limit_operations(p, 5);
  po_limit inner = po_limit_operations(p, 1000000);
  for (int k = 0; k < 10; k++)
    isl_set_free(isl_set_universe(isl_space_set_alloc(p->isl, 0, 2)));
  cr_assert_not(po_unlimit(&inner));
  cr_assert(po_is_exhausted(p->isl));
  cr_assert_not(po_unlimit(&outer));
  cr_assert_not(po_is_exhausted(p->isl));
  po_free(p);
}
