/* SPDX-License-Identifier: MIT */
/* test_lower.c - which statements and arrays come out of lowering. */
#include "fixture.h"
#include "poly/loops/access.h"
#include "poly/loops/operand.h"
#include "poly/lower/lower_view.h"

TestSuite(lower, .init = fixture_start, .fini = fixture_stop);

Test(lower, a_reduction_is_start_update_and_finish) {
  po_program *p = lower(MATMUL "(output c)");
  cr_assert_eq(count_groups(p), 1);
  cr_assert_eq(p->stmts.len, 3);
  cr_assert_eq(p->stmts.data[1].kind, PO_UPDATE);
  cr_assert_eq(p->stmts.data[1].op, GS_C_ADD);
  cr_assert_eq(p->stmts.data[1].n_iters, 3);
  cr_assert_eq(p->stmts.data[1].n_outer, 2);
  cr_assert_eq(count_arrays(p, PO_LOCAL), 1);
  cr_assert_eq(p->workspace_bytes, 0);
}

Test(lower, a_result_goes_straight_into_its_output) {
  po_program *p =
      lower(MATMUL "(let d (reshape (transpose c (list 1 0)) (shape 2 2 "
                   "3 2) (shape)))(output d)");
  cr_assert_eq(count_groups(p), 1, "%s", loops_text(p));
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 0);
}

Test(lower, parts_of_a_concat_are_computed_in_place) {
  po_program *p =
      lower(MATMUL "(let d (concat c (compute neg b) (slice a 1 0 4) 0))"
                   "(output d)");
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 0, "%s", loops_text(p));
  cr_assert_eq(count_groups(p), 3); /* the last one copies the slice */
}

Test(lower, a_result_seen_twice_is_copied_once) {
  po_program *p = lower("(tensor a (shape 4) f32)(let x (compute neg a))"
                        "(let y (concat x x 0))(output y)");
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 1);
  cr_assert_eq(count_groups(p), 3);
}

Test(lower, two_outputs_of_one_term_have_an_array_each) {
  po_program *p = lower("(tensor a (shape 4) f32)(let x (compute neg a))"
                        "(let y x)(output x)(output y)");
  cr_assert_eq(count_arrays(p, PO_OUTPUT), 2);
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 0);
  cr_assert_eq(count_groups(p), 2);
}

Test(lower, a_result_that_is_only_partly_shown_is_not_an_output) {
  po_program *p = lower("(tensor a (shape 4) f32)"
                        "(let x (slice (compute neg a) 0 1 3))(output x)");
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 1);
}

Test(lower, readers_use_the_home_in_the_output) {
  po_program *p = lower("(tensor a (shape 4 3) f32)(let x (compute neg a))"
                        "(let y (transpose x (list 1 0)))"
                        "(let z (compute relu x))(output y)(output z)");
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 0, "%s", loops_text(p));
  cr_assert_eq(count_groups(p), 2);
  const po_expr *read = &p->stmts.data[1].exprs[0];
  cr_assert_str_eq(p->arrays.data[read->array].name, "y");
}

Test(lower, a_materialize_is_a_buffer_in_its_own_order) {
  po_program *p = lower("(tensor a (shape 4 3) f32)"
                        "(let y (transpose (materialize (transpose a (list 1 "
                        "0))) (list 1 0)))(output y)");
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 1, "%s", loops_text(p));
  p = lower("(tensor a (shape 4 3) f32)"
            "(let y (reshape (materialize (transpose a (list 1 0))) (shape "
            "12) (shape)))(output y)");
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 0, "%s", loops_text(p));
}

Test(lower, a_result_is_computed_into_the_materialize_of_it) {
  po_program *p = lower(MATMUL "(let m (materialize (transpose c (list 1 0))))"
                               "(let d (compute add (pair m m)))(output d)");
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 1, "%s", loops_text(p));
  cr_assert_eq(count_groups(p), 2);
}

Test(lower, padding_costs_no_instance_of_a_sum) {
  po_program *p = lower("(tensor a (shape 4) f32)"
                        "(let y (compute reduceSum (windows (access (pad a "
                        "zero 0 1 1) 0) (shape 3) (stride 1))))(output y)");
  cr_assert_eq(count_stmts(p, PO_UPDATE), 1, "%s", loops_text(p));
}

