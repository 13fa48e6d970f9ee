/* SPDX-License-Identifier: MIT */
/* test_zeros.c - what the proof checker takes to be zero is zero. */
#include "../random_view.h"
#include "../sanitized.h"
#include "check/check.h"
#include "glenside/interpret/interpret.h"
#include <math.h>
#include <pthread.h>

TestSuite(zeros, .init = fixture_start);

static gs_tensor *
interpreted(gs_program *p) {
  for (uint32_t t = 0; t < p->nodes.len; t++)
    gs_add_output(p, bs_arena_printf(&arena, "o%u", t), (gs_term){t},
                  BS_NOWHERE);
  gs_tensor in[2], *out = bs_calloc(&heap, p->outputs.len, sizeof *out);
  for (uint32_t k = 0; k < 2; k++) {
    gs_type type;
    gs_type_at(p, p->inputs.data[k].term, &type);
    gs_tensor_init(&heap, &in[k], &type);
    for (int64_t i = 0; i < in[k].elements; i++)
      gs_tensor_set(&in[k], i, (double)(i + 1));
  }
  cr_assert(gs_interpret(p, in, out));
  return out;
}

static void
expect_zeros(const gs_tensor *t, const gs_type *type, uint32_t d, int64_t lo,
             int64_t hi) {
  int64_t inner = gs_prod(type->dim + d + 1, type->rank - d - 1);
  for (int64_t i = 0; i < t->elements; i++) {
    int64_t at = i / inner % type->dim[d];
    if (at >= lo && at < hi)
      cr_assert_eq(gs_tensor_get(t, i), 0);
  }
}

static bool
is_all_zero(const ck_env *e, gs_term t) {
  bs_value known = ck_constant(e, t);
  return known.i && bs_as_real(e->ctx->values, known) == 0;
}

/* Ranges of every axis, all of those of a short one; how many of them are known
 * to be zero. */
static uint32_t
ask_all(const ck_env *e, gs_term t, const gs_tensor *values) {
  gs_type type;
  uint32_t n = 0;
  gs_type_at(e->p, t, &type);
  for (uint32_t d = 0; d < type.rank; d++)
    for (int64_t step = 1 + type.dim[d] / 32, lo = 0; lo < type.dim[d];
         lo += step)
      for (int64_t hi = lo + 1; hi <= type.dim[d]; hi += step)
        if (ck_is_zero(e, t, d, lo, hi)) {
          expect_zeros(values, &type, d, lo, hi);
          n++;
        }
  if (is_all_zero(e, t))
    for (int64_t i = 0; i < values->elements; i++)
      cr_assert_eq(gs_tensor_get(values, i), 0);
  return n;
}

Test(zeros, hold_when_interpreted) {
  uint32_t of[GS_OP_COUNT] = {0};
  for (state = 0; state < (SANITIZED ? 30 : 150); state++) {
    uint64_t seed = state;
    gs_program *p = random_zeros(60);
    gs_tensor *out = interpreted(p);
    ck_env e = {.ctx = &ctx, .p = p};
    for (uint32_t t = 0; t < p->nodes.len; t++)
      of[gs_at(p, (gs_term){t})->op] += ask_all(&e, (gs_term){t}, &out[t]);
    state = seed;
  }
  for (int op = 0; op < GS_OP_COUNT; op++)
    cr_expect(SANITIZED || of[op] || !gs_op_table[op].view,
              "nothing is known of %s", gs_op_table[op].name);
}

/* One child that nothing can be said of is enough to know nothing. */
Test(zeros, of_a_scalar_are_not_known) {
  static const double none[4] = {0};
  gs_program *p = gs_program_new(&ctx, NULL);
  gs_type scalar = {.dtype = GS_F64}, four = scalar;
  gs_fault fault;
  four.rank = four.access = 1;
  four.dim[0] = 4;
  gs_term kids[2] = {gs_add_tensor(p, "s", &scalar, BS_NOWHERE),
                     gs_add_constant(p, "none", &four, none, BS_NOWHERE)};
  gs_term t = gs_add(p, GS_CARTPROD, bs_list(ctx.values, NULL, 0), kids, 2,
                     BS_NOWHERE, &fault);
  ck_env e = {.ctx = &ctx, .p = p};
  cr_assert(is_all_zero(&e, kids[1]));
  cr_assert_not(is_all_zero(&e, t));
  cr_assert(ck_is_zero(&e, t, 1, 1, 2));
  cr_assert_not(ck_is_zero(&e, t, 0, 0, 4));
}

