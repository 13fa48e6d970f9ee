/* SPDX-License-Identifier: MIT */
/* view.c - the elements of a view are elements of its children, or padding.
 *
 * In every part of a view the place of the child's element is a sum over the
 * dimensions of a function of the index there: a table for each dimension
 * (prove/element.h evaluates small terms only).  A part is a range of one
 * dimension, full in the others. */
#include "prove/element.h"
#include <string.h>

typedef struct part {
  const pv_elements *e;
  const gs_node *node;
  const gs_type *type;
  const pv_value *from;     /* the child's elements */
  int64_t dim[GS_MAX_RANK]; /* of the child, with its strides */
  int64_t stride[GS_MAX_RANK];
  int64_t *table[GS_MAX_RANK]; /* by dimension of the view */
  uint32_t axis;               /* the range lo .. hi - 1 is along it */
  int64_t lo, hi;
} part;

static bs_heap *
heap_of(const part *p) {
  return p->e->values->heap;
}

static int64_t
attr_int(const part *p, uint32_t item) {
  const bs_values *values = p->e->p->ctx.values;
  return bs_as_int(values, bs_item(values, p->node->attr, item));
}

static int64_t
attr_at(const part *p, uint32_t item, uint32_t k) {
  const bs_values *values = p->e->p->ctx.values;
  bs_value list = bs_item(values, p->node->attr, item);
  return bs_as_int(values, bs_item(values, list, k));
}

static void
part_init(part *p, const pv_elements *e, const gs_node *node,
          const gs_type *type, uint32_t kid) {
  gs_type child;
  *p = (part){.e = e, .node = node, .type = type};
  gs_type_at(e->p, node->kids[kid], &child);
  p->from = e->of[node->kids[kid].i];
  int64_t step = 1;
  for (uint32_t d = child.rank; d-- > 0;) {
    p->dim[d] = child.dim[d];
    p->stride[d] = step;
    step *= child.dim[d];
  }
  for (uint32_t d = 0; d < type->rank; d++)
    p->table[d] = bs_calloc(heap_of(p), (size_t)type->dim[d], sizeof(int64_t));
  p->hi = type->rank ? type->dim[0] : 0;
}

static void
part_done(part *p) {
  for (uint32_t d = 0; d < p->type->rank; d++)
    bs_free(heap_of(p), p->table[d]);
}

/* Index d of the view is factor times index `of` of the child, and `offset`
 * further. */
static void
follow(part *p, uint32_t d, uint32_t of, int64_t factor, int64_t offset) {
  for (int64_t i = 0; i < p->type->dim[d]; i++)
    p->table[d][i] += (factor * i + offset) * p->stride[of];
}

static void
restrict_to(part *p, uint32_t axis, int64_t lo, int64_t hi) {
  p->axis = axis;
  p->lo = lo;
  p->hi = hi;
}

/* Fills the part; `pad`, when not 0, stands everywhere in it. */
static void
fill(const part *p, pv_value pad, pv_value *out) {
  const gs_type *t = p->type;
  int64_t index[GS_MAX_RANK] = {0}, n = gs_elements(t);
  for (int64_t at = 0; at < n; at++) {
    bool inside =
        !t->rank || (index[p->axis] >= p->lo && index[p->axis] < p->hi);
    int64_t place = 0;
    for (uint32_t d = 0; inside && !pad && d < t->rank; d++)
      place += p->table[d][index[d]];
    if (inside)
      out[at] = pad ? pad : p->from[place];
    for (uint32_t d = t->rank; d-- > 0 && ++index[d] == t->dim[d];)
      index[d] = 0;
  }
}

/* --- the operators -------------------------------------------------------- */

static void
view_transpose(part *p) {
  for (uint32_t k = 0; k < p->type->rank; k++)
    follow(p, k, (uint32_t)attr_at(p, 0, k), 1, 0);
}

static void
view_windows(part *p) {
  uint32_t rank = p->type->rank, n = rank - p->type->access;
  uint32_t s = p->type->access - n;
  for (uint32_t k = 0; k < s; k++)
    follow(p, k, k, 1, 0);
  for (uint32_t k = 0; k < n; k++) {
    follow(p, s + k, s + k, attr_at(p, 1, k), 0);
    follow(p, s + n + k, s + k, attr_at(p, 2, k), 0);
  }
}

static void
view_slice(part *p) {
  for (uint32_t k = 0; k < p->type->rank; k++)
    follow(p, k, k, 1, k == attr_int(p, 0) ? attr_int(p, 1) : 0);
}

