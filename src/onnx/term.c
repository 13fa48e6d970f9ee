/* SPDX-License-Identifier: MIT */
/* term.c - terms of the program that a model becomes.
 *
 * Each function makes one operator; what has no type is a fault of the node,
 * told with what inference says of it. */
#include "onnx/onnx_range.h"
#include "onnx/sized.h"

#include <assert.h>
#include <string.h>

static gs_term
add(on_import *im, gs_op op, const bs_value *items, uint32_t n_items,
    const gs_term *kids, uint32_t n_kids) {
  gs_fault fault;
  for (uint32_t k = 0; k < n_kids; k++)
    if (!gs_term_ok(kids[k]) || im->failed) {
      im->failed = true;
      return GS_NO_TERM;
    }
  gs_term t = gs_add(im->p, op, bs_list(im->ctx->values, items, n_items), kids,
                     n_kids, BS_NOWHERE, &fault);
  if (!gs_term_ok(t))
    on_fail(im, "%s", fault.message);
  else
    on_note_range(im, t);
  return t;
}

static bs_value
whole(on_import *im, int64_t v) {
  return bs_int(im->ctx->values, v);
}

static bs_value
list(on_import *im, const int64_t *v, uint32_t n) {
  return bs_ints(im->ctx->values, v, n);
}

bool
t_type(on_import *im, gs_term t, gs_type *out) {
  if (!gs_term_ok(t)) {
    im->failed = true;
    *out = (gs_type){0};
    return false;
  }
  gs_type_at(im->p, t, out);
  return !im->failed;
}

gs_term
t_access(on_import *im, gs_term a, int64_t n) {
  gs_type type;
  bs_value items[] = {whole(im, n)};
  if (t_type(im, a, &type) && type.access == n)
    return a;
  return add(im, GS_ACCESS, items, 1, &a, 1);
}

gs_term
t_whole(on_import *im, gs_term a) {
  gs_type type;
  return t_type(im, a, &type) ? t_access(im, a, type.rank) : GS_NO_TERM;
}

gs_term
t_transpose(on_import *im, gs_term a, const int64_t *order, uint32_t n) {
  assert(n <= GS_MAX_RANK);
  bs_value items[] = {list(im, order, n)};
  bool moves = false;
  for (uint32_t k = 0; k < n; k++)
    moves |= order[k] != k;
  return moves ? add(im, GS_TRANSPOSE, items, 1, &a, 1) : a;
}

gs_term
t_pair(on_import *im, gs_term a, gs_term b) {
  return add(im, GS_PAIR, NULL, 0, (gs_term[]){a, b}, 2);
}

gs_term
t_cartprod(on_import *im, gs_term a, gs_term b) {
  return add(im, GS_CARTPROD, NULL, 0, (gs_term[]){a, b}, 2);
}

gs_term
t_windows(on_import *im, gs_term a, const int64_t *shape, const int64_t *stride,
          const int64_t *dilation, uint32_t n) {
  assert(n <= GS_MAX_RANK);
  bs_value items[] = {list(im, shape, n), list(im, stride, n),
                      list(im, dilation, n)};
  return add(im, GS_WINDOWS, items, 3, &a, 1);
}

/* A dimension that a model names may not be there: then the term is refused. */
static bool
has_dimension(const gs_type *type, int64_t d) {
  return d >= 0 && d < type->rank;
}

gs_term
t_slice(on_import *im, gs_term a, int64_t d, int64_t lo, int64_t hi) {
  gs_type type;
  bs_value items[] = {whole(im, d), whole(im, lo), whole(im, hi)};
  if (t_type(im, a, &type) && has_dimension(&type, d) && !lo &&
      hi == type.dim[d])
    return a;
  return add(im, GS_SLICE, items, 3, &a, 1);
}

gs_term
t_concat(on_import *im, gs_term a, gs_term b, int64_t d) {
  bs_value items[] = {whole(im, d)};
  return add(im, GS_CONCAT, items, 1, (gs_term[]){a, b}, 2);
}

gs_term
t_pad(on_import *im, gs_term a, const char *kind, int64_t d, int64_t before,
      int64_t after) {
  gs_type type;
  if (!t_type(im, a, &type))
    return GS_NO_TERM;
  gs_number size = has_dimension(&type, d) ? type.dim[d] : 0;
  a = t_slice(im, a, d, before < 0 ? -before : 0,
              gs_plus(on_over(im), size, after < 0 ? after : 0));
  before = before < 0 ? 0 : before;
  after = after < 0 ? 0 : after;
  bs_value items[] = {bs_sym(im->ctx->values, kind), whole(im, d),
                      whole(im, before), whole(im, after)};
  return before || after ? add(im, GS_PAD, items, 4, &a, 1) : a;
}

gs_term
t_squeeze(on_import *im, gs_term a, int64_t d) {
  bs_value items[] = {whole(im, d)};
  return add(im, GS_SQUEEZE, items, 1, &a, 1);
}

