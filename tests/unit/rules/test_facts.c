/* SPDX-License-Identifier: MIT */
/* What a class knows: types, proven zeros, single values. */
#include "lawful.h"
#include "glenside/interpret/interpret.h"
#include "../random_view.h"

TestSuite(facts, .init = fixture_start, .fini = fixture_stop);

static const char *
value_text(bs_value v) {
  bs_text out;
  bs_text_init(&out, &heap);
  if (v.i)
    bs_put_value(&out, ctx.values, v);
  return bs_text_str(&out);
}

/* The facts of `out` in a program, without rules, as "zeros | value". */
static const char *
facts_of(const char *program) {
  gs_program *p = program_of(program);
  rl_run run = saturated(rules_of(""), p);
  const rl_facts *f = rl_facts_of(run.graph, run.outputs[0]);
  const char *text = bs_arena_printf(&arena, "%s | %s", value_text(f->zeros),
                                     value_text(f->constant));
  rl_run_done(&run);
  return text;
}

#define PRELUDE                                                                \
  "(tensor a (shape 4 5) f32) (tensor u (shape 4 5) u8)"                       \
  "(let p (pad (access a 1) zero 1 2 3))"                                      \
  "(const z (shape 2 3) f32 0 0 0 0 0 0)"                                      \
  "(const k (shape 2 3) f32 7 7 7 7 7 7)"                                      \
  "(const s (shape 3 4) i32 0 0 1 0  0 0 0 0  0 0 5 5)"

Test(facts, through_each_operator) {
  static const struct {
    const char *term, *facts;
  } rows[] = {
      {"a", " | "},
      {"p", "((1 0 2) (1 7 10)) | "},
      {"(pad p zero 0 1 0)", "((0 0 1) (1 0 2) (1 7 10)) | "},
      {"(pad p zero 1 1 0)", "((1 0 3) (1 8 11)) | "},
      {"(pad p edge 1 1 1)", "((1 0 3) (1 8 12)) | "},
      {"(pad p min 1 1 1)", "((1 1 3) (1 8 11)) | "},
      {"(pad p edge 0 1 1)", "((1 0 2) (1 7 10)) | "},
      {"(pad p min 0 1 1)", " | "},
      {"(pad u min 0 0 1)", "((0 4 5)) | "},
      {"(access p 2)", "((1 0 2) (1 7 10)) | "},
      {"(transpose p (list 1 0))", "((0 0 2) (0 7 10)) | "},
      {"(slice p 1 1 8)", "((1 0 1) (1 6 7)) | "},
      {"(slice p 1 2 7)", " | "},
      {"(slice p 0 1 3)", "((1 0 2) (1 7 10)) | "},
      {"(slice p 1 8 10)", "((0 0 4) (1 0 2)) | 0"},
      {"(insertAxis p 0)", "((2 0 2) (2 7 10)) | "},
      {"(squeeze (insertAxis p 1) 1)", "((1 0 2) (1 7 10)) | "},
      {"(concat p p 1)", "((1 0 2) (1 7 12) (1 17 20)) | "},
      {"(concat p (slice p 1 0 2) 1)", "((1 0 2) (1 7 12)) | "},
      {"(concat p (pad (access a 1) zero 1 5 0) 0)", "((1 0 2)) | "},
      {"(repeat p 1 2)", "((1 0 4) (1 14 20)) | "},
      {"(broadcast (insertAxis p 0) (shape 3 4 10))", "((2 0 2) (2 7 10)) | "},
      {"(materialize p)", "((1 0 2) (1 7 10)) | "},
      /* regrouping */
      {"(reshape p (shape 4) (shape 5 2))", "((1 0 1) (1 4 5)) | "},
      {"(reshape p (shape 2 2) (shape 1 10))", "((3 0 2) (3 7 10)) | "},
      {"(flatten (pad (access p 2) zero 0 1 0))", "((0 0 10)) | "},
      {"(flatten (access p 0))", " | "},
      {"(reshape (access (pad (access a 0) zero 0 2 0) 0) (shape)"
       " (shape 3 10))",
       "((0 0 1)) | "},
      /* windows: 4 places of width 3, then every other */
      {"(windows p (shape 3) (stride 1))", "((1 7 8)) | "},
      {"(windows (pad (access a 1) zero 1 5 0) (shape 3) (stride 2))",
       "((1 0 2)) | "},
      {"(windows (pad (access a 1) zero 1 5 0) (shape 2) (stride 1)"
       " (dilation 3))",
       "((1 0 2)) | "},
      {"(windows (slice (pad (access a 1) zero 1 5 0) 1 0 7) (shape 6)"
       " (stride 1))",
       "((2 0 4)) | "},
      /* products */
      {"(cartProd p p)", "((3 0 2) (3 7 10)) | "},
      {"(cartProd p (pad (access a 1) zero 1 1 4))", "((3 0 1) (3 7 10)) | "},
      {"(pair p (pad (access a 1) zero 1 5 0))", "((2 0 2)) | "},
      {"(pair (access z 1) (slice (access k 1) 0 0 2))", "((1 0 1)) | "},
      {"(compute dotProd (pair (access z 1) (access k 1)))", "((0 0 2)) | 0"},
      {"(compute mul (pair (access z 1) (access k 1)))",
       "((0 0 2) (1 0 3)) | 0"},
      {"(compute add (pair (access z 1) (access k 1)))", " | "},
      {"(compute add (access (transpose p (list 1 0)) 0))", " | "},
      {"(compute add (pair p p))", "((1 0 2) (1 7 10)) | "},
      /* computes */
      {"(compute relu p)", "((1 0 2) (1 7 10)) | "},
      {"(compute exp p)", " | "},
      {"(compute (clip -1 1) p)", "((1 0 2) (1 7 10)) | "},
      {"(compute (clip 1 2) p)", " | "},
      {"(compute (offset 1) p)", " | "},
      {"(compute reduceSum p)", " | "},
      {"(compute reduceSum (access (pad p zero 0 1 0) 1))", "((0 0 1)) | "},
      {"(compute reduceProd p)", "((0 0 4)) | 0"},
      {"(compute softmax p)", " | "},
      {"(compute div (pair p p))", " | "},
      /* one value */
      {"(access z 1)", "((0 0 2) (1 0 3)) | 0"},
      {"(transpose k (list 1 0))", " | 7"},
      {"(concat k k 0)", " | 7"},
      {"(concat k z 0)", "((0 2 4)) | "},
      {"(compute reduceMax (access k 1))", " | 7"},
      {"(compute reduceSum (access z 1))", "((0 0 2)) | 0"},
      {"(compute neg (compute relu (compute neg k)))", " | "},
      {"s", "((0 1 2) (1 0 2)) | "},
  };
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    const char *text = bs_arena_printf(
        &arena, PRELUDE "(let out %s) (output out)", rows[k].term);
    const char *found = facts_of(text);
    cr_expect_str_eq(found, rows[k].facts, "%s: %s, not %s", rows[k].term,
                     found, rows[k].facts);
  }
}

