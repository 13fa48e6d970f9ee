/* SPDX-License-Identifier: MIT */
/* hint.c - what a nest of the loop program is as a graph of axes.
 *
 * The view of an access is found as a function of the loops around: the
 * statement's time, turned around, gives the instance that runs at some values
 * of the loops, and the index function the element.  Where that is one affine
 * function its coefficients are the strides; where it is not, the view is
 * taken for a dense box over the loops that it depends on.
 *
 * Whether a loop is parallel, reduces, or carries other dependences is asked
 * of the dependences (depend.h). */
#include "poly/implgraph/hint.h"
#include <assert.h>

#include "poly/schedule/loop_axes.h"
#include "poly/depend/depend.h"
#include "poly/lower/lower.h"
#include "poly/schedule/change.h"
#include "poly/schedule/primitive.h"
#include <string.h>

/* Sizes and loops of one nest that are more than this make no graph. */
enum { MAX_LOOPS = 48 };

typedef struct hinter {
  po_program *p;
  po_hint *hint;
  uint32_t parent[PO_MAX_AXES]; /* by axis: of the axis around */
  uint32_t taken[PO_MAX_AXES];  /* by axis of the program: of the graph */
} hinter;

po_axis_order
po_order_of(po_program *p, uint32_t loop) {
  if (po_loop_is_parallel(p, loop, true, NULL))
    return PO_AXIS_PARALLEL;
  return po_loop_is_parallel(p, loop, false, NULL) ? PO_AXIS_REDUCTION
                                                   : PO_AXIS_SERIAL;
}

/* The axis that a schedule gave to the loop, with all it was made of: into the
 * graph, as one that is current.  Its size is what the loop runs over now. */
static uint32_t
take_axis(hinter *h, uint32_t axis, int64_t size, po_axis_order order) {
  po_axes *axes = &h->hint->graph.axes;
  uint32_t known = h->taken[axis], place;
  if (known != PO_NO_AXIS && po_axis_place(axes, known, &place)) {
    po_axis *a = &axes->list.data[known];
    if (a->value != size)
      return po_axis_add(axes, a->name, NULL, size, order);
    a->order = order > a->order ? order : a->order;
    return known;
  }
  if (known == PO_NO_AXIS)
    known = po_axes_import(axes, &h->p->axes->table, axis, h->taken);
  axes->list.data[known].order = order;
  axes->list.data[known].value = size;
  po_axis_make_current(axes, known);
  return known;
}

/* The axis of a loop: that of a loop beside it of the same size, or a new
 * one. */
static bool
add_loop(hinter *h, uint32_t loop) {
  po_axes *axes = &h->hint->graph.axes;
  po_nest_node *node = po_node(h->p, loop);
  uint32_t around = h->hint->axis_of.data[node->parent];
  int64_t size = po_nest_extent(h->p, loop);
  if (size < 0)
    size = po_most_iterations(h->p, loop);
  if (size < 1)
    return po_axis_refuse(axes, "size", "%s has no constant size", node->name);
  po_axis_order order = po_order_of(h->p, loop);
  for (uint32_t k = 0; k < axes->order.len; k++) {
    uint32_t id = axes->order.data[k];
    po_axis *a = &axes->list.data[id];
    if (h->parent[id] == around && a->value == size) {
      a->order = order > a->order ? order : a->order;
      h->hint->axis_of.data[loop] = id;
      return true;
    }
  }
  if (axes->order.len == MAX_LOOPS || axes->list.len > PO_MAX_AXES / 2)
    return po_axis_refuse(axes, "limit", "there are more than %d loops",
                          MAX_LOOPS);
  uint32_t id = h->p->axes && node->axis != PO_NO_AXIS
                    ? take_axis(h, node->axis, size, order)
                    : po_axis_add(axes, node->name, NULL, size, order);
  h->parent[id] = around;
  h->hint->axis_of.data[loop] = id;
  return true;
}

static bool
add_loops(hinter *h, uint32_t top) {
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(h->p, k, top))
    if (po_node(h->p, k)->kind == PO_LOOP && !add_loop(h, k))
      return false;
  return true;
}

/* ---- tensors ---- */

