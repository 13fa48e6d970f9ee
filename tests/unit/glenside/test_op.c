/* SPDX-License-Identifier: MIT */
/* The operator tables and look-ups. */
#include "lang.h"

TestSuite(op, .init = start, .fini = fixture_stop);

Test(op, every_operator_is_found_by_its_name) {
  for (int k = 0; k < GS_OP_COUNT; k++) {
    gs_op op;
    cr_assert(gs_op_find(gs_op_table[k].name, &op));
    cr_assert_eq((int)op, k);
    cr_assert(strstr(gs_op_usage(op), gs_op_table[k].name));
  }
  for (int k = 0; k < GS_COMPUTE_COUNT; k++) {
    gs_compute op;
    cr_assert(gs_compute_find(gs_compute_table[k].name, &op));
    cr_assert_eq((int)op, k);
  }
  for (int k = 0; k < GS_DTYPE_COUNT; k++) {
    gs_dtype dtype;
    cr_assert(gs_dtype_find(gs_dtype_table[k].name, &dtype));
    cr_assert_eq((int)dtype, k);
  }
}

Test(op, names_are_case_sensitive_and_whole) {
  gs_op op;
  gs_compute compute;
  gs_dtype dtype;
  cr_assert_not(gs_op_find("cartprod", &op));
  cr_assert_not(gs_op_find("cartProd2", &op));
  cr_assert_not(gs_op_find("", &op));
  cr_assert_not(gs_compute_find("RELU", &compute));
  cr_assert_not(gs_dtype_find("F16", &dtype));
}

Test(op, list_items_have_heads_and_others_none) {
  for (int k = 0; k < GS_OP_COUNT; k++)
    for (uint32_t i = 0; i < 6; i++) {
      const char *attrs = gs_op_table[k].attrs;
      bool list = i < strlen(attrs) && gs_letter_is_list(attrs[i]);
      cr_assert_eq(gs_list_head((gs_op)k, i) != NULL, list, "%s item %u",
                   gs_op_table[k].name, i);
    }
  cr_assert_str_eq(gs_list_head(GS_WINDOWS, 2), "dilation");
}

Test(op, computes_are_symbols_or_lists) {
  bs_value relu = bs_sym(ctx.values, "relu");
  bs_value clip[3] = {bs_sym(ctx.values, "clip"), bs_int(ctx.values, 0),
                      bs_int(ctx.values, 6)};
  bs_value list = bs_list(ctx.values, clip, 3);
  gs_compute op;
  cr_assert(gs_compute_of(ctx.values, relu, &op) && op == GS_C_RELU);
  cr_assert(gs_compute_of(ctx.values, list, &op) && op == GS_C_CLIP);
  cr_assert(bs_same(gs_compute_param(ctx.values, list, 1), clip[2]));
  cr_assert(bs_same(gs_compute_param(ctx.values, list, 2), BS_NIL));
  cr_assert(bs_same(gs_compute_param(ctx.values, relu, 0), BS_NIL));
  cr_assert_not(gs_compute_of(ctx.values, clip[1], &op));
  cr_assert_not(gs_compute_of(ctx.values, BS_NIL, &op));
  cr_assert_not(gs_compute_of(ctx.values, bs_list(ctx.values, NULL, 0), &op));
}

Test(op, sums_widen) {
  cr_assert_eq(gs_sum_dtype(GS_I8), GS_I32);
  cr_assert_eq(gs_sum_dtype(GS_U8), GS_I32);
  cr_assert_eq(gs_sum_dtype(GS_BF16), GS_F32);
  cr_assert_eq(gs_sum_dtype(GS_F32), GS_F32);
  cr_assert_eq(gs_sum_dtype(GS_F64), GS_F64);
  cr_assert_eq(gs_sum_dtype(GS_I32), GS_I32);
}