/* Elements whose indices along an axis are in the region. */
static void
expect_zeros(const gs_tensor *t, bs_value region, const char *what) {
  int64_t r[3], inner = 1;
  uint32_t n;
  bs_to_ints(ctx.values, region, r, 3, &n);
  for (uint32_t d = (uint32_t)r[0] + 1; d < t->rank; d++)
    inner *= t->dim[d];
  for (int64_t e = 0; e < t->elements; e++) {
    int64_t index = e / inner % t->dim[r[0]];
    if (index >= r[1] && index < r[2])
      cr_expect_eq(gs_tensor_get(t, e), 0, "%s: %g", what, gs_tensor_get(t, e));
  }
}

/* What is said to be zero of the outputs is so when the program is run; how
 * many regions are. */
static uint32_t
regions_that_hold(gs_program *p, const char *what) {
  rl_run run = saturated(rules_of(""), p);
  uint32_t n = 0;
  gs_tensor in[2], *out = bs_calloc(&heap, p->outputs.len, sizeof *out);
  for (uint32_t i = 0; i < p->inputs.len; i++) {
    gs_type type;
    gs_type_at(p, p->inputs.data[i].term, &type);
    gs_tensor_init(&heap, &in[i], &type);
    for (int64_t e = 0; e < in[i].elements; e++)
      gs_tensor_set(&in[i], e, 1 + (double)(e % 7));
  }
  cr_assert(gs_interpret(p, in, out));
  for (uint32_t k = 0; k < p->outputs.len; k++) {
    bs_value zeros = rl_facts_of(run.graph, run.outputs[k])->zeros;
    for (uint32_t z = 0; zeros.i && z < bs_len(ctx.values, zeros); z++, n++)
      expect_zeros(&out[k], bs_item(ctx.values, zeros, z), what);
  }
  rl_run_done(&run);
  return n;
}