/* { [t] -> element } as a function; NULL where it is none. */
static isl_pw_multi_aff *
by_loops(po_pool *pool, const po_stmt *stmt,
         __isl_keep isl_pw_multi_aff *index) {
  isl_map *map = isl_map_from_multi_aff(isl_multi_aff_copy(stmt->time));
  map = isl_map_intersect_domain(map, isl_set_copy(stmt->domain));
  map = isl_map_apply_range(
      isl_map_reverse(map),
      isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(index)));
  map = po_keep_map(pool, map);
  if (!map || isl_map_is_single_valued(map) != isl_bool_true)
    return NULL;
  return po_keep_pw_multi_aff(pool,
                              isl_pw_multi_aff_from_map(isl_map_copy(map)));
}

/* Strides of one affine function; false where it is none. */
static bool
affine_strides(const po_program *p, po_pool *pool,
               __isl_keep isl_pw_multi_aff *f, uint32_t array,
               int64_t *strides) {
  int64_t offset;
  isl_set *domain = isl_pw_multi_aff_domain(isl_pw_multi_aff_copy(f));
  isl_pw_multi_aff *total = po_keep_pw_multi_aff(
      pool, isl_pw_multi_aff_gist(isl_pw_multi_aff_copy(f), domain));
  if (!total || isl_pw_multi_aff_isa_multi_aff(total) != isl_bool_true)
    return false;
  isl_multi_aff *one = po_keep_multi_aff(
      pool, isl_pw_multi_aff_as_multi_aff(isl_pw_multi_aff_copy(total)));
  return one && po_strided(one, &p->arrays.data[array], &offset, strides);
}

static void
find_view(const hinter *h, const po_stmt *stmt, uint32_t array,
          isl_pw_multi_aff *index, const int64_t *sizes, uint32_t n,
          int64_t *repeats, int64_t *strides) {
  po_pool pool;
  int64_t dense = 1;
  po_pool_init(&pool, h->p->arena.heap);
  isl_pw_multi_aff *f = index ? by_loops(&pool, stmt, index) : NULL;
  bool affine = f && affine_strides(h->p, &pool, f, array, strides);
  for (uint32_t k = n; k-- > 0;) {
    bool used = affine ? strides[k] != 0
                       : !f || isl_pw_multi_aff_involves_dims(
                                   f, isl_dim_in, k, 1) != isl_bool_false;
    repeats[k] = used ? sizes[k] : 1;
    if (!affine)
      strides[k] = used && sizes[k] > 1 ? dense : 0;
    if (used && __builtin_mul_overflow(dense, sizes[k], &dense))
      dense = INT64_MAX;
  }
  po_pool_done(&pool);
}

static bool
has_tensor(const po_graph *g, uint32_t node, const char *name, bool output,
           const int64_t *repeats, const int64_t *strides) {
  assert(node < g->nodes.len);
  const po_graph_node *owner = &g->nodes.data[node];
  for (uint32_t k = 0; k < owner->tensors.len; k++) {
    const po_tensor *t = &owner->tensors.data[k];
    bool same = t->output == output && !strcmp(t->name, name);
    for (uint32_t i = 0; same && i < t->view.len; i++)
      same = t->view.data[i].repeat == repeats[i] &&
             t->view.data[i].stride == strides[i];
    if (same)
      return true;
  }
  return false;
}

static void
add_tensor(hinter *h, uint32_t node, const po_stmt *stmt, uint32_t array,
           isl_pw_multi_aff *index, bool output) {
  assert(array < h->p->arrays.len);
  po_graph *g = &h->hint->graph;
  int64_t sizes[MAX_LOOPS], repeats[MAX_LOOPS], strides[MAX_LOOPS];
  uint32_t axes[PO_MAX_AXES], n = po_graph_node_axes(g, node, axes);
  const po_array *a = &h->p->arrays.data[array];
  for (uint32_t k = 0; k < n; k++)
    sizes[k] = po_axis_at(&g->axes, axes[k])->value;
  find_view(h, stmt, array, index, sizes, n, repeats, strides);
  if (has_tensor(g, node, a->name, output, repeats, strides))
    return;
  uint32_t id =
      po_graph_add_tensor(g, node, a->name, a->dtype, output, repeats, strides);
  g->nodes.data[node].tensors.data[id].local = a->role == PO_LOCAL;
}