Test(lower, strict_fp_keeps_products_with_zero) {
  po_program *p =
      lower_with(gs_target_default(&ctx),
                 "(tensor a (shape 4) f32)(tensor w (shape 3) f32)"
                 "(let y (compute dotProd (cartProd (windows (access (pad a "
                 "zero 0 1 1) 0) (shape 3) (stride 1)) (access w 0))))"
                 "(output y)",
                 (po_options){.strict_fp = true});
  cr_assert_eq(count_stmts(p, PO_UPDATE), 2, "%s", loops_text(p));
}

Test(lower, dimensions_of_one_element_are_no_loops) {
  po_program *p = lower("(tensor a (shape 1 6 1 5) f32)"
                        "(let x (compute neg (access a 4)))"
                        "(let y (compute reduceSum (access x 2)))"
                        "(output x)(output y)");
  cr_assert_eq(p->stmts.len, 4, "%s", loops_text(p));
  cr_assert_eq(p->stmts.data[0].n_iters, 2, "%s", loops_text(p));
  cr_assert_eq(p->stmts.data[2].n_outer, 1, "%s", loops_text(p));
  cr_assert_eq(p->stmts.data[2].n_iters, 2, "%s", loops_text(p));
  p = lower("(tensor a (shape 1 1) f32)(let x (compute neg a))(output x)");
  cr_assert_eq(p->stmts.data[0].n_iters, 1, "%s", loops_text(p));
}

Test(lower, a_border_is_a_statement_of_its_own) {
  po_program *p = lower("(tensor a (shape 4) f32)"
                        "(let y (compute relu (pad a zero 0 1 1)))(output y)");
  cr_assert_eq(p->stmts.len, 2, "%s", loops_text(p));
}

Test(lower, too_many_pieces_are_packed_below_the_windows) {
  const char *text = "(tensor a (shape 8 8) f32)"
                     "(let y (compute reduceMax (windows (access (pad (pad a "
                     "edge 0 1 1) edge 1 1 1) 0) (shape 3 3) (stride 1 1))))"
                     "(output y)";
  po_program *p = lower(text);
  cr_assert_eq(count_stmts(p, PO_UPDATE), 9, "%s", loops_text(p));
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 0);
  p = lower_with(gs_target_default(&ctx), text, (po_options){.max_pieces = 4});
  cr_assert_eq(count_stmts(p, PO_UPDATE), 1, "%s", loops_text(p));
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 1);
  const po_array *packed = &bs_last(&p->arrays);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].role == PO_WORKSPACE)
      packed = &p->arrays.data[k];
  cr_assert_eq(gs_prod(packed->dim, packed->rank), 100);
}

Test(lower, blocks_put_together_again_are_one_piece) {
  po_program *p = lower("(tensor a (shape 8) f32)"
                        "(let y (compute neg (concat (slice a 0 0 4) (slice a "
                        "0 4 8) 0)))(output y)");
  cr_assert_eq(p->stmts.len, 1, "%s", loops_text(p));
}

Test(lower, nothing_is_computed_that_no_output_shows) {
  po_program *p = lower("(tensor a (shape 8) f32)(let z (compute exp a))"
                        "(let y (slice (concat (compute neg a) z 0) 0 0 8))"
                        "(output y)");
  cr_assert_eq(p->stmts.len, 1, "%s", loops_text(p));
}

Test(lower, an_outer_concat_makes_separate_groups) {
  po_program *p = lower("(tensor a (shape 3 5) f32)(tensor b (shape 5 4) f32)"
                        "(tensor d (shape 2 5) f32)"
                        "(let c (compute dotProd (cartProd (access (concat a "
                        "d 0) 1) (access (transpose b (list 1 0)) 1))))"
                        "(output c)");
  cr_assert_eq(count_groups(p), 2, "%s", loops_text(p));
}

