/* SPDX-License-Identifier: MIT */
/* test_datalayout.c - the costs of layouts, their maps, and the search. */
#include "layouts.h"
#include "walk.h"
#include "poly/kernel/contraction.h"
#include "poly/loops/access.h"
#include "poly/datalayout/datalayout_price.h"
#include <math.h>

static po_layout_model model;
static po_layout_search found;

static void
start_model(void) {
  start_program();
  po_layout_model_init(&model, &heap, hand->isl);
}

static void
stop_model(void) {
  po_layout_search_done(&model, &found);
  po_layout_model_done(&model);
  fixture_stop();
}

TestSuite(datalayout, .init = start_model, .fini = stop_model);

static void
add_read(uint32_t definition, uint32_t array, const char *index) {
  po_pool_reserve(&model.pool, 1);
  po_layout_add_read(&model, definition, array,
                     isl_map_read_from_str(model.isl, index));
}

/* func(x, y, b) += A(k, y, b) * B(x, k, b), n each and one b. */
static void
matmul_model(int64_t n) {
  int64_t dim[] = {1, n, n}, loops[] = {1, n, n, n};
  po_layout_add_array(&model, "A", 3, dim, 4);
  po_layout_add_array(&model, "B", 3, dim, 4);
  uint32_t d = po_layout_add_definition(&model, "func", 4, loops);
  add_read(d, 0, "{ [b, y, x, k] -> [b, y, k] }");
  add_read(d, 1, "{ [b, y, x, k] -> [b, k, x] }");
}

static double
priced(po_layout_cost cost, uint32_t array, po_layout_op op, int64_t q) {
  po_layout l[3];
  for (uint32_t k = 0; k < model.arrays.len; k++)
    l[k] = po_layout_plain(&model, &model.arrays.data[k]);
  po_layout made = l[array];
  if (q)
    cr_assert(
        po_layout_apply(&model, &l[array], (po_layout_step){op, q}, &made));
  l[array] = made;
  return po_layout_price(&model, cost, l);
}

#define COST(cost, array, op, q, want)                                         \
  do {                                                                         \
    double got_ = priced(cost, array, op, q);                                  \
    cr_assert(fabs(got_ - (want)) < 1e-6, "%.8f, not %.8f", got_,              \
              (double)(want));                                                 \
  } while (0)
enum { A, B };
#define DOC  PO_COST_DOC
#define AUTO PO_COST_AUTOKERNEL

Test(datalayout, costs_of_1024) {
  matmul_model(1024);
  for (po_layout_cost c = DOC; c <= AUTO; c++) {
    COST(c, A, PO_REORDER, 0, 424230.42048);
    COST(c, A, PO_INTERLEAVE, 8, 424230.42048);
    COST(c, A, PO_SPLITY, 8, 424230.42048);
    COST(c, A, PO_REORDER, 1, 424849.408);
    COST(c, B, PO_REORDER, 1, 516.58752);
  }
  COST(AUTO, B, PO_INTERLEAVE, 8, 424230.42048);
  COST(AUTO, B, PO_SPLITY, 8, 424230.42048);
  COST(DOC, B, PO_INTERLEAVE, 8, 0.8);
  COST(DOC, B, PO_INTERLEAVE, 16, 1.6);
  COST(DOC, B, PO_SPLITY, 8, 102.4);
}

Test(datalayout, costs_of_256_and_32) {
  matmul_model(256);
  COST(DOC, B, PO_REORDER, 0, 1619.43552);
  COST(DOC, B, PO_REORDER, 1, 31.82592);
  COST(DOC, B, PO_INTERLEAVE, 8, 0.8);
  po_layout_model_done(&model);
  po_layout_model_init(&model, &heap, hand->isl);
  matmul_model(32);
  COST(AUTO, B, PO_REORDER, 0, 3.2);
  COST(AUTO, B, PO_REORDER, 1, 3.2);
  for (po_layout_op op = PO_REORDER; op <= PO_SPLITY; op++)
    for (uint32_t a = A; a <= B; a++)
      COST(DOC, a, op, 8, 0);
}

static const po_layout_candidate *
chosen(uint32_t round) {
  const po_layout_round *r = &found.rounds.data[round];
  return r->chosen < r->candidates.len ? &r->candidates.data[r->chosen] : NULL;
}

static void
search(po_layout_cost cost, int64_t n, uint32_t n_widths) {
  static const int64_t widths[] = {8, 4, 16, 32};
  matmul_model(n);
  po_layout_find(&model, cost, widths, n_widths, &found);
}