/* Any comparison would hold of it. */
Test(zeros, a_nan_is_no_value) {
  static const double data[] = {NAN, 2};
  gs_program *p = gs_program_new(&ctx, NULL);
  gs_type one = {.access = 1, .rank = 1, .dtype = GS_F64, .dim = {1}};
  ck_env e = {.ctx = &ctx, .p = p};
  gs_term nan = gs_add_constant(p, "nan", &one, data, BS_NOWHERE);
  gs_term two = gs_add_constant(p, "two", &one, data + 1, BS_NOWHERE);
  cr_assert_not(ck_constant(&e, nan).i);
  cr_assert_eq(bs_as_int(ctx.values, ck_constant(&e, two)), 2);
}

static gs_term
add_view(gs_program *p, gs_op op, gs_term kid) {
  gs_fault fault;
  bs_value items[3] = {bs_int(ctx.values, 0), bs_int(ctx.values, 0),
                       bs_int(ctx.values, 4)};
  uint32_t n = op == GS_SLICE ? 3 : 1;
  return gs_add(p, op, bs_list(ctx.values, items, n), &kid, 1, BS_NOWHERE,
                &fault);
}

static void *
ask_deep(void *arg) {
  static const double none[4] = {0};
  gs_program *p = gs_program_new(&ctx, NULL);
  gs_type four = {.access = 1, .rank = 1, .dtype = GS_F64, .dim = {4}};
  gs_term z = gs_add_constant(p, "none", &four, none, BS_NOWHERE);
  gs_term a = gs_add_tensor(p, "a", &four, BS_NOWHERE);
  for (uint32_t k = 0; k < 20000; k++) {
    gs_op op = k % 2 ? GS_SLICE : GS_REVERSE;
    z = add_view(p, op, z);
    a = add_view(p, op, a);
  }
  ck_env e = {.ctx = &ctx, .p = p};
  *(bool *)arg = ck_is_zero(&e, z, 0, 1, 3) && is_all_zero(&e, z) &&
                 ck_constant(&e, z).i && !ck_is_zero(&e, a, 0, 1, 3);
  return NULL;
}

Test(zeros, of_deep_terms_need_little_stack) {
  pthread_t thread;
  pthread_attr_t small;
  bool known = false;
  pthread_attr_init(&small);
  cr_assert_eq(pthread_attr_setstacksize(&small, 256 * 1024), 0);
  cr_assert_eq(pthread_create(&thread, &small, ask_deep, &known), 0);
  pthread_join(thread, NULL);
  cr_assert(known);
}

/* ---- facts ---- */

/* What a fact says of a term is known of it, and what one says of another term,
 * or one that is not given, is not. */
Test(zeros, are_shown_by_facts) {
  enum { A, B, C, PADDED, ONE };
  gs_program *p =
      program_over(NULL, "(tensor a (shape 4) f32)(tensor b (shape 4) f32)"
                         "(tensor c (shape 4) f32)"
                         "(let p (pad (slice c 0 0 2) zero 0 0 2))"
                         "(let o (pad (slice c 0 0 3) zero 0 0 1))"
                         "(output a)(output b)(output c)(output p)(output o)");
  gs_term t[5];
  for (uint32_t k = 0; k < 5; k++)
    t[k] = p->outputs.data[k].term;
  const ck_lemma all[] = {
      {t[B], t[ONE]}, {t[A], t[PADDED]}, {t[A], t[ONE]}, {t[C], t[PADDED]}};
  static const struct {
    uint32_t first, n, of;
    int64_t lo, hi;
    bool zero;
  } rows[] = {
      {0, 0, A, 3, 4, false}, {0, 1, A, 3, 4, false}, {0, 1, B, 3, 4, true},
      {0, 1, B, 2, 4, false}, {0, 2, A, 2, 4, true},  {0, 2, A, 1, 4, false},
      {0, 2, B, 3, 4, true},  {1, 1, A, 2, 4, true},  {1, 1, B, 3, 4, false},
      {1, 2, A, 3, 4, true},  {2, 1, A, 3, 4, true},  {2, 1, A, 2, 4, false},
      {2, 2, A, 2, 4, false}, {0, 3, C, 2, 4, false}, {0, 4, C, 2, 4, true},
      {1, 3, A, 2, 4, true},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    ck_env e = {.ctx = &ctx,
                .p = p,
                .facts = all + rows[k].first,
                .n_facts = rows[k].n};
    cr_expect_eq(ck_is_zero(&e, t[rows[k].of], 0, rows[k].lo, rows[k].hi),
                 rows[k].zero, "row %zu", k);
  }
}
