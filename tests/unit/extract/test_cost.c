/* SPDX-License-Identifier: MIT */
#include "glenside/target/machine.h"
#include "extract/cost.h"
#include "extract/extract_egraph.h"
#include "extract/internal.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static bs_heap heap;
static bs_arena arena;
static bs_diags diags;
static gs_context ctx;
static const gs_target *target;

static const char machine[] =
    "(target t (vector-bytes 32) (vector-registers 16)"
    "  (cache 1 (bytes 32768) (line 64) (ways 8) (bytes-per-cycle 64))"
    "  (cache 2 (bytes 1048576) (line 64) (ways 8) (bytes-per-cycle 32))"
    "  (memory (bytes-per-cycle 4))"
    "  (host (flops-per-cycle 32) (scalar-ops-per-cycle 2)))"
    "(instr twice (params n) (operands (a ((n) ()) f32)) (result ((n) ()) f32)"
    "  (semantics (compute (scale 2.0) a)) (where (<= n 64))"
    "  (cost (cycles (+ 3 n)) (bytes (* 8 n))) (emit \"twice({a});\"))"
    "(instr quiet (params n) (operands (a ((n) ()) f32)) (result ((n) ()) f32)"
    "  (semantics (compute neg a)) (emit \"quiet({a});\"))"
    "(instr slow (params n) (operands (a ((n) ()) f32)) (result ((n) ()) f32)"
    "  (semantics (compute abs a)) (cost (cycles (* 99 n)))"
    "  (emit \"slow({a});\"))";

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
  target = gs_target_parse(
      &ctx, bs_source_add(&diags, "t", machine, strlen(machine)));
  cr_assert_not_null(target, "%s",
                     diags.list.len ? diags.list.data[0].message : "");
}

static void
stop(void) {
  bs_heap_done(&heap);
}

TestSuite(cost, .init = start, .fini = stop);

static gs_program *
parse(const char *text) {
  gs_program *p =
      gs_parse(&ctx, target, bs_source_add(&diags, "f", text, strlen(text)));
  cr_assert_not_null(p, "%s: %s", text,
                     diags.list.len ? bs_last(&diags.list).message : "");
  return p;
}

/* The price of the term of the last output. */
static ex_cost
price_under(ex_limit limit, const char *text) {
  gs_program *p = parse(text);
  gs_term root = bs_last(&p->outputs).term;
  const gs_node *n = gs_at(p, root);
  gs_type types[4], type;
  const gs_type *kids[4];
  ex_cost cost;
  for (uint32_t k = 0; k < n->n_kids; k++) {
    gs_type_at(p, n->kids[k], &types[k]);
    kids[k] = &types[k];
  }
  gs_type_at(p, root, &type);
  ex_price_node(target, limit, ctx.values, n->op, n->attr, kids, n->n_kids,
                &type, &cost);
  return cost;
}

static ex_cost
price(const char *text) {
  return price_under(EX_BY_MEMORY, text);
}

Test(cost, inputs_and_views_cost_next_to_nothing) {
  cr_assert_eq(ex_cost_total((ex_cost[1]){
                   price("(tensor a (shape 9 9) f32) (output a)")}),
               0);
  ex_cost c = price("(tensor a (shape 8 9) f32)"
                    "(let o (transpose (access a 1) (list 1 0))) (output o)");
  cr_assert(c.view > 0 && c.view < 0.01);
  cr_assert_eq(ex_cost_total(&c), c.view);
  ex_cost r =
      price("(tensor a (shape 8 9) f32)"
            "(let o (reshape (access a 2) (shape 72) (shape))) (output o)");
  cr_assert_gt(r.view, c.view);
}

