/* SPDX-License-Identifier: MIT */
/* Programs cut into regions: which terms are of one, what is a seam, and which
 * regions are alike. */
#include "../glenside/lang.h"
#include "base/hash.h"
#include "region/region.h"

TestSuite(cut, .init = start, .fini = fixture_stop);

static rg_cut cut;
static rg_parts parts;

static const gs_program *
cut_text(const char *text, uint32_t reach) {
  const gs_program *p = parse_well(text);
  rg_cut_program(&heap, p, &cut);
  rg_parts_init(&parts, &cut, &arena, NULL, reach);
  return p;
}

static uint32_t
let(const gs_program *p, const char *name) {
  for (uint32_t k = 0; k < p->lets.len; k++)
    if (!strcmp(p->lets.data[k].name, name))
      return p->lets.data[k].term.i;
  cr_assert(false, "no let %s", name);
  return 0;
}

/* The region as text; its key and ends, where they are asked for. */
static const char *
region_text(uint32_t r, bs_key *key, rg_ends *ends) {
  bs_key own = {0};
  rg_ends of = {0};
  rg_part part;
  rg_list(&parts, r, key ? key : &own, ends ? ends : &of);
  cr_assert(rg_make(&parts, r, &ctx, &part), "%s", faults());
  return printed(part.program, false);
}

static bool
alike(uint32_t a, uint32_t b) {
  bs_key x = {0}, y = {0};
  region_text(a, &x, NULL);
  region_text(b, &y, NULL);
  return x.words.len == y.words.len &&
         !memcmp(x.words.data, y.words.data, x.words.len * sizeof(uint32_t));
}

#define LAYER(name, of, w, c)                                                  \
  "(let " name "p (compute dotProd (cartProd (access " of " 1) (access " w     \
  " 1))))"                                                                     \
  "(let " name "s (compute mul (pair " name "p (broadcast " c                  \
  " (shape 4 4)))))"                                                           \
  "(let " name " (compute relu " name "s))"
#define HEAD                                                                   \
  "(tensor x (shape 4 4) f32) (tensor v (shape 4 4) f32)"                      \
  "(tensor w (shape 4 4) f32)"                                                 \
  "(const c (shape 1 1) f32 0.5) (const d (shape 1 1) f32 0.5)"                \
  "(const e (shape 1 1) f32 0.25)"

Test(cut, a_product_begins_a_region) {
  const gs_program *p = cut_text(
      HEAD LAYER("a", "x", "v", "c") LAYER("b", "a", "w", "c") "(output b)", 1);
  cr_assert_eq(cut.n, 2);
  cr_assert_eq(cut.of[let(p, "a")], cut.of[let(p, "ap")]);
  cr_assert_eq(cut.of[let(p, "b")], cut.of[let(p, "bs")]);
  cr_assert_neq(cut.of[let(p, "a")], cut.of[let(p, "b")]);
  cr_assert(cut.seam[let(p, "a")] && cut.seam[let(p, "b")]);
  cr_assert(!cut.seam[let(p, "ap")] && !cut.seam[let(p, "bs")]);
}

Test(cut, names_do_not_tell_regions_apart) {
  const gs_program *p =
      cut_text(HEAD LAYER("a", "x", "v", "c") LAYER("b", "a", "w", "d")
                   LAYER("f", "b", "w", "e") "(output f)",
               1);
  uint32_t a = cut.of[let(p, "a")], b = cut.of[let(p, "b")];
  cr_assert(alike(a, b), "%s\n%s", region_text(a, NULL, NULL),
            region_text(b, NULL, NULL));
  cr_assert(!alike(a, cut.of[let(p, "f")]), "their constants differ");
}

Test(cut, a_part_is_a_program_with_the_names_it_had) {
  const gs_program *p = cut_text(
      HEAD LAYER("a", "x", "v", "c") LAYER("b", "a", "w", "c") "(output b)", 1);
  rg_ends ends = {0};
  const char *text = region_text(cut.of[let(p, "b")], NULL, &ends);
  cr_assert(strstr(text, "(tensor a (shape 4 4) f32)"), "%s", text);
  cr_assert(strstr(text, "(output b)"), "%s", text);
  cr_assert_eq(ends.inputs.len, 2);
  cr_assert_eq(ends.inputs.data[0].i, let(p, "a"));
  cr_assert_eq(ends.outputs.data[0].i, let(p, "b"));
}

Test(cut, a_part_may_reach_over_the_region_below) {
  const gs_program *p = cut_text(
      HEAD LAYER("a", "x", "v", "c") LAYER("b", "a", "w", "c") "(output b)", 2);
  const char *text = region_text(cut.of[let(p, "b")], NULL, NULL);
  cr_assert(!strstr(text, "(tensor a "), "%s", text);
  cr_assert(strstr(text, "(tensor x "), "%s", text);
}

Test(cut, what_reads_inputs_alone_sinks_to_its_reader) {
  const gs_program *p = cut_text(
      "(tensor x (shape 4 4) f32) (tensor w (shape 4 4) f32)"
      "(let one (compute square w))"
      "(let a (compute dotProd (cartProd (access x 1) (access one 1))))"
      "(output a)",
      1);
  cr_assert_eq(cut.n, 1);
  cr_assert_eq(cut.of[let(p, "one")], cut.of[let(p, "a")]);
  cr_assert(!cut.seam[let(p, "one")]);
}

