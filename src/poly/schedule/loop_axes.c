/* SPDX-License-Identifier: MIT */
/* loop_axes.c - see loop_axes.h.
 *
 * The order of axes is that of the tree, so that the table's own order is not
 * used: what a transform of axis.h asks to be current and adjacent is put so
 * before.  Of the order that there would be without reordering, only the
 * pairs that a reorder turned around are kept; what axes became later is
 * looked up by where they come from. */
#include "poly/schedule/loop_axes.h"
#include "poly/schedule/change.h"
#include <assert.h>
#include <string.h>

static po_axes *
table(const po_program *p) {
  return &p->axes->table;
}

static uint32_t
axis_of(const po_program *p, uint32_t loop) {
  return po_node(p, loop)->axis;
}

/* ---- the table ---- */

static void
take_out(po_axes *t, uint32_t id) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < t->order.len; k++)
    if (t->order.data[k] != id)
      t->order.data[kept++] = t->order.data[k];
  t->order.len = t->unmoved.len = kept;
  for (uint32_t k = 0; k < kept; k++)
    t->unmoved.data[k] = t->order.data[k];
}

/* As the last ones, next to each other. */
static void
make_current(po_axes *t, const uint32_t *ids, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    take_out(t, ids[k]);
    bs_push(t->arena->heap, &t->order, ids[k]);
    bs_push(t->arena->heap, &t->unmoved, ids[k]);
  }
}

/* The outer half of a pair made of the axis before, in the same way. */
static uint32_t
find_pair(const po_axes *t, uint32_t id, int64_t inner, po_axis_type outer) {
  for (uint32_t k = 0; k < t->list.len; k++) {
    const po_axis *a = po_axis_at(t, k);
    if (a->type == outer && a->from[0] == id &&
        po_axis_at(t, a->split_pair)->value == inner)
      return k;
  }
  return PO_NO_AXIS;
}

static uint32_t
pair_of(po_axes *t, uint32_t id, int64_t inner, po_axis_type outer) {
  if (id == PO_NO_AXIS)
    return id;
  if (inner > po_axis_at(t, id)->value)
    inner = po_axis_at(t, id)->value;
  uint32_t found = find_pair(t, id, inner, outer);
  if (found != PO_NO_AXIS)
    return found;
  make_current(t, &id, 1);
  return outer == PO_AXIS_BLOCK_OUTER ? po_axis_block_split(t, id, inner)
                                      : po_axis_tile_split(t, id, inner);
}

static uint32_t
find_merged(const po_axes *t, const uint32_t *ids, uint32_t n) {
  for (uint32_t k = 0; k < t->list.len; k++) {
    const po_axis *a = po_axis_at(t, k);
    if (a->type == PO_AXIS_MERGED && a->n_from == n &&
        !memcmp(a->from, ids, n * sizeof *ids))
      return k;
  }
  return PO_NO_AXIS;
}

/* ---- blocks ---- */

static bool
is_block(const po_nest_node *n) {
  return n->kind == PO_LOOP && (n->mark == PO_PARALLEL ||
                                (n->mark == PO_BIND && n->bind < PO_THREAD_X));
}

/* Loops below that stand for `from` stand for `to`. */
static void
rename_below(po_program *p, uint32_t top, uint32_t from, uint32_t to) {
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(p, k, top))
    if (po_node(p, k)->kind == PO_LOOP && axis_of(p, k) == from)
      po_node(p, k)->axis = to;
}

static bool
is_below(const po_program *p, uint32_t top, uint32_t axis) {
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(p, k, top))
    if (po_node(p, k)->kind == PO_LOOP && axis_of(p, k) == axis)
      return true;
  return false;
}

/* From one kind of pair to the other, of the same sizes. */
static void
change_pair(po_program *p, uint32_t loop, po_axis_type outer) {
  po_axes *t = table(p);
  uint32_t was = axis_of(p, loop);
  uint32_t whole = po_axis_at(t, was)->from[0];
  uint32_t inner = po_axis_at(t, was)->split_pair;
  uint32_t is = pair_of(t, whole, po_axis_at(t, inner)->value, outer);
  po_node(p, loop)->axis = is;
  rename_below(p, loop, inner, is == PO_NO_AXIS ? is : is + 1);
}

