/* SPDX-License-Identifier: MIT */
/* test_questions.c - what the parts of the prover ask of each other, held
 * against a computation by hand: programs that are cut out, values at which a
 * program bends, inputs, operators that round, sums of ranks. */
#include "../random_view.h"
#include "../sanitized.h"
#include "glenside/interpret/interpret.h"
#include "prove/equal/cone.h"
#include "prove/session/precise.h"
#include "prove/session/tried.h"
#include "prove/symbolic/spread.h"
#include <math.h>

TestSuite(questions, .init = fixture_start);

/* ---- cones ---- */

static const char *
name_of(const gs_node *n) {
  return bs_as_sym(ctx.values, bs_item(ctx.values, n->attr, 0));
}

static const gs_node *
input_of(const gs_program *p, uint32_t k) {
  return gs_at(p, p->inputs.data[k].term);
}

/* Elements by the name of the input, so that a smaller program has the same. */
static gs_tensor *
outputs_of(const gs_program *p) {
  gs_tensor *in = bs_calloc(&heap, p->inputs.len + 1, sizeof *in);
  gs_tensor *out = bs_calloc(&heap, p->outputs.len + 1, sizeof *out);
  for (uint32_t k = 0; k < p->inputs.len; k++) {
    gs_type type;
    gs_type_at(p, p->inputs.data[k].term, &type);
    gs_tensor_init(&heap, &in[k], &type);
    for (int64_t i = 0; i < in[k].elements; i++)
      gs_tensor_set(&in[k], i,
                    (double)(1 + i * 3 + name_of(input_of(p, k))[0] % 7));
  }
  cr_assert(gs_interpret(p, in, out));
  return out;
}

static void
expect_equal(const gs_tensor *a, const gs_tensor *b) {
  cr_assert_eq(a->elements, b->elements);
  for (int64_t i = 0; i < a->elements; i++)
    cr_assert_eq(gs_tensor_get(a, i), gs_tensor_get(b, i));
}

static uint32_t
reached(const gs_program *p, gs_term a, gs_term b) {
  uint8_t *met = bs_calloc(&heap, p->nodes.len, 1);
  uint32_t n = 0;
  met[a.i] = met[b.i] = 1;
  for (uint32_t t = p->nodes.len; t-- > 0; n += met[t])
    for (uint32_t k = 0; met[t] && k < p->nodes.data[t].n_kids; k++)
      met[p->nodes.data[t].kids[k].i] = 1;
  return n;
}

Test(questions, what_is_cut_out_computes_the_same) {
  for (uint64_t seed = 1; seed <= (SANITIZED ? 20u : 100u); seed++) {
    state = seed;
    gs_program *p = random_zeros(50);
    pv_cutter c = {.ctx = &ctx};
    for (int k = 0; k < 6; k++) {
      gs_program whole = *p;
      gs_term was[2], now[2];
      for (int i = 0; i < 2; i++)
        now[i] = was[i] = (gs_term){(uint32_t)below(p->nodes.len)};
      gs_program *cut = pv_cut_out(&c, p, &now[0], &now[1]);
      cr_assert(cut);
      cr_assert_eq(cut->nodes.len, reached(p, was[0], was[1]));
      memset(&whole.outputs, 0, sizeof whole.outputs);
      for (int i = 0; i < 2; i++) {
        const char *name = i ? "right" : "left";
        cr_assert(bs_same(gs_at(p, was[i])->type, gs_at(cut, now[i])->type));
        gs_add_output(&whole, name, was[i], BS_NOWHERE);
        gs_add_output(cut, name, now[i], BS_NOWHERE);
      }
      gs_tensor *a = outputs_of(&whole), *b = outputs_of(cut);
      expect_equal(&a[0], &b[0]);
      expect_equal(&a[1], &b[1]);
    }
    pv_cutter_done(&c);
  }
}

/* ---- where programs bend ---- */

enum { REACH = 200 };

