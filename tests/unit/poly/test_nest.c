/* SPDX-License-Identifier: MIT */
/* test_nest.c - the tree of loops, times, and running a program by them. */
#include "fixture.h"
#include "glenside/interpret/interpret.h"
#include "poly/loops/execute.h"
#include "poly/schedule/change.h"
#include "poly/schedule/primitive.h"
#include "tests/unit/seeded.h"

TestSuite(nest, .init = fixture_start, .fini = fixture_stop);

static po_program *
read_loops(const char *text) {
  uint32_t source = bs_source_add(&diags, "test.loops", text, strlen(text));
  po_program *p = po_read_loops(&ctx, gs_target_default(&ctx), source, NULL, 0);
  cr_assert(p, "%s", faults());
  return p;
}

static uint32_t
loop_of(const po_program *p, const char *name) {
  uint32_t loop = po_nest_find(p, name);
  cr_assert_neq(loop, PO_NO_NODE, "%s", name);
  return loop;
}

static isl_multi_aff *
function(const po_program *p, const char *text) {
  return isl_multi_aff_read_from_str(p->isl, text);
}

#define COPY                                                                   \
  "input A: f32[30]\noutput B: f32[30]\n"                                      \
  "for i in 0..30 {\nS: B[i] = A[i] * 2\n}\n"

/* Splits the only loop of COPY: another loop below it, times by `made`. */
static void
split(po_program *p, const char *made) {
  uint32_t i = loop_of(p, "i"), leaf = p->nest.nodes.data[i].first;
  po_nest_retime(p, i, 0, 1, function(p, made));
  uint32_t inner = po_nest_add_loop(p, i, PO_NO_NODE, "j");
  po_nest_detach(p, leaf);
  po_nest_attach(p, leaf, inner, PO_NO_NODE);
}

Test(nest, nodes_are_attached_before_others_and_detached) {
  po_program *p = read_loops("for a in 0..2 { for b in 0..2 { } "
                             "for c in 0..2 { } }");
  uint32_t a = loop_of(p, "a"), b = loop_of(p, "b"), c = loop_of(p, "c");
  po_nest_detach(p, c);
  po_nest_attach(p, c, a, b);
  cr_assert_eq(p->nest.nodes.data[a].first, c);
  cr_assert_eq(p->nest.nodes.data[c].next, b);
  cr_assert_eq(p->nest.nodes.data[b].prev, c);
  cr_assert_eq(p->nest.nodes.data[a].last, b);
  cr_assert_eq(po_nest_common(p, b, c), a);
  cr_assert(po_nest_is_below(p, c, a));
  cr_assert_not(po_nest_is_below(p, a, c));
  po_nest_remove(p, b);
  cr_assert_eq(p->nest.nodes.data[b].kind, PO_FREE);
  cr_assert_eq(po_nest_find(p, "b"), PO_NO_NODE);
  po_nest_prune(p, c);
  cr_assert_eq(p->nest.nodes.data[0].first, PO_NO_NODE);
}

Test(nest, names_stay_unique) {
  po_program *p = read_loops("for a in 0..2 { for a_1 in 0..2 { } }");
  cr_assert_str_eq(po_nest_fresh(p, "a"), "a_2");
  cr_assert_str_eq(po_nest_fresh(p, "b"), "b");
}

Test(nest, a_walk_is_in_preorder) {
  po_program *p = read_loops("for a in 0..2 { for b in 0..2 { } sync } "
                             "for c in 0..2 { }");
  uint32_t a = loop_of(p, "a"), n = 0;
  for (uint32_t k = a; k != PO_NO_NODE; k = po_nest_next(p, k, a))
    n++;
  cr_assert_eq(n, 3);
}