Test(lower, a_long_tuple_is_folded_in_a_loop) {
  po_program *p = lower("(tensor a (shape 4 50) f32)"
                        "(let y (compute max (access a 1)))(output y)");
  cr_assert_eq(count_groups(p), 1);
  cr_assert_eq(count_stmts(p, PO_UPDATE), 1);
  p = lower("(tensor a (shape 4 20 3) i8)"
            "(let y (compute dotProd (access a 1)))(output y)");
  cr_assert_eq(count_groups(p), 2, "%s", loops_text(p));
}

Test(lower, workspace_of_the_dead_is_used_again) {
  po_program *p =
      lower("(tensor a (shape 64) f32)"
            "(let y (compute neg (compute exp (compute abs (compute "
            "tanh (compute erf a))))))(output y)");
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 4);
  cr_assert_eq(p->workspace_bytes, 2 * 64 * 4, "%s", loops_text(p));
  cr_assert_eq(p->workspace_least, 2 * 64 * 4);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].role == PO_WORKSPACE)
      cr_assert_eq(p->arrays.data[k].offset % 64, 0);
}

Test(lower, live_arrays_do_not_overlap) {
  po_program *p =
      lower("(tensor a (shape 7) f32)(let p (compute exp a))"
            "(let q (compute tanh a))(let r (compute erf a))"
            "(let y (compute add (concat (pair p q) (pair r (compute mul (pair "
            "p q))) 1)))(output y)");
  for (uint32_t i = 0; i < p->arrays.len; i++)
    for (uint32_t j = 0; j < i; j++) {
      const po_array *x = &p->arrays.data[i], *y = &p->arrays.data[j];
      if (x->role == PO_WORKSPACE && y->role == PO_WORKSPACE)
        cr_assert_neq(x->offset, y->offset);
    }
}

Test(lower, parallel_loops_are_marked_by_dependences) {
  po_program *p = lower("(tensor a (shape 64 64) f32)(tensor b (shape 64 64) "
                        "f32)(let c (compute dotProd (cartProd (access a 1) "
                        "(access b 1))))(output c)");
  const po_nest_node *nodes = p->nest.nodes.data;
  uint32_t outer = nodes[0].first, inner = nodes[outer].first;
  cr_assert_eq(nodes[outer].mark, PO_PARALLEL); /* long enough alone */
  cr_assert_eq(nodes[inner].mark, PO_SERIAL);
  bs_text out;
  bs_text_init(&out, &heap);
  po_print_schedule_tree(p, &out);
  cr_assert(strstr(bs_text_str(&out), "coincident: [ 1 ]"), "%s",
            bs_text_str(&out));
  cr_assert(strstr(bs_text_str(&out), "mark: \"i0\""));
}

Test(lower, the_whole_schedule_is_the_sequence_of_the_groups) {
  po_program *p = lower("(tensor a (shape 4) f32)(let x (compute exp a))"
                        "(let y (compute neg x))(let z (compute abs x))"
                        "(output y)(output z)");
  isl_schedule *schedule = po_nest_schedule(p, 0);
  cr_assert(schedule);
  isl_union_set *domain = isl_schedule_get_domain(schedule);
  isl_schedule_free(schedule);
  cr_assert_eq(isl_union_set_n_set(domain), 3);
  isl_union_set_free(domain);
}

Test(lower, loops_print_as_text) {
  po_program *p = lower(MATMUL "(output c)");
  const char *text = loops_text(p);
  cr_assert(strstr(text, "input a: f32[6, 5]"), "%s", text);
  cr_assert(strstr(text, "output c: f32[6, 4]"), "%s", text);
  cr_assert(strstr(text, "acc0[i0, i1] += a[i0, i2] * b[i2, i1]"), "%s", text);
}

Test(lower, names_are_identifiers_and_distinct) {
  po_program *p = lower("(tensor int (shape 2) f32)(tensor x-y (shape 2) f32)"
                        "(tensor x.y (shape 2) f32)(tensor expf (shape 2) f32)"
                        "(tensor t0 (shape 2) f32)(tensor M_PI (shape 2) f32)"
                        "(tensor _z (shape 2) f32)"
                        "(let class (compute add (pair int (compute mul (pair "
                        "x-y (compute add (pair x.y (compute mul (pair expf "
                        "(compute sub (pair t0 (compute div (pair M_PI "
                        "_z)))))))))))))(output class)");
  for (uint32_t i = 0; i < p->arrays.len; i++) {
    const char *name = p->arrays.data[i].name;
    cr_assert_str_neq(name, "int");
    cr_assert_str_neq(name, "class");
    cr_assert_str_neq(name, "expf");
    cr_assert_str_neq(name, "M_PI");
    cr_assert(name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                                "UVWXYZ0123456789_")] == '\0');
    for (uint32_t j = 0; j < i; j++)
      cr_assert_str_neq(name, p->arrays.data[j].name);
  }
}

