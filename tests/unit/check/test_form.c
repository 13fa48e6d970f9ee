/* SPDX-License-Identifier: MIT */
/* test_form.c - what the proof checker takes to be one computation is one.
 *
 * Products of two matrices are written again over operands that are padded, cut
 * and put in another order, with the result cut; at random, so that many are
 * wrong.  What is taken to be the same must be so when it is interpreted. */
#include "../random_view.h"
#include "../sanitized.h"
#include "../steady.h"
#include "check/check.h"
#include "glenside/interpret/interpret.h"
#include <stdio.h>

TestSuite(form, .init = fixture_start);

typedef struct made {
  gs_program *p;
  gs_term a, b; /* m x k and n x k */
  int64_t m, n, k, rows, columns, depth;
  bool ok;
} made;

static gs_term
add(made *x, gs_op op, bs_value attr, gs_term one, gs_term other) {
  gs_fault fault;
  gs_term kids[2] = {one, other};
  if (!x->ok || !gs_term_ok(one))
    return GS_NO_TERM;
  gs_term t = gs_add(x->p, op, attr, kids, gs_term_ok(other) ? 2 : 1,
                     BS_NOWHERE, &fault);
  x->ok = gs_term_ok(t);
  return t;
}

static bs_value
ints(const int64_t *n, uint32_t count) {
  return bs_ints(ctx.values, n, count);
}

static gs_term
pad(made *x, gs_term t, int64_t axis, int64_t before, int64_t after) {
  static const char *const kinds[] = {"min", "edge", "zero"};
  int64_t kind = below(24);
  bs_value attr[4] = {bs_sym(ctx.values, kinds[kind > 2 ? 2 : kind]),
                      bs_int(ctx.values, axis), bs_int(ctx.values, before),
                      bs_int(ctx.values, after)};
  if (!before && !after)
    return t;
  return add(x, GS_PAD, bs_list(ctx.values, attr, 4), t, GS_NO_TERM);
}

static gs_term
slice(made *x, gs_term t, int64_t axis, int64_t n, int64_t of) {
  int64_t lo = below(6) ? 0 : below(of - n + 1);
  if (n == of && below(2))
    return t;
  return add(x, GS_SLICE, ints((int64_t[]){axis, lo, lo + n}, 3), t,
             GS_NO_TERM);
}

static gs_term
reshape(made *x, gs_term t, const int64_t *s, uint32_t n, const int64_t *c,
        uint32_t n_c) {
  bs_value attr[2] = {ints(s, n), ints(c, n_c)};
  return add(x, GS_RESHAPE, bs_list(ctx.values, attr, 2), t, GS_NO_TERM);
}

static gs_term
product(made *x, gs_term a, gs_term b) {
  bs_value dot = bs_sym(ctx.values, "dotProd"),
           none = bs_list(ctx.values, 0, 0);
  gs_term both = add(x, GS_CARTPROD, none, a, b);
  return add(x, GS_COMPUTE, bs_list(ctx.values, &dot, 1), both, GS_NO_TERM);
}

/* An operand, filled up, its depth in two parts, perhaps in their other order,
 * its rows perhaps as well. */
static gs_term
operand(made *x, gs_term t, int64_t from, int64_t rows, int64_t parts,
        bool turned) {
  int64_t before = below(12) ? 0 : below(x->depth - x->k + 1);
  int64_t c[2] = {parts, x->depth / parts};
  if (below(2))
    t = pad(x, t, 0, 0, rows - from);
  t = pad(x, t, 1, before, x->depth - x->k - before);
  gs_type type;
  if (!x->ok || !gs_term_ok(t))
    return GS_NO_TERM;
  gs_type_at(x->p, t, &type);
  t = pad(x, t, 0, 0, rows - type.dim[0]);
  t = reshape(x, t, &rows, 1, c, 2);
  int64_t turn[3] = {0, 2, 1};
  if (turned || !below(20)) {
    bs_value p = ints(turn, 3);
    t = add(x, GS_TRANSPOSE, bs_list(ctx.values, &p, 1), t, GS_NO_TERM);
  }
  return t;
}

static gs_term
matrix(made *x, const char *name, int64_t rows, int64_t columns) {
  gs_type type = {
      .access = 2, .rank = 2, .dtype = GS_F64, .dim = {rows, columns}};
  gs_term t = gs_add_tensor(x->p, name, &type, BS_NOWHERE);
  return add(x, GS_ACCESS, ints((int64_t[]){1}, 1), t, GS_NO_TERM);
}

