/* SPDX-License-Identifier: MIT */
/* Whole programs mapped onto an array: after the shipped strategy some program
 * is left that computes no dot product on the host, and it denotes the same. */
#include "mapped.h"

TestSuite(mapping, .init = fixture_start, .fini = fixture_stop);

static mapped
map_onto(const gs_target *t, const char *text, uint32_t nodes) {
  rl_rules *rules = rl_new(&ctx, t);
  bool ok = rl_load(rules, GLEN_SOURCE_DIR "/rules");
  cr_assert(rl_finish(rules) && ok, "%s", faults());
  return map_under(t, rules, text, nodes);
}

static mapped
map(const char *target, const char *text, uint32_t nodes) {
  char path[512];
  snprintf(path, sizeof path, "%s/targets/%s.target", GLEN_SOURCE_DIR, target);
  gs_target *t = gs_target_parse_file(&ctx, path);
  cr_assert(t, "%s", faults());
  return map_onto(t, text, nodes);
}

#define CONV(n, c, h, w, o, kh, kw, pad, s)                                    \
  "(tensor image (shape " #n " " #c " " #h " " #w ") f32)"                     \
  "(tensor weights (shape " #o " " #c " " #kh " " #kw ") f32)"                 \
  "(let padded (pad (pad image zero 2 " #pad " " #pad ") zero 3 " #pad         \
  " " #pad "))"                                                                \
  "(let conv (transpose (squeeze (compute dotProd (cartProd (windows (access " \
  "  padded 1) (shape " #c " " #kh " " #kw ") (stride 1 " #s " " #s "))"       \
  "  (access weights 1))) 1) (list 0 3 1 2)))(output conv)"

#define BYTES(m, k, n)                                                         \
  "(tensor a (shape " #m " " #k ") i8)(tensor b (shape " #n " " #k ") i8)"     \
  "(let c (compute dotProd (cartProd (access a 1) (access b 1))))(output c)"

#define MATMUL(m, k, n)                                                        \
  "(tensor a (shape " #m " " #k ") f32)(tensor b (shape " #k " " #n ") f32)"   \
  "(let c (compute dotProd (cartProd (access a 1) (transpose (access b 1)"     \
  "  (list 1 0)))))(output c)"

Test(mapping, image_padded_onto_64x64) {
  mapped m = map(
      "systolic64",
      "(tensor image (shape 1 32 32 3) f32)"
      "(tensor weights (shape 3 3 3 8) f32)"
      "(let w (access (transpose weights (list 3 2 0 1)) 1))"
      "(let padded (pad (pad (transpose image (list 0 3 1 2)) zero 2 1 1)"
      "  zero 3 1 1))"
      "(let patches (access (squeeze (windows (access padded 1) (shape 3 3 3)"
      "  (stride 1 1 1)) 1) 3))"
      "(let conv (compute dotProd (cartProd w patches)))"
      "(let out (transpose (transpose conv (list 1 0 2 3)) (list 0 2 3 1)))"
      "(output out)",
      500000);
  cr_expect_eq(m.dots, 0);
  cr_expect_eq(m.calls, 1);
  equal(&m);
}

Test(mapping, resnet_layer_onto_16x16) {
  mapped m = map("systolic16", CONV(1, 64, 56, 56, 64, 3, 3, 1, 1), 500000);
  cr_expect_eq(m.dots, 0);
  cr_expect_eq(m.calls, 4 * 36);
}

/* A sum that the array does not divide is begun by blocks of 16, and one more
 * call adds the rest where the sums are: the host adds nothing. */
Test(mapping, sums_of_uneven_parts_go_on) {
  static const struct {
    const char *text;
    uint32_t calls;
  } programs[] = {{BYTES(20, 97, 24), 4 * 7},
                  {BYTES(16, 53, 16), 4},
                  {BYTES(5, 113, 40), 4 * 8},
                  {BYTES(32, 37, 8), 2 * 3}};
  call_price = 0;
  for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
    mapped m = map("gemmini", programs[k].text, 200000);
    cr_expect_eq(m.dots, 0);
    cr_expect_eq(m.computes, 0, "%s: %u", programs[k].text, m.computes);
    cr_expect_eq(m.calls, programs[k].calls, "%s: %u", programs[k].text,
                 m.calls);
    equal(&m);
  }
}