Test(datalayout, doc_chooses_panels) {
  search(DOC, 1024, 1);
  cr_assert_eq(found.rounds.len, 2);
  cr_assert_eq(chosen(0)->array, B);
  cr_assert_eq(chosen(0)->step.op, PO_INTERLEAVE);
  cr_assert_null(chosen(1));
  cr_assert(fabs(found.best - 0.8) < 1e-9);
}

Test(datalayout, the_width_is_chosen) {
  search(DOC, 1024, 4);
  cr_assert_eq(chosen(0)->step.op, PO_INTERLEAVE);
  cr_assert_eq(chosen(0)->step.q, 4);
  cr_assert(fabs(found.best - 0.4) < 1e-9);
}

Test(datalayout, autokernel_chooses_the_transpose) {
  search(AUTO, 1024, 1);
  cr_assert_eq(found.rounds.len, 2);
  cr_assert_eq(chosen(0)->array, B);
  cr_assert_eq(chosen(0)->step.op, PO_REORDER);
  cr_assert_null(chosen(1));
}

Test(datalayout, nothing_for_what_fits) {
  for (po_layout_cost c = DOC; c <= AUTO; c++) {
    search(c, 32, 1);
    cr_assert_eq(found.rounds.len, 1);
    cr_assert_null(chosen(0));
    po_layout_search_done(&model, &found);
    po_layout_model_done(&model);
    po_layout_model_init(&model, &heap, hand->isl);
  }
}

static po_layout
layout_of(const int64_t *dim, uint32_t rank, const po_layout_step *s,
          uint32_t n) {
  uint32_t k = po_layout_add_array(&model, "T", rank, dim, 4);
  po_layout l = po_layout_plain(&model, &model.arrays.data[k]);
  for (uint32_t j = 0; j < n; j++)
    cr_assert(po_layout_apply(&model, &l, s[j], &l));
  return l;
}

/* There and back again, each element in a place of its own, inside. */
static void
check_round_trip(const po_layout_array *a, const po_layout *l) {
  isl_map *map = isl_map_from_multi_aff(isl_multi_aff_copy(l->map));
  map = isl_map_intersect_domain(map, po_box(model.isl, a->dim, a->rank));
  isl_set *places = isl_map_range(isl_map_copy(map));
  isl_set *room = po_box(model.isl, l->dim, l->rank);
  cr_assert(isl_set_is_subset(places, room) == isl_bool_true);
  isl_set_free(places);
  isl_set_free(room);
  map = isl_map_apply_range(
      map, isl_map_from_multi_aff(isl_multi_aff_copy(l->back)));
  isl_map *same = isl_set_identity(po_box(model.isl, a->dim, a->rank));
  cr_assert(isl_map_is_equal(map, same) == isl_bool_true);
  isl_map_free(map);
  isl_map_free(same);
  isl_map *address = address_of_layout(&model, a, l);
  cr_assert(isl_map_is_injective(address) == isl_bool_true);
  isl_map_free(address);
}

Test(datalayout, elements_come_back) {
  static const int64_t shapes[][3] = {{3, 5}, {9, 7}, {5, 3}, {16, 24}};
  static const po_layout_step s[] = {{PO_INTERLEAVE, 8}, {PO_SPLITY, 4},
                                     {PO_REORDER, 1},    {PO_INTERLEAVE, 4},
                                     {PO_INTERLEAVE, 4}, {PO_SPLITY, 2}};
  for (uint32_t k = 0; k < 4; k++)
    for (uint32_t from = 0; from < 6; from++)
      for (uint32_t n = 1; from + n <= 6 && n <= 4; n++) {
        po_layout l = layout_of(shapes[k], 2, s + from, n);
        check_round_trip(&bs_last(&model.arrays), &l);
      }
}

Test(datalayout, shapes_are_padded) {
  po_layout l = layout_of((int64_t[]){9, 7}, 2,
                          (po_layout_step[]){{PO_INTERLEAVE, 4}}, 1);
  cr_assert_eq(l.rank, 3);
  cr_assert(l.dim[0] == 2 && l.dim[1] == 9 && l.dim[2] == 4);
  l = layout_of((int64_t[]){9, 7}, 2, (po_layout_step[]){{PO_SPLITY, 4}}, 1);
  cr_assert(l.dim[0] == 3 && l.dim[1] == 4 && l.dim[2] == 7);
  l = layout_of((int64_t[]){9, 7}, 2, (po_layout_step[]){{PO_REORDER, 1}}, 1);
  cr_assert(l.rank == 2 && l.dim[0] == 7 && l.dim[1] == 9);
}

