/* SPDX-License-Identifier: MIT */
/* Facts of Glenside's own tests: types, values, and what was unsound there.
 *
 * Its access-tensor is a tensor here, and its shape terms (slice-shape,
 * shape-insert-axis, ...) are functions of the rule language; they are tried in
 * tests/rules/glenside-types.rules.  Its Relay operators are programs here:
 * pooling is a reduction of windows, a depthwise convolution a dot product of
 * pairs.  access-shift-right is the access one dimension further out. */
#include "glenside/interpret/interpret.h"
#include "lawful.h"
#include "rules/test/sound.h"
#include <math.h>

TestSuite(glenside, .init = fixture_start, .fini = fixture_stop);

/* --- types ---------------------------------------------------------------- */

#define TENSORS                                                                \
  "(tensor v (shape 32) f32)(tensor t (shape 3 32 32) f32)"                    \
  "(tensor w (shape 8 3 3 3) f32)(tensor s (shape 32 32) f32)"                 \
  "(tensor u (shape 1 2 3 4) f32)(tensor m (shape 32 64) f32)"                 \
  "(tensor r (shape 4 5 6) f32)"                                               \
  "(tensor p (shape 1 3 32 64) f32)(tensor n (shape 1 32 64 3) f32)"           \
  "(tensor d (shape 2 3 32 32) f32)(tensor k (shape 3 5 5) f32)"               \
  "(tensor kr (shape 64 32 1 2) f32)(tensor im (shape 1 32 44 78) f32)"        \
  "(tensor kh (shape 1 2 32 64) f32)(tensor ih (shape 1 44 78 32) f32)"        \
  "(tensor ko (shape 65 33 1 2) f32)(tensor io (shape 1 33 44 78) f32)"