gs_term
t_insert(on_import *im, gs_term a, int64_t d) {
  bs_value items[] = {whole(im, d)};
  return add(im, GS_INSERT_AXIS, items, 1, &a, 1);
}

gs_term
t_broadcast(on_import *im, gs_term a, const int64_t *dim, uint32_t n) {
  assert(dim || !n);
  gs_type type;
  bs_value items[] = {list(im, dim, n)};
  if (t_type(im, a, &type) && type.rank == n &&
      (!n || !memcmp(type.dim, dim, n * sizeof *dim)))
    return a;
  return add(im, GS_BROADCAST, items, 1, &a, 1);
}

gs_term
t_reshape(on_import *im, gs_term a, const int64_t *s, uint32_t n_s,
          const int64_t *c, uint32_t n_c) {
  assert((s || !n_s) && (c || !n_c));
  gs_type type;
  bs_value items[] = {list(im, s, n_s), list(im, c, n_c)};
  if (t_type(im, a, &type) && !n_c && type.rank == n_s && type.access == n_s &&
      (!n_s || !memcmp(type.dim, s, n_s * sizeof *s)))
    return a;
  return add(im, GS_RESHAPE, items, 2, &a, 1);
}

gs_term
t_repeat(on_import *im, gs_term a, int64_t d, int64_t times) {
  bs_value items[] = {whole(im, d), whole(im, times)};
  return times == 1 ? a : add(im, GS_REPEAT, items, 2, &a, 1);
}

gs_term
t_reverse(on_import *im, gs_term a, int64_t d) {
  bs_value item = whole(im, d);
  return add(im, GS_REVERSE, &item, 1, &a, 1);
}

/* ---- computations ---- */

/* Has the dtype of these elements the operator?  *in: else the one to compute
 * in.  An f64 holds each i64; that its result does, too, is looked at. */
static bool
takes(on_import *im, bs_value op, gs_term a, gs_dtype *own, gs_dtype *in) {
  gs_type type;
  gs_compute which;
  if (!t_type(im, a, &type) || !gs_compute_of(im->ctx->values, op, &which) ||
      !gs_is_wide(type.dtype))
    return true;
  *own = type.dtype;
  *in = GS_F64;
  if (gs_compute_takes(which, type.dtype))
    return true;
  if (type.dtype == GS_U32)
    on_fail(im, "uint32 is not computed with");
  return false;
}

/* What was computed in place of its dtype, in that dtype. */
static gs_term
narrowed(on_import *im, gs_dtype own, gs_term a) {
  return gs_term_ok(a) && own == GS_I64 && !on_is_exact(im, a)
             ? GS_NO_TERM
             : t_cast(im, own, a);
}

static gs_term
compute(on_import *im, bs_value op, gs_term a) {
  gs_dtype own, in;
  if (takes(im, op, a, &own, &in))
    return add(im, GS_COMPUTE, &op, 1, &a, 1);
  a = t_cast(im, in, a);
  return narrowed(im, own, add(im, GS_COMPUTE, &op, 1, &a, 1));
}

gs_term
t_compute(on_import *im, const char *op, gs_term a) {
  return compute(im, bs_sym(im->ctx->values, op), a);
}

gs_term
t_compute1(on_import *im, const char *op, double v, gs_term a) {
  bs_values *values = im->ctx->values;
  bs_value items[] = {bs_sym(values, op), bs_real(values, v)};
  return compute(im, bs_list(values, items, 2), a);
}

gs_term
t_scale(on_import *im, double by, gs_term a) {
  return t_compute1(im, "scale", by, a);
}

gs_term
t_offset(on_import *im, double by, gs_term a) {
  return t_compute1(im, "offset", by, a);
}

gs_term
t_lookup(on_import *im, int64_t size, gs_term both) {
  bs_values *values = im->ctx->values;
  bs_value items[] = {bs_sym(values, "lookup"), bs_int(values, size)};
  return compute(im, bs_list(values, items, 2), both);
}

gs_term
t_clip(on_import *im, double lo, double hi, gs_term a) {
  bs_values *values = im->ctx->values;
  bs_value items[] = {bs_sym(values, "clip"), bs_real(values, lo),
                      bs_real(values, hi)};
  return compute(im, bs_list(values, items, 3), a);
}

gs_term
t_cast(on_import *im, gs_dtype to, gs_term a) {
  assert(to < GS_DTYPE_COUNT);
  bs_values *values = im->ctx->values;
  gs_type type;
  bs_value items[] = {bs_sym(values, "cast"),
                      bs_sym(values, gs_dtype_table[to].name)};
  if (t_type(im, a, &type) && type.dtype == to)
    return a;
  return compute(im, bs_list(values, items, 2), a);
}

