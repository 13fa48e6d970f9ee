/* SPDX-License-Identifier: MIT */
/* implgraph.c - nodes and tensors of a graph under transforms of its axes.
 *
 * A transform is first done to the table of axes, which checks its rules; then
 * every node that had the old axes gets the new ones, and every view follows:
 * a split of (repeat r, stride s) by n is (ceil(r / n), s * n) and (n, s); a
 * merge joins dimensions of which each strides over exactly the next.  Apart
 * from views, each tensor remembers for every axis how many different elements
 * it has along it, from which the sizes of buffers follow.
 *
 * Products saturate at INT64_MAX; a buffer that large is refused. */
#include "poly/implgraph/implgraph.h"
#include <assert.h>

#include <inttypes.h>
#include <string.h>

static int64_t
times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* ---- graphs ---- */

void
po_graph_init(po_graph *g, bs_arena *arena, const char *name) {
  *g = (po_graph){.arena = arena, .name = bs_arena_strdup(arena, name)};
  po_axes_init(&g->axes, arena);
}

void
po_graph_done(po_graph *g) {
  bs_heap *heap = g->arena->heap;
  for (uint32_t k = 0; k < g->nodes.len; k++) {
    po_graph_node *node = &g->nodes.data[k];
    for (uint32_t i = 0; i < node->tensors.len; i++) {
      bs_vec_done(heap, &node->tensors.data[i].view);
      bs_vec_done(heap, &node->tensors.data[i].repeat);
      bs_vec_done(heap, &node->tensors.data[i].vectorized);
    }
    bs_vec_done(heap, &node->tensors);
    bs_vec_done(heap, &node->has);
  }
  bs_vec_done(heap, &g->nodes);
  po_axes_done(&g->axes);
}

#define COPY_ITEMS(heap, to, from)                                             \
  do {                                                                         \
    for (uint32_t item_ = 0; item_ < (from)->len; item_++)                     \
      bs_push((heap), (to), (from)->data[item_]);                              \
  } while (0)

static void
copy_tensor(bs_heap *heap, po_tensor *to, const po_tensor *from) {
  *to = *from;
  memset(&to->view, 0, sizeof to->view);
  memset(&to->repeat, 0, sizeof to->repeat);
  memset(&to->vectorized, 0, sizeof to->vectorized);
  COPY_ITEMS(heap, &to->view, &from->view);
  COPY_ITEMS(heap, &to->repeat, &from->repeat);
  COPY_ITEMS(heap, &to->vectorized, &from->vectorized);
}

void
po_graph_copy(po_graph *g, const po_graph *from, bs_arena *arena) {
  bs_heap *heap = arena->heap;
  po_graph_init(g, arena, from->name);
  po_axes_copy(&g->axes, &from->axes, arena);
  for (uint32_t k = 0; k < from->nodes.len; k++) {
    const po_graph_node *old = &from->nodes.data[k];
    po_graph_node node = *old;
    memset(&node.has, 0, sizeof node.has);
    memset(&node.tensors, 0, sizeof node.tensors);
    bs_push(heap, &g->nodes, node);
    COPY_ITEMS(heap, &bs_last(&g->nodes).has, &old->has);
    for (uint32_t i = 0; i < old->tensors.len; i++) {
      po_tensor tensor;
      copy_tensor(heap, &tensor, &old->tensors.data[i]);
      bs_push(heap, &bs_last(&g->nodes).tensors, tensor);
    }
  }
}

static bool
node_has(const po_graph_node *node, uint32_t axis) {
  return axis < node->has.len && node->has.data[axis];
}

static void
give_axis(po_graph *g, po_graph_node *node, uint32_t axis, bool has) {
  while (node->has.len <= axis)
    bs_push(g->arena->heap, &node->has, false);
  node->has.data[axis] = has;
}

uint32_t
po_graph_node_axes(const po_graph *g, uint32_t node,
                   uint32_t axes[PO_MAX_AXES]) {
  assert(node < g->nodes.len && g->axes.order.len <= PO_MAX_AXES);
  uint32_t n = 0;
  for (uint32_t k = 0; k < g->axes.order.len; k++)
    if (node_has(&g->nodes.data[node], g->axes.order.data[k]))
      axes[n++] = g->axes.order.data[k];
  return n;
}