/* Every element has the address that it had. */
static bool
is_in_place(const po_layout_array *a, const po_layout *l) {
  po_layout plain = po_layout_plain(&model, a);
  isl_map *before = address_of_layout(&model, a, &plain);
  isl_map *after = address_of_layout(&model, a, l);
  bool equal = isl_map_is_equal(before, after) == isl_bool_true;
  isl_map_free(before);
  isl_map_free(after);
  return equal;
}

Test(datalayout, splity_alone_moves_nothing) {
  static const int64_t shapes[][3] = {{1, 16, 24}, {4, 16, 7}, {4, 9, 7}};
  for (uint32_t k = 0; k < 3; k++) {
    po_layout l =
        layout_of(shapes[k], 3, (po_layout_step[]){{PO_SPLITY, 8}}, 1);
    const po_layout_array *a = &bs_last(&model.arrays);
    cr_assert_eq(is_in_place(a, &l), k < 2);
    po_layout plain = po_layout_plain(&model, a);
    cr_assert(po_layout_same_order(&model, a, &l, &plain));
    l = layout_of(shapes[k], 3, (po_layout_step[]){{PO_INTERLEAVE, 4}}, 1);
    a = &bs_last(&model.arrays);
    cr_assert_not(po_layout_same_order(&model, a, &l, &plain));
    l = layout_of(shapes[k], 3,
                  (po_layout_step[]){{PO_SPLITY, 8}, {PO_REORDER, 1}}, 2);
    a = &bs_last(&model.arrays);
    cr_assert_not(po_layout_same_order(&model, a, &l, &plain));
  }
}

Test(datalayout, the_text_is_the_map) {
  static const po_layout_step s[] = {
      {PO_INTERLEAVE, 8}, {PO_REORDER, 1}, {PO_SPLITY, 4}, {PO_INTERLEAVE, 2}};
  for (uint32_t n = 1; n <= 4; n++) {
    po_layout l = layout_of((int64_t[]){20, 30}, 2, s, n);
    bs_text text;
    bs_text_init(&text, &heap);
    bs_put(&text, "{ ");
    po_layout_put_map(&model, &bs_last(&model.arrays), &l, &text);
    bs_put(&text, " }");
    isl_map *read = isl_map_read_from_str(model.isl, bs_text_str(&text));
    isl_map *map = isl_map_from_multi_aff(isl_multi_aff_copy(l.map));
    cr_assert(isl_map_is_equal(read, map) == isl_bool_true, "%s",
              bs_text_str(&text));
    isl_map_free(read);
    isl_map_free(map);
  }
}

/* A search that chose these steps for every array. */
static void
force(const po_layout_step *s, uint32_t n) {
  cr_assert(po_layout_model_of(hand, &model));
  po_layout_find(&model, DOC, NULL, 0, &found);
  for (uint32_t k = 0; k < model.arrays.len; k++)
    for (uint32_t j = 0; j < n; j++)
      cr_assert(
          po_layout_apply(&model, &found.layouts[k], s[j], &found.layouts[k]));
}

static void
check_script(const po_layout_step *s, uint32_t n) {
  bs_text text;
  bs_text_init(&text, &heap);
  force(s, n);
  po_layout_put_trace(&model, &found, &text);
  po_layout_put_script(&model, hand, &found, &text);
  cr_assert(strstr(bs_text_str(&text), "\npack "));
  KEPT(bs_text_str(&text));
  for (uint32_t k = 0; k < hand->stmts.len; k++)
    if (hand->arrays.data[hand->stmts.data[k].array].role == PO_OUTPUT)
      for (uint32_t j = 0; j < model.arrays.len; j++)
        cr_assert_not(
            po_stmt_reads(&hand->stmts.data[k], model.arrays.data[j].program));
}

#define EVERY_LAYOUT(name, program)                                            \
  static void program_##name(void) program Test(datalayout, name) {            \
    static const po_layout_step s[] = {{PO_INTERLEAVE, 2}, {PO_REORDER, 1},    \
                                       {PO_SPLITY, 4},     {PO_REORDER, 1},    \
                                       {PO_INTERLEAVE, 8}, {PO_SPLITY, 2}};    \
    for (uint32_t from = 0; from < 6; from++)                                  \
      for (uint32_t n = 1; from + n <= 6 && n <= 3; n++) {                     \
        program_##name();                                                      \
        check_script(s + from, n);                                             \
        po_layout_search_done(&model, &found);                                 \
        po_layout_model_done(&model);                                          \
        po_free(hand);                                                         \
        hand = po_new_program(&ctx, NULL, NULL, NULL);                         \
        po_layout_model_init(&model, &heap, hand->isl);                        \
      }                                                                        \
  }

