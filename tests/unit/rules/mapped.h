/* SPDX-License-Identifier: MIT */
/* mapped.h - whole programs mapped onto instructions, and what became of them.
 *
 * The extraction here only asks whether there is a program without dot products
 * on the host, of few calls: a dot product costs more than any number of them.
 */
#ifndef TEST_MAPPED_H
#define TEST_MAPPED_H

#include "glenside/interpret/interpret.h"
#include "glenside/call/over.h"
#include "lawful.h"
#include <math.h>

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

/* Of an operator on the host that is no dot product. */
static double host_price = 10;
/* Of all calls of one kind together, besides 1 for each. */
static double call_price = 1000;

static double
price(const eg_graph *g, eg_node n) {
  bs_value o = bs_item(ctx.values, eg_attr(g, n), 0);
  gs_compute op;
  if (eg_op(g, n) == GS_MATERIALIZE)
    return 1e5;
  if (eg_op(g, n) != GS_COMPUTE)
    return eg_op(g, n) == GS_CALL ? call_price + calls_in(eg_attr(g, n)) : 1;
  gs_compute_of(ctx.values, o, &op);
  return op == GS_C_DOT_PROD ? INFINITY : host_price;
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
  uint32_t computes; /* on the host */
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
    m->computes += live[k] && n->op == GS_COMPUTE;
    m->dots +=
        live[k] && n->op == GS_COMPUTE &&
        gs_compute_of(ctx.values, bs_item(ctx.values, n->attr, 0), &op) &&
        op == GS_C_DOT_PROD;
  }
}

/* Saturates under the rules, and extracts. */
static mapped
map_under(const gs_target *t, const rl_rules *rules, const char *text,
          uint32_t nodes) {
  mapped m = {.original = program_over(t, text)};
  rl_options o = options();
  rl_run run;
  o.run.iterations = 1000;
  o.run.nodes = nodes;
  o.run.seconds = 0;
  cr_assert(rl_saturate(&ctx, m.original, rules, &o, &run), "%s", faults());
  cr_expect(run.finished || run.stop == EG_STOP_SATURATED, "%s",
            eg_stop_name(run.stop));
  m.nodes = eg_count_nodes(run.graph);
  double *best = bs_alloc(&heap, (m.nodes * 4 + 64) * sizeof *best);
  eg_node *choice = cheapest(run.graph, best);
  for (uint32_t k = 0; k < run.n_outputs; k++)
    cr_assert(isfinite(best[eg_find(run.graph, run.outputs[k]).i]), "%s", text);
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

#endif
