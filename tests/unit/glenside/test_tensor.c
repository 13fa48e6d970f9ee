/* SPDX-License-Identifier: MIT */
/* Arrays: conversions, filling, comparison. */
#include "fixture.h"
#include "glenside/array/tensor.h"
#include <math.h>

TestSuite(tensor, .init = start_listing, .fini = fixture_stop);

static gs_tensor
make(gs_dtype dtype, int64_t n) {
  gs_type type = {1, 1, dtype, {n}};
  gs_tensor t;
  gs_tensor_init(&heap, &t, &type);
  return t;
}

Test(tensor, storage) {
  gs_type type = {1, 3, GS_F32, {2, 3, 5}};
  gs_tensor t;
  gs_tensor_init(&heap, &t, &type);
  cr_expect_eq(t.elements, 30);
  cr_expect_eq((uintptr_t)t.data % 64, 0);
  cr_expect_eq(gs_tensor_get(&t, 29), 0);
  gs_tensor_done(&heap, &t);
  cr_expect_null(t.data);
  gs_tensor_done(&heap, &t);
}

Test(tensor, scalars_hold_one_element) {
  gs_type type = {0, 0, GS_I8, {0}};
  gs_tensor t;
  gs_tensor_init(&heap, &t, &type);
  cr_expect_eq(t.elements, 1);
  gs_tensor_set(&t, 0, 3);
  cr_expect_eq(gs_tensor_get(&t, 0), 3);
}

static double
through(gs_dtype dtype, double v) {
  gs_tensor t = make(dtype, 1);
  gs_tensor_set(&t, 0, v);
  v = gs_tensor_get(&t, 0);
  gs_tensor_done(&heap, &t);
  return v;
}

Test(tensor, integers_saturate) {
  cr_expect_eq(through(GS_I8, 127.9), 127);
  cr_expect_eq(through(GS_I8, 128), 127);
  cr_expect_eq(through(GS_I8, -1e30), -128);
  cr_expect_eq(through(GS_I8, -1.9), -1);
  cr_expect_eq(through(GS_I8, NAN), 0);
  cr_expect_eq(through(GS_U8, -1), 0);
  cr_expect_eq(through(GS_U8, INFINITY), 255);
  cr_expect_eq(through(GS_I32, 3e9), INT32_MAX);
  cr_expect_eq(through(GS_I32, -3e9), INT32_MIN);
  cr_expect_eq(through(GS_I32, 2147483646), 2147483646);
}

Test(tensor, floats_round) {
  cr_expect_eq(through(GS_F32, 0.1), (double)0.1f);
  cr_expect_eq(through(GS_F32, 1e300), INFINITY);
  cr_expect_eq(through(GS_F32, -3.4028236e38), -INFINITY);
  cr_expect_eq(through(GS_F32, 3.4028235e38), (double)3.4028235e38f);
  cr_expect(isnan(through(GS_F32, NAN)));
  cr_expect_eq(through(GS_F64, 0.1), 0.1);
  cr_expect_eq(through(GS_BF16, 1), 1);
  cr_expect_eq(through(GS_BF16, 1.00390625), 1); /* tie: to even */
  cr_expect_eq(through(GS_BF16, 1.01171875), 1.015625);
  cr_expect_eq(through(GS_BF16, 1.0040), 1.0078125);
  cr_expect(isnan(through(GS_BF16, NAN)));
  cr_expect_eq(through(GS_BF16, -INFINITY), -INFINITY);
}

Test(tensor, bf16_bits_round_trip) {
  for (uint32_t b = 0; b < 0x10000; b++) {
    float f = gs_bf16_to_f32((uint16_t)b);
    if (!isnan(f))
      cr_assert_eq(gs_f32_to_bf16(f), b);
    else
      cr_assert(isnan(gs_bf16_to_f32(gs_f32_to_bf16(f))));
  }
}