uint32_t
po_graph_add_node(po_graph *g, const char *name, const uint32_t *axes,
                  uint32_t n) {
  assert(n <= PO_MAX_AXES);
  po_graph_node node = {.name = bs_arena_strdup(g->arena, name),
                        .loop_axis = PO_NO_AXIS,
                        .calls = 1,
                        .api_elements = 1,
                        .operations = 1};
  bs_push(g->arena->heap, &g->nodes, node);
  po_graph_node *made = &bs_last(&g->nodes);
  for (uint32_t k = 0; k < n; k++) {
    give_axis(g, made, axes[k], true);
    made->calls = times(made->calls, po_axis_at(&g->axes, axes[k])->value);
  }
  uint32_t id = g->nodes.len - 1, order[PO_MAX_AXES];
  n = po_graph_node_axes(g, id, order);
  made->loop_axis = n ? order[n - 1] : PO_NO_AXIS;
  return id;
}

static int64_t
repeat_of(const po_tensor *t, uint32_t axis) {
  return axis < t->repeat.len ? t->repeat.data[axis] : 1;
}

void
po_tensor_set_repeat(po_graph *g, po_tensor *t, uint32_t axis, int64_t repeat) {
  assert(axis < g->axes.list.len && repeat >= 1);
  while (t->repeat.len <= axis)
    bs_push(g->arena->heap, &t->repeat, (int64_t)1);
  t->repeat.data[axis] = repeat;
}

uint32_t
po_graph_add_tensor(po_graph *g, uint32_t node, const char *name,
                    gs_dtype dtype, bool output, const int64_t *repeats,
                    const int64_t *strides) {
  assert(node < g->nodes.len);
  uint32_t axes[PO_MAX_AXES], n = po_graph_node_axes(g, node, axes);
  po_graph_node *owner = &g->nodes.data[node];
  po_tensor t = {.name = bs_arena_strdup(g->arena, name),
                 .dtype = dtype,
                 .output = output,
                 .level = PO_NO_AXIS};
  for (uint32_t k = 0; k < n; k++) {
    po_tensor_set_repeat(g, &t, axes[k], repeats[k]);
    bs_push(g->arena->heap, &t.view, (po_dim){axes[k], repeats[k], strides[k]});
  }
  bs_push(g->arena->heap, &owner->tensors, t);
  return owner->tensors.len - 1;
}

/* ---- transforms of views ---- */

static uint32_t
find_dim(const po_tensor *t, uint32_t axis) {
  uint32_t k = 0;
  while (k < t->view.len && t->view.data[k].axis != axis)
    k++;
  return k;
}

static void
split_view(po_graph *g, po_tensor *t, uint32_t axis, uint32_t outer) {
  uint32_t at = find_dim(t, axis);
  int64_t n_outer = po_axis_at(&g->axes, outer)->value;
  int64_t n_inner = po_axis_at(&g->axes, outer + 1)->value;
  bool one = repeat_of(t, axis) == 1;
  po_tensor_set_repeat(g, t, outer, one ? 1 : n_outer);
  po_tensor_set_repeat(g, t, outer + 1, one ? 1 : n_inner);
  if (at == t->view.len)
    return;
  bs_push(g->arena->heap, &t->view, (po_dim){0});
  po_dim *dims = t->view.data, whole = dims[at];
  memmove(dims + at + 2, dims + at + 1, (t->view.len - at - 2) * sizeof *dims);
  one = whole.repeat == 1;
  dims[at] = one ? (po_dim){outer, 1, 0}
                 : (po_dim){outer, n_outer, times(whole.stride, n_inner)};
  dims[at + 1] = (po_dim){outer + 1, one ? 1 : n_inner, whole.stride};
}

