/* SPDX-License-Identifier: MIT */
/* Whole programs mapped onto an array: after the shipped strategy some program
 * is left that computes no dot product on the host, and it denotes the same.
 *
 * The extraction here only asks whether there is one, of few calls: a dot
 * product costs more than any number of calls. */
#include "glenside/interpret.h"
#include "glenside/over.h"
#include "lawful.h"
#include <math.h>

TestSuite(mapping, .init = fixture_start, .fini = fixture_stop);

/* The product of the sizes in the iteration space of a call. */
static double
calls_in(bs_value attr) {
  bs_value over = gs_over_item(ctx.values, attr);
  double calls = 1;
  for (uint32_t k = 0; k < bs_len(ctx.values, over); k++) {
    bs_value size = bs_item(ctx.values, bs_item(ctx.values, over, k), 1);
    if (bs_kind_of(ctx.values, size) == BS_KIND_INT)
      calls *= (double)bs_as_int(ctx.values, size);
  }
  return calls;
}

static double
price(const eg_graph *g, eg_node n) {
  bs_value o = bs_item(ctx.values, eg_attr(g, n), 0);
  gs_compute op;
  if (eg_op(g, n) != GS_COMPUTE)
    return eg_op(g, n) == GS_CALL ? 1000 + calls_in(eg_attr(g, n)) : 1;
  gs_compute_of(ctx.values, o, &op);
  return op == GS_C_DOT_PROD ? INFINITY : 10;
}

static double
price_with_kids(const eg_graph *g, eg_node n, const double *best) {
  uint32_t n_kids;
  const eg_class *kids = eg_kids(g, n, &n_kids);
  double cost = price(g, n);
  for (uint32_t k = 0; k < n_kids; k++)
    cost += best[eg_find(g, kids[k]).i];
  return cost;
}

/* The cheapest node of each class, by rounds until nothing gets cheaper. */
static eg_node *
cheapest(const eg_graph *g, double *best) {
  uint32_t n = 0;
  for (eg_class c = eg_first_class(g); c.i != UINT32_MAX;
       c = eg_next_class(g, c))
    n = c.i + 1;
  eg_node *choice = bs_alloc(&heap, (n + 1) * sizeof *choice);
  for (uint32_t k = 0; k <= n; k++) {
    choice[k] = EG_NO_NODE;
    best[k] = INFINITY;
  }
  for (bool more = true; more;) {
    more = false;
    for (eg_class c = eg_first_class(g); c.i != UINT32_MAX;
         c = eg_next_class(g, c)) {
      uint32_t m;
      const eg_node *nodes = eg_class_nodes(g, c, &m);
      for (uint32_t k = 0; k < m; k++) {
        double cost = price_with_kids(g, nodes[k], best);
        if (cost < best[c.i] * (1 - 1e-12)) {
          best[c.i] = cost;
          choice[c.i] = nodes[k];
          more = true;
        }
      }
    }
  }
  return choice;
}

typedef struct mapped {
  gs_program *original, *result;
  uint32_t calls, dots, nodes;
} mapped;

static uint32_t
calls_of(const gs_program *p, const gs_node *n) {
  const char *name = bs_as_sym(ctx.values, bs_item(ctx.values, n->attr, 0));
  gs_over over;
  gs_fault fault;
  cr_assert(gs_over_read(ctx.values, gs_find_instr(p->target, name), n->attr,
                         &over, &fault));
  return (uint32_t)gs_over_calls(&over);
}

static void
count(mapped *m, const gs_program *p) {
  uint8_t *live = bs_calloc(&heap, p->nodes.len + 1, 1);
  gs_mark_live(p, live);
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    const gs_node *n = &p->nodes.data[k];
    gs_compute op;
    if (live[k] && n->op == GS_CALL)
      m->calls += calls_of(p, n);
    m->dots +=
        live[k] && n->op == GS_COMPUTE &&
        gs_compute_of(ctx.values, bs_item(ctx.values, n->attr, 0), &op) &&
        op == GS_C_DOT_PROD;
  }
}

