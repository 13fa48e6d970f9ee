/* SPDX-License-Identifier: MIT */
/* test_sweeps.c - nests over time: which get slanted tiles, how, and that they
 * compute what they did, to the last bit. */
#include "fixture.h"
#include "poly/loops/execute.h"
#include "poly/schedule/primitive.h"
#include "poly/search/auto.h"
#include "tests/unit/sanitized.h"
#include "tests/unit/seeded.h"

TestSuite(sweeps, .init = fixture_start, .fini = fixture_stop);

static po_program *
read_program(const char *text) {
  uint32_t source = bs_source_add(&diags, "p.loops", text, strlen(text));
  po_program *p = po_read_loops(&ctx, gs_target_default(&ctx), source, NULL, 0);
  cr_assert(p, "%s", faults());
  return p;
}

/* tiles: "4 8 16", or none */
static po_program *
chosen_with(const char *text, const char *tiles) {
  po_auto_options options = {.fuse = PO_FUSE_POST_TILE};
  po_program *p = read_program(text);
  int step, at = 0;
  for (long size; sscanf(tiles + at, "%ld%n", &size, &step) == 1; at += step)
    options.tiles[options.n_tiles++] = size;
  po_auto_result done = po_schedule_automatically(&p, &options);
  cr_assert_eq(done.fuse, PO_FUSE_POST_TILE);
  cr_assert(done.finished);
  return p;
}

static bool
has_command(const po_program *p, const char *part) {
  for (uint32_t k = 0; k < p->script.len; k++)
    if (strstr(p->script.data[k], part))
      return true;
  return false;
}

static const char *
script_of(po_program *p) {
  bs_text script;
  bs_text_init(&script, &heap);
  po_print_script(p, &script);
  return bs_text_str(&script);
}

static uint64_t
outputs_of(const po_program *p) {
  gs_tensor in[4], out[4];
  uint64_t hash = 1469598103934665603u;
  seed_tensors(p, 7, in, out);
  cr_assert(po_execute(p, in, out), "%s", faults());
  for (uint32_t a = 0; a < p->arrays.len; a++) {
    if (p->arrays.data[a].role != PO_OUTPUT)
      continue;
    const gs_tensor *t = &out[p->arrays.data[a].number];
    for (int64_t k = 0; k < t->elements * gs_dtype_table[t->dtype].bytes; k++)
      hash = (hash ^ ((const unsigned char *)t->data)[k]) * 1099511628211u;
  }
  return hash;
}

/* A scheduled program computes what it computes unscheduled, and its script
 * leads to the same loops. */
static void
expect_right(po_program *p, const char *text) {
  po_program *plain = read_program(text);
  cr_assert(SANITIZED || outputs_of(plain) == outputs_of(p), "%s",
            script_of(p));
  bs_text out;
  bs_text_init(&out, &heap);
  uint32_t source =
      bs_source_add(&diags, "s.sched", script_of(p), strlen(script_of(p)));
  cr_assert(po_run_script(&plain, source, &out), "%s", faults());
  cr_assert_str_eq(loops_text(plain), loops_text(p));
  po_free(plain);
}

/* Each of the commands is among those that were chosen; NULL ends them. */
static void
expect_chosen(const char *text, const char *tiles, const char *const *parts) {
  po_program *p = chosen_with(text, tiles);
  for (; *parts; parts++)
    cr_expect(has_command(p, *parts), "%s is not in\n%s", *parts, script_of(p));
  expect_right(p, text);
  po_free(p);
}

#define EXPECT(text, tiles, ...)                                               \
  expect_chosen(text, tiles, (const char *const[]){__VA_ARGS__, NULL})

/* Two arrays by turns: points slant by two for each step, those of the second
 * statement one later. */
