/* SPDX-License-Identifier: MIT */
/* zeros.c - proven zero regions and single values through each operator.
 *
 * A region (axis lo hi) says: every element whose index along `axis` lies in
 * [lo, hi) is 0.  Regions of a class are a list sorted by axis and place,
 * without overlaps, at most MAX_REGIONS of them; where the whole array is zero
 * every axis has its full region.  One function an operator, in a table; an
 * operator without one tells nothing.  Dropping a region loses knowledge and
 * never soundness. */
#include "rules/internal.h"
#include "glenside/tensor.h"
#include <stdlib.h>
#include <string.h>

#define MAX_REGIONS 48

typedef struct region {
  int64_t axis, lo, hi;
} region;

typedef struct regions {
  uint32_t n;
  region r[MAX_REGIONS];
} regions;

/* --- lists of regions ----------------------------------------------------- */

static void
add(regions *out, int64_t axis, int64_t lo, int64_t hi) {
  if (lo < hi && out->n < MAX_REGIONS)
    out->r[out->n++] = (region){axis, lo, hi};
}

static void
load(const bs_values *values, bs_value list, regions *out) {
  uint32_t n = list.i ? bs_len(values, list) : 0, len;
  out->n = 0;
  for (uint32_t k = 0; k < n; k++) {
    int64_t v[3];
    if (bs_to_ints(values, bs_item(values, list, k), v, 3, &len) && len == 3)
      add(out, v[0], v[1], v[2]);
  }
}

static int
compare(const void *a, const void *b) {
  const region *x = a, *y = b;
  if (x->axis != y->axis)
    return x->axis < y->axis ? -1 : 1;
  if (x->lo != y->lo)
    return x->lo < y->lo ? -1 : 1;
  return x->hi < y->hi ? -1 : x->hi > y->hi;
}

static void
fill_all(regions *z, const gs_type *type) {
  z->n = 0;
  for (uint32_t d = 0; d < type->rank; d++)
    add(z, d, 0, type->dim[d]);
}

/* Sorted, joined where they touch; all when one covers its axis. */
static void
normalise(regions *z, const gs_type *type) {
  uint32_t kept = 0;
  qsort(z->r, z->n, sizeof z->r[0], compare);
  for (uint32_t k = 0; k < z->n; k++) {
    region *last = kept ? &z->r[kept - 1] : NULL;
    if (last && last->axis == z->r[k].axis && z->r[k].lo <= last->hi) {
      if (z->r[k].hi > last->hi)
        last->hi = z->r[k].hi;
    } else {
      z->r[kept++] = z->r[k];
    }
  }
  z->n = kept;
  for (uint32_t k = 0; k < kept; k++)
    if (z->r[k].lo <= 0 && z->r[k].hi >= type->dim[z->r[k].axis]) {
      fill_all(z, type);
      return;
    }
}

static bs_value
store(bs_values *values, const regions *z) {
  bs_value items[MAX_REGIONS];
  if (!z->n)
    return BS_NIL;
  for (uint32_t k = 0; k < z->n; k++) {
    int64_t v[3] = {z->r[k].axis, z->r[k].lo, z->r[k].hi};
    items[k] = bs_ints(values, v, 3);
  }
  return bs_list(values, items, z->n);
}

bs_value
rl_zeros_all(bs_values *values, const gs_type *type) {
  regions z;
  fill_all(&z, type);
  return store(values, &z);
}

bool
rl_zeros_are_all(const bs_values *values, bs_value zeros, const gs_type *type) {
  regions z;
  if (!zeros.i)
    return false;
  load(values, zeros, &z);
  for (uint32_t k = 0; k < z.n; k++)
    if (z.r[k].lo <= 0 && z.r[k].hi >= type->dim[z.r[k].axis])
      return true;
  return false;
}

bs_value
rl_zeros_join(bs_values *values, bs_value a, bs_value b, const gs_type *type) {
  regions x, y;
  if (!a.i || !b.i)
    return a.i ? a : b;
  load(values, a, &x);
  load(values, b, &y);
  for (uint32_t k = 0; k < y.n; k++)
    add(&x, y.r[k].axis, y.r[k].lo, y.r[k].hi);
  normalise(&x, type);
  return store(values, &x);
}

