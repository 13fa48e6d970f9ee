/* SPDX-License-Identifier: MIT */
/* test_fused.c - tiling, then fusion: the paper's example to the point, and
 * what the method promises of any program. */
#include "fixture.h"
#include "poly/loops/access.h"

#include "poly/kernel/contraction.h"
#include "poly/search/auto.h"
#include "poly/schedule/primitive.h"

TestSuite(fused, .init = fixture_start, .fini = fixture_stop);

/* H = W = 6, K = 3: figure 1 of the paper. */
#define PAPER                                                                  \
  "(tensor image (shape 6 6) f32)"                                             \
  "(const kernel (shape 3 3) f32 1 2 1 2 4 2 1 2 1)"                           \
  "(let q (compute floor (compute (scale 16) image)))"                         \
  "(let c (compute dotProd (cartProd"                                          \
  "  (windows (access q 0) (shape 3 3) (stride 1 1)) (access kernel 0))))"     \
  "(let result (compute relu c)) (output result)"

static po_program *
run_script(po_program *p, const char *script) {
  uint32_t source = bs_source_add(&diags, "s.sched", script, strlen(script));
  bs_text out;
  bs_text_init(&out, &heap);
  cr_assert(po_run_script(&p, source, &out), "%s", faults());
  bs_text_done(&out);
  return p;
}

static po_program *
paper(void) {
  return run_script(lower(PAPER), "compute_inline t2; compute_at t0 i1_3;"
                                  "ho, wo, hi, wi = tile [i0_3, i1_3] [2, 2];"
                                  "compute_at t1 wo; assert legal");
}

static po_program *
chosen(const char *text, po_fuse fuse, int64_t rows, int64_t columns) {
  po_auto_options options = {.fuse = fuse};
  if (rows)
    options =
        (po_auto_options){.fuse = fuse, .tiles = {rows, columns}, .n_tiles = 2};
  po_program *p = lower(text);
  po_auto_result done = po_schedule_automatically(&p, &options);
  cr_assert_eq(done.fuse, fuse);
  cr_assert(done.finished);
  return p;
}

static uint32_t
stmt_named(const po_program *p, const char *name) {
  uint32_t k = po_stmt_named(p, name);
  cr_assert_lt(k, p->stmts.len, "no %s", name);
  return k;
}

/* Takes the set. */
static void
expect_set(const po_program *p, isl_set *set, const char *expected) {
  isl_set *other = isl_set_read_from_str(p->isl, expected);
  char *text = isl_set_to_str(set);
  cr_assert_eq(isl_set_is_equal(set, other), isl_bool_true, "%s is not %s",
               text, expected);
  free(text);
  isl_set_free(set);
  isl_set_free(other);
}

static int64_t
instances(const po_program *p, const char *stmt) {
  return po_count_instances(p, stmt_named(p, stmt));
}

/* (6): the instances of S0 for each tile; those of the red tile (1, 1) and of
 * the blue one (1, 0). */
Test(fused, extension_of_the_paper) {
  po_program *p = paper();
  const po_stmt *s = &p->stmts.data[stmt_named(p, "S1")];
  expect_set(p, isl_set_copy(s->domain),
             "{ S1[a, b, h, w] : 0 <= a <= 1 and 0 <= b <= 1 and "
             "2a <= h < 2a + 3 + 2 - 1 and 2b <= w < 2b + 3 + 2 - 1 }");
  for (int blue = 0; blue < 2; blue++) {
    isl_set *tile = isl_set_copy(s->domain);
    tile = isl_set_fix_si(tile, isl_dim_set, 0, 1);
    tile = isl_set_fix_si(tile, isl_dim_set, 1, blue ? 0 : 1);
    tile = isl_set_project_out(tile, isl_dim_set, 0, 2);
    expect_set(p, tile,
               blue ? "{ [h, w] : 2 <= h <= 5 and 0 <= w <= 3 }"
                    : "{ [h, w] : 2 <= h <= 5 and 2 <= w <= 5 }");
  }
  po_free(p);
}

