/* SPDX-License-Identifier: MIT */
/* test_script.c - the language of .sched scripts. */
#include "walk.h"

TestSuite(script, .init = start_program, .fini = fixture_stop);

/* C = A * B, and a second nest with a loop i of its own. */
static void
two_nests(void) {
  array("A", PO_INPUT, GS_I32, 2, 8, 8);
  array("C", PO_OUTPUT, GS_I32, 2, 8, 8);
  array("D", PO_OUTPUT, GS_I32, 2, 8, 8);
  ASSIGN("{ I[i,j] : 0 <= i < 8 and 0 <= j < 8 }", "{ I[i,j] -> C[i,j] }",
         "i j", .literal = 0);
  UPDATE(GS_C_ADD, "{ U[i,j,k] : 0 <= i < 8 and 0 <= j < 8 and 0 <= k < 8 }",
         "{ U[i,j,k] -> C[i,j] }", "i j k",
         .reads = {"{ U[i,j,k] -> A[i,k] }"});
  ASSIGN("{ S[i,j] : 0 <= i < 8 and 0 <= j < 8 }", "{ S[i,j] -> D[i,j] }",
         "i_1 j_1", .reads = {"{ S[i,j] -> A[j,i] }"});
}

Test(script, names_of_loops_around_statements) {
  two_nests();
  KEPT("reorder C [j, i]; reorder S [j, i]; split D.j [-1, 4]");
  REFUSED("split D.j [-1, 2]", "the loop D.j is ambiguous");
  REFUSED("split D.j [-1, 2]", "there are j_1_0, j_1_1");
}

Test(script, unknown_names_list_candidates) {
  two_nests();
  REFUSED("split q [2, 4]", "there are i, j, k, i_1, j_1");
  REFUSED("split i_l [2, 4]", "did you mean i_1?");
  REFUSED("compute_inline E", "no statement is named or computes E");
  REFUSED("set_buffer E local", "no array is named E");
  REFUSED("splt i [2, 4]", "did you mean split?");
  REFUSED("a, b, 3 = split i [2, 4]", "names and commas");
}

Test(script, taken_names) {
  two_nests();
  REFUSED("j, b = split i [2, 4]", "there is a loop j already");
  KEPT("i, b = split i [2, 4]");
}

Test(script, a_failed_command_changes_nothing) {
  two_nests();
  const char *before = scheduled("print program");
  REFUSED("split k [2, 4]; bogus k", "there is no command bogus");
  cr_assert_str_eq(scheduled("print program"), before);
  REFUSED("decompose_reduction C i; parallel k", "reduction dependence");
  const char *after = scheduled("print script");
  cr_assert_str_eq(after, "decompose_reduction C i\n");
}

Test(script, try_goes_back_and_on) {
  two_nests();
  scheduled("try { split k [2, 4]; parallel k_0 } else { split k [4, 2] }");
  cr_assert_str_eq(scheduled("print script"), "k_0, k_1 = split k [4, 2]\n");
  scheduled("try { parallel k_0 }\ntry {\n try { parallel nope } else { unroll"
            " k_1 }\n}\nelse\n{ unroll k_0 }");
  cr_assert_str_eq(scheduled("print script"), "k_0, k_1 = split k [4, 2]\n"
                                              "unroll k_1\n");
  cr_assert_eq(diags.list.len, 0);
}

Test(script, else_that_fails) {
  two_nests();
  REFUSED("try { parallel k } else { parallel nope }", "no loop is named nope");
}

Test(script, assertions) {
  two_nests();
  scheduled("assert legal; assert instances(U) == 512; assert instances(C) == "
            "576; assert extent(k) >= 8; assert extent(k) != 9");
  REFUSED("assert instances(U) == 5", "instances(U) is 512, not == 5");
  REFUSED("assert extent(k) < 8", "extent(k) is 8, not < 8");
  REFUSED("assert extent(k)", "an assertion is");
  REFUSED("assert size(k) == 8", "is expected here");
}

