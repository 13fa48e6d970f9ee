/* SPDX-License-Identifier: MIT */
/* test_loops_text.c - loop programs read from text, and printed again. */
#include "fixture.h"
#include "poly/loops/loops_sizes.h"
#include "poly/schedule/primitive.h"
#include "poly/text/poly_text.h"

TestSuite(loops_text, .init = fixture_start, .fini = fixture_stop);

static po_program *
read_text(const char *text) {
  uint32_t source = bs_source_add(&diags, "test.loops", text, strlen(text));
  return po_read_loops(&ctx, gs_target_default(&ctx), source, NULL, 0);
}

static po_program *
read_loops(const char *text) {
  po_program *p = read_text(text);
  cr_assert(p, "%s", faults());
  return p;
}

/* The text is a fixed point. */
static void
expect_same(const char *text) {
  cr_assert_str_eq(loops_text(read_loops(text)), text);
}

/* What is printed reads back and prints the same. */
static void
expect_round_trip(const po_program *p) {
  const char *once = loops_text(p);
  cr_assert_str_eq(loops_text(read_loops(once)), once);
}

static void
expect_fault(const char *code, const char *text) {
  diags.list.len = diags.errors = 0;
  cr_assert_null(read_text(text), "%s", text);
  cr_assert(has_fault(code), "%s: %s", code, faults());
}

Test(loops_text, a_box_of_loops_is_a_fixed_point) {
  expect_same("input A: f32[32, 64]\n"
              "output B: f32[64, 32]\n"
              "\n"
              "for i in 0..64 {\n"
              "  for j in 0..32 {\n"
              "    S0: B[i, j] = A[j, i] + 1.0\n"
              "  }\n"
              "}\n");
}

Test(loops_text, recurrences_triangles_and_several_statements) {
  expect_same("output A: f32[32, 32]\n"
              "workspace t0: f32[32]\n"
              "\n"
              "for i in 1..32 {\n"
              "  S: A[i, 0] = A[i - 1, 0]\n"
              "  for j in 1..i {\n"
              "    T: A[i, j] = A[i - 1, j - 1] * 0.5\n"
              "    U: t0[-j + 31] += A[i, j]\n"
              "  }\n"
              "}\n");
}

Test(loops_text, conditions_that_no_bounds_say) {
  expect_same("output A: i32[32]\n"
              "\n"
              "for i in 0..32 {\n"
              "  S: A[i] = 1.0 where i >= 20 or i % 4 = 0\n"
              "  T: A[i] += 2.0\n"
              "}\n");
}

Test(loops_text, a_sign_before_a_remainder_has_parentheses) {
  po_program *p = read_loops("output A: i32[8]\nfor i in 0..8 {\n"
                             "  S: A[i] = 1 where i % 3 = 0 or i % 3 = 1\n}\n");
  cr_assert_eq(po_count_instances(p, 0), 6);
  expect_round_trip(p);
}

Test(loops_text, times_of_their_own) {
  expect_same("input A: f32[64]\n"
              "output B: f32[64]\n"
              "\n"
              "for a in 0..16 {\n"
              "  for b in 0..4 {\n"
              "    S[i]: B[i] = A[i] at i / 4, i % 4\n"
              "  }\n"
              "}\n");
}

Test(loops_text, tails_are_in_the_bounds) {
  po_program *p = read_loops("input A: f32[30]\noutput B: f32[30]\n"
                             "for a in 0..8 { for b in 0..4 {\n"
                             "  S[i]: B[i] = A[i] where 0 <= i < 30\n"
                             "    at i / 4, i % 4 } }");
  cr_assert(strstr(loops_text(p), "for b in 0..min(4, -4 * a + 30) {"), "%s",
            loops_text(p));
  cr_assert_eq(po_count_instances(p, 0), 30);
  expect_round_trip(p);
}

Test(loops_text, marks_and_storage) {
  expect_same("strict\n"
              "input A: f32[64]\n"
              "output B: f32[64]\n"
              "constant c: f32[3] = {1.0, -0.5, 2.0}\n"
              "local x: f32[64 fold 4] register\n"
              "local y: f32[64 fold 8 pad 3] shared\n"
              "\n"
              "bind(blockIdx.x) for i in 0..8 {\n"
              "  separate parallel for j in 0..2 {\n"
              "    vectorize(4, mask) for k in 0..4 {\n"
              "      S: x[8 * i + 4 * j + k] = A[8 * i + 4 * j + k] * c[1]\n"
              "      sync\n"
              "      T: y[8 * i + 4 * j + k] = x[8 * i + 4 * j + k]\n"
              "    }\n"
              "    unroll for l in 0..4 {\n"
              "      U: B[8 * i + 4 * j + l] = y[8 * i + 4 * j + l]\n"
              "    }\n"
              "  }\n"
              "}\n");
}