/* (4): what a tile reads of A; the buffer of the tile is that box. */
Test(fused, footprint_of_the_paper) {
  po_program *p = paper();
  const po_stmt *s = &p->stmts.data[stmt_named(p, "S3")];
  const po_expr *read = NULL;
  for (uint32_t k = 0; k < s->n_exprs; k++)
    if (s->exprs[k].kind == PO_READ &&
        !strcmp(p->arrays.data[s->exprs[k].array].name, "t1"))
      read = &s->exprs[k];
  cr_assert(read);
  isl_map *map = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(read->index));
  map = isl_map_intersect_domain(map, isl_set_copy(s->domain));
  expect_set(p, isl_map_range(map),
             "{ t1[a, b, x, y] : 0 <= a <= 1 and 0 <= b <= 1 and "
             "0 <= x <= 3 and 0 <= y <= 3 }");
  const po_array *local = &p->arrays.data[read->array];
  cr_assert_eq(local->role, PO_LOCAL);
  cr_assert_eq(local->dim[2], 4);
  cr_assert_eq(local->dim[3], 4);
  po_free(p);
}

/* Figure 5: what was moved is introduced below the tile band, and skipped
 * where it stood. */
Test(fused, tree_of_the_paper) {
  po_program *before = lower(PAPER), *after = paper();
  bs_text out;
  bs_text_init(&out, &heap);
  cr_assert(po_print_fused(before, after, &out));
  const char *text = bs_text_str(&out), *at = text;
  static const char *const order[] = {
      "domain:",    "sequence:", "S1[",           "skipped",
      "coincident", "filter:",   "floor((i0)/2)", "coincident: [ 1, 1 ]",
      "extension:", "-> S1[",    "sequence:",     "S1[",
      "filter:",    "mod 2"};
  for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
    at = strstr(at, order[k]);
    cr_assert(at, "%s is not in its place in\n%s", order[k], text);
  }
  bs_text_done(&out);
  po_free(before);
  po_free(after);
}

#define BLURS                                                                  \
  "(tensor image (shape 67 130) f32)"                                          \
  "(let a (compute reduceSum"                                                  \
  "  (windows (access image 0) (shape 1 3) (stride 1 1))))"                    \
  "(let b (compute reduceSum"                                                  \
  "  (windows (access a 0) (shape 3 1) (stride 1 1))))"                        \
  "(let c (compute reduceSum"                                                  \
  "  (windows (access b 0) (shape 3 3) (stride 1 1))))"

/* The outermost loop of the only nest runs by threads, and its tiles need no
 * more than the rims of their neighbours again. */
Test(fused, keeps_parallel_loops_and_computes_rims_only) {
  po_program *p = chosen(BLURS "(output c)", PO_FUSE_POST_TILE, 21, 42);
  const po_nest_node *root = &p->nest.nodes.data[0];
  cr_assert_eq(root->first, root->last);
  cr_assert_eq(p->nest.nodes.data[root->first].mark, PO_PARALLEL);
  /* c: 63 x 126 in 3 x 3 tiles of 21 x 42; b: 23 x 44 a tile, a: 25 x 44 */
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 0);
  const char *inits[] = {"S0", "S3"};
  const int64_t most[] = {9 * 25 * 44, 9 * 23 * 44};
  for (int k = 0; k < 2; k++)
    cr_assert_eq(instances(p, inits[k]), most[k], "%s: %lld", inits[k],
                 (long long)instances(p, inits[k]));
  po_free(p);
}

/* An array that two live-out nests read whole is computed once. */
Test(fused, nothing_is_computed_again_for_two_outputs) {
  static const char *const text =
      "(tensor image (shape 40 60) f32)"
      "(let a (compute reduceSum"
      "  (windows (access image 0) (shape 3 3) (stride 1 1))))"
      "(let b (compute reduceSum"
      "  (windows (access a 0) (shape 3 1) (stride 1 1))))"
      "(let c (compute reduceSum"
      "  (windows (access a 0) (shape 1 3) (stride 1 1))))"
      "(output b) (output c)";
  po_program *plain = lower(text);
  po_program *p = chosen(text, PO_FUSE_POST_TILE, 8, 16);
  for (uint32_t k = 0; k < plain->stmts.len; k++) {
    const char *name = plain->stmts.data[k].name;
    uint32_t now = po_stmt_named(p, name);
    if (now < p->stmts.len)
      cr_assert_eq(po_count_instances(plain, k), po_count_instances(p, now));
  }
  po_free(plain);
  po_free(p);
}