/* `type` as gs_put_type prints it, or the code of the diagnostic. */
static const struct {
  const char *term, *type;
} types[] = {
    {"(access t 0)", "((), (3, 32, 32)) f32"},
    {"(access t 2)", "((3, 32), (32)) f32"},
    {"(access t 3)", "((3, 32, 32), ()) f32"},
    {"(access t 4)", "axis-range"},
    {"(access (access t 3) 0)", "((), (3, 32, 32)) f32"},
    {"(windows (access t 0) (shape 3 3 3) (stride 1 1 1))",
     "((1, 30, 30), (3, 3, 3)) f32"},
    {"(windows (access t 0) (shape 3 3 3) (stride 1 2 1))",
     "((1, 15, 30), (3, 3, 3)) f32"},
    {"(cartProd (access v 0) (access s 1))", "((32), (2, 32)) f32"},
    {"(cartProd (access s 1) (access v 0))", "((32), (2, 32)) f32"},
    {"(cartProd (pad (access v 0) zero 0 2 3) (pad (access s 1) zero 1 2 3))",
     "((32), (2, 37)) f32"},
    {"(compute dotProd (access t 0))", "((), ()) f32"},
    {"(compute dotProd (access t 1))", "((3), ()) f32"},
    {"(compute dotProd (access t 2))", "((3, 32), ()) f32"},
    {"(compute dotProd (access t 3))", "empty-compute"},
    {"(compute dotProd (cartProd (access w 1) (squeeze (windows (access t 0)"
     " (shape 3 3 3) (stride 1 1 1)) 0)))",
     "((8, 30, 30), ()) f32"},
    {"(compute dotProd (cartProd (access w 1) (squeeze (windows (access t 0)"
     " (shape 3 3 3) (stride 1 1 2)) 0)))",
     "((8, 30, 15), ()) f32"},
    {"(flatten (access t 2))", "((96), (32)) f32"},
    {"(reshape (flatten (access t 2)) (shape 32 3) (shape 16 2))",
     "((32, 3), (16, 2)) f32"},
    {"(reshape (flatten (access t 2)) (shape 1) (shape 16 2))", "reshape"},
    {"(slice (access t 1) 0 0 1)", "((1), (32, 32)) f32"},
    {"(slice (access t 1) 1 16 32)", "((3), (16, 32)) f32"},
    {"(slice (access t 2) 2 16 32)", "((3, 32), (16)) f32"},
    {"(slice (access t 2) 3 16 32)", "axis-range"},
    {"(slice (pad (access t 1) zero 0 2 3) 0 0 3)", "((3), (32, 32)) f32"},
    {"(slice (pad (access t 1) zero 0 2 3) 0 1 7)", "((6), (32, 32)) f32"},
    {"(concat (access t 1) (access t 1) 0)", "((6), (32, 32)) f32"},
    {"(concat (access t 1) (access t 1) 2)", "((3), (32, 64)) f32"},
    {"(concat (access t 1) (access t 1) 3)", "axis-range"},
    {"(concat (access t 1) (access s 1) 0)", "shape-mismatch"},
    {"(concat (access t 1) (access t 2) 0)", "shape-mismatch"},
    {"(transpose (access t 1) (list 1 2 0))", "((32), (32, 3)) f32"},
    {"(transpose (access t 1) (list 0 1 3))", "bad-permutation"},
    {"(transpose (access t 1) (list 0 1))", "bad-permutation"},
    {"(transpose (access r 1) (list 2 0 1))", "((6), (4, 5)) f32"},
    {"(pair (access s 1) (access s 1))", "((32), (2, 32)) f32"},
    {"(pair (access s 1) (access s 2))", "shape-mismatch"},
    {"(pair (access s 1) (access m 1))", "shape-mismatch"},
    {"(access (access s 2) 1)", "((32), (32)) f32"},
    {"(access (access s 1) 0)", "((), (32, 32)) f32"},
    {"(compute relu (access t 1))", "((3), (32, 32)) f32"},
    {"(compute sqrt (access t 1))", "((3), (32, 32)) f32"},
    {"(compute neg (access t 1))", "((3), (32, 32)) f32"},
    {"(compute add (access t 0))", "((), (32, 32)) f32"},
    {"(compute mul (access t 1))", "((3), (32)) f32"},
    {"(compute div (access t 2))", "((3, 32), ()) f32"},
    {"(compute add (access t 3))", "empty-compute"},
    {"(compute reduceSum (access t 0))", "((), ()) f32"},
    {"(compute reduceMax (access t 2))", "((3, 32), ()) f32"},
    {"(compute reduceMean (access t 2))", "((3, 32), ()) f32"},
    {"(compute softmax (access t 2))", "((3, 32), (32)) f32"},
    {"(compute softmax (access t 3))", "empty-compute"},
    /* softmax there takes one dimension; here, all of C */
    {"(compute softmax (access t 0))", "((), (3, 32, 32)) f32"},
    {"(pad (access s 1) zero 0 1 2)", "((35), (32)) f32"},
    {"(pad (access s 1) zero 1 0 2)", "((32), (34)) f32"},
    {"(pad (access s 1) zero 2 0 2)", "axis-range"},
    {"(squeeze (access u 1) 0)", "((), (2, 3, 4)) f32"},
    {"(squeeze (access u 1) 2)", "not-unit"},
    {"(insertAxis (access u 1) 0)", "((1, 1), (2, 3, 4)) f32"},
    {"(broadcast (access u 1) (shape 2 2 3 4))", "((2), (2, 3, 4)) f32"},
    /* convolutions in arrays: (1, 64, 15, 20), (1, 15, 20, 64), ... */
    {"(transpose (squeeze (compute dotProd (cartProd (windows (access im 1)"
     " (shape 32 1 2) (stride 1 3 4)) (access kr 1))) 1) (list 0 3 1 2))",
     "((1, 64, 15, 20), ()) f32"},
    {"(squeeze (compute dotProd (cartProd (windows (access ih 1)"
     " (shape 1 2 32) (stride 3 4 1))"
     " (access (transpose kh (list 3 0 1 2)) 1))) 3)",
     "((1, 15, 20, 64), ()) f32"},
    {"(transpose (squeeze (compute dotProd (cartProd (windows (access io 1)"
     " (shape 33 1 2) (stride 1 3 4)) (access ko 1))) 1) (list 0 3 1 2))",
     "((1, 65, 15, 20), ()) f32"},
    /* max pooling: pool (1 2), stride (3 4), pad (5 6 7 8) */
    {"(compute reduceMax (windows (access (pad (pad p min 2 5 7) min 3 6 8) 2)"
     " (shape 1 2) (stride 3 4)))",
     "((1, 3, 15, 20), ()) f32"},
    {"(squeeze (compute reduceMax (windows (access (pad (pad (transpose n"
     " (list 0 3 1 2)) min 2 5 7) min 3 6 8) 2) (shape 1 2) (stride 3 4))) 0)",
     "((3, 15, 20), ()) f32"},
    /* depthwise: stride (2 3), pad (1 2 3 4); stride (4 1), pad (0 2 1 5) */
    {"(compute dotProd (pair (windows (access (pad (pad d zero 2 1 3) zero 3 2"
     " 4) 2) (shape 5 5) (stride 2 3)) (broadcast (reshape (access k 1)"
     " (shape 1 3 1 1) (shape 5 5)) (shape 2 3 16 12 5 5))))",
     "((2, 3, 16, 12), ()) f32"},
    {"(compute dotProd (pair (windows (access (pad (pad d zero 2 0 1) zero 3 2"
     " 5) 2) (shape 5 5) (stride 4 1)) (broadcast (reshape (access k 1)"
     " (shape 1 3 1 1) (shape 5 5)) (shape 2 3 8 35 5 5))))",
     "((2, 3, 8, 35), ()) f32"},
    /* elements never move between S and C */
    {"(reshape (access (reshape v (shape 2 16) (shape)) 1) (shape 4) (shape "
     "8))",
     "reshape"},
    {"(flatten (access (reshape (slice r 0 0 2) (shape 2 3 4 5) (shape)) 2))",
     "reshape"},
    {"(flatten (access u 2))", "((2), (12)) f32"},
    {"(flatten (access u 0))", "((), (24)) f32"},
};