Test(cut, what_several_read_is_a_region_of_its_own) {
  const gs_program *p = cut_text(
      "(tensor x (shape 4 4) f32) (tensor w (shape 4 4) f32)"
      "(let one (compute square w))"
      "(let a (compute dotProd (cartProd (access x 1) (access one 1))))"
      "(let b (compute dotProd (cartProd (access a 1) (access one 1))))"
      "(output b)",
      1);
  cr_assert_eq(cut.n, 3);
  cr_assert(cut.seam[let(p, "one")]);
}

Test(cut, a_seam_lies_above_the_slice_that_alone_is_read) {
  const gs_program *p =
      cut_text("(tensor x (shape 4 4) f32) (tensor w (shape 4 4) f32)"
               "(let a (compute dotProd (cartProd (access x 1) (access w 1))))"
               "(let s (slice a 0 1 3))"
               "(let b (compute dotProd (cartProd (access s 1) (access w 1))))"
               "(output b)",
               1);
  cr_assert(cut.seam[let(p, "s")] && !cut.seam[let(p, "a")]);
  cr_assert_eq(cut.of[let(p, "s")], cut.of[let(p, "a")]);
}

/* Heads of an attention differ in nothing but what they are slices of. */
Test(cut, slices_of_one_array_are_inputs) {
  const gs_program *p =
      cut_text("(tensor x (shape 4 8) f32) (tensor w (shape 4 8) f32)"
               "(let a (compute dotProd (cartProd (access (slice x 1 0 4) 1)"
               " (access (slice w 1 0 4) 1))))"
               "(let b (compute dotProd (cartProd (access (slice x 1 4 8) 1)"
               " (access (slice w 1 4 8) 1))))"
               "(output a) (output b)",
               1);
  cr_assert(alike(cut.of[let(p, "a")], cut.of[let(p, "b")]));
}

/* Pieces of one array that are put together again are not taken apart. */
Test(cut, slices_that_meet_stay_in_the_region) {
  const gs_program *p =
      cut_text("(tensor x (shape 4 8) f32) (tensor w (shape 4 8) f32)"
               "(let a (compute dotProd (cartProd (access"
               " (concat (slice x 1 0 4) (slice x 1 4 8) 1) 1) (access w 1))))"
               "(output a)",
               1);
  const char *text = region_text(cut.of[let(p, "a")], NULL, NULL);
  cr_assert(strstr(text, "(tensor x "), "%s", text);
}

Test(cut, a_seam_with_items_comes_in_by_a_view) {
  const gs_program *p = cut_text(
      "(tensor x (shape 4 8) f32) (tensor w (shape 4 8) f32)"
      "(let a (compute relu (access (compute dotProd (cartProd (access x 1)"
      " (access w 1))) 1)))"
      "(let b (compute dotProd (cartProd a (access (transpose a (list 1 0))"
      " 1))))"
      "(output b)",
      1);
  rg_ends ends = {0};
  const char *text = region_text(cut.of[let(p, "b")], NULL, &ends);
  cr_assert(strstr(text, "(access a 1)"), "%s", text);
  cr_assert_eq(ends.inputs.data[0].i, let(p, "a"));
}

/* Long chains without a product are cut, wherever. */
Test(cut, regions_are_bounded) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_put(&text, "(tensor x (shape 4 4) f32)"
                "(let a0 (compute dotProd (cartProd (access x 1)"
                " (access x 1))))");
  for (int k = 1; k < 1000; k++)
    bs_putf(&text, "(let a%d (compute %s a%d))", k, k % 2 ? "sin" : "tanh",
            k - 1);
  bs_put(&text, "(output a999)");
  cut_text(bs_text_str(&text), 1);
  cr_assert(cut.n > 20 && cut.n < 100, "%u", cut.n);
  for (uint32_t r = 0; r < cut.n; r++)
    cr_assert(cut.works.data[r] <= 64);
}

/* Where the whole has another use, it is what stands at the seam. */
Test(cut, a_seam_lies_below_the_slice_where_the_whole_is_used_too) {
  static const char *const uses[] = {"(output a)",
                                     "(let d (compute relu a)) (output d)",
                                     "(let d (slice a 1 0 2)) (output d)"};
  for (size_t k = 0; k < sizeof uses / sizeof *uses; k++) {
    const gs_program *p = cut_text(
        bs_arena_printf(
            &arena,
            "(tensor x (shape 4 4) f32) (tensor w (shape 4 4) f32)"
            "(let a (compute dotProd (cartProd (access x 1) (access w 1))))"
            "(let s (slice a 0 1 3))"
            "(let b (compute dotProd (cartProd (access s 1) (access w 1))))"
            "(output b) %s",
            uses[k]),
        1);
    cr_expect(cut.seam[let(p, "a")] && !cut.seam[let(p, "s")], "%s", uses[k]);
  }
}