/* What no tile needs is not computed. */
Test(fused, dead_instances_vanish) {
  static const char *const text =
      "(tensor image (shape 64 64) f32)"
      "(let a (compute reduceSum"
      "  (windows (access image 0) (shape 3 3) (stride 1 1))))"
      "(let part (slice (slice a 0 0 20) 1 10 30))"
      "(let b (compute reduceSum"
      "  (windows (access part 0) (shape 3 3) (stride 1 1))))"
      "(output b)";
  po_program *plain = lower(text);
  cr_assert_eq(instances(plain, "S0"), 62 * 62);
  po_program *p = chosen(text, PO_FUSE_POST_TILE, 0, 0);
  cr_assert_eq(instances(p, "S0"), 20 * 20);
  po_free(plain);
  po_free(p);
}

/* Values that all iterations of the consumer's loops need whole do not join
 * them: they would be computed in each. */
Test(fused, less_parallel_producers_stay) {
  static const char *const text =
      "(tensor image (shape 64 64) f32)"
      "(let rows (compute reduceSum (access image 1)))"
      "(let all (compute reduceSum (access (compute exp rows) 0)))"
      "(let b (compute add (pair image (broadcast"
      "  (insertAxis (insertAxis all 0) 1) (shape 64 64)))))"
      "(output b)";
  po_program *plain = lower(text);
  po_program *p = chosen(text, PO_FUSE_POST_TILE, 8, 16);
  cr_assert_leq(instances(p, "S0"), instances(plain, "S0"));
  const po_nest_node *root = &p->nest.nodes.data[0];
  cr_assert_eq(p->nest.nodes.data[root->last].mark, PO_PARALLEL);
  po_free(plain);
  po_free(p);
}

/* The nest of the statement that writes this array has a parallel loop around
 * it. */
static bool
is_parallel(const po_program *p, const char *array) {
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    if (strcmp(p->arrays.data[s->array].name, array) != 0)
      continue;
    for (uint32_t at = p->nest.nodes.data[s->leaf].parent; at;
         at = p->nest.nodes.data[at].parent)
      if (p->nest.nodes.data[at].mark == PO_PARALLEL)
        return true;
  }
  return false;
}

static po_program *
with_levels(const char *loops, uint32_t levels) {
  po_auto_options options = {.fuse = PO_FUSE_POST_TILE,
                             .tiles = {16, 16},
                             .n_tiles = 2,
                             .levels = levels,
                             .max_recompute = 1000};
  uint32_t source = bs_source_add(&diags, "w.loops", loops, strlen(loops));
  po_program *p = po_read_loops(&ctx, gs_target_default(&ctx), source, NULL, 0);
  cr_assert(p, "%s", faults());
  po_auto_result done = po_schedule_automatically(&p, &options);
  cr_assert_eq(done.fuse, PO_FUSE_POST_TILE);
  return p;
}

/* m > n: one parallel loop of the consumer counts for threads, two for blocks
 * and threads; a producer with one joins for the former alone, however much
 * may be computed again. */
Test(fused, producers_with_fewer_parallel_loops_stay) {
  static const char *const loops =
      "input A: f32[64]\ninput D: f32[64, 64]\n"
      "workspace B: f32[64]\noutput C: f32[64, 64]\n"
      "for x in 0..64 { SB[x]: B[x] = exp(A[x]) where 0 <= x < 64 at x }\n"
      "for i in 0..64 { for j in 0..64 { SC[i, j]: C[i, j] = B[i] + D[i, j] "
      "where 0 <= i < 64 and 0 <= j < 64 at i, j } }\n";
  for (uint32_t levels = 0; levels <= 2; levels++) {
    po_program *p = with_levels(loops, levels);
    bool stays = count_arrays(p, PO_WORKSPACE) == 1;
    cr_assert_eq(stays, levels == 2, "%s", loops_text(p));
    cr_assert(is_parallel(p, "C"));
    po_free(p);
  }
}

