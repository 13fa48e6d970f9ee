/* SPDX-License-Identifier: MIT */
/* Inference: every operator's type, every fault, and no attribute that could
 * break it. */
#include "lang.h"

TestSuite(type, .init = start, .fini = fixture_stop);

static const char prelude[] =
    "(tensor v (shape 32) f32) (tensor m (shape 8 16) f32)"
    "(tensor t (shape 3 32 32) f32) (tensor t2 (shape 32 32) f32)"
    "(tensor t64 (shape 32 64) f32) (tensor w (shape 8 3 3 3) f32)"
    "(tensor q (shape 1 2 3 4) f32) (tensor s (shape) f32)"
    "(tensor i (shape 8 16) i8) (tensor u (shape 8 16) u8)"
    "(tensor j (shape 8 16) i32) (tensor h (shape 8 16) bf16)"
    "(tensor d (shape 8 16) f64) (tensor big (shape 1048576) f32)";

/* The type of a term as text, or the code of the first fault. */
static const char *
type_of(const char *term) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_putf(&text, "%s(let y %s)(output y)", prelude, term);
  bs_clear(&diags.list);
  gs_program *p = parse(bs_text_str(&text));
  if (!p)
    return diags.list.data[0].code;
  gs_type t;
  gs_type_at(p, p->outputs.data[0].term, &t);
  return type_text(&t);
}

#define GIVES(term, expected)                                                  \
  cr_expect_str_eq(type_of(term), expected, "%s: %s, not %s", term,            \
                   type_of(term), expected)

Test(type, access) {
  GIVES("t", "((3, 32, 32), ()) f32");
  GIVES("s", "((), ()) f32");
  GIVES("(access t 0)", "((), (3, 32, 32)) f32");
  GIVES("(access t 2)", "((3, 32), (32)) f32");
  GIVES("(access t 3)", "((3, 32, 32), ()) f32");
  GIVES("(access s 0)", "((), ()) f32");
  GIVES("(access (access t 3) 0)", "((), (3, 32, 32)) f32");
  GIVES("(access t 4)", "axis-range");
  GIVES("(access t -1)", "axis-range");
}

Test(type, transpose) {
  GIVES("(transpose (access t 1) (list 1 2 0))", "((32), (32, 3)) f32");
  GIVES("(transpose s (list))", "((), ()) f32");
  GIVES("(transpose (access q 1) (list 3 1 0 2))", "((4), (2, 1, 3)) f32");
  GIVES("(transpose t (list 0 1 3))", "bad-permutation");
  GIVES("(transpose t (list 0 1))", "bad-permutation");
  GIVES("(transpose t (list 0 1 1))", "bad-permutation");
}

Test(type, cartprod) {
  GIVES("(cartProd (access v 0) (access t2 1))", "((32), (2, 32)) f32");
  GIVES("(cartProd (access t2 1) (access v 0))", "((32), (2, 32)) f32");
  GIVES("(cartProd s s)", "((), (2)) f32");
  GIVES("(cartProd (access t64 1) (access t2 1))", "shape-mismatch");
  GIVES("(cartProd (access v 0) v)", "shape-mismatch");
  GIVES("(cartProd (access m 1) (access i 1))", "dtype-mismatch");
  GIVES("(cartProd big (access big 1))", "too-large");
}

Test(type, pair) {
  GIVES("(pair (access t2 1) (access t2 1))", "((32), (2, 32)) f32");
  GIVES("(pair t t)", "((3, 32, 32), (2)) f32");
  GIVES("(pair (access t2 1) (access t2 0))", "shape-mismatch");
  GIVES("(pair t2 t64)", "shape-mismatch");
  GIVES("(pair (reshape t64 (shape 64 32) (shape)) t64)", "shape-mismatch");
  GIVES("(pair m i)", "dtype-mismatch");
}

