/* SPDX-License-Identifier: MIT */
/* test_fetch.c - what loops ask memory for ahead of time. */
#include "small.h"

TestSuite(fetch, .init = fixture_start, .fini = fixture_stop);

Test(fetch, slow_stores_past_the_caches_are_none) {
  po_program *p = read_through(rows_of(31, 1021, "parallel", "", "i, j"));
  expect_no_code(p, "glen_stream");
  expect_no_code(p, "glen_fence");
  expect_no_code(p, "glen_row0");
  expect_code(p, "glen_prefetch_write(B, 1021 * i0 + glen_from, "
                 "glen_to - glen_from + 1, 4, 2048);");
  expect_code(p, "glen_prefetch(A, 1021 * i0 + glen_from, ");
  expect_no_code(read_through(rows_of(310, 21, "", "", "i, j")),
                 "glen_prefetch_write");
  expect_no_code(read_loops(rows_of(31, 1021, "", "", "i, j")),
                 "glen_prefetch_write");
}

/* The last cache holds what the second one does not. */
static po_program *
read_near(const char *text) {
  gs_target *target = small_target();
  target->stored_bytes_per_cycle = target->memory_bytes_per_cycle / 2;
  target->caches.data[target->caches.len - 1].bytes = 1 << 20;
  return read_loops_for(target, text);
}

Test(fetch, stores_that_hold_up_others_are_asked_for) {
  const char *texts[] = {
      "input A: f32[31, 500]\noutput B: f32[31, 500]\n"
      "local r: f32[31 fold 2, 500]\n"
      "for i in 0..31 { for j in 0..500 {\n"
      "  R: r[i, j] = A[i, j] * 2\n  S: B[i, j] = r[i, j] + 1 } }\n",
      rows_of(31, 500, "", "", "i, j")};
  expect_code(read_near(texts[0]), "glen_prefetch_write(B, 500 * i0 + ");
  expect_no_code(read_near(texts[1]), "glen_prefetch");
  run_all_for(read_near, texts, COUNT(texts));
}

/* Rows of an array gone through a buffer. */
static const char *
buffered(const char *type, int width, const char *more, const char *formula) {
  return bs_arena_printf(&arena,
                         "input A: %s[31, %d]\n%soutput B: %s[31, 3]\n"
                         "local r: %s[31 fold 1, %d]\n"
                         "parallel for i in 0..31 {\n"
                         "  for j in 0..%d { S: r[i, j] = %s }\n"
                         "  for k in 0..3 { T: B[i, k] = r[i, 90 * k] } }\n",
                         type, width, more, type, type, width, width - 2,
                         formula);
}

Test(fetch, a_large_input_is_fetched_ahead) {
  po_program *p = read_small(
      buffered("f32", 1023, "", "A[i, j] + A[i, j + 1] + A[i, j + 2]"));
  expect_code(p, "glen_prefetch(A, 1023 * i0 + glen_from + 2, "
                 "glen_to - glen_from + 1, 4, 2048);");
  expect_no_code(p, "glen_stream");
}

Test(fetch, small_and_many_inputs_are_not_fetched) {
  expect_no_code(read_loops(buffered("f32", 1023, "", "A[i, j]")),
                 "glen_prefetch");
  expect_no_code(read_small(buffered("f32", 1023, "input C: f32[31, 1023]\n",
                                     "A[i, j] * C[i, j]")),
                 "glen_prefetch");
  expect_no_code(read_small(buffered("f32", 203, "", "A[i, j]")),
                 "glen_prefetch");
}

Test(fetch, fetched_loops_end_where_they_did) {
  const char *texts[] = {
      buffered("f32", 1023, "", "A[i, j] + A[i, j + 2]"),
      buffered("f64", 770, "", "A[i, j + 1] * 2"),
      buffered("u8", 3001, "", "A[i, j]"),
      buffered("f32", 1027, "", "A[i, j] + A[30 - i, j + 1]")};
  run_all_for(read_small, texts, COUNT(texts));
}

