/* SPDX-License-Identifier: MIT */
/* interpret_view.c - reading an element through views.
 *
 * Each element of a view is one element of one child, or a pad.  Reading
 * follows that relation, one view after another, until a stored array is met;
 * an index is rewritten in place from the view's dimensions to the child's. */
#include "glenside/interpret/interpret_state.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* Elements of an item for which it pays to ask how they lie. */
enum { WORTH_STRIDES = 16 };

/* What a step of the walk leads to. */
typedef struct step {
  gs_term child;
  bool pad; /* the element is a pad: */
  double value;
} step;

typedef struct place {
  const in_state *s;
  const gs_node *node;
  const gs_type *type; /* of the view */
  const gs_type *of;   /* of its first child */
  int64_t *index;
} place;

static int64_t
attr_int(const place *p, uint32_t item) {
  return bs_as_int(p->s->p->ctx.values,
                   bs_item(p->s->p->ctx.values, p->node->attr, item));
}

static int64_t
attr_at(const place *p, uint32_t item, uint32_t k) {
  const bs_values *values = p->s->p->ctx.values;
  return bs_as_int(values,
                   bs_item(values, bs_item(values, p->node->attr, item), k));
}

/* T'[i] = T[perm[i]] */
static void
transpose(const place *p) {
  int64_t index[GS_MAX_RANK];
  memcpy(index, p->index, p->type->rank * sizeof *index);
  for (uint32_t k = 0; k < p->type->rank; k++)
    p->index[attr_at(p, 0, k)] = index[k];
}

static void
remove_dims(int64_t *index, uint32_t rank, uint32_t at, uint32_t n) {
  memmove(index + at, index + at + n, (rank - at - n) * sizeof *index);
}

/* (S.. W.. k..) reads (S.. stride * W + dilation * k) */
static void
windows(const place *p) {
  uint32_t s = p->of->access, n = p->of->rank - s;
  for (uint32_t k = 0; k < n; k++)
    p->index[s + k] = attr_at(p, 1, k) * p->index[s + k] +
                      attr_at(p, 2, k) * p->index[s + n + k];
}

/* Keeps the position in C order while the dimensions change. */
static void
reshape(const place *p) {
  int64_t at = 0;
  for (uint32_t k = 0; k < p->type->rank; k++)
    at = at * p->type->dim[k] + p->index[k];
  for (uint32_t k = p->of->rank; k-- > 0;) {
    p->index[k] = at % p->of->dim[k];
    at /= p->of->dim[k];
  }
}

static void
broadcast(const place *p) {
  for (uint32_t k = 0; k < p->of->rank; k++)
    if (p->of->dim[k] == 1)
      p->index[k] = 0;
}

/* The lowest value of a dtype. */
static double
lowest(gs_dtype dtype) {
  assert(dtype < GS_DTYPE_COUNT);
  if (!gs_dtype_table[dtype].integer)
    return -INFINITY;
  return (double)gs_dtype_least(dtype);
}

static step
pad(const place *p) {
  const bs_values *values = p->s->p->ctx.values;
  uint32_t d = (uint32_t)attr_int(p, 1);
  int64_t at = p->index[d] - attr_int(p, 2), size = p->of->dim[d];
  step next = {.child = p->node->kids[0]};
  gs_padding kind = GS_PADDING_ZERO;
  gs_padding_of(values, bs_item(values, p->node->attr, 0), &kind);
  p->index[d] = at;
  if (at >= 0 && at < size)
    return next;
  switch (kind) {
  case GS_PADDING_EDGE:
    p->index[d] = at < 0 ? 0 : size - 1;
    break;
  case GS_PADDING_MIN:
    next.value = lowest(p->type->dtype);
    next.pad = true;
    break;
  case GS_PADDING_ZERO:
  case GS_PADDING_COUNT:
    next.pad = true;
  }
  return next;
}

static step
concat(const place *p) {
  uint32_t d = (uint32_t)attr_int(p, 0);
  bool second = p->index[d] >= p->of->dim[d];
  if (second)
    p->index[d] -= p->of->dim[d];
  return (step){.child = p->node->kids[second]};
}

