/* SPDX-License-Identifier: MIT */
/* test_strategies.c - whole schedules: each is what its script makes. */
#include "fixture.h"
#include "poly/search/chooser.h"
#include "poly/strategy/strategy.h"
#include "tests/unit/sanitized.h"
#include <string.h>

TestSuite(strategies, .init = fixture_start, .fini = fixture_stop);

static po_program *
read_program(const char *text) {
  uint32_t source = bs_source_add(&diags, "test.loops", text, strlen(text));
  po_program *p = po_read_loops(&ctx, gs_target_default(&ctx), source, NULL, 0);
  cr_assert(p, "%s", faults());
  return p;
}

static const char *
printed(const po_program *p) {
  bs_text text;
  bs_text_init(&text, &heap);
  po_print(p, &text);
  return bs_text_str(&text);
}

/* The scripts, run on the program as it was, give the same programs. */
static void
check_scripts(po_program *p, uint32_t most, po_strategies *s) {
  po_make_strategies(p, most, NULL, &arena, s);
  cr_assert_leq(s->list.len, most);
  cr_assert_str_eq(s->list.data[0].name, "none");
  cr_assert_str_eq(s->list.data[0].script, "");
  for (uint32_t k = 0; k < s->list.len; k++) {
    const po_strategy *one = &s->list.data[k];
    po_program *copy = po_copy(p);
    bs_text out;
    bs_text_init(&out, &heap);
    uint32_t source =
        bs_source_add(&diags, one->name, one->script, strlen(one->script));
    cr_assert(po_run_script(&copy, source, &out), "%s: %s", one->name,
              faults());
    cr_assert_str_eq(printed(copy), printed(one->program), "%s", one->name);
    cr_assert(one->cost > 0);
    cr_assert_geq(one->cost, s->list.data[s->cheapest].cost);
    for (uint32_t i = 0; i < k; i++)
      cr_assert_str_neq(one->script, s->list.data[i].script);
    po_free(copy);
    bs_text_done(&out);
  }
}

static const po_strategy *
find(const po_strategies *s, const char *name) {
  for (uint32_t k = 0; k < s->list.len; k++)
    if (!strcmp(s->list.data[k].name, name))
      return &s->list.data[k];
  return NULL;
}

#define PRODUCT(n, k, m)                                                       \
  "(tensor a (shape " n " " k ") f32)(tensor b (shape " k " " m ") f32)"       \
  "(let c (compute dotProd (cartProd (access a 1) "                            \
  "(transpose (access b 1) (list 1 0)))))(output c)"

/* Tiles that divide the sizes make it a quarter of the work: the stencil has
 * sizes that they do not. */
Test(strategies, scripts_of_a_product_replay) {
  po_strategies s;
  check_scripts(lower(PRODUCT("32", "16", "64")), SANITIZED ? 4 : 8, &s);
  cr_assert(find(&s, "none contiguous"));
  po_strategies_done(&s);
}

#define STENCIL(n, m)                                                          \
  "(tensor a (shape " n " " m ") f32)(let s (compute reduceSum (windows "      \
  "(access a 0) (shape 3 3) (stride 1 1))))(let t (compute mul "               \
  "(pair (access s 2) (access s 2))))(output t)"

Test(strategies, scripts_of_a_stencil_replay) {
  po_strategies s;
  check_scripts(lower(SANITIZED ? STENCIL("34", "66") : STENCIL("40", "70")),
                SANITIZED ? 3 : 5, &s);
  po_strategies_done(&s);
}

/* The impl graph of one parallel nest: tiles, merged, in blocks. */
Test(strategies, axes_become_commands) {
  po_strategies s;
  check_scripts(
      read_program("input A: f32[64, 300, 128]\noutput B: f32[64, 300, 128]\n"
                   "for z0 in 0..64 { for z1 in 0..300 { for z2 in 0..128 {\n"
                   "S: B[z0, z1, z2] = A[z0, z1, z2] * 2.0\n}}}\n"),
      8, &s);
  const po_strategy *axes = find(&s, "none axes");
  cr_assert(axes);
  cr_assert(strstr(axes->script, "split "));
  po_strategies_done(&s);
}

/* n statements over rows x rows elements and, where `inner` is not 0, a product
 * over as many summands. */
static po_program *
many_statements(int n, int rows, int inner) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_putf(&text, "input A: f32[%d, %d]\ninput W: f32[%d, %d]\n", rows, rows,
          inner + 1, rows);
  bs_putf(&text, "input V: f32[%d, %d]\noutput P: f32[%d, %d]\n", rows,
          inner + 1, rows, rows);
  for (int k = 0; k < n; k++)
    bs_putf(&text, "output B%d: f32[%d, %d]\n", k, rows, rows);
  for (int k = 0; k < n; k++)
    bs_putf(&text,
            "for i%d in 0..%d { for j%d in 0..%d { S%d: B%d[i%d, j%d] = "
            "exp(A[i%d, j%d]) }}\n",
            k, rows, k, rows, k, k, k, k, k, k);
  if (inner)
    bs_putf(&text,
            "for x in 0..%d { for y in 0..%d { I: P[x, y] = 0 for z in 0..%d { "
            "U: P[x, y] += V[x, z] * W[z, y] }}}\n",
            rows, rows, inner);
  po_program *p = read_program(bs_text_str(&text));
  bs_text_done(&text);
  return p;
}