Test(cost, a_contraction_pays_its_multiply_adds_at_the_full_rate) {
  ex_cost c = price("(tensor a (shape 16 32) f32) (tensor b (shape 8 32) f32)"
                    "(let o (compute dotProd (cartProd (access a 1) (access b "
                    "1)))) (output o)");
  cr_assert_float_eq(c.arithmetic, 16 * 8 * 32 * 2 / 32.0, 1e-9);
  cr_assert_float_eq(c.memory,
                     16 * 8 * 32 * 2 * 4 / 4 / 64.0 + 16 * 8 * 4 / 4.0, 1e-9);
}

Test(cost, elementwise_work_is_half_of_that_and_exp_is_scalar) {
  const char *text = "(tensor a (shape 1024) f32)"
                     "(let o (compute %s (access a 1))) (output o)";
  char relu[100], exp[100];
  snprintf(relu, sizeof relu, text, "relu");
  snprintf(exp, sizeof exp, text, "exp");
  cr_assert_float_eq(price(relu).arithmetic, 1024 / 16.0, 1e-9);
  cr_assert_float_eq(price(relu).memory, 8192 / 64.0, 1e-9);
  cr_assert_float_eq(price(exp).arithmetic, 12 * 1024 / 2.0, 1e-9);
}

/* Windows of k x k over 2^18 x 8 f32. */
static const char *
windows(int k, const char *more) {
  static char text[300];
  snprintf(text, sizeof text,
           "(tensor a (shape 262144 8) f32)"
           "(let o (compute reduceSum (windows (access a 0) (shape %d %d)"
           "  (stride 1 1) %s))) (output o)",
           k, k, more);
  return text;
}

Test(cost, a_program_is_bound_by_memory_or_by_its_work) {
  /* An element: 8 bytes at 4 a cycle; k k items at 16, read at 16 a cycle. */
  cr_assert_eq(ex_limit_of(parse(windows(3, "")), target), EX_BY_MEMORY);
  cr_assert_eq(ex_limit_of(parse(windows(5, "")), target), EX_BY_WORK);
  /* 0.77 of the time of memory: that much is not hidden. */
  cr_assert_eq(ex_limit_of(parse(windows(4, "")), target), EX_BY_WORK);
  /* Calls are work, views are none. */
  cr_assert_eq(ex_limit_of(parse("(tensor a (shape 8) f32)"
                                 "(let o (call slow 8 (access a 1)))"
                                 "(output o)"),
                           target),
               EX_BY_WORK);
  cr_assert_eq(ex_limit_of(parse("(tensor a (shape 8 9) f32)"
                                 "(let o (transpose a (list 1 0)))"
                                 "(output o)"),
                           target),
               EX_BY_MEMORY);
}

Test(cost, results_stay_in_the_second_cache_where_work_is_the_limit) {
  double n = 262142 * 6.0 * 4;
  const char *text = windows(3, "");
  double read = n * 9 / 64;
  cr_assert_float_eq(price_under(EX_BY_MEMORY, text).memory, read + n / 4,
                     1e-3);
  cr_assert_float_eq(price_under(EX_BY_WORK, text).memory, read + 2 * n / 32,
                     1e-3);
  const char *small = "(tensor a (shape 16 32) f32)"
                      "(let o (compute reduceSum (access a 1))) (output o)";
  cr_assert_float_eq(price_under(EX_BY_WORK, small).memory,
                     16 * 32 * 4 / 64.0 + 2 * 16 * 4 / 32.0, 1e-9);
}

Test(cost, traffic_is_slower_where_the_working_set_no_longer_fits) {
  double last = 0;
  for (int size = 1024; size <= 1 << 22; size *= 2) {
    char text[120];
    snprintf(text, sizeof text,
             "(tensor a (shape %d) f32) (let o (materialize (access a 1))) "
             "(output o)",
             size);
    ex_cost c = price(text);
    double a_byte = c.memory / (8.0 * size);
    cr_assert_geq(a_byte, last);
    last = a_byte;
  }
  cr_assert_float_eq(last, 1 / 4.0, 1e-9);
}