Test(nest, a_split_is_a_change_of_times) {
  po_program *p = read_loops(COPY);
  split(p, "{ [t] -> [floor(t / 4), t mod 4] }");
  cr_assert(strstr(loops_text(p), "for i in 0..8 {\n"
                                  "  for j in 0..min(4, -4 * i + 30) {\n"
                                  "    S[i]: B[i] = A[i] * 2.0 at i / 4, i % "
                                  "4\n"),
            "%s", loops_text(p));
  cr_assert_eq(po_nest_extent(p, loop_of(p, "i")), 8);
  cr_assert_eq(po_nest_extent(p, loop_of(p, "j")), -1);
  cr_assert_eq(po_count_instances(p, 0), 30);
}

Test(nest, times_are_of_equal_length) {
  po_program *p = read_loops("output A: f32[8, 8]\n"
                             "for i in 0..8 { S: A[i, 0] = 1\n"
                             "for j in 1..8 { T: A[i, j] = 2 } }\n"
                             "U: A[0, 0] = 3");
  isl_union_map *time = po_time_around(p, PO_NO_NODE);
  isl_union_map *expected = isl_union_map_read_from_str(
      p->isl, "{ S[i] -> [0, i, 0, 0, 0] : 0 <= i < 8; "
              "T[i, j] -> [0, i, 1, j, 0] : 0 <= i < 8 and 1 <= j < 8; "
              "U[] -> [1, 0, 0, 0, 0] }");
  cr_assert_eq(isl_union_map_is_equal(time, expected), isl_bool_true);
  isl_union_map_free(time);
  isl_union_map_free(expected);
}

Test(nest, ranges_depend_on_the_loops_around) {
  po_program *p = read_loops("output A: f32[8, 8]\n"
                             "for i in 0..8 { for j in 0..i + 1 {\n"
                             "S: A[i, j] = 1 } }");
  isl_map *in = po_nest_range_in(p, loop_of(p, "j"));
  isl_map *expected = isl_map_read_from_str(
      p->isl, "{ [i] -> [j] : 0 <= i < 8 and 0 <= j <= i }");
  cr_assert_eq(isl_map_is_equal(in, expected), isl_bool_true);
  isl_map_free(in);
  isl_map_free(expected);
  cr_assert_eq(po_nest_extent(p, loop_of(p, "i")), 8);
  cr_assert_eq(po_nest_extent(p, loop_of(p, "j")), -1);
  cr_assert_eq(po_count_instances(p, 0), 36);
}

Test(nest, instances_are_counted_exactly) {
  static const struct {
    const char *loops;
    int64_t n;
  } cases[] = {
      {"for i in 0..1000000 { for j in 0..1000000 { S: s[] = 1 } }",
       INT64_C(1000000000000)},
      {"for i in 0..100 { for j in i..100 { for k in 0..70000 { S: s[] = 1 } } "
       "}",
       5050 * INT64_C(70000)},
      {"for i in 0..100 { S: s[] = 1 where i % 7 = 3 }", 14},
      {"for i in 0..100 { S: s[] = 1 where i < 20 or i >= 90 or i = 5 }", 30},
      {"for i in 5..5 { S: s[] = 1 }", 0},
      {"S: s[] = 1", 1},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    bs_text text;
    bs_text_init(&text, &heap);
    bs_putf(&text, "output s: f32[] %s", cases[k].loops);
    cr_assert_eq(po_count_instances(read_loops(bs_text_str(&text)), 0),
                 cases[k].n, "%s", cases[k].loops);
  }
}

/* ---- running ---- */

static gs_tensor
result_of(const po_program *p) {
  gs_tensor inputs[4], outputs[4];
  seed_tensors(p, 7, inputs, outputs);
  cr_assert(po_execute(p, inputs, outputs), "%s", faults());
  return outputs[0];
}

static void
expect_equal(const po_program *p, const po_program *q) {
  gs_tensor a = result_of(p), b = result_of(q);
  gs_difference d;
  cr_assert(gs_tensor_compare(&a, &b, 0, 0, &d), "%lld differ",
            (long long)d.count);
}