/* (Sa.. Sb.. 2 C..) reads (Sa.. C..) of a or (Sb.. C..) of b. */
static step
cart_prod(const place *p) {
  uint32_t rank = p->type->rank, tuple = p->type->access;
  uint32_t sa = p->of->access, sb = tuple - sa;
  bool second = p->index[tuple] != 0;
  remove_dims(p->index, rank, tuple, 1);
  if (second)
    remove_dims(p->index, rank - 1, 0, sa);
  else
    remove_dims(p->index, rank - 1, sa, sb);
  return (step){.child = p->node->kids[second]};
}

static step
pair(const place *p) {
  uint32_t tuple = p->type->access;
  bool second = p->index[tuple] != 0;
  remove_dims(p->index, p->type->rank, tuple, 1);
  return (step){.child = p->node->kids[second]};
}

/* From an index of the view to one of the child that holds the element. */
static step
follow(const place *p) {
  step next = {.child = p->node->kids[0]};
  uint32_t d;
  switch (p->node->op) {
  case GS_TRANSPOSE:
    transpose(p);
    return next;
  case GS_CARTPROD:
    return cart_prod(p);
  case GS_PAIR:
    return pair(p);
  case GS_WINDOWS:
    windows(p);
    return next;
  case GS_SLICE:
    p->index[attr_int(p, 0)] += attr_int(p, 1);
    return next;
  case GS_CONCAT:
    return concat(p);
  case GS_PAD:
    return pad(p);
  case GS_SQUEEZE:
    d = (uint32_t)attr_int(p, 0);
    memmove(p->index + d + 1, p->index + d,
            (p->type->rank - d) * sizeof *p->index);
    p->index[d] = 0;
    return next;
  case GS_INSERT_AXIS:
    remove_dims(p->index, p->type->rank, (uint32_t)attr_int(p, 0), 1);
    return next;
  case GS_BROADCAST:
    broadcast(p);
    return next;
  case GS_FLATTEN:
  case GS_RESHAPE:
    reshape(p);
    return next;
  case GS_REPEAT:
    p->index[attr_int(p, 0)] /= attr_int(p, 1);
    return next;
  case GS_REVERSE:
    d = (uint32_t)attr_int(p, 0);
    p->index[d] = p->of->dim[d] - 1 - p->index[d];
    return next;
  case GS_ACCESS: /* the same elements */
    return next;
  case GS_TENSOR:
  case GS_CONST:
  case GS_COMPUTE:
  case GS_MATERIALIZE:
  case GS_CALL:
  case GS_SCAN:
  case GS_OP_COUNT:
    break;
  }
  return next; /* stored as it is: no view */
}

static int64_t
offset_of(const gs_type *t, const int64_t *index) {
  int64_t at = 0;
  for (uint32_t k = 0; k < t->rank; k++)
    at = at * t->dim[k] + index[k];
  return at;
}

/* From an element to the stored term that holds it; a pad has none. */
static step
find(const in_state *s, gs_term t, int64_t *index) {
  step at = {.child = t};
  assert(gs_term_ok(t));
  while (!at.pad && !s->stored[at.child.i]) {
    const gs_node *node = gs_at(s->p, at.child);
    /* What is not stored is a view of what is. */
    assert(gs_op_table[node->op].view);
    place here = {s, node, &s->types[at.child.i], &s->types[node->kids[0].i],
                  index};
    at = follow(&here);
  }
  return at;
}

double
in_fetch(const in_state *s, gs_term t, int64_t *index) {
  assert(t.i < s->p->nodes.len);
  step at = find(s, t, index);
  if (at.pad)
    return s->are_bounds ? 0 : at.value;
  const gs_tensor *array = &s->arrays[at.child.i];
  if (!array->data)
    return 0;
  return gs_tensor_get(array, offset_of(&s->types[at.child.i], index));
}

in_state
in_state_of_bounds(const in_state *s) {
  in_state of = *s;
  of.arrays = s->bounds;
  of.are_bounds = true;
  return of;
}

bool
in_advance(const gs_type *t, uint32_t from, uint32_t to, int64_t *index) {
  assert(from <= to && to <= t->rank);
  for (uint32_t k = to; k-- > from;) {
    if (++index[k] < t->dim[k])
      return true;
    index[k] = 0;
  }
  return false;
}