EVERY_LAYOUT(sums_of_products, {
  array("A", PO_INPUT, GS_I32, 2, 9, 7);
  array("B", PO_INPUT, GS_I32, 2, 7, 5);
  array("C", PO_OUTPUT, GS_I32, 2, 9, 5);
  ASSIGN("{ I[i,j] : 0 <= i < 9 and 0 <= j < 5 }", "{ I[i,j] -> C[i,j] }",
         "i j", .literal = 0);
  UPDATE(GS_C_ADD, "{ U[i,j,k] : 0 <= i < 9 and 0 <= j < 5 and 0 <= k < 7 }",
         "{ U[i,j,k] -> C[i,j] }", "i j k", .op = GS_C_MUL,
         .reads = {"{ U[i,j,k] -> A[i,k] }", "{ U[i,j,k] -> B[k,j] }"});
})

EVERY_LAYOUT(bare_copies, {
  array("T", PO_INPUT, GS_I32, 2, 3, 5);
  array("R", PO_OUTPUT, GS_I32, 2, 5, 3);
  ASSIGN("{ S[i,j] : 0 <= i < 5 and 0 <= j < 3 }", "{ S[i,j] -> R[i,j] }",
         "i j", .reads = {"{ S[i,j] -> T[j,i] }"});
})

EVERY_LAYOUT(reads_through_remainders, {
  array("T", PO_INPUT, GS_I32, 2, 9, 7);
  array("R", PO_OUTPUT, GS_I32, 2, 9, 14);
  array("Q", PO_OUTPUT, GS_I32, 2, 9, 7);
  ASSIGN("{ S[i,j] : 0 <= i < 9 and 0 <= j < 14 }", "{ S[i,j] -> R[i,j] }",
         "i j", .op = GS_C_ADD,
         .reads = {"{ S[i,j] -> T[(i) mod 3, (j) mod 7] }",
                   "{ S[i,j] -> T[8 - i, floor(j / 2)] }"});
  ASSIGN("{ P[i,j] : 0 <= i < 9 and 0 <= j < 7 }", "{ P[i,j] -> Q[i,j] }",
         "i_1 j_1", .reads = {"{ P[i,j] -> T[i,j] }"});
})

/* The same costs from loops as from a model made by hand. */
Test(datalayout, a_program_is_priced) {
  array("A", PO_INPUT, GS_F32, 2, 1024, 1024);
  array("B", PO_INPUT, GS_F32, 2, 1024, 1024);
  array("C", PO_OUTPUT, GS_F32, 2, 1024, 1024);
  UPDATE(GS_C_ADD,
         "{ U[i,j,k] : 0 <= i < 1024 and 0 <= j < 1024 and 0 <= k < 1024 }",
         "{ U[i,j,k] -> C[i,j] }", "i j k", .op = GS_C_MUL,
         .reads = {"{ U[i,j,k] -> A[i,k] }", "{ U[i,j,k] -> B[k,j] }"});
  cr_assert(po_layout_model_of(hand, &model));
  COST(DOC, A, PO_REORDER, 0, 424230.42048);
  COST(AUTO, A, PO_REORDER, 1, 424849.408);
  COST(DOC, B, PO_INTERLEAVE, 8, 0.8);
  COST(AUTO, B, PO_REORDER, 1, 516.58752);
}

/* Loops on a copy would have to be cheaper than the kernel that packs. */
Test(datalayout, operands_of_a_kernel_stay) {
  array("A", PO_INPUT, GS_F32, 2, 1024, 1024);
  array("B", PO_INPUT, GS_F32, 2, 1024, 1024);
  array("C", PO_OUTPUT, GS_F32, 2, 1024, 1024);
  UPDATE(GS_C_ADD,
         "{ U[i,j,k] : 0 <= i < 1024 and 0 <= j < 1024 and 0 <= k < 1024 }",
         "{ U[i,j,k] -> C[i,j] }", "i j k", .op = GS_C_MUL,
         .reads = {"{ U[i,j,k] -> A[i,k] }", "{ U[i,j,k] -> B[k,j] }"});
  static const int64_t widths[] = {8};
  po_contraction kernel = {.init = 0, .update = 0, .store = PO_NO_NODE};
  bs_push(&heap, &hand->contractions, &kernel);
  cr_assert(po_layout_model_of(hand, &model));
  bs_clear(&hand->contractions);
  cr_assert(model.definitions.data[0].packs);
  for (po_layout_cost c = DOC; c <= AUTO; c++) {
    po_layout_find(&model, c, widths, 1, &found);
    cr_assert_eq(found.start, 0);
    cr_assert_eq(found.rounds.data[0].candidates.len, 0);
    po_layout_search_done(&model, &found);
  }
}

