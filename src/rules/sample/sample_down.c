/* SPDX-License-Identifier: MIT */
/* sample_down.c - for a result of a given type, attributes and a child's type
 * that give it.  The caller checks by inference that they do. */
#include "rules/sample/sample.h"
#include <assert.h>
#include <string.h>

enum { MOST_TABLE = 64 };

typedef struct down {
  rl_attr *a;
  rl_sampler *s;
  const gs_type *to;   /* the result */
  const gs_type *hint; /* for the child */
  gs_type *from;       /* the child; begins as a copy of the result */
} down;

/* Ranks may be the language's limit: a child that would have more dimensions
 * keeps those that fit, and inference decides. */
static void
insert_dim(gs_type *t, uint32_t at, int64_t size) {
  assert(at <= t->rank);
  if (t->rank == GS_MAX_RANK)
    return;
  memmove(t->dim + at + 1, t->dim + at, (t->rank - at) * sizeof *t->dim);
  t->dim[at] = size;
  t->rank++;
}

static void
remove_dim(gs_type *t, uint32_t at) {
  assert(at < t->rank);
  memmove(t->dim + at, t->dim + at + 1, (t->rank - at - 1u) * sizeof *t->dim);
  t->rank--;
}

static void
set_compute(gs_type *t, const int64_t *dim, uint32_t n) {
  if (n > GS_MAX_RANK - (uint32_t)t->access)
    n = GS_MAX_RANK - (uint32_t)t->access;
  t->rank = (uint8_t)(t->access + n);
  if (n)
    memcpy(t->dim + t->access, dim, n * sizeof *dim);
}

/* An axis of the result. */
static bool
pick_axis(const down *d, uint32_t item, uint32_t *axis) {
  assert(item < d->a->n);
  if (!d->to->rank)
    return false;
  rl_attr_set_int(d->a, item, (int64_t)rl_draw(d->s, d->to->rank));
  int64_t at = rl_attr_int(d->a, item);
  *axis = (uint32_t)at;
  return at >= 0 && at < d->to->rank;
}

/* --- views ---------------------------------------------------------------- */

static bool
down_access(const down *d) {
  rl_attr_set_int(d->a, 0, d->to->access);
  d->from->access = (uint8_t)rl_draw(d->s, d->to->rank + 1u);
  return true;
}

static bool
down_transpose(const down *d) {
  int64_t p[GS_MAX_RANK];
  rl_draw_permutation(d->s, d->to->access, d->to->rank, p);
  rl_attr_set_ints(d->a, 0, p, d->to->rank);
  if (rl_attr_ints(d->a, 0, p) != d->to->rank)
    return false;
  for (uint32_t k = 0; k < d->to->rank; k++) {
    if (p[k] < 0 || p[k] >= d->to->rank)
      return false;
    d->from->dim[p[k]] = d->to->dim[k];
  }
  return true;
}

static bool
down_windows(const down *d) {
  int64_t k[GS_MAX_RANK], s[GS_MAX_RANK], l[GS_MAX_RANK];
  const gs_type *t = d->to;
  uint32_t n = (uint32_t)t->rank - t->access, at;
  bool strided = rl_draw_one_in(d->s, 2);
  bool dilated = !rl_attr_left_out(d->a, 2) && rl_draw_one_in(d->s, 2);
  if (!n || t->access < n)
    return false;
  for (uint32_t i = 0; i < n; i++) {
    s[i] = l[i] = 1;
    if (strided)
      s[i] = rl_draw_amount(d->s, 1 + (int64_t)rl_draw(d->s, 4));
    if (dilated)
      l[i] = rl_draw_amount(d->s, 1 + (int64_t)rl_draw(d->s, 2));
  }
  rl_attr_set_ints(d->a, 0, t->dim + t->access, n);
  rl_attr_set_ints(d->a, 1, s, n);
  rl_attr_set_ints(d->a, 2, l, n);
  if (rl_attr_ints(d->a, 0, k) != n || rl_attr_ints(d->a, 1, s) != n ||
      rl_attr_ints(d->a, 2, l) != n)
    return false;
  at = t->access - n;
  d->from->access = (uint8_t)at;
  d->from->rank = t->access;
  for (uint32_t i = 0; i < n; i++) {
    if (s[i] < 1 || l[i] < 1)
      return false;
    d->from->dim[at + i] = (t->dim[at + i] - 1) * s[i] + l[i] * (k[i] - 1) + 1 +
                           (int64_t)rl_draw(d->s, (uint64_t)s[i]);
  }
  return true;
}