static void
view_broadcast(part *p) {
  for (uint32_t k = 0; k < p->type->rank; k++)
    if (p->dim[k] == p->type->dim[k])
      follow(p, k, k, 1, 0);
}

static void
view_repeat(part *p) {
  uint32_t axis = (uint32_t)attr_int(p, 0);
  for (uint32_t k = 0; k < p->type->rank; k++)
    if (k != axis)
      follow(p, k, k, 1, 0);
  for (int64_t i = 0; i < p->type->dim[axis]; i++)
    p->table[axis][i] = i / attr_int(p, 1) * p->stride[axis];
}

static void (*const unary_views[GS_OP_COUNT])(part *) = {
    [GS_TRANSPOSE] = view_transpose, [GS_WINDOWS] = view_windows,
    [GS_SLICE] = view_slice,         [GS_BROADCAST] = view_broadcast,
    [GS_REPEAT] = view_repeat,
};

static void
concat(pv_elements *e, const gs_node *node, const gs_type *type,
       pv_value *out) {
  int64_t from = 0;
  for (uint32_t kid = 0; kid < 2; kid++) {
    part p;
    part_init(&p, e, node, type, kid);
    uint32_t axis = (uint32_t)attr_int(&p, 0);
    for (uint32_t k = 0; k < type->rank; k++)
      follow(&p, k, k, 1, k == axis ? -from : 0);
    restrict_to(&p, axis, from, from + p.dim[axis]);
    fill(&p, 0, out);
    from += p.dim[axis];
    part_done(&p);
  }
}

/* Item `kid` of the tuple; its access indices begin at `first`. */
static void
tuple_side(pv_elements *e, const gs_node *node, const gs_type *type,
           uint32_t kid, uint32_t first, pv_value *out) {
  part p;
  gs_type child;
  part_init(&p, e, node, type, kid);
  gs_type_at(e->p, node->kids[kid], &child);
  for (uint32_t k = 0; k < child.access; k++)
    follow(&p, first + k, k, 1, 0);
  for (uint32_t k = child.access; k < child.rank; k++)
    follow(&p, type->access + 1 + k - child.access, k, 1, 0);
  restrict_to(&p, type->access, kid, kid + 1);
  fill(&p, 0, out);
  part_done(&p);
}

static void
tuple(pv_elements *e, const gs_node *node, const gs_type *type, pv_value *out) {
  gs_type a;
  gs_type_at(e->p, node->kids[0], &a);
  tuple_side(e, node, type, 0, 0, out);
  tuple_side(e, node, type, 1, node->op == GS_PAIR ? 0 : a.access, out);
}

static void
pad(pv_elements *e, const gs_node *node, const gs_type *type, pv_value *out) {
  part p;
  part_init(&p, e, node, type, 0);
  const bs_values *values = e->p->ctx.values;
  const char *kind = bs_as_sym(values, bs_item(values, node->attr, 0));
  uint32_t axis = (uint32_t)attr_int(&p, 1);
  int64_t before = attr_int(&p, 2), size = p.dim[axis];
  for (uint32_t k = 0; k < type->rank; k++)
    if (k != axis)
      follow(&p, k, k, 1, 0);
  for (int64_t i = 0; i < type->dim[axis]; i++) {
    int64_t at = i - before;
    at = at < 0 ? 0 : at >= size ? size - 1 : at;
    p.table[axis][i] = at * p.stride[axis];
  }
  restrict_to(&p, axis, 0, type->dim[axis]);
  fill(&p, 0, out);
  if (strcmp(kind, "edge")) {
    pv_value border = strcmp(kind, "zero")
                          ? pv_lowest(e->values, type->dtype)
                          : pv_number_value(e->values, type->dtype, PV_ZERO);
    restrict_to(&p, axis, 0, before);
    fill(&p, border, out);
    restrict_to(&p, axis, before + size, type->dim[axis]);
    fill(&p, border, out);
  }
  part_done(&p);
}

void
pv_evaluate_view(pv_elements *e, gs_term t, const gs_type *type,
                 pv_value *out) {
  const gs_node *node = gs_at(e->p, t);
  if (node->op == GS_CONCAT) {
    concat(e, node, type, out);
  } else if (node->op == GS_CARTPROD || node->op == GS_PAIR) {
    tuple(e, node, type, out);
  } else if (node->op == GS_PAD) {
    pad(e, node, type, out);
  } else if (unary_views[node->op]) {
    part p;
    part_init(&p, e, node, type, 0);
    unary_views[node->op](&p);
    fill(&p, 0, out);
    part_done(&p);
  } else {
    memcpy(out, e->of[node->kids[0].i],
           (size_t)gs_elements(type) * sizeof *out);
  }
}