Test(script, syntax) {
  two_nests();
  REFUSED("split i [2 4]", ", or ] is expected");
  REFUSED("split i [2, 4] 7", "nothing more is expected");
  REFUSED("}", "this } closes nothing");
  REFUSED("try { unroll k", "a block is not closed");
  REFUSED("else { }", "else without a try");
  REFUSED("try unroll k", "{ is expected");
  REFUSED("print everything", "can be printed");
  REFUSED("split i [99999999999999999999]", "no integer");
  REFUSED("pack U A \"[i", "the text does not end");
  REFUSED("split ? [2]", "no meaning");
  scheduled("# nothing\n\n ; ;\n# at all");
  scheduled("split k [\n  2,\n  4 # both\n]\n");
  scheduled("assert extent(\n  i\n) == 8\nassert instances(\nU) == 512");
  REFUSED("assert extent(i\n) ==\n 8", "is expected");
}

Test(script, blocks_are_not_nested_without_end) {
  two_nests();
  bs_text text;
  bs_text_init(&text, &heap);
  for (int k = 0; k < 10000; k++)
    bs_put(&text, "try { ");
  REFUSED(bs_text_str(&text), "nested too deeply");
}

Test(script, the_normal_form_leads_to_the_same_program) {
  two_nests();
  scheduled("a, b = tile C [i, j] [3, 5]; decompose_reduction C a\n"
            "cache_write C local; split D.j [-1, 3]; f = fuse S [i, j_1_0]\n"
            "rfactor U.k; peel f 4");
  const char *normal = scheduled("print script");
  const char *text = scheduled("print program");
  po_free(hand);
  hand = po_new_program(&ctx, NULL, NULL, NULL);
  two_nests();
  KEPT(normal);
  cr_assert_str_eq(scheduled("print program"), text);
  cr_assert_str_eq(scheduled("print script"), normal);
}

/* One statement after another in one nest. */
static void
shared_nest(void) {
  static const char text[] = "input A: i32[7, 7]\noutput B: i32[5, 5]\n"
                             "for i in 0..5 { for j in 0..5 {\n"
                             "  S: B[i, j] = A[i, j] - 2\n"
                             "  T: B[i, j] += A[i, 0] } }\n";
  po_free(hand);
  hand = po_read_loops(
      &ctx, gs_target_default(&ctx),
      bs_source_add(&diags, "shared.loops", text, sizeof text - 1), NULL, 0);
}

/* isl writes what it finds out of a set into the set. */
Test(script, what_is_asked_in_between_does_not_show) {
  static const char *const commands[] = {
      "f = fuse [i, j]", "f, g = peel f 2", "f0, f1 = split f [-1, 1]",
      "vectorize f0 2", "g0, g1 = split g [-1, 5]"};
  bs_text all;
  bs_text_init(&all, &heap);
  for (size_t k = 0; k < sizeof commands / sizeof *commands; k++)
    bs_putf(&all, "%s\n", commands[k]);
  shared_nest();
  scheduled(bs_text_str(&all));
  const char *text = scheduled("print program");
  shared_nest();
  for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
    scheduled(commands[k]);
    for (uint32_t s = 0; s < hand->stmts.len; s++) {
      isl_set *domain = hand->stmts.data[s].domain;
      isl_set_free(isl_set_remove_redundancies(isl_set_copy(domain)));
    }
    scheduled("assert legal; print program; print loops; print deps");
  }
  cr_assert_str_eq(scheduled("print program"), text);
}

Test(script, undo) {
  two_nests();
  po_program *before = NULL;
  po_step_call call = {.primitive = po_primitive_find("unroll")};
  call.args[0] = (po_arg){.kind = PO_ARG_LOOP, .node = po_nest_find(hand, "k")};
  cr_assert(po_apply(&hand, &call, &before));
  cr_assert_eq(hand->script.len, 1);
  cr_assert_eq(before->script.len, 0);
  po_free(hand);
  hand = before;
  KEPT("parallel i");
}
