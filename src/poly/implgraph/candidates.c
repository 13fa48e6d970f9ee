/* SPDX-License-Identifier: MIT */
/* candidates.c - tiling cases of a hint graph, and the transforms of one.
 *
 * Of every group the case takes one axis.  Axes before it in its group are
 * loops, those after it belong to a call, it itself is split into a loop and a
 * part of the call.  Then the outermost parallel loops are merged as far as
 * the rules let them, cut into one block for each core, and everything is put
 * in the order: parallel loops, reduction loops, call. */
#include "poly/implgraph/candidates.h"

#include <string.h>

static bool
in_group(const po_hint *h, uint32_t axis, uint32_t group) {
  return h->group[axis] == group;
}

static bool
is_pruned(const po_hint *h, uint32_t axis) {
  const po_axes *t = &h->graph.axes;
  if (po_axis_at(t, axis)->value > 1)
    return false;
  for (uint32_t k = 0; k < t->order.len; k++)
    if (in_group(h, t->order.data[k], h->group[axis]) &&
        po_axis_at(t, t->order.data[k])->value > 1)
      return true;
  return false;
}

uint32_t
po_tiling_cases(const po_hint *h, po_tiling_case *found, uint32_t room) {
  uint32_t choices[3][PO_MAX_AXES], n[3] = {0}, total = 1;
  const po_axes *t = &h->graph.axes;
  for (uint32_t g = 0; g < 3; g++) {
    for (uint32_t k = 0; k < t->order.len; k++)
      if (in_group(h, t->order.data[k], g) && !is_pruned(h, t->order.data[k]))
        choices[g][n[g]++] = t->order.data[k];
    if (!n[g])
      choices[g][n[g]++] = PO_NO_AXIS;
    total *= n[g]; /* at most 86 * 85 * 85 */
  }
  for (uint32_t k = 0; found && k < total && k < room; k++) {
    uint32_t rest = k;
    found[k] = (po_tiling_case){.inner = {1, 1, 1}};
    for (uint32_t g = 3; g-- > 0; rest /= n[g])
      found[k].axis[g] = choices[g][rest % n[g]];
  }
  return total;
}

/* ---- one case ---- */

typedef struct casing {
  po_graph *g;
  const po_hint *hint;
  bool inner[PO_MAX_AXES]; /* by axis id: part of a call */
  uint8_t group[PO_MAX_AXES];
} casing;

static bool
tile(casing *c, const po_tiling_case *t) {
  for (uint32_t g = 0; g < 3; g++) {
    if (t->axis[g] == PO_NO_AXIS)
      continue;
    uint32_t outer = po_graph_tile_split(c->g, t->axis[g], t->inner[g]);
    if (outer == PO_NO_AXIS)
      return false;
    c->inner[outer + 1] = true;
    c->group[outer] = c->group[outer + 1] = (uint8_t)g;
  }
  return true;
}

/* Axes of a group after its tiled one, and those that are not tiled but may be
 * part of a call. */
static void
find_inner(casing *c, const po_tiling_case *t) {
  const po_axes *axes = &c->hint->graph.axes;
  bool after[4] = {false, false, false, true};
  for (uint32_t k = 0; k < axes->order.len; k++) {
    uint32_t id = axes->order.data[k], g = c->hint->group[id];
    c->group[id] = (uint8_t)g;
    c->inner[id] = after[g] && po_axis_at(axes, id)->order != PO_AXIS_SERIAL;
    if (g < 3 && id == t->axis[g])
      after[g] = true;
  }
}

static bool
is_parallel_loop(const casing *c, uint32_t axis) {
  return !c->inner[axis] && c->group[axis] <= PO_CASE_Y;
}

static bool
used_alike(const po_graph *g, uint32_t a, uint32_t b) {
  for (uint32_t k = 0; k < g->nodes.len; k++) {
    const po_graph_node *n = &g->nodes.data[k];
    if ((a < n->has.len && n->has.data[a]) !=
        (b < n->has.len && n->has.data[b]))
      return false;
  }
  return true;
}