/* --- one operator --------------------------------------------------------- */

typedef struct through {
  bs_values *values;
  bs_value attr;
  const rl_known *kids;
  const gs_type *type; /* of the result */
  regions a, b;        /* of the children */
  regions out;
} through;

static int64_t
attr_int(const through *t, uint32_t k) {
  return bs_as_int(t->values, bs_item(t->values, t->attr, k));
}

static int64_t
list_int(const through *t, uint32_t k, uint32_t i) {
  bs_value list = bs_item(t->values, t->attr, k);
  return bs_as_int(t->values, bs_item(t->values, list, i));
}

static bool
is_zero(const bs_values *values, const rl_known *kid) {
  return kid->constant.i && bs_as_real(values, kid->constant) == 0;
}

static void
through_same(through *t) {
  t->out = t->a;
}

static void
through_transpose(through *t) {
  for (uint32_t k = 0; k < t->a.n; k++)
    for (uint32_t d = 0; d < t->type->rank; d++)
      if (list_int(t, 0, d) == t->a.r[k].axis)
        add(&t->out, d, t->a.r[k].lo, t->a.r[k].hi);
}

/* What is zero in both, axes given by a's. */
static void
intersect(regions *out, const regions *a, int64_t from_a, const regions *b,
          int64_t from_b, int64_t to) {
  for (uint32_t i = 0; i < a->n; i++)
    for (uint32_t j = 0; j < b->n; j++) {
      const region *x = &a->r[i], *y = &b->r[j];
      if (x->axis != from_a || y->axis != from_b)
        continue;
      add(out, to, x->lo > y->lo ? x->lo : y->lo,
          x->hi < y->hi ? x->hi : y->hi);
    }
}

/* The tuple axis: item 0 is a, item 1 is b. */
static void
tuple_axis(through *t, int64_t axis) {
  for (int64_t k = 0; k < 2; k++)
    if (is_zero(t->values, &t->kids[k]))
      add(&t->out, axis, k, k + 1);
}

static void
through_cartprod(through *t) {
  uint32_t na = t->kids[0].type->access, nb = t->kids[1].type->access;
  uint32_t items = t->kids[0].type->rank - na;
  for (uint32_t c = 0; c < items; c++)
    intersect(&t->out, &t->a, na + c, &t->b, nb + c, na + nb + 1 + c);
  tuple_axis(t, na + nb);
}

static void
through_pair(through *t) {
  uint32_t n = t->kids[0].type->access;
  for (uint32_t d = 0; d < t->kids[0].type->rank; d++)
    intersect(&t->out, &t->a, d, &t->b, d, d < n ? d : d + 1);
  tuple_axis(t, n);
}

static int64_t
floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t
ceil_div(int64_t a, int64_t b) {
  return -floor_div(-a, b);
}

static int64_t
clamp(int64_t x, int64_t lo, int64_t hi) {
  return x < lo ? lo : x > hi ? hi : x;
}

/* Element j of window i stands at s*i + d*j. */
static void
through_windows(through *t) {
  uint32_t n = t->kids[0].type->access, items = t->kids[0].type->rank - n;
  for (uint32_t k = 0; k < t->a.n; k++) {
    const region *r = &t->a.r[k];
    if (r->axis < n) {
      add(&t->out, r->axis, r->lo, r->hi);
      continue;
    }
    uint32_t l = (uint32_t)r->axis - n;
    int64_t size = list_int(t, 0, l), s = list_int(t, 1, l);
    int64_t d = list_int(t, 2, l), count = t->type->dim[r->axis];
    add(&t->out, r->axis, clamp(ceil_div(r->lo, s), 0, count),
        clamp(floor_div(r->hi - 1 - d * (size - 1), s) + 1, 0, count));
    add(&t->out, r->axis + items, clamp(ceil_div(r->lo, d), 0, size),
        clamp(floor_div(r->hi - 1 - s * (count - 1), d) + 1, 0, size));
  }
}