static void
merge_view(po_graph *g, po_tensor *t, const po_axis *merged) {
  uint32_t at = find_dim(t, merged->from[0]), n = merged->n_from;
  po_dim *dims = t->view.data;
  int64_t all = 1;
  bool joins = at + n <= t->view.len;
  for (uint32_t k = 0; k < n; k++)
    all = times(all, repeat_of(t, merged->from[k]));
  po_tensor_set_repeat(g, t, merged->id, all);
  for (uint32_t k = 0; joins && k < n; k++)
    joins = dims[at + k].axis == merged->from[k];
  for (uint32_t k = 0; joins && k + 1 < n; k++)
    joins = dims[at + k].stride ==
            times(dims[at + k + 1].repeat, dims[at + k + 1].stride);
  if (!joins)
    return;
  dims[at] = (po_dim){merged->id, all, dims[at + n - 1].stride};
  memmove(dims + at + 1, dims + at + n, (t->view.len - at - n) * sizeof *dims);
  t->view.len -= n - 1;
}

/* Where a dimension belongs in the order: by the axis that was made of it. */
static uint32_t
place_of(const po_axes *axes, uint32_t axis) {
  uint32_t place = 0;
  while (place < axes->order.len &&
         !po_axis_comes_from(axes, axes->order.data[place], axis))
    place++;
  return place;
}

static void
reorder_view(po_graph *g, po_tensor *t) {
  po_dim *dims = t->view.data;
  for (uint32_t k = 1; k < t->view.len; k++) {
    po_dim dim = dims[k];
    uint32_t i = k, place = place_of(&g->axes, dim.axis);
    for (; i && place_of(&g->axes, dims[i - 1].axis) > place; i--)
      dims[i] = dims[i - 1];
    dims[i] = dim;
  }
}

/* ---- transforms ---- */

/* Buffers and calls were those of other axes. */
static void
forget_calls(po_graph *g, uint32_t id) {
  assert(id < g->nodes.len);
  po_graph_node *node = &g->nodes.data[id];
  uint32_t axes[PO_MAX_AXES], n = po_graph_node_axes(g, id, axes);
  node->loop_axis = n ? axes[n - 1] : PO_NO_AXIS;
  node->api_elements = node->calls = 1;
  for (uint32_t k = 0; k < n; k++)
    node->calls = times(node->calls, po_axis_at(&g->axes, axes[k])->value);
  for (uint32_t k = 0; k < node->tensors.len; k++) {
    bs_clear(&node->tensors.data[k].vectorized);
    node->tensors.data[k].elements = node->tensors.data[k].bytes = 0;
    node->tensors.data[k].level = PO_NO_AXIS;
  }
}

static uint32_t
after_split(po_graph *g, uint32_t axis, uint32_t outer) {
  if (outer == PO_NO_AXIS)
    return outer;
  for (uint32_t k = 0; k < g->nodes.len; k++) {
    po_graph_node *node = &g->nodes.data[k];
    if (!node_has(node, axis))
      continue;
    give_axis(g, node, axis, false);
    give_axis(g, node, outer, true);
    give_axis(g, node, outer + 1, true);
    for (uint32_t i = 0; i < node->tensors.len; i++)
      split_view(g, &node->tensors.data[i], axis, outer);
    forget_calls(g, k);
  }
  return outer;
}

uint32_t
po_graph_tile_split(po_graph *g, uint32_t axis, int64_t inner) {
  return after_split(g, axis, po_axis_tile_split(&g->axes, axis, inner));
}

uint32_t
po_graph_block_split(po_graph *g, uint32_t axis, int64_t inner) {
  return after_split(g, axis, po_axis_block_split(&g->axes, axis, inner));
}

/* A node has all of the axes or none. */
static bool
nodes_agree(po_graph *g, const uint32_t *axes, uint32_t n) {
  for (uint32_t k = 0; k < g->nodes.len; k++)
    for (uint32_t i = 1; i < n; i++)
      if (node_has(&g->nodes.data[k], axes[i]) !=
          node_has(&g->nodes.data[k], axes[0]))
        return po_axis_refuse(&g->axes, "R3",
                              "merge: %s runs over only a part of the axes",
                              g->nodes.data[k].name);
  return true;
}