Test(cost, every_compute_operator_has_a_finite_price_that_grows) {
  for (int op = 0; op < GS_COMPUTE_COUNT; op++) {
    const gs_compute_info *info = &gs_compute_table[op];
    double last = 0;
    for (int64_t n = 2; n <= 4096; n *= 2) {
      bs_value item = bs_sym(ctx.values, info->name);
      bs_value attr = bs_list(ctx.values, &item, 1);
      gs_type in = {.access = 1, .rank = 3, .dtype = GS_F32, .dim = {n, 3, n}};
      gs_type out = {.access = 1, .rank = 1, .dtype = GS_F32, .dim = {n}};
      const gs_type *kid = &in;
      ex_cost c;
      ex_price_node(target, EX_BY_MEMORY, ctx.values, GS_COMPUTE, attr, &kid, 1,
                    &out, &c);
      cr_assert(isfinite(ex_cost_total(&c)), "%s", info->name);
      cr_assert_gt(ex_cost_total(&c), last, "%s", info->name);
      last = ex_cost_total(&c);
    }
  }
}

/* Of what is kept for all calls, and is in memory when it is read again. */
Test(cost, products_take_no_less_than_what_is_kept_takes_to_be_read) {
  for (int op = 0; op < GS_COMPUTE_COUNT; op++) {
    bs_value item = bs_sym(ctx.values, gs_compute_table[op].name);
    bs_value attr = bs_list(ctx.values, &item, 1);
    bool waits = gs_compute_table[op].kind == GS_DOT;
    double kept = 2 * (double)gs_far_bytes(target);
    double read = kept / gs_bytes_a_cycle(target, INFINITY);
    ex_cost little = {.arithmetic = 10, .memory = 20}, much = little;
    ex_price_resident(target, ctx.values, GS_COMPUTE, attr, 64, &little);
    cr_assert_eq(ex_cost_total(&little), 30);
    ex_price_resident(target, ctx.values, GS_COMPUTE, attr, kept, &much);
    cr_assert_float_eq(ex_cost_total(&much), waits ? read : 30, 1e-3 * read);
  }
}

Test(cost, a_call_costs_what_its_declaration_says) {
  ex_cost c = price("(tensor a (shape 32) f32) (let o (call twice 32 (access a "
                    "1))) (output o)");
  cr_assert_eq(c.call, 35);
  cr_assert_float_eq(c.memory, 256 / 64.0, 1e-9);
  c = price("(tensor a (shape 32) f32) (let o (call quiet 32 (access a 1))) "
            "(output o)");
  cr_assert_float_eq(c.call, 256 / 64.0, 1e-9);
}

Test(cost, what_the_target_cannot_run_is_infinite) {
  gs_type t = {.access = 1, .rank = 1, .dtype = GS_F32, .dim = {65}};
  const gs_type *kid = &t;
  ex_cost c;
  bs_value item[2] = {bs_sym(ctx.values, "twice"), bs_int(ctx.values, 65)};
  ex_price_node(target, EX_BY_MEMORY, ctx.values, GS_CALL,
                bs_list(ctx.values, item, 2), &kid, 1, &t, &c);
  cr_assert(isinf(ex_cost_total(&c)));
  item[0] = bs_sym(ctx.values, "nobody");
  ex_price_node(target, EX_BY_MEMORY, ctx.values, GS_CALL,
                bs_list(ctx.values, item, 2), &kid, 1, &t, &c);
  cr_assert(isinf(ex_cost_total(&c)));
}

Test(cost, a_breakdown_is_dearest_first_and_complete) {
  gs_program *p =
      parse("(tensor a (shape 16 32) f32) (tensor b (shape 8 32) f32)"
            "(tensor unused (shape 4) f32)"
            "(let p (compute dotProd (cartProd (access a 1) (access b 1))))"
            "(let o (compute relu p)) (output o)");
  ex_line lines[20];
  double total, sum = 0;
  uint32_t n = ex_breakdown(p, target, EX_BY_MEMORY, NULL, lines, &total);
  cr_assert_eq(n, 7); /* all but the unused tensor */
  cr_assert_eq(gs_at(p, lines[0].term)->op, GS_COMPUTE);
  for (uint32_t i = 0; i < n; i++) {
    sum += ex_cost_total(&lines[i].cost);
    if (i)
      cr_assert_leq(ex_cost_total(&lines[i].cost),
                    ex_cost_total(&lines[i - 1].cost));
  }
  cr_assert_float_eq(total, sum, 1e-9);
}

