/* SPDX-License-Identifier: MIT */
/* test_candidates.c - tiling cases, keys, and graphs of lowered programs. */
#include "fixture.h"
#include "poly/implgraph/buffers.h"
#include "poly/implgraph/hint.h"
#include "poly/schedule/primitive.h"

TestSuite(candidates, .init = fixture_start, .fini = fixture_stop);

static const po_graph_machine machine = {.cores = 8,
                                         .buffer_bytes = 65536,
                                         .align = 32,
                                         .bytes_per_cycle = 8,
                                         .operations_per_cycle = 16,
                                         .call_cycles = 16};

/* Results of groups of so many impl graphs. */
static void
group(po_impl_plan *plan, uint32_t result, uint32_t impls) {
  while (plan->results.len <= result)
    bs_push(&heap, &plan->results, (po_impl_result){0});
  po_impl_group g = {0};
  for (uint32_t k = 0; k < impls; k++)
    bs_push(&heap, &g.impls, (po_impl){0});
  bs_push(&heap, &plan->results.data[result].groups, g);
}

Test(candidates, keys_count_the_products_of_groups) {
  static const uint32_t expected[10][3] = {
      {0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}, {0, 2, 0},
      {0, 2, 1}, {1, 0, 9}, {1, 1, 9}, {1, 2, 9}, {1, 3, 9}};
  po_impl_plan plan = {.arena = &arena, .chosen = -1};
  group(&plan, 0, 3);
  group(&plan, 0, 2);
  group(&plan, 1, 4);
  cr_assert_eq(po_count_keys(&plan), 10);
  for (uint32_t key = 0; key < 10; key++) {
    uint32_t result;
    int64_t rest;
    cr_assert(po_key_result(&plan, key, &result, &rest));
    po_impl_result *r = &plan.results.data[result];
    cr_assert_eq(result, expected[key][0]);
    for (uint32_t g = 0; g < r->groups.len; g++) {
      r->groups.data[g].chosen = po_key_impl(r, rest, g);
      cr_assert_eq(r->groups.data[g].chosen, expected[key][g + 1]);
    }
    cr_assert_eq(po_key_of_choice(&plan, result), key);
  }
  uint32_t result;
  int64_t rest;
  cr_assert_not(po_key_result(&plan, 10, &result, &rest));
  cr_assert_not(po_key_result(&plan, -1, &result, &rest));
  plan.results.data[0].group_parallel = true;
  cr_assert_eq(po_count_keys(&plan), 1);
  po_impl_plan_done(&plan);
}

static po_program *
read_loops(const char *text) {
  uint32_t source = bs_source_add(&diags, "test.loops", text, strlen(text));
  po_program *p = po_read_loops(&ctx, gs_target_default(&ctx), source, NULL, 0);
  cr_assert(p, "%s", faults());
  return p;
}

#define THREE_AXES                                                             \
  "input A: f32[20, 30, 40]\noutput LoadAbsStore: f32[20, 30, 40]\n"           \
  "for z0 in 0..20 { for z1 in 0..30 { for z2 in 0..40 {\n"                    \
  "S: LoadAbsStore[z0, z1, z2] = A[z0, z1, z2] * 2\n}}}\n"