static void
through_slice(through *t) {
  int64_t d = attr_int(t, 0), lo = attr_int(t, 1), hi = attr_int(t, 2);
  for (uint32_t k = 0; k < t->a.n; k++) {
    const region *r = &t->a.r[k];
    if (r->axis != d)
      add(&t->out, r->axis, r->lo, r->hi);
    else
      add(&t->out, d, clamp(r->lo - lo, 0, hi - lo),
          clamp(r->hi - lo, 0, hi - lo));
  }
}

static void
through_concat(through *t) {
  int64_t d = attr_int(t, 0), size = t->kids[0].type->dim[d];
  for (uint32_t axis = 0; axis < t->type->rank; axis++)
    if (axis != d)
      intersect(&t->out, &t->a, axis, &t->b, axis, axis);
  for (uint32_t k = 0; k < t->a.n; k++)
    if (t->a.r[k].axis == d)
      add(&t->out, d, t->a.r[k].lo, t->a.r[k].hi);
  for (uint32_t k = 0; k < t->b.n; k++)
    if (t->b.r[k].axis == d)
      add(&t->out, d, size + t->b.r[k].lo, size + t->b.r[k].hi);
}

static void
through_pad(through *t) {
  bs_value kind = bs_item(t->values, t->attr, 0);
  const char *name = bs_as_sym(t->values, kind);
  int64_t d = attr_int(t, 1), before = attr_int(t, 2), after = attr_int(t, 3);
  int64_t size = t->kids[0].type->dim[d], end = before + size;
  bool unsigned_min =
      !strcmp(name, "min") && !gs_dtype_table[t->type->dtype].is_signed;
  bool zero = !strcmp(name, "zero") || unsigned_min;
  bool edge = !strcmp(name, "edge");
  for (uint32_t k = 0; k < t->a.n; k++) {
    const region *r = &t->a.r[k];
    if (r->axis != d && (zero || edge))
      add(&t->out, r->axis, r->lo, r->hi);
    if (r->axis != d)
      continue;
    add(&t->out, d, edge && r->lo == 0 ? 0 : r->lo + before,
        edge && r->hi == size ? end + after : r->hi + before);
  }
  if (zero) {
    add(&t->out, d, 0, before);
    add(&t->out, d, end, end + after);
  }
}

static void
through_squeeze(through *t) {
  int64_t d = attr_int(t, 0);
  for (uint32_t k = 0; k < t->a.n; k++)
    if (t->a.r[k].axis != d)
      add(&t->out, t->a.r[k].axis - (t->a.r[k].axis > d), t->a.r[k].lo,
          t->a.r[k].hi);
}

static void
through_insert_axis(through *t) {
  int64_t d = attr_int(t, 0);
  for (uint32_t k = 0; k < t->a.n; k++)
    add(&t->out, t->a.r[k].axis + (t->a.r[k].axis >= d), t->a.r[k].lo,
        t->a.r[k].hi);
}

/* An axis of size 1 that grows has no region but the full one, and then the
 * one value tells. */
static void
through_broadcast(through *t) {
  const gs_type *from = t->kids[0].type;
  for (uint32_t k = 0; k < t->a.n; k++)
    if (from->dim[t->a.r[k].axis] == t->type->dim[t->a.r[k].axis])
      add(&t->out, t->a.r[k].axis, t->a.r[k].lo, t->a.r[k].hi);
}

/* Elements are numbered alike before and after.  A region of an axis covers,
 * in each block that the axes before it count, the places [lo, hi) * inner; an
 * axis of the result with the same blocks takes it over, rounded inwards. */
static void
regroup(through *t, const region *r, uint32_t from, uint32_t to,
        uint32_t to_end) {
  const gs_type *a = t->kids[0].type;
  uint32_t end = from < a->access ? a->access : a->rank;
  uint32_t axis = (uint32_t)r->axis;
  int64_t outer = gs_prod(a->dim + from, axis - from), blocks = 1;
  int64_t inner = gs_prod(a->dim + axis + 1, end - axis - 1);
  while (to < to_end && (blocks < outer || t->type->dim[to] == 1))
    blocks *= t->type->dim[to++];
  if (to == to_end || blocks != outer)
    return;
  int64_t width = gs_prod(t->type->dim + to + 1, to_end - to - 1);
  add(&t->out, to, ceil_div(r->lo * inner, width),
      floor_div(r->hi * inner, width));
}