static void
make_block(po_program *p, uint32_t loop) {
  uint32_t id = axis_of(p, loop);
  if (id == PO_NO_AXIS || po_axis_at(table(p), id)->type == PO_AXIS_BLOCK_OUTER)
    return;
  if (po_axis_at(table(p), id)->type == PO_AXIS_TILE_OUTER)
    change_pair(p, loop, PO_AXIS_BLOCK_OUTER);
  else
    po_node(p, loop)->axis = pair_of(table(p), id, 1, PO_AXIS_BLOCK_OUTER);
}

static void
unmake_block(po_program *p, uint32_t loop) {
  uint32_t id = axis_of(p, loop);
  if (id == PO_NO_AXIS || po_axis_at(table(p), id)->type != PO_AXIS_BLOCK_OUTER)
    return;
  const po_axis *a = po_axis_at(table(p), id);
  if (po_axis_at(table(p), a->split_pair)->value > 1 ||
      is_below(p, loop, a->split_pair))
    change_pair(p, loop, PO_AXIS_TILE_OUTER);
  else
    po_node(p, loop)->axis = a->from[0];
}

/* ---- primitives ---- */

void
po_axes_follow(po_program *p) {
  int64_t min, count;
  po_axes_begin(p);
  for (uint32_t k = po_nest_next(p, 0, 0); k != PO_NO_NODE;
       k = po_nest_next(p, k, 0)) {
    if (po_node(p, k)->kind != PO_LOOP)
      continue;
    if (axis_of(p, k) == PO_NO_AXIS && !po_node(p, k)->no_axis) {
      if (po_value_range(p, k, &min, &count))
        po_node(p, k)->axis = po_axis_add(table(p), po_node(p, k)->name, NULL,
                                          count, PO_AXIS_PARALLEL);
      po_node(p, k)->no_axis = axis_of(p, k) == PO_NO_AXIS;
    }
    if (is_block(po_node(p, k)))
      make_block(p, k);
    else
      unmake_block(p, k);
  }
}

void
po_axes_split(po_program *p, uint32_t loop, const uint32_t *made,
              const int64_t *strides, uint32_t n) {
  if (!p->axes)
    return;
  assert(n >= 2 && n <= PO_MAX_RESULTS);
  unmake_block(p, loop);
  uint32_t rest = axis_of(p, loop);
  for (uint32_t k = 0; k + 1 < n; k++) {
    uint32_t outer = pair_of(table(p), rest, strides[k], PO_AXIS_TILE_OUTER);
    po_node(p, made[k])->axis = outer;
    rest = outer == PO_NO_AXIS ? outer : outer + 1;
  }
  po_node(p, made[n - 1])->axis = rest;
}

uint32_t
po_axes_fuse(po_program *p, const uint32_t *loops, uint32_t n) {
  uint32_t ids[PO_MAX_RESULTS];
  if (!p->axes)
    return PO_NO_AXIS;
  assert(n <= PO_MAX_RESULTS);
  for (uint32_t k = 0; k < n; k++) {
    unmake_block(p, loops[k]);
    ids[k] = axis_of(p, loops[k]);
    if (ids[k] == PO_NO_AXIS)
      return PO_NO_AXIS;
  }
  if (n < 2)
    return ids[0];
  uint32_t found = find_merged(table(p), ids, n);
  if (found != PO_NO_AXIS)
    return found;
  make_current(table(p), ids, n);
  return po_axis_merge(table(p), ids, n);
}

/* ---- what was reordered ---- */

/* An axis, or what it was made of, step by step: of a merge, the first. */
static bool
comes_from(const po_axes *t, uint32_t id, uint32_t ancestor) {
  while (id > ancestor && po_axis_at(t, id)->n_from)
    id = po_axis_at(t, id)->from[0];
  return id == ancestor;
}