/* One sum has no parallel loop (n = 0): tiles that run at once do not each add
 * it up, though that would be legal. */
Test(fused, serial_producers_stay) {
  static const char *const loops =
      "input A: f32[64]\ninput D: f32[64, 64]\n"
      "workspace B: f32[1]\noutput C: f32[64, 64]\n"
      "for z in 0..1 { S0: B[z] = 0\n"
      "  for k in 0..64 { SB: B[z] += A[k] } }\n"
      "for i in 0..64 { for j in 0..64 { SC: C[i, j] = B[0] + D[i, j] } }\n";
  po_program *p = with_levels(loops, 1);
  cr_assert_eq(count_arrays(p, PO_WORKSPACE), 1, "%s", loops_text(p));
  cr_assert_eq(instances(p, "SB"), 64);
  cr_assert(is_parallel(p, "C"));
  po_free(p);
}

/* m = 0: what runs by threads does not join one long sum. */
Test(fused, parallel_producers_stay_out_of_serial_consumers) {
  static const char *const text =
      "(tensor image (shape 512 512) f32)"
      "(let rows (compute reduceSum (access image 1)))"
      "(let all (compute reduceSum (access (compute exp rows) 0)))"
      "(output all)";
  static const po_fuse modes[] = {PO_FUSE_SMART, PO_FUSE_POST_TILE};
  for (int k = 0; k < 2; k++) {
    po_program *p = chosen(text, modes[k], 0, 0);
    const po_nest_node *root = &p->nest.nodes.data[0];
    cr_assert_eq(p->nest.nodes.data[root->first].mark, PO_PARALLEL, "%s",
                 loops_text(p));
    po_free(p);
  }
}

/* One step of a stencil whose border stays, twice: the inside of the second
 * reads the first in nine parts. */
#define STEP(b, a)                                                             \
  "(let " b "-inside (compute relu (compute add (pair"                         \
  "  (slice (slice " a " 0 0 38) 1 1 39) (slice (slice " a " 0 1 39) 1 2 40)"  \
  "))))"                                                                       \
  "(let " b " (concat (slice " a " 0 0 1) (concat"                             \
  "  (slice (slice " a " 0 1 39) 1 0 1) " b "-inside"                          \
  "  (slice (slice " a " 0 1 39) 1 39 40) 1) (slice " a " 0 39 40) 0))"

/* What is computed in parts is read by no pass of its own, and nothing is
 * computed more often for it. */
Test(fused, formulas_join_parts) {
  static const char *const text =
      "(tensor a (shape 40 40) f32)" STEP("b", "a") STEP("c", "b") "(output c)";
  po_program *plain = lower(text);
  po_program *p = chosen(text, PO_FUSE_SMART, 0, 0);
  int64_t now = 0, before = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    now += po_count_instances(p, k);
    for (uint32_t j = 0; j < s->n_exprs; j++)
      cr_assert(s->exprs[j].kind != PO_READ || s->array != s->exprs[j].array);
  }
  for (uint32_t k = 0; k < plain->stmts.len; k++)
    before += po_count_instances(plain, k);
  /* Two sums and two relus of 38 x 38 points, and the border; of them, the
   * sums are gone, and the one point of b that nothing of c needs. */
  cr_assert_eq(before, 4 * 38 * 38 + 4 * 39);
  cr_assert_eq(now, 2 * 38 * 38 + 4 * 39 - 1, "%lld", (long long)now);
  po_free(plain);
  po_free(p);
}

/* b = a + u v', x = b' y, w = b x, of n x n. */
#define TWICE(n)                                                               \
  "(tensor a (shape " n " " n ") f32)(tensor u (shape " n ") f32)"             \
  "(tensor v (shape " n ") f32)(tensor y (shape " n ") f32)"                   \
  "(let b (compute add (pair a (compute dotProd (cartProd"                     \
  " (access (insertAxis u 1) 1) (access (insertAxis v 1) 1))))))"              \
  "(let x (compute dotProd (cartProd"                                          \
  " (access (transpose b (list 1 0)) 1) (access y 0))))"                       \
  "(let w (compute dotProd (cartProd (access b 1) (access x 0))))"             \
  "(output b)(output x)(output w)"