Test(candidates, an_elementwise_nest_has_one_for_each_axis) {
  static const char *const names[] = {"LoadAbsStore_B0Y0", "LoadAbsStore_B0Y1",
                                      "LoadAbsStore_B0Y2"};
  po_program *p = read_loops(THREE_AXES);
  po_hints hints;
  po_impl_plan plan;
  po_make_hints(p, &hints);
  cr_assert_eq(hints.list.len, 1);
  cr_assert_eq(po_tiling_cases(hints.list.data[0], NULL, 0), 3);
  po_plan_graph(&plan, hints.list.data[0], &machine, &arena);
  const po_impl_group *g = &plan.results.data[0].groups.data[0];
  cr_assert_eq(plan.results.len, 1);
  cr_assert_eq(g->impls.len, 3);
  for (uint32_t k = 0; k < 3; k++) {
    const po_impl *i = &g->impls.data[k];
    const po_graph_node *node = &i->graph->nodes.data[0];
    cr_assert_str_eq(i->name, names[k]);
    cr_assert(i->feasible);
    cr_assert_leq(i->buffer_bytes, machine.buffer_bytes);
    cr_assert_geq(node->calls * node->api_elements, 20 * 30 * 40);
  }
  cr_assert_geq(plan.chosen, 0);
  /* The loops of the nest know their axes. */
  cr_assert_eq(hints.list.data[0]->axis_of.data[po_nest_find(p, "z1")], 1);
  po_impl_plan_done(&plan);
  po_hints_done(p, &hints);
}

Test(candidates, a_case_is_the_transforms_of_its_axes) {
  po_program *p =
      read_loops("input A: f32[64, 300, 128]\noutput B: f32[64, 300, 128]\n"
                 "for z0 in 0..64 { for z1 in 0..300 { for z2 in 0..128 {\n"
                 "S: B[z0, z1, z2] = A[z0, z1, z2] * 2\n}}}\n");
  po_hints hints;
  po_make_hints(p, &hints);
  po_tiling_case t = {.axis = {PO_NO_AXIS, 1, PO_NO_AXIS}, .inner = {1, 50, 1}};
  po_graph g;
  po_graph_copy(&g, &hints.list.data[0]->graph, &arena);
  cr_assert(po_apply_case(&g, hints.list.data[0], &t, &machine, 8));
  bs_text out;
  bs_text_init(&out, &heap);
  po_graph_print(&g, &out);
  cr_assert(strstr(bs_text_str(&out),
                   " 6 TileOuter {1} 4\n"
                   "axis 4 z1t z1t_size 50 TileInner {1} 3\n"),
            "%s", bs_text_str(&out));
  cr_assert(strstr(bs_text_str(&out), " 384 Merged {0,3} -\n"));
  cr_assert(strstr(bs_text_str(&out),
                   "node S [z0z1TB, z0z1Tb, z1t, z2] z0z1Tb 384 6400\n"));
  cr_assert(strstr(bs_text_str(&out),
                   "  output B [z1t, z2] [128, 1] 6400 25600 z0z1Tb\n"));
  po_graph_done(&g);
  po_hints_done(p, &hints);
}

Test(candidates, size_one_axes_are_left_out_where_there_are_others) {
  po_program *p = read_loops(
      "input A: f32[1, 30]\noutput B: f32[1, 30]\n"
      "for i in 0..1 { for j in 0..30 {\nS: B[i, j] = A[i, j] * 2\n}}\n");
  po_hints hints;
  po_tiling_case found[4];
  po_make_hints(p, &hints);
  cr_assert_eq(po_tiling_cases(hints.list.data[0], found, 4), 1);
  cr_assert_eq(found[0].axis[PO_CASE_Y], 1);
  po_hints_done(p, &hints);
}

Test(candidates, softmax_has_one) {
  po_program *p = lower("(tensor a (shape 20 50) f32)"
                        "(let c (compute softmax (access a 1)))(output c)");
  po_hints hints;
  po_impl_plan plan;
  po_make_hints(p, &hints);
  cr_assert_eq(hints.list.len, 1, "%s", loops_text(p));
  const po_hint *h = hints.list.data[0];
  cr_assert_eq(h->graph.axes.list.len, 2);
  cr_assert_eq(h->group[0], PO_CASE_Y);
  cr_assert_eq(h->group[1], PO_CASE_R);
  po_plan_graph(&plan, h, &machine, &arena);
  cr_assert_eq(po_count_keys(&plan), 1);
  cr_assert(strstr(plan.results.data[0].groups.data[0].impls.data[0].name,
                   "_B0Y0R1"));
  po_impl_plan_done(&plan);
  po_hints_done(p, &hints);
}