static bool
are_equal(made *x, gs_term one, gs_term other) {
  gs_tensor in[2], out[2];
  gs_add_output(x->p, "one", one, BS_NOWHERE);
  gs_add_output(x->p, "other", other, BS_NOWHERE);
  memset(out, 0, sizeof out);
  for (uint32_t k = 0; k < 2; k++) {
    gs_type type;
    gs_type_at(x->p, x->p->inputs.data[k].term, &type);
    gs_tensor_init(&heap, &in[k], &type);
    for (int64_t i = 0; i < in[k].elements; i++)
      gs_tensor_set(&in[k], i, (double)(1 + below(1000)));
  }
  cr_assert(gs_interpret(x->p, in, out));
  for (int64_t i = 0; i < out->elements; i++)
    if (gs_tensor_get(&out[0], i) != gs_tensor_get(&out[1], i))
      return false;
  return true;
}

typedef struct padded {
  made x;
  gs_term meant, said;
} padded;

/* A product of matrices, and the same over padded operands, cut again. */
static padded
draw_padded(uint64_t seed) {
  state = seed * 7919;
  made x = {.p = gs_program_new(&ctx, NULL), .ok = true};
  x.m = 1 + below(6), x.n = 1 + below(6), x.k = 1 + below(9);
  x.rows = x.m + below(4), x.columns = x.n + below(4);
  int64_t parts = 1 + below(4), each = (x.k + parts - 1) / parts + below(2);
  x.depth = parts * each;
  x.a = matrix(&x, "a", x.m, x.k);
  x.b = matrix(&x, "b", x.n, x.k);
  bool turned = below(2);
  gs_term meant = product(&x, x.a, x.b);
  gs_term left = operand(&x, x.a, x.m, x.rows, parts, turned);
  gs_term right = operand(&x, x.b, x.n, x.columns, parts, turned);
  gs_term said = product(&x, left, right);
  said = slice(&x, said, 0, x.m, x.rows);
  said = slice(&x, said, 1, x.n, x.columns);
  x.ok = x.ok && gs_term_ok(said) &&
         bs_same(gs_at(x.p, said)->type, gs_at(x.p, meant)->type);
  return (padded){x, meant, said};
}

Test(form, of_padded_products_is_that_of_what_they_compute) {
  uint32_t accepted = 0, equal = 0, all = 0, wrong = 0;
  bool known[256] = {false};
  for (uint64_t seed = 1; seed <= (SANITIZED ? 1500u : 6000u); seed++) {
    padded drawn = draw_padded(seed);
    made x = drawn.x;
    gs_term meant = drawn.meant, said = drawn.said;
    if (!x.ok)
      continue;
    cr_assert_lt(x.p->nodes.len, 256);
    bool same = ck_same_form(x.p, meant, said, known);
    bool is = are_equal(&x, meant, said);
    cr_expect(!same || is, "seed %d: taken to be the same", (int)seed);
    accepted += same;
    equal += is;
    wrong += !is;
    all++;
  }
  cr_log_info("%u of %u equal ones are seen, of %u", accepted, equal, all);
  cr_expect_gt(accepted * 10, equal * 7, "%u of %u", accepted, equal);
  cr_expect_gt(wrong * 10, all, "%u of %u are wrong", wrong, all);
}

static void
compare_once(void *of) {
  padded *q = of;
  bool known[256] = {false};
  ck_same_form(q->x.p, q->meant, q->said, known);
  ck_same_form(q->x.p, q->x.a, q->meant, known);
}

Test(form, keeps_nothing_whether_it_is_that_of_another_or_not) {
  for (uint64_t seed = 1; seed <= 100; seed++) {
    padded q = draw_padded(seed);
    if (q.x.ok)
      expect_steady(&heap, compare_once, &q, "what a term computes");
  }
}

/* --- dtypes ----------------------------------------------------------------
 */

static gs_term
cast(made *x, gs_term t, gs_dtype dtype) {
  bs_value o[2] = {bs_sym(ctx.values, "cast"),
                   bs_sym(ctx.values, gs_dtype_table[dtype].name)};
  bs_value attr = bs_list(ctx.values, o, 2);
  return add(x, GS_COMPUTE, bs_list(ctx.values, &attr, 1), t, GS_NO_TERM);
}

