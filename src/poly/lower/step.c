/* SPDX-License-Identifier: MIT */
/* step.c - the index map of every view operator, one function each.
 *
 * Most are selections: every index of the child is one index of the term,
 * shifted, or a constant; and the same the other way when the operator can be
 * inverted.  reshape, repeat and windows are not and say their maps. */
#include "poly/lower/view.h"

/* One index of a selection: factor * (index `of`) + offset. */
typedef struct pick {
  uint32_t of; /* NO_INDEX: the offset alone */
  int64_t offset;
} pick;

enum { NO_INDEX = UINT32_MAX };

typedef struct maker {
  po_pool *pool;
  isl_ctx *isl;
  const bs_values *values;
  const gs_node *node;
  uint32_t child_number;
  const gs_type *child, *type;
  po_step *step;
} maker;

static isl_multi_aff *
select_indices(const maker *m, uint32_t n_in, const pick *picks,
               uint32_t n_out) {
  isl_multi_aff *map = isl_multi_aff_zero(po_map_space(m->isl, n_in, n_out));
  for (uint32_t k = 0; k < n_out; k++) {
    uint32_t of = picks[k].of == NO_INDEX ? n_in : picks[k].of;
    if (of < n_in || picks[k].offset)
      map = isl_multi_aff_set_aff(
          map, (int)k, po_index(m->isl, n_in, of, 1, picks[k].offset));
  }
  return map;
}

/* The picks of the child's indices from the term's, and back (or NULL). */
static void
set_selection(const maker *m, const pick *down, const pick *up) {
  m->step->map = po_keep_multi_aff(
      m->pool, select_indices(m, m->type->rank, down, m->child->rank));
  if (up)
    m->step->inverse = po_keep_multi_aff(
        m->pool, select_indices(m, m->child->rank, up, m->type->rank));
}

static void
set_guard(const maker *m, uint32_t d, int64_t lo, int64_t hi) {
  m->step->guard = po_keep_set(
      m->pool, po_slab_in(m->isl, m->type->dim, m->type->rank, d, lo, hi));
}

static int64_t
attr_int(const maker *m, uint32_t item) {
  return bs_as_int(m->values, bs_item(m->values, m->node->attr, item));
}

static uint32_t
attr_ints(const maker *m, uint32_t item, int64_t *out) {
  uint32_t n = 0;
  bs_to_ints(m->values, bs_item(m->values, m->node->attr, item), out,
             GS_MAX_RANK, &n);
  return n;
}

static void
step_access(const maker *m) {
  m->step->identity = true;
}

static void
step_transpose(const maker *m) {
  int64_t p[GS_MAX_RANK] = {0};
  pick down[GS_MAX_RANK], up[GS_MAX_RANK];
  uint32_t n = attr_ints(m, 0, p);
  for (uint32_t k = 0; k < n; k++) {
    down[p[k]] = (pick){k, 0};
    up[k] = (pick){(uint32_t)p[k], 0};
  }
  set_selection(m, down, up);
}

/* The side `child_number` of a pair or cartProd: its access indices begin at
 * `at` of the term's, the tuple index stands after all of them. */
static void
step_tuple(const maker *m, uint32_t at, bool others_unit) {
  pick down[GS_MAX_RANK], up[GS_MAX_RANK];
  uint32_t s = m->child->access, tuple = m->type->access;
  for (uint32_t k = 0; k < m->type->rank; k++)
    up[k] = (pick){NO_INDEX, 0};
  for (uint32_t k = 0; k < m->child->rank; k++) {
    uint32_t to = k < s ? at + k : tuple + 1 + k - s;
    down[k] = (pick){to, 0};
    up[to] = (pick){k, 0};
  }
  up[tuple].offset = m->child_number;
  set_selection(m, down, others_unit ? up : NULL);
  set_guard(m, tuple, m->child_number, m->child_number);
}

static void
step_pair(const maker *m) {
  step_tuple(m, 0, true);
}

static void
step_cartprod(const maker *m) {
  uint32_t others = m->type->access - m->child->access;
  uint32_t at = m->child_number ? others : 0;
  uint32_t other_at = m->child_number ? 0 : m->child->access;
  step_tuple(m, at, gs_prod(m->type->dim + other_at, others) == 1);
}

/* Indices (s, i, j) of the term, i the window and j the element in it. */
static void
step_windows(const maker *m) {
  int64_t size[GS_MAX_RANK], stride[GS_MAX_RANK], dilation[GS_MAX_RANK];
  uint32_t s = m->child->access, n = attr_ints(m, 0, size);
  uint32_t rank = m->type->rank;
  attr_ints(m, 1, stride);
  attr_ints(m, 2, dilation);
  isl_multi_aff *map =
      isl_multi_aff_zero(po_map_space(m->isl, rank, m->child->rank));
  isl_multi_aff *inverse =
      isl_multi_aff_zero(po_map_space(m->isl, m->child->rank, rank));
  bool invertible = true;
  for (uint32_t k = 0; k < s; k++) {
    map = isl_multi_aff_set_aff(map, (int)k, po_index(m->isl, rank, k, 1, 0));
    inverse = isl_multi_aff_set_aff(inverse, (int)k,
                                    po_index(m->isl, m->child->rank, k, 1, 0));
  }
  for (uint32_t k = 0; k < n; k++) {
    isl_aff *i = po_index(m->isl, rank, s + k, stride[k], 0);
    isl_aff *j = po_index(m->isl, rank, s + n + k, dilation[k], 0);
    map = isl_multi_aff_set_aff(map, (int)(s + k), isl_aff_add(i, j));
    bool windows_only = size[k] == 1 && stride[k] == 1;
    bool elements_only = m->type->dim[s + k] == 1 && dilation[k] == 1;
    invertible = invertible && (windows_only || elements_only);
    uint32_t to = windows_only ? s + k : s + n + k;
    inverse = isl_multi_aff_set_aff(
        inverse, (int)to, po_index(m->isl, m->child->rank, s + k, 1, 0));
  }
  m->step->map = po_keep_multi_aff(m->pool, map);
  if (invertible)
    m->step->inverse = po_keep_multi_aff(m->pool, inverse);
  else
    isl_multi_aff_free(inverse);
}