static uint32_t
readers_of(const po_program *p, uint32_t array) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    n += po_stmt_reads(&p->stmts.data[k], array);
  return n;
}

/* The matrix that is larger than what a core has for itself goes through
 * memory three times: read, read and written; the sums that use it compute
 * what they need, and the last of them has it in its loops. */
Test(fused, outputs_are_made_again_rather_than_read_from_memory) {
  po_program *p = chosen(TWICE("1200"), PO_FUSE_POST_TILE, 0, 0);
  uint32_t b = 0, w = 0, writer = 0, last = 0;
  while (strcmp(p->arrays.data[b].name, "b"))
    b++;
  while (strcmp(p->arrays.data[w].name, "w"))
    w++;
  cr_assert_eq(readers_of(p, b), 0);
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    writer = p->stmts.data[k].array == b ? k : writer;
    last = p->stmts.data[k].array == w ? k : last;
  }
  cr_assert_eq(po_nest_root(p, p->stmts.data[writer].leaf),
               po_nest_root(p, p->stmts.data[last].leaf));
  cr_assert_eq(po_count_instances(p, writer), 1200 * 1200);
  po_free(p);
  p = chosen(TWICE("200"), PO_FUSE_POST_TILE, 0, 0);
  cr_assert_eq(readers_of(p, b), 2);
  po_free(p);
}

/* A pool of what a product's sums become: that is computed where they are
 * stored, once, not in the window of each result. */
Test(fused, formulas_of_kernels_are_not_made_again) {
  po_program *p = chosen("(tensor a (shape 64 64) f32)"
                         "(tensor b (shape 64 64) f32)"
                         "(let s (compute relu (compute dotProd (cartProd"
                         " (access a 1) (access b 1)))))"
                         "(let m (compute reduceMax (windows (access s 0)"
                         " (shape 3 3) (stride 2 2)))) (output m)",
                         PO_FUSE_POST_TILE, 0, 0);
  cr_assert_eq(p->contractions.len, 1);
  uint32_t formula = p->contractions.data[0]->formula;
  cr_assert_neq(formula, UINT32_MAX);
  cr_assert_eq(po_count_instances(p, formula), 64 * 64);
  cr_assert_eq(readers_of(p, p->stmts.data[formula].array), 1);
  po_free(p);
}

/* Down to the program as it was. */
Test(fused, limits_lead_to_a_simpler_way) {
  po_program *p = lower(BLURS "(output c)");
  const char *as_lowered = loops_text(p);
  po_auto_options options = {.fuse = PO_FUSE_POST_TILE, .max_operations = 50};
  po_auto_result done = po_schedule_automatically(&p, &options);
  cr_assert_eq(done.fuse, PO_FUSE_MIN);
  cr_assert_str_eq(loops_text(p), as_lowered);
  po_free(p);
}

/* ---- several live-outs ---- */

/* Two results read rows of b that are far apart: each has its part below its
 * own tiles, and the rows between are not computed. */
Test(fused, parts_of_two_results) {
  static const char *const text =
      "(tensor x (shape 164 60) f32)"
      "(let b (compute reduceSum"
      "  (windows (access x 0) (shape 5 5) (stride 1 1))))"
      "(let c (compute reduceSum"
      "  (windows (access (slice b 0 0 70) 0) (shape 3 3) (stride 1 1))))"
      "(let d (compute reduceMax"
      "  (windows (access (slice b 0 90 160) 0) (shape 3 3) (stride 1 1))))"
      "(output c)(output d)";
  po_program *p = chosen(text, PO_FUSE_POST_TILE, 16, 32);
  uint32_t sums = 0, divided = 0;
  for (uint32_t k = 0; k < p->script.len; k++) {
    sums += !!strstr(p->script.data[k], "compute_at ");
    divided += !!strstr(p->script.data[k], "divide ");
  }
  cr_expect_eq(sums, 2);
  cr_expect_eq(divided, 1);
  const po_nest_node *root = &p->nest.nodes.data[0];
  cr_expect_eq(p->nest.nodes.data[root->first].next, root->last);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    cr_expect(p->arrays.data[k].role != PO_WORKSPACE, "%s is whole",
              p->arrays.data[k].name);
  po_free(p);
}