/* ---- nodes ---- */

/* An array that is read along other loops first than it is written. */
static void
find_views(hinter *h, const po_stmt *stmt, uint32_t node) {
  assert(node < h->hint->graph.nodes.len);
  const po_graph_node *n = &h->hint->graph.nodes.data[node];
  uint32_t ends[2] = {PO_NO_AXIS, PO_NO_AXIS};
  if (stmt->kind != PO_ASSIGN || stmt->n_exprs != 1 || n->tensors.len != 2)
    return;
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t i = 0; i < n->tensors.data[k].view.len; i++)
      if (n->tensors.data[k].view.data[i].stride == 1)
        ends[n->tensors.data[k].output] = n->tensors.data[k].view.data[i].axis;
  if (ends[0] != ends[1] && ends[0] != PO_NO_AXIS && ends[1] != PO_NO_AXIS &&
      h->hint->group[ends[0]] == PO_CASE_Y)
    h->hint->group[ends[0]] = PO_CASE_X;
}

static void
add_stmt(hinter *h, uint32_t leaf) {
  const po_stmt *stmt = &h->p->stmts.data[po_node(h->p, leaf)->stmt];
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(h->p, leaf, loops);
  uint32_t axes[PO_MAX_DEPTH];
  double operations = stmt->kind == PO_UPDATE;
  for (uint32_t k = 0; k < n; k++)
    axes[k] = h->hint->axis_of.data[loops[k]];
  uint32_t node = po_graph_add_node(&h->hint->graph, stmt->name, axes, n);
  for (uint32_t k = 0; k < stmt->n_exprs; k++) {
    const po_expr *e = &stmt->exprs[k];
    if (e->kind == PO_READ || e->kind == PO_GATHER)
      add_tensor(h, node, stmt, e->array, e->index, false);
    operations += e->kind != PO_READ && e->kind != PO_LITERAL;
  }
  if (stmt->kind != PO_CALL)
    add_tensor(h, node, stmt, stmt->array, stmt->write, true);
  h->hint->graph.nodes.data[node].operations = operations;
}

/* Axes that are tiled are those of the longest way down, as far as every
 * statement follows it. */
static void
find_groups(hinter *h) {
  const po_graph *g = &h->hint->graph;
  uint32_t spine[PO_MAX_AXES], way[PO_MAX_AXES], n = 0, shared;
  for (uint32_t k = 0; k < g->nodes.len; k++) {
    uint32_t len = po_graph_node_axes(g, k, way);
    if (len > n) {
      memcpy(spine, way, len * sizeof *way);
      n = len;
    }
  }
  shared = n;
  for (uint32_t k = 0; k < g->nodes.len; k++) {
    uint32_t len = po_graph_node_axes(g, k, way), same = 0;
    while (same < len && same < shared && way[same] == spine[same])
      same++;
    shared = same < len && same < shared ? same : shared;
  }
  memset(h->hint->group, PO_CASE_N, sizeof h->hint->group);
  for (uint32_t k = 0; k < shared; k++) {
    po_axis_order order = po_axis_at(&g->axes, spine[k])->order;
    h->hint->group[spine[k]] = order == PO_AXIS_PARALLEL    ? PO_CASE_Y
                               : order == PO_AXIS_REDUCTION ? PO_CASE_R
                                                            : PO_CASE_N;
  }
}

/* The nest does nothing with what it reduces over but to add it up, so that
 * parts of it may be added up by themselves first. */
static bool
only_reduces(const hinter *h) {
  const po_graph *g = &h->hint->graph;
  bool found = false;
  for (uint32_t k = 0; k < g->nodes.len; k++) {
    uint32_t axes[PO_MAX_AXES], n = po_graph_node_axes(g, k, axes);
    for (uint32_t i = 0; i < n; i++) {
      if (h->hint->group[axes[i]] != PO_CASE_R)
        continue;
      found = true;
      for (uint32_t t = 0; t < g->nodes.data[k].tensors.len; t++) {
        const po_tensor *tensor = &g->nodes.data[k].tensors.data[t];
        if (tensor->output && axes[i] < tensor->repeat.len &&
            tensor->repeat.data[axes[i]] > 1)
          return false;
      }
    }
  }
  return found;
}