/* Rows that are read by one loop and used by another; `more` reads. */
static const char *
in_rows(int height, int width, const char *more) {
  return bs_arena_printf(
      &arena,
      "input A: f32[%d, %d]\ninput C: f32[%d, %d]\noutput B: f32[%d, %d]\n"
      "local r: f32[%d fold 1, %d]\n"
      "parallel for s in 0..2 { for i in 0..%d {\n"
      "  for j in 0..%d { S: r[%d * s + i, j] = A[%d * s + i, j]%s }\n"
      "  for k in 0..%d { T: B[%d * s + i, k] = r[%d * s + i, k]\n"
      "    + r[%d * s + i, k + 2] } } }\n",
      2 * height, width, 2 * height, width, 2 * height, width - 2, 2 * height,
      width, height, width, height, height,
      bs_arena_printf(&arena, more, height), width - 2, height, height, height);
}

Test(fetch, the_next_row_is_fetched_by_a_loop_that_waits_for_nothing) {
  po_program *p = read_small(in_rows(31, 1023, " * C[%d * s + i, j]"));
  expect_code(p, "glen_prefetch_row(A, 31713 * i0 + 1023 * i1 + glen_from, "
                 "glen_to - glen_from + 1, 4, 4092);");
  expect_code(p, "glen_prefetch_row(C, ");
  expect_code(p, "glen_row0[128]");
  expect_no_code(p, "glen_prefetch(A");
  expect_no_code(read_loops(in_rows(31, 1023, "")), "glen_prefetch_row(A");
  expect_no_code(read_small(in_rows(31, 203, "")), "glen_prefetch_row(A");
}

Test(fetch, rows_that_are_fetched_end_where_they_did) {
  const char *texts[] = {in_rows(5, 1023, " * C[%d * s + i, j]"),
                         in_rows(3, 770, ""), in_rows(2, 259, "")};
  run_all_for(read_small, texts, COUNT(texts));
  run_all_for(read_through, texts, COUNT(texts));
}

/* Two loops that wait for nothing, of which the second has more work, after one
 * that reads two arrays. */
#define SHARED                                                                 \
  "input A: f32[64, 1023]\ninput C: f32[64, 1023]\n"                           \
  "output B: f32[64, 1000]\nlocal r: f32[64 fold 1, 1023]\n"                   \
  "local q: f32[64 fold 1, 1023]\n"                                            \
  "for i in 0..64 {\n"                                                         \
  "  for j in 0..1023 { S: r[i, j] = A[i, j] + C[i, j] }\n"                    \
  "  for k in 0..1010 { T: q[i, k] = r[i, k] + r[i, k + 9] }\n"                \
  "  for l in 0..1000 { U: B[i, l] = %sq[i, l] * q[i, l + 1] + q[i, l + 2] "   \
  "}\n"                                                                        \
  "}\n"

Test(fetch, loops_share_what_is_asked_for) {
  const char *one = "", *more = "q[i, l + 3] * q[i, l + 4] + ";
  const char *texts[] = {bs_arena_printf(&arena, SHARED, one),
                         bs_arena_printf(&arena, SHARED, more)};
  static const char *const both = "glen_prefetch_row(A, ";
  po_program *p = read_through(texts[0]);
  expect_code(p, both);
  const char *code = code_of(p);
  const char *a = strstr(code, both),
             *c = strstr(code, "glen_prefetch_row(C, ");
  cr_assert(a && c);
  const char *from = a < c ? a : c, *to = a < c ? c : a;
  const char *loop = strstr(from, "for (");
  cr_expect(loop && loop < to, "one loop asks for both");
  run_all_for(read_through, texts, COUNT(texts));
}

/* A loop below another one of a single iteration has an iterator of its own,
 * which the loop that asks does not know. */