Test(type, windows) {
  GIVES("(windows (access t 0) (shape 3 3 3) (stride 1 1 1))",
        "((1, 30, 30), (3, 3, 3)) f32");
  GIVES("(windows (access t 0) (shape 3 3 3) (stride 1 2 1))",
        "((1, 15, 30), (3, 3, 3)) f32");
  /* the stride need not reach the last element: 32 - 3 is no multiple of 2 */
  GIVES("(windows (access v 0) (shape 3) (stride 2))", "((15), (3)) f32");
  GIVES("(windows (access v 0) (shape 3) (stride 9223372036854775807))",
        "((1), (3)) f32");
  GIVES("(windows (access v 0) (shape 32) (stride 1))", "((1), (32)) f32");
  GIVES("(windows (access v 0) (shape 3) (stride 1) (dilation 5))",
        "((22), (3)) f32");
  GIVES("(windows (access v 0) (shape 3) (stride 4) (dilation 5))",
        "((6), (3)) f32");
  GIVES("(windows (access v 0) (shape 1) (stride 1) (dilation "
        "9223372036854775807))",
        "((32), (1)) f32");
  GIVES("(windows (access t 2) (shape 4) (stride 4))", "((3, 32, 8), (4)) f32");
  GIVES("(windows s (shape) (stride))", "((), ()) f32");
  GIVES("(windows (access v 0) (shape 33) (stride 1))", "window-size");
  GIVES("(windows (access v 0) (shape 3) (stride 1) (dilation 16))",
        "window-size");
  GIVES("(windows (access v 0) (shape 0) (stride 1))", "bad-size");
  GIVES("(windows (access v 0) (shape 3) (stride 0))", "bad-size");
  GIVES("(windows (access v 0) (shape 3) (stride 1) (dilation 0))", "bad-size");
  GIVES("(windows (access v 0) (shape 3 3) (stride 1))", "window-rank");
  GIVES("(windows v (shape 3) (stride 1))", "window-rank");
}

Test(type, slice_concat_pad) {
  GIVES("(slice (access t 1) 0 0 1)", "((1), (32, 32)) f32");
  GIVES("(slice (access t 1) 1 16 32)", "((3), (16, 32)) f32");
  GIVES("(slice (access t 2) 2 16 32)", "((3, 32), (16)) f32");
  GIVES("(slice (access t 2) 3 16 32)", "axis-range");
  GIVES("(slice v 0 0 33)", "slice-range");
  GIVES("(slice v 0 3 3)", "slice-range");
  GIVES("(concat (access t 1) (access t 1) 0)", "((6), (32, 32)) f32");
  GIVES("(concat (access t 1) (access t 1) 2)", "((3), (32, 64)) f32");
  GIVES("(concat t t t t t 1)", "((3, 160, 32), ()) f32");
  GIVES("(concat (access t 1) (access t 1) 3)", "axis-range");
  GIVES("(concat t2 t 0)", "shape-mismatch");
  GIVES("(concat t2 t64 0)", "shape-mismatch");
  GIVES("(concat t2 t64 1)", "((32, 96), ()) f32");
  GIVES("(concat m i 0)", "dtype-mismatch");
  GIVES("(pad (access t2 1) zero 0 1 2)", "((35), (32)) f32");
  GIVES("(pad (access t2 1) min 1 0 2)", "((32), (34)) f32");
  GIVES("(pad (access t2 1) edge 1 0 0)", "((32), (32)) f32");
  GIVES("(pad (access t2 1) zero 2 1 2)", "axis-range");
  GIVES("(pad v zero 0 -1 0)", "bad-size");
  GIVES("(pad v zero 0 1099511627776 0)", "too-large");
}

Test(type, squeeze_insert_broadcast) {
  GIVES("(squeeze (access q 1) 0)", "((), (2, 3, 4)) f32");
  GIVES("(squeeze (access (transpose q (list 1 0 2 3)) 1) 1)",
        "((2), (3, 4)) f32");
  GIVES("(squeeze (access q 1) 2)", "not-unit");
  GIVES("(insertAxis (access q 1) 0)", "((1, 1), (2, 3, 4)) f32");
  GIVES("(insertAxis (access q 1) 1)", "((1, 1), (2, 3, 4)) f32");
  GIVES("(insertAxis (access q 1) 2)", "((1), (2, 1, 3, 4)) f32");
  GIVES("(insertAxis (access q 1) 4)", "((1), (2, 3, 4, 1)) f32");
  GIVES("(insertAxis (access q 1) 5)", "axis-range");
  GIVES("(insertAxis s 0)", "((1), ()) f32");
  GIVES("(broadcast (access q 1) (shape 2 2 3 4))", "((2), (2, 3, 4)) f32");
  GIVES("(broadcast s (shape))", "((), ()) f32");
  GIVES("(broadcast q (shape 1 4 3 4))", "broadcast");
  GIVES("(broadcast q (shape 2 3 4))", "broadcast");
  GIVES("(broadcast q (shape 0 2 3 4))", "bad-size");
}