static bool
down_slice(const down *d) {
  uint32_t axis;
  if (!pick_axis(d, 0, &axis))
    return false;
  int64_t size = d->to->dim[axis];
  int64_t lo = rl_draw_amount(
      d->s, rl_draw_one_in(d->s, 2) ? 0 : (int64_t)rl_draw(d->s, 3));
  if (d->a->fixed[2] && !d->a->fixed[1])
    lo = rl_attr_int(d->a, 2) - size;
  rl_attr_set_int(d->a, 1, lo);
  rl_attr_set_int(d->a, 2, rl_attr_int(d->a, 1) + size);
  d->from->dim[axis] = rl_attr_int(d->a, 2) + (int64_t)rl_draw(d->s, 3);
  return d->from->dim[axis] > 0;
}

static bool
down_pad(const down *d) {
  uint32_t axis;
  rl_attr_set(d->a, 0, bs_sym(d->s->ctx.values, rl_draw_pad_kind(d->s)));
  if (!pick_axis(d, 1, &axis))
    return false;
  int64_t size = d->to->dim[axis];
  int64_t before = (int64_t)rl_draw(d->s, (uint64_t)size);
  rl_attr_set_int(d->a, 2, before < 3 ? before : 2);
  int64_t rest = size - rl_attr_int(d->a, 2);
  int64_t after = rest > 0 ? (int64_t)rl_draw(d->s, (uint64_t)rest) : 0;
  rl_attr_set_int(d->a, 3, after < 3 ? after : 2);
  d->from->dim[axis] = rest - rl_attr_int(d->a, 3);
  return d->from->dim[axis] > 0;
}

static bool
down_squeeze(const down *d) {
  uint32_t n = d->to->rank;
  if (n == GS_MAX_RANK)
    return false;
  rl_attr_set_int(d->a, 0, (int64_t)rl_draw(d->s, n + 1u));
  int64_t at = rl_attr_int(d->a, 0);
  if (at < 0 || at > n)
    return false;
  insert_dim(d->from, (uint32_t)at, 1);
  bool outer =
      at < d->to->access || (at == d->to->access && rl_draw_one_in(d->s, 2));
  d->from->access = (uint8_t)(d->to->access + outer);
  return true;
}

static bool
down_insert_axis(const down *d) {
  uint32_t n = d->to->rank, first = n ? (uint32_t)rl_draw(d->s, n) : 0;
  for (uint32_t k = 0; !d->a->fixed[0] && k < n; k++)
    if (d->to->dim[(first + k) % n] == 1) {
      rl_attr_set_int(d->a, 0, (first + k) % n);
      break;
    }
  if (!d->a->item[0].i)
    return false;
  int64_t at = rl_attr_int(d->a, 0);
  if (at < 0 || at >= n || d->to->dim[at] != 1)
    return false;
  remove_dim(d->from, (uint32_t)at);
  d->from->access = (uint8_t)(d->to->access - (at < d->to->access));
  return true;
}

static bool
down_broadcast(const down *d) {
  rl_attr_set_ints(d->a, 0, d->to->dim, d->to->rank);
  for (uint32_t k = 0; k < d->to->rank; k++)
    if (rl_draw_one_in(d->s, 2))
      d->from->dim[k] = 1;
  return true;
}

/* Child sizes with the products of both sides of the result. */
static bool
unflatten(const down *d, int32_t n_access, int32_t n_compute) {
  const gs_type *t = d->to;
  int64_t side[GS_MAX_RANK];
  uint32_t n;
  if (!rl_draw_factors(d->s, gs_prod(t->dim, t->access), n_access, side, &n) ||
      n > GS_MAX_RANK)
    return false;
  memcpy(d->from->dim, side, n * sizeof *side);
  d->from->access = (uint8_t)n;
  if (!rl_draw_factors(
          d->s, gs_prod(t->dim + t->access, (uint32_t)t->rank - t->access),
          n_compute, side, &n) ||
      d->from->access + n > GS_MAX_RANK)
    return false;
  set_compute(d->from, side, n);
  return true;
}

static bool
down_reshape(const down *d) {
  const gs_type *t = d->to;
  uint32_t items = (uint32_t)t->rank - t->access;
  rl_attr_set_ints(d->a, 0, t->dim, t->access);
  rl_attr_set_ints(d->a, 1, t->dim + t->access, items);
  int kept = (int)rl_draw(d->s, 4);
  if (!unflatten(d, -1, -1))
    return false;
  if (kept == 0) {
    gs_type whole = *d->from;
    *d->from = *t;
    set_compute(d->from, whole.dim + whole.access,
                (uint32_t)whole.rank - whole.access);
  } else if (kept == 1 && d->from->access + items <= GS_MAX_RANK) {
    d->from->rank = (uint8_t)(d->from->access + items);
    memcpy(d->from->dim + d->from->access, t->dim + t->access,
           items * sizeof *t->dim);
  }
  return true;
}