/* Index d shifted: what the child has at index + shift. */
static void
step_shift(const maker *m, uint32_t d, int64_t shift) {
  pick down[GS_MAX_RANK], up[GS_MAX_RANK];
  for (uint32_t k = 0; k < m->type->rank; k++) {
    down[k] = (pick){k, k == d ? shift : 0};
    up[k] = (pick){k, k == d ? -shift : 0};
  }
  set_selection(m, down, up);
}

static void
step_slice(const maker *m) {
  step_shift(m, (uint32_t)attr_int(m, 0), attr_int(m, 1));
}

/* The inner part of a pad; what surrounds it is the caller's. */
static void
step_pad(const maker *m) {
  uint32_t d = (uint32_t)attr_int(m, 1);
  int64_t before = attr_int(m, 2);
  step_shift(m, d, -before);
  if (m->child->dim[d] < m->type->dim[d])
    set_guard(m, d, before, before + m->child->dim[d] - 1);
}

/* One index more on one side than on the other, at d, of size 1. */
static void
without(pick *picks, uint32_t n, uint32_t d) {
  for (uint32_t k = 0; k < n; k++)
    picks[k] = (pick){k < d ? k : k + 1, 0};
}

static void
with(pick *picks, uint32_t n, uint32_t d) {
  for (uint32_t k = 0; k < n; k++)
    picks[k] = (pick){k == d ? NO_INDEX : k < d ? k : k - 1, 0};
}

static void
step_squeeze(const maker *m) {
  pick down[GS_MAX_RANK], up[GS_MAX_RANK];
  uint32_t d = (uint32_t)attr_int(m, 0);
  with(down, m->child->rank, d);
  without(up, m->type->rank, d);
  set_selection(m, down, up);
}

static void
step_insert_axis(const maker *m) {
  pick down[GS_MAX_RANK], up[GS_MAX_RANK];
  uint32_t d = (uint32_t)attr_int(m, 0);
  without(down, m->child->rank, d);
  with(up, m->type->rank, d);
  set_selection(m, down, up);
}

static void
step_broadcast(const maker *m) {
  pick down[GS_MAX_RANK], up[GS_MAX_RANK];
  bool same = true;
  for (uint32_t k = 0; k < m->type->rank; k++) {
    bool kept = m->child->dim[k] == m->type->dim[k];
    down[k] = (pick){kept ? k : NO_INDEX, 0};
    up[k] = (pick){k, 0};
    same = same && kept;
  }
  set_selection(m, down, same ? up : NULL);
}

static void
step_reshape(const maker *m) {
  const gs_type *a = m->type, *b = m->child;
  m->step->map = po_keep_multi_aff(
      m->pool, po_reshape(m->isl, a->dim, a->rank, b->dim, b->rank));
  m->step->inverse = po_keep_multi_aff(
      m->pool, po_reshape(m->isl, b->dim, b->rank, a->dim, a->rank));
}

static void
step_repeat(const maker *m) {
  uint32_t d = (uint32_t)attr_int(m, 0);
  int64_t factor = attr_int(m, 1);
  step_shift(m, d, 0);
  if (factor == 1)
    return;
  isl_aff *quotient =
      isl_aff_scale_down_val(po_index(m->isl, m->type->rank, d, 1, 0),
                             isl_val_int_from_si(m->isl, factor));
  m->step->map = po_keep_multi_aff(
      m->pool, isl_multi_aff_set_aff(isl_multi_aff_copy(m->step->map), (int)d,
                                     isl_aff_floor(quotient)));
  m->step->inverse = NULL;
}

static void (*const steps[GS_OP_COUNT])(const maker *) = {
    [GS_ACCESS] = step_access,
    [GS_TRANSPOSE] = step_transpose,
    [GS_CARTPROD] = step_cartprod,
    [GS_PAIR] = step_pair,
    [GS_WINDOWS] = step_windows,
    [GS_SLICE] = step_slice,
    [GS_PAD] = step_pad,
    [GS_SQUEEZE] = step_squeeze,
    [GS_INSERT_AXIS] = step_insert_axis,
    [GS_BROADCAST] = step_broadcast,
    [GS_FLATTEN] = step_reshape,
    [GS_RESHAPE] = step_reshape,
    [GS_REPEAT] = step_repeat,
};

po_step
po_step_of(po_pool *pool, isl_ctx *isl, const bs_values *values,
           const gs_node *node, uint32_t k, const gs_type *child,
           const gs_type *type) {
  po_step step = {0};
  po_pool_reserve(pool, 8);
  maker m = {pool, isl, values, node, k, child, type, &step};
  steps[node->op](&m);
  return step;
}