/* Lines of B, or of its copy with those that making it brings in; the loops
 * are y, x, k. */
static void
check_lines(int64_t n, int64_t rows, po_layout_op op, int64_t q, double want) {
  double copy = 0;
  matmul_model(n);
  model.definitions.data[0].extent[1] = rows;
  po_layout l[2] = {po_layout_plain(&model, &model.arrays.data[A]),
                    po_layout_plain(&model, &model.arrays.data[B])};
  if (q) {
    cr_assert(po_layout_apply(&model, &l[B], (po_layout_step){op, q}, &l[B]));
    copy = po_lines_of_copy(&model, &model.arrays.data[B], &l[B]);
  }
  double got = po_lines_of_definition(&model, &model.definitions.data[0], l, B);
  cr_assert(got + copy == want, "n = %d: %.0f, not %.0f", (int)n, got + copy,
            want);
  po_layout_model_done(&model);
  po_layout_model_init(&model, &heap, hand->isl);
}

Test(datalayout, lines) {
  check_lines(32, 32, PO_REORDER, 0, 64);
  check_lines(128, 128, PO_REORDER, 0, 2097152);
  check_lines(256, 256, PO_REORDER, 0, 16777216);
  check_lines(128, 128, PO_REORDER, 1, 131072 + 1024 + 16384);
  check_lines(256, 256, PO_REORDER, 1, 1048576 + 4096 + 65536);
  check_lines(128, 128, PO_INTERLEAVE, 8, 131072 + 1024 + 2048);
  check_lines(256, 256, PO_INTERLEAVE, 8, 1048576 + 4096 + 8192);
  check_lines(1024, 4, PO_INTERLEAVE, 8, 2097152 + 65536 + 131072);
  check_lines(1024, 4, PO_REORDER, 1, 262144 + 65536 + 1048576);
}

/* Panels of 8 do not fit beside a row of the other operand, narrower ones do;
 * what fits is not copied. */
Test(datalayout, lines_choose) {
  search(PO_COST_LINES, 1024, 1);
  cr_assert_eq(chosen(0)->array, B);
  cr_assert_eq(chosen(0)->step.op, PO_REORDER);
  po_layout_search_done(&model, &found);
  po_layout_model_done(&model);
  po_layout_model_init(&model, &heap, hand->isl);
  search(PO_COST_LINES, 32, 4);
  cr_assert_null(chosen(0));
}

/* What a search remembers of definitions is what they cost; it ends at its
 * bound with the best so far. */
Test(datalayout, searches_remember) {
  search(PO_COST_LINES, 256, 1);
  cr_assert_eq(found.best,
               po_layout_price(&model, PO_COST_LINES, found.layouts));
  cr_assert(!found.stopped && model.priced);
  uint32_t priced = model.priced;
  po_layout_search_done(&model, &found);
  po_layout_model_done(&model);
  po_layout_model_init(&model, &heap, hand->isl);
  model.most = 2;
  search(PO_COST_LINES, 256, 1);
  cr_assert(found.stopped);
  cr_assert_leq(model.priced, priced);
}

/* A constant and an array of the program's own get their layouts without a
 * copy, by commands that the script has; an input by a copy. */
