/* SPDX-License-Identifier: MIT */
/* wide.c - buffers that hold more than what one call uses.
 *
 * A buffer lives in the innermost loop that is not among its vectorized axes.
 * Where a loop around that one repeats what is in it, and the whole of it fits,
 * it is filled once outside of both instead: the loops in between become
 * vectorized axes of the buffer, though not of the call (R6).
 *
 *   for i { for k { B[k] is loaded; call } }    B is loaded n times
 *   B[..] is loaded; for i { for k { call } }   once, of all k
 */
#include "poly/implgraph/candidates.h"
#include <assert.h>

#include <string.h>

typedef struct axis_list {
  uint32_t of[PO_MAX_AXES], n;
} axis_list;

static bool
is_in(const axis_list *list, uint32_t axis) {
  for (uint32_t k = 0; k < list->n; k++)
    if (list->of[k] == axis)
      return true;
  return false;
}

static axis_list
axes_of_buffer(const po_tensor *t) {
  axis_list list = {.n = t->vectorized.len};
  for (uint32_t k = 0; k < list.n; k++)
    list.of[k] = t->vectorized.data[k].axis;
  return list;
}

/* Several nodes use it, and do so by one buffer as long as all are alike. */
static bool
is_common(const po_graph *g, uint32_t node, uint32_t number) {
  assert(node < g->nodes.len);
  const char *name = g->nodes.data[node].tensors.data[number].name;
  for (uint32_t k = 0; k < g->nodes.len; k++)
    for (uint32_t i = 0; i < g->nodes.data[k].tensors.len; i++)
      if ((k != node || i != number) &&
          !strcmp(g->nodes.data[k].tensors.data[i].name, name))
        return true;
  return false;
}

static double
moved(const po_graph *g, uint32_t node, uint32_t number) {
  assert(node < g->nodes.len);
  return po_graph_transfers(g, node, number) *
         (double)g->nodes.data[node].tensors.data[number].bytes;
}

/* The loop right around the buffer that it may take in: not the blocks, which
 * are a core's own; PO_NO_AXIS. */
static uint32_t
next_around(const po_graph *g, uint32_t node, const axis_list *taken) {
  uint32_t axes[PO_MAX_AXES], n = po_graph_node_axes(g, node, axes);
  uint32_t found = PO_NO_AXIS, loop = g->nodes.data[node].loop_axis;
  for (uint32_t k = 0; k < n && loop != PO_NO_AXIS; k++) {
    if (!is_in(taken, axes[k]))
      found = axes[k];
    if (axes[k] == loop)
      break;
  }
  return found != PO_NO_AXIS &&
                 po_axis_at(&g->axes, found)->type == PO_AXIS_BLOCK_OUTER
             ? PO_NO_AXIS
             : found;
}

/* In the order of the node. */
static void
take_in(const po_graph *g, uint32_t node, axis_list *list, uint32_t axis) {
  uint32_t axes[PO_MAX_AXES], n = po_graph_node_axes(g, node, axes);
  axis_list with = {.n = 0};
  for (uint32_t k = 0; k < n; k++)
    if (axes[k] == axis || is_in(list, axes[k]))
      with.of[with.n++] = axes[k];
  *list = with;
}

static bool
widen(po_graph *g, uint32_t node, uint32_t number, const po_graph_machine *m,
      int64_t room) {
  const po_tensor *t = &g->nodes.data[node].tensors.data[number];
  axis_list best = axes_of_buffer(t), now = best;
  double least = moved(g, node, number);
  for (uint32_t axis; (axis = next_around(g, node, &now)) != PO_NO_AXIS;) {
    take_in(g, node, &now, axis);
    if (!po_graph_vectorize(g, node, number, now.of, now.n, m->align))
      break;
    int64_t bytes = po_graph_buffer_bytes(g);
    if (bytes < 0 || bytes > room)
      break;
    if (moved(g, node, number) < least) {
      least = moved(g, node, number);
      best = now;
    }
  }
  return po_graph_vectorize(g, node, number, best.of, best.n, m->align);
}

bool
po_widen_buffers(po_graph *g, const po_graph_machine *m, int64_t room) {
  assert(room >= 0);
  for (uint32_t k = 0; k < g->nodes.len; k++)
    for (uint32_t i = 0; i < g->nodes.data[k].tensors.len; i++)
      if (!g->nodes.data[k].tensors.data[i].local && !is_common(g, k, i) &&
          !widen(g, k, i, m, room))
        return false;
  return true;
}