/* The type of the term, or the code of the first diagnostic. */
static const char *
outcome(const char *term) {
  char text[2048];
  bs_text out;
  gs_type type;
  snprintf(text, sizeof text, TENSORS "(let x %s)(output x)", term);
  uint32_t before = diags.list.len;
  gs_program *p = gs_parse(&ctx, NULL, source("p", text));
  bs_text_init(&out, &heap);
  if (p) {
    gs_type_at(p, p->outputs.data[0].term, &type);
    gs_put_type(&out, &type);
    return bs_text_str(&out);
  }
  return diags.list.len > before ? diags.list.data[before].code : "nothing";
}

Test(glenside, types) {
  diags.limit = 1000;
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    const char *got = outcome(types[k].term);
    cr_expect_str_eq(got, types[k].type, "%s: %s, not %s", types[k].term, got,
                     types[k].type);
  }
}

/* (systolicArray 64 32 ..) on a : 32 x 64 and itself, transposed or not. */
Test(glenside, types_of_calls) {
  static const struct {
    const char *call, *type;
  } calls[] = {
      {"(systolicArray 64 32 (access a 1) (access (transpose a (list 1 0)) 0))",
       "((32, 32), ()) f32"},
      {"(systolicArray 64 32 (access a 1) (access a 0))", NULL},
      {"(systolicArray 32 32 (access a 1) (access (transpose a (list 1 0)) 0))",
       NULL},
  };
  gs_target *t =
      gs_target_parse_file(&ctx, GLEN_SOURCE_DIR "/targets/systolic.target");
  cr_assert(t, "%s", faults());
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
    char text[256];
    gs_type type;
    bs_text out;
    snprintf(text, sizeof text,
             "(tensor a (shape 32 64) f32)(let x %s)"
             "(output x)",
             calls[k].call);
    gs_program *p = gs_parse(&ctx, t, source("p", text));
    cr_expect_eq(p != NULL, calls[k].type != NULL, "%s", calls[k].call);
    if (!p || !calls[k].type)
      continue;
    bs_text_init(&out, &heap);
    gs_type_at(p, p->outputs.data[0].term, &type);
    gs_put_type(&out, &type);
    cr_expect_str_eq(bs_text_str(&out), calls[k].type);
  }
}