static gs_term
compute(made *x, const char *op, gs_term t) {
  bs_value o = bs_sym(ctx.values, op);
  return add(x, GS_COMPUTE, bs_list(ctx.values, &o, 1), t, GS_NO_TERM);
}

static const gs_dtype whole[] = {GS_I8, GS_U8, GS_I16, GS_I32};

/* Most often to what sums of it are made in. */
static gs_term
perhaps_cast(made *x, gs_term t) {
  gs_type type;
  if (!x->ok || below(3) == 0)
    return t;
  gs_type_at(x->p, t, &type);
  return cast(x, t, below(3) ? gs_sum_dtype(type.dtype) : whole[below(4)]);
}

static gs_term
accessed(made *x, gs_term t, int64_t n) {
  return add(x, GS_ACCESS, ints(&n, 1), t, GS_NO_TERM);
}

/* The sum of the products of a and b, at once or one after the other, with
 * casts anywhere. */
static gs_term
sum_of_products(made *x) {
  int64_t apart = below(2);
  gs_term kids[2] = {x->a, x->b};
  for (uint32_t k = 0; k < 2; k++)
    kids[k] = perhaps_cast(x, accessed(x, kids[k], apart));
  gs_term both =
      add(x, GS_PAIR, bs_list(ctx.values, NULL, 0), kids[0], kids[1]);
  if (!apart)
    return perhaps_cast(x, compute(x, "dotProd", both));
  gs_term row = perhaps_cast(x, compute(x, "mul", both));
  return perhaps_cast(x, compute(x, "reduceSum", accessed(x, row, 0)));
}

/* Any value of a type. */
static double
any_of(gs_dtype dtype) {
  int64_t half = dtype == GS_I32   ? (int64_t)1 << 31
                 : dtype == GS_I16 ? 1 << 15
                                   : 1 << 7;
  int64_t n = below(2 * half);
  return (double)(dtype == GS_U8 ? n : n - half);
}

static bool
are_equal_for_any(made *x, gs_term one, gs_term other) {
  gs_tensor in[2], out[2];
  bool equal = true;
  gs_add_output(x->p, "one", one, BS_NOWHERE);
  gs_add_output(x->p, "other", other, BS_NOWHERE);
  for (int run = 0; run < 4 && equal; run++) {
    memset(out, 0, sizeof out);
    for (uint32_t k = 0; k < 2; k++) {
      gs_type type;
      gs_type_at(x->p, x->p->inputs.data[k].term, &type);
      gs_tensor_init(&heap, &in[k], &type);
      for (int64_t i = 0; i < in[k].elements; i++)
        gs_tensor_set(&in[k], i, any_of(type.dtype));
    }
    cr_assert(gs_interpret(x->p, in, out));
    equal = gs_tensor_get(&out[0], 0) == gs_tensor_get(&out[1], 0);
  }
  return equal;
}

Test(form, casts_are_left_out_where_that_is_exact_alone) {
  uint32_t accepted = 0, equal = 0, wrong = 0;
  bool known[256] = {false};
  for (uint64_t seed = 1; seed <= (SANITIZED ? 3000u : 20000u); seed++) {
    state = seed * 7919;
    made x = {.p = gs_program_new(&ctx, NULL), .ok = true};
    gs_type type = {
        .access = 1, .rank = 1, .dtype = whole[below(4)], .dim = {5}};
    x.a = gs_add_tensor(x.p, "a", &type, BS_NOWHERE);
    type.dtype = below(4) ? type.dtype : whole[below(4)];
    x.b = gs_add_tensor(x.p, "b", &type, BS_NOWHERE);
    gs_term one = sum_of_products(&x), other = sum_of_products(&x);
    if (!x.ok || one.i == other.i ||
        !bs_same(gs_at(x.p, one)->type, gs_at(x.p, other)->type))
      continue;
    bool same = ck_same_form(x.p, one, other, known);
    bool is = are_equal_for_any(&x, one, other);
    cr_expect(!same || is, "seed %d: taken to be the same", (int)seed);
    accepted += same;
    equal += is;
    wrong += !is;
  }
  cr_log_info("%u of %u equal ones are seen, beside %u", accepted, equal,
              wrong);
  cr_expect_gt(accepted, 20);
  cr_expect_gt(wrong, equal / 4);
}

/* ---- pairs ---- */

