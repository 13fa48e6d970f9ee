/* SPDX-License-Identifier: MIT */
/* What earlier implementations of the paper got wrong: here it is either
 * refused or has the value that the definitions give. */
#include "lang.h"
#include "glenside/interpret/interpret.h"

TestSuite(traps, .init = start, .fini = fixture_stop);

/* The first element of the first output of a program over constants. */
static double
value_of(const char *text) {
  gs_program *p = parse_well(text);
  gs_tensor out[4];
  cr_assert(gs_interpret(p, NULL, out), "%s", faults());
  return gs_tensor_get(&out[0], 0);
}

static const char *
fault_of(const char *text) {
  bs_clear(&diags.list);
  cr_assert_null(parse(text), "%s", text);
  return diags.list.data[0].code;
}

#define ITEMS                                                                  \
  "(const a (shape 2 3) i32 1 2 3 4 5 6)"                                      \
  "(const b (shape 2 3) i32 2 2 2 3 1 1)"

/* Concatenation on the tuple axis multiplies all four items; only that on an
 * item axis adds up two dot products. */
Test(traps, concat_on_the_tuple_axis) {
  cr_assert_eq(value_of(ITEMS "(let y (compute dotProd (concat (access a 0) "
                              "(access b 0) 0))) (output y)"),
               80);
  cr_assert_eq(value_of(ITEMS "(let y (compute dotProd (concat (access a 0) "
                              "(access b 0) 1))) (output y)"),
               42);
  cr_assert_eq(value_of(ITEMS "(let y (compute add (pair (compute dotProd "
                              "(access a 0)) (compute dotProd (access b 0)))))"
                              "(output y)"),
               42);
}

#define TWELVE "(const a (shape 2 6) i32 1 2 3 4 5 6 7 8 9 10 11 12)"

Test(traps, reshape_of_a_tuple_changes_the_product) {
  cr_assert_eq(value_of(TWELVE "(let y (compute dotProd (access a 0)))"
                               "(output y)"),
               217);
  cr_assert_eq(value_of(TWELVE "(let y (compute dotProd (reshape (access a 0) "
                               "(shape) (shape 3 4)))) (output y)"),
               780);
}

Test(traps, reshape_never_crosses_the_split) {
  static const char *const programs[] = {
      "(tensor a (shape 4 2 3) f32)"
      "(let y (compute dotProd (reshape (access a 1) (shape 2) (shape 2 6))))"
      "(output y)",
      "(tensor a (shape 2 6) f32)"
      "(let y (reshape (access a 1) (shape 4) (shape 3))) (output y)",
      "(tensor a (shape 4 6) f32)"
      "(let y (compute reduceMax (reshape (access a 1) (shape 8) (shape 3))))"
      "(output y)",
      "(tensor a (shape 96 32) f32)"
      "(let y (reshape (access a 1) (shape 1) (shape 16 2))) (output y)",
  };
  for (size_t k = 0; k < sizeof programs / sizeof *programs; k++)
    cr_expect_str_eq(fault_of(programs[k]), "reshape");
}

/* The last element is the largest, and no window of 4 by 3 reaches it. */
Test(traps, strides_need_not_reach_the_end) {
  cr_assert_eq(value_of("(const a (shape 8) i32 1 2 3 4 5 6 7 100)"
                        "(let y (compute reduceMax (access (compute reduceMax "
                        "(windows (access a 0) (shape 4) (stride 3))) 0)))"
                        "(output y)"),
               7);
}

Test(traps, two_matrices_as_items_are_one_product) {
  gs_type t;
  gs_program *p = parse_well(
      "(tensor x (shape 4 4) f32) (tensor w (shape 4 4) f32)"
      "(let y (compute dotProd (cartProd (access x 0) (access w 0))))"
      "(output y)");
  gs_type_at(p, p->outputs.data[0].term, &t);
  cr_assert_str_eq(type_text(&t), "((), ()) f32");
}

Test(traps, pairs_are_of_equal_shapes) {
  cr_assert_str_eq(fault_of("(tensor a (shape 4 3) f32)"
                            "(tensor b (shape 3 4) f32)"
                            "(let y (pair a b)) (output y)"),
                   "shape-mismatch");
  cr_assert_str_eq(fault_of("(tensor a (shape 4 3) f32)"
                            "(let y (pair a (access a 1))) (output y)"),
                   "shape-mismatch");
}

Test(traps, concat_checks_the_other_dimensions) {
  cr_assert_str_eq(fault_of("(tensor a (shape 4 3) f32)"
                            "(tensor b (shape 4 2) f32)"
                            "(let y (concat a b 0)) (output y)"),
                   "shape-mismatch");
}

Test(traps, flatten_moves_the_split) {
  gs_type t;
  gs_program *p = parse_well("(tensor a (shape 2 3 4 5) f32)"
                             "(let y (flatten (access a 2))) (output y)"
                             "(output a)");
  gs_type_at(p, p->outputs.data[0].term, &t);
  cr_assert_str_eq(type_text(&t), "((6), (20)) f32");
  gs_type_at(p, p->outputs.data[1].term, &t);
  cr_assert_str_eq(type_text(&t), "((2, 3, 4, 5), ()) f32");
}

/* Every compute operator prints as what it is parsed from. */
Test(traps, every_operator_reads_back) {
  static const char *const params[] = {"", " 1", " 1 2", " i8"};
  for (int op = 0; op < GS_COMPUTE_COUNT; op++) {
    const gs_compute_info *info = &gs_compute_table[op];
    const char *with = !*info->params ? params[0]
                       : strchr(info->params, 't')
                           ? params[3]
                           : params[strlen(info->params)];
    char item[60], text[240];
    snprintf(item, sizeof item, *with ? "(%s%s)" : "%s%s", info->name, with);
    snprintf(text, sizeof text,
             "(tensor a (shape 4 %s) f32)\n"
             "(let y (compute %s (access a 1)))\n(output y)\n",
             info->kind == GS_SELECT   ? "3 6"
             : info->kind == GS_LOOKUP ? "6"
                                       : "2 6",
             item);
    cr_expect_str_eq(printed(parse_well(text), false), text);
  }
}

Test(traps, reductions_over_nothing) {
  for (int op = 0; op < GS_COMPUTE_COUNT; op++) {
    const gs_compute_info *info = &gs_compute_table[op];
    if (info->kind == GS_ELEMENTWISE || info->kind == GS_CAST)
      continue;
    char text[160];
    snprintf(text, sizeof text,
             "(tensor a (shape 3) f32)(let y (compute %s%s%s a))(output y)",
             *info->params ? "(" : "", info->name, *info->params ? " 1)" : "");
    cr_expect_str_eq(fault_of(text), "empty-compute", "%s", info->name);
  }
}

/* Sizes whose product wraps around 64 bits are too large, not small. */
Test(traps, sizes_do_not_wrap) {
  cr_assert_str_eq(fault_of("(tensor a (shape 4294967296 4294967296) f32)"
                            "(output a)"),
                   "too-large");
  cr_assert_str_eq(fault_of("(tensor a (shape 1) f32) (let y (broadcast a "
                            "(shape 9223372036854775807))) (output y)"),
                   "too-large");
}