static void
expect_different(const po_program *p, const po_program *q) {
  gs_tensor a = result_of(p), b = result_of(q);
  gs_difference d;
  cr_assert_not(gs_tensor_compare(&a, &b, 0, 0, &d));
}

Test(nest, a_split_copy_is_the_same_copy) {
  po_program *p = read_loops(COPY), *q = read_loops(COPY);
  split(q, "{ [t] -> [floor(t / 7), t mod 7] }");
  expect_equal(p, q);
}

#define RECURRENCE                                                             \
  "output A: f32[30]\nfor i in 1..30 {\nS: A[i] = A[i - 1] * 0.5 + A[i]\n}\n"

Test(nest, a_reversed_recurrence_is_another_one) {
  po_program *p = read_loops(RECURRENCE), *q = read_loops(RECURRENCE);
  po_nest_retime(q, loop_of(q, "i"), 0, 1, function(q, "{ [t] -> [-t] }"));
  expect_different(p, q);
}

Test(nest, places_among_siblings_count) {
  const char *text = "output A: f32[8]\nfor i in 0..8 {\n"
                     "S: A[i] = 1\nT: A[i] += 2\n}\n";
  po_program *p = read_loops(text), *q = read_loops(text);
  uint32_t leaf = q->stmts.data[1].leaf;
  po_nest_detach(q, leaf);
  po_nest_attach(q, leaf, loop_of(q, "i"), q->stmts.data[0].leaf);
  gs_tensor a = result_of(p), b = result_of(q);
  cr_assert_eq(gs_tensor_get(&a, 0), 3);
  cr_assert_eq(gs_tensor_get(&b, 0), 1);
}

Test(nest, a_fold_that_is_too_small_shows) {
  const char *text = "input A: f32[16]\noutput B: f32[16]\n"
                     "local t: f32[16 fold 16]\n"
                     "for i in 0..16 { S: t[i] = A[i] }\n"
                     "for j in 0..16 { T: B[j] = t[j] }\n";
  const char *whole = "input A: f32[16]\noutput B: f32[16]\n"
                      "for j in 0..16 { T: B[j] = A[j] }\n";
  po_program *p = read_loops(text), *q = read_loops(whole);
  expect_equal(p, q);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].fold[0])
      p->arrays.data[k].fold[0] = 15;
  expect_different(p, q);
}

/* ---- rounding ---- */

static double
by_hand(gs_dtype dtype, const char *op, double x, double y) {
  bool whole = gs_dtype_table[dtype].integer;
  double z = *op == '+'     ? x + y
             : *op == '-'   ? x - y
             : *op == '*'   ? x * y
             : op[1] == 'a' ? (x > y ? x : y)
                            : (x < y ? x : y);
  return whole ? (double)gs_wrap(dtype, (int64_t)z) : gs_convert(dtype, z);
}

/* An array keeps each value that a sum has on its way. */
Test(nest, updates_round_each_time) {
  static const char *const ops[] = {"+", "-", "*", "max", "min"};
  static const gs_dtype dtypes[] = {GS_F16, GS_BF16, GS_F32, GS_F64, GS_I8,
                                    GS_U8,  GS_I16,  GS_U16, GS_I32};
  enum { N = sizeof ops / sizeof *ops, M = sizeof dtypes / sizeof *dtypes };
  for (size_t k = 0; k < (size_t)N * M; k++) {
    const char *op = ops[k % N];
    gs_dtype dtype = dtypes[k / N];
    const char *name = gs_dtype_table[dtype].name;
    po_program *p = read_loops(
        bs_arena_printf(&arena,
                        "input A: %s[300]\noutput s: %s[1]\nS: s[0] = A[0]\n"
                        "for i in 1..300 { T: s[0] %s= A[i] }\n",
                        name, name, op));
    gs_tensor a, s;
    seed_tensors(p, 11, &a, &s);
    cr_assert(po_execute(p, &a, &s), "%s", faults());
    double wanted = gs_tensor_get(&a, 0);
    for (int64_t i = 1; i < 300; i++)
      wanted = by_hand(dtype, op, wanted, gs_tensor_get(&a, i));
    cr_expect_eq(gs_tensor_get(&s, 0), wanted, "%s of %s: %g, not %g", op, name,
                 gs_tensor_get(&s, 0), wanted);
  }
}