Test(fetch, loops_ask_in_their_own_words) {
  const char *texts[] = {
      "input A: f32[62, 1023]\noutput B: f32[62, 1000]\n"
      "local r: f32[62 fold 1, 1023]\n"
      "parallel for s in 0..2 { for i in 0..31 {\n"
      "  for u in 0..1 { for j in 0..1023 {\n"
      "    S: r[31 * s + i, j + u] = A[31 * s + i, j + u] * 2 } }\n"
      "  for k in 0..1000 { T: B[31 * s + i, k] = r[31 * s + i, k]\n"
      "    + r[31 * s + i, k + 2] } } }\n"};
  expect_code(read_small(texts[0]),
              "glen_prefetch_row(A, 31713 * i0 + 1023 * i1 + glen_from, ");
  run_all_for(read_small, texts, COUNT(texts));
}

/* The first row is made by a loop of its own: neither reads for the other. */
Test(fetch, a_loop_that_runs_instead_asks_for_what_it_reads) {
  const char *texts[] = {
      "input A: f32[64, 1023]\noutput B: f32[63, 1023]\n"
      "local r: f32[64 fold 2, 1023]\n"
      "for i in 0..64 { separate for j in 0..1023 {\n"
      "  S: r[i, j] = A[i, j] * 2\n"
      "  T[i, j]: B[i - 1, j] = r[i, j] + r[i - 1, j] where i >= 1 } }\n"};
  po_program *p = read_through(texts[0]);
  expect_code(p, "} else {");
  expect_no_code(p, "glen_prefetch_row(A");
  const char *first = strstr(code_of(p), "glen_prefetch(A, ");
  cr_assert(first);
  cr_expect(strstr(first + 1, "glen_prefetch(A, "));
  expect_code(p, "glen_prefetch_write(B, ");
  run_all_for(read_through, texts, COUNT(texts));
}

/* Of which only the first so many elements are used. */
static const char *
rows_in_parts(int stored) {
  return bs_arena_printf(
      &arena,
      "input A: f32[64, %d]\noutput B: f32[64, 1024]\n"
      "local r: f32[64 fold 1, 1024]\n"
      "for i in 0..64 { for c in 0..8 {\n"
      "  for j in 128 * c..128 * c + 128 { S: r[i, j] = A[i, j] * 2 }\n"
      "  for k in 128 * c..128 * c + 128 {\n"
      "    T: B[i, k] = r[i, k] * r[i, k] } } }\n",
      stored);
}

/* The stages of a row in turn, part by part: loops of a part ask for the part
 * after the next, or where rows do not follow each other, for that of the next
 * row. */
Test(fetch, parts_are_fetched_ahead) {
  const char *texts[] = {rows_in_parts(1024), rows_in_parts(1056),
                         rows_in_parts(1057), rows_in_parts(3000)};
  static const char *const wanted[] = {
      "glen_prefetch(A, 1024 * i0 + glen_from, glen_to - glen_from + 1, 4, "
      "1024);",
      "glen_prefetch(A, 1056 * i0 + ", "glen_prefetch_row(A, 1057 * i0 + ",
      "glen_prefetch_row(A, 3000 * i0 + glen_from, glen_to - glen_from + 1, 4, "
      "12000);"};
  for (uint32_t k = 0; k < COUNT(texts); k++)
    expect_code(read_through(texts[k]), wanted[k]);
  run_all_for(read_through, texts, COUNT(texts));
}