/* Sums that are stored as bytes, in some order. */
#define STORED(m, k, n, order)                                                 \
  "(tensor a (shape " #m " " #k ") i8)(tensor b (shape " #n " " #k ") i8)"     \
  "(let p (compute dotProd (cartProd (access a 1) (access b 1))))"             \
  "(let s (compute (cast i8) (compute (clip -128 127) (compute (cast i32)"     \
  "  (compute floor (compute (scale 0.0078125) (compute (cast f32) p)))))))"   \
  "(let t " order ")(output t)"

/* The operands may change places, so that tiles are stored in either order of
 * their rows and columns: nothing is copied to be turned. */
Test(mapping, tiles_are_stored_turned_where_that_is_asked) {
  static const char *const programs[] = {
      STORED(32, 32, 48, "s"),
      STORED(32, 32, 48, "(transpose s (list 1 0))"),
      STORED(16, 48, 64, "(transpose s (list 1 0))"),
      STORED(32, 32, 48,
             "(transpose (reshape s (shape 32 3 16) (shape)) (list 1 2 0))"),
  };
  host_price = 1e6;
  for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
    mapped m = map("gemmini", programs[k], 200000);
    const char *text = printed(m.result);
    cr_expect_eq(m.computes, 0, "%s", text);
    cr_expect_null(strstr(text, "materialize"), "%s", text);
    equal(&m);
  }
}

Test(mapping, convolutions_onto_16x16) {
  static const char *const programs[] = {
      CONV(1, 16, 6, 6, 16, 3, 3, 1, 1),
      CONV(2, 3, 9, 8, 5, 3, 2, 0, 2),
      CONV(1, 5, 7, 7, 33, 1, 1, 0, 1),
      CONV(1, 1, 12, 5, 1, 5, 5, 2, 3),
  };
  for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
    mapped m = map("systolic16", programs[k], 200000);
    cr_expect_eq(m.dots, 0);
    cr_expect_gt(m.calls, 0);
    equal(&m);
  }
}

Test(mapping, products_onto_16x16) {
  static const struct {
    const char *text;
    uint32_t calls;
  } cases[] = {{MATMUL(64, 64, 64), 16},
               {MATMUL(128, 128, 128), 64},
               {MATMUL(256, 256, 256), 256},
               {MATMUL(1, 100, 10), 7},
               {MATMUL(40, 17, 3), 2}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    mapped m = map("systolic16", cases[k].text, 2000000);
    cr_expect_eq(m.dots, 0);
    cr_expect_eq(m.calls, cases[k].calls, "%zu: %u calls", k, m.calls);
    if (k != 2)
      equal(&m);
  }
}

/* 37 tokens of each head are three blocks of 16; of the columns of a channel by
 * itself, fifteen are zeros.  The rules that pad products know neither products
 * of a batch nor windows. */
Test(mapping, products_between_zeros_onto_16x16) {
  static const struct {
    const char *text;
    uint32_t calls;
  } cases[] = {{"(tensor s (shape 6 37 37) f32)(tensor v (shape 6 37 32) f32)"
                "(let heads (compute dotProd (pair"
                "  (access (broadcast (insertAxis s 2) (shape 6 37 32 37)) 3)"
                "  (access (broadcast (insertAxis (transpose v (list 0 2 1)) 1)"
                "    (shape 6 37 32 37)) 3))))(output heads)",
                6 * 2 * 3},
               {"(tensor a (shape 5 9 9) f32)(tensor b (shape 5 3 3) f32)"
                "(let each (compute dotProd (pair (windows (access a 1)"
                "  (shape 3 3) (stride 1 1))"
                "  (access (broadcast (insertAxis (insertAxis b 1) 1)"
                "    (shape 5 7 7 3 3)) 3))))(output each)",
                5}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    mapped m = map("systolic16", cases[k].text, 50000);
    cr_expect_eq(m.dots, 0);
    cr_expect_eq(m.calls, cases[k].calls, "%u", m.calls);
    equal(&m);
  }
}

/* What is built does not grow with the number of tiles. */
Test(mapping, a_product_of_any_size_is_one_term) {
  mapped small = map("systolic16", MATMUL(64, 64, 64), 1000);
  mapped large = map("systolic16", MATMUL(4096, 4096, 4096), 1000);
  cr_expect_eq(large.dots, 0);
  cr_expect_eq(large.calls, 256 * 256);
  cr_expect_eq(large.nodes, small.nodes);
  cr_expect_eq(large.result->nodes.len, small.result->nodes.len);
}