/* ---- calls ---- */

#define STRIDED                                                                \
  "(instr mm (params) (operands (x ((b) (r)) f32) (y ((r c) ()) f32))"         \
  " (result ((b c) ()) f32)"                                                   \
  " (semantics (compute dotProd (cartProd x (access (transpose y (list 1 0)) " \
  "1)))) (cost (cycles 1)) (emit \"mm({result}, {result.stride.0}, "           \
  "{result.stride.1}, {x}, {x.stride.0}, {x.stride.1}, {y}, {y.stride.0}, "    \
  "{y.stride.1});\"))"
#define DENSE                                                                  \
  "(instr dense (params) (operands (x ((b) (r)) f32) (y ((r c) ()) f32))"      \
  " (result ((b c) ()) f32)"                                                   \
  " (semantics (compute dotProd (cartProd x (access (transpose y (list 1 0)) " \
  "1)))) (cost (cycles 1)) (emit \"dense({result}, {x}, {y}, {x.dim.0});\"))"
#define TILED                                                                  \
  "(instr tiled (params) (operands (x ((b) (r)) f32) (y ((r c) ()) f32))"      \
  " (result ((b c) ()) f32)"                                                   \
  " (semantics (compute dotProd (cartProd x (access (transpose y (list 1 0)) " \
  "1)))) (layout y (transpose y (list 1 0))) (cost (cycles 1))"                \
  " (emit \"tiled({result}, {x}, {y});\"))"

static const char call_program[] =
    "(tensor a (shape 8 6) f32)(tensor b (shape 6 8) f32)"
    "(let c (concat"
    "  (%s (access (slice a 0 0 4) 1) (slice b 1 2 6))"
    "  (%s (access (slice a 0 4 8) 1) (slice b 1 2 6)) 1))(output c)";

static const po_stmt *
first_call(const po_program *p) {
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].kind == PO_CALL)
      return &p->stmts.data[k];
  cr_assert_fail("there is no call");
  return NULL;
}

static po_program *
lower_call(const char *declaration, const char *name) {
  const gs_target *target = target_of(declaration);
  char text[600];
  snprintf(text, sizeof text, call_program, name, name);
  return lower_with(target, text, (po_options){0});
}

Test(lower, strided_operands_are_passed_in_place) {
  po_program *p = lower_call("(target t)" STRIDED, "mm");
  cr_assert_eq(p->stmts.len, 2, "%s", loops_text(p));
  const po_stmt *call = first_call(p);
  cr_assert_eq(call->operands[1].offset, 2);
  cr_assert_eq(call->operands[1].stride[0], 8);
  cr_assert_eq(call->operands[2].stride[0], 8); /* straight into c */
}

Test(lower, dense_operands_are_packed_where_they_are_not) {
  po_program *p = lower_call("(target t)" DENSE, "dense");
  /* b once for both, and both results copied into the columns of c */
  cr_assert_eq(count_stmts(p, PO_CALL), 2);
  cr_assert_eq(p->stmts.len, 5, "%s", loops_text(p));
  const po_stmt *call = first_call(p);
  cr_assert_eq(p->arrays.data[call->operands[0].array].role, PO_INPUT);
  cr_assert_eq(p->arrays.data[call->operands[1].array].role, PO_WORKSPACE);
}

Test(lower, a_declared_layout_is_packed) {
  po_program *p = lower_call("(target t)" TILED, "tiled");
  const po_stmt *call = first_call(p);
  cr_assert_eq(call->operands[1].dim[0], 4, "%s", loops_text(p));
  cr_assert_eq(call->operands[1].dim[1], 6);
  cr_assert_eq(p->arrays.data[call->operands[1].array].role, PO_WORKSPACE);
}