Test(candidates, a_product_of_matrices_tiles_its_reduction) {
  po_program *p = lower(MATMUL "(output c)");
  po_hints hints;
  po_make_hints(p, &hints);
  cr_assert_eq(hints.list.len, 1, "%s", loops_text(p));
  const po_hint *h = hints.list.data[0];
  cr_assert_eq(po_tiling_cases(h, NULL, 0), 2, "%s", loops_text(p));
  po_tiling_case t = {.axis = {PO_NO_AXIS, 1, 2}, .inner = {1, 2, 3}};
  po_graph g;
  po_graph_copy(&g, &h->graph, &arena);
  cr_assert(po_apply_case(&g, h, &t, &machine, 0), "%s", g.axes.why);
  bs_text out;
  bs_text_init(&out, &heap);
  for (uint32_t k = 0; k < g.axes.order.len; k++)
    bs_putf(
        &out, "%u:%s ", k,
        po_axis_type_names[po_axis_at(&g.axes, g.axes.order.data[k])->type]);
  cr_assert_str_eq(bs_text_str(&out),
                   "0:BlockOuter 1:BlockInner 2:TileOuter 3:TileInner "
                   "4:TileInner ");
  po_graph_done(&g);
  po_hints_done(p, &hints);
}

Test(candidates, a_transposition_tiles_both_sides) {
  po_program *p = read_loops(
      "input A: f32[40, 30]\noutput B: f32[30, 40]\n"
      "for i in 0..30 { for j in 0..40 {\nS: B[i, j] = A[j, i]\n}}\n");
  po_hints hints;
  po_tiling_case found[4];
  po_make_hints(p, &hints);
  cr_assert_eq(po_tiling_cases(hints.list.data[0], found, 4), 1);
  cr_assert_eq(found[0].axis[PO_CASE_X], 0);
  cr_assert_eq(found[0].axis[PO_CASE_Y], 1);
  po_hints_done(p, &hints);
}

Test(candidates, a_loop_that_carries_a_dependence_is_no_block) {
  po_program *p = read_loops(
      "input A: f32[40]\noutput B: f32[20, 40]\n"
      "for j in 0..40 {\nS: B[0, j] = A[j]\n}\n"
      "for i in 0..19 { for k in 0..40 {\nT: B[i + 1, k] = B[i, k] * 2\n}}\n");
  po_hints hints;
  po_impl_plan plan;
  po_make_hints(p, &hints);
  cr_assert_eq(hints.list.len, 2);
  const po_hint *h = hints.list.data[1];
  cr_assert_eq(po_axis_at(&h->graph.axes, 0)->order, PO_AXIS_SERIAL);
  po_plan_graph(&plan, h, &machine, &arena);
  cr_assert_eq(po_count_keys(&plan), 1);
  const po_graph *g = plan.results.data[0].groups.data[0].impls.data[0].graph;
  for (uint32_t k = 0; k < g->axes.list.len; k++)
    if (g->axes.list.data[k].type == PO_AXIS_BLOCK_OUTER)
      cr_assert(po_axis_comes_from(&g->axes, k, 1));
  po_impl_plan_done(&plan);
  po_hints_done(p, &hints);
}

Test(candidates, what_does_not_fit_is_infeasible) {
  po_program *p = read_loops(THREE_AXES);
  po_graph_machine small = machine;
  po_hints hints;
  po_impl_plan plan;
  po_make_hints(p, &hints);
  small.buffer_bytes = 1024;
  po_plan_graph(&plan, hints.list.data[0], &small, &arena);
  const po_impl_group *g = &plan.results.data[0].groups.data[0];
  cr_assert_not(g->impls.data[0].feasible);
  cr_assert(g->impls.data[1].feasible);
  cr_assert_neq(plan.chosen, 0);
  small.buffer_bytes = 8;
  po_impl_plan_done(&plan);
  po_plan_graph(&plan, hints.list.data[0], &small, &arena);
  cr_assert_eq(plan.chosen, -1);
  po_impl_plan_done(&plan);
  po_hints_done(p, &hints);
}