/* Where they meet, b is computed once, without what nobody reads. */
Test(fused, parts_that_meet) {
  static const char *const text =
      "(tensor x (shape 202 62) f32)"
      "(let b (compute reduceSum"
      "  (windows (access x 0) (shape 3 3) (stride 1 1))))"
      "(let c (compute add (pair (slice b 0 0 90) (slice b 0 10 100))))"
      "(let d (compute sub (pair (slice b 0 50 140) (slice b 0 60 150))))"
      "(output c)(output d)";
  po_program *p = chosen(text, PO_FUSE_POST_TILE, 16, 32);
  int64_t n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].kind == PO_UPDATE)
      n += po_count_instances(p, k);
  cr_expect_eq(n, 150 * 60 * 9, "%lld", (long long)n);
  po_free(p);
}

/* The root is read by two nests, each of them a little smaller: that is more
 * than once a point, and to draw it twice is dearer than to keep it. */
Test(fused, a_root_is_not_drawn_twice) {
  po_program *p =
      chosen("(tensor x (shape 40 40) f32)"
             "(let s (compute sqrt (compute abs x)))"
             "(let a (compute sub (pair (slice (slice s 0 0 38) 1 0 38)"
             "                          (slice (slice x 0 1 39) 1 1 39))))"
             "(let b (compute mul (pair (slice s 0 0 39) (slice x 0 1 40))))"
             "(output a) (output b)",
             PO_FUSE_POST_TILE, 0, 0);
  uint32_t roots = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    for (uint32_t j = 0; j < p->stmts.data[k].n_exprs; j++) {
      const po_expr *e = &p->stmts.data[k].exprs[j];
      roots += e->kind == PO_UNARY && e->op == GS_C_SQRT;
    }
  cr_assert_eq(roots, 1);
  po_free(p);
}

/* Of the first sum nobody reads odd columns of the last row. */
Test(fused, a_rim_is_not_trimmed_by_tests) {
  po_program *p = chosen("(tensor x (shape 94 46) f32)"
                         "(let e (compute exp x))"
                         "(let a (compute reduceSum"
                         "  (windows (access e 0) (shape 5 3) (stride 2 2))))"
                         "(let b (compute reduceSum"
                         "  (windows (access e 0) (shape 5 1) (stride 1 2))))"
                         "(output a) (output b)",
                         PO_FUSE_POST_TILE, 0, 0);
  const po_stmt *s = NULL;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    for (uint32_t j = 0; j < p->stmts.data[k].n_exprs; j++) {
      const po_expr *e = &p->stmts.data[k].exprs[j];
      if (e->kind == PO_UNARY && e->op == GS_C_EXP)
        s = &p->stmts.data[k];
    }
  cr_assert_not_null(s);
  cr_assert_eq(po_count_points(isl_set_copy(s->domain)), 94 * 46);
  po_free(p);
}

/* The last two rows are read, but not their means, which are in one loop with
 * the rows: with a test there, neither would be vectors. */
Test(fused, means_that_nobody_reads_cost_no_test) {
  po_program *p =
      chosen("(tensor x (shape 528 700) f32)"
             "(let e (compute exp x))"
             "(let y (compute mul (pair e (broadcast (insertAxis"
             "  (compute reduceMean (access e 1)) 1) (shape 528 700)))))"
             "(let s (compute add (pair (slice y 0 0 526)"
             "                          (slice (compute tanh e) 0 2 528))))"
             "(let m (compute reduceMax"
             "  (windows (access s 0) (shape 3 5) (stride 1 2))))"
             "(let z (compute mul (pair m (slice (slice y 0 0 524) 1 0 348))))"
             "(output z)",
             PO_FUSE_POST_TILE, 0, 0);
  uint32_t sums = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    if (s->kind != PO_UPDATE || s->n_iters != 2)
      continue;
    sums++;
    cr_expect_eq(po_count_instances(p, k), 528 * 700);
  }
  cr_expect_eq(sums, 1);
  po_free(p);
}