gs_term
t_widened(on_import *im, gs_term a) {
  gs_type type;
  return t_type(im, a, &type) && gs_is_half(type.dtype) ? t_cast(im, GS_F32, a)
                                                        : a;
}

/* Where no input is f32, what is f32 is a sum of half floats, and what it is
 * combined with is widened, too: the result is rounded once. */
static bool
is_sum_of_halves(on_import *im, gs_term a, gs_term b) {
  gs_type x, y;
  if (!t_type(im, a, &x) || !t_type(im, b, &y) || x.dtype == y.dtype)
    return false;
  for (uint32_t k = 0; k < on_inputs(im); k++)
    if (on_in(im, k) && on_type_in(im, k) == ON_FLOAT)
      return false;
  return (x.dtype == GS_F32 && gs_is_half(y.dtype)) ||
         (y.dtype == GS_F32 && gs_is_half(x.dtype));
}

gs_term
t_fold(on_import *im, const char *op, gs_term a, gs_term b) {
  gs_dtype own, in;
  if (is_sum_of_halves(im, a, b)) {
    a = t_widened(im, a);
    b = t_widened(im, b);
  }
  if (takes(im, bs_sym(im->ctx->values, op), a, &own, &in))
    return t_compute(im, op, t_pair(im, a, b));
  a = t_pair(im, t_cast(im, in, a), t_cast(im, in, b));
  return narrowed(im, own, t_compute(im, op, a));
}

gs_term
t_scan(on_import *im, bs_value attr, const gs_term *kids, uint32_t n) {
  assert(kids || !n);
  bs_value step = bs_item(im->ctx->values, attr, 0);
  return add(im, GS_SCAN, &step, 1, kids, n);
}

gs_term
t_select(on_import *im, gs_term c, gs_term a, gs_term b) {
  gs_type type;
  if (!t_type(im, b, &type))
    return GS_NO_TERM;
  gs_term two = t_pair(im, c, a);
  gs_term third = t_access(im, t_insert(im, b, type.rank), type.rank);
  return t_compute(im, "select", t_concat(im, two, third, type.rank));
}

/* ---- shapes ---- */

gs_term
t_fit(on_import *im, gs_term a, const int64_t *dim, uint32_t rank) {
  assert(rank <= GS_MAX_RANK);
  gs_type type;
  if (!t_type(im, a, &type))
    return GS_NO_TERM;
  for (uint32_t k = type.rank; k < rank; k++)
    a = t_insert(im, a, 0);
  return t_broadcast(im, a, dim, rank);
}

bool
t_common(on_import *im, const gs_type *a, const gs_type *b, gs_type *out) {
  assert(a->rank <= GS_MAX_RANK && b->rank <= GS_MAX_RANK);
  if (a->rank < b->rank) {
    const gs_type *c = a;
    a = b;
    b = c;
  }
  *out = *a;
  for (uint32_t k = 0; k < b->rank; k++) {
    int64_t *size = &out->dim[a->rank - b->rank + k];
    if (*size != b->dim[k] && *size != 1 && b->dim[k] != 1)
      return on_fail(im, "shapes that do not fit: sizes %s and %s",
                     on_number(im, *size), on_number(im, b->dim[k]));
    *size = *size == 1 ? b->dim[k] : *size;
  }
  return true;
}

gs_term
t_stride(on_import *im, gs_term a, int64_t d, int64_t step) {
  gs_type type;
  int64_t ones[GS_MAX_RANK], stride[GS_MAX_RANK];
  if (!t_type(im, a, &type) || step == 1)
    return a;
  if (!has_dimension(&type, d))
    return t_slice(im, a, d, 0, 0);
  for (uint32_t k = 0; k < type.rank; k++)
    ones[k] = stride[k] = 1;
  stride[d] = step;
  a = t_windows(im, t_access(im, a, d), ones, stride + d, ones,
                type.rank - (uint32_t)d);
  for (uint32_t k = (uint32_t)d; k < type.rank; k++)
    a = t_squeeze(im, a, type.rank);
  return t_whole(im, a);
}

gs_term
t_axes_last(on_import *im, gs_term a, const bool *axes, int64_t *order) {
  gs_type type;
  uint32_t n = 0;
  if (!t_type(im, a, &type))
    return GS_NO_TERM;
  for (uint32_t k = 0; k < type.rank; k++)
    if (!axes[k])
      order[n++] = k;
  uint32_t kept = n;
  for (uint32_t k = 0; k < type.rank; k++)
    if (axes[k])
      order[n++] = k;
  return t_access(im, t_transpose(im, a, order, n), kept);
}

gs_term
t_keep_axes(on_import *im, gs_term a, const bool *axes, uint32_t rank) {
  assert(rank <= GS_MAX_RANK);
  for (uint32_t k = 0; k < rank; k++)
    if (axes[k])
      a = t_insert(im, a, k);
  return a;
}
