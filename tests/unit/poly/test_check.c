/* SPDX-License-Identifier: MIT */
/* test_check.c - a loop program that a pass broke is seen by the check after
 * it, each of the invariants in check.h by itself. */
#include "byhand.h"
#include "poly/loops/loops_check.h"

TestSuite(check, .init = start_program, .fini = fixture_stop);

/* B[i] = A[i]; C[i] += A[i], in nests of their own. */
static void
copy_and_sum(void) {
  array("A", PO_INPUT, GS_F32, 1, 8);
  array("B", PO_OUTPUT, GS_F32, 1, 8);
  array("C", PO_OUTPUT, GS_F32, 1, 1);
  ASSIGN("{ S[i] : 0 <= i < 8 }", "{ S[i] -> B[i] }", "i",
         .reads = {"{ S[i] -> A[i] }"});
  ASSIGN("{ Z[z] : z = 0 }", "{ Z[z] -> C[0] }", "z", .literal = 0);
  UPDATE(GS_C_ADD, "{ U[j] : 0 <= j < 8 }", "{ U[j] -> C[0] }", "j",
         .reads = {"{ U[j] -> A[j] }"});
}

static void
expect(const char *fault) {
  bs_text why;
  bs_text_init(&why, &heap);
  bool ok = po_check(hand, &why);
  const char *text = bs_text_str(&why);
  if (!fault)
    cr_assert(ok, "%s", text);
  else
    cr_assert(!ok && strstr(text, fault), "'%s', not '%s'", text, fault);
  bs_text_done(&why);
}

static po_stmt *
nth(uint32_t k) {
  return &hand->stmts.data[k];
}

static po_nest_node *
leaf(uint32_t k) {
  return &hand->nest.nodes.data[nth(k)->leaf];
}

static void
set_domain(uint32_t k, const char *text) {
  nth(k)->domain =
      po_keep_set(&hand->pool, isl_set_read_from_str(hand->isl, text));
}

Test(check, a_program_that_is_whole) {
  copy_and_sum();
  expect(NULL);
}

Test(check, links_of_the_nest) {
  copy_and_sum();
  uint32_t loop = leaf(0)->parent;
  leaf(0)->prev = loop;
  expect("does not link back");
  leaf(0)->prev = PO_NO_NODE;
  hand->nest.nodes.data[loop].last = loop;
  expect("has another last child");
  hand->nest.nodes.data[loop].last = nth(0)->leaf;
  hand->nest.nodes.data[loop].first = 1000;
  expect("has a child that does not exist");
}

Test(check, the_root) {
  copy_and_sum();
  hand->nest.nodes.data[0].kind = PO_LOOP;
  expect("node 0 is not the root");
}

Test(check, a_detached_loop) {
  copy_and_sum();
  po_nest_detach(hand, leaf(0)->parent);
  expect("S does not stand in the tree");
}

Test(check, leaves_and_their_statements) {
  copy_and_sum();
  leaf(0)->stmt = 1;
  expect("S is not the statement of its leaf");
}

Test(check, names_that_are_taken) {
  copy_and_sum();
  nth(1)->name = "S";
  expect("two statements are S");
  nth(1)->name = "Z";
  hand->arrays.data[2].name = "A";
  expect("two arrays are A");
  hand->arrays.data[2].name = "C";
  hand->nest.nodes.data[leaf(2)->parent].name = "i";
  expect("two loops are i");
}

Test(check, times_and_loops) {
  copy_and_sum();
  nth(0)->time = po_keep_multi_aff(
      &hand->pool, isl_multi_aff_read_from_str(hand->isl, "{ S[i] -> [] }"));
  expect("the time of S has 0 functions, there are 1 loops");
  nth(0)->time = po_keep_multi_aff(
      &hand->pool,
      isl_multi_aff_read_from_str(hand->isl, "{ S[a, b] -> [a] }"));
  expect("the time of S is not of its instances");
  nth(0)->time = NULL;
  expect("S has no time");
}

Test(check, domains) {
  copy_and_sum();
  set_domain(0, "{ S[i] : 0 <= i }");
  expect("the domain of S is not bounded");
  set_domain(0, "{ S[i, k] : 0 <= i, k < 8 }");
  expect("the domain of S has 2 indices, there are 1 iterators");
}