static mapped
map(const char *target, const char *text, uint32_t nodes) {
  char path[512];
  snprintf(path, sizeof path, "%s/targets/%s.target", GLEN_SOURCE_DIR, target);
  gs_target *t = gs_target_parse_file(&ctx, path);
  cr_assert(t, "%s", faults());
  rl_rules *rules = rl_new(&ctx, t);
  bool ok = rl_load(rules, GLEN_SOURCE_DIR "/rules");
  cr_assert(rl_finish(rules) && ok, "%s", faults());
  mapped m = {.original = program_over(t, text)};
  rl_options o = options();
  rl_run run;
  o.run.iterations = 1000;
  o.run.nodes = nodes;
  o.run.seconds = 0;
  cr_assert(rl_saturate(&ctx, m.original, rules, &o, &run), "%s", faults());
  cr_expect(run.finished, "%s", eg_stop_name(run.stop));
  m.nodes = eg_count_nodes(run.graph);
  double *best = bs_alloc(&heap, (m.nodes * 4 + 64) * sizeof *best);
  eg_node *choice = cheapest(run.graph, best);
  for (uint32_t k = 0; k < run.n_outputs; k++)
    cr_assert(isfinite(best[eg_find(run.graph, run.outputs[k]).i]));
  m.result = rl_extracted(&ctx, m.original, &run, choice);
  cr_assert(m.result, "%s", faults());
  count(&m, m.result);
  rl_run_done(&run);
  return m;
}

/* Both programs on the same input. */
static void
equal(const mapped *m) {
  gs_tensor in[8], a[4], b[4];
  for (uint32_t k = 0; k < m->original->inputs.len; k++) {
    gs_type t;
    gs_type_at(m->original, m->original->inputs.data[k].term, &t);
    gs_tensor_init(&heap, &in[k], &t);
    gs_tensor_fill(&in[k], 5, m->original->inputs.data[k].name);
  }
  cr_assert(gs_interpret(m->original, in, a), "%s", faults());
  cr_assert(gs_interpret(m->result, in, b), "%s", faults());
  for (uint32_t k = 0; k < m->original->outputs.len; k++) {
    gs_difference d;
    cr_expect(gs_tensor_compare(&a[k], &b[k], 1e-5, 1e-5, &d),
              "%lld elements differ", (long long)d.count);
  }
}

#define CONV(n, c, h, w, o, kh, kw, pad, s)                                    \
  "(tensor image (shape " #n " " #c " " #h " " #w ") f32)"                     \
  "(tensor weights (shape " #o " " #c " " #kh " " #kw ") f32)"                 \
  "(let padded (pad (pad image zero 2 " #pad " " #pad ") zero 3 " #pad         \
  " " #pad "))"                                                                \
  "(let conv (transpose (squeeze (compute dotProd (cartProd (windows (access " \
  "  padded 1) (shape " #c " " #kh " " #kw ") (stride 1 " #s " " #s "))"       \
  "  (access weights 1))) 1) (list 0 3 1 2)))(output conv)"

#define MATMUL(m, k, n)                                                        \
  "(tensor a (shape " #m " " #k ") f32)(tensor b (shape " #k " " #n ") f32)"   \
  "(let c (compute dotProd (cartProd (access a 1) (transpose (access b 1)"     \
  "  (list 1 0)))))(output c)"

Test(mapping, image_padded_onto_64x64) {
  mapped m = map(
      "systolic64",
      "(tensor image (shape 1 32 32 3) f32)"
      "(tensor weights (shape 3 3 3 8) f32)"
      "(let w (access (transpose weights (list 3 2 0 1)) 1))"
      "(let padded (pad (pad (transpose image (list 0 3 1 2)) zero 2 1 1)"
      "  zero 3 1 1))"
      "(let patches (access (squeeze (windows (access padded 1) (shape 3 3 3)"
      "  (stride 1 1 1)) 1) 3))"
      "(let conv (compute dotProd (cartProd w patches)))"
      "(let out (transpose (transpose conv (list 1 0 2 3)) (list 0 2 3 1)))"
      "(output out)",
      500000);
  cr_expect_eq(m.dots, 0);
  cr_expect_eq(m.calls, 1);
  equal(&m);
}