/* One sum has no parallel axis: blocks of the reduction are a result of two
 * groups, and cheaper than one core where operations are what takes time. */
Test(candidates, reductions_of_idle_cores_have_two_phases) {
  po_program *p = read_loops(
      "input A: f32[100]\ninput B: f32[5000]\noutput C: f32[1]\n"
      "for z in 0..1 {\nI: C[z] = 0.0\nfor i in 0..100 { for j in 0..5000 {\n"
      "U: C[z] += A[i] * B[j]\n}}}\n");
  po_hints hints;
  po_impl_plan plan;
  uint32_t result = 0;
  int64_t rest;
  po_make_hints(p, &hints);
  cr_assert(hints.list.data[0]->two_phases);
  po_plan_graph(&plan, hints.list.data[0], &machine, &arena);
  cr_assert_eq(plan.results.len, 2);
  const po_impl_result *two = &plan.results.data[1];
  cr_assert_eq(two->groups.len, 2);
  const po_impl_group *first = &two->groups.data[0];
  const po_impl_group *second = &two->groups.data[1];
  cr_assert_eq(po_count_keys(&plan),
               plan.results.data[0].groups.data[0].impls.len +
                   first->impls.len * second->impls.len);
  for (uint32_t k = 0; k < first->impls.len; k++) {
    const po_graph *g = first->impls.data[k].graph;
    uint32_t blocks = 0;
    cr_assert(strstr(first->impls.data[k].name, "_B1"), "%s",
              first->impls.data[k].name);
    for (uint32_t a = 0; a < g->axes.list.len; a++)
      if (g->axes.list.data[a].type == PO_AXIS_BLOCK_OUTER) {
        blocks++;
        cr_assert_leq(g->axes.list.data[a].value, machine.cores);
      }
    cr_assert_eq(blocks, 1);
  }
  cr_assert(strstr(second->impls.data[0].name, "_sum_B0"));
  cr_assert_lt(two->cost, plan.results.data[0].cost);
  cr_assert(po_key_result(&plan, plan.chosen, &result, &rest));
  cr_assert_eq(result, 1);
  po_impl_plan_done(&plan);
  po_hints_done(p, &hints);
}

/* What a reduction's own axis is written along cannot be cut so. */
Test(candidates, no_two_phases_where_cores_have_work_or_values_are_kept) {
  po_program *sums =
      lower("(tensor a (shape 20 50) f32)"
            "(let c (compute reduceSum (access a 1)))(output c)");
  po_program *soft = lower("(tensor a (shape 2 5000) f32)"
                           "(let c (compute softmax (access a 1)))(output c)");
  po_program *both[2] = {sums, soft};
  for (uint32_t k = 0; k < 2; k++) {
    po_hints hints;
    po_impl_plan plan;
    po_make_hints(both[k], &hints);
    po_plan_graph(&plan, hints.list.data[0], &machine, &arena);
    cr_assert_eq(plan.results.len, 1);
    cr_assert_eq(hints.list.data[0]->two_phases, k == 0);
    po_impl_plan_done(&plan);
    po_hints_done(both[k], &hints);
  }
}

/* ---- after a schedule ---- */

static void
schedule_by(po_program **p, const char *script) {
  bs_text out;
  bs_text_init(&out, &heap);
  uint32_t source = bs_source_add(&diags, "s.sched", script, strlen(script));
  cr_assert(po_run_script(p, source, &out), "%s", faults());
}

static const char *
table_of(po_program *p) {
  bs_text out;
  bs_text_init(&out, &heap);
  po_print_implgraphs(p, &out);
  const char *from = strstr(bs_text_str(&out), "candidate");
  return from ? from : "none";
}