static const char *
graph_name(const po_hints *hints, po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  const char *wish = p->arrays.data[array].name;
  uint32_t same = 0;
  for (uint32_t k = 0; k < hints->list.len; k++)
    same += !strncmp(hints->list.data[k]->graph.name, wish, strlen(wish));
  return same ? bs_arena_printf(&p->arena, "%s_%u", wish, same) : wish;
}

/* Whether there is something to make a graph of; then the graph. */
static bool
add_nest(hinter *h, uint32_t top) {
  uint32_t stmts[PO_MAX_AXES], n = 0;
  h->hint->root = top;
  for (uint32_t k = 0; k < h->p->nest.nodes.len; k++)
    bs_push(h->p->arena.heap, &h->hint->axis_of, PO_NO_AXIS);
  if (!add_loops(h, top))
    return false;
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(h->p, k, top)) {
    const po_nest_node *node = po_node(h->p, k);
    if (node->kind != PO_LEAF)
      continue;
    if (n == PO_MAX_AXES)
      return po_axis_refuse(&h->hint->graph.axes, "limit",
                            "there are more than %d statements", PO_MAX_AXES);
    add_stmt(h, k);
    stmts[n++] = node->stmt;
  }
  find_groups(h);
  for (uint32_t k = 0; k < n; k++)
    find_views(h, &h->p->stmts.data[stmts[k]], k);
  h->hint->two_phases = only_reduces(h);
  return true;
}

/* The array that the last statement of a nest writes. */
static uint32_t
result_of(const po_program *p, uint32_t top) {
  uint32_t array = 0;
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(p, k, top))
    if (p->nest.nodes.data[k].kind == PO_LEAF)
      array = p->stmts.data[p->nest.nodes.data[k].stmt].array;
  return array;
}

static void
hint_done(const po_program *p, po_hint *hint) {
  po_graph_done(&hint->graph);
  bs_vec_done(p->arena.heap, &hint->axis_of);
}

void
po_make_hints(po_program *p, po_hints *out) {
  bs_heap *heap = p->arena.heap;
  *out = (po_hints){0};
  for (uint32_t k = p->nest.nodes.data[0].first; k != PO_NO_NODE;
       k = p->nest.nodes.data[k].next) {
    hinter h = {.p = p};
    if (p->nest.nodes.data[k].kind != PO_LOOP)
      continue;
    h.hint = BS_NEW(&p->arena, po_hint);
    memset(h.taken, 0xff, sizeof h.taken); /* PO_NO_AXIS */
    po_graph_init(&h.hint->graph, &p->arena,
                  graph_name(out, p, result_of(p, k)));
    if (add_nest(&h, k)) {
      bs_push(heap, &out->list, h.hint);
      continue;
    }
    bs_push(heap, &out->skipped,
            bs_arena_printf(&p->arena, "%s: %s", h.hint->graph.name,
                            h.hint->graph.axes.why));
    hint_done(p, h.hint);
  }
}

static bool
is_given_to_cores(const po_nest_node *n) {
  return n->kind == PO_LOOP && (n->mark == PO_PARALLEL ||
                                (n->mark == PO_BIND && n->bind < PO_THREAD_X));
}

po_program *
po_without_blocks(const po_program *p) {
  po_program *made = po_copy(p);
  for (uint32_t k = 0; k < made->nest.nodes.len; k++) {
    po_step_call call = {.primitive = po_primitive_find("serial")};
    call.args[0] = (po_arg){.kind = PO_ARG_LOOP, .node = k};
    if (is_given_to_cores(po_node(made, k)))
      po_apply(&made, &call, NULL);
  }
  return made;
}

void
po_hints_done(const po_program *p, po_hints *hints) {
  bs_heap *heap = p->arena.heap;
  for (uint32_t k = 0; k < hints->list.len; k++)
    hint_done(p, hints->list.data[k]);
  bs_vec_done(heap, &hints->list);
  bs_vec_done(heap, &hints->skipped);
}
