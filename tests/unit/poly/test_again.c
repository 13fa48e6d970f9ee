/* SPDX-License-Identifier: MIT */
/* test_again.c - layers that are alike, and those that only seem to be; bounds
 * of sets; the statements that name an array. */
#include "fixture.h"
#include "glenside/interpret/interpret.h"
#include "poly/kernel/contraction.h"
#include "poly/loops/bounds.h"
#include "poly/loops/execute.h"
#include "poly/loops/memo.h"
#include "poly/schedule/primitive.h"
#include "poly/loops/uses.h"
#include "tests/unit/seeded.h"

TestSuite(again, .init = fixture_start, .fini = fixture_stop);

#define IMAGES                                                                 \
  "(tensor x (shape 1 2 5 5) f32) (tensor y (shape 1 2 5 5) f32)"              \
  "(tensor k (shape 2 2 3 3) f32) (tensor l (shape 2 2 3 3) f32)"
#define CONV(name, image, kernel)                                              \
  "(let " name " (transpose (squeeze (compute dotProd (cartProd (windows "     \
  "(access (pad (pad " image " zero 2 1 1) zero 3 1 1) 1) (shape 2 3 3) "      \
  "(stride 1 1 1)) (access " kernel " 1))) 1) (list 0 3 1 2)))"

static po_program *
lowered(const char *text, bool chains, gs_program **source) {
  gs_target *target = gs_target_default(&ctx);
  *source = program_over(target, text);
  po_program *p = po_lower(*source, target, &(po_options){.chains = chains});
  cr_assert(p, "%s", faults());
  return p;
}

/* The loops compute what the program means. */
static void
expect_values(const po_program *p, const gs_program *source) {
  gs_tensor in[8], out[8], expected[8];
  gs_difference d;
  seed_tensors(p, 5, in, out);
  cr_assert(po_execute(p, in, out), "%s", faults());
  cr_assert(gs_interpret(source, in, expected));
  for (uint32_t k = 0; k < source->outputs.len; k++)
    cr_assert(gs_tensor_compare(&out[k], &expected[k], 1e-5, 1e-6, &d),
              "output %u: %lld differ\n%s", k, (long long)d.count,
              loops_text(p));
}

static void
expect(const char *text) {
  gs_program *source;
  for (int chains = 0; chains < 2; chains++) {
    po_program *p = lowered(text, chains, &source);
    expect_values(p, source);
  }
}

Test(again, layers_that_are_alike) {
  expect(IMAGES CONV("a", "x", "k") CONV("b", "y", "l") CONV("c", "a", "k")
             CONV("d", "c", "l") "(output b) (output d)");
}

/* x and x are not x and y: what is written once is read twice. */
Test(again, operands_in_one_array) {
  expect(IMAGES "(let a (compute add (pair x y)))"
                "(let b (compute add (pair x x)))"
                "(let c (compute add (pair y x)))"
                "(let d (compute sub (pair c (transpose b (list 0 1 3 2)))))"
                "(output a) (output b) (output d)");
}

/* Strides, operators and parameters differ. */
Test(again, layers_that_seem_alike) {
  expect("(tensor x (shape 4 9) f32) (tensor y (shape 4 9) f32)"
         "(let a (compute reduceSum (windows (access x 1) (shape 3) "
         "(stride 1))))"
         "(let b (compute reduceSum (windows (access y 1) (shape 3) "
         "(stride 2))))"
         "(let c (compute reduceMax (windows (access y 1) (shape 3) "
         "(stride 2))))"
         "(let d (compute (scale 2) b)) (let e (compute (scale 3) c))"
         "(output a) (output d) (output e)");
}

/* A home in an output is not one in the workspace, and of two transposed
 * outputs each has its own. */
Test(again, homes_that_differ) {
  expect("(tensor x (shape 3 4) f32) (tensor y (shape 3 4) f32)"
         "(let a (compute relu x)) (let b (compute relu y))"
         "(let c (compute relu a)) (let t (transpose b (list 1 0)))"
         "(let u (concat (compute relu c) (compute relu b) 1))"
         "(output t) (output u) (output c)");
}

Test(again, constants_are_arrays_once) {
  gs_program *source;
  po_program *p = lowered("(const k (shape 4) f32 1 2 3 4)"
                          "(tensor x (shape 4) f32) (tensor y (shape 4) f32)"
                          "(let a (compute add (pair x k)))"
                          "(let b (compute add (pair y k)))"
                          "(let c (compute add (pair b k)))"
                          "(output a) (output c)",
                          false, &source);
  cr_assert_eq(count_arrays(p, PO_CONSTANT), 1);
  expect_values(p, source);
}

/* Chains of operators that are one statement each. */
Test(again, chains_that_are_alike) {
  expect("(tensor x (shape 6) f32) (tensor y (shape 6) f32)"
         "(let a (compute mul (pair (compute relu (compute (offset 1) x)) x)))"
         "(let b (compute mul (pair (compute relu (compute (offset 1) y)) y)))"
         "(let c (compute mul (pair (compute relu (compute (offset 2) y)) y)))"
         "(let d (compute mul (pair (compute relu (compute (offset 1) a)) b)))"
         "(output c) (output d)");
}

