/* SPDX-License-Identifier: MIT */
/* Lowering rules derived from instructions. */
#include "lawful.h"
#include "rules/test/sound.h"

TestSuite(derive, .init = fixture_start, .fini = fixture_stop);

/* Both sides of a derived rule, as text. */
static const char *
derived(const char *instr, const char *name) {
  rl_rules *rules = rules_over(
      target_of(bs_arena_printf(&arena, "(target t) %s", instr)), "");
  const rl_rule *r = rl_find(rules, name);
  bs_text out;
  cr_assert(r, "%s", name);
  cr_expect_eq(r->kind, RL_LOWERING);
  bs_text_init(&out, &heap);
  gs_put_skeleton(&out, ctx.values, &r->scope, r->left);
  bs_put(&out, " => ");
  gs_put_skeleton(&out, ctx.values, &r->scope, r->right[0]);
  return bs_text_str(&out);
}

#define EMIT "(emit \"f();\"))"

Test(derive, left_and_right_sides) {
  static const struct {
    const char *instr, *rule;
  } rows[] = {
      {"(instr i (params r c)"
       " (operands (a0 ((b) (r)) f32) (a1 (() (r c)) f32))"
       " (result ((b c) ()) f32)"
       " (semantics (compute dotProd (cartProd a0"
       "   (access (transpose a1 (list 1 0)) 1)))) " EMIT,
       "(compute dotProd (cartProd ?a0 ?a1)) => "
       "(call i ?r ?c ?a0 (access (transpose ?a1 (list 1 0)) 0))"},
      /* several nodes, no views */
      {"(instr i (params) (operands (a ((b) (n)) f32) (w ((c) (n)) f32))"
       " (result ((b c) ()) f32)"
       " (semantics (compute relu (compute dotProd (cartProd a w)))) " EMIT,
       "(compute relu (compute dotProd (cartProd ?a ?w))) => "
       "(call i ?a ?w)"},
      /* windows stay, with literal attributes and a parameter */
      {"(instr i (params s) (operands (a ((h) (t)) f32))"
       " (result ((h (ceil-div (- t 1) s)) ()) f32)"
       " (semantics (compute reduceMax (windows a (shape 2) (stride "
       "s)))) " EMIT,
       "(compute reduceMax (windows ?a (shape 2) (stride ?s))) => "
       "(call i ?s ?a)"},
      /* reshape, squeeze and insertAxis go back */
      {"(instr i (params) (operands (a ((m n) (k)) f32) (w (() (1 k)) f32)"
       "   (v (() (n)) f32))"
       " (result (((* m n)) (2)) f32)"
       " (semantics (pair (compute dotProd (cartProd"
       "   (reshape a (shape (* m n)) (shape k)) (squeeze w 0)))"
       "   (reshape (broadcast (access (insertAxis v 0) 2) (shape m n))"
       "     (shape (* m n)) (shape)))) " EMIT,
       "(pair (compute dotProd (cartProd ?a ?w)) "
       "(reshape (broadcast ?v (shape ?m ?n)) (shape ?=1) (shape))) => "
       "(call i (reshape ?a (shape ?m ?n) (shape ?k)) "
       "(access (insertAxis ?w 0) 0) (access (squeeze ?v 0) 0))"},
      /* one factor of a product is told by the other */
      {"(instr i (params r) (operands (a ((m r) (k)) f32) (w ((r) (k)) f32))"
       " (result (((* m r) r) ()) f32)"
       " (semantics (compute dotProd (cartProd"
       "   (reshape a (shape (* m r)) (shape k)) w))) " EMIT,
       "(compute dotProd (cartProd ?a ?w)) => "
       "(call i ?r (reshape ?a (shape ?m ?r) (shape ?k)) ?w)"},
      /* nothing tells m from n: the view stays on the left */
      {"(instr i (params) (operands (a ((m n) (k)) f32) (w (() (k)) f32))"
       " (result (((* m n)) ()) f32)"
       " (semantics (compute dotProd (cartProd"
       "   (reshape a (shape (* m n)) (shape k)) w))) " EMIT,
       "(compute dotProd (cartProd (reshape ?a (shape ?=1) (shape ?k)) ?w))"
       " => (call i ?a ?w)"},
      {"(instr i (params) (operands (a ((m) (k)) f32) (w (() (k)) f32))"
       " (result ((1 m) ()) f32)"
       " (semantics (compute dotProd (cartProd (insertAxis a 0) w))) " EMIT,
       "(compute dotProd (cartProd ?a ?w)) => (call i (squeeze ?a 0) ?w)"},
      /* flatten, under an access of its own */
      {"(instr i (params m k) (operands (a ((m n) (k l)) f32)"
       "   (b ((m) (k)) f32)) (result ((m) ()) f32)"
       " (semantics (compute add (pair (compute reduceSum b)"
       "   (slice (compute reduceSum (access (flatten a) 1)) 0 0 m)))) " EMIT,
       "(compute add (pair (compute reduceSum ?b) "
       "(slice (compute reduceSum ?a) 0 0 ?m))) => "
       "(call i ?m ?k (reshape ?a (shape ?m ?n) (shape ?k ?l)) ?b)"},
      {"(instr i (params) (operands (a ((m n) (k l)) f32))"
       " (result (((* m n)) ()) f32)"
       " (semantics (compute reduceSum (access (flatten a) 1))) " EMIT,
       "(compute reduceSum (access (flatten ?a) 1)) => (call i ?a)"},
      /* a chain that crosses the access boundary twice */
      {"(instr i (params) (operands (a (() (m n k)) f32))"
       " (result ((n m) ()) f32)"
       " (semantics (compute reduceSum"
       "   (access (transpose (access a 2) (list 1 0 2)) 2))) " EMIT,
       "(compute reduceSum ?a) => "
       "(call i (access (transpose ?a (list 1 0 2)) 0))"},
      /* the same operand twice under the same view */
      {"(instr i (params) (operands (a (() (n k)) f32))"
       " (result ((n) (k)) f32)"
       " (semantics (compute mul (pair (access a 1) (access a 1)))) " EMIT,
       "(compute mul (pair ?a ?a)) => (call i (access ?a 0))"},
      /* and under different ones: matched as it stands */
      {"(instr i (params) (operands (a (() (n n)) f32))"
       " (result ((n) (n)) f32)"
       " (semantics (compute mul (pair (access a 1)"
       "   (transpose (access a 1) (list 1 0))))) " EMIT,
       "(compute mul (pair (access ?a 1) (transpose (access ?a 1) "
       "(list 1 0)))) => (call i ?a)"},
      /* the root is never a view to be undone */
      {"(instr i (params) (operands (a ((m) (n)) f32))"
       " (result ((n) (m)) f32)"
       " (semantics (transpose (materialize a) (list 1 0))) " EMIT,
       "(transpose ?a (list 1 0)) => (call i ?a)"},
      /* layouts */
      {"(instr i (params) (operands (a ((b) (n)) f32) (w ((c) (n)) f32))"
       " (result ((b c) ()) f32) (layout w (transpose w (list 1 0)))"
       " (semantics (compute dotProd (cartProd a w))) " EMIT,
       "(compute dotProd (cartProd ?a ?w)) => (call i ?a "
       "(transpose (materialize (transpose ?w (list 1 0))) (list 1 0)))"},
      {"(instr i (params) (operands (a (() (m k 2)) f32) (w (() (m)) f32))"
       " (result ((m) ()) f32)"
       " (layout a (reshape a (shape) (shape m (* 2 k))))"
       " (semantics (compute reduceSum (access (concat"
       "   (reshape a (shape) (shape m (* k 2))) (insertAxis w 1) 1) "
       "1))) " EMIT,
       "(compute reduceSum (access (concat ?a ?w 1) 1)) => (call i "
       "(reshape (materialize (reshape (reshape ?a (shape) (shape ?m ?k 2)) "
       "(shape) (shape ?m (* 2 ?k)))) (shape) (shape ?m ?k 2)) "
       "(squeeze ?w 1))"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    const char *found = derived(rows[k].instr, "i");
    cr_expect_str_eq(found, rows[k].rule, "row %zu: %s", k, found);
  }
}

/* Sizes, dtypes and `where` decide; what is built has the type. */
Test(derive, conditions) {
  const gs_target *t = target_of(
      "(target t)"
      "(instr fixed (params) (operands (a ((b) (16)) f32) (w (() (16 c)) f32))"
      " (result ((b c) ()) f32) (semantics (compute dotProd (cartProd a"
      "   (access (transpose w (list 1 0)) 1)))) (where (= c 16)) " EMIT
      "(instr both (params n) (operands (a ((n) (n)) i8) (w ((n) (n)) i8))"
      " (result ((n n) ()) i32)"
      " (semantics (compute dotProd (cartProd a w))) " EMIT
      "(instr pool (params k s) (operands (a ((h) (t)) f32))"
      " (result ((h (ceil-div (- t (- k 1)) s)) ()) f32)"
      " (semantics (compute reduceMax (windows a (shape k) (stride s))))"
      " (where (and (= (mod h 16) 0) (<= k 3))) " EMIT);
  all_pass(rules_over(
      t, "(test fixed (program (tensor a (shape 8 16) f32)"
         "  (tensor w (shape 16 16) f32)"
         "  (let out (compute dotProd (cartProd (access a 1) (access w 1))))"
         "  (output out))"
         "  (finds (fixed (access a 1)"
         "    (access (transpose (access w 1) (list 1 0)) 0)) :matches 1))"
         "(test where (program (tensor a (shape 8 16) f32)"
         "  (tensor w (shape 15 16) f32)"
         "  (let out (compute dotProd (cartProd (access a 1) (access w 1))))"
         "  (output out)) (never (fixed ?a ?w)))"
         "(test literal-size (program (tensor a (shape 8 15) f32)"
         "  (tensor w (shape 16 15) f32)"
         "  (let out (compute dotProd (cartProd (access a 1) (access w 1))))"
         "  (output out)) (never (fixed (access a 1)"
         "    (access (transpose (access w 1) (list 1 0)) 0)))"
         "  (finds (fixed ?padded ?w)))"
         "(test dtype (program (tensor a (shape 16 16) i8)"
         "  (tensor w (shape 16 16) i8)"
         "  (let out (compute dotProd (cartProd (access a 1) (access w 1))))"
         "  (output out)) (never (fixed ?a ?w)) (finds (both 16 ?a ?w)))"
         "(test same-size (program (tensor a (shape 16 16) i8)"
         "  (tensor w (shape 8 16) i8)"
         "  (let out (compute dotProd (cartProd (access a 1) (access w 1))))"
         "  (output out)) (never (both ?n ?a ?w)))"
         "(test more-dimensions (program (tensor a (shape 2 4 16) f32)"
         "  (tensor w (shape 16 16) f32)"
         "  (let out (compute dotProd (cartProd (access a 2) (access w 1))))"
         "  (output out)) (never (fixed ?a ?w)))"
         "(test pools (program (tensor a (shape 32 9) f32)"
         "  (let out (compute reduceMax (windows (access a 1) (shape 3)"
         "     (stride 2)))) (output out))"
         "  (finds (pool 3 2 (access a 1)) :matches 1))"
         "(test pools-dilated (program (tensor a (shape 32 9) f32)"
         "  (let out (compute reduceMax (windows (access a 1) (shape 3)"
         "     (stride 2) (dilation 2)))) (output out))"
         "  (never (pool ?k ?s ?a)))"
         "(test pools-too-wide (program (tensor a (shape 32 9) f32)"
         "  (let out (compute reduceMax (windows (access a 1) (shape 4)"
         "     (stride 2)))) (output out))"
         "  (never (pool ?k ?s ?a)))"));
}

/* A size of which only a multiple is known: the rule cannot tell n. */
Test(derive, what_cannot_be_derived) {
  gs_target *t = gs_target_parse(
      &ctx, source("t", "(target t) (instr even (params n)"
                        " (operands (a ((b) ((* 2 n))) f32))"
                        " (result ((b) ()) f32)"
                        " (semantics (compute reduceSum a)) " EMIT));
  if (!t)
    return; /* the target's reader says so already */
  rl_rules *rules = rl_new(&ctx, t);
  cr_expect(!rl_finish(rules));
  cr_expect_str_eq(diags.list.data[0].code, "unbound-variable");
}

/* Derived rules are rules: random programs agree with what is declared. */
Test(derive, are_sound) {
  const gs_target *t = target_of(
      "(target t)"
      "(instr mm (params r c) (operands (a ((b) (r)) f32) (w (() (r c)) f32))"
      " (result ((b c) ()) f32) (semantics (compute dotProd (cartProd a"
      "   (access (transpose w (list 1 0)) 1)))) " EMIT
      "(instr mmi (params r c) (operands (a ((b) (r)) i8) (w (() (r c)) i8))"
      " (result ((b c) ()) i32) (semantics (compute dotProd (cartProd a"
      "   (access (transpose w (list 1 0)) 1)))) " EMIT
      "(instr pool (params k s) (operands (a ((h) (t)) i32))"
      " (result ((h (ceil-div (- t (- k 1)) s)) ()) i32)"
      " (semantics (compute reduceMax (windows a (shape k) (stride s)))) " EMIT
      "(instr rows (params) (operands (a ((m n) (k)) i32))"
      " (result ((n m) ()) i32) (layout a (transpose a (list 2 0 1)))"
      " (semantics (compute reduceSum (transpose (insertAxis a 3)"
      "   (list 1 0 2 3)))) " EMIT);
  rl_rules *rules = rules_over(t, "");
  rl_sound_options o;
  rl_sound_defaults(&o);
  o.attempts = 4000;
  for (uint32_t k = 0; k < rl_count(rules); k++) {
    rl_sound_result r;
    if (strstr(rl_at(rules, k)->name, ".fit"))
      continue; /* its left side draws no contractions: test_fit.c does */
    cr_expect(rl_check_sound(&ctx, rules, k, &o, &r), "%s", r.message);
    cr_expect_gt(r.fired, 0, "%s", rl_at(rules, k)->name);
  }
}