/* Which loop the cores get is the plan's to say, whatever a schedule said; what
 * else a schedule did stays. */
Test(candidates, loops_that_cores_share_have_candidates) {
  static const char *const marks[] = {"parallel z0", "parallel z1",
                                      "bind z0 blockIdx.x"};
  po_program *plain = read_loops(THREE_AXES);
  const char *expected = table_of(plain);
  cr_assert(strstr(expected, "LoadAbsStore_B0Y2"));
  for (uint32_t k = 0; k < 3; k++) {
    po_program *p = read_loops(THREE_AXES);
    schedule_by(&p, marks[k]);
    cr_expect_str_eq(table_of(p), expected);
  }
  po_program *p = read_loops(THREE_AXES);
  schedule_by(&p, "a, b = split z1 [-1, 8]; fuse [z0, a]; parallel z0_a_fused");
  cr_expect(strstr(table_of(p), "LoadAbsStore_B0Y4"), "%s", table_of(p));
  cr_expect(strstr(table_of(p), "Merged {0,2}"), "%s", table_of(p));
}

/* Joined nests have candidates, too. */
Test(candidates, fused_nests_have_candidates) {
  po_program *p = read_loops(
      "input A: f32[640, 50]\noutput C: f32[640]\nworkspace B: f32[640]\n"
      "for i in 0..640 {\nI: B[i] = 0.0\nfor k in 0..50 {\n"
      "U: B[i] += A[i, k]\n}}\n"
      "for j in 0..640 {\nS: C[j] = B[j] * 2\n}\n");
  schedule_by(&p, "compute_at B j; parallel j");
  cr_expect(strstr(table_of(p), "C_B0Y0R1"), "%s", table_of(p));
}

/* Calls as large as the buffers allow, all cores in use, no more than one call
 * where one is enough. */
Test(candidates, an_engineer_would_choose_so) {
  static const struct {
    const char *text, *node;
  } rows[] = {{"input A: f32[64, 301, 128]\noutput B: f32[64, 301, 128]\n"
               "for z0 in 0..64 { for z1 in 0..301 { for z2 in 0..128 {\n"
               "S: B[z0, z1, z2] = exp(A[z0, z1, z2])\n}}}\n",
               "node S [z0z1TB, z0z1Tb, z1t, z2] z0z1Tb 258 9728\n"},
              {"input A: f32[512]\noutput B: f32[512]\n"
               "for i in 0..512 {\nS: B[i] = exp(A[i])\n}\n",
               "node S [iTB, iTb, it] iTb 32 16\n"}};
  static const po_graph_machine npu = {.cores = 48,
                                       .buffer_bytes = 196608,
                                       .align = 32,
                                       .bytes_per_cycle = 32,
                                       .operations_per_cycle = 128,
                                       .call_cycles = 16};
  for (uint32_t k = 0; k < 2; k++) {
    po_program *p = read_loops(rows[k].text);
    po_hints hints;
    po_impl_plan plan;
    bs_text out;
    po_make_hints(p, &hints);
    po_plan_graph(&plan, hints.list.data[0], &npu, &arena);
    const po_impl_group *g = &plan.results.data[0].groups.data[0];
    bs_text_init(&out, &heap);
    po_graph_print(g->impls.data[g->chosen].graph, &out);
    cr_expect(strstr(bs_text_str(&out), rows[k].node), "%s", bs_text_str(&out));
    po_impl_plan_done(&plan);
    po_hints_done(p, &hints);
  }
}

/* ---- buffers ---- */

static const po_buffer *
buffer_of(const po_buffers *b, const char *name) {
  for (uint32_t k = 0; k < b->list.len; k++)
    if (!strcmp(b->list.data[k].name, name))
      return &b->list.data[k];
  cr_assert(false, "there is no buffer %s", name);
  return NULL;
}