static void
expect_refused(const char *text, const char *where, const char *what) {
  expect_fault("illegal", text);
  cr_expect(strstr(faults(), where), "%s", faults());
  cr_expect(strstr(faults(), what), "%s", faults());
}

/* A text can promise what is not so. */
Test(loops_text, marks_that_are_wrong) {
  static const char *const marks[] = {"parallel", "bind(threadIdx.x)",
                                      "vectorize(4)"};
  for (size_t k = 0; k < 3; k++) {
    const char *sum = bs_arena_printf(
        &arena,
        "input A: f32[8, 8]\noutput B: f32[8]\n"
        "parallel for i in 0..8 {\n  S: B[i] = 0.0\n"
        "  %s for k in 0..8 {\n    U: B[i] += A[i, k]\n  }\n}\n",
        marks[k]);
    expect_refused(sum, "test.loops:5:3",
                   "iterations of loop k depend on each other: reduction "
                   "dependence through B, U[0,0] -> U[0,");
  }
  expect_refused("output A: f32[9, 8]\n"
                 "for j in 0..8 {\n"
                 "  parallel for i in 0..8 {\n"
                 "    S: A[i + 1, j] = A[i, j]\n  }\n}\n",
                 "test.loops:3:3", "flow dependence through A");
}

Test(loops_text, places_that_are_too_few) {
  expect_refused("input A: f32[16]\noutput B: f32[16]\n"
                 "local t: f32[16 fold 15]\n"
                 "for i in 0..16 { S: t[i] = A[i] }\n"
                 "for j in 0..16 { T: B[j] = t[j] }\n",
                 "test.loops:6:1",
                 "elements of t that share a place are needed at once: flow "
                 "dependence through t, S[15] -> T[0] (1 of 16 pairs)");
}

Test(loops_text, every_kind_of_expression) {
  expect_same("input x: f32[8]\n"
              "input n: i8[8]\n"
              "input t: f32[5, 3]\n"
              "output y: f32[8]\n"
              "output m: i8[8]\n"
              "\n"
              "for i in 0..8 {\n"
              "  S0: y[i] = select(x[i], clip(x[i], 0, 6), -1.5 - (x[i] - "
              "lowest))\n"
              "  S1: y[i] += max(exp(x[i]), reduceMean(x[i], 9)) / y[i]\n"
              "  S2: y[i] = gather(t[0, i % 3], 3, 5, cast(n[i], i32))\n"
              "  S3: m[i] = cast((n[i] * n[i]: i32), i8)\n"
              "  S4: m[i] = scale(n[i], 3)\n"
              "}\n");
}

Test(loops_text, indices_may_be_written_one_by_one) {
  po_program *p = read_loops("output A: f32[4, 4]\n"
                             "for i in 1..4 { for j in 0..4 {\n"
                             "S[i,j]: A[i][j] = A[i-1][j] } }");
  cr_assert(strstr(loops_text(p), "S: A[i, j] = A[i - 1, j]"));
}

Test(loops_text, scalars_and_instances_outside_of_loops) {
  expect_same("output s: f32[]\n"
              "\n"
              "S0: s[] = 0.0\n"
              "for i in 0..4 {\n"
              "  S1: s[] += 1.0\n"
              "}\n"
              "S2: s[] = sqrt(s[])\n");
  expect_same("output A: f32[4]\n"
              "\n"
              "S[i]: A[i] = 1.0 where 3 >= i and i >= 0 at\n");
}

/* A copy at a loop has its index and those of the array. */
Test(loops_text, indices_of_one_name_are_told_apart) {
  po_program *p = read_loops("input A: f32[4, 4]\noutput B: f32[4, 4]\n"
                             "for i in 0..4 { for i_1 in 0..4 {\n"
                             "S[i,i_1]: B[i, i_1] = A[i, i_1] at i_1, i } }");
  const char *names[] = {"i", "i"};
  p->stmts.data[0].iters = names;
  const char *text = loops_text(p);
  cr_assert(strstr(text, "S[i, i_1]: B[i, i_1] = A[i, i_1] at i_1, i"), "%s",
            text);
  expect_round_trip(p);
}