Test(lower, the_elements_of_an_operand_are_known) {
  po_program *p = lower_call("(target t)" STRIDED, "mm");
  const po_stmt *call = first_call(p);
  isl_set *found = po_operand_elements(p, &call->operands[1]);
  isl_set *wanted = isl_set_read_from_str(
      p->isl, "{ b[i, j] : 0 <= i <= 5 and 2 <= j <= 5 }");
  cr_assert(isl_set_is_equal(found, wanted));
  isl_set_free(found);
  isl_set_free(wanted);
}

Test(lower, a_factor_of_repeats_beside_others_is_one_array) {
  po_program *p =
      lower("(tensor a (shape 8 8) f32)(tensor b (shape 32 32) f32)"
            "(tensor w (shape 16 32) f32)"
            "(let x (concat (repeat (repeat a 0 2) 1 4) (slice b 0 0 16) 0))"
            "(let y (compute dotProd (cartProd (access x 1) (access w 1))))"
            "(output y)");
  uint32_t updates = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    updates += p->stmts.data[k].kind == PO_UPDATE;
  cr_assert_eq(updates, 1, "%s", loops_text(p));
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 1, "%s", loops_text(p));
}

/* Each row is a base of its own, whose address does not move with the index of
 * the row; it is one of the rows of a product all the same. */
Test(lower, rows_put_together_are_one_factor) {
  po_program *p = lower(
      "(tensor a (shape 64) f32)(tensor b (shape 64) f32)"
      "(tensor w (shape 64 64) f32)"
      "(let x (concat (insertAxis (compute neg (access a 1)) 0) (insertAxis "
      "(compute relu (access b 1)) 0) 0))"
      "(let y (compute dotProd (cartProd (access x 1) (access w 1))))"
      "(output y)");
  uint32_t updates = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    updates += p->stmts.data[k].kind == PO_UPDATE;
  cr_assert_eq(updates, 1, "%s", loops_text(p));
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 1, "%s", loops_text(p));
}

/* ---- chains ---- */

static po_program *
chained(const char *text) {
  po_options options = {.chains = true};
  return po_lower(program_over(NULL, text), NULL, &options);
}

#define SUM                                                                    \
  "(tensor a (shape 4 4) f32)(tensor b (shape 4 4) f32)"                       \
  "(let x (compute add (pair a b)))"

Test(lower, a_value_that_one_expression_reads_twice_is_no_array) {
  po_program *p = chained(SUM "(let y (compute mul (pair x (compute sigmoid "
                              "x))))(output y)");
  cr_assert_eq(p->stmts.len, 1, "%s", loops_text(p));
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 0);
}

Test(lower, a_chain_over_a_concat_is_a_statement_for_each_part) {
  po_program *p = chained("(tensor a (shape 4 4) f32)(tensor b (shape 2 4) f32)"
                          "(let y (compute relu (compute neg (compute square "
                          "(concat a b 0)))))(output y)");
  cr_assert_eq(p->stmts.len, 2, "%s", loops_text(p));
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 0, "%s", loops_text(p));
}

/* ---- divisors ---- */

#define ROOTS                                                                  \
  "(tensor a (shape 4 8) f32)(tensor b (shape 4) f32)(tensor c (shape 4) f32)" \
  "(let d (compute sqrt b))"                                                   \
  "(let all (broadcast (access (insertAxis d 1) 2) (shape 4 8)))"              \
  "(let y (compute div (pair a all)))"

static uint32_t
count_ops(const po_program *p, gs_compute op) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    for (uint32_t j = 0; j < p->stmts.data[k].n_exprs; j++) {
      const po_expr *e = &p->stmts.data[k].exprs[j];
      n += (e->kind == PO_UNARY || e->kind == PO_BINARY) && e->op == op;
    }
  return n;
}

/* Quotients, reciprocals and reciprocal roots of a program. */
static void
expect_quotients(const char *text, bool strict, uint32_t quotients,
                 uint32_t reciprocals) {
  po_program *p = lower_with(NULL, text, (po_options){.strict_fp = strict});
  cr_assert_eq(count_ops(p, GS_C_DIV), quotients, "%s", loops_text(p));
  cr_assert_eq(count_ops(p, GS_C_RECIP) + count_ops(p, GS_C_RSQRT), reciprocals,
               "%s", loops_text(p));
}