/* Dilated, grouped and depthwise; the array knows none of them. */
Test(mapping, other_convolutions_onto_16x16) {
  static const char *const programs[] = {
      "(tensor x (shape 1 4 12 12) f32)(tensor w (shape 6 4 3 3) f32)"
      "(let y (compute dotProd (cartProd (windows (access x 1) (shape 4 3 3)"
      "  (stride 1 1 1) (dilation 1 2 3)) (access w 1))))(output y)",
      "(tensor x (shape 1 6 8 8) f32)(tensor w (shape 4 3 3 3) f32)"
      "(let p (broadcast (windows (access (reshape x (shape 1 2 3 8 8) (shape))"
      "  2) (shape 3 3 3) (stride 1 1 1)) (shape 1 2 2 6 6 3 3 3)))"
      "(let f (broadcast (reshape (access w 1) (shape 1 2 2 1 1) (shape 3 3 3))"
      "  (shape 1 2 2 6 6 3 3 3)))"
      "(let y (compute dotProd (pair p f)))(output y)",
      "(tensor x (shape 1 5 8 8) f32)(tensor w (shape 5 3 3) f32)"
      "(let p (windows (access x 2) (shape 3 3) (stride 1 2)))"
      "(let f (broadcast (reshape (access w 1) (shape 1 5 1 1) (shape 3 3))"
      "  (shape 1 5 6 3 3 3)))"
      "(let y (compute dotProd (pair p f)))(output y)",
  };
  for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
    mapped m = map("systolic16", programs[k], 200000);
    cr_expect_eq(m.dots, 0);
    cr_expect_gt(m.calls, 0);
    equal(&m);
  }
}

/* ---- units with a memory that only their own calls fill ---- */

#define SUMS_UNIT                                                              \
  "(target sums (memory pad (bytes 65536)) (memory acc (bytes 65536)))"        \
  "(instr load (operands (a ((r) (c)) i8)) (result ((r) (c)) i8 (in pad))"     \
  " (semantics a) (where (and (<= r 16) (<= c 16))) (cost (cycles 4))"         \
  " (emit \"load();\"))"                                                       \
  "(instr dots (operands (a ((r) (k)) i8 (in pad)) (b ((c) (k)) i8 (in pad)))" \
  " (result ((r c) ()) i32 (in acc)) (semantics (compute dotProd"              \
  "  (cartProd a b))) (where (and (<= r 16) (<= c 16) (<= k 16)))"             \
  " (cost (cycles 16)) (emit \"dots();\"))"
#define SUMS_STORE                                                             \
  "(instr store (operands (a ((r c) ()) i32 (in acc)))"                        \
  " (result ((r c) ()) i32) (semantics (compute relu a))"                      \
  " (where (and (<= r 16) (<= c 16))) (cost (cycles 4)) (emit \"store();\"))"

/* What a call leaves there is taken by the next one as it lies. */
Test(mapping, sums_that_only_calls_leave_are_stored_from_there) {
  gs_target *t = target_of(SUMS_UNIT SUMS_STORE);
  static const char *const programs[] = {BYTES(16, 16, 16), BYTES(8, 16, 4)};
  host_price = 1e6;
  for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
    char text[600];
    snprintf(text, sizeof text, "%.*s(let r (compute relu c))(output r)",
             (int)(strlen(programs[k]) - strlen("(output c)")), programs[k]);
    mapped m = map_onto(t, text, 200000);
    cr_expect_eq(m.computes, 0, "%s", printed(m.result));
    equal(&m);
  }
}

/* So are the bytes that become of them, where no instruction stores sums. */
Test(mapping, sums_of_many_tiles_are_stored_as_bytes) {
#define SHIFTED(m, k, n)                                                       \
  "(tensor a (shape " #m " " #k ") i8)(tensor b (shape " #n " " #k ") i8)"     \
  "(let p (compute dotProd (cartProd (access a 1) (access b 1))))"             \
  "(let s (compute (cast i8) (compute (clip -128 127) (compute (cast i32)"     \
  "  (compute floor (compute (scale 0.0078125) (compute (cast f64) p)))))))"   \
  "(output s)"
  static const char *const programs[] = {
      SHIFTED(16, 16, 16), SHIFTED(32, 16, 48), SHIFTED(8, 64, 32)};
  host_price = 1e6;
  for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
    mapped m = map("vta", programs[k], 200000);
    cr_expect_eq(m.computes, 0, "%s", printed(m.result));
    equal(&m);
  }
}