/* A few operators on x, one after another. */
static const char *
random_chain(void) {
  const char *text = "x";
  for (int64_t k = 1 + below(3); k > 0; k--) {
    int64_t n = below(40) - 20, more = below(30);
    switch (below(6)) {
    case 0:
      text = bs_arena_printf(&arena, "(compute relu %s)", text);
      break;
    case 1:
      text = bs_arena_printf(&arena, "(compute abs %s)", text);
      break;
    case 2:
      text = bs_arena_printf(&arena, "(compute neg %s)", text);
      break;
    case 3:
      text = bs_arena_printf(&arena, "(compute (clip %d %d) %s)", (int)n,
                             (int)(n + more), text);
      break;
    case 4:
      text = bs_arena_printf(&arena, "(compute (offset %d) %s)", (int)n, text);
      break;
    default:
      text = bs_arena_printf(&arena, "(compute (scale %d) %s)",
                             (int)(1 + more % 3), text);
    }
  }
  return text;
}

/* Floats may bend between two whole numbers. */
static bool
is_near(const pv_landmarks *l, gs_dtype d, double x) {
  bool near = false, whole = gs_dtype_table[d].integer;
  for (uint32_t k = 0; k < pv_landmarks_count(l) && !near; k++)
    near = whole ? pv_landmark_near(l, d, k) == x
                 : fabs(pv_landmark_near(l, d, k) - x) < 1;
  return near;
}

/* Wherever the slope changes, the program has a landmark: it, and the values
 * beside it, are tried. */
Test(questions, a_program_bends_only_at_landmarks) {
  uint32_t bends = 0, programs = SANITIZED ? 60 : 400;
  for (uint64_t seed = 1; seed <= programs; seed++) {
    state = seed * 31;
    gs_dtype d = seed % 2 ? GS_I32 : GS_F64;
    const char *chain = random_chain();
    gs_program *p = program_over(
        NULL,
        bs_arena_printf(&arena, "(tensor x (shape %d) %s)(let y %s)(output y)",
                        2 * REACH + 1, gs_dtype_table[d].name, chain));
    pv_landmarks l = {0};
    gs_type type;
    gs_tensor x, y[1] = {0};
    pv_landmarks_find(&l, p);
    gs_type_at(p, p->inputs.data[0].term, &type);
    gs_tensor_init(&heap, &x, &type);
    for (int64_t i = 0; i < x.elements; i++)
      gs_tensor_set(&x, i, (double)(i - REACH));
    cr_assert(gs_interpret(p, &x, y));
    for (int64_t i = 1; i + 1 < x.elements; i++) {
      double before = gs_tensor_get(y, i) - gs_tensor_get(y, i - 1);
      double behind = gs_tensor_get(y, i + 1) - gs_tensor_get(y, i);
      double at = (double)(i - REACH);
      if (before == behind)
        continue;
      bends++;
      cr_expect(is_near(&l, d, at), "%s: a bend at %g", chain, at);
      cr_expect(is_near(&l, d, at - 1) && is_near(&l, d, at + 1),
                "%s: beside a bend at %g", chain, at);
    }
  }
  cr_assert_gt(bends, programs / 3, "%u bends", bends);
}

/* ---- inputs ---- */

static pv_tried
tried_of(gs_dtype d, uint32_t n, gs_tensor in[2]) {
  gs_program *p = program_over(
      NULL,
      bs_arena_printf(&arena,
                      "(tensor x (shape %u) %s)(tensor w (shape %u) %s)"
                      "(let y (compute add (pair (compute (clip 3 5) x) w)))"
                      "(output y)",
                      n, gs_dtype_table[d].name, n, gs_dtype_table[d].name));
  pv_tried r;
  pv_tried_init(&r, p, 7);
  for (uint32_t k = 0; k < 2; k++) {
    gs_type type;
    gs_type_at(p, p->inputs.data[k].term, &type);
    gs_tensor_init(&heap, &in[k], &type);
  }
  return r;
}

static bool
holds(const gs_tensor *t, double v) {
  bool any = false;
  for (int64_t i = 0; i < t->elements && !any; i++)
    any = gs_tensor_get(t, i) == v;
  return any;
}

/* What an input of the dtype is where the value is stored in it; 1 where that
 * is not finite. */