/* No more places than there are indices, so that the text is read. */
Test(loops_text, more_buffers_than_iterations) {
  static const char *const commands[] = {"double_buffer r i 3",
                                         "pipeline S i 2"};
  for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
    po_program *p = read_loops("input A: f32[2, 4]\noutput B: f32[2, 4]\n"
                               "local r: f32[2 fold 1, 4]\n"
                               "for i in 0..2 {\n"
                               "  for j in 0..4 { S: r[i, j] = A[i, j] * 2 }\n"
                               "  for k in 0..4 { T: B[i, k] = r[i, k] }\n}\n");
    bs_text out;
    bs_text_init(&out, &heap);
    uint32_t source = bs_source_add(&diags, "buffers.sched", commands[k],
                                    strlen(commands[k]));
    cr_assert(po_run_script(&p, source, &out), "%s", faults());
    cr_assert(strstr(loops_text(p), "r: f32[2 fold 2, 4]"), "%s",
              loops_text(p));
    expect_round_trip(p);
  }
}

Test(loops_text, what_lowering_makes_reads_back) {
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
      "(tensor a (shape 5 4) f32)(tensor b (shape 7 4) f32)(let y (compute "
      "relu (concat a b 0)))(output y)",
      "(tensor a (shape 9) f32)(let y (compute neg (reshape (slice (repeat a "
      "0 3) 0 2 22) (shape 4 5) (shape))))(output y)",
  };
  for (size_t k = 0; k < sizeof programs / sizeof *programs; k++)
    expect_round_trip(lower(programs[k]));
}

Test(loops_text, faults_are_told_apart) {
  expect_fault("syntax", "for i in 0..4 {");
  expect_fault("syntax", "}");
  expect_fault("syntax", "output A: f32[4] for i in 0..4 { S: A[i] 1 }");
  expect_fault("unknown-name", "S: A[0] = 1");
  expect_fault("unknown-name", "output A: f32[4] S: A[j] = 1");
  expect_fault("unknown-name", "output A: f32[4] S: A[0] = foo(1)");
  expect_fault("unknown-name", "output A: f32[4] S: A + 0 [] = call f{}()");
  expect_fault("duplicate-name", "output A: f32[4] output A: f32[4]");
  expect_fault("duplicate-name", "for i in 0..4 { for i in 0..4 { } }");
  expect_fault("duplicate-name", "output A: f32[] S: A[] = 1 S: A[] = 2");
  expect_fault("reserved-name", "output int: f32[4]");
  expect_fault("rank", "output A: f32[4] S: A[0, 0] = 1");
  expect_fault("out-of-bounds", "output A: f32[4] for i in 0..5 {S: A[i] = 1}");
  expect_fault("out-of-bounds", "output A: f32[4] for i in 0..4 "
                                "{S: A[i] = A[i - 1]}");
  expect_fault("read-only", "input A: f32[4] S: A[0] = 1");
  expect_fault("unbounded", "output A: f32[4] S[i]: A[0] = 1 where i >= 0 at");
  expect_fault("no-time", "output A: f32[4] S[i]: A[i] = 1 where 0 <= i < 4");
  expect_fault("not-affine", "output A: f32[4] for i in 0..2 { for j in 0..2 "
                             "{S: A[i * j] = 1}}");
  expect_fault("not-affine",
               "output A: f32[4] for i in 0..2 {S: A[i / 0] = 1}");
  expect_fault("type-mismatch", "input B: f32[] output A: i32[] S: A[] = B[]");
  expect_fault("order", "output A: i32[] input B: f32[]");
  static const char *const declared[] = {
      "input B: f32[4]",     "output B: f32[4]", "local B: f32[4]",
      "workspace B: f32[4]", "size n",           "constant B: f32[1] = {1}"};
  for (size_t k = 0; k < sizeof declared / sizeof *declared; k++)
    expect_fault("syntax",
                 bs_arena_printf(&arena, "for i in 0..4 { %s }", declared[k]));
  expect_fault("type-mismatch", "output A: i32[] S: A[] = exp(1)");
  expect_fault("number-range", "output A: f32[0]");
  expect_fault("too-large", "output A: f32[1048576, 1048576, 2]");
}

Test(loops_text, nesting_is_limited) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_put(&text, "output A: f32[]\nS: A[] = ");
  for (int k = 0; k < 100000; k++)
    bs_putc(&text, '(');
  expect_fault("too-deep", bs_text_str(&text));
  bs_text_clear(&text);
  for (int k = 0; k < 100; k++)
    bs_putf(&text, "for i%d in 0..1 {\n", k);
  expect_fault("too-deep", bs_text_str(&text));
}