Test(lower, what_divides_many_by_a_root_multiplies) {
  expect_quotients(ROOTS "(output y)", false, 0, 1);
  expect_quotients(ROOTS "(output y)", true, 1, 0);
  /* the root is asked for itself */
  expect_quotients(ROOTS "(output y)(output d)", false, 1, 0);
  expect_quotients(ROOTS "(let z (compute add (pair d c)))"
                         "(output y)(output z)",
                   false, 1, 0);
  /* it divides one element, or is divided */
  expect_quotients(ROOTS "(let z (compute div (pair c d)))(output z)", false, 1,
                   0);
  expect_quotients(ROOTS "(let z (compute div (pair all a)))(output z)", false,
                   1, 0);
}

Test(lower, softmax_divides_once_a_row) {
  static const char text[] = "(tensor a (shape 4 8) f32)"
                             "(let y (compute softmax (access a 1)))(output y)";
  expect_quotients(text, false, 0, 1);
  expect_quotients(text, true, 1, 0);
}

/* ---- arrays of sums in the order of what reads them ---- */

#define SUMS                                                                   \
  "(tensor a (shape 8 4) f32)(tensor w (shape 16 4) f32)"                      \
  "(tensor b (shape 16 8) f32)"                                                \
  "(let x (compute dotProd (cartProd (access a 1) (access w 1))))"             \
  "(let y (compute add (pair (transpose x (list 1 0)) b)))"

static int64_t
rows_of_sums(const po_program *p) {
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].role == PO_WORKSPACE)
      return p->arrays.data[k].dim[0];
  return 0;
}

Test(lower, sums_lie_as_their_pointwise_reader_walks) {
  po_program *p = chained(SUMS "(output y)");
  cr_assert_eq(rows_of_sums(p), 16, "%s", loops_text(p));
  cr_assert(strstr(loops_text(p), "y[i0_1, i1_1] = t0[i0_1, i1_1] + b"), "%s",
            loops_text(p));
}

Test(lower, sums_that_are_a_part_of_what_is_made_lie_as_its_reader_walks) {
  po_program *p =
      chained("(tensor c (shape 3 8) f32)" SUMS
              "(let z (compute relu (concat c (transpose x (list 1 0)) 0)))"
              "(output z)");
  cr_assert_eq(rows_of_sums(p), 16, "%s", loops_text(p));
}

Test(lower, sums_whose_readers_disagree_lie_as_their_term_says) {
  po_program *p =
      chained(SUMS "(let z (compute relu (access x 2)))(output y)(output z)");
  cr_assert_eq(rows_of_sums(p), 8, "%s", loops_text(p));
}

Test(lower, sums_that_are_a_factor_lie_as_their_term_says) {
  po_program *p =
      chained("(tensor v (shape 8 16) f32)" SUMS
              "(let z (compute dotProd (cartProd (access x 1) (access v 1))))"
              "(output y)(output z)");
  cr_assert_eq(rows_of_sums(p), 8, "%s", loops_text(p));
}

Test(lower, what_a_reduction_reads_once_is_part_of_its_sum) {
  po_program *p = chained(
      SUM
      "(let y (compute reduceSum (access (compute square x) 1)))(output y)");
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 0, "%s", loops_text(p));
}

Test(lower, what_windows_read_often_is_an_array) {
  po_program *p = chained(SUM "(let y (compute reduceMax (windows (access x 0) "
                              "(shape 2 2) (stride 1 1))))(output y)");
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 1, "%s", loops_text(p));
}

Test(lower, what_comes_from_products_is_no_part_of_a_sum) {
  po_program *p = chained(
      "(tensor a (shape 8 4) f32)(tensor b (shape 8 4) f32)"
      "(let x (compute relu (compute dotProd (cartProd (access a 1) (access b "
      "1)))))(let y (compute reduceSum (access x 1)))(output y)");
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 2, "%s", loops_text(p));
}