/* Threads and names are those of a layer that is lowered for itself. */
Test(again, nests_are_copied_whole) {
  gs_program *source;
  po_program *p = lowered("(tensor x (shape 64 64 64) f32)"
                          "(tensor y (shape 64 64 64) f32)"
                          "(let a (compute reduceSum (access x 2)))"
                          "(let b (compute reduceSum (access y 2)))"
                          "(output a) (output b)",
                          false, &source);
  const po_nest_node *nodes = p->nest.nodes.data;
  uint32_t a = nodes[0].first, b = nodes[0].last;
  cr_assert_neq(a, b);
  cr_assert_eq(nodes[a].mark, PO_PARALLEL);
  cr_assert_eq(nodes[b].mark, PO_PARALLEL);
  cr_assert_str_neq(nodes[a].name, nodes[b].name);
  cr_assert_eq(p->stmts.len, 6);
  for (uint32_t k = 0; k < 3; k++) {
    const po_stmt *of = &p->stmts.data[k], *like = &p->stmts.data[k + 3];
    cr_assert_eq(of->kind, like->kind);
    cr_assert_eq(po_nest_depth(p, of->leaf), po_nest_depth(p, like->leaf));
    cr_assert_neq(of->array, like->array);
    cr_assert_neq(of->term.i, like->term.i);
  }
}

/* ---- bounds ---- */

static bool
bounds_of(const char *text, uint32_t d, int64_t *lo, int64_t *hi) {
  isl_ctx *isl = isl_ctx_alloc();
  isl_set *set = isl_set_read_from_str(isl, text);
  bool found = po_bounds(set, d, lo, hi);
  isl_set_free(set);
  isl_ctx_free(isl);
  return found;
}

Test(again, bounds_are_the_least_and_the_most) {
  static const struct {
    const char *set;
    uint32_t d;
    bool found;
    int64_t lo, hi;
  } cases[] = {
      {"{ [i, j] : 0 <= i <= 9 and 3 <= j < 7 }", 0, true, 0, 9},
      {"{ [i, j] : 0 <= i <= 9 and 3 <= j < 7 }", 1, true, 3, 6},
      {"{ [i, j] : i = 4 and -3 <= j <= -2 }", 0, true, 4, 4},
      {"{ [i] : 0 <= i <= 3 or 8 <= i <= 11 }", 0, true, 0, 11},
      {"{ [i, j] : 0 <= i <= 9 and i <= j <= i + 2 }", 1, true, 0, 11},
      {"{ [i] : 0 <= 2i <= 9 }", 0, true, 0, 4},
      {"{ [i] : 0 <= i <= 9 and exists a : i = 4a + 1 }", 0, true, 1, 9},
      {"[n] -> { [i] : 0 <= i < n and n <= 8 }", 0, true, 0, 7},
      {"{ [i] : i >= 3 }", 0, false, 0, 0},
      {"{ [i] : 3 <= i <= 2 }", 0, false, 0, 0},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    int64_t lo = 0, hi = 0;
    bool found = bounds_of(cases[k].set, cases[k].d, &lo, &hi);
    cr_assert_eq(found, cases[k].found, "%s", cases[k].set);
    cr_assert(!found || (lo == cases[k].lo && hi == cases[k].hi),
              "%s: %lld to %lld", cases[k].set, (long long)lo, (long long)hi);
  }
}

/* ---- plans ---- */

/* A copy is planned without asking isl anew; what an array is matters. */
Test(again, plans_are_kept_from_copy_to_copy) {
  gs_program *source;
  po_program *p = lowered("(tensor a (shape 40 50) f32)"
                          "(tensor b (shape 60 50) f32)"
                          "(let c (compute dotProd (cartProd (access a 1)"
                          " (access b 1)))) (output c)",
                          false, &source);
  po_lay_out(p);
  cr_assert_eq(p->contractions.len, 1);
  uint32_t kept = p->memo->n;
  po_program *copy = po_copy(p);
  po_lay_out(copy);
  cr_assert_eq(copy->contractions.len, 1);
  cr_expect_eq(p->memo->n, kept);
  const po_contraction *c = copy->contractions.data[0];
  cr_expect(!memcmp(c, p->contractions.data[0], sizeof *c));
  po_program *other = po_copy(p);
  cr_assert(po_prepack(other, "b"));
  po_lay_out(other);
  cr_assert_eq(other->contractions.len, 1);
  c = other->contractions.data[0];
  cr_expect(c->x_mode == PO_BEFORE || c->y_mode == PO_BEFORE);
  cr_expect_gt(p->memo->n, kept);
}

/* ---- uses ---- */

Test(again, statements_are_listed_by_array) {
  gs_program *source;
  po_program *p = lowered("(tensor x (shape 4 3) f32) (tensor y (shape 4) f32)"
                          "(let a (compute reduceSum (access x 1)))"
                          "(let b (compute add (pair a y)))"
                          "(let c (compute add (pair b b)))"
                          "(output b) (output c)",
                          false, &source);
  po_uses uses;
  po_find_uses(p, &uses);
  uint32_t listed = 0;
  for (uint32_t a = 0; a < p->arrays.len; a++)
    for (uint32_t k = uses.from[a]; k < uses.from[a + 1]; k++, listed++) {
      const po_stmt *s = &p->stmts.data[uses.stmts[k]];
      bool names = s->array == a;
      for (uint32_t j = 0; j < s->n_exprs; j++)
        names |= s->exprs[j].kind == PO_READ && s->exprs[j].array == a;
      cr_assert(names);
      cr_assert(k == uses.from[a] || uses.stmts[k - 1] < uses.stmts[k]);
    }
  /* start, update, finish of a; b of a and y; c of b, once */
  cr_assert_eq(listed, 1 + 2 + 2 + 3 + 2);
  po_uses_done(p, &uses);
}
