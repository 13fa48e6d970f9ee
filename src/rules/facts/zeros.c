/* SPDX-License-Identifier: MIT */
/* zeros.c - proven zero regions and single values through each operator.
 *
 * A region (axis lo hi) says: every element whose index along `axis` lies in
 * [lo, hi) is 0.  Regions of a class are a list sorted by axis and place,
 * without overlaps, at most MAX_REGIONS of them; where the whole array is zero
 * every axis has its full region.  Views are followed by their rows
 * (glenside/type/view.h).  Dropping a region loses knowledge and never
 * soundness. */
#include "rules/rule/rule_internal.h"
#include "glenside/array/tensor.h"
#include "glenside/type/view.h"
#include "base/whole.h"
#include <assert.h>
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
  assert(gs_is_type(type));
  regions z;
  fill_all(&z, type);
  return store(values, &z);
}

bool
rl_zeros_are_all(const bs_values *values, bs_value zeros, const gs_type *type) {
  regions z;
  if (!zeros.i)
    return false;
  assert(gs_is_type(type));
  load(values, zeros, &z);
  for (uint32_t k = 0; k < z.n; k++)
    if (z.r[k].lo <= 0 && z.r[k].hi >= type->dim[z.r[k].axis])
      return true;
  return false;
}

bs_value
rl_zeros_join(bs_values *values, bs_value a, bs_value b, const gs_type *type) {
  assert(gs_is_type(type));
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
  gs_op op;
  bs_value attr;
  const rl_known *kids;
  const gs_type *type; /* of the result */
  regions a, b;        /* of the children */
  regions out;
} through;

static bool
is_zero(const bs_values *values, const rl_known *kid) {
  return kid->constant.i && bs_as_real(values, kid->constant) == 0;
}

static void
through_same(through *t) {
  t->out = t->a;
}

/* --- views ---------------------------------------------------------------- */

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
  add(&t->out, to, bs_ceil_div(r->lo * inner, width),
      bs_floor_div(r->hi * inner, width));
}

static void
keep_order(through *t) {
  uint32_t n = t->kids[0].type->access, m = t->type->access;
  for (uint32_t k = 0; k < t->a.n; k++) {
    bool in_s = t->a.r[k].axis < n;
    regroup(t, &t->a.r[k], in_s ? 0 : n, in_s ? 0 : m,
            in_s ? m : t->type->rank);
  }
}

/* Where row * i is in the region whatever the other terms of the row are:
 * lo <= times * i + rest < hi for the least and the most of the rest. */
static void
through_term(const gs_view_row *row, uint32_t term, const gs_type *type,
             const region *r, regions *out) {
  int64_t least = row->offset, most = row->offset, by = row->by;
  int64_t times = row->term[term].times, d = row->term[term].of;
  for (uint32_t k = 0; k < row->n; k++) {
    int64_t far = row->term[k].times * (type->dim[row->term[k].of] - 1);
    least += k != term && far < 0 ? far : 0;
    most += k != term && far > 0 ? far : 0;
  }
  int64_t lo = (row->divided ? r->lo * by : r->lo) - least;
  int64_t hi = (row->divided ? r->hi * by : r->hi) - 1 - most;
  int64_t first = times > 0 ? bs_ceil_div(lo, times) : bs_ceil_div(-hi, -times);
  int64_t last =
      times > 0 ? bs_floor_div(hi, times) : bs_floor_div(-lo, -times);
  add(out, d, bs_clamp(first, 0, type->dim[d]),
      bs_clamp(last + 1, 0, type->dim[d]));
}

/* The regions of a part, were it all of the view; true where it is zero
 * throughout. */
static bool
through_part(const through *t, const gs_view_part *part, regions *out) {
  const regions *z = part->kid ? &t->b : &t->a;
  out->n = 0;
  if (part->source == GS_VIEW_LOWEST)
    return !gs_dtype_table[t->type->dtype].is_signed;
  if (part->source == GS_VIEW_ZERO || is_zero(t->values, &t->kids[part->kid]))
    return true;
  for (uint32_t k = 0; k < z->n; k++) {
    const gs_view_row *row = &part->row[z->r[k].axis];
    for (uint32_t i = 0; i < row->n; i++)
      through_term(row, i, t->type, &z->r[k], out);
    if (!row->n && row->offset >= z->r[k].lo && row->offset < z->r[k].hi)
      return true;
  }
  return false;
}

