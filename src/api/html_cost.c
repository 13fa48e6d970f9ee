/* SPDX-License-Identifier: MIT */
/* html_cost.c - what the cost model says of the program before and after.
 *
 * The roofline has two points.  Both programs do the same useful work: the
 * operations that the program as written asks for, a multiply-add counted as
 * two; and both must at least read the inputs and write the outputs.  So the
 * points have one intensity and differ in operations a cycle. */
#include "api/html.h"
#include <math.h>
#include <string.h>

enum { MAX_LINES = 12 };

static void
json_label(bs_json *j, const gs_program *p, gs_term t) {
  bs_text text;
  const gs_node *node = gs_at(p, t);
  bs_text_init(&text, j->out->heap);
  bs_put(&text, gs_op_table[node->op].name);
  uint32_t n = node->op == GS_COMPUTE || node->op == GS_CALL
                   ? bs_len(p->ctx.values, node->attr)
                   : 0;
  for (uint32_t k = 0; k < n; k++) {
    bs_putc(&text, ' ');
    bs_put_value(&text, p->ctx.values, bs_item(p->ctx.values, node->attr, k));
  }
  bs_json_string(j, "label", bs_text_str(&text));
  bs_text_done(&text);
}

static void
json_line(bs_json *j, const gs_program *p, const ex_line *line,
          uint32_t count) {
  bs_text type_text;
  gs_type type;
  gs_type_at(p, line->term, &type);
  bs_text_init(&type_text, j->out->heap);
  gs_put_type(&type_text, &type);
  bs_json_object(j, NULL);
  json_label(j, p, line->term);
  bs_json_string(j, "type", bs_text_str(&type_text));
  bs_json_int(j, "count", count);
  bs_json_real(j, "arithmetic", line->cost.arithmetic * count);
  bs_json_real(j, "memory", line->cost.memory * count);
  bs_json_real(j, "call", line->cost.call * count);
  bs_json_end(j);
  bs_text_done(&type_text);
}

/* Calls and computes of one operator and type are one line. */
static bool
alike(const gs_program *p, const ex_line *a, const ex_line *b) {
  const gs_node *x = gs_at(p, a->term), *y = gs_at(p, b->term);
  return x->op == y->op && bs_same(x->attr, y->attr) &&
         bs_same(x->type, y->type) &&
         ex_cost_total(&a->cost) == ex_cost_total(&b->cost);
}

static void
json_program(bs_json *j, const char *key, const gs_program *p,
             const glen_result *r) {
  bs_heap *heap = j->out->heap;
  ex_line *lines = bs_calloc(heap, p->nodes.len + (size_t)1, sizeof *lines);
  double total, rest = 0;
  uint32_t n = ex_breakdown(p, r->target, r->limit, &r->prepacked, lines,
                            &total),
           k = 0;
  bs_json_object(j, key);
  bs_json_real(j, "total", total);
  bs_json_array(j, "lines");
  for (uint32_t shown = 0; k < n && shown < MAX_LINES; shown++) {
    uint32_t first = k++;
    if (ex_cost_total(&lines[first].cost) < 1e-9 * total ||
        lines[first].cost.view > 0)
      break;
    while (k < n && alike(p, &lines[first], &lines[k]))
      k++;
    json_line(j, p, &lines[first], k - first);
  }
  bs_json_end(j);
  for (; k < n; k++)
    rest += ex_cost_total(&lines[k].cost);
  bs_json_real(j, "rest", rest);
  bs_json_end(j);
  bs_free(heap, lines);
}

/* --- the roofline --------------------------------------------------------- */

static double
operations(const gs_program *p, gs_term t) {
  const gs_node *node = gs_at(p, t);
  gs_compute op;
  gs_type in, out;
  if (node->op != GS_COMPUTE ||
      !gs_compute_of(p->ctx.values, bs_item(p->ctx.values, node->attr, 0), &op))
    return 0;
  gs_type_at(p, node->kids[0], &in);
  gs_type_at(p, t, &out);
  /* Of a dot product: as many multiply-adds as a pair has elements. */
  return ex_work_items(gs_compute_table[op].kind, &in, &out);
}

static double
size_of(const gs_program *p, gs_term t) {
  gs_type type;
  gs_type_at(p, t, &type);
  return (double)gs_elements(&type) * gs_dtype_table[type.dtype].bytes;
}

static double
count_operations(const gs_program *p, bs_heap *heap) {
  double total = 0;
  uint8_t *live = bs_alloc(heap, p->nodes.len + (size_t)1);
  gs_mark_live(p, live);
  for (uint32_t k = 0; k < p->nodes.len; k++)
    if (live[k])
      total += operations(p, (gs_term){k});
  bs_free(heap, live);
  return total;
}

static void
json_roofline(bs_json *j, const glen_result *r) {
  const gs_target *t = r->target;
  const gs_program *p = r->input;
  double bytes = 0;
  for (uint32_t k = 0; k < p->inputs.len; k++)
    bytes += size_of(p, p->inputs.data[k].term);
  for (uint32_t k = 0; k < p->outputs.len; k++)
    bytes += size_of(p, p->outputs.data[k].term);
  bs_json_object(j, "roofline");
  bs_json_string(j, "target", t->name);
  bs_json_real(j, "operations", count_operations(p, j->out->heap));
  bs_json_real(j, "bytes", bytes);
  bs_json_real(j, "peak", t->flops_per_cycle);
  bs_json_real(j, "bandwidth", t->memory_bytes_per_cycle);
  bs_json_real(j, "ghz", t->frequency_ghz);
  bs_json_bool(j, "accelerator", t->instrs.len != 0);
  bs_json_end(j);
}

void
api_html_costs(const glen_result *r, bs_json *j) {
  bs_json_object(j, "costs");
  json_program(j, "before", r->input, r);
  json_program(j, "after", r->program.program, r);
  bs_json_end(j);
  json_roofline(j, r);
}
