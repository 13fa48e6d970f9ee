/* SPDX-License-Identifier: MIT */
/* What stands above functions follows from the names in their trees. */
#include "codegen/above/above.h"
#include <criterion/criterion.h>
#include <string.h>

static bs_heap heap;
static bs_arena arena;
static gs_target target;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  target = (gs_target){.vector_bytes = 32};
}

static void
end(void) {
  bs_arena_done(&arena);
  bs_heap_done(&heap);
}

TestSuite(above, .init = start, .fini = end);

/* The texts that these helpers are. */
static const char *
text_of(const cg_needs *needs) {
  bs_text text;
  bs_text_init(&text, &heap);
  cg_above above = {.needs = needs,
                    .target = &target,
                    .index = "int",
                    .storage = "static inline"};
  cg_put_helpers(&above, CG_NO_HELPER + 1, CG_LAST_OF_ALL, &text);
  const char *out = bs_arena_strdup(&arena, bs_text_str(&text));
  bs_text_done(&text);
  return out;
}

static const cg_expr *
call(const char *function) {
  const cg_expr *x = cg_name(&arena, "x");
  return cg_called(&arena, function, 1, &x);
}

static void
need_for(cg_needs *needs, const cg_expr *x) {
  cg_node effect = {.kind = CG_DO, .effect = x};
  cg_need_for_nodes(needs, &effect);
}

/* The head of a file includes math.h and string.h. */
Test(above, the_name_of_each_helper_stands_in_its_text) {
  for (cg_helper k = CG_NO_HELPER + 1; k < CG_HELPER_COUNT; k++) {
    const char *name = cg_helper_names[k];
    cg_needs needs = {0};
    cg_need(&needs, k);
    if (name)
      cr_expect(strstr(text_of(&needs), name), "%s", name);
    else if (k != CG_MATH && k != CG_STRING && k != CG_MACS)
      cr_expect(*text_of(&needs), "helper %d has no text", (int)k);
  }
}

Test(above, a_helper_is_found_by_its_name) {
  for (cg_helper k = CG_NO_HELPER + 1; k < CG_HELPER_COUNT; k++) {
    cg_needs needs = {0};
    if (!cg_helper_names[k])
      continue;
    cg_need_for_name(&needs, cg_helper_names[k]);
    cr_expect(cg_needs_helper(&needs, k), "%s", cg_helper_names[k]);
  }
}

Test(above, a_helper_brings_those_that_its_text_needs) {
  cg_needs needs = {0};
  need_for(&needs, call("glen_tanh_f32"));
  cr_expect(cg_needs_helper(&needs, CG_EXP_F32));
  cr_expect(cg_needs_helper(&needs, CG_PICK_F32));
  cr_expect(!cg_needs_helper(&needs, CG_ERF_F32));
  const char *text = text_of(&needs);
  cr_expect_lt(strstr(text, "\nglen_pick_f32("),
               strstr(text, "\nglen_exp_f32("));
  cr_expect_lt(strstr(text, "\nglen_exp_f32("),
               strstr(text, "\nglen_tanh_f32("));
}

Test(above, functions_of_math_need_its_header_and_others_nothing) {
  cg_needs needs = {0};
  need_for(&needs, call("f_k0"));
  cr_expect_eq(needs.helpers[0] | needs.helpers[1], 0);
  need_for(&needs, call("sqrtf"));
  cr_expect(cg_needs_helper(&needs, CG_MATH));
  needs = (cg_needs){0};
  need_for(&needs, cg_literal(&arena, "-INFINITY"));
  cr_expect(cg_needs_helper(&needs, CG_MATH));
}

Test(above, nodes_need_what_their_marks_are_written_with) {
  cg_node *let = cg_make_let(&arena, "float", "t", NULL);
  cg_needs needs = {0};
  let->let.attribute = "GLEN_ALIGNED";
  cg_need_for_nodes(&needs, cg_make_block(&arena, let));
  cr_expect(cg_needs_helper(&needs, CG_ALIGNED));
  cr_expect(strstr(text_of(&needs), "Wmaybe-uninitialized"));
}

Test(above, sets_are_put_together) {
  cg_needs a = {.macs = 1}, b = {.macs = 4};
  cg_need(&a, CG_STREAM);
  cg_need(&b, CG_PICK);
  cg_need_all(&a, &b);
  cr_expect(cg_needs_helper(&a, CG_STREAM) && cg_needs_helper(&a, CG_PICK));
  cr_expect_eq(a.macs, 5);
}