/* What a loop around asks for is not asked for again. */
Test(fetch, rows_are_asked_for_once) {
  const char *text =
      "input A: f32[64, 1024]\noutput B: f32[64, 3, 1024]\n"
      "local r: f32[64 fold 1, 1024]\nlocal q: f32[64 fold 1, 1024]\n"
      "for i in 0..64 {\n"
      "  for j in 0..1024 { S: r[i, j] = A[i, j] * 2 }\n"
      "  for k in 0..1024 { T: q[i, k] = r[i, k] * r[i, k] }\n"
      "  for l in 0..3 { for m in 0..1024 {\n"
      "    U: B[i, l, m] = q[i, m] * A[i, m] } } }\n";
  po_program *p = read_through(text);
  expect_code(p, "glen_prefetch_row(A, ");
  expect_code(p, "glen_prefetch_write(B, ");
  expect_no_code(p, "glen_prefetch(A, ");
  run_all_for(read_through, &text, 1);
}

/* Two planes of an array, four strips apart: neither is read for the other. */
Test(fetch, what_was_read_long_ago_is_fetched_again) {
  const char *text =
      "input A: f32[128, 1024]\noutput B: f32[64, 1024]\n"
      "local r: f32[64 fold 1, 1024]\n"
      "for s in 0..4 { for i in 0..16 {\n"
      "  for j in 0..1024 { S: r[16 * s + i, j] = A[16 * s + i, j]\n"
      "    * A[16 * s + i + 64, j] }\n"
      "  for k in 0..1024 { T: B[16 * s + i, k] = r[16 * s + i, k] + 1 } } }\n";
  po_program *p = read_through(text);
  expect_code(p, "glen_prefetch_row(A, 16384 * i0 + 1024 * i1 + glen_from, ");
  expect_code(p, "glen_prefetch_row(A, 16384 * i0 + 1024 * i1 + glen_from + "
                 "65536, ");
  run_all_for(read_through, &text, 1);
}

/* ---- lines ---- */

static const char *
copied(const char *type, const char *mark, int width) {
  return bs_arena_printf(&arena,
                         "input A: %s[31, %d]\noutput B: %s[31, %d]\n"
                         "for i in 0..31 { %s for j in 0..%d {\n"
                         "  S: B[i, j] = A[i, j] } }\n",
                         type, width, type, width, mark, width);
}

Test(fetch, loops_of_vectors_ask_for_a_line_at_a_time) {
  po_program *p = read_through(copied("f32", "", 1021));
  expect_code(p, "for (; glen_from + 15 <= 1020; glen_from += 16) {\n"
                 "        const int glen_to = glen_from + 15;\n");
  expect_code(p, "if (glen_from <= 1020) {\n"
                 "        const int glen_to = 1020;\n");
  p = read_through(copied("f64", "", 1024));
  expect_code(p, "for (; glen_from + 7 <= 1023; glen_from += 8) {");
  expect_no_code(p, "if (glen_from");
  expect_code(read_through(copied("u8", "", 4000)), "glen_from += 64) {");
}

/* A team's loop is a `for` of its own; a sum would be added up in each line;
 * and stores past the caches go by rows. */
Test(fetch, other_loops_ask_for_several_lines) {
  expect_code(read_through(copied("f32", "parallel", 1021)),
              "glen_from += 128) {");
  expect_code(read_small(copied("f32", "", 1021)), "glen_from += 1021) {");
  expect_code(read_through("input A: f32[31, 1021]\noutput B: f32[31]\n"
                           "for i in 0..31 {\n  Z: B[i] = 0\n"
                           "  for j in 0..1021 { S: B[i] += A[i, j] } }\n"),
              "for (int i1 = 0; i1 <= 1020; i1++)");
}

Test(fetch, lines_end_where_their_loops_do) {
  const char *texts[] = {copied("f32", "", 1021), copied("f64", "", 1024),
                         copied("u8", "", 4000),
                         copied("i32", "parallel", 1021),
                         "input A: f64[31, 600]\ninput C: f32[31, 600]\n"
                         "output B: f32[31, 590]\n"
                         "for i in 0..31 { for j in 0..min(590, 560 + i) {\n"
                         "  S: B[i, j] = C[i, j] * C[i, j + 9] } }\n"};
  run_all_for(read_through, texts, COUNT(texts));
}
