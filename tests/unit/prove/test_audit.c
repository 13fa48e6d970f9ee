/* SPDX-License-Identifier: MIT */
/* test_audit.c - copies with smaller sizes, and proofs held against them. */
#include "../refusals.h"
#include "trail.h"
#include "prove/session/shrink.h"

#define SIDES(l, r) "(let l " l ")(let r " r ")(output l)(output r)"
#define W           "(access (transpose b (list 1 0)) 1)"
#define MATMUL(n, m)                                                           \
  "(tensor a (shape " n " " m ") f32)(tensor b (shape " m " " n ") f32)"

/* Equal, and too large to run; the copies must be equal, too. */
static const struct {
  const char *name, *text;
} large[] = {
    {"a product, transposed",
     MATMUL("1024", "1024") SIDES(
         "(compute dotProd (cartProd (access a 1) " W "))",
         "(transpose (compute dotProd (cartProd " W " (access a 1))) (list 1 "
         "0))")},
    {"a product in halves",
     MATMUL("512", "768") SIDES(
         "(compute dotProd (cartProd (access a 1) " W "))",
         "(concat (compute dotProd (cartProd (access (slice a 0 0 128) 1) " W
         ")) (compute dotProd (cartProd (access (slice a 0 128 512) 1) " W
         ")) 0)")},
    {"a product in groups of columns",
     MATMUL("512", "768")
         SIDES("(compute dotProd (cartProd (access a 1) " W "))",
               "(reshape (compute dotProd (cartProd (access a 1) (reshape " W
               " (shape 16 32) (shape 768)))) (shape 512 512) (shape))")},
    {"a convolution and im2col",
     "(tensor x (shape 1 64 56 56) f32)(tensor w (shape 64 64 3 3) f32)" SIDES(
         "(transpose (squeeze (compute dotProd (cartProd (windows (access x 1) "
         "(shape 64 3 3) (stride 1 1 1)) (access w 1))) 1) (list 0 3 1 2))",
         "(transpose (reshape (compute dotProd (cartProd (flatten (windows "
         "(access x 1) (shape 64 3 3) (stride 1 1 1))) (flatten (access w "
         "1)))) (shape 1 54 54 64) (shape)) (list 0 3 1 2))")},
    {"a padded pool of blocks",
     "(tensor x (shape 256 512 512) f32)" SIDES(
         "(compute reduceMax (windows (access x 1) (shape 4 4) (stride 4 4)))",
         "(compute reduceMax (windows (access (compute reduceMax (windows "
         "(access x 1) (shape 2 2) (stride 2 2))) 1) (shape 2 2) (stride 2 "
         "2)))")},
    {"a bias for each row",
     "(tensor x (shape 2048 4096) f32)(tensor v (shape 4096) f32)" SIDES(
         "(compute add (pair x (broadcast (insertAxis v 0) (shape 2048 "
         "4096))))",
         "(compute add (pair (broadcast (insertAxis v 0) (shape 2048 4096)) "
         "x))")},
};

static pv_options
small_options(void) {
  pv_options o;
  pv_defaults(&o);
  return o;
}

static pv_pair
outputs_of(const gs_program *p) {
  return (pv_pair){p->outputs.data[0].term, p->outputs.data[1].term};
}

Test(audit, copies_are_small_and_equal) {
  for (size_t k = 0; k < sizeof large / sizeof large[0]; k++) {
    fixture_start();
    gs_program *p = program_over(NULL, large[k].text);
    pv_pair pair = outputs_of(p), small;
    gs_program *q = pv_shrink(&ctx, p, &pair, 1, 200000, &small);
    cr_assert(q, "%s", large[k].name);
    pv_options o = small_options();
    pv_answer a;
    pv_equal_terms(&ctx, q, small.left, small.right, &o, &a);
    cr_expect_eq(a.verdict, PV_PROVED, "%s: %s", large[k].name, a.reason);
    cr_expect_eq(p->inputs.len, q->inputs.len);
    fixture_stop();
  }
}