Test(type, flatten_reshape_repeat) {
  GIVES("(flatten (access t 2))", "((96), (32)) f32");
  GIVES("(flatten t)", "((3072), ()) f32");
  GIVES("(flatten (access t 0))", "((), (3072)) f32");
  GIVES("(flatten s)", "((), ()) f32");
  GIVES("(reshape (flatten (access t 2)) (shape 32 3) (shape 16 2))",
        "((32, 3), (16, 2)) f32");
  GIVES("(reshape (flatten (access t 2)) (shape 1) (shape 16 2))", "reshape");
  GIVES("(reshape s (shape 1 1) (shape 1))", "((1, 1), (1)) f32");
  GIVES("(reshape v (shape 32) (shape 1))", "((32), (1)) f32");
  GIVES("(reshape (access t 1) (shape 96) (shape 32))", "reshape");
  GIVES("(reshape v (shape 4294967296 4294967296 32) (shape))", "reshape");
  GIVES("(reshape v (shape -4 -8) (shape))", "bad-size");
  GIVES("(repeat (access t 1) 1 2)", "((3), (64, 32)) f32");
  GIVES("(repeat t 0 0)", "bad-size");
  GIVES("(repeat t 0 1099511627776)", "too-large");
}

Test(type, compute_shapes) {
  GIVES("(compute reduceSum (access t 0))", "((), ()) f32");
  GIVES("(compute reduceMax (access t 2))", "((3, 32), ()) f32");
  GIVES("(compute dotProd (access t 0))", "((), ()) f32");
  GIVES("(compute dotProd (access t 2))", "((3, 32), ()) f32");
  GIVES("(compute dotProd t)", "empty-compute");
  GIVES("(compute add (access t 0))", "((), (32, 32)) f32");
  GIVES("(compute mul (access t 1))", "((3), (32)) f32");
  GIVES("(compute div (access t 2))", "((3, 32), ()) f32");
  GIVES("(compute add t)", "empty-compute");
  GIVES("(compute relu t)", "((3, 32, 32), ()) f32");
  GIVES("(compute relu (access t 1))", "((3), (32, 32)) f32");
  GIVES("(compute (clip 0 6) (access t 1))", "((3), (32, 32)) f32");
  GIVES("(compute softmax (access t 2))", "((3, 32), (32)) f32");
  GIVES("(compute softmax (access t 0))", "((), (3, 32, 32)) f32");
  GIVES("(compute softmax t)", "empty-compute");
  GIVES("(compute select (access t 0))", "((), (32, 32)) f32");
  GIVES("(compute select (access t2 0))", "tuple-size");
  GIVES("(compute gather (pair t2 t2))", "((32, 32), ()) f32");
  GIVES("(compute gather (access t 0))", "tuple-size");
  GIVES("(compute (lookup 30) (access t 2))", "((3, 32), (2)) f32");
  GIVES("(compute (lookup 32) (access t 2))", "tuple-size");
  GIVES("(compute (lookup 0) (access t 2))", "tuple-size");
  GIVES("(compute (lookup 1.5) (access t 2))", "tuple-size");
  GIVES("(compute (lookup 3) (access t 1))", "tuple-size");
  GIVES("(compute (lookup 3) t)", "empty-compute");
  GIVES("(materialize (access t 1))", "((3), (32, 32)) f32");
  GIVES("(compute dotProd (cartProd (access w 1) (squeeze (windows (access t "
        "0) (shape 3 3 3) (stride 1 1 2)) 0)))",
        "((8, 30, 15), ()) f32");
}

Test(type, compute_dtypes) {
  static const char *const names[] = {"i", "u", "j", "h", "d", "m"};
  static const char *const own[] = {"i8", "u8", "i32", "bf16", "f64", "f32"};
  static const char *const sums[] = {"i32", "i32", "i32", "f32", "f64", "f32"};
  for (int op = 0; op < GS_COMPUTE_COUNT; op++) {
    const gs_compute_info *info = &gs_compute_table[op];
    if (info->kind == GS_SELECT || info->kind == GS_GATHER || *info->params)
      continue;
    bool widens =
        op == GS_C_REDUCE_SUM || op == GS_C_REDUCE_MEAN || op == GS_C_DOT_PROD;
    for (int k = 0; k < 6; k++) {
      char term[80];
      snprintf(term, sizeof term, "(compute %s (access %s 1))", info->name,
               names[k]);
      const char *got = type_of(term);
      if (k < 3 && !gs_compute_takes_integers((gs_compute)op))
        cr_expect_str_eq(got, "needs-float", "%s: %s", term, got);
      else
        cr_expect_str_eq(strrchr(got, ' ') + 1, widens ? sums[k] : own[k],
                         "%s: %s", term, got);
    }
  }
}