#define JACOBI_1D                                                              \
  "input X: f32[4002]\noutput A: f32[4002]\nworkspace B: f32[4002]\n"          \
  "for a in 0..4002 { I0: A[a] = X[a] }\n"                                     \
  "for b in 0..4002 { I1: B[b] = X[b] }\n"                                     \
  "for t in 0..20 {\n"                                                         \
  "  for i in 1..4001 { S: B[i] = (A[i - 1] + A[i] + A[i + 1]) * 0.3 }\n"      \
  "  for j in 1..4001 { R: A[j] = (B[j - 1] + B[j] + B[j + 1]) * 0.3 } }\n"

Test(sweeps, two_arrays_by_turns) {
  EXPECT(JACOBI_1D, "8 2048",
         "enclose t \"S[i0, i1] -> [(floor((i0)/8)), "
         "(floor((2i0 + i1)/2048))]; R[i0, i1] -> [(floor((i0)/8)), "
         "(floor((1 + 2i0 + i1)/2048))]\"",
         "c1 = skew c1 c0 1", "reorder [c1, c0]");
  EXPECT(JACOBI_1D, "", "enclose t");
  EXPECT(JACOBI_1D, "7 100", "enclose t");
}

/* One array in place: points of a row wait for each other, so that rows lean
 * on each other. */
#define SEIDEL(term)                                                           \
  "input X: f32[46, 44]\noutput A: f32[46, 44]\n"                              \
  "for a in 0..46 { for b in 0..44 { I: A[a, b] = X[a, b] } }\n"               \
  "for t in 0..24 { for i in 1..45 { for j in 1..43 {\n"                       \
  "  S: A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i + 1, j]\n"        \
  "    + A[i, j + 1]" term ") * 0.2 } } }\n"

Test(sweeps, in_place) {
  EXPECT(SEIDEL(""), "4 8 16",
         "enclose t \"S[i0, i1, i2] -> [(floor((i0)/4)), "
         "(floor((i0 + i1)/8)), (floor((i0 + i2)/16))]\"",
         "j = skew j i 1", "reorder [j, i]");
  EXPECT(SEIDEL(" + A[i - 1, j + 1]"), "4 8 16", "j = skew j i 2");
  EXPECT(SEIDEL(" + A[i - 1, j - 1] + A[i + 1, j + 1]"), "", "j = skew j i 1");
}

/* Borders are statements beside the loop over the inside; of the rows over
 * time two are kept. */
static const char bordered[] =
    "input X: f32[902]\noutput Y: f32[902]\nworkspace A: f32[51, 902]\n"
    "for a in 0..902 { S0: A[0, a] = X[a] }\n"
    "for t in 0..50 {\n"
    "  B0: A[t + 1, 0] = A[t, 1]\n"
    "  B1: A[t + 1, 901] = A[t, 901]\n"
    "  for i in 0..900 { S1: A[t + 1, i + 1] =\n"
    "    (A[t, i] + A[t, i + 1] + A[t, i + 2]) * 0.333 } }\n"
    "for b in 0..902 { S2: Y[b] = A[50, b] }\n";

Test(sweeps, borders_and_time) {
  EXPECT(bordered, "8 128", "enclose t \"B0[i0] -> ", "B1[i0] -> ",
         "fold_storage A 0 2");
}

/* Four statements of which the last reads what three others made. */
static const char fields[] =
    "input E: f32[31, 30]\ninput H: f32[31, 30]\ninput F: f32[40]\n"
    "output ex: f32[31, 30]\noutput ey: f32[31, 30]\noutput hz: f32[31, 30]\n"
    "for a in 0..31 { for b in 0..30 { I0: ex[a, b] = E[a, b] } }\n"
    "for c in 0..31 { for d in 0..30 { I1: ey[c, d] = E[c, d] * 2 } }\n"
    "for e in 0..31 { for f in 0..30 { I2: hz[e, f] = H[e, f] } }\n"
    "for t in 0..40 {\n"
    "  for y in 0..30 { S0: ey[0, y] = F[t] }\n"
    "  for i in 1..31 { for j in 0..30 {\n"
    "    S1: ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j]) } }\n"
    "  for k in 0..31 { for l in 1..30 {\n"
    "    S2: ex[k, l] = ex[k, l] - 0.5 * (hz[k, l] - hz[k, l - 1]) } }\n"
    "  for m in 0..30 { for n in 0..29 { S3: hz[m, n] = hz[m, n] -\n"
    "    0.7 * (ex[m, n + 1] - ex[m, n] + ey[m + 1, n] - ey[m, n]) } } }\n";