Test(facts, hold_when_interpreted) {
  static const char *const terms[] = {
      "(windows (pad (access a 1) zero 1 5 2) (shape 3) (stride 2))",
      "(reshape (pad (access a 0) zero 0 2 0) (shape) (shape 3 10))",
      "(reshape (pad (access a 0) zero 0 2 0) (shape) (shape 3 2 5))",
      ("(windows (slice (pad (access a 1) zero 1 5 0) 1 0 7) (shape 6)"
       " (stride 1))"),
      "(compute dotProd (pair (pad p zero 0 1 0) (pad p zero 0 1 0)))",
      "(cartProd (pad p zero 0 1 1) (pad p zero 1 0 0))",
      "(compute select (access (transpose (pad s zero 1 1 0) (list 1 0)) 1))",
      "(repeat (pad p edge 1 2 2) 1 3)",
      "(compute (cast i32) s)",
  };
  for (size_t k = 0; k < sizeof terms / sizeof terms[0]; k++) {
    const char *text =
        bs_arena_printf(&arena, PRELUDE "(let out %s) (output out)", terms[k]);
    cr_expect(regions_that_hold(program_of(text), terms[k]), "%s", terms[k]);
  }
}

Test(facts, hold_of_random_views) {
  uint32_t n = 0;
  for (uint64_t seed = 0; seed < 100; seed++) {
    state = seed;
    gs_program *p = random_zeros(60);
    for (uint32_t t = 0; t < p->nodes.len; t++)
      gs_add_output(p, bs_arena_printf(&arena, "o%u", t), (gs_term){t},
                    BS_NOWHERE);
    n += regions_that_hold(p, "a random program");
  }
  cr_expect(n > 1000, "%u regions", n);
}

Test(facts, are_joined_when_classes_are) {
  all_pass(rules_of(
      "(rule same \"Two arrays that are known to be one.\""
      "  (concat ?a ?b 0) => (concat ?b ?a 0) :where (= 1 2))"
      "(rule pads \"A pad is a concat with zeros.\""
      "  (compute relu ?a) => (pad (slice ?a ?d ?lo ?n) zero ?d ?lo 0)"
      "  :for (?d (axes ?a)) :for (?lo (list 2))"
      "  :where (and (= ?n (dim ?a ?d)) (is-zero ?a ?d 0 2)))"
      "(rule drop-zeros \"Zeros add nothing to a sum.\""
      "  (compute reduceSum ?a) => (compute reduceSum (slice ?a ?d ?lo ?n))"
      "  :for (?d (range (access-rank ?a) (rank ?a)))"
      "  :where (and (= ?n (dim ?a ?d)) (= ?lo 2) (is-zero ?a ?d 0 ?lo)))"
      "(test pad (program (tensor a (shape 4 5) f32)"
      "  (let p (pad (access a 1) zero 1 2 0))"
      "  (let out (compute reduceSum p)) (output out))"
      "  (finds (compute reduceSum (slice p 1 2 7)))"
      "  (never (compute reduceSum (slice p 1 1 7))))"
      "(test no-pad (program (tensor a (shape 4 5) f32)"
      "  (let out (compute reduceSum (access a 1))) (output out))"
      "  (never (compute reduceSum (slice ?p 1 2 5))))"));
}

/* A fact that is found out later makes a condition true that was false before:
 * what is asked of facts is asked again. */
Test(facts, found_late_are_used) {
  all_pass(rules_of(
      "(rule drop-zeros \"Zeros add nothing to a sum.\""
      "  (compute reduceSum ?a) => (compute reduceSum (slice ?a 1 2 ?n))"
      "  :where (and (= ?n (dim ?a 1)) (is-zero ?a 1 0 2)))"
      "(rule step-1 \"One buffer less.\" (materialize (materialize ?a))"
      "  => (materialize ?a))"
      "(rule step-2 \"None left.\""
      "  (materialize (pad ?a ?k ?d ?lo ?hi)) => (pad ?a ?k ?d ?lo ?hi))"
      "(rule step-3 \"Two at once.\""
      "  (pad (concat ?a ?b 0) zero 1 ?lo ?hi)"
      "  => (concat (pad ?a zero 1 ?lo ?hi) (pad ?b zero 1 ?lo ?hi) 0))"
      "(rule late \"An array that is a pad after all.\""
      "  (repeat ?a 0 1) => (materialize (materialize (materialize ?a))))"
      "(test t (program (tensor a (shape 4 5) f32)"
      "  (let p (repeat (pad (access a 1) min 1 2 0) 0 1))"
      "  (let q (repeat (pad (access a 1) zero 1 2 0) 0 1))"
      "  (let out (compute reduceSum q)) (let not (compute reduceSum p))"
      "  (output out) (output not))"
      "  (finds (compute reduceSum (slice q 1 2 7)) :in out)"
      "  (never (compute reduceSum (slice p 1 2 7)) :in anywhere))"));
}