/* Every operator parses back as it prints. */
Test(glenside, operators_parse_back) {
  for (int op = 0; op < GS_COMPUTE_COUNT; op++) {
    const gs_compute_info *info = &gs_compute_table[op];
    char text[256], params[64] = "";
    for (const char *c = info->params; *c; c++)
      strcat(params, *c == 't'                    ? " f64"
                     : strcmp(info->name, "clip") ? " 2"
                     : c == info->params          ? " -1"
                                                  : " 6");
    snprintf(text, sizeof text,
             "(tensor x (shape %s) f32)(let y (compute %s%s%s%s (access x "
             "0)))(output y)",
             op == GS_C_SELECT   ? "3 4"
             : op == GS_C_LOOKUP ? "4"
                                 : "2 4",
             *params ? "(" : "", info->name, params, *params ? ")" : "");
    const char *once = printed(program_of(text));
    cr_expect_str_eq(printed(program_of(once)), once);
  }
}

/* --- values --------------------------------------------------------------- */

static void
evaluate(const gs_program *p, gs_tensor *in, gs_tensor *out) {
  for (uint32_t k = 0; k < p->inputs.len; k++) {
    gs_type t;
    gs_type_at(p, p->inputs.data[k].term, &t);
    gs_tensor_init(&heap, &in[k], &t);
    gs_tensor_fill(&in[k], 23, p->inputs.data[k].name);
  }
  cr_assert(gs_interpret(p, in, out), "%s", faults());
}

static double
at(const gs_tensor *t, int64_t i) {
  return gs_tensor_get(t, i);
}

Test(glenside, conv2d_of_the_interpreter) {
  gs_tensor in[2], out[1];
  evaluate(
      program_of("(tensor filters (shape 8 4 3 3) f32)"
                 "(tensor image (shape 4 32 32) f32)"
                 "(let patches (squeeze (windows (access image 0) (shape 4 3 3)"
                 "  (stride 1 1 1)) 0))"
                 "(let out (compute dotProd (cartProd (access filters 1)"
                 "  patches)))(output out)"),
      in, out);
  cr_assert_eq(out[0].elements, 8 * 30 * 30);
  for (int o = 0; o < 8; o++)
    for (int y = 0; y < 30; y++)
      for (int x = 0; x < 30; x++) {
        double sum = 0;
        for (int i = 0; i < 36; i++)
          sum += at(&in[0], o * 36 + i) *
                 at(&in[1], i / 9 * 1024 + (y + i % 9 / 3) * 32 + x + i % 3);
        cr_assert_float_eq(at(&out[0], (o * 30 + y) * 30 + x), sum, 5e-6);
      }
}

Test(glenside, matmul_of_the_examples) {
  gs_tensor in[2], out[1];
  evaluate(program_of("(tensor a (shape 32 64) f64)(tensor b (shape 64 16) f64)"
                      "(let c (compute dotProd (cartProd (access a 1)"
                      "  (transpose (access b 1) (list 1 0)))))(output c)"),
           in, out);
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 16; j++) {
      double sum = 0;
      for (int k = 0; k < 64; k++)
        sum += at(&in[0], i * 64 + k) * at(&in[1], k * 16 + j);
      cr_assert_float_eq(at(&out[0], i * 16 + j), sum, 1e-7);
    }
}

/* A row times three matrices, one after the other. */
Test(glenside, perceptron_of_the_examples) {
  gs_tensor in[4], out[1];
  double row[6] = {0}, next[6];
  static const int sizes[] = {2, 4, 6, 2};
  evaluate(program_of("(tensor v (shape 2) f32)(tensor w0 (shape 2 4) f32)"
                      "(tensor w1 (shape 4 6) f32)(tensor w2 (shape 6 2) f32)"
                      "(let h0 (compute dotProd (cartProd (access v 0)"
                      "  (transpose (access w0 1) (list 1 0)))))"
                      "(let h1 (compute dotProd (cartProd (access h0 0)"
                      "  (transpose (access w1 1) (list 1 0)))))"
                      "(let h2 (compute dotProd (cartProd (access h1 0)"
                      "  (transpose (access w2 1) (list 1 0)))))(output h2)"),
           in, out);
  for (int i = 0; i < 2; i++)
    row[i] = at(&in[0], i);
  for (int l = 0; l < 3; l++) {
    for (int j = 0; j < sizes[l + 1]; j++) {
      next[j] = 0;
      for (int i = 0; i < sizes[l]; i++)
        next[j] += row[i] * at(&in[l + 1], i * sizes[l + 1] + j);
    }
    memcpy(row, next, sizeof row);
  }
  cr_expect_float_eq(at(&out[0], 0), row[0], 1e-5);
  cr_expect_float_eq(at(&out[0], 1), row[1], 1e-5);
}