Test(sweeps, several_fields) {
  EXPECT(fields, "10 32 32", "enclose t \"S0[i0, i1] -> ", "parallel c0");
}

Test(sweeps, three_directions) {
  EXPECT(
      "input X: f32[14, 13, 16]\noutput A: f32[14, 13, 16]\n"
      "workspace B: f32[14, 13, 16]\n"
      "for a in 0..14 { for b in 0..13 { for c in 0..16 {\n"
      "  I0: A[a, b, c] = X[a, b, c]\n  I1: B[a, b, c] = X[a, b, c] } } }\n"
      "for t in 0..12 {\n"
      "  for i in 1..13 { for j in 1..12 { for k in 1..15 { S: B[i, j, k] =\n"
      "    A[i + 1, j, k] - A[i - 1, j, k] + A[i, j - 1, k] * 0.5\n"
      "    + A[i, j + 1, k] + A[i, j, k - 1] + A[i, j, k + 1] } } }\n"
      "  for l in 1..13 { for m in 1..12 { for n in 1..15 { R: A[l, m, n] =\n"
      "    B[l + 1, m, n] - B[l - 1, m, n] + B[l, m - 1, n] * 0.5\n"
      "    + B[l, m + 1, n] + B[l, m, n - 1] + B[l, m, n + 1] } } } }\n",
      "3 4 5 8", "c0, c1, c2, c3 = enclose t");
}

/* Rows that are free of each other are shared by threads; no tile slants. */
Test(sweeps, free_rows) {
  EXPECT("input X: f32[60, 62]\noutput A: f32[60, 62]\n"
         "for a in 0..60 { for b in 0..62 { I: A[a, b] = X[a, b] } }\n"
         "for t in 0..20 { for i in 0..60 { for j in 1..61 {\n"
         "  S: A[i, j] = A[i, j - 1] + A[i, j + 1] } } }\n",
         "4 8 16", "enclose t \"S[i0, i1, i2] -> [(floor((i1)/", "parallel c0");
}

/* A loop over time that is only what a sum runs over, one without dependences,
 * a short one and one with little to do stay as they are. */
Test(sweeps, others) {
  static const char *const texts[] = {
      "input X: f32[64, 70, 30]\noutput A: f32[70, 30]\n"
      "for a in 0..70 { for b in 0..30 { I: A[a, b] = 0 } }\n"
      "for t in 0..64 { for i in 0..70 { for j in 0..30 {\n"
      "  S: A[i, j] += X[t, i, j] } } }\n",
      "input X: f32[64, 900]\noutput A: f32[64, 900]\n"
      "for t in 0..64 { for i in 0..900 { S: A[t, i] = X[t, i] * 2 } }\n",
      "input X: f32[20002]\noutput A: f32[20002]\n"
      "for a in 0..20002 { I: A[a] = X[a] }\n"
      "for t in 0..3 { for i in 1..20001 { S: A[i] = A[i - 1] + A[i + 1] } }\n",
      "input X: f32[102]\noutput A: f32[102]\n"
      "for a in 0..102 { I: A[a] = X[a] }\n"
      "for t in 0..50 { for i in 1..101 { S: A[i] = A[i - 1] + A[i + 1] } }\n"};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    po_program *p = chosen_with(texts[k], "");
    cr_expect(!has_command(p, "enclose"), "%zu: %s", k, script_of(p));
    expect_right(p, texts[k]);
    po_free(p);
  }
}