Test(lower, a_value_that_is_read_at_two_places_is_an_array) {
  po_program *p = chained(SUM "(let y (compute mul (pair x (transpose x (list "
                              "1 0)))))(output y)");
  cr_assert_eq(p->stmts.len, 2, "%s", loops_text(p));
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 1);
}

Test(lower, a_value_that_two_results_read_is_an_array) {
  po_program *p = chained(SUM "(let y (compute neg x))(let z (compute relu x))"
                              "(output y)(output z)");
  cr_assert_eq(p->stmts.len, 3, "%s", loops_text(p));
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 1);
}

Test(lower, a_costly_value_is_computed_once) {
  po_program *p = chained(SUM "(let s (compute sigmoid x))(let y (compute mul "
                              "(pair s (compute relu s))))(output y)");
  cr_assert_eq(p->stmts.len, 2, "%s", loops_text(p));
}

Test(lower, an_expression_of_many_copies_is_cut) {
  char text[2048];
  int n = snprintf(text, sizeof text, "(tensor t0 (shape 4) f32)");
  for (int k = 1; k <= 8; k++)
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "(let t%d (compute mul (pair t%d t%d)))", k, k - 1, k - 1);
  snprintf(text + n, sizeof text - (size_t)n, "(output t8)");
  po_program *p = chained(text);
  cr_assert(p->stmts.len > 1 && p->stmts.len < 8, "%s", loops_text(p));
  for (uint32_t k = 0; k < p->stmts.len; k++)
    cr_assert_leq(p->stmts.data[k].n_exprs, 32);
}

/* ---- limits ---- */

static const char intricate[] =
    "(tensor a (shape 5 6 7) f32)"
    "(let v (reshape (pad (reshape (pad (repeat (reshape (pad a edge 1 1 1) "
    "(shape 40 7) (shape)) 1 3) edge 0 2 3) (shape 27 35) (shape)) edge 1 2 3) "
    "(shape 36 30) (shape)))"
    "(let y (compute relu v))(output y)";

/* Twenty concats, each of the one before with itself: 2^20 parts. */
Test(lower, a_chain_of_doubled_concats_has_copies_on_the_way) {
  char text[4096];
  int n = snprintf(text, sizeof text, "(tensor t0 (shape 2 3) f32)");
  for (int k = 1; k <= 20; k++)
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "(let t%d (concat t%d t%d %d))", k, k - 1, k - 1, k % 2);
  snprintf(text + n, sizeof text - (size_t)n, "(output t20)");
  po_program *p = lower(text);
  cr_assert_not(p->copies_views);
  cr_assert_lt(p->stmts.len, 1000);
  cr_assert(count_arrays(p, PO_WORKSPACE) >= 2, "%s", loops_text(p));
}

Test(lower, too_complex_views_are_copied_instead) {
  po_program *p = lower(intricate);
  cr_assert_not(p->copies_views);
  for (unsigned long n = 1000; n <= 100000000; n *= 4) {
    po_options options = {.max_operations = n};
    p = po_lower(program_over(NULL, intricate), NULL, &options);
    if (!p) {
      cr_assert(has_fault("too-complex"), "%s", faults());
    } else if (p->copies_views) {
      cr_assert(count_arrays(p, PO_WORKSPACE) >= 3, "%s", loops_text(p));
      return;
    }
  }
  cr_assert_fail("the cautious way was never taken");
}

/* ---- sums of narrow elements ---- */

/* Arrays of the type of a sum that are made for it. */
static uint32_t
count_wide(const po_program *p, gs_dtype dtype) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    n += p->arrays.data[k].role == PO_WORKSPACE &&
         p->arrays.data[k].dtype == dtype;
  return n;
}

#define PRODUCT(a, b)                                                          \
  "(compute dotProd (cartProd (access " a " 1) (access " b " 1)))"