Test(check, bodies_children_first) {
  copy_and_sum();
  po_expr *exprs = bs_arena_calloc(&hand->arena, 2, sizeof *exprs);
  exprs[0] = (po_expr){.kind = PO_UNARY,
                       .op = GS_C_RELU,
                       .dtype = GS_F32,
                       .n_kids = 1,
                       .kids = {1}};
  exprs[1] = nth(0)->exprs[0];
  nth(0)->exprs = exprs;
  nth(0)->n_exprs = 2;
  expect("expression 0 of S comes before its operands");
  nth(0)->n_exprs = 0;
  expect("S has no body");
}

Test(check, accesses) {
  copy_and_sum();
  isl_pw_multi_aff *good = nth(0)->write;
  nth(0)->write = access_of("{ S[i] -> B[i + 1] }");
  expect("instances of S are beyond the ends of B");
  nth(0)->write = access_of("{ S[i] -> B[i] : i < 7 }");
  expect("instances of S have no element of B");
  nth(0)->write = access_of("{ S[i] -> B[i, 0] }");
  expect("S has an access of B with another number of indices");
  nth(0)->write = good;
  nth(0)->array = 77;
  expect("S names something that is not an array");
}

Test(check, reads) {
  copy_and_sum();
  po_expr expr = nth(0)->exprs[0], *e = &expr;
  nth(0)->exprs = e;
  e->index = access_of("{ S[i] -> A[i - 1] }");
  expect("instances of S are beyond the ends of A");
  e->index = NULL;
  expect("a read of A has no index");
}

Test(check, kinds) {
  copy_and_sum();
  nth(2)->op = GS_C_RELU;
  expect("U updates by no operator");
  nth(2)->kind = PO_CALL;
  expect("U calls no instruction");
  const gs_instr instr = {.name = "nothing"};
  const po_operand operand = {.array = 77};
  nth(2)->instr = &instr;
  nth(2)->operands = &operand;
  expect("operand 0 of U names something that is not an array");
}

/* A pass that leaves a program broken is named, in builds that check. */
Test(check, the_pass_is_named) {
  copy_and_sum();
  nth(0)->write = access_of("{ S[i] -> B[i + 1] }");
  bool ok = po_verify(hand, "a broken pass");
#ifdef NDEBUG
  cr_assert(ok);
#else
  cr_assert(!ok && has_fault("broken-loops"));
#endif
}

/* ---- a primitive that is broken ---- */

static bool
write_beyond_the_end(po_program *p, po_step_call *call) {
  (void)call;
  p->stmts.data[0].write = po_keep_pw_multi_aff(
      &p->pool, isl_pw_multi_aff_read_from_str(p->isl, "{ S[i] -> B[i + 1] }"));
  return true;
}

static bool
lose_a_loop(po_program *p, po_step_call *call) {
  (void)call;
  po_nest_detach(p, p->nest.nodes.data[p->stmts.data[0].leaf].parent);
  return true;
}

static void
expect_caught(const char *name, bool (*apply)(po_program *, po_step_call *),
              const char *fault) {
#ifndef NDEBUG
  po_primitive broken = {
      .name = name, .apply = apply, .keeps_order = true, .open_sizes = true};
  po_step_call call = {.primitive = &broken};
  po_program *before = hand;
  cr_assert(!po_apply(&hand, &call, NULL), "%s", name);
  cr_assert_eq(hand, before, "the program stays as it was");
  cr_assert(has_fault("broken-loops"));
  expect(NULL);
  cr_assert(strstr(faults(), name) && strstr(faults(), fault));
#else
  (void)name;
  (void)apply;
  (void)fault;
#endif
}

/* In builds with assertions what a primitive leaves is looked at before anybody
 * else works on it. */
Test(check, a_broken_primitive_is_caught_and_its_program_kept) {
  copy_and_sum();
  expect_caught("shift", write_beyond_the_end, "beyond the ends of B");
}

Test(check, a_primitive_that_loses_a_loop_is_caught) {
  copy_and_sum();
  expect_caught("lose", lose_a_loop, "does not stand in the tree");
}