#define MATRICES  "(tensor a (shape 4 6) i32)(tensor b (shape 5 6) i32)"
#define VECTORS   "(tensor a (shape 12) i32)(tensor b (shape 12) i32)"
#define DOT(a, b) "(compute dotProd (cartProd " a " " b "))"
#define ROWS(x)   "(access " x " 1)"
#define PARTS_OF(x, n, more)                                                   \
  "(reshape (pad (slice (access " x " 0) 0 0 " #n ") zero 0 0 " #more          \
  ") (shape) (shape 2 4))"
#define SUMMED(n, more) DOT(PARTS_OF("a", n, more), PARTS_OF("b", n, more))
#define FIRST(n)                                                               \
  DOT("(slice (access a 0) 0 0 " #n ")", "(slice (access b 0) 0 0 " #n ")")

/* Where tensors are filled up, cut or turned, what stays decides. */
Test(form, pairs) {
  static const struct {
    const char *tensors, *one, *other;
    bool same;
  } rows[] = {
      {MATRICES, DOT(ROWS("a"), ROWS("b")),
       "(transpose " DOT(ROWS("b"), ROWS("a")) " (list 1 0))", true},
      {MATRICES, DOT(ROWS("a"), ROWS("b")), DOT(ROWS("b"), ROWS("a")), false},
      {MATRICES, DOT(ROWS("a"), ROWS("b")),
       DOT("(pad " ROWS("a") " zero 1 0 2)", "(pad " ROWS("b") " zero 1 0 2)"),
       true},
      {MATRICES, DOT(ROWS("a"), ROWS("b")),
       "(slice " DOT("(pad " ROWS("a") " zero 0 0 2)", ROWS("b")) " 0 0 4)",
       true},
      /* one row, one column, and one of both */
      {MATRICES, DOT("(slice " ROWS("a") " 0 0 1)", ROWS("b")),
       "(slice " DOT(ROWS("a"), ROWS("b")) " 0 0 1)", true},
      {MATRICES, DOT(ROWS("a"), "(slice " ROWS("b") " 0 0 1)"),
       "(slice " DOT(ROWS("a"), ROWS("b")) " 1 0 1)", true},
      {MATRICES,
       DOT("(slice " ROWS("a") " 0 0 1)", "(slice " ROWS("b") " 0 0 1)"),
       "(slice (slice " DOT(ROWS("a"), ROWS("b")) " 1 0 1) 0 0 1)", true},
      {MATRICES, DOT("(slice " ROWS("a") " 0 0 1)", ROWS("b")),
       "(slice " DOT(ROWS("a"), ROWS("b")) " 0 1 2)", false},
      /* two elements of a sum, the others being zeros */
      {MATRICES,
       DOT("(pad (slice " ROWS("a") " 1 0 2) zero 1 0 4)",
           "(pad (slice " ROWS("b") " 1 0 2) zero 1 0 4)"),
       DOT("(slice " ROWS("a") " 1 0 2)", "(slice " ROWS("b") " 1 0 2)"), true},
      {MATRICES,
       DOT("(pad (slice " ROWS("a") " 1 0 2) zero 1 0 4)",
           "(pad (slice " ROWS("b") " 1 0 2) zero 1 0 4)"),
       DOT(ROWS("a"), ROWS("b")), false},
      /* ends within the parts of a sum */
      {VECTORS, SUMMED(4, 4), FIRST(4), true},
      {VECTORS, SUMMED(8, 0), FIRST(8), true},
      {VECTORS, SUMMED(7, 1), SUMMED(6, 2), false},
      {VECTORS, SUMMED(7, 1), SUMMED(5, 3), false},
      {VECTORS, SUMMED(7, 1), SUMMED(8, 0), false},
      {VECTORS, SUMMED(4, 4), SUMMED(3, 5), false},
      {VECTORS, SUMMED(4, 4), SUMMED(8, 0), false},
  };
  bool known[256] = {false};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    char text[1200];
    snprintf(text, sizeof text, "%s(let x %s)(let y %s)(output x)(output y)",
             rows[k].tensors, rows[k].one, rows[k].other);
    gs_program *p = program_over(NULL, text);
    gs_term x = p->outputs.data[0].term, y = p->outputs.data[1].term;
    cr_expect_eq(ck_same_form(p, x, y, known), rows[k].same, "%s and %s",
                 rows[k].one, rows[k].other);
    cr_expect_eq(ck_same_form(p, y, x, known), rows[k].same, "%s and %s",
                 rows[k].other, rows[k].one);
  }
}