static bool
down_flatten(const down *d) {
  const gs_type *t = d->to;
  uint32_t items = (uint32_t)t->rank - t->access;
  if (t->access > 1 || items > 1)
    return false;
  return unflatten(d, t->access ? 1 + (int32_t)rl_draw(d->s, 3) : 0,
                   items ? 1 + (int32_t)rl_draw(d->s, 3) : 0);
}

static bool
down_repeat(const down *d) {
  uint32_t axis;
  if (!pick_axis(d, 0, &axis))
    return false;
  int64_t size = d->to->dim[axis];
  int64_t f = size % 2 == 0 ? 2 : size % 3 == 0 ? 3 : 1;
  rl_attr_set_int(d->a, 1, rl_draw_one_in(d->s, 4) ? 1 : f);
  f = rl_attr_int(d->a, 1);
  if (f < 1 || size % f)
    return false;
  d->from->dim[axis] = size / f;
  return true;
}

/* The child has the type of the result. */
static bool
down_same(const down *d) {
  const char *letters = gs_op_table[d->a->node->op].attrs;
  bool ok = true;
  uint32_t axis;
  for (uint32_t k = 0; letters[k] && ok; k++)
    ok = letters[k] == 'd' && pick_axis(d, k, &axis);
  return ok;
}

/* --- compute -------------------------------------------------------------- */

/* A dtype whose sums are of this one. */
static bool
summed_dtype(const down *d, gs_compute op, gs_dtype *out) {
  gs_dtype found[GS_DTYPE_COUNT];
  uint32_t n = 0;
  if (gs_compute_dtype(op, d->s->dtype) == d->to->dtype) {
    *out = d->s->dtype;
    return true;
  }
  for (int k = 0; k < GS_DTYPE_COUNT; k++)
    if (gs_compute_dtype(op, (gs_dtype)k) == d->to->dtype)
      found[n++] = (gs_dtype)k;
  if (!n)
    return false;
  *out = found[rl_draw(d->s, n)];
  return true;
}

/* Behind S: the hint, or `first` and some more. */
static void
random_items(const down *d, int64_t first) {
  int64_t dim[GS_MAX_RANK];
  uint32_t n = 0, more = (uint32_t)rl_draw(d->s, 3);
  if (d->hint) {
    set_compute(d->from, d->hint->dim + d->hint->access,
                (uint32_t)d->hint->rank - d->hint->access);
    return;
  }
  if (first)
    dim[n++] = first;
  else
    more++;
  while (more-- > 0)
    dim[n++] = rl_draw_dim(d->s);
  set_compute(d->from, dim, n);
}

static bool
down_reduction(const down *d, gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  bool dot = op == GS_C_DOT_PROD;
  if (d->to->rank > d->to->access)
    return false;
  random_items(d, !dot ? 0 : rl_draw_one_in(d->s, 4) ? rl_draw_dim(d->s) : 2);
  return summed_dtype(d, op, &d->from->dtype);
}

static bool
down_tuple(const down *d, int64_t size) {
  if (d->to->rank == GS_MAX_RANK)
    return false;
  if (d->hint)
    size = d->hint->dim[d->hint->access];
  insert_dim(d->from, d->to->access, size);
  return true;
}

static bool
down_cast(const down *d) {
  const bs_values *values = d->s->ctx.values;
  bs_value t = gs_compute_param(values, d->a->item[0], 0);
  gs_dtype to;
  if (!gs_dtype_find(bs_as_sym(values, t), &to) || to != d->to->dtype)
    return false;
  d->from->dtype = rl_draw_one_in(d->s, 2)
                       ? d->s->dtype
                       : (gs_dtype)rl_draw(d->s, GS_DTYPE_COUNT);
  return true;
}

/* The table stands before the indices. */
static bool
down_lookup(const down *d) {
  int64_t table = gs_lookup_table(d->s->ctx.values, d->a->item[0]);
  if (d->to->rank != d->to->access + 1 || table < 1 || table > MOST_TABLE)
    return false;
  d->from->dim[d->to->access] += table;
  return true;
}

static bool
down_compute(const down *d) {
  gs_compute op;
  if (!rl_draw_operator(d->a, d->to->dtype) ||
      !gs_compute_of(d->s->ctx.values, d->a->item[0], &op))
    return false;
  switch (gs_compute_table[op].kind) {
  case GS_REDUCE:
  case GS_DOT:
    return down_reduction(d, op);
  case GS_FOLD:
    return down_tuple(d, rl_draw_one_in(d->s, 3) ? rl_draw_dim(d->s) : 2);
  case GS_SELECT:
    return down_tuple(d, 3);
  case GS_GATHER:
    return down_tuple(d, 2);
  case GS_LOOKUP:
    return down_lookup(d);
  case GS_CAST:
    return down_cast(d);
  case GS_ELEMENTWISE:
  case GS_SOFTMAX:
  default:
    return true;
  }
}