/* Operators of a body compute in f32, but for those of f64; only what is stored
 * is narrower. */
Test(nest, each_operator_rounds) {
  static const gs_dtype dtypes[] = {GS_F16, GS_BF16, GS_F32, GS_F64};
  for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
    const char *name = gs_dtype_table[dtypes[k]].name;
    po_program *p =
        read_loops(bs_arena_printf(&arena,
                                   "input A: %s[90]\noutput C: %s[90]\n"
                                   "for i in 0..90 { S: C[i] = A[i] * A[i] * "
                                   "A[i] * A[i] * A[i] - A[i] }\n",
                                   name, name));
    gs_tensor a, c;
    seed_tensors(p, 11, &a, &c);
    cr_assert(po_execute(p, &a, &c), "%s", faults());
    gs_dtype in = dtypes[k] == GS_F64 ? GS_F64 : GS_F32;
    for (int64_t i = 0; i < 90; i++) {
      double x = gs_tensor_get(&a, i), v = x;
      for (int j = 0; j < 4; j++)
        v = gs_convert(in, v * x);
      v = gs_convert(dtypes[k], gs_convert(in, v - x));
      cr_expect_eq(gs_tensor_get(&c, i), v, "%s: of %g, %g and not %g", name, x,
                   gs_tensor_get(&c, i), v);
    }
  }
}

/* A value that an array kept is what the array made of it. */
Test(nest, what_is_inlined_is_rounded) {
  static const gs_dtype dtypes[] = {GS_F16, GS_BF16, GS_F32, GS_F64, GS_I8,
                                    GS_U8,  GS_I16,  GS_U16, GS_I32};
  static const char script[] = "compute_inline B";
  for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
    const char *name = gs_dtype_table[dtypes[k]].name;
    const char *text = bs_arena_printf(
        &arena,
        "input A: %s[90]\noutput C: %s[90]\nworkspace B: %s[90]\n"
        "for i in 0..90 { S: B[i] = A[i] * A[i] }\n"
        "for j in 0..90 { T: C[j] = B[j] * A[j] + B[89 - j] }\n",
        name, name, name);
    po_program *p = read_loops(text), *q = read_loops(text);
    uint32_t source =
        bs_source_add(&diags, "s.sched", script, sizeof script - 1);
    bs_text said;
    bs_text_init(&said, &heap);
    cr_assert(po_run_script(&q, source, &said), "%s", faults());
    expect_equal(p, q);
  }
}

/* Lowered programs equal the interpreter, up to rounding. */
Test(nest, lowered_programs_run) {
  static const char *const programs[] = {
      MATMUL "(output c)",
      "(tensor a (shape 8 8) f32)(let y (compute reduceMax (windows (access "
      "(pad a zero 0 1 1) 0) (shape 3 3) (stride 2 1))))(output y)",
      "(tensor a (shape 6 4) f32)(let y (compute softmax (access a 1)))"
      "(output y)",
      "(tensor a (shape 6 4) i8)(tensor b (shape 6 4) i8)(let y (compute "
      "dotProd (access (pair (access a 1) (access b 1)) 1)))(output y)",
      "(tensor a (shape 12 4) bf16)(let y (compute reduceMean (access (reshape "
      "a (shape 6 8) (shape)) 1)))(output y)",
      "(tensor a (shape 9) f32)(let y (compute (cast i8) (compute (scale 100) "
      "(reshape (slice (repeat a 0 3) 0 2 22) (shape 4 5) (shape)))))"
      "(output y)",
      "(tensor a (shape 5 6) i32)(let y (compute reduceMean (access a 1)))"
      "(output y)",
  };
  for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
    gs_target *target = gs_target_default(&ctx);
    gs_program *source = program_over(target, programs[k]);
    po_program *p = po_lower(source, target, &(po_options){0});
    gs_tensor inputs[4], outputs[4], expected[4];
    gs_difference d;
    seed_tensors(p, 3, inputs, outputs);
    cr_assert(po_execute(p, inputs, outputs), "%s", faults());
    cr_assert(gs_interpret(source, inputs, expected));
    cr_assert(gs_tensor_compare(&outputs[0], &expected[0], 1e-5, 1e-6, &d),
              "program %zu: %lld differ", k, (long long)d.count);
  }
}