static bool
is_turned(const po_program *p, uint32_t a, uint32_t b) {
  const po_axes *t = table(p);
  bool turned = false;
  for (uint32_t k = 0; k < p->axes->turns.len; k++) {
    const po_turn *turn = &p->axes->turns.data[k];
    turned ^= (comes_from(t, a, turn->a) && comes_from(t, b, turn->b)) ||
              (comes_from(t, a, turn->b) && comes_from(t, b, turn->a));
  }
  return turned;
}

uint32_t
po_axes_way(const po_program *p, uint32_t loop, uint32_t axes[PO_MAX_DEPTH]) {
  assert(loop < p->nest.nodes.len);
  uint32_t n = po_nest_loops(p, loop, axes);
  for (uint32_t k = 0; k < n; k++)
    axes[k] = axis_of(p, axes[k]);
  if (po_node(p, loop)->kind == PO_LOOP && n < PO_MAX_DEPTH)
    axes[n++] = axis_of(p, loop);
  return n;
}

static uint32_t
place_in(const uint32_t *axes, uint32_t n, uint32_t id) {
  uint32_t k = 0;
  while (k < n && axes[k] != id)
    k++;
  return k;
}

void
po_axes_reorder(po_program *p, const uint32_t *was, const uint32_t *is,
                uint32_t n) {
  assert(n <= PO_MAX_DEPTH);
  for (uint32_t k = 0; p->axes && k < n; k++)
    for (uint32_t i = 0; i < k; i++)
      if (was[i] != PO_NO_AXIS && was[k] != PO_NO_AXIS &&
          place_in(is, n, was[k]) < place_in(is, n, was[i]))
        bs_push(p->ctx.heap, &p->axes->turns, (po_turn){was[i], was[k]});
}

typedef struct way {
  uint32_t axis[PO_MAX_DEPTH], n;
} way;

/* By places on a way: which would come first if nothing were reordered. */
static bool
was_before(const po_program *p, const way *w, uint32_t i, uint32_t k) {
  return (i < k) != is_turned(p, w->axis[i], w->axis[k]);
}

static bool
were_neighbours(const po_program *p, const way *w, uint32_t i, uint32_t k) {
  if (!was_before(p, w, i, k))
    return false;
  for (uint32_t c = 0; c < w->n; c++)
    if (c != i && c != k && w->axis[c] != PO_NO_AXIS &&
        was_before(p, w, i, c) && was_before(p, w, c, k))
      return false;
  return true;
}

static bool
is_moved_half(const po_program *p, const way *w, uint32_t at) {
  uint32_t id = w->axis[at];
  for (uint32_t c = 0; c < w->n; c++)
    if (c != at && w->axis[c] != PO_NO_AXIS && is_turned(p, id, w->axis[c]))
      return po_axis_is_split(po_axis_at(table(p), id));
  return false;
}

const char *
po_axes_may_fuse(const po_program *p, const uint32_t *loops, uint32_t n) {
  assert(loops || !n);
  way w;
  if (!p->axes || !p->axes->turns.len || !n)
    return NULL;
  uint32_t leaf = loops[n - 1];
  while (po_node(p, leaf)->kind == PO_LOOP &&
         po_node(p, leaf)->first != PO_NO_NODE)
    leaf = po_node(p, leaf)->first;
  w.n = po_axes_way(p, leaf, w.axis);
  uint32_t first = po_nest_depth(p, loops[0]);
  for (uint32_t k = first; k + 1 < first + n && k + 1 < w.n; k++) {
    if (w.axis[k] == PO_NO_AXIS || w.axis[k + 1] == PO_NO_AXIS ||
        were_neighbours(p, &w, k, k + 1))
      continue;
    for (uint32_t i = k; i < k + 2; i++)
      if (is_moved_half(p, &w, i))
        return po_node(p, loops[i - first])->name;
  }
  return NULL;
}
