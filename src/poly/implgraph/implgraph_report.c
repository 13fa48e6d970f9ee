/* SPDX-License-Identifier: MIT */
/* implgraph_report.c - the candidates of every graph of a program, and the
 * choice.
 *
 * The hint graph comes first, then one line a key and group, then the graph
 * of each group that is chosen, with its buffers.  Keys beyond a limit are left
 * out. */
#include "poly/implgraph/buffers.h"
#include "poly/implgraph/hint.h"

#include <inttypes.h>

enum { MAX_KEYS = 4096 };

static const po_impl *
impl_of(const po_impl_plan *plan, int64_t key, uint32_t group,
        uint32_t *result) {
  int64_t rest;
  if (!po_key_result(plan, key, result, &rest))
    return NULL;
  const po_impl_result *r = &plan->results.data[*result];
  if (group >= r->groups.len)
    return NULL;
  return &r->groups.data[group].impls.data[po_key_impl(r, rest, group)];
}

static int64_t
shown_keys(const po_impl_plan *plan) {
  int64_t n = po_count_keys(plan);
  return n < 0 || n > MAX_KEYS ? MAX_KEYS : n;
}

static void
print_candidates(const po_impl_plan *plan, bs_text *out) {
  for (int64_t key = 0; key < shown_keys(plan); key++) {
    uint32_t result;
    const po_impl *i;
    for (uint32_t g = 0; (i = impl_of(plan, key, g, &result)); g++)
      bs_putf(out,
              "candidate %" PRId64 " %" PRIu32 " %" PRIu32 " %s %s %" PRId64
              " %.0f\n",
              key, result, g, i->name, i->feasible ? "yes" : "no",
              i->buffer_bytes, i->cost);
  }
  if (shown_keys(plan) < po_count_keys(plan))
    bs_putf(out, "# %" PRId64 " keys in all\n", po_count_keys(plan));
}

static void
print_impl(const po_impl *i, const po_graph_machine *m, bs_text *out) {
  po_buffers buffers;
  bs_putf(out, "impl %s\n", i->name);
  po_graph_print(i->graph, out);
  po_place_buffers(i->graph, m, &buffers);
  po_print_buffers(&buffers, out);
  po_buffers_done(i->graph->arena->heap, &buffers);
}

static void
print_plan(const po_impl_plan *plan, const po_graph_machine *m, bs_text *out) {
  const po_impl *i;
  uint32_t result;
  bs_putf(out, "graph %s\n", plan->hint->graph.name);
  po_graph_print(&plan->hint->graph, out);
  print_candidates(plan, out);
  if (plan->chosen < 0) {
    bs_put(out, "chosen -\n");
    if (plan->why && !po_count_keys(plan))
      bs_putf(out, "# no candidate: %s\n", plan->why);
    return;
  }
  bs_putf(out, "chosen %" PRId64 "\n", plan->chosen);
  for (uint32_t g = 0; (i = impl_of(plan, plan->chosen, g, &result)); g++)
    print_impl(i, m, out);
}

static void
json_numbers(const po_impl *i, bs_json *j) {
  bs_json_string(j, "impl", i->name);
  bs_json_bool(j, "feasible", i->feasible);
  bs_json_int(j, "ub", i->buffer_bytes);
  bs_json_real(j, "cost", i->cost);
  bs_json_int(j, "score", i->score);
  bs_json_int(j, "cores", i->cores);
}

static void
json_graph(const po_impl *i, const po_graph_machine *m, bs_json *j) {
  po_buffers buffers;
  po_graph_json(i->graph, j, "graph");
  po_place_buffers(i->graph, m, &buffers);
  po_json_buffers(&buffers, j);
  po_buffers_done(i->graph->arena->heap, &buffers);
}

void
po_json_impl(const po_impl *i, const po_graph_machine *m, bs_json *j) {
  json_numbers(i, j);
  json_graph(i, m, j);
}