/* ---- from an e-graph and back ---- */

enum { LEAF, JOIN };

static double
by_attribute(void *context, const eg_graph *g, eg_node n) {
  (void)context;
  return bs_as_real(ctx.values, eg_attr(g, n));
}

static eg_class
node(eg_graph *g, uint32_t op, double cost, const eg_class *kids, uint32_t n) {
  return eg_add(g, op, bs_real(ctx.values, cost), kids, n);
}

Test(cost, an_egraph_as_a_problem_and_a_solution_as_its_nodes) {
  eg_graph *g = eg_new(&heap, ctx.values, &(eg_options){0});
  eg_class stray = node(g, LEAF, 50, NULL, 0);
  eg_class a = node(g, LEAF, 7, NULL, 0), b = node(g, LEAF, 3, NULL, 0);
  eg_class c = node(g, LEAF, INFINITY, NULL, 0);
  eg_class pair[2] = {a, c};
  eg_class root = node(g, JOIN, 1, pair, 2);
  eg_union(g, a, b, (eg_reason){EG_BY_CLIENT, 0});
  eg_union(g, c, b, (eg_reason){EG_BY_CLIENT, 0});
  eg_rebuild(g);
  ex_bridge bridge;
  ex_solution s;
  ex_from_egraph(&heap, g, &root, 1, by_attribute, NULL, &bridge);
  cr_assert_null(ex_validate(&bridge.problem));
  cr_assert_eq(bridge.problem.n_classes, 2);
  cr_assert_eq(bridge.problem.n_nodes, 3);
  cr_assert(ex_solve(&bridge.problem, EX_EXACT, NULL, &s));
  cr_assert_eq(s.dag_cost, 4);
  cr_assert_eq(s.tree_cost, 7);
  eg_node *chosen = ex_chosen(&heap, &bridge, &s);
  cr_assert_eq(by_attribute(NULL, g, chosen[eg_find(g, a).i]), 3);
  cr_assert_eq(eg_class_of(g, chosen[eg_find(g, root).i]).i,
               eg_find(g, root).i);
  cr_assert_eq(chosen[eg_find(g, stray).i].i, EG_NO_NODE.i);
  ex_solution_done(&bridge.problem, &s);
  ex_bridge_done(&bridge);
  bs_free(&heap, chosen);
  eg_free(g);
}

static bs_value types[2];

static bs_value
type_of(void *context, const eg_graph *g, eg_class c) {
  (void)context;
  return types[c.i != eg_first_class(g).i];
}

Test(cost, an_enode_is_priced_by_the_types_of_its_classes) {
  eg_graph *g = eg_new(&heap, ctx.values, &(eg_options){0});
  gs_type t = {.access = 1, .rank = 1, .dtype = GS_F32, .dim = {1024}};
  types[0] = types[1] = gs_type_intern(ctx.values, &t);
  bs_value relu = bs_sym(ctx.values, "relu");
  eg_class a = eg_add(g, GS_TENSOR, BS_NIL, NULL, 0);
  eg_class r = eg_add(g, GS_COMPUTE, bs_list(ctx.values, &relu, 1), &a, 1);
  eg_rebuild(g);
  ex_pricer pricer = {
      .target = target, .values = ctx.values, .type_of = type_of};
  uint32_t n;
  const eg_node *nodes = eg_class_nodes(g, eg_find(g, r), &n);
  cr_assert_float_eq(ex_price_enode(&pricer, g, nodes[0]),
                     1024 / 16.0 + 8192 / 64.0, 1e-9);
  eg_free(g);
}