/* Views are not run, but what is compared is written out, views or not. */
Test(audit, copies_count_what_is_compared) {
  fixture_start();
  gs_program *p = program_over(
      NULL, "(tensor x (shape 64 512) f32)" SIDES(
                "(transpose (cartProd (access x 1) (access x 1)) (list 1 0 2 "
                "3))",
                "(cartProd (access x 1) (access x 1))"));
  pv_pair pair = outputs_of(p), small;
  gs_program *q = pv_shrink(&ctx, p, &pair, 1, 8000, &small);
  gs_type type;
  cr_assert(q);
  gs_type_at(q, small.left, &type);
  cr_expect_leq(2 * gs_elements(&type), 8000);
  fixture_stop();
}

Test(audit, large_proofs_stand) {
  for (size_t k = 0; k < sizeof large / sizeof large[0]; k++) {
    fixture_start();
    pv_options o = small_options();
    bs_putf(trail_text(), "%s: ", large[k].name);
    pv_answer a = trail_outputs(program_over(NULL, large[k].text), &o);
    cr_expect_eq(a.verdict, PV_PROVED, "%s: %s", large[k].name, a.reason);
    cr_expect_eq(a.method, PV_BY_RELATIONS);
    fixture_stop();
  }
  trail_end("audit");
}

/* An argument that proves whatever it is asked. */
static void
prove_all(pv_session *s) {
  for (uint32_t k = 0; k < s->n_pairs; k++)
    s->proved[k] = 1;
}

static void
prove_nothing(pv_session *s) {
  (void)s;
}

static bool
audit(const char *text, void (*prove)(pv_session *)) {
  gs_program *p = program_over(NULL, text);
  pv_pair pair = outputs_of(p);
  pv_options o = small_options();
  pv_answer a = {0};
  pv_session s = {.ctx = ctx,
                  .outer = &ctx,
                  .options = &o,
                  .given = p,
                  .plain = p,
                  .pairs = &pair,
                  .given_pairs = &pair,
                  .n_pairs = 1,
                  .answer = &a};
  bool said, agrees = pv_audit(&s, prove, &said);
  cr_expect_eq(said, prove != prove_nothing);
  return agrees;
}

Test(audit, a_wrong_argument_is_found_out) {
  static const char *const wrong[] = {
      MATMUL("1024", "1024")
          SIDES("(compute dotProd (cartProd (access a 1) " W "))",
                "(compute dotProd (cartProd " W " (access a 1)))"),
      "(tensor x (shape 4096 4096) f32)" SIDES("(compute relu x)",
                                               "(compute abs x)"),
      "(tensor x (shape 3 4096 4096) i32)" SIDES(
          "(concat (slice x 1 0 2048) (slice x 1 2048 4096) 1)",
          "(concat (slice x 1 2048 4096) (slice x 1 0 2048) 1)"),
  };
  for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
    fixture_start();
    cr_expect_not(audit(wrong[k], prove_all), "%zu", k);
    cr_expect(audit(wrong[k], prove_nothing), "%zu", k);
    fixture_stop();
  }
  for (size_t k = 0; k < sizeof large / sizeof large[0]; k++) {
    fixture_start();
    cr_expect(audit(large[k].text, prove_all), "%s", large[k].name);
    fixture_stop();
  }
}

/* --- memory --------------------------------------------------------------- */

static pv_verdict verdict;

static void
body(void *unused) {
  (void)unused;
  context_start();
  const char *text = large[5].text;
  uint32_t source = bs_source_add(&diags, "test.glen", text, strlen(text));
  gs_program *p = gs_parse(&ctx, NULL, source);
  pv_options o = small_options();
  if (p)
    verdict = compare_outputs(p, &o).verdict;
}

static void
run_with(counter *c) {
  bs_hooks hooks = {count_down, c};
  verdict = PV_UNKNOWN;
  bs_heap_init(&heap, &hooks, 0);
  bs_protect(&heap, body, NULL);
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
}

Test(audit, memory_that_runs_out_proves_nothing) {
  counter whole = {.left = UINT64_MAX};
  run_with(&whole);
  cr_assert_eq(verdict, PV_PROVED);
  for (uint64_t k = 0; k < whole.used; k++) {
    counter c = {.left = k};
    run_with(&c);
    cr_assert_eq(verdict, PV_UNKNOWN, "%lu of %lu", (unsigned long)k,
                 (unsigned long)whole.used);
  }
}