bool
rl_sample_down(rl_attr *a, const gs_type *result, const gs_type *hint,
               gs_type *child) {
  static bool (*const table[GS_OP_COUNT])(const down *) = {
      [GS_ACCESS] = down_access,
      [GS_TRANSPOSE] = down_transpose,
      [GS_WINDOWS] = down_windows,
      [GS_SLICE] = down_slice,
      [GS_PAD] = down_pad,
      [GS_SQUEEZE] = down_squeeze,
      [GS_INSERT_AXIS] = down_insert_axis,
      [GS_BROADCAST] = down_broadcast,
      [GS_FLATTEN] = down_flatten,
      [GS_RESHAPE] = down_reshape,
      [GS_REPEAT] = down_repeat,
      [GS_COMPUTE] = down_compute,
  };
  down d = {a, a->s, result, hint, child};
  *child = *result;
  if (a->node->op == GS_CALL || gs_op_table[a->node->op].kids != 1)
    return false;
  return table[a->node->op] ? table[a->node->op](&d) : down_same(&d);
}

/* --- results -------------------------------------------------------------- */

/* Sizes as many as a list of the pattern asks for. */
static void
wish_rank(const rl_attr *a, uint32_t item, gs_type *t) {
  int32_t n = rl_attr_length(a, item);
  if (n < 0 || n > 8)
    return;
  for (uint32_t d = t->rank; d < (uint32_t)n; d++)
    t->dim[d] = rl_draw_dim(a->s);
  t->rank = (uint8_t)n;
  if (t->access > t->rank)
    t->access = t->rank;
}

static void
wish_sides(const rl_attr *a, gs_type *t) {
  int32_t s = rl_attr_length(a, 0), c = rl_attr_length(a, 1);
  s = s < 0 || s > 8 ? t->access : s;
  c = c < 0 || c > 8 ? t->rank - t->access : c;
  t->access = (uint8_t)s;
  t->rank = (uint8_t)(s + c);
  for (uint32_t d = 0; d < t->rank; d++)
    t->dim[d] = rl_draw_dim(a->s);
}

/* ((S ++ windows), (kernel)) */
static void
wish_windows(const rl_attr *a, gs_type *t) {
  int32_t n = rl_attr_length(a, 0);
  uint32_t s = (uint32_t)rl_draw(a->s, 2);
  n = n < 0 || n > 4 ? 1 + (int32_t)rl_draw(a->s, 2) : n;
  t->access = (uint8_t)(s + (uint32_t)n);
  t->rank = (uint8_t)(s + 2 * (uint32_t)n);
  for (uint32_t d = 0; d < t->rank; d++)
    t->dim[d] = rl_draw_dim(a->s);
}

void
rl_draw_result(const rl_attr *a, gs_type *t) {
  gs_compute op;
  const bs_values *values = a->s->ctx.values;
  rl_draw_type(a->s, a->s->dtype, t);
  switch ((gs_op)a->node->op) {
  case GS_TRANSPOSE:
  case GS_BROADCAST:
    wish_rank(a, 0, t);
    break;
  case GS_RESHAPE:
    wish_sides(a, t);
    break;
  case GS_WINDOWS:
    wish_windows(a, t);
    break;
  case GS_FLATTEN:
    t->rank = t->rank > 2 ? 2 : t->rank;
    t->access = t->rank == 2 ? 1 : t->access;
    break;
  case GS_COMPUTE:
    if (!a->fixed[0] || !gs_compute_of(values, a->item[0], &op))
      break;
    t->dtype = gs_compute_dtype(op, t->dtype);
    if (gs_compute_table[op].kind == GS_REDUCE ||
        gs_compute_table[op].kind == GS_DOT)
      t->rank = t->access;
    break;
  case GS_TENSOR:
  case GS_CONST:
  case GS_ACCESS:
  case GS_CARTPROD:
  case GS_PAIR:
  case GS_SLICE:
  case GS_CONCAT:
  case GS_PAD:
  case GS_SQUEEZE:
  case GS_INSERT_AXIS:
  case GS_REPEAT:
  case GS_REVERSE:
  case GS_MATERIALIZE:
  case GS_CALL:
  case GS_SCAN:
  case GS_OP_COUNT:
    break;
  }
}
