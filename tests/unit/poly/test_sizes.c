/* SPDX-License-Identifier: MIT */
/* test_sizes.c - loops whose sizes are known when they are called: what is said
 * of them holds for all sizes in their bounds. */
#include "fixture.h"
#include "poly/depend/depend.h"
#include "poly/loops/access.h"
#include "poly/kernel/contraction.h"
#include "poly/loops/loops_check.h"
#include "poly/loops/execute.h"
#include "poly/loops/loops_number.h"
#include "poly/loops/loops_sizes.h"
#include "poly/schedule/primitive.h"

TestSuite(sizes, .init = fixture_start, .fini = fixture_stop);

static po_program *
read_at(const char *text, const po_given_size *given, uint32_t n) {
  uint32_t source = bs_source_add(&diags, "test.loops", text, strlen(text));
  return po_read_loops(&ctx, gs_target_default(&ctx), source, given, n);
}

static po_program *
read_loops(const char *text) {
  po_program *p = read_at(text, NULL, 0);
  cr_assert(p, "%s", faults());
  return p;
}

static void
expect_fault(const char *part, const char *text) {
  diags.list.len = diags.errors = 0;
  cr_assert_null(read_at(text, NULL, 0), "%s", text);
  cr_assert(strstr(faults(), part), "%s: %s", part, faults());
}

static const char product[] = "size m: 1 to 400\n"
                              "size n: 8 to 512 multiple 8\n"
                              "input A: f32[m, n]\n"
                              "input B: f32[n, m + 1]\n"
                              "output C: f32[m, m + 1]\n"
                              "\n"
                              "parallel for i in 0..m {\n"
                              "  for j in 0..m + 1 {\n"
                              "    S: C[i, j] = 0.0\n"
                              "    for k in 0..n {\n"
                              "      T: C[i, j] += A[i, k] * B[k, j]\n"
                              "    }\n"
                              "  }\n"
                              "}\n";

Test(sizes, a_text_with_sizes_is_a_fixed_point) {
  cr_assert_str_eq(loops_text(read_loops(product)), product);
}

/* Bounds that a multiple does not reach become those that it does. */
Test(sizes, bounds_are_multiples) {
  po_program *p = read_loops("size n: 5 to 30 multiple 7\n"
                             "output B: f32[n / 7]\n"
                             "for i in 0..n / 7 {\n  S: B[i] = 1\n}\n");
  cr_assert_eq(p->sizes.data[0].least, 7);
  cr_assert_eq(p->sizes.data[0].most, 28);
  cr_assert_eq(p->arrays.data[0].dim[0], 4);
}

Test(sizes, a_copy_is_as_sound_as_the_program) {
  bs_text why;
  bs_text_init(&why, &heap);
  po_program *p = read_loops(product), *copy = po_copy(p);
  cr_assert(po_check(p, &why), "%s", bs_text_str(&why));
  cr_assert(po_check(copy, &why), "%s", bs_text_str(&why));
  po_free(p);
  cr_assert_str_eq(loops_text(copy), product);
  po_violation v;
  cr_assert(po_program_is_legal(copy, &v));
  bs_text_done(&why);
}

/* The program with numbers is one without sizes; a size may stay open. */
Test(sizes, numbers_are_put_in) {
  po_given_size given[] = {{.name = "m", .value = 3},
                           {.name = "n", .value = 16}};
  po_program *p = read_at(product, given, 2), *q = read_at(product, given, 1);
  cr_assert(p && q, "%s", faults());
  cr_assert(!po_has_sizes(p) && !po_is_sized(&p->arrays.data[1]));
  cr_assert_eq(p->arrays.data[1].dim[1], 4);
  cr_assert_eq(po_count_instances(p, 1), 3 * 4 * 16);
  cr_assert(po_has_sizes(q) && q->sizes.len == 1);
  cr_assert_eq(po_count_instances(q, 1), -1);
}