/* ((2,3),(4,5)) flattened is ((6),(20)) with the elements in their order. */
Test(glenside, flatten_keeps_both_sides) {
  gs_tensor in[1], out[1];
  gs_program *p = program_of("(tensor x (shape 2 3 4 5) f32)"
                             "(let y (compute reduceSum (flatten (access x "
                             "2))))(output y)");
  evaluate(p, in, out);
  cr_assert_eq(out[0].elements, 6);
  for (int i = 0; i < 6; i++) {
    double sum = 0;
    for (int j = 0; j < 20; j++)
      sum += at(&in[0], i * 20 + j);
    cr_expect_float_eq(at(&out[0], i), sum, 1e-5);
  }
}

/* --- what was unsound ----------------------------------------------------- */

static const char *const wrong[] = {
    /* the tuple axis of a dot product is no item axis */
    "(rule wrong \"A seam of the tuple is a sum.\""
    "  (compute dotProd (concat ?a ?b ?d))"
    "  => (compute add (pair (compute dotProd ?a) (compute dotProd ?b)))"
    "  :where (>= ?d (access-rank ?a)))",
    /* (2 6) to (3 4) */
    "(rule wrong \"A reshape of any items.\""
    "  (compute dotProd (reshape ?a ?s ?c))"
    "  => (reshape (compute dotProd ?a) ?s (list)))",
    /* windows of 4 every 3 of 8 */
    "(rule wrong \"Windows that may leave items out.\""
    "  (compute reduceMax ?a)"
    "  => (compute reduceMax (access (compute reduceMax"
    "       (windows ?a (shape 2) (stride 2))) ?n))"
    "  :where (and (= ?n (access-rank ?a)) (= (compute-rank ?a) 1)"
    "              (> (dim ?a ?n) 2)))",
    /* padding with zeros is nothing to a sum, but it is to a maximum */
    "(rule wrong \"Zeros are low.\""
    "  (compute reduceMax (pad ?a zero ?d ?b ?e)) => (compute reduceMax ?a)"
    "  :where (>= ?d (access-rank ?a)))",
    /* a slice of data under a dot product */
    "(rule wrong \"What is cut away is zero.\""
    "  (compute dotProd (slice ?a ?d ?lo ?hi)) => (compute dotProd ?a)"
    "  :where (> ?d (access-rank ?a)))",
};

Test(glenside, wrong_rules_are_caught) {
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    const rl_rules *rules = rules_of(wrong[k]);
    rl_sound_options o;
    rl_sound_result r;
    rl_sound_defaults(&o);
    o.programs = 60;
    o.attempts = 6000;
    cr_expect(!rl_check_sound(&ctx, rules, 0, &o, &r), "%s", wrong[k]);
    cr_expect_gt(r.fired, 0);
  }
}

/* These cannot even be built: the type is another one. */
Test(glenside, wrong_reshapes_are_ill_typed) {
  cr_expect_str_eq(outcome("(reshape (access r 1) (shape 8) (shape 15))"),
                   "reshape");
  cr_expect_str_eq(outcome("(compute reduceMax (reshape (access s 1) (shape 64)"
                           " (shape 16)))"),
                   "reshape");
}

/* A rule speaks of what it matched, not of a tensor that has a name. */
Test(glenside, rules_name_no_tensor) {
  rl_rules *rules = rl_new(&ctx, NULL);
  bool ok = rl_load_source(
      rules, source("r", "(rule pool \"Pools `data`, whatever it matched.\""
                         "  (compute reduceMax (windows ?a ?k ?s))"
                         "  => (compute reduceMax (windows data ?k ?s)))"));
  cr_expect(!(rl_finish(rules) && ok));
  cr_expect_gt(diags.errors, 0);
}