/* The first run of loops that a block may be made of, merged. */
static uint32_t
merge_loops(casing *c, uint32_t block_group) {
  po_axes *t = &c->g->axes;
  uint32_t run[PO_MAX_AXES], n = 0;
  for (uint32_t k = 0; k < t->order.len; k++) {
    uint32_t id = t->order.data[k];
    bool fits = block_group == PO_CASE_R
                    ? !c->inner[id] && c->group[id] == PO_CASE_R
                    : is_parallel_loop(c, id);
    if (n && (!fits || !used_alike(c->g, run[0], id)))
      break;
    if (fits)
      run[n++] = id;
  }
  if (n < 2)
    return n ? run[0] : PO_NO_AXIS;
  uint32_t merged = po_graph_merge(c->g, run, n);
  if (merged == PO_NO_AXIS)
    return run[0];
  c->group[merged] = c->group[run[0]];
  return merged;
}

/* A schedule has given some loop to the cores already. */
static bool
has_block(const po_graph *g) {
  for (uint32_t k = 0; k < g->axes.order.len; k++)
    if (po_axis_at(&g->axes, g->axes.order.data[k])->type ==
        PO_AXIS_BLOCK_OUTER)
      return true;
  return false;
}

static bool
cut_blocks(casing *c, uint32_t loop, const po_graph_machine *m, int64_t block) {
  if (loop == PO_NO_AXIS || has_block(c->g))
    return true;
  if (!block)
    block = po_axis_block_size(&c->g->axes, loop, m->cores);
  uint32_t outer = po_graph_block_split(c->g, loop, block);
  if (outer == PO_NO_AXIS)
    return false;
  c->group[outer] = c->group[outer + 1] = c->group[loop];
  return true;
}

/* Loops, those of reductions last, then the call. */
static bool
put_in_order(casing *c, uint32_t block_group) {
  const po_axes *t = &c->g->axes;
  uint32_t order[PO_MAX_AXES], n = 0, len = t->order.len;
  for (uint32_t part = 0; part < 4; part++)
    for (uint32_t k = 0; k < len; k++) {
      uint32_t id = t->order.data[k], place;
      bool block = po_axis_at(t, id)->type == PO_AXIS_BLOCK_OUTER &&
                   block_group == PO_CASE_R;
      if (c->inner[id])
        place = 3;
      else if (block)
        place = 0;
      else
        place = c->group[id] == PO_CASE_R ? 2 : 1;
      if (place == part)
        order[n++] = id;
    }
  return !memcmp(order, t->order.data, n * sizeof *order) ||
         po_graph_reorder(c->g, order, n);
}

static bool
make_calls(casing *c, const po_graph_machine *m) {
  uint32_t axes[PO_MAX_AXES];
  for (uint32_t k = 0; k < c->g->nodes.len; k++) {
    uint32_t n = po_graph_node_axes(c->g, k, axes), loops = 0;
    while (loops < n && !c->inner[axes[loops]])
      loops++;
    if (!po_graph_set_loop(c->g, k, loops ? axes[loops - 1] : PO_NO_AXIS))
      return false;
    for (uint32_t i = 0; i < c->g->nodes.data[k].tensors.len; i++)
      if (!po_graph_vectorize(c->g, k, i, axes + loops, n - loops, m->align))
        return false;
  }
  return true;
}

/* Blocks of a reduction write results of their own. */
static void
keep_partials(casing *c) {
  const po_axes *t = &c->g->axes;
  for (uint32_t k = 0; k < t->order.len; k++) {
    const po_axis *a = po_axis_at(t, t->order.data[k]);
    for (uint32_t i = 0; a->type == PO_AXIS_BLOCK_OUTER && i < c->g->nodes.len;
         i++) {
      po_graph_node *n = &c->g->nodes.data[i];
      for (uint32_t j = 0; j < n->tensors.len; j++)
        if (n->tensors.data[j].output && a->id < n->has.len &&
            n->has.data[a->id]) {
          n->tensors.data[j].local = false;
          po_tensor_set_repeat(c->g, &n->tensors.data[j], a->id, a->value);
        }
    }
  }
}

bool
po_apply_case(po_graph *g, const po_hint *hint, const po_tiling_case *t,
              const po_graph_machine *m, int64_t block) {
  casing c = {.g = g, .hint = hint};
  uint32_t block_group = t->block_id ? PO_CASE_R : PO_CASE_Y;
  find_inner(&c, t);
  if (!tile(&c, t) || !cut_blocks(&c, merge_loops(&c, block_group), m, block) ||
      !put_in_order(&c, block_group) || !make_calls(&c, m))
    return false;
  if (t->block_id)
    keep_partials(&c);
  return true;
}
