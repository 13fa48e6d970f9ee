/* SPDX-License-Identifier: MIT */
/* implgraph_print.c - graphs as text, one line an axis, node and tensor; and as
 * JSON.
 *
 *   axis ID NAME SIZE VALUE TYPE {FROM} PAIR
 *   node NAME [sched.axis] LOOP_AXIS CALLS API_ELEMS
 *   output TENSOR [vectorized_axis] [vectorized_stride] ELEMS BYTES LEVEL
 *
 * `input` lines are as `output` ones; what there is none of is `-`. */
#include "poly/implgraph/implgraph.h"
#include <assert.h>

#include <inttypes.h>
#include <stdio.h>

static const char *
axis_name(const po_graph *g, uint32_t axis) {
  return axis == PO_NO_AXIS ? "-" : po_axis_at(&g->axes, axis)->name;
}

void
po_axis_print(const po_axis *a, bs_text *out) {
  bs_putf(out, "axis %" PRIu32 " %s %s %" PRId64 " %s ", a->id, a->name,
          a->size, a->value, po_axis_type_names[a->type]);
  for (uint32_t k = 0; k < a->n_from; k++)
    bs_putf(out, "%s%" PRIu32, k ? "," : "{", a->from[k]);
  bs_put(out, a->n_from ? "} " : "- ");
  if (a->split_pair == PO_NO_AXIS)
    bs_put(out, "-");
  else
    bs_putf(out, "%" PRIu32, a->split_pair);
  if (a->tail != a->value)
    bs_putf(out, " tail %" PRId64, a->tail);
  bs_putc(out, '\n');
}

static void
print_tensor(const po_graph *g, const po_tensor *t, bs_text *out) {
  bs_putf(out, "  %s %s [", t->output ? "output" : "input", t->name);
  for (uint32_t k = 0; k < t->vectorized.len; k++)
    bs_putf(out, "%s%s", k ? ", " : "",
            axis_name(g, t->vectorized.data[k].axis));
  bs_put(out, "] [");
  for (uint32_t k = 0; k < t->vectorized.len; k++)
    bs_putf(out, "%s%" PRId64, k ? ", " : "", t->vectorized.data[k].stride);
  bs_putf(out, "] %" PRId64 " %" PRId64 " %s\n", t->elements, t->bytes,
          axis_name(g, t->level));
}

void
po_graph_print(const po_graph *g, bs_text *out) {
  uint32_t axes[PO_MAX_AXES];
  for (uint32_t k = 0; k < g->axes.list.len; k++)
    po_axis_print(&g->axes.list.data[k], out);
  for (uint32_t k = 0; k < g->nodes.len; k++) {
    const po_graph_node *node = &g->nodes.data[k];
    uint32_t n = po_graph_node_axes(g, k, axes);
    bs_putf(out, "node %s [", node->name);
    for (uint32_t i = 0; i < n; i++)
      bs_putf(out, "%s%s", i ? ", " : "", axis_name(g, axes[i]));
    bs_putf(out, "] %s %" PRId64 " %" PRId64 "\n",
            axis_name(g, node->loop_axis), node->calls, node->api_elements);
    for (uint32_t i = 0; i < node->tensors.len; i++)
      print_tensor(g, &node->tensors.data[i], out);
  }
}

/* ---- JSON ---- */

static void
json_id(bs_json *j, const char *key, uint32_t id) {
  if (id == PO_NO_AXIS)
    bs_json_null(j, key);
  else
    bs_json_int(j, key, id);
}

static void
json_axis(const po_axis *a, bs_json *j) {
  bs_json_object(j, NULL);
  bs_json_int(j, "id", a->id);
  bs_json_string(j, "name", a->name);
  bs_json_string(j, "size", a->size);
  bs_json_int(j, "value", a->value);
  bs_json_int(j, "tail", a->tail);
  bs_json_string(j, "type", po_axis_type_names[a->type]);
  bs_json_array(j, "from");
  for (uint32_t k = 0; k < a->n_from; k++)
    bs_json_int(j, NULL, a->from[k]);
  bs_json_end(j);
  json_id(j, "split_pair", a->split_pair);
  bs_json_end(j);
}

static void
json_dims(const po_dim *dims, uint32_t n, const char *prefix, bs_json *j) {
  static const char *const parts[] = {"axis", "repeat", "stride"};
  char key[32];
  for (uint32_t part = 0; part < 3; part++) {
    snprintf(key, sizeof key, "%s%s", prefix, parts[part]);
    bs_json_array(j, key);
    for (uint32_t k = 0; k < n; k++)
      bs_json_int(j, NULL,
                  part == 0   ? dims[k].axis
                  : part == 1 ? dims[k].repeat
                              : dims[k].stride);
    bs_json_end(j);
  }
}

static void
json_tensor(const po_tensor *t, bs_json *j) {
  bs_json_object(j, NULL);
  bs_json_string(j, "tensor", t->name);
  bs_json_string(j, "dtype", gs_dtype_table[t->dtype].name);
  json_dims(t->view.data, t->view.len, "", j);
  json_dims(t->vectorized.data, t->vectorized.len, "vectorized_", j);
  bs_json_int(j, "elems", t->elements);
  bs_json_int(j, "bytes", t->bytes);
  json_id(j, "level", t->level);
  bs_json_end(j);
}

static void
json_node(const po_graph *g, uint32_t id, bs_json *j) {
  assert(id < g->nodes.len);
  const po_graph_node *node = &g->nodes.data[id];
  uint32_t axes[PO_MAX_AXES], n = po_graph_node_axes(g, id, axes);
  bs_json_object(j, NULL);
  bs_json_string(j, "name", node->name);
  bs_json_array(j, "sched.axis");
  for (uint32_t k = 0; k < n; k++)
    bs_json_int(j, NULL, axes[k]);
  bs_json_end(j);
  json_id(j, "loop_axis", node->loop_axis);
  bs_json_int(j, "calls", node->calls);
  bs_json_int(j, "api_elems", node->api_elements);
  for (uint32_t output = 0; output < 2; output++) {
    bs_json_array(j, output ? "outputs" : "inputs");
    for (uint32_t k = 0; k < node->tensors.len; k++)
      if (node->tensors.data[k].output == output)
        json_tensor(&node->tensors.data[k], j);
    bs_json_end(j);
  }
  bs_json_end(j);
}

void
po_graph_json(const po_graph *g, bs_json *j, const char *key) {
  bs_json_object(j, key);
  bs_json_string(j, "name", g->name);
  bs_json_array(j, "axes");
  for (uint32_t k = 0; k < g->axes.list.len; k++)
    json_axis(&g->axes.list.data[k], j);
  bs_json_end(j);
  bs_json_array(j, "nodes");
  for (uint32_t k = 0; k < g->nodes.len; k++)
    json_node(g, k, j);
  bs_json_end(j);
  bs_json_end(j);
}