static double
stored(const gs_tensor *like, double v) {
  gs_tensor one = *like;
  char bytes[16] = {0};
  one.data = bytes;
  gs_tensor_set(&one, 0, gs_stays_finite(like->dtype, v) ? v : 1);
  return gs_tensor_get(&one, 0);
}

Test(questions, every_value_near_a_landmark_is_tried) {
  for (int d = 0; d < GS_DTYPE_COUNT; d++)
    for (uint32_t n = 1; n < 9; n += 3) {
      gs_tensor in[2];
      if (d == GS_BOOL || d == GS_I64 || d == GS_U32)
        continue;
      pv_tried r = tried_of((gs_dtype)d, n, in);
      uint32_t count = pv_landmarks_count(&r.landmarks);
      uint32_t runs = pv_tried_near(&r, in, 2);
      uint8_t *met = bs_calloc(&heap, count, 1);
      cr_assert_geq(count, 14 * 2);
      cr_assert_eq(runs, (count + n - 1) / n);
      for (uint32_t run = 0; run < runs; run++) {
        pv_tried_fill_near(&r, run, in, 2);
        for (uint32_t k = 0; k < count; k++)
          met[k] |= holds(
              &in[0],
              stored(&in[0], pv_landmark_near(&r.landmarks, (gs_dtype)d, k)));
      }
      for (uint32_t k = 0; k < count; k++)
        cr_expect(met[k], "%s, %u elements: value %u", gs_dtype_table[d].name,
                  n, k);
    }
}

Test(questions, inputs_are_finite_the_same_and_of_each_kind) {
  for (int d = 0; d < GS_DTYPE_COUNT; d++) {
    gs_tensor in[2], again[2];
    if (d == GS_BOOL || d == GS_I64 || d == GS_U32)
      continue;
    bool whole = gs_dtype_table[d].integer;
    bool zero = false, negative = false, least = false, most = false;
    bool one_for_all = false, other = false, first = false, last = false;
    pv_tried r = tried_of((gs_dtype)d, 24, in);
    tried_of((gs_dtype)d, 24, again);
    for (uint32_t run = 0; run < 24; run++) {
      pv_tried_fill(&r, run, in, 2);
      pv_tried_fill(&r, run, again, 2);
      bool same = true;
      for (int64_t i = 0; i < in->elements; i++) {
        double v = gs_tensor_get(&in[0], i), w = gs_tensor_get(&in[1], i);
        cr_assert(isfinite(v) && isfinite(w));
        cr_assert_eq(v, gs_tensor_get(&again[0], i));
        cr_assert_eq(w, gs_tensor_get(&again[1], i));
        same &= v == gs_tensor_get(&in[0], 0);
        other |= v != w;
        zero |= v == 0;
        negative |= v < 0;
        least |= whole && v == (double)gs_dtype_least((gs_dtype)d);
        most |= whole && v == (double)gs_dtype_most((gs_dtype)d);
      }
      double from = gs_tensor_get(&in[0], 0), next = gs_tensor_get(&in[0], 1);
      double to = gs_tensor_get(&in[0], 23), before = gs_tensor_get(&in[0], 22);
      one_for_all |= same;
      first |= from != next && from > to;
      last |= to != before && to > from;
    }
    cr_expect(zero && one_for_all && other && first && last, "%s",
              gs_dtype_table[d].name);
    cr_expect(!whole || (least && most), "%s", gs_dtype_table[d].name);
    cr_expect(negative || gs_is_unsigned((gs_dtype)d), "%s",
              gs_dtype_table[d].name);
  }
}

/* ---- operators that round ---- */

static double
applied(const char *op, gs_dtype d, uint32_t items, double a, double b) {
  const char *name = gs_dtype_table[d].name;
  gs_program *p = program_over(
      NULL, bs_arena_printf(
                &arena,
                items == 2 ? "(tensor x (shape 1) %s)(tensor w (shape 1) %s)"
                             "(let y (compute %s (pair x w)))(output y)"
                           : "(tensor x (shape 1) %s)(tensor w (shape 1) %s)"
                             "(let y (compute %s x))(output y)",
                name, name, op));
  gs_tensor in[2], out[1] = {0};
  gs_type type;
  gs_type_at(p, p->inputs.data[0].term, &type);
  for (int k = 0; k < 2; k++)
    gs_tensor_init(&heap, &in[k], &type);
  gs_tensor_set(&in[0], 0, a);
  gs_tensor_set(&in[1], 0, b);
  cr_assert(gs_interpret(p, in, out));
  return gs_tensor_get(out, 0);
}