static void
through_reshape(through *t) {
  uint32_t n = t->kids[0].type->access, m = t->type->access;
  for (uint32_t k = 0; k < t->a.n; k++) {
    bool in_s = t->a.r[k].axis < n;
    regroup(t, &t->a.r[k], in_s ? 0 : n, in_s ? 0 : m,
            in_s ? m : t->type->rank);
  }
}

static void
through_repeat(through *t) {
  int64_t d = attr_int(t, 0), f = attr_int(t, 1);
  for (uint32_t k = 0; k < t->a.n; k++) {
    int64_t by = t->a.r[k].axis == d ? f : 1;
    add(&t->out, t->a.r[k].axis, t->a.r[k].lo * by, t->a.r[k].hi * by);
  }
}

/* --- compute -------------------------------------------------------------- */

/* Multiplies along an axis of C, so that one zero there makes all zero. */
static bool
multiplies(gs_compute op, int64_t item) {
  return op == GS_C_REDUCE_PROD ||
         ((op == GS_C_DOT_PROD || op == GS_C_MUL) && item == 0);
}

static void
through_compute(through *t) {
  bs_value o = bs_item(t->values, t->attr, 0);
  const gs_type *from = t->kids[0].type;
  gs_compute op;
  if (!gs_compute_of(t->values, o, &op) ||
      !gs_compute_keeps_zero(t->values, o, op))
    return;
  gs_compute_kind kind = gs_compute_table[op].kind;
  bool folds = kind == GS_FOLD || kind == GS_SELECT;
  for (uint32_t k = 0; k < t->a.n; k++) {
    const region *r = &t->a.r[k];
    int64_t item = r->axis - from->access;
    if (item >= 0 && multiplies(op, item)) {
      fill_all(&t->out, t->type);
      return;
    }
    if (item < 0 || kind == GS_ELEMENTWISE || kind == GS_CAST)
      add(&t->out, r->axis, r->lo, r->hi);
    else if (folds && item > 0)
      add(&t->out, r->axis - 1, r->lo, r->hi);
  }
}

static void (*const through_table[GS_OP_COUNT])(through *) = {
    [GS_ACCESS] = through_same,
    [GS_MATERIALIZE] = through_same,
    [GS_TRANSPOSE] = through_transpose,
    [GS_CARTPROD] = through_cartprod,
    [GS_PAIR] = through_pair,
    [GS_WINDOWS] = through_windows,
    [GS_SLICE] = through_slice,
    [GS_CONCAT] = through_concat,
    [GS_PAD] = through_pad,
    [GS_SQUEEZE] = through_squeeze,
    [GS_INSERT_AXIS] = through_insert_axis,
    [GS_BROADCAST] = through_broadcast,
    [GS_FLATTEN] = through_reshape,
    [GS_RESHAPE] = through_reshape,
    [GS_REPEAT] = through_repeat,
    [GS_COMPUTE] = through_compute,
};

/* A pad makes zeros; all other operators pass them on. */
static bool
may_have_zeros(gs_op op, const rl_known *kids, uint32_t n) {
  return through_table[op] && n &&
         (kids[0].zeros.i || (n > 1 && kids[1].zeros.i) || op == GS_PAD);
}

bs_value
rl_zeros_of(bs_values *values, gs_op op, bs_value attr, const rl_known *kids,
            uint32_t n, const gs_type *type) {
  through t;
  if (!may_have_zeros(op, kids, n))
    return BS_NIL;
  t.values = values;
  t.attr = attr;
  t.kids = kids;
  t.type = type;
  t.a.n = t.b.n = t.out.n = 0;
  load(values, kids[0].zeros, &t.a);
  if (n > 1)
    load(values, kids[1].zeros, &t.b);
  through_table[op](&t);
  normalise(&t.out, type);
  return store(values, &t.out);
}

/* --- one value ------------------------------------------------------------ */