Test(sizes, numbers_outside_of_the_bounds_are_refused) {
  static const po_given_size wrong[] = {{.name = "m"},
                                        {.name = "m", .value = 401},
                                        {.name = "n", .value = 12},
                                        {.name = "n"},
                                        {.name = "k", .value = 1}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    cr_assert_null(read_at(product, &wrong[k], 1));
}

Test(sizes, open_sizes_are_not_run) {
  cr_assert(!po_execute(read_loops(product), NULL, NULL));
  cr_assert(has_fault("open-size"));
}

Test(sizes, an_access_beyond_an_array_is_told_at_some_size) {
  expect_fault("A is accessed outside of its bounds at n = 1",
               "size n: 1 to 100\ninput A: f32[n]\noutput B: f32[n]\n"
               "for i in 0..n {\n  S: B[i] = A[i / 2 + 1]\n}\n");
  expect_fault("A is accessed outside of its bounds at n = 100",
               "size n: 1 to 100\ninput A: f32[99]\noutput B: f32[n]\n"
               "for i in 0..n {\n  S: B[i] = A[i]\n}\n");
}

Test(sizes, dimensions_have_elements) {
  expect_fault("the dimension has no element at n = 1, m = 5",
               "size n: 1 to 9\nsize m: 1 to 9\noutput B: f32[4 * n - m + 1]\n"
               "for i in 0..1 {\n  S: B[i] = 1\n}\n");
}

Test(sizes, iterations_that_depend_on_each_other_are_told_at_some_size) {
  expect_fault("T[0] -> T[3] at n = 7 (1 of 4 pairs)",
               "size n: 1 to 100\ninput A: f32[n]\noutput B: f32[n]\n"
               "for i in 0..n {\n  S: B[i] = A[i]\n}\n"
               "parallel for j in 0..n - 3 {\n  T: B[j + 3] = B[j]\n}\n");
}

/* The distance is the size: at 7 two lanes of a vector of 8 depend on each
 * other, from 8 on none do. */
Test(sizes, lanes_are_free_of_each_other_at_every_size) {
  static const char *const text =
      "size n: %d to 64\noutput B: f32[3 * n]\n"
      "for i in 0..3 * n {\n  S: B[i] = 1\n}\n"
      "vectorize(8) for j in 0..2 * n {\n  T: B[j + n] = B[j]\n}\n";
  char seven[256], eight[256];
  snprintf(seven, sizeof seven, text, 7);
  snprintf(eight, sizeof eight, text, 8);
  expect_fault("at n = 7", seven);
  read_loops(eight);
}

Test(sizes, names_are_not_shared) {
  expect_fault("a size is named `n` already",
               "size n: 1 to 9\ninput n: f32[4]\n");
  expect_fault("a size is named `n` already",
               "size n: 1 to 9\nsize n: 1 to 9\n");
  expect_fault("a size is named `n` already",
               "size n: 1 to 9\noutput B: f32[9]\n"
               "for n in 0..9 {\n  S: B[n] = 1\n}\n");
  expect_fault("a word of C", "size for: 1 to 9\n");
  expect_fault("sizes are declared before everything else",
               "input A: f32[4]\nsize n: 1 to 9\n");
  expect_fault("expected an integer", "size n: 9 to 8\n");
  expect_fault("there is no multiple", "size n: 9 to 15 multiple 8\n");
}

Test(sizes, constants_and_tables_have_numbers) {
  expect_fault("the dimensions of a constant are numbers",
               "size n: 1 to 9\nconstant c: f32[n] = {1}\n");
  expect_fault("the dimensions of a table are numbers",
               "size n: 9 to 9000\ninput A: f32[n]\ninput at: i32[4]\n"
               "output B: f32[4]\nfor i in 0..4 {\n"
               "  S: B[i] = gather(A[0], 9, 1, (at[i]: i32))\n}\n");
}

/* ---- numbers that are no affine functions ---- */

/* What follows from it holds for all sizes: a product of extents is one number,
 * whichever way it comes about. */
Test(sizes, extents_are_numbers_that_multiply) {
  po_program *p = read_loops(product);
  bs_arena own;
  bs_arena_init(&own, ctx.heap);
  gs_sizes *s = po_numbers_of(p, &own);
  gs_number rows, columns, columns_more;
  cr_assert(po_extent_number(p, s, &p->arrays.data[0], 0, &rows));
  cr_assert(po_extent_number(p, s, &p->arrays.data[0], 1, &columns));
  cr_assert(po_extent_number(p, s, &p->arrays.data[1], 1, &columns_more));
  gs_number all = gs_product(&s->over, rows, columns);
  cr_assert_eq(gs_least_of(s, all), 8);
  cr_assert_eq(gs_most_of(s, all), 400 * 512);
  cr_assert_eq(gs_minus(&s->over, columns_more, rows), 1);
  cr_assert_eq(all, gs_product(&s->over, columns, rows));
  cr_assert_eq(gs_number_at(s, all, (int64_t[]){3, 16}), 48);
  cr_assert(!gs_is_affine(s, all));
  bs_arena_done(&own);
}

/* A number that is a sum becomes the function that it was. */
Test(sizes, sums_are_functions_and_numbers) {
  po_program *p = read_loops("size n: 5 to 30\n"
                             "output B: f32[(n + 1) / 4 + 2 * n]\n"
                             "for i in 0..(n + 1) / 4 + 2 * n {\n"
                             "  S: B[i] = 1\n}\n");
  bs_arena own;
  bs_arena_init(&own, ctx.heap);
  gs_sizes *s = po_numbers_of(p, &own);
  gs_number length;
  cr_assert(po_extent_number(p, s, &p->arrays.data[0], 0, &length));
  cr_assert_eq(gs_number_at(s, length, (int64_t[]){7}), 16);
  isl_aff *aff = po_aff_of_number(p, s, 0, length);
  cr_assert_eq(isl_aff_plain_is_equal(aff, p->arrays.data[0].extent[0]),
               isl_bool_true);
  isl_aff_free(aff);
  bs_arena_done(&own);
}

/* A kernel is planned for the greatest sizes, and rows that fill no vectors are
 * known to be such. */
Test(sizes, products_are_contractions) {
  po_program *p = read_loops(product);
  po_lay_out(p);
  cr_assert_eq(p->contractions.len, 1);
  const po_contraction *c = p->contractions.data[0];
  cr_assert(c->sized[PO_DIM_M] && c->sized[PO_DIM_N] && c->sized[PO_DIM_K]);
  cr_assert(c->ragged[PO_DIM_N] && !c->ragged[PO_DIM_K]);
  cr_assert_neq(c->y_mode, PO_DIRECT, "rows of y end within a vector");
  cr_assert(c->y_may_lie, "at some sizes they do not");
  cr_assert(c->x_mode != PO_WINDOWS && c->y_mode != PO_WINDOWS);
}

/* How much there is to do, as a number that a call can compute. */
Test(sizes, boxes_of_statements_are_counted) {
  po_program *p = read_loops(product);
  bs_arena own;
  bs_arena_init(&own, ctx.heap);
  gs_sizes *s = po_numbers_of(p, &own);
  const int64_t at[] = {3, 16};
  cr_assert_eq(gs_number_at(s, po_box_number(p, s, &p->stmts.data[0]), at), 12);
  cr_assert_eq(gs_number_at(s, po_box_number(p, s, &p->stmts.data[1]), at),
               192);
  bs_arena_done(&own);
}

static const char blurred[] =
    "size n: 4 to 300\ninput A: f32[n]\noutput C: f32[n - 2]\n"
    "workspace B: f32[n]\n"
    "for x in 0..n {\n  S: B[x] = exp(A[x])\n}\n"
    "for i in 0..n - 2 {\n  T: C[i] = B[i] + B[i + 2]\n}\n";

static bool
run(po_program **p, const char *script) {
  bs_text out;
  bs_text_init(&out, ctx.heap);
  uint32_t source = bs_source_add(&diags, "s.sched", script, strlen(script));
  bool ok = po_run_script(p, source, &out);
  bs_text_done(&out);
  return ok;
}

/* A tile needs as much at all sizes: its rims are cut, and its local is not. */
Test(sizes, what_a_tile_needs_is_a_local_of_one_extent) {
  po_program *p = read_loops(blurred);
  cr_assert(run(&p, "i0, i1 = split i [-1, 16]; compute_at B i0"), "%s",
            faults());
  const po_array *b =
      &p->arrays.data[p->stmts.data[po_stmt_named(p, "S")].array];
  cr_assert(!po_is_sized(b) && b->rank == 2 && b->dim[1] == 18);
  cr_assert_eq(po_likely_instances(p, po_stmt_named(p, "S")), 300 + 18 * 2);
}

/* The tile that an iteration is in says nothing of how many there are. */
Test(sizes, tiles_are_not_counted_with_what_is_in_them) {
  po_program *p = read_loops(blurred);
  cr_assert(run(&p, "i0, i1 = split i [-1, 16]; compute_at B i0"), "%s",
            faults());
  bs_arena own;
  bs_arena_init(&own, ctx.heap);
  gs_sizes *s = po_numbers_of(p, &own);
  const po_stmt *made = &p->stmts.data[po_stmt_named(p, "S")];
  cr_assert_eq(gs_number_at(s, po_box_number(p, s, made), (int64_t[]){100}),
               100);
  bs_arena_done(&own);
}

/* An array that has fewer elements at some sizes has no more places. */
Test(sizes, places_are_no_more_than_the_least_extent) {
  po_program *p = read_loops(blurred);
  cr_assert(!run(&p, "fold_storage B 0 5") && has_fault("factors"));
  cr_assert(strstr(faults(), "1..4"), "%s", faults());
}