/* A program with so many parentheses around what stands at '*'. */
static const char *
nested(const char *form, int n) {
  bs_text text;
  bs_text_init(&text, &heap);
  for (const char *s = form; *s; s++) {
    bool here = *s == '*';
    for (int k = 0; k < (here ? n : 0); k++)
      bs_putc(&text, '(');
    bs_putc(&text, here ? '1' : *s);
    for (int k = 0; k < (here ? n : 0); k++)
      bs_putc(&text, ')');
  }
  return bs_text_str(&text);
}

Test(loops_text, nesting_ends_at_the_same_depth_everywhere) {
  static const struct {
    const char *form;
    int levels; /* that the place has itself */
  } places[] = {
      {"output A: f32[8]\nfor i in 0..* + 2 {\nS: A[i] = 1\n}\n", 0},
      {"output A: f32[8]\nfor i in max(0, * - 1)..4 {\nS: A[i] = 1\n}\n", 0},
      {"output A: f32[8]\nfor i in 0..4 {\nS: A[i + *] = 1\n}\n", 0},
      {"output A: f32[8]\nfor i in 0..4 {\nS: A[i] = 1 where i >= *\n}\n", 0},
      {"output A: f32[8]\nS: A[0] = *\n", 1},
      {"input B: f32[8]\noutput A: f32[8]\nS: A[0] = B[*]\n", 1},
      {"output A: f32[8]\nS: A[0] = exp(*)\n", 2},
  };
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    int most = PO_MAX_NESTING - places[k].levels;
    for (int n = most; n >= 0; n -= most) {
      diags.list.len = diags.errors = 0;
      cr_expect(read_text(nested(places[k].form, n)), "%zu, %d: %s", k, n,
                faults());
    }
    expect_fault("too-deep", nested(places[k].form, most + 1));
  }
}

/* A text with so many items, from 0 on, each printed with its number. */
static const char *
listed(const char *head, const char *item, int n, const char *tail) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_put(&text, head);
  for (int k = 0; k < n; k++)
    bs_putf(&text, item, k);
  bs_put(&text, tail);
  return bs_text_str(&text);
}

/* What is as long as it may be can be wrong otherwise, but not too long. */
static void
expect_limit(const char *code, const char *fits, const char *beyond) {
  diags.list.len = diags.errors = 0;
  read_text(fits);
  cr_expect_not(has_fault(code), "%.60s: %s", fits, faults());
  expect_fault(code, beyond);
}

Test(loops_text, lists_end_at_their_limit) {
  static const struct {
    const char *code, *head, *item, *tail;
    int most;
  } lists[] = {
      {"too-large", "", "size n%d: 1 to 9\n", "", PO_MAX_SIZES},
      {"too-large", "output A: f32[1]\nS[i", ", i%d", "]: A[0] = 1", 39},
      {"rank", "output A: f32[1", ", 1%.0d", "]\n", GS_MAX_RANK - 1},
      {"too-deep", "", "for i%d in 0..1 {\n", "", 40},
      {"too-large", "constant A: i8[16777216", "%.0d0", "] = {1}", 0},
      {"too-large", "output A: i8[1099511627776", ", 2%.0d", "]\n", 0},
  };
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    const char *text[2];
    for (int more = 0; more < 2; more++)
      text[more] = listed(lists[k].head, lists[k].item, lists[k].most + more,
                          lists[k].tail);
    expect_limit(lists[k].code, text[0], text[1]);
  }
}

/* ---- hints ---- */

/* What a text was perhaps meant to say is told by what stands in place of what
 * is expected. */