/* Element by element. */
static void
load_by_fetch(const in_state *s, gs_term t, const int64_t *outer, double *out) {
  const gs_type *type = &s->types[t.i];
  int64_t index[GS_MAX_RANK] = {0}, copy[GS_MAX_RANK];
  memcpy(index, outer, type->access * sizeof *index);
  do {
    memcpy(copy, index, type->rank * sizeof *copy);
    *out++ = in_fetch(s, t, copy);
    in_visit(s, 1);
  } while (in_advance(type, type->access, type->rank, index));
}

/* Whether indices of the child are sums of multiples of those of the view. */
static bool
is_affine(gs_op op) {
  assert(op < GS_OP_COUNT);
  const gs_op_info *info = &gs_op_table[op];
  return info->view && info->kids == 1 && !gs_op_is(op, GS_INTRICATE);
}

/* Whether only such views are between a term and the one that is stored. */
static bool
is_strided(const in_state *s, gs_term t) {
  while (!s->stored[t.i]) {
    const gs_node *node = gs_at(s->p, t);
    if (!is_affine(node->op))
      return false;
    t = node->kids[0];
  }
  return true;
}

/* Elements that lie at equal distances along each dimension of the item. */
typedef struct strided {
  const gs_tensor *array;
  int64_t first, step[GS_MAX_RANK];
} strided;

/* The distances are those from the first element to its neighbours. */
static strided
strided_of(const in_state *s, gs_term t, const int64_t *outer) {
  const gs_type *type = &s->types[t.i];
  strided x = {0};
  for (uint32_t d = type->rank + 1u; d-- > type->access;) {
    int64_t index[GS_MAX_RANK] = {0};
    memcpy(index, outer, type->access * sizeof *index);
    if (d < type->rank)
      index[d] = type->dim[d] > 1;
    step at = find(s, t, index);
    int64_t offset = offset_of(&s->types[at.child.i], index);
    if (d == type->rank)
      x = (strided){.array = &s->arrays[at.child.i], .first = offset};
    else
      x.step[d] = offset - x.first;
  }
  return x;
}

/* Row by row. */
static void
load_strided(const in_state *s, gs_term t, const int64_t *outer, double *out) {
  const gs_type *type = &s->types[t.i];
  strided x = strided_of(s, t, outer);
  uint32_t last = type->rank - 1u;
  int64_t index[GS_MAX_RANK] = {0}, n = type->dim[last];
  do {
    int64_t at = x.first;
    for (uint32_t d = type->access; d < last; d++)
      at += index[d] * x.step[d];
    for (int64_t k = 0; k < n; k++)
      *out++ =
          x.array->data ? gs_tensor_get(x.array, at + k * x.step[last]) : 0;
    in_visit(s, n);
  } while (in_advance(type, type->access, last, index));
}

static void
load_stored(const in_state *s, gs_term t, const int64_t *outer, double *out) {
  const gs_type *type = &s->types[t.i];
  int64_t index[GS_MAX_RANK] = {0};
  int64_t n = gs_prod(type->dim + type->access, type->rank - type->access);
  memcpy(index, outer, type->access * sizeof *index);
  if (s->arrays[t.i].data)
    gs_tensor_get_many(&s->arrays[t.i], offset_of(type, index), n, out);
  else
    memset(out, 0, (size_t)n * sizeof *out);
}

static void
load_one(const in_state *s, gs_term t, const int64_t *outer, double *out) {
  const gs_type *type = &s->types[t.i];
  if (s->stored[t.i])
    load_stored(s, t, outer, out);
  else if (gs_prod(type->dim + type->access, type->rank - type->access) >
               WORTH_STRIDES &&
           is_strided(s, t))
    load_strided(s, t, outer, out);
  else
    load_by_fetch(s, t, outer, out);
}

/* A tuple is the items of its one side, then those of the other. */
static void
load_tuple(const in_state *s, const gs_node *node, const int64_t *outer,
           double *out) {
  const gs_type *a = &s->types[node->kids[0].i];
  bool shared = node->op == GS_PAIR;
  load_one(s, node->kids[0], outer, out);
  out += gs_prod(a->dim + a->access, a->rank - a->access);
  load_one(s, node->kids[1], shared ? outer : outer + a->access, out);
}

void
in_load(const in_state *s, gs_term t, const int64_t *outer, double *out) {
  const gs_node *node = gs_at(s->p, t);
  bool tuple = node->op == GS_CARTPROD || node->op == GS_PAIR;
  if (tuple && !s->stored[t.i])
    load_tuple(s, node, outer, out);
  else
    load_one(s, t, outer, out);
}