Test(mapping, resnet_layer_onto_16x16) {
  mapped m = map("systolic16", CONV(1, 64, 56, 56, 64, 3, 3, 1, 1), 500000);
  cr_expect_eq(m.dots, 0);
  cr_expect_eq(m.calls, 4 * 36);
}

Test(mapping, convolutions_onto_16x16) {
  static const char *const programs[] = {
      CONV(1, 16, 6, 6, 16, 3, 3, 1, 1),
      CONV(2, 3, 9, 8, 5, 3, 2, 0, 2),
      CONV(1, 5, 7, 7, 33, 1, 1, 0, 1),
      CONV(1, 1, 12, 5, 1, 5, 5, 2, 3),
  };
  for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
    mapped m = map("systolic16", programs[k], 200000);
    cr_expect_eq(m.dots, 0);
    cr_expect_gt(m.calls, 0);
    equal(&m);
  }
}

Test(mapping, products_onto_16x16) {
  static const struct {
    const char *text;
    uint32_t calls;
  } cases[] = {{MATMUL(64, 64, 64), 16},
               {MATMUL(128, 128, 128), 64},
               {MATMUL(256, 256, 256), 256},
               {MATMUL(1, 100, 10), 7},
               {MATMUL(40, 17, 3), 2}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    mapped m = map("systolic16", cases[k].text, 2000000);
    cr_expect_eq(m.dots, 0);
    cr_expect_eq(m.calls, cases[k].calls, "%zu: %u calls", k, m.calls);
    if (k != 2)
      equal(&m);
  }
}

/* What is built does not grow with the number of tiles. */
Test(mapping, a_product_of_any_size_is_one_term) {
  mapped small = map("systolic16", MATMUL(64, 64, 64), 1000);
  mapped large = map("systolic16", MATMUL(4096, 4096, 4096), 1000);
  cr_expect_eq(large.dots, 0);
  cr_expect_eq(large.calls, 256 * 256);
  cr_expect_eq(large.nodes, small.nodes);
  cr_expect_eq(large.result->nodes.len, small.result->nodes.len);
}

/* Dilated, grouped and depthwise; the array knows none of them. */
Test(mapping, other_convolutions_onto_16x16) {
  static const char *const programs[] = {
      "(tensor x (shape 1 4 12 12) f32)(tensor w (shape 6 4 3 3) f32)"
      "(let y (compute dotProd (cartProd (windows (access x 1) (shape 4 3 3)"
      "  (stride 1 1 1) (dilation 1 2 3)) (access w 1))))(output y)",
      "(tensor x (shape 1 6 8 8) f32)(tensor w (shape 4 3 3 3) f32)"
      "(let p (broadcast (windows (access (reshape x (shape 1 2 3 8 8) (shape))"
      "  2) (shape 3 3 3) (stride 1 1 1)) (shape 1 2 2 6 6 3 3 3)))"
      "(let f (broadcast (reshape (access w 1) (shape 1 2 2 1 1) (shape 3 3 3))"
      "  (shape 1 2 2 6 6 3 3 3)))"
      "(let y (compute dotProd (pair p f)))(output y)",
      "(tensor x (shape 1 5 8 8) f32)(tensor w (shape 5 3 3) f32)"
      "(let p (windows (access x 2) (shape 3 3) (stride 1 2)))"
      "(let f (broadcast (reshape (access w 1) (shape 1 5 1 1) (shape 3 3))"
      "  (shape 1 5 6 3 3 3)))"
      "(let y (compute dotProd (pair p f)))(output y)",
  };
  for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
    mapped m = map("systolic16", programs[k], 200000);
    cr_expect_eq(m.dots, 0);
    cr_expect_gt(m.calls, 0);
    equal(&m);
  }
}