Test(tensor, f16_bits_round_trip) {
  for (uint32_t b = 0; b < 0x10000; b++) {
    double v = gs_f16_to_f64((uint16_t)b);
    if (!isnan(v))
      cr_assert_eq(gs_f64_to_f16(v), b);
    else
      cr_assert(isnan(gs_f16_to_f64(gs_f64_to_f16(v))));
  }
}

Test(tensor, f16_rounds_once_to_even) {
  cr_expect_eq(through(GS_F16, 65519.99), 65504);
  cr_expect_eq(through(GS_F16, 65520), INFINITY);
  cr_expect_eq(through(GS_F16, -1e9), -INFINITY);
  cr_expect_eq(through(GS_F16, 1 + 0x1p-11), 1);
  cr_expect_eq(through(GS_F16, 1 + 3 * 0x1p-11), 1 + 0x1p-9);
  cr_expect_eq(through(GS_F16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  cr_expect_eq(through(GS_F16, 0x1p-25), 0); /* between 0 and the least */
  cr_expect_eq(through(GS_F16, 0x1.000001p-25), 0x1p-24);
  cr_expect_eq(through(GS_F16, 0x1.ffep-15), 0x1.ffcp-15 + 0x1p-25);
  cr_expect(signbit(through(GS_F16, -0.0)));
}

Test(tensor, wide_integers_saturate_at_their_bounds) {
  cr_expect_eq(through(GS_I64, 0x1p53), 0x1p53);
  cr_expect_eq(through(GS_I64, -0x1p60), -0x1p53);
  cr_expect_eq(through(GS_I64, -INFINITY), -0x1p53);
  cr_expect_eq(through(GS_I64, NAN), 0);
  cr_expect_eq(through(GS_I64, -7.9), -7);
  cr_expect_eq(through(GS_U32, 0x1p32), 0x1p32 - 1);
  cr_expect_eq(through(GS_U32, -1), 0);
  cr_expect_eq(gs_wrap(GS_U32, -1), 0xffffffff);
  cr_expect_eq(gs_wrap(GS_I64, -1), -1);
  for (uint64_t k = 0; k < 1000; k++) {
    int64_t v = gs_any_whole(GS_I64, k * 0x9e3779b97f4a7c15u);
    cr_assert(v >= gs_dtype_least(GS_I64) && v <= gs_dtype_most(GS_I64));
    cr_assert_eq((int64_t)through(GS_I64, (double)v), v);
  }
}

Test(tensor, dtypes_hold_each_others_values) {
  cr_expect(gs_dtype_holds(GS_F64, GS_I64) && gs_dtype_holds(GS_I64, GS_U32));
  cr_expect(!gs_dtype_holds(GS_F32, GS_U32) && !gs_dtype_holds(GS_I32, GS_U32));
  cr_expect(gs_dtype_holds(GS_I16, GS_U8) && gs_dtype_holds(GS_I32, GS_U16));
  cr_expect(!gs_dtype_holds(GS_U16, GS_I8) && !gs_dtype_holds(GS_I16, GS_U16));
  cr_expect(gs_dtype_holds(GS_I8, GS_BOOL) && !gs_dtype_holds(GS_BOOL, GS_I8));
  cr_expect(gs_dtype_holds(GS_F32, GS_F16) && gs_dtype_holds(GS_F32, GS_BF16));
  cr_expect(!gs_dtype_holds(GS_F16, GS_BF16));
  cr_expect(!gs_dtype_holds(GS_BF16, GS_F16));
  cr_expect(gs_dtype_holds(GS_F32, GS_U16) && !gs_dtype_holds(GS_F32, GS_I32));
  cr_expect(gs_dtype_holds(GS_F16, GS_U8) && !gs_dtype_holds(GS_F16, GS_I16));
}

Test(tensor, wrapping) {
  cr_expect_eq(gs_wrap(GS_I16, 40000), -25536);
  cr_expect_eq(gs_wrap(GS_U16, -1), 65535);
  cr_expect_eq(gs_wrap(GS_BOOL, 256), 1);
  cr_expect_eq(gs_wrap(GS_I8, 128), -128);
  cr_expect_eq(gs_wrap(GS_I8, -129), 127);
  cr_expect_eq(gs_wrap(GS_U8, -1), 255);
  cr_expect_eq(gs_wrap(GS_I32, (int64_t)1 << 31), INT32_MIN);
  cr_expect_eq(gs_wrap(GS_I32, ((int64_t)5 << 32) + 7), 7);
}

Test(tensor, filling_is_reproducible_and_exact) {
  static const gs_dtype dtypes[] = {GS_F32, GS_F64, GS_BF16, GS_I8,  GS_U8,
                                    GS_I32, GS_F16, GS_I16,  GS_U16, GS_BOOL};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    gs_tensor a = make(dtypes[d], 2000), b = make(dtypes[d], 2000);
    bool differ = false;
    double least = INFINITY, most = -INFINITY;
    gs_tensor_fill(&a, 7, "x");
    gs_tensor_fill(&b, 7, "x");
    gs_difference diff;
    cr_expect(gs_tensor_compare(&a, &b, 0, 0, &diff));
    for (int64_t i = 0; i < 2000; i++) {
      double v = gs_tensor_get(&a, i);
      cr_assert_eq(v * 256, floor(v * 256));
      least = fmin(least, v);
      most = fmax(most, v);
    }
    cr_expect(least < most);
    if (!gs_dtype_table[dtypes[d]].integer)
      cr_expect(least >= -1 && least < -0.9 && most < 1 && most > 0.9);
    gs_tensor_fill(&b, 7, "y");
    differ = !gs_tensor_compare(&a, &b, 0, 0, &diff);
    cr_expect(differ);
    gs_tensor_fill(&b, 8, "x");
    cr_expect_not(gs_tensor_compare(&a, &b, 0, 0, &diff));
  }
}

Test(tensor, filling_never_changes) {
  gs_tensor t = make(GS_F32, 3);
  gs_tensor_fill(&t, 1, "A");
  double sum = 0;
  for (int64_t i = 0; i < 3; i++)
    sum = sum * 512 + gs_tensor_get(&t, i) * 256 + 256;
  cr_expect_eq(sum, 69575644);
}

Test(tensor, comparison) {
  gs_tensor a = make(GS_F32, 4), b = make(GS_F32, 4), c = make(GS_F32, 3);
  gs_difference d;
  for (int64_t i = 0; i < 4; i++) {
    gs_tensor_set(&a, i, (double)i);
    gs_tensor_set(&b, i, (double)i);
  }
  cr_expect(gs_tensor_compare(&a, &b, 0, 0, &d));
  gs_tensor_set(&b, 2, 2.5);
  cr_expect_not(gs_tensor_compare(&a, &b, 0.1, 0.1, &d));
  cr_expect_eq(d.count, 1);
  cr_expect_eq(d.first, 2);
  cr_expect_eq(d.a, 2);
  cr_expect_eq(d.b, 2.5);
  cr_expect_eq(d.max_abs, 0.5);
  cr_expect(fabs(d.max_rel - 0.2) < 1e-12);
  cr_expect(gs_tensor_compare(&a, &b, 0.2, 0, &d));
  cr_expect(gs_tensor_compare(&a, &b, 0, 0.5, &d));
  gs_tensor_set(&a, 2, NAN);
  cr_expect_not(gs_tensor_compare(&a, &b, 1, 1, &d));
  gs_tensor_set(&b, 2, NAN);
  cr_expect(gs_tensor_compare(&a, &b, 0, 0, &d));
  gs_tensor_set(&b, 2, INFINITY);
  cr_expect_not(gs_tensor_compare(&a, &b, 1, 1, &d));
  cr_expect_not(gs_tensor_compare(&a, &c, 1, 1, &d));
}

Test(tensor, integers_compare_exactly) {
  gs_tensor a = make(GS_I32, 1), b = make(GS_I32, 1);
  gs_difference d;
  gs_tensor_set(&a, 0, 100);
  gs_tensor_set(&b, 0, 101);
  cr_expect_not(gs_tensor_compare(&a, &b, 1, 10, &d));
}