Test(type, compute_parameters) {
  GIVES("(compute (cast i8) m)", "((8, 16), ()) i8");
  GIVES("(compute (cast f64) i)", "((8, 16), ()) f64");
  GIVES("(compute (scale 0.5) m)", "((8, 16), ()) f32");
  GIVES("(compute (scale 2.0) i)", "((8, 16), ()) i8");
  GIVES("(compute (scale 0.5) i)", "bad-literal");
  GIVES("(compute (offset -1) u)", "((8, 16), ()) u8");
  GIVES("(compute (offset 2147483647) i)", "((8, 16), ()) i8");
  GIVES("(compute (offset 2147483648) i)", "literal-range");
  GIVES("(compute (clip -128 127) i)", "((8, 16), ()) i8");
  GIVES("(compute (clip -129 127) i)", "literal-range");
  GIVES("(compute (clip -1 5) u)", "literal-range");
  GIVES("(compute (clip 0 255) u)", "((8, 16), ()) u8");
  GIVES("(compute (clip 1 1) m)", "((8, 16), ()) f32");
  GIVES("(compute (clip 2 1) m)", "bad-literal");
  GIVES("(compute (scale 1e39) m)", "literal-range");
  GIVES("(compute (scale 1e39) d)", "((8, 16), ()) f64");
  GIVES("(compute (scale inf) m)", "literal-range");
  GIVES("(compute (scale nan) m)", "literal-range");
}

Test(type, rank_limit) {
  char shape[80] = "";
  for (int k = 0; k < 24; k++)
    strcat(shape, " 1");
  char term[300];
  snprintf(term, sizeof term, "(reshape s (shape%s) (shape))", shape);
  cr_assert_str_eq(type_of(term),
                   "((1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
                   "1, 1, 1, 1, 1), ()) f32");
  snprintf(term, sizeof term, "(reshape s (shape%s 1) (shape))", shape);
  GIVES(term, "rank-limit");
  snprintf(term, sizeof term, "(reshape s (shape%s) (shape 1))", shape);
  GIVES(term, "rank-limit");
  snprintf(term, sizeof term, "(insertAxis (reshape s (shape%s) (shape)) 3)",
           shape);
  GIVES(term, "rank-limit");
  snprintf(term, sizeof term, "(pair s (reshape s (shape%s) (shape)))", shape);
  GIVES(term, "shape-mismatch");
}

Test(type, element_limit) {
  GIVES("(broadcast (insertAxis big 0) (shape 1048576 1048576))",
        "((1048576, 1048576), ()) f32");
  GIVES("(broadcast (insertAxis big 0) (shape 1048577 1048576))", "too-large");
  GIVES("(cartProd big big)", "too-large");
  GIVES("(pair (broadcast (insertAxis big 0) (shape 1048576 1048576)) "
        "(broadcast (insertAxis big 0) (shape 1048576 1048576)))",
        "too-large");
}

Test(type, interning) {
  gs_type a = {.access = 2, .rank = 4, .dtype = GS_BF16, .dim = {1, 2, 3, 4}};
  gs_type b;
  bs_value v = gs_type_intern(ctx.values, &a);
  gs_type_read(ctx.values, v, &b);
  cr_assert(gs_type_equal(&a, &b));
  cr_assert(bs_same(v, gs_type_intern(ctx.values, &b)));
  cr_assert_str_eq(type_text(&a), "((1, 2), (3, 4)) bf16");
  b.access = 1;
  cr_assert_not(gs_type_equal(&a, &b));
  cr_assert_not(bs_same(v, gs_type_intern(ctx.values, &b)));
  cr_assert_eq(gs_elements(&a), 24);
}