/* What is zero in both. */
static void
intersect(regions *out, const regions *a, const regions *b) {
  for (uint32_t i = 0; i < a->n; i++)
    for (uint32_t j = 0; j < b->n; j++) {
      const region *x = &a->r[i], *y = &b->r[j];
      if (x->axis == y->axis)
        add(out, x->axis, x->lo > y->lo ? x->lo : y->lo,
            x->hi < y->hi ? x->hi : y->hi);
    }
}

/* Along the axis of the parts each has regions of its own. */
static void
along_axis(const gs_view *v, const gs_view_part *part, bool all,
           const regions *of, regions *out) {
  if (all)
    add(out, v->axis, part->from, part->to);
  for (uint32_t k = 0; k < of->n && !all; k++)
    if (of->r[k].axis == v->axis)
      add(out, v->axis, bs_clamp(of->r[k].lo, part->from, part->to),
          bs_clamp(of->r[k].hi, part->from, part->to));
}

/* Along the others, what is zero in all of them: `common`, once there was a
 * part that is not zero throughout. */
static void
through_parts(through *t, const gs_view *v) {
  regions common = {0}, of, both;
  bool found = false;
  for (uint32_t k = 0; k < v->n; k++) {
    if (v->part[k].from >= v->part[k].to)
      continue;
    bool all = through_part(t, &v->part[k], &of);
    along_axis(v, &v->part[k], all, &of, &t->out);
    if (all)
      continue;
    both.n = 0;
    if (found)
      intersect(&both, &common, &of);
    common = found ? both : of;
    found = true;
  }
  for (uint32_t k = 0; k < common.n; k++)
    if (common.r[k].axis != v->axis)
      add(&t->out, common.r[k].axis, common.r[k].lo, common.r[k].hi);
}

static void
through_view(through *t) {
  const gs_type *kids[2] = {t->kids[0].type, t->kids[0].type};
  gs_view v;
  if (gs_op_table[t->op].kids > 1)
    kids[1] = t->kids[1].type;
  gs_view_of(&(gs_viewed){.values = t->values,
                          .op = t->op,
                          .attr = t->attr,
                          .kids = kids,
                          .type = t->type},
             &v);
  if (v.keeps_order)
    keep_order(t);
  else if (v.n > 1)
    through_parts(t, &v);
  else if (through_part(t, &v.part[0], &t->out))
    fill_all(&t->out, t->type);
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

static bool
may_have_zeros(gs_op op, const rl_known *kids, uint32_t n) {
  bool known = n && (kids[0].zeros.i || (n > 1 && kids[1].zeros.i));
  bool makes = op == GS_PAD; /* all other operators pass them on */
  return makes || (known && op != GS_CALL);
}

bs_value
rl_zeros_of(bs_values *values, gs_op op, bs_value attr, const rl_known *kids,
            uint32_t n, const gs_type *type) {
  assert(op < GS_OP_COUNT && (kids || !n));
  through t;
  if (!may_have_zeros(op, kids, n))
    return BS_NIL;
  t.values = values;
  t.op = op;
  t.attr = attr;
  t.kids = kids;
  t.type = type;
  t.a.n = t.b.n = t.out.n = 0;
  load(values, kids[0].zeros, &t.a);
  if (n > 1)
    load(values, kids[1].zeros, &t.b);
  if (op == GS_COMPUTE)
    through_compute(&t);
  else if (gs_op_table[op].view)
    through_view(&t);
  else
    through_same(&t);
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
  gs_padding kind = GS_PADDING_ZERO;
  bool zero = false;
  gs_padding_of(values, bs_item(values, attr, 0), &kind);
  switch (kind) {
  case GS_PADDING_EDGE:
    return c;
  case GS_PADDING_MIN:
    zero = !gs_dtype_table[type->dtype].is_signed;
    break;
  case GS_PADDING_ZERO:
  case GS_PADDING_COUNT:
    zero = true;
  }
  return zero && bs_as_real(values, c) == 0 ? c : BS_NIL;
}

bs_value
rl_constant_of(bs_values *values, gs_op op, bs_value attr, const rl_known *kids,
               uint32_t n, const gs_type *type) {
  assert(op < GS_OP_COUNT && (kids || !n));
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
  assert(gs_is_type(&c->type) && c->data);
  gs_tensor t = gs_tensor_of(c);
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