Test(lower, elements_that_are_read_often_are_converted_once) {
  po_program *p = lower(
      "(tensor a (shape 128 128) i8)"
      "(let c " PRODUCT(
          "a", "a") ")"
                    "(let d " PRODUCT(
                        "a",
                        "(transpose a (list 1 0))") ")"
                                                    "(output c)(output d)");
  cr_assert_eq(count_wide(p, GS_I32), 1, "%s", loops_text(p));
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].kind == PO_UPDATE)
      cr_assert(!po_stmt_reads(&p->stmts.data[k], 0));
  p = lower("(tensor a (shape 90 200) bf16)(tensor b (shape 70 200) bf16)"
            "(let c " PRODUCT("a", "b") ")(output c)");
  cr_assert_eq(count_wide(p, GS_F32), 2);
  /* A result, which is there as a whole. */
  p = lower("(tensor a (shape 128 128) u8)(let b (compute relu a))"
            "(let c " PRODUCT("b", "b") ")(output c)");
  cr_assert_eq(count_wide(p, GS_I32), 1);
}

Test(lower, elements_are_not_converted_where_that_is_no_gain) {
  /* Little to do; elements read a few times; a filter of few weights. */
  cr_assert_eq(count_wide(lower("(tensor a (shape 60 60) i8)"
                                "(let c " PRODUCT("a", "a") ")(output c)"),
                          GS_I32),
               0);
  cr_assert_eq(count_wide(lower("(tensor a (shape 9000 12) i8)"
                                "(tensor b (shape 10 12) i8)"
                                "(let c " PRODUCT("a", "b") ")(output c)"),
                          GS_I32),
               0);
  cr_assert_eq(
      count_wide(lower("(tensor a (shape 300 300) i8)"
                       "(const w (shape 1 6 6) i8"
                       " 1 2 3 4 5 6 1 2 3 4 5 6 1 2 3 4 5 6"
                       " 1 2 3 4 5 6 1 2 3 4 5 6 1 2 3 4 5 6)"
                       "(let c (compute dotProd (cartProd (windows (access a 0)"
                       " (shape 6 6) (stride 1 1)) (access w 1))))(output c)"),
                 GS_I32),
      0);
  /* What shares its array with what is not yet computed; the sums are one. */
  po_program *p = lower("(tensor a (shape 128 128) i8)"
                        "(let b (compute relu a))"
                        "(let c (compute (cast i8) " PRODUCT(
                            "b", "b") "))"
                                      "(let d (concat b c 0))(output d)");
  cr_assert_eq(count_wide(p, GS_I32), 1, "%s", loops_text(p));
}

/* ---- what is alike is worked out once ---- */

#define WINDOW(name, of, by)                                                   \
  "(let " name " (windows (access (pad (pad " of " zero 2 1 1) zero 3 1 1) 1)" \
  " (shape 4 3 3) (stride 1 " by " " by ")))"

static po_view *
view_named(po_views *views, const char *name) {
  const gs_program *p = views->source;
  for (uint32_t k = 0; k < p->lets.len; k++)
    if (!strcmp(p->lets.data[k].name, name))
      return &views->of[p->lets.data[k].term.i];
  cr_assert(false, "no let %s", name);
  return NULL;
}

Test(lower, views_that_are_alike_share_their_pieces) {
  const gs_program *p = program_over(
      gs_target_default(&ctx),
      "(tensor x (shape 1 4 9 9) f32) (tensor y (shape 1 4 9 9) f32)" WINDOW(
          "a", "x", "1") WINDOW("b", "y", "1")
          WINDOW("c", "y", "2") "(output a) (output b) (output c)");
  uint8_t *live = bs_calloc(&heap, p->nodes.len, 1);
  isl_ctx *isl = isl_ctx_alloc();
  po_views views;
  gs_mark_live(p, live);
  po_views_init(&views, p, isl, &heap, live);
  for (uint32_t k = 0; k < p->nodes.len; k++)
    po_view_make(&views, (gs_term){k});
  const po_view *a = view_named(&views, "a"), *b = view_named(&views, "b");
  const po_view *c = view_named(&views, "c");
  cr_assert_eq(a->pieces.len, b->pieces.len);
  for (uint32_t k = 0; k < a->pieces.len; k++) {
    const po_piece *of = &a->pieces.data[k], *like = &b->pieces.data[k];
    cr_assert_eq(of->set, like->set);
    cr_assert_eq(of->map, like->map);
    if (of->from == PO_FROM_TERM)
      cr_assert_neq(of->term.i, like->term.i);
    cr_assert_neq(of->set, c->pieces.data[k].set);
  }
  po_views_done(&views);
  isl_ctx_free(isl);
}
