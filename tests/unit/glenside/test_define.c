/* SPDX-License-Identifier: MIT */
/* Definitions: what uses are replaced by, whose names they see, their end. */
#include "lang.h"

TestSuite(define, .init = start, .fini = fixture_stop);

/* The first two lets are one term. */
static void
same(const char *text) {
  gs_program *p = parse_well(text);
  cr_assert_eq(p->lets.data[0].term.i, p->lets.data[1].term.i, "%s", text);
}

static void
faulty(const char *text, const char *code) {
  cr_assert_null(parse(text), "%s", text);
  cr_assert_eq(count_code(code), 1, "%s\n%s", text, faults());
  cr_assert_eq(diags.errors, 1, "%s", faults());
}

Test(define, a_use_is_the_term_that_it_stands_for) {
  same("(tensor a (shape 2 3) f32) (tensor b (shape 3 4) f32)"
       "(let x (matmul a b))"
       "(let y (compute dotProd"
       "  (cartProd (access a 1) (access (transpose b (list 1 0)) 1))))"
       "(output x)");
}

Test(define, operators_are_heads) {
  same("(tensor a (shape 2 3) f32) (let x (clip (relu a) 0 6))"
       "(let y (compute (clip 0 6) (compute relu a))) (output x)");
  same("(tensor a (shape 2 3) f32) (let x (cast a i8))"
       "(let y (compute (cast i8) a)) (output x)");
  same("(tensor a (shape 2 3) f32) (let x (softmax (access a 1)))"
       "(let y (compute softmax (access a 1))) (output x)");
}

Test(define, sizes_of_one_and_missing_ones_are_repeated) {
  same("(tensor a (shape 2 1 4) f32) (tensor b (shape 3 1) f32)"
       "(let x (add a b))"
       "(let y (compute add (pair (broadcast a (shape 2 3 4))"
       "  (broadcast (insertAxis b 0) (shape 2 3 4))))) (output x)");
}

Test(define, conditions_ask_about_types_in_turn) {
  same("(define (f x n:int) (case (= (dim x 0) 1) (squeeze x 0))"
       "  (f (slice x 0 0 n) (/ n 2)))"
       "(tensor a (shape 8) f32) (let x (f a 4))"
       "(let y (squeeze (slice (slice (slice a 0 0 4) 0 0 2) 0 0 1) 0))"
       "(output x)");
}

Test(define, defaults_may_use_parameters_before_them) {
  same("(define (f x (n:int (dim x 0)) (by (relu x))) (slice (mul x by) 0 0 n))"
       "(tensor a (shape 8) f32) (let x (f a :by (neg a) :n 3))"
       "(let y (slice (mul a (neg a)) 0 0 3)) (let z (f a)) (output z)");
}

Test(define, lets_name_terms_and_values) {
  same("(define (f x) \"what\" (let n:int (- (rank x) 1)) (let y (access x n))"
       "  (compute reduceSum y))"
       "(tensor a (shape 8 2) f32) (let x (f a))"
       "(let y (compute reduceSum (access a 1))) (output x)");
}

Test(define, a_body_sees_its_own_names_alone) {
  faulty("(define (f x) (add x a)) (tensor a (shape 2) f32) (let y (f a))"
         "(output a)",
         "unknown-name");
}

Test(define, an_own_definition_goes_first_but_not_inside_others) {
  same("(define (turned x) (neg x))"
       "(tensor a (shape 2 3) f32) (tensor b (shape 3 4) f32)"
       "(let x (pair (turned a) (turned a)))"
       "(let y (pair (neg a) (neg a))) (let z (matmul a b)) (output z)");
}

Test(define, what_is_needed_is_told_once_at_the_use) {
  faulty("(define (f x) (needs (= (rank x) 1) \"a row\") x)"
         "(define (g x) (relu (f x)))"
         "(tensor a (shape 2 3) f32) (let y (add (g a) a)) (output y)",
         "not-met");
  cr_assert(strstr(faults(), "g: a row"), "%s", faults());
  cr_assert(strstr(faults(), "x is ((2, 3), ()) f32"), "%s", faults());
}

Test(define, what_has_no_end_ends) {
  faulty("(define (f x) (add (f x) (f x))) (tensor a (shape 2) f32)"
         "(let y (f a)) (output y)",
         "too-deep");
}

/* Half of the uses that a program may have stand in each of two steps. */
Test(define, uses_in_steps_count_with_those_around_them) {
#define TWICE                                                                  \
  "(define (f x n:int) (case (= n 0) x)"                                       \
  "  (add (f x (- n 1)) (f x (- n 1))))"                                       \
  "(tensor z (shape) f32) (tensor a (shape 2) f32) (tensor b (shape 2) f32)"
#define STEP(a, n) "(scan z " a " (step s (each x) (add s (f x " #n "))))"
  cr_assert_not_null(parse(TWICE "(let y " STEP("a", 12) ") (output y)"), "%s",
                     faults());
  faulty(TWICE "(let y " STEP("a", 16) ") (let w " STEP(
             "b", 16) ")"
                      "(output y) (output w)",
         "too-deep");
}

Test(define, depth_is_no_matter_of_the_stack) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_put(&text, "(define (f x n:int) (case (= n 0) x) (relu (f x (- n 1))))"
                "(tensor a (shape 2) f32) (let y (f a 3000)) (output y)");
  gs_program *p = parse_well(bs_text_str(&text));
  cr_assert_eq(p->nodes.len, 3001);
  bs_text_done(&text);
}

Test(define, a_use_has_the_place_where_it_stands) {
  gs_program *p = parse_well("(tensor a (shape 2 3) f32)"
                             "(let y (softmax a 0)) (output y)");
  const gs_node *n = gs_at(p, p->outputs.data[0].term);
  cr_assert_eq(n->span.hi - n->span.lo, strlen("(softmax a 0)"));
}