Test(type, products) {
  int64_t dims[] = {1 << 20, 1 << 20, 1 << 20, 8}, out = 7;
  cr_assert(gs_checked_prod(dims, 3, &out));
  cr_assert_eq(out, (int64_t)1 << 60);
  cr_assert_not(gs_checked_prod(dims, 4, &out));
  cr_assert(gs_checked_prod(dims, 0, &out));
  cr_assert_eq(out, 1);
}

Test(type, a_call_without_a_target_is_a_fault) {
  gs_type a = {.access = 1, .rank = 2, .dtype = GS_F32, .dim = {2, 3}}, out;
  const gs_type *kids[] = {&a};
  bs_value name = bs_sym(ctx.values, "matmul");
  gs_fault fault;
  cr_assert_not(gs_infer(ctx.values, NULL, GS_CALL,
                         bs_list(ctx.values, &name, 1), kids, 1, &out, &fault));
  cr_assert_str_eq(fault.code, "unknown-instruction");
}

/* Random attributes of every kind on random types: a type that keeps the
 * limits, or a fault with a code and a message; never a crash. ----------- */

static bs_value
random_value(uint64_t *r, int depth) {
  static const int64_t odd[] = {0,  1,  2,         3,         -1,
                                24, 25, INT64_MAX, INT64_MIN, 1LL << 40};
  static const char *const names[] = {"zero", "edge", "relu", "f32",
                                      "clip", "cast", "x"};
  bs_value items[30];
  switch (random_below(r, depth ? 8 : 5)) {
  case 0:
    return bs_int(ctx.values, odd[random_below(r, 10)]);
  case 1:
  case 2:
    return bs_int(ctx.values, random_below(r, 4));
  case 3:
    return bs_sym(ctx.values, names[random_below(r, 7)]);
  case 4:
    return random_below(r, 2) ? bs_real(ctx.values, 1.5) : BS_NIL;
  default: {
    uint32_t n = (uint32_t)random_below(r, random_below(r, 20) ? 5 : 30);
    for (uint32_t k = 0; k < n; k++)
      items[k] = random_value(r, depth - 1);
    return bs_list(ctx.values, items, n);
  }
  }
}

static void
random_type(uint64_t *r, gs_type *t) {
  *t = (gs_type){.rank = (uint8_t)random_below(r, random_below(r, 9) ? 5 : 25),
                 .dtype = (gs_dtype)random_below(r, GS_DTYPE_COUNT)};
  t->access = (uint8_t)random_below(r, t->rank + 1);
  for (uint32_t k = 0; k < t->rank; k++)
    t->dim[k] = t->rank > 5 ? 1 : 1 + random_below(r, 4);
}

static bs_value
random_attr(uint64_t *r, gs_op op) {
  bs_value items[6];
  uint32_t n = (uint32_t)strlen(gs_op_table[op].attrs);
  if (!random_below(r, 20))
    return random_value(r, 2);
  for (uint32_t k = 0; k < n; k++)
    items[k] = random_value(r, 2);
  return bs_list(ctx.values, items, n);
}

Test(type, random_attributes) {
  uint64_t r = 1;
  uint32_t fine = 0;
  for (int round = 0; round < 200000; round++) {
    gs_op op = (gs_op)random_below(&r, GS_OP_COUNT);
    gs_type kids[3], out;
    const gs_type *at[3] = {&kids[0], &kids[1], &kids[2]};
    gs_fault fault = {0};
    for (int k = 0; k < 3; k++)
      random_type(&r, &kids[k]);
    if (random_below(&r, 3))
      kids[1] = kids[0];
    uint32_t n = gs_op_table[op].kids >= 0 && random_below(&r, 20)
                     ? (uint32_t)gs_op_table[op].kids
                     : (uint32_t)random_below(&r, 4);
    if (!gs_infer(ctx.values, NULL, op, random_attr(&r, op), at, n, &out,
                  &fault)) {
      cr_assert(fault.code && fault.message[0], "%s", gs_op_table[op].name);
      continue;
    }
    fine++;
    int64_t elements;
    cr_assert(out.access <= out.rank && out.rank <= GS_MAX_RANK);
    for (uint32_t k = 0; k < out.rank; k++)
      cr_assert_geq(out.dim[k], 1);
    cr_assert(gs_checked_prod(out.dim, out.rank, &elements));
    cr_assert_leq(elements, GS_MAX_ELEMENTS);
  }
  cr_assert_gt(fine, 5000, "only %u were typed", fine);
}
