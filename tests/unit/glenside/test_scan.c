/* SPDX-License-Identifier: MIT */
/* Scans: steps as values, their types, and what they mean. */
#include "lang.h"
#include "glenside/interpret/interpret.h"
#include "glenside/program/scan.h"
#include "glenside/array/tensor.h"

TestSuite(scan, .init = start, .fini = fixture_stop);

static const char inputs[] = "(tensor xs (shape 5 3) f32)"
                             "(tensor zero (shape 3) f32)"
                             "(tensor w (shape 3 3) f32)";

static gs_program *
program(const char *term) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_putf(&text, "%s(let y %s)(output y)", inputs, term);
  return parse_well(bs_text_str(&text));
}

static bool
is_refused(const char *term, const char *code) {
  bs_text text;
  bs_text_init(&text, &heap);
  bs_putf(&text, "%s(let y %s)(output y)", inputs, term);
  uint32_t before = count_code(code);
  return !parse(bs_text_str(&text)) && count_code(code) == before + 1;
}

static const char recurrent[] =
    "(scan zero xs w (step h (each x) (with w)"
    "  (let p (compute dotProd (cartProd (access w 1) (access h 0))))"
    "  (let q (compute tanh (compute add (pair p x))))"
    "  (compute sub (pair q (compute mul (pair q p))))))";

Test(scan, states_of_all_steps_are_the_result) {
  gs_program *p = program("(scan zero xs (step s (each x) s))");
  gs_type t;
  gs_type_at(p, p->outputs.data[0].term, &t);
  cr_assert_str_eq(type_text(&t), "((5, 3), ()) f32");
}

Test(scan, names_and_the_order_of_lets_are_no_part_of_a_step) {
  gs_program *p =
      parse_well("(tensor xs (shape 5 3) f32)(tensor zero (shape 3) f32)"
                 "(let y (scan zero xs (step s (each x)"
                 "  (let a (compute abs x)) (let b (compute neg s))"
                 "  (compute add (pair a b)))))"
                 "(let z (scan zero xs (step old (each new)"
                 "  (let b (compute neg old)) (let unused (compute relu b))"
                 "  (let a (compute abs new)) (compute add (pair a b)))))"
                 "(output y)");
  cr_assert_eq(p->lets.data[0].term.i, p->lets.data[1].term.i);
}

Test(scan, what_is_printed_is_read_back) {
  gs_program *p = program(recurrent);
  const char *text = printed(p, false);
  gs_program *again = parse_well(text);
  cr_assert_str_eq(printed(again, false), text);
  cr_assert(bs_same(gs_at(p, p->outputs.data[0].term)->attr,
                    gs_at(again, again->outputs.data[0].term)->attr));
}

Test(scan, faults_are_told_where_they_are) {
  cr_assert(is_refused("(scan zero xs)", "wrong-arity"));
  cr_assert(is_refused("(scan zero xs w)", "bad-attribute"));
  cr_assert(is_refused("(scan zero xs (step s (each x)))", "bad-attribute"));
  cr_assert(is_refused("(scan zero xs (step s s))", "wrong-arity"));
  cr_assert(is_refused("(scan zero xs (step s (with x) s))", "wrong-arity"));
  cr_assert(
      is_refused("(scan zero xs (step s (each x) (with w) s))", "wrong-arity"));
  cr_assert(
      is_refused("(scan zero xs (step s (each x) zero))", "unknown-name"));
  cr_assert(is_refused("(scan zero xs (step s (each s) s))", "duplicate-name"));
  cr_assert(is_refused("(scan zero xs (step s (each x)"
                       " (compute reduceSum (access s 0))))",
                       "type-mismatch"));
  cr_assert(
      is_refused("(scan zero xs zero (step s (each x y) s))", "type-mismatch"));
  cr_assert(is_refused("(scan zero xs (step s (each x) (scan s xs"
                       " (step s (each x) s))))",
                       "unknown-name"));
}

Test(scan, a_step_holds_no_scan) {
  cr_assert(is_refused("(scan zero w xs (step s (each x) (with all)"
                       " (slice (scan s all (step s (each x) s)) 0 0 1)))",
                       "bad-step"));
}

/* As the interpreter has it, step by step, beside the steps written out. */
Test(scan, the_interpreter_runs_the_step_in_a_loop) {
  gs_program *p = program(recurrent);
  gs_term scan = p->outputs.data[0].term;
  const gs_node *node = gs_at(p, scan);
  gs_fault fault = {0};
  gs_term all = gs_unroll_scan(p, node->attr, 5, node->kids, &fault);
  cr_assert(gs_term_ok(all), "%s", fault.message);
  gs_add_output(p, "unrolled", all, BS_NOWHERE);
  gs_tensor in[3], out[2];
  uint64_t state = 1;
  for (uint32_t k = 0; k < 3; k++) {
    gs_type type;
    gs_type_at(p, p->inputs.data[k].term, &type);
    gs_tensor_init(&heap, &in[k], &type);
    for (int64_t e = 0; e < in[k].elements; e++)
      gs_tensor_set(&in[k], e, (double)random_below(&state, 65) / 16 - 2);
  }
  cr_assert(gs_interpret(p, in, out), "%s", faults());
  for (int64_t e = 0; e < out[0].elements; e++)
    cr_assert_eq(gs_tensor_get(&out[0], e), gs_tensor_get(&out[1], e));
}

Test(scan, without_scans_states_depend_on_themselves) {
  gs_program *p = program(recurrent);
  const gs_program *q = gs_without_scans(p);
  cr_assert_neq(q, p);
  cr_assert_eq(q->recurrences.len, 1);
  cr_assert_eq(gs_at(q, q->recurrences.data[0].result)->op, GS_MATERIALIZE);
  cr_assert_eq(q->inputs.len, p->inputs.len);
  for (uint32_t k = 0; k < q->nodes.len; k++)
    cr_assert_neq(q->nodes.data[k].op, GS_SCAN);
  cr_assert_eq(gs_without_scans(q), q);
}

Test(scan, one_step_needs_no_recurrence) {
  gs_program *p =
      parse_well("(tensor xs (shape 1 3) f32)(tensor zero (shape 3) f32)"
                 "(let y (scan zero xs (step s (each x)"
                 "  (compute add (pair s x)))))(output y)");
  cr_assert_eq(gs_without_scans(p)->recurrences.len, 0);
}
