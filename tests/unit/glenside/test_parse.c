/* SPDX-License-Identifier: MIT */
/* Parsing: structure, sugar, constants, names, extremes, examples, docs. */
#include "lang.h"
#include "../base/counting.h"
#include "glenside/array/tensor.h"
#include "base/file.h"
#include <math.h>

TestSuite(parse, .init = start, .fini = fixture_stop);

static const char matmul_target[] =
    "(target t)"
    "(instr mm (params r c)"
    "  (operands (a ((b) (r)) f32) (w (() (r c)) f32))"
    "  (result ((b c) ()) f32)"
    "  (semantics (compute dotProd (cartProd a"
    "    (access (transpose w (list 1 0)) 1))))"
    "  (where (<= r 16)) (emit \"mm();\"))"
    "(instr squared (operands (x ((n) ()) f32)) (result ((n) ()) f32)"
    "  (semantics (compute square x)) (emit \"sq();\"))";

static void
use_target(void) {
  uint32_t source =
      bs_source_add(&diags, "t", matmul_target, strlen(matmul_target));
  target = gs_target_parse(&ctx, source);
  cr_assert(target, "%s", faults());
}

Test(parse, terms_are_shared) {
  gs_program *p = parse_well("(tensor a (shape 4 4) f32)"
                             "(let x (compute relu (access a 1)))"
                             "(let y (compute relu (access a 1)))"
                             "(let z (pair x y)) (output z)");
  cr_assert_eq(p->nodes.len, 4);
  cr_assert_eq(p->lets.data[0].term.i, p->lets.data[1].term.i);
  const gs_node *pair = gs_at(p, p->outputs.data[0].term);
  cr_assert_eq(pair->op, GS_PAIR);
  cr_assert_eq(pair->kids[0].i, pair->kids[1].i);
}

Test(parse, children_stand_before_parents) {
  gs_program *p = parse_well("(tensor a (shape 4 4) f32)"
                             "(let y (pair (compute abs a) (compute neg a)))"
                             "(output y)");
  for (uint32_t i = 0; i < p->nodes.len; i++)
    for (uint32_t k = 0; k < p->nodes.data[i].n_kids; k++)
      cr_assert_lt(p->nodes.data[i].kids[k].i, i);
}

Test(parse, windows_always_hold_a_dilation) {
  gs_program *p = parse_well(
      "(tensor a (shape 9 9) f32)"
      "(let x (windows (access a 0) (shape 3 3) (stride 1 1)))"
      "(let y (windows (access a 0) (shape 3 3) (stride 1 1) (dilation 1 1)))"
      "(let z (windows (access a 0) (shape 3 3) (stride 1 1) (dilation 1 2)))"
      "(output x) (output z)");
  cr_assert_eq(p->lets.data[0].term.i, p->lets.data[1].term.i);
  cr_assert_neq(p->lets.data[0].term.i, p->lets.data[2].term.i);
  cr_assert_eq(bs_len(ctx.values, gs_at(p, p->lets.data[0].term)->attr), 3);
}

Test(parse, long_concats_nest_to_the_right) {
  gs_program *p =
      parse_well("(tensor a (shape 1 2) f32) (tensor b (shape 2 2) f32)"
                 "(tensor c (shape 3 2) f32)"
                 "(let x (concat a b c 0)) (let y (concat a (concat b c 0) 0))"
                 "(let z (concat (concat a b 0) c 0)) (output x) (output z)");
  cr_assert_eq(p->lets.data[0].term.i, p->lets.data[1].term.i);
  cr_assert_neq(p->lets.data[0].term.i, p->lets.data[2].term.i);
}

Test(parse, equal_parameters_are_one_operator) {
  gs_program *p =
      parse_well("(tensor a (shape 4) f32)"
                 "(let u (compute (scale 2.0) a)) (let v (compute (scale 2) a))"
                 "(let w (compute (relu) a)) (let x (compute relu a))"
                 "(let y (compute (scale -0.0) a))"
                 "(let z (compute (scale 0) a)) (output z)");
  cr_assert_eq(p->lets.data[0].term.i, p->lets.data[1].term.i);
  cr_assert_eq(p->lets.data[2].term.i, p->lets.data[3].term.i);
  cr_assert_neq(p->lets.data[4].term.i, p->lets.data[5].term.i);
}

Test(parse, instructions_are_called_with_and_without_call) {
  use_target();
  gs_program *p =
      parse_well("(tensor a (shape 4 8) f32) (tensor w (shape 8 2) f32)"
                 "(let x (mm 8 2 (access a 1) (access w 0)))"
                 "(let y (call mm 8 2 (access a 1) (access w 0)))"
                 "(let z (squared (reshape a (shape 32) (shape))))"
                 "(output x) (output y) (output z)");
  gs_type t;
  cr_assert_eq(p->outputs.data[0].term.i, p->outputs.data[1].term.i);
  gs_type_at(p, p->outputs.data[0].term, &t);
  cr_assert_str_eq(type_text(&t), "((4, 2), ()) f32");
  cr_assert_str_eq(printed(p, false),
                   "(tensor a (shape 4 8) f32)\n"
                   "(tensor w (shape 8 2) f32)\n"
                   "(let x (mm 8 2 (access a 1) (access w 0)))\n"
                   "(let y x)\n"
                   "(let z (squared (reshape a (shape 32) (shape))))\n"
                   "(output x)\n(output y)\n(output z)\n");
}