uint32_t
po_graph_merge(po_graph *g, const uint32_t *axes, uint32_t n) {
  assert(axes && n);
  if (!nodes_agree(g, axes, n))
    return PO_NO_AXIS;
  uint32_t id = po_axis_merge(&g->axes, axes, n);
  if (id == PO_NO_AXIS)
    return id;
  for (uint32_t k = 0; k < g->nodes.len; k++) {
    po_graph_node *node = &g->nodes.data[k];
    if (!node_has(node, axes[0]))
      continue;
    for (uint32_t i = 0; i < n; i++)
      give_axis(g, node, axes[i], false);
    give_axis(g, node, id, true);
    for (uint32_t i = 0; i < node->tensors.len; i++)
      merge_view(g, &node->tensors.data[i], po_axis_at(&g->axes, id));
    forget_calls(g, k);
  }
  return id;
}

bool
po_graph_reorder(po_graph *g, const uint32_t *axes, uint32_t n) {
  assert(n <= g->axes.list.len);
  if (!po_axis_reorder(&g->axes, axes, n))
    return false;
  for (uint32_t k = 0; k < g->nodes.len; k++) {
    po_graph_node *node = &g->nodes.data[k];
    for (uint32_t i = 0; i < node->tensors.len; i++)
      reorder_view(g, &node->tensors.data[i]);
    forget_calls(g, k);
  }
  return true;
}

/* ---- calls and buffers ---- */

bool
po_graph_set_loop(po_graph *g, uint32_t id, uint32_t axis) {
  assert(id < g->nodes.len);
  po_graph_node *node = &g->nodes.data[id];
  uint32_t axes[PO_MAX_AXES], n = po_graph_node_axes(g, id, axes);
  int64_t calls = 1, api = 1;
  bool loop = axis != PO_NO_AXIS;
  if (loop && !node_has(node, axis))
    return po_axis_refuse(&g->axes, "R5", "loop axis: %s has no such axis",
                          node->name);
  for (uint32_t k = 0; k < n; k++) {
    const po_axis *a = po_axis_at(&g->axes, axes[k]);
    int64_t *product = loop ? &calls : &api;
    if (!loop && a->order == PO_AXIS_SERIAL)
      return po_axis_refuse(&g->axes, "R8",
                            "loop axis: %s carries a dependence and must be a "
                            "loop of %s",
                            a->name, node->name);
    if (__builtin_mul_overflow(*product, a->value, product))
      return po_axis_refuse(&g->axes, "size",
                            "loop axis: the instances of %s are beyond 64 bits",
                            node->name);
    loop &= axes[k] != axis;
  }
  node->loop_axis = axis;
  node->calls = calls;
  node->api_elements = api;
  return true;
}

/* R6: axes are a subsequence of the node's that ends with all of a call. */
static bool
may_vectorize(po_graph *g, uint32_t id, const uint32_t *axes, uint32_t n,
              uint32_t *level) {
  const po_graph_node *node = &g->nodes.data[id];
  uint32_t all[PO_MAX_AXES], n_all = po_graph_node_axes(g, id, all), at = 0;
  bool loop = node->loop_axis != PO_NO_AXIS;
  *level = PO_NO_AXIS;
  for (uint32_t k = 0; k < n_all; k++) {
    if (at < n && axes[at] == all[k])
      at++;
    else if (!loop)
      return po_axis_refuse(&g->axes, "R6",
                            "vectorize: %s of a call of %s is missing or out "
                            "of order",
                            po_axis_at(&g->axes, all[k])->name, node->name);
    else
      *level = all[k];
    loop &= all[k] != node->loop_axis;
  }
  return at == n || po_axis_refuse(&g->axes, "R6",
                                   "vectorize: the axes are not in the order "
                                   "of %s",
                                   node->name);
}

/* The repeat of a buffer's last dimension, in whole units of align bytes. */
static int64_t
padded(int64_t repeat, int64_t align, int64_t bytes) {
  int64_t unit = align > bytes ? align / bytes : 1;
  int64_t over = repeat % unit;
  return over ? repeat + (unit - over) : repeat;
}