static void
json_candidate(const po_impl_plan *plan, const po_graph_machine *m, int64_t key,
               uint32_t result, uint32_t group, const po_impl *i, bs_json *j) {
  bs_json_object(j, NULL);
  bs_json_int(j, "key", key);
  bs_json_int(j, "result", result);
  bs_json_int(j, "group", group);
  json_numbers(i, j);
  if (key == plan->chosen)
    json_graph(i, m, j);
  bs_json_end(j);
}

static void
json_plan(const po_impl_plan *plan, const po_graph_machine *m, bs_json *j) {
  bs_json_object(j, NULL);
  po_graph_json(&plan->hint->graph, j, "graph");
  bs_json_array(j, "candidates");
  for (int64_t key = 0; key < shown_keys(plan); key++) {
    uint32_t result;
    const po_impl *i;
    for (uint32_t g = 0; (i = impl_of(plan, key, g, &result)); g++)
      json_candidate(plan, m, key, result, g, i, j);
  }
  bs_json_end(j);
  bs_json_int(j, "keys", po_count_keys(plan));
  bs_json_int(j, "chosen", plan->chosen);
  bs_json_end(j);
}

void
po_print_implgraphs(po_program *scheduled, bs_text *out) {
  po_program *p = po_without_blocks(scheduled);
  po_hints hints;
  po_graph_machine m =
      po_machine_of(p->target ? p->target : gs_target_default(&p->ctx));
  po_make_hints(p, &hints);
  bs_putf(out,
          "machine cores %" PRId64 " buffer %" PRId64 " align %" PRId64
          " bytes-per-cycle %g operations-per-cycle %g\n",
          m.cores, m.buffer_bytes, m.align, m.bytes_per_cycle,
          m.operations_per_cycle);
  for (uint32_t k = 0; k < hints.list.len; k++) {
    po_impl_plan plan;
    po_plan_graph(&plan, hints.list.data[k], &m, &p->arena);
    print_plan(&plan, &m, out);
    po_impl_plan_done(&plan);
  }
  for (uint32_t k = 0; k < hints.skipped.len; k++)
    bs_putf(out, "# no graph: %s\n", hints.skipped.data[k]);
  po_hints_done(p, &hints);
  po_free(p);
}

static void
json_machine(const po_graph_machine *m, bs_json *j) {
  bs_json_object(j, "machine");
  bs_json_int(j, "cores", m->cores);
  bs_json_int(j, "buffer", m->buffer_bytes);
  bs_json_int(j, "align", m->align);
  bs_json_real(j, "bytes-per-cycle", m->bytes_per_cycle);
  bs_json_real(j, "operations-per-cycle", m->operations_per_cycle);
  bs_json_end(j);
}

void
po_json_implgraphs(po_program *scheduled, bs_text *out) {
  po_program *p = po_without_blocks(scheduled);
  po_hints hints;
  bs_json j;
  po_graph_machine m =
      po_machine_of(p->target ? p->target : gs_target_default(&p->ctx));
  po_make_hints(p, &hints);
  bs_json_init(&j, out, 1);
  bs_json_object(&j, NULL);
  bs_json_int(&j, "schema", 1);
  json_machine(&m, &j);
  bs_json_array(&j, "graphs");
  for (uint32_t k = 0; k < hints.list.len; k++) {
    po_impl_plan plan;
    po_plan_graph(&plan, hints.list.data[k], &m, &p->arena);
    json_plan(&plan, &m, &j);
    po_impl_plan_done(&plan);
  }
  bs_json_end(&j);
  bs_json_array(&j, "skipped");
  for (uint32_t k = 0; k < hints.skipped.len; k++)
    bs_json_string(&j, NULL, hints.skipped.data[k]);
  bs_json_end(&j);
  bs_json_end(&j);
  bs_putc(out, '\n');
  po_hints_done(p, &hints);
  po_free(p);
}