/* An instruction that takes two of them has both from there. */
Test(mapping, two_sums_are_joined_where_they_are) {
  gs_target *t = target_of(
      SUMS_UNIT "(instr both (operands (a ((r c) ()) i32 (in acc))"
                "  (b ((r c) ()) i32 (in acc))) (result ((r c) ()) i32)"
                " (semantics (compute max (pair a b)))"
                " (where (and (<= r 16) (<= c 16))) (cost (cycles 4))"
                " (emit \"both();\"))");
  host_price = 1e6;
  mapped m =
      map_onto(t,
               "(tensor a (shape 16 16) i8)(tensor b (shape 16 16) i8)"
               "(tensor d (shape 16 16) i8)"
               "(let x (compute dotProd (cartProd (access a 1) (access b 1))))"
               "(let y (compute dotProd (cartProd (access a 1) (access d 1))))"
               "(let z (compute max (pair x y)))(output z)",
               200000);
  cr_expect_eq(m.computes, 0, "%s", printed(m.result));
  equal(&m);
}

/* ---- instructions that are matched as they are written ---- */

/* A softmax of rows, and the greatest of two neighbours, have no form that is
 * looked for; programs that are larger are calls over tiles. */
Test(mapping, rows_of_any_number_are_calls_of_a_few) {
  gs_target *t = target_of(
      "(target rows)"
      "(instr soft (operands (a ((4) (n)) f32)) (result ((4) (n)) f32)"
      " (semantics (compute softmax a)) (emit \"soft();\"))"
      "(instr pool (operands (a ((4) (t)) f32)) (result ((4 (/ t 2)) ()) f32)"
      " (semantics (compute reduceMax (windows a (shape 2) (stride 2))))"
      " (where (and (= (mod t 2) 0) (<= t 10))) (emit \"pool();\"))"
      "(instr bytes (operands (a ((4) (t)) i8)) (result ((4 (/ t 2)) ()) i8)"
      " (semantics (compute reduceMax (windows a (shape 2) (stride 2))))"
      " (where (and (= (mod t 2) 0) (<= t 10))) (emit \"bytes();\"))");
  static const struct {
    const char *text;
    uint32_t calls;
  } rows[] = {
      {"(tensor a (shape 4 10) f32)(let y (compute softmax (access a 1)))"
       "(output y)",
       1},
      {"(tensor a (shape 64 10) f32)(let y (compute softmax (access a 1)))"
       "(output y)",
       16},
      {"(tensor a (shape 12 10) f32)(let y (compute reduceMax (windows"
       " (access a 1) (shape 2) (stride 2))))(output y)",
       3},
      {"(tensor a (shape 20 10) i8)(let y (compute reduceMax (windows"
       " (access a 1) (shape 2) (stride 2))))(output y)",
       5},
  };
  host_price = 1e6;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    mapped m = map_onto(t, rows[k].text, 50000);
    cr_expect_eq(m.computes, 0, "%s", printed(m.result));
    cr_expect_eq(m.calls, rows[k].calls, "%s", printed(m.result));
    equal(&m);
  }
}

/* ---- parameters of operators ---- */

/* A parameter of an instruction is one number, wherever its operators have
 * it. */
Test(mapping, parameters_of_operators_are_one_number) {
  gs_target *t =
      target_of("(target numbers)"
                "(instr scaled (params k) (operands (a ((4) ()) f32)"
                "  (b ((4) ()) f32)) (result ((4) ()) f32)"
                " (semantics (compute add (pair (compute (scale k) a)"
                "   (compute (scale k) b)))) (emit \"scaled();\"))"
                "(instr clipped (params l h) (operands (a ((4) ()) f32))"
                " (result ((4) ()) f32) (semantics (compute (clip l h) a))"
                " (emit \"clipped();\"))");
  static const struct {
    const char *term;
    uint32_t calls;
  } rows[] = {
#define BOTH(m, n)                                                             \
  "(compute add (pair (compute (scale " #m ") a) (compute (scale " #n ") b)))"
      {BOTH(2, 2), 2},
      {BOTH(-3, -3), 2},
      {BOTH(2, 3), 0},
      {BOTH(2, -2), 0},
      {"(compute (clip 1 7) a)", 2},
      {"(compute (clip -1 0) a)", 2},
      {"(compute (clip 5 5) a)", 2},
  };
  host_price = 1e6;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    mapped m = map_onto(
        t,
        bs_arena_printf(&arena,
                        "(tensor a (shape 8) f32)(tensor b (shape 8) f32)"
                        "(let y %s)(output y)",
                        rows[k].term),
        20000);
    cr_expect_eq(m.calls, rows[k].calls, "%s: %s", rows[k].term,
                 printed(m.result));
    cr_expect_eq(m.computes == 0, rows[k].calls > 0, "%s", rows[k].term);
    equal(&m);
  }
}