/* Constants --------------------------------------------------------------- */

static const gs_constant *
constant(const char *form) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_putf(&text, "%s (output k)", form);
  gs_program *p = parse_well(bs_text_str(&text));
  const gs_constant *c = gs_find_constant(p, "k");
  cr_assert(c);
  return c;
}

Test(parse, integer_constants) {
  const gs_constant *c = constant("(const k (shape 2 2) i8 -128 127 0 -1)");
  const int8_t wanted[] = {-128, 127, 0, -1};
  cr_assert_arr_eq(c->data, wanted, sizeof wanted);
  cr_assert_eq(c->type.access, 2);
  const uint8_t *u = constant("(const k (shape 2) u8 0 255)")->data;
  cr_assert(u[0] == 0 && u[1] == 255);
  const int32_t *i =
      constant("(const k (shape 2) i32 -2147483648 2147483647)")->data;
  cr_assert(i[0] == INT32_MIN && i[1] == INT32_MAX);
}

Test(parse, float_constants) {
  const float *f = constant("(const k (shape 6) f32 0.1 -0.0 inf -inf nan "
                            "3.4028235e38)")
                       ->data;
  cr_assert_eq(f[0], 0.1f);
  cr_assert(f[1] == 0 && signbit(f[1]));
  cr_assert(isinf(f[2]) && f[2] > 0 && isinf(f[3]) && f[3] < 0 && isnan(f[4]));
  cr_assert_eq(f[5], 0x1.fffffep127f);
  const double *d = constant("(const k (shape 2) f64 0.1 1e300)")->data;
  cr_assert(d[0] == 0.1 && d[1] == 1e300);
  const uint16_t *b = constant("(const k (shape 3) bf16 1 -2.5 0.1)")->data;
  cr_assert(b[0] == 0x3f80 && b[1] == 0xc020 && b[2] == 0x3dcd);
}

Test(parse, scalar_constant) {
  cr_assert_eq(*(const float *)constant("(const k (shape) f32 2.5)")->data,
               2.5f);
}

/* Faults ------------------------------------------------------------------ */

Test(parse, all_faults_are_reported) {
  cr_assert_null(parse("(tensor a (shape 0) f32) (tensor b (shape 3) f23)"
                       "(let x (squeeze a 0)) (let y (rellu b))"
                       "(let z (pair nobody (slice nobody 0 0 1)))"
                       "(output x) (output z) (output none)"));
  cr_assert_eq(diags.errors, 5, "%s", faults());
  cr_assert_eq(count_code("bad-size"), 1);
  cr_assert_eq(count_code("unknown-dtype"), 1);
  cr_assert_eq(count_code("unknown-operator"), 1);
  cr_assert_eq(count_code("unknown-name"), 2);
}

Test(parse, a_faulty_file_gives_no_program_and_a_sound_one_does_after_it) {
  cr_assert_null(parse("(output x)"));
  cr_assert(parse("(tensor x (shape 3) f32) (output x)"));
}

Test(parse, faults_carry_the_span_of_the_offender) {
  cr_assert_null(parse("(tensor a (shape 4 5) f32)\n"
                       "(let y (transpose a (list 0 2)))\n(output y)"));
  uint32_t line, column;
  bs_span span = diags.list.data[0].span;
  bs_position(&diags, span, &line, &column);
  cr_assert(line == 2 && column == 21, "%u:%u", line, column);
  cr_assert_eq(span.hi - span.lo, strlen("(list 0 2)"));
}

Test(parse, calls_are_checked) {
  use_target();
  static const char *const terms[] = {
      "(mm 8 (access a 1) (access w 0))",
      "(mm 8 2.5 (access a 1) (access w 0))",
      "(mm 8 2 (access a 0) (access w 0))",
      "(mm 8 3 (access a 1) (access w 0))",
      "(mm 8 2 (access a 1) (access i 0))",
      "(mm 32 2 (access b 1) (access v 0))",
      "(call nm 8 2 a a)",
      "(nm 8 2 a a)",
  };
  static const char *const codes[] = {
      "wrong-arity",         "bad-attribute",    "type-mismatch",
      "type-mismatch",       "type-mismatch",    NULL,
      "unknown-instruction", "unknown-operator",
  };
  for (uint32_t k = 0; k < 8; k++) {
    bs_text text;
    bs_text_init(&text, &heap);
    bs_putf(&text,
            "(tensor a (shape 4 8) f32) (tensor w (shape 8 2) f32)"
            "(tensor b (shape 4 32) f32) (tensor v (shape 32 2) f32)"
            "(tensor i (shape 8 2) i8) (let y %s) (output y)",
            terms[k]);
    bs_clear(&diags.list);
    cr_assert_null(parse(bs_text_str(&text)), "%s", terms[k]);
    cr_assert_leq(diags.list.len, 2); /* a note may follow */
    if (codes[k])
      cr_expect_str_eq(diags.list.data[0].code, codes[k], "%s: %s", terms[k],
                       diags.list.data[0].code);
  }
}