Test(datalayout, layouts_are_given) {
  static const int64_t widths[] = {8};
  static const po_role roles[] = {PO_CONSTANT, PO_WORKSPACE, PO_INPUT};
  static const char *const commands[] = {"transform_layout B ",
                                         "transform_layout B ", "pack U B "};
  float *numbers = bs_arena_calloc(&arena, 256 * 256, sizeof *numbers);
  for (int k = 0; k < 256 * 256; k++)
    numbers[k] = (float)k;
  for (int k = 0; k < 3; k++) {
    po_program *old = hand;
    hand = po_new_program(&ctx, NULL, NULL, old);
    po_free(old);
    array("A", PO_INPUT, GS_F32, 2, 256, 256);
    uint32_t b = array("B", roles[k], GS_F32, 2, 256, 256);
    array("C", PO_OUTPUT, GS_F32, 2, 256, 256);
    hand->arrays.data[b].data = k ? NULL : numbers;
    if (k == 1)
      ASSIGN("{ SB[i,j] : 0 <= i < 256 and 0 <= j < 256 }",
             "{ SB[i,j] -> B[i,j] }", "x y",
             .reads = {"{ SB[i,j] -> A[i,j] }"});
    UPDATE(GS_C_MAX,
           "{ U[i,j,k] : 0 <= i < 256 and 0 <= j < 256 and 0 <= k < 256 }",
           "{ U[i,j,k] -> C[i,j] }", "i j k", .op = GS_C_MUL,
           .reads = {"{ U[i,j,k] -> A[i,k] }", "{ U[i,j,k] -> B[k,j] }"});
    cr_assert(po_layout_model_of(hand, &model));
    po_layout_leave_some(&model);
    po_layout_find(&model, PO_COST_LINES, widths, 1, &found);
    cr_assert_eq(po_layout_give(&hand, &model, &found), 1);
    cr_assert(strstr(hand->script.data[0], commands[k]), "%s",
              hand->script.data[0]);
    if (!k) {
      const po_array *now = &hand->arrays.data[b];
      int64_t at = now->rank == 3 ? 3 * 8 + 5 : 5 * 256 + 3;
      cr_assert_eq(((const float *)now->data)[at], 3 * 256 + 5);
    }
    po_layout_search_done(&model, &found);
    po_layout_model_done(&model);
    po_layout_model_init(&model, &heap, hand->isl);
  }
}

/* Columns of B that are read one after the other lie next to each other once
 * their loop is innermost: no copy is worth it any more. */
Test(datalayout, orders_and_layouts_together) {
  static const int64_t widths[] = {4, 8};
  array("A", PO_INPUT, GS_F32, 2, 128, 128);
  array("B", PO_INPUT, GS_F32, 2, 128, 128);
  array("C", PO_OUTPUT, GS_F32, 2, 128, 128);
  ASSIGN("{ I[i,j] : 0 <= i < 128 and 0 <= j < 128 }", "{ I[i,j] -> C[i,j] }",
         "i j", .literal = 0);
  UPDATE(GS_C_MAX,
         "{ U[i,j,k] : 0 <= i < 128 and 0 <= j < 128 and 0 <= k < 128 }",
         "{ U[i,j,k] -> C[i,j] }", "i j k", .op = GS_C_MUL,
         .reads = {"{ U[i,j,k] -> A[i,k] }", "{ U[i,j,k] -> B[k,j] }"});
  bs_text tried;
  bs_text_init(&tried, &heap);
  po_layout_order_loops(&hand, PO_COST_LINES, widths, 2, &tried);
  cr_assert_eq(hand->script.len, 1);
  cr_assert_str_eq(hand->script.data[0], "reorder [k, j]");
  cr_assert(strstr(bs_text_str(&tried), "# order U [j, k, i]: "));
  cr_assert(po_layout_model_of(hand, &model));
  po_layout_find(&model, PO_COST_LINES, widths, 2, &found);
  cr_assert_null(chosen(0));
  bs_text_done(&tried);
}

/* The domain of a statement does not hide that its reads are affine. */
Test(datalayout, lines_of_a_program) {
  array("A", PO_INPUT, GS_F32, 2, 128, 128);
  array("B", PO_INPUT, GS_F32, 2, 128, 128);
  array("C", PO_OUTPUT, GS_F32, 2, 128, 128);
  UPDATE(GS_C_ADD,
         "{ U[i,j,k] : 0 <= i < 128 and 0 <= j < 128 and 0 <= k < 128 }",
         "{ U[i,j,k] -> C[i,j] }", "i j k", .op = GS_C_MUL,
         .reads = {"{ U[i,j,k] -> A[i,k] }", "{ U[i,j,k] -> B[k,j] }"});
  cr_assert(po_layout_model_of(hand, &model));
  COST(PO_COST_LINES, B, PO_REORDER, 0,
       2097152 + 128 * 128 + 128 * 7 + 128 * 128);
  COST(PO_COST_LINES, B, PO_REORDER, 1, 132096 + 2 * 128 * 8 + 128 * 128);
}