static bs_value
constant_of_compute(bs_values *values, bs_value attr, bs_value c) {
  bs_value o = bs_item(values, attr, 0);
  gs_compute op;
  if (!gs_compute_of(values, o, &op))
    return BS_NIL;
  double x = bs_as_real(values, c);
  gs_fold fold = gs_compute_table[op].fold;
  if (fold == GS_FOLD_MAX || fold == GS_FOLD_MIN)
    return c;
  if (op == GS_C_RELU)
    return x > 0 ? c : bs_int(values, 0);
  return x == 0 && gs_compute_keeps_zero(values, o, op) ? bs_int(values, 0)
                                                        : BS_NIL;
}

static bs_value
constant_of_pad(bs_values *values, bs_value attr, bs_value c,
                const gs_type *type) {
  const char *kind = bs_as_sym(values, bs_item(values, attr, 0));
  bool zero = !strcmp(kind, "zero") ||
              (!strcmp(kind, "min") && !gs_dtype_table[type->dtype].is_signed);
  if (!strcmp(kind, "edge"))
    return c;
  return zero && bs_as_real(values, c) == 0 ? c : BS_NIL;
}

bs_value
rl_constant_of(bs_values *values, gs_op op, bs_value attr, const rl_known *kids,
               uint32_t n, const gs_type *type) {
  bs_value c = n ? kids[0].constant : BS_NIL;
  if (!c.i)
    return BS_NIL;
  if (op == GS_PAD)
    return constant_of_pad(values, attr, c, type);
  if (op == GS_COMPUTE)
    return constant_of_compute(values, attr, c);
  if (!gs_op_table[op].view && op != GS_MATERIALIZE)
    return BS_NIL;
  return n == 1 || bs_same(c, kids[1].constant) ? c : BS_NIL;
}

/* --- data ----------------------------------------------------------------- */

/* live[k]: some element at place k, counted through all axes, is not zero. */
static void
mark_live(const gs_tensor *t, const gs_type *type, uint8_t *live, bool *same) {
  int64_t index[GS_MAX_RANK] = {0};
  double first = t->elements ? gs_tensor_get(t, 0) : 0;
  for (int64_t i = 0; i < t->elements; i++) {
    double x = gs_tensor_get(t, i);
    *same = *same && x == first;
    for (int64_t d = 0, at = 0; d < type->rank; at += type->dim[d++])
      live[at + index[d]] |= x != 0;
    for (int d = type->rank - 1; d >= 0 && ++index[d] == type->dim[d]; d--)
      index[d] = 0;
  }
}

static void
add_runs(regions *z, uint32_t axis, const uint8_t *live, int64_t n) {
  for (int64_t lo = 0, hi; lo < n; lo = hi + 1) {
    for (hi = lo; hi < n && !live[hi]; hi++)
      continue;
    add(z, axis, lo, hi);
  }
}

static bs_value
number_value(bs_values *values, double x) {
  bool whole = x > -0x1p53 && x < 0x1p53 && x == (double)(int64_t)x;
  return whole ? bs_int(values, (int64_t)x) : bs_real(values, x);
}

bs_value
rl_zeros_of_data(bs_heap *heap, bs_values *values, const gs_constant *c,
                 bs_value *value) {
  gs_tensor t = {.dtype = c->type.dtype,
                 .rank = c->type.rank,
                 .elements = gs_elements(&c->type),
                 .data = (void *)(uintptr_t)c->data};
  regions z = {0};
  int64_t places = 1;
  bool same = true;
  for (uint32_t d = 0; d < c->type.rank; d++)
    places += t.dim[d] = c->type.dim[d];
  uint8_t *live = bs_calloc(heap, (size_t)places, 1);
  mark_live(&t, &c->type, live, &same);
  for (uint32_t d = 0, at = 0; d < c->type.rank; at += c->type.dim[d++])
    add_runs(&z, d, live + at, c->type.dim[d]);
  bs_free(heap, live);
  *value =
      same && t.elements ? number_value(values, gs_tensor_get(&t, 0)) : BS_NIL;
  normalise(&z, &c->type);
  return store(values, &z);
}