/* A large program is scheduled for what is not in kernels, if that is much. */
Test(strategies, large_programs_that_are_worth_fusing) {
  static const struct {
    int n, rows, inner;
    po_fuse way;
  } cases[] = {{200, 64, 0, PO_FUSE_POST_TILE},
               {201, 64, 0, PO_FUSE_MIN},
               {201, 256, 0, PO_FUSE_SMART},
               {401, 256, 0, PO_FUSE_MIN},
               {201, 256, 512, PO_FUSE_MIN}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    po_program *p = many_statements(cases[k].n, cases[k].rows, cases[k].inner);
    po_lay_out(p);
    cr_expect_eq(po_profitable_fusion(p), cases[k].way, "case %zu", k);
    cr_expect_eq(po_is_too_large(p),
                 cases[k].n > 200 && cases[k].way == PO_FUSE_MIN, "case %zu",
                 k);
    po_free(p);
  }
}

/* To wake threads would take longer than the second nest does. */
Test(strategies, nests_that_are_worth_threads) {
  po_program *p = read_program(
      "input A: f32[400, 100]\noutput B: f32[400, 100]\noutput C: f32[300]\n"
      "for i in 0..400 { for j in 0..100 { S: B[i, j] = A[i, j] * 2.0 }}\n"
      "for k in 0..300 { T: C[k] = A[k, 0] }\n");
  uint32_t large = po_nest_find(p, "i"), little = po_nest_find(p, "k");
  cr_assert(po_threads_are_profitable(p, large));
  cr_assert_not(po_threads_are_profitable(p, little));
}

/* ---- prices ---- */

static double
price_of(const char *text) {
  po_program *p = read_program(text);
  double cycles = po_predict_cycles(p);
  po_free(p);
  cr_assert(cycles > 0, "%s", text);
  return cycles;
}

#define OVER(rows, columns, body)                                              \
  "for i in 0.." rows " { for j in 0.." columns " { S: B[i, j] = " body " }}"  \
  "\n"
#define SQUARE_ARRAYS "input A: f32[900, 900]\noutput B: f32[900, 900]\n"
#define FEW(body)     "for x in 0..900 { for y in 0..900 { " body " }}\n"
/* Sums of rows run side by side only where no other loop is in theirs. */
#define SUMS(more)                                                             \
  "input A: f32[64, 48]\noutput B: f32[64, 48]\n"                              \
  "parallel for i in 0..64 { S: B[i, 0] = 0 for j in 0..40 { "                 \
  "T: B[i, 0] += A[i, j] } " more " }\n"
#define GROUPS(n)                                                              \
  "input A: f32[" n ", 64, 64]\ninput W: f32[" n ", 64, 64]\n"                 \
  "output C: f32[" n ", 64, 64]\n"                                             \
  "for g in 0.." n " { for i in 0..64 { for j in 0..64 { I: C[g, i, j] = 0\n"  \
  "for k in 0..64 { U: C[g, i, j] += A[g, i, k] * W[g, k, j] }}}}\n"
#define LINES(extent, times)                                                   \
  "input A: f32[" extent "]\noutput B: f32[" extent "]\n"                      \
  "for t in 0.." times " { for i in 0.." extent " { S: B[i] = A[i] + 1 }}\n"

/* What the second program costs, as a multiple of the first. */
static const struct {
  const char *what, *first, *second;
  double least, most;
} dearer[] = {
    {"columns of a large array are read by lines",
     SQUARE_ARRAYS OVER("900", "900", "A[i, j]"),
     SQUARE_ARRAYS OVER("900", "900", "A[j, i]"), 1.5, 40},
    {"twice the groups", GROUPS("4"), GROUPS("8"), 1.8, 2.2},
    {"an exponential is many operations",
     SQUARE_ARRAYS OVER("900", "900", "A[i, j] + 1"),
     SQUARE_ARRAYS OVER("900", "900", "exp(A[i, j])"), 1.5, 40},
    {"a function of which there are no vectors",
     SQUARE_ARRAYS OVER("900", "900", "exp(A[i, j])"),
     SQUARE_ARRAYS OVER("900", "900", "sin(A[i, j])"), 2, 40},
    {"what stays in a cache is fetched once", LINES("4096", "512"),
     LINES("2097152", "1"), 2, 40},
    {"elements that wait for the one before them",
     "input A: f32[4096]\noutput B: f32[4096]\n"
     "for i in 1..4096 { S: B[i] = A[i - 1] + A[i] }\n",
     "input A: f32[4096]\noutput B: f32[4096]\n"
     "for i in 1..4096 { S: B[i] = B[i - 1] + A[i] }\n",
     2, 40},
    {"remainders by one number or another",
     SQUARE_ARRAYS OVER("900", "900", "A[i, j % 48]"),
     SQUARE_ARRAYS OVER("900", "900", "A[i, j % 49]"), 0.8, 1.25},
    {"a few elements again and again",
     SQUARE_ARRAYS OVER("900", "900", "A[i, j]"),
     SQUARE_ARRAYS OVER("900", "900", "A[i, j % 4]"), 0.2, 1},
    {"a sum alone in a loop beside two", SUMS(""),
     SUMS("V: B[i, 2] = 0 for k in 0..40 { W: B[i, 2] += A[i, k] }"), 2.4, 12},
    {"few instances of many iterations",
     SQUARE_ARRAYS OVER("900", "900", "A[i, j] + 1"),
     SQUARE_ARRAYS OVER("900", "900", "A[i, j] + 1")
         FEW("T: B[x, y] = 0 where y < 2"),
     1, 1.5},
};

Test(strategies, prices_tell_programs_apart) {
  for (size_t k = 0; k < sizeof dearer / sizeof *dearer; k++) {
    double ratio = price_of(dearer[k].second) / price_of(dearer[k].first);
    cr_expect(ratio >= dearer[k].least && ratio <= dearer[k].most,
              "%s: %g times", dearer[k].what, ratio);
  }
}