Test(loops_text, hints) {
#define HEAD "input A: f32[4]\noutput B: f32[4]\n"
  static const struct {
    const char *text, *hint;
  } rows[] = {
      {HEAD "for i in 0..4 { B[i] = A[i] }", "a statement has a name"},
      {HEAD "for i in 0..4 { B[i] += A[i] }", "a statement has a name"},
      {HEAD "for i in 0..4 { B[i] -= A[i] }", "a statement has a name"},
      {"input A f32[4]", "an array is declared as"},
      {HEAD "for i = 0..4 { S: B[i] = A[i] }", "a loop is written"},
      {HEAD "for i in 0, 4 { S: B[i] = A[i] }", "bounds are LOWER..UPPER"},
      {HEAD "for i in 0..4 S: B[i] = A[i]", "stands in braces"},
      {HEAD "for i in 0..4 { S: B[i] = A[i] } }", "no loop is open here"},
      {HEAD "[4]", "one pair of brackets"},
      {HEAD "(output B)", "for files that end in .glen"},
      {HEAD "/ a comment", "a comment begins with #"},
      {HEAD "parallell for i in 0..4 { S: B[i] = A[i] }", "parallel"},
      {HEAD "for i in 0..4 { S: B[i] = A[i]; }", "without a semicolon"},
      {HEAD "for i in range { S: B[i] = A[i] }", "LOWER..UPPER"},
      {HEAD "for i in 0..A { S: B[i] = A[i] }", "do not depend on elements"},
      {HEAD "for i in 0..4 { S: B[i] = A(i) }", "an element is written A[i]"},
      {HEAD "for i in 0..4 { S: B[i] = sqr(A[i]) }", "sqr"},
      {HEAD "for i in 0..4 { S: B[i] = squrt(A[i]) }", "did you mean `sqrt`"},
      {HEAD "for row in 0..4 { S: B[row] = A[rwo] }", "did you mean `row`"},
      {"input image: f32[4]\noutput B: f32[4]\n"
       "for i in 0..4 { S: B[i] = imgae[i] }",
       "did you mean `image`"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    bs_diags_clear(&diags);
    cr_expect_null(po_read_loops(
        &ctx, gs_target_default(&ctx),
        bs_source_add(&diags, "l", rows[k].text, strlen(rows[k].text)), NULL,
        0));
    const char *told = faults(), *hint = strstr(told, "hint: ");
    cr_expect(hint && strstr(hint, rows[k].hint), "%s\n%s", rows[k].hint, told);
  }
}

/* ---- texts that are cut off ---- */

static const char whole_text[] =
    "size n: 4 to 64 multiple 4\n"
    "input A: f32[n, 64]\ninput H: f32[8]\ninput G: i32[8]\noutput B: f32[64, "
    "n]\n"
    "constant c: f32[2] = {1, -0.5}\nworkspace t: f32[64 pad 1]\n"
    "parallel for i in 0..64 {\n"
    "  for j in 0..n {\n"
    "    S: B[i, j] = max(A[j, i] * 2.0, H[i / 8]) + 1.0 where i + j <= 80\n"
    "  }\n"
    "  for k in 0..n {\n"
    "    T: t[i] += A[k, i] - gather(c[0], 2, 1, G[0]) where i - k >= 2\n"
    "  }\n"
    "}\n";

static void
read_cut(const char *text) {
  bs_heap told;
  bs_arena own;
  bs_diags diags_of_cut;
  bs_heap_init(&told, NULL, 0);
  bs_diags_init(&diags_of_cut, &told);
  bs_arena_init(&own, &heap);
  gs_context c = {&heap, &own, ctx.values, &diags_of_cut};
  uint32_t source = bs_source_add(&diags_of_cut, "cut", text, strlen(text));
  po_program *p = po_read_loops(&c, gs_target_default(&ctx), source, NULL, 0);
  for (uint32_t k = 0; k < diags_of_cut.list.len; k++) {
    const bs_diag *d = &diags_of_cut.list.data[k];
    cr_expect(d->severity == BS_NOTE || d->span.lo < d->span.hi,
              "%s stands nowhere:\n%s", d->message, text);
  }
  cr_expect(!p == (diags_of_cut.errors > 0), "%s", text);
  if (p)
    po_free(p);
  bs_arena_done(&own);
  bs_heap_done(&told);
}

/* Bytes that a call keeps, without what a table that all share grows by. */
static size_t
least_growth(const char *text) {
  size_t least = SIZE_MAX;
  for (int k = 0; k < 4; k++) {
    size_t before = heap.used;
    read_cut(text);
    least = heap.used - before < least ? heap.used - before : least;
  }
  return least;
}

/* Wherever a text ends, it is read or it is told where it is wrong, and nothing
 * is left of it but the heads of programs, which the heap knows. */
Test(loops_text, wherever_it_is_cut_it_is_told_at_a_place) {
  static char text[sizeof whole_text];
  static const char head[] =
      "size n: 4 to 64\ninput A: f32[n]\noutput B: f32[n]\n";
  size_t most = least_growth(head);
  read_loops(whole_text);
  for (size_t n = 0; n < sizeof whole_text; n++) {
    snprintf(text, sizeof text, "%.*s", (int)n, whole_text);
    size_t keeps = least_growth(text);
    cr_expect_leq(keeps, most, "%zu bytes are kept of\n%s", keeps, text);
  }
}