/* What does not round has in a narrow dtype the result that it has in a wide
 * one; and some result of what does is another one there. */
Test(questions, operators_round_where_it_is_said) {
  for (int op = 0; op < GS_COMPUTE_COUNT; op++) {
    const gs_compute_info *info = &gs_compute_table[op];
    bool tuple = info->kind == GS_FOLD;
    if (info->params[0] || (info->kind != GS_ELEMENTWISE && !tuple))
      continue;
    for (state = 1; state < 400;) {
      uint64_t seed = state;
      double a = (double)(below(2001) - 1000) / 64;
      double b = (double)(below(2001) - 1000) / 64;
      float x = (float)a, y = (float)b;
      double narrow = applied(info->name, GS_F32, tuple ? 2 : 1, x, y);
      double wide = applied(info->name, GS_F64, tuple ? 2 : 1, x, y);
      if (!pv_rounds((gs_compute)op, GS_F32) && isfinite(narrow))
        cr_expect_eq(narrow, wide, "%s of %g and %g: %g, %g", info->name, a, b,
                     narrow, wide);
      cr_expect_not(pv_rounds((gs_compute)op, GS_I32));
      state = seed + 40;
    }
  }
}

/* ---- sums of ranks ---- */

enum { WHATS = 6 };

static sp_places
random_sum(void) {
  sp_places a = {.number = below(9) - 4};
  for (uint32_t w = 0; w < WHATS; w++) {
    int64_t times = below(7) - 3;
    if (times && below(2)) {
      a.term[a.n].what = w;
      a.term[a.n++].times = times;
    }
  }
  return a;
}

static int64_t
times_of(const sp_places *a, uint32_t what) {
  int64_t times = 0;
  for (uint32_t k = 0; k < a->n; k++)
    times += a->term[k].what == what ? a->term[k].times : 0;
  return times;
}

static int64_t
larger(int64_t a, int64_t b) {
  return llabs(b) > llabs(a) ? b : a;
}

Test(questions, sums_of_ranks_are_added_up) {
  static sp_walk x;
  for (uint64_t seed = 1; seed < 400; seed++) {
    state = seed;
    x = (sp_walk){.arena = &arena, .values = ctx.values, .factor = 1};
    sp_places a = random_sum(), b = random_sum();
    int64_t times = below(9) - 4, by = below(9) - 4, above = 0, under = by + 4;
    const sp_places *sum = sp_plus(&x, &a, times, &b);
    const sp_places *either = sp_either(&x, &a, &b);
    const sp_places *shifted = sp_shifted(&x, &a, by);
    cr_expect_eq(sum->number, a.number + times * b.number);
    cr_expect_eq(either->number, a.number > b.number ? a.number : b.number);
    cr_expect_eq(shifted->number, a.number + by);
    for (uint32_t w = 0; w < WHATS; w++) {
      int64_t of_a = times_of(&a, w), of_b = times_of(&b, w);
      cr_expect_eq(times_of(sum, w), of_a + times * of_b);
      cr_expect_eq(times_of(either, w), larger(of_a, of_b));
      cr_expect_eq(times_of(shifted, w), of_a);
      above += of_a > 0 ? of_a : 0;
      under -= of_a < 0 ? of_a : 0;
    }
    for (uint32_t k = 0; k < sum->n; k++)
      cr_expect_neq(sum->term[k].times, 0);
    cr_expect_eq(sp_width(&a, by + 4), above > under ? above : under);
    cr_expect_eq(x.factor, 1);
    cr_expect_eq(sp_number(&x, by)->number, by);
    cr_expect_eq(times_of(sp_lone(&x, 4), 4), 1);
  }
}