bool
po_graph_vectorize(po_graph *g, uint32_t id, uint32_t number,
                   const uint32_t *axes, uint32_t n, int64_t align) {
  assert(id < g->nodes.len);
  assert(number < g->nodes.data[id].tensors.len);
  uint32_t level;
  if (!may_vectorize(g, id, axes, n, &level))
    return false;
  po_tensor *t = &g->nodes.data[id].tensors.data[number];
  int64_t bytes = gs_dtype_table[t->dtype].bytes, size = 1, all;
  bool last = true;
  bs_clear(&t->vectorized);
  for (uint32_t k = 0; k < n; k++)
    bs_push(g->arena->heap, &t->vectorized,
            (po_dim){axes[k], repeat_of(t, axes[k]), 0});
  for (uint32_t k = n; k-- > 0;) {
    po_dim *dim = &t->vectorized.data[k];
    if (dim->repeat == 1)
      continue;
    dim->stride = size;
    size = times(size, last ? padded(dim->repeat, align, bytes) : dim->repeat);
    last = false;
  }
  if (last)
    size = padded(1, align, bytes);
  if (__builtin_mul_overflow(size, bytes, &all))
    return po_axis_refuse(&g->axes, "size",
                          "vectorize: the buffer of %s is beyond 64 bits",
                          t->name);
  t->elements = size;
  t->bytes = all;
  t->level = level;
  return true;
}

static bool
same_buffer(const po_tensor *a, const po_tensor *b) {
  if (strcmp(a->name, b->name) != 0 || a->bytes != b->bytes ||
      a->view.len != b->view.len)
    return false;
  for (uint32_t k = 0; k < a->view.len; k++)
    if (a->view.data[k].axis != b->view.data[k].axis ||
        a->view.data[k].repeat != b->view.data[k].repeat ||
        a->view.data[k].stride != b->view.data[k].stride)
      return false;
  return true;
}

/* Whether an earlier tensor of the graph has the same buffer. */
static bool
is_shared(const po_graph *g, uint32_t node, uint32_t number) {
  assert(node < g->nodes.len);
  const po_tensor *t = &g->nodes.data[node].tensors.data[number];
  for (uint32_t k = 0; k <= node; k++) {
    const po_graph_node *other = &g->nodes.data[k];
    uint32_t n = k == node ? number : other->tensors.len;
    for (uint32_t i = 0; i < n; i++)
      if (same_buffer(&other->tensors.data[i], t))
        return true;
  }
  return false;
}

int64_t
po_graph_buffer_bytes(const po_graph *g) {
  int64_t sum = 0;
  for (uint32_t k = 0; k < g->nodes.len; k++)
    for (uint32_t i = 0; i < g->nodes.data[k].tensors.len; i++)
      if (!is_shared(g, k, i) &&
          __builtin_add_overflow(sum, g->nodes.data[k].tensors.data[i].bytes,
                                 &sum))
        return -1;
  return sum;
}

double
po_graph_transfers(const po_graph *g, uint32_t id, uint32_t number) {
  assert(id < g->nodes.len);
  const po_graph_node *node = &g->nodes.data[id];
  const po_tensor *t = &node->tensors.data[number];
  uint32_t axes[PO_MAX_AXES], n = po_graph_node_axes(g, id, axes);
  double all = 1, needed = 1;
  if (t->local || is_shared(g, id, number))
    return 0;
  for (uint32_t k = 0; k < n && node->loop_axis != PO_NO_AXIS; k++) {
    uint32_t i = 0;
    while (i < t->vectorized.len && t->vectorized.data[i].axis != axes[k])
      i++;
    if (i == t->vectorized.len) {
      all *= (double)po_axis_at(&g->axes, axes[k])->value;
      if (repeat_of(t, axes[k]) > 1 ||
          po_axis_at(&g->axes, axes[k])->type == PO_AXIS_BLOCK_OUTER)
        needed = all;
    }
    if (axes[k] == node->loop_axis)
      break;
  }
  return needed;
}

int64_t
po_graph_blocks(const po_graph *g, uint32_t node) {
  assert(node < g->nodes.len);
  for (uint32_t k = 0; k < g->axes.list.len; k++)
    if (g->axes.list.data[k].type == PO_AXIS_BLOCK_OUTER &&
        node_has(&g->nodes.data[node], k))
      return g->axes.list.data[k].value;
  return 1;
}