/* The mean of a row cannot join tiles that are parts of rows, as those of a row
 * that is longer than a cache are. */
Test(fused, tiles_that_nothing_joins_are_taken_back) {
  po_program *p = chosen(
      "(tensor x (shape 80 60000) f32)"
      "(let m (compute reduceMean (access x 1)))"
      "(let y (compute sub (pair x (broadcast (insertAxis m 1)"
      "                                       (shape 80 60000)))))"
      "(let z (compute min (pair (slice y 1 0 59998) (slice y 1 2 60000))))"
      "(output z)",
      PO_FUSE_POST_TILE, 0, 0);
  for (uint32_t k = 0; k < p->script.len; k++)
    cr_expect_null(strstr(p->script.data[k], "tile "), "%s", p->script.data[k]);
  po_free(p);
}

static bool
has_step(const po_program *p, const char *step) {
  for (uint32_t k = 0; k < p->script.len; k++)
    if (strstr(p->script.data[k], step))
      return true;
  return false;
}

/* Rows that need nothing of each other are tiles of their own. */
Test(fused, tiles_of_rows_that_share_nothing_are_thin) {
  po_program *p =
      chosen("(tensor x (shape 80 600) f32)"
             "(let m (compute reduceMean (access x 1)))"
             "(let y (compute sub (pair x (broadcast (insertAxis m 1)"
             "                                       (shape 80 600)))))"
             "(let s (compute reduceMax (access y 1)))"
             "(let z (compute div (pair y (broadcast (insertAxis s 1)"
             "                                       (shape 80 600)))))"
             "(output z)",
             PO_FUSE_POST_TILE, 0, 0);
  cr_expect(has_step(p, "[1, 600]"));
  po_free(p);
}

/* The mean of a column goes from line to line: neighbours use them up. */
Test(fused, tiles_of_columns_are_not_thin) {
  po_program *p =
      chosen("(tensor x (shape 600 80) f32)"
             "(let t (transpose x (list 1 0)))"
             "(let m (compute reduceMean (access t 1)))"
             "(let y (compute sub (pair t (broadcast (insertAxis m 1)"
             "                                       (shape 80 600)))))"
             "(let s (compute reduceMax (access y 1)))"
             "(let z (compute div (pair y (broadcast (insertAxis s 1)"
             "                                       (shape 80 600)))))"
             "(output z)",
             PO_FUSE_POST_TILE, 0, 0);
  cr_expect_not(has_step(p, "[1, 600]"));
  cr_expect(has_step(p, "[32, 32]"));
  po_free(p);
}

/* There are vectors of the exponential, and none of a root that may set errno:
 * in one loop both would run element by element. */
Test(fused, a_call_takes_no_vectors_from_others) {
  po_program *p = chosen("(tensor x (shape 80 600) f32)"
                         "(let s (compute sqrt (compute abs x)))"
                         "(let e (compute exp (compute (scale 0.5) s)))"
                         "(output e)",
                         PO_FUSE_POST_TILE, 0, 0);
  uint32_t loop[2] = {PO_NO_NODE, PO_NO_NODE};
  for (uint32_t k = 0; k < p->stmts.len; k++)
    for (uint32_t j = 0; j < p->stmts.data[k].n_exprs; j++) {
      const po_expr *e = &p->stmts.data[k].exprs[j];
      if (e->kind == PO_UNARY && (e->op == GS_C_SQRT || e->op == GS_C_EXP))
        loop[e->op == GS_C_EXP] =
            p->nest.nodes.data[p->stmts.data[k].leaf].parent;
    }
  cr_assert_neq(loop[0], PO_NO_NODE);
  cr_assert_neq(loop[1], PO_NO_NODE);
  cr_assert_neq(loop[0], loop[1]);
  po_free(p);
}