Test(nest, too_many_instances_are_refused) {
  po_program *p = read_loops("output s: f32[] for i in 0..100000 { "
                             "for j in 0..100000 { S: s[] += 1 } }");
  gs_tensor outputs[1];
  seed_tensors(p, 1, NULL, outputs);
  cr_assert_not(po_execute(p, NULL, outputs));
  cr_assert(has_fault("too-large"));
}

/* Bounds are of the values between the first and the last one: which of them
 * there are stands before what runs. */
Test(nest, gaps_of_a_loop_are_shown) {
  po_program *p = read_loops(
      "output B: i32[40, 40]\n"
      "for t in 0..40 { for u in 0..40 {\n"
      "S: B[t, u] = 1 where t % 3 = 1 and u = 2 or t % 3 = 1 and u = 7 } }\n");
  bs_text out;
  bs_text_init(&out, &heap);
  po_print_nest(p, &out);
  cr_assert_str_eq(bs_text_str(&out),
                   "for t=1..37\n"
                   "  if ((t - 1) % 3 == 0) for u=2..7\n"
                   "    if (u == 7 || u == 2) B[t, u] = 1\n");
  bs_text_done(&out);
}

/* Where nobody asks for the pair, or will read of it, none is looked for. */
Test(nest, violations_that_nobody_asks_for) {
  po_program *p = read_loops("input X: f32[9]\noutput A: f32[10]\n"
                             "Z: A[0] = 1\n"
                             "for i in 0..9 { S: A[i + 1] = A[i] + X[i] }\n");
  uint32_t i = loop_of(p, "i");
  po_violation v;
  cr_assert_not(po_loop_is_parallel(p, i, true, NULL));
  cr_assert_not(po_loop_is_parallel(p, i, true, &v));
  cr_assert(v.violated == 8 && v.pairs == 9);
  diags.unread = true;
  cr_assert_not(po_loop_is_parallel(p, i, true, &v));
  cr_assert_eq(v.violated, -1);
  cr_assert_str_eq(v.source, "?");
}

Test(nest, points_are_walked_over_so_far) {
  po_program *p = read_loops(COPY);
  isl_set *triangle =
      isl_set_read_from_str(p->isl, "{ [i, j] : 0 <= i <= j and j < 1000 }");
  cr_assert_eq(po_count_points_within(isl_set_copy(triangle), 100), -1);
  cr_assert_eq(po_count_points(triangle), 500500);
}

Test(nest, what_has_no_instances_is_not_shown) {
  po_program *p = read_loops(
      "output C: f32[10]\n"
      "for j in 0..10 { R: C[j] = 1 S: C[j] = 2 where 1 = 0 }\n"
      "for k in 0..10 { for l in 0..10 { T: C[k] += 1 where 1 = 0 } }\n");
  bs_text out;
  bs_text_init(&out, &heap);
  po_print_nest(p, &out);
  cr_assert_str_eq(bs_text_str(&out), "for j<10\n"
                                      "  C[j] = 1\n");
  bs_text_done(&out);
}