static po_graph
implemented(const char *text, const po_graph_machine *m) {
  po_hints hints;
  po_impl_plan plan;
  po_graph g;
  po_program *p = read_loops(text);
  po_make_hints(p, &hints);
  po_plan_graph(&plan, hints.list.data[0], m, &arena);
  const po_impl_group *group = &plan.results.data[0].groups.data[0];
  cr_assert(group->impls.data[group->chosen].feasible);
  po_graph_copy(&g, group->impls.data[group->chosen].graph, &arena);
  po_impl_plan_done(&plan);
  po_hints_done(p, &hints);
  return g;
}

/* d takes the place of b, which nobody needs any more; what comes next is
 * loaded beside the calls. */
Test(candidates, buffers_are_used_again_and_queues_are_double) {
  po_graph g = implemented(
      "input A: f32[64, 64]\noutput E: f32[64, 64]\n"
      "local b: f32[64, 64]\nlocal c: f32[64, 64]\nlocal d: f32[64, 64]\n"
      "for i in 0..64 { for j in 0..64 {\nS: b[i, j] = A[i, j] * 2\n"
      "T: c[i, j] = b[i, j] + 1\nU: d[i, j] = c[i, j] * c[i, j]\n"
      "V: E[i, j] = d[i, j]\n}}\n",
      &(po_graph_machine){.cores = 1,
                          .buffer_bytes = 2000,
                          .align = 32,
                          .bytes_per_cycle = 8,
                          .operations_per_cycle = 16,
                          .call_cycles = 16});
  po_buffers buffers;
  po_graph_machine m = machine;
  m.buffer_bytes = 2000;
  po_place_buffers(&g, &m, &buffers);
  const po_buffer *b = buffer_of(&buffers, "b"), *c = buffer_of(&buffers, "c");
  cr_expect_eq(buffers.list.len, 5);
  cr_expect_eq(b->kind, PO_TEMPORARY);
  cr_expect_eq(buffer_of(&buffers, "d")->offset, b->offset);
  cr_expect_neq(c->offset, b->offset);
  cr_expect_eq(buffer_of(&buffers, "A")->kind, PO_QUEUE_IN);
  cr_expect_eq(buffer_of(&buffers, "A")->depth, 2);
  cr_expect_eq(buffer_of(&buffers, "E")->kind, PO_QUEUE_OUT);
  cr_expect_leq(buffers.bytes, m.buffer_bytes);
  po_buffers_done(&heap, &buffers);
  m.buffer_bytes = 1;
  po_place_buffers(&g, &m, &buffers);
  cr_expect_eq(buffer_of(&buffers, "A")->depth, 1);
  po_buffers_done(&heap, &buffers);
  po_graph_done(&g);
}

/* All of B that the reduction runs over stays near, though a call uses a part
 * of it: it is loaded once for each tile of rows. */
Test(candidates, a_buffer_is_wider_than_a_call) {
  po_graph_machine m = machine;
  m.buffer_bytes = 524288;
  m.cores = 2;
  po_graph g = implemented(
      "input A: f32[65536, 4096]\ninput B: f32[8, 4096]\n"
      "output C: f32[65536, 8]\n"
      "for i in 0..65536 { for j in 0..8 {\nI: C[i, j] = 0.0\n"
      "for k in 0..4096 {\nU: C[i, j] max= A[i, k] * B[j, k]\n}}}\n",
      &m);
  bs_text out;
  bs_text_init(&out, &heap);
  po_graph_print(&g, &out);
  cr_expect(strstr(bs_text_str(&out), "input B [kT, it, j, kt] ["), "%s",
            bs_text_str(&out));
  const po_graph_node *update = &g.nodes.data[1];
  for (uint32_t k = 0; k < update->tensors.len; k++)
    if (!strcmp(update->tensors.data[k].name, "B")) {
      cr_expect_neq(update->tensors.data[k].level, update->loop_axis);
      cr_expect_lt(po_graph_transfers(&g, 1, k), (double)update->calls);
    }
  po_graph_done(&g);
}