/* Extremes ---------------------------------------------------------------- */

static char *
repeated(const char *head, const char *piece, size_t n, const char *tail,
         size_t *size) {
  size_t len = strlen(piece);
  *size = strlen(head) + n * len + strlen(tail);
  char *text = bs_alloc(&heap, *size + 1), *at = text;
  at = stpcpy(at, head);
  for (size_t k = 0; k < n; k++, at += len)
    memcpy(at, piece, len);
  strcpy(at, tail);
  return text;
}

Test(parse, ten_megabytes_of_open_parentheses) {
  size_t size;
  char *text = repeated("", "(", 10 << 20, "", &size);
  cr_assert_null(parse_n(text, size));
  cr_assert_geq(diags.errors, 1);
}

Test(parse, five_million_empty_lists_in_each_other) {
  size_t n = 5 << 20;
  char *text = bs_alloc(&heap, 2 * n);
  memset(text, '(', n);
  memset(text + n, ')', n);
  cr_assert_null(parse_n(text, 2 * n));
  cr_assert_str_eq(diags.list.data[0].code, "bad-form");
}

Test(parse, deep_terms) {
  size_t n = 300000, head, size;
  char *open = repeated("(tensor a (shape 2) f32)(let y ", "(compute neg ", n,
                        "a", &head);
  char *text = repeated(open, ")", n, ")(output y)", &size);
  gs_program *p = parse_n(text, size);
  cr_assert(p, "%s", faults());
  cr_assert_eq(p->nodes.len, n + 1);
  cr_assert(parse(printed(p, false)));
}

Test(parse, wide_concats) {
  size_t size;
  char *text = repeated("(tensor a (shape 2) f32)(let y (concat", " a", 20000,
                        " 0))(output y)", &size);
  gs_program *p = parse_n(text, size);
  cr_assert(p, "%s", faults());
  gs_type t;
  gs_type_at(p, p->outputs.data[0].term, &t);
  cr_assert_eq(t.dim[0], 40000);
}

Test(parse, a_million_faults) {
  size_t size;
  char *text = repeated("", "(output x)", 200000, "", &size);
  cr_assert_null(parse_n(text, size));
  cr_assert_leq(diags.list.len, 1000);
}

static void
parse_in(bs_heap *h, void *text) {
  bs_arena a;
  bs_diags d;
  bs_text out;
  bs_arena_init(&a, h);
  bs_diags_init(&d, h);
  gs_context c = {h, &a, bs_values_new(h), &d};
  gs_program *p =
      gs_parse(&c, NULL, bs_source_add(&d, "f", text, strlen(text)));
  bs_text_init(&out, h);
  if (p)
    gs_print(p, true, &out);
}

Test(parse, every_allocation_may_fail) {
  static char fine[] =
      "(tensor a (shape 3 8 8) f32) (const k (shape 2) i8 1 2)"
      "(let y (compute dotProd (cartProd (windows (access a 1) (shape 3 3)"
      " (stride 1 1)) (access (reshape (slice a 1 0 3) (shape 3 3 8) (shape)) "
      "3)))) (output k)";
  static char good[] =
      "(tensor a (shape 3 8 8) f32) (const k (shape 2) i8 1 2)"
      "(let y (concat (compute relu a) a a 0)) (let z (pair y y))"
      "(output k) (output z)";
  cr_assert_gt(sweep(parse_in, fine), 10);
  cr_assert_gt(sweep(parse_in, good), 10);
}

/* Files ------------------------------------------------------------------- */

Test(parse, examples) {
  const char *const *paths;
  uint32_t n;
  cr_assert(
      bs_dir_list(&diags, GLEN_SOURCE_DIR "/examples", ".glen", &paths, &n));
  cr_assert_geq(n, 16);
  for (uint32_t k = 0; k < n; k++)
    cr_assert(gs_parse_file(&ctx, NULL, paths[k]), "%s", faults());
}

Test(parse, a_missing_file) {
  cr_assert_null(gs_parse_file(&ctx, NULL, GLEN_SOURCE_DIR "/no-such.glen"));
  cr_assert_str_eq(diags.list.data[0].code, "no-file");
}

/* Every ```glen block of the reference is a program. */
Test(parse, language_reference) {
  size_t size;
  char *text = read_whole(GLEN_SOURCE_DIR "/docs/LANGUAGE.md", &size);
  uint32_t blocks = 0;
  for (char *at = strstr(text, "\n```glen\n"); at;
       at = strstr(at, "\n```glen\n")) {
    char *from = at + strlen("\n```glen\n"), *to = strstr(from, "```");
    cr_assert(to);
    cr_assert(parse_n(from, (size_t)(to - from)), "%.*s\n%s", (int)(to - from),
              from, faults());
    at = to;
    blocks++;
  }
  cr_assert_geq(blocks, 20);
}
