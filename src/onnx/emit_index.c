/* SPDX-License-Identifier: MIT */
/* emit_index.c - elements along an axis that indices choose.
 *
 * A table and its indices have one dtype in a look-up, so the indices are cast
 * to that of the table where it holds them all, or both to one that does. */
#include "onnx/sized.h"

#include <assert.h>
#include <string.h>

enum { EXACT_IN_F32 = 1 << 24 };

/* As i32, in which those that are out of range stay out of range. */
static gs_term
narrow_index(on_import *im, gs_term at, int64_t size) {
  gs_type type;
  if (!t_type(im, at, &type) || !gs_is_wide(type.dtype))
    return t_cast(im, GS_I32, at);
  at = t_cast(im, GS_F64, at);
  return t_cast(im, GS_I32, t_clip(im, (double)(-size - 1), (double)size, at));
}

/* Below 0 they count from the end. */
gs_term
t_from_end(on_import *im, gs_term at, int64_t size) {
  assert(size >= 1);
  if (size >= INT32_MAX)
    on_fail(im, "a dimension is too large for indices");
  at = narrow_index(im, at, size);
  return t_select(im, t_compute(im, "neg", at), t_offset(im, (double)size, at),
                  at);
}

static gs_dtype
dtype_of_lookup(gs_dtype d, int64_t size) {
  assert(d < GS_DTYPE_COUNT);
  switch (d) {
  case GS_I64:
  case GS_U32:
    return GS_F64;
  case GS_F64:
  case GS_I32:
    return d;
  case GS_I8:
  case GS_U8:
  case GS_I16:
  case GS_U16:
  case GS_BOOL:
    return GS_I32;
  case GS_F32:
  case GS_BF16:
  case GS_F16:
    return size <= EXACT_IN_F32 ? GS_F32 : GS_F64;
  case GS_DTYPE_COUNT:
    break;
  }
  return d;
}

gs_term
t_look_up(on_import *im, gs_term table, gs_term at) {
  gs_type t;
  if (!t_type(im, table, &t))
    return GS_NO_TERM;
  int64_t size = t.dim[t.access];
  gs_dtype d = dtype_of_lookup(t.dtype, size);
  gs_term both =
      t_concat(im, t_cast(im, d, table), t_cast(im, d, at), t.access);
  return t_cast(im, t.dtype, t_lookup(im, size, both));
}

gs_term
t_axis_last(on_import *im, gs_term x, uint32_t axis) {
  gs_type t;
  bool axes[GS_MAX_RANK] = {0};
  int64_t order[GS_MAX_RANK];
  if (!t_type(im, x, &t) || axis >= t.rank)
    return GS_NO_TERM;
  axes[axis] = true;
  return t_axes_last(im, x, axes, order);
}

/* The last dimension goes where `axis` was. */
gs_term
t_axis_back(on_import *im, gs_term x, uint32_t axis) {
  gs_type t;
  int64_t order[GS_MAX_RANK];
  if (!t_type(im, x, &t))
    return GS_NO_TERM;
  for (uint32_t k = 0; k < t.rank; k++)
    order[k] = k < axis ? k : k == axis ? t.rank - 1u : k - 1;
  return t_transpose(im, t_whole(im, x), order, t.rank);
}

/* ---- gather ---- */

/* The place that index k names. */
static gs_number
place_of(const on_import *im, const on_array *at, int64_t k, gs_number size) {
  assert(k >= 0 && k < at->n);
  int64_t i = on_int(at, k);
  return i < 0 ? gs_plus(on_over(im), size, i) : i;
}

/* Runs of neighbours are slices. */
static gs_term
gather_known(on_import *im, gs_term x, const on_array *at, uint32_t axis,
             gs_number size) {
  const gs_numbers *over = on_over(im);
  gs_term out = GS_NO_TERM;
  for (int64_t k = at->n; k > 0;) {
    int64_t first = k - 1;
    gs_number last = place_of(im, at, first, size), lo = last;
    while (first > 0 &&
           place_of(im, at, first - 1, size) == gs_plus(over, lo, -1)) {
      first--;
      lo = gs_plus(over, lo, -1);
    }
    if (on_ask(im, lo, false) != 1 ||
        on_ask(im, gs_combine(over, 1, size, -1, last, -1), false) != 1) {
      on_fail(im, "an index is out of range");
      return GS_NO_TERM;
    }
    gs_term part = t_slice(im, x, axis, lo, gs_plus(over, last, 1));
    out = gs_term_ok(out) ? t_concat(im, part, out, axis) : part;
    k = first;
  }
  return out;
}

/* Indices of several dimensions, of which all but the last are iterated over:
 * their product need not be affine. */
static gs_term
gather_apart(on_import *im, gs_term x, gs_term at, uint32_t axis) {
  gs_type t, index;
  gs_term table = t_axis_last(im, x, axis);
  if (!t_type(im, table, &t) || !t_type(im, at, &index))
    return GS_NO_TERM;
  uint32_t outer = index.rank - 1u, rank = t.rank + outer;
  int64_t dim[2 * GS_MAX_RANK], order[GS_MAX_RANK];
  if (rank > GS_MAX_RANK) {
    on_fail(im, "it has too many dimensions");
    return GS_NO_TERM;
  }
  at = t_from_end(im, at, t.dim[t.access]);
  /* (indices..., table...) of both, the look-up's dimension last. */
  memcpy(dim, index.dim, outer * sizeof *dim);
  memcpy(dim + outer, t.dim, t.rank * sizeof *dim);
  table = t_fit(im, t_whole(im, table), dim, rank);
  for (uint32_t k = 0; k + 1 < t.rank; k++)
    at = t_insert(im, at, outer);
  dim[rank - 1] = index.dim[outer];
  at = t_fit(im, at, dim, rank);
  x = t_look_up(im, t_access(im, table, rank - 1), t_access(im, at, rank - 1));
  /* (indices..., before the axis, behind it, last index) */
  for (uint32_t k = 0; k < axis; k++)
    order[k] = outer + k;
  for (uint32_t k = 0; k < outer; k++)
    order[axis + k] = k;
  order[axis + outer] = rank - 1;
  for (uint32_t k = axis + outer + 1; k < rank; k++)
    order[k] = k - 1;
  return t_transpose(im, t_whole(im, x), order, rank);
}

/* A list of indices chooses along the axis, the same at all others. */
static gs_term
gather_at_run_time(on_import *im, gs_term x, gs_term at, uint32_t axis,
                   int64_t n) {
  gs_type t;
  gs_term table = t_axis_last(im, x, axis);
  if (!t_type(im, table, &t))
    return GS_NO_TERM;
  at = t_reshape(im, t_from_end(im, at, t.dim[t.access]), &n, 1, NULL, 0);
  t.dim[t.access] = n;
  at = t_access(im, t_fit(im, at, t.dim, t.rank), t.access);
  return t_axis_back(im, t_look_up(im, table, at), axis);
}

enum { MOST_RUNS = 64 };

/* Few slices are better than a look-up; many are not. */
static bool
is_of_few_runs(const on_array *at) {
  int64_t runs = 1;
  for (int64_t k = 1; k < at->n && runs <= MOST_RUNS; k++)
    runs += on_int(at, k) != on_int(at, k - 1) + 1;
  return runs <= MOST_RUNS;
}

void
emit_gather(on_import *im) {
  gs_type type, at;
  uint32_t axis;
  gs_term x = on_term_in(im, 0);
  if (!t_type(im, x, &type) || !on_shape_in(im, 1, &at) ||
      !on_axis(im, on_attr_int(im, "axis", 0), type.rank, &axis))
    return;
  const on_value *index = on_in(im, 1);
  gs_number n = on_product(im, at.dim, at.rank);
  bool known = index->array && is_of_few_runs(index->array);
  if (!known && on_is_sized(im, type.dim[axis])) {
    on_fail(im, "its axis has a size that is open");
    return;
  }
  if (n < 1 || type.rank + at.rank > GS_MAX_RANK + 1) {
    on_fail(im, "it has no indices, or too many dimensions");
    return;
  }
  if (!known && at.rank && on_is_sized(im, n)) {
    on_out(im, 0, gather_apart(im, x, on_term_in(im, 1), axis),
           on_type_in(im, 0));
    return;
  }
  x = known ? gather_known(im, x, index->array, axis, type.dim[axis])
            : gather_at_run_time(im, x, on_term_in(im, 1), axis, n);
  int64_t dim[2 * GS_MAX_RANK];
  memcpy(dim, type.dim, axis * sizeof *dim);
  memcpy(dim + axis, at.dim, at.rank * sizeof *dim);
  memcpy(dim + axis + at.rank, type.dim + axis + 1,
         (type.rank - axis - 1) * sizeof *dim);
  if (at.rank == 0)
    x = t_squeeze(im, x, axis);
  else
    x = t_reshape(im, x, dim, type.rank + at.rank - 1, NULL, 0);
  on_out(im, 0, x, on_type_in(im, 0));
}

/* ---- what a known value chooses ---- */

/* Where a list of conditions holds. */
static on_array *
places_where(on_import *im, const on_array *condition, int64_t size) {
  int64_t n = 0;
  for (int64_t k = 0; k < condition->n; k++)
    n += on_int(condition, k) != 0;
  if (condition->rank != 1 || condition->n > size || !n) {
    on_fail(im, "its condition is no list up to as long as the axis, or leaves "
                "nothing");
    return NULL;
  }
  on_array *at = on_array_new(im, ON_INT64, &n, 1);
  for (int64_t k = 0, to = 0; at && k < condition->n; k++)
    if (on_int(condition, k))
      on_set_int(at, to++, k);
  return at;
}

/* Elements where the condition holds, of the axis or of all as one list. */
void
emit_compress(on_import *im) {
  gs_type type;
  uint32_t axis = 0;
  gs_term x = on_term_in(im, 0);
  const on_array *condition = on_array_in(im, 1);
  if (!t_type(im, x, &type) || !condition)
    return;
  if (on_attr(im, "axis")) {
    if (!on_axis(im, on_attr_int(im, "axis", 0), type.rank, &axis))
      return;
  } else {
    type.dim[0] = on_product(im, type.dim, type.rank);
    x = t_reshape(im, x, type.dim, 1, NULL, 0);
  }
  on_array *at = places_where(im, condition, type.dim[axis]);
  if (!at)
    return;
  x = is_of_few_runs(at)
          ? gather_known(im, x, at, axis, type.dim[axis])
          : gather_at_run_time(im, x, t_constant(im, at), axis, at->n);
  on_out(im, 0, x, on_type_in(im, 0));
}

enum { MOST_SEQUENCES = 256 };

/* Of one sequence: what is before its length goes the other way. */
static gs_term
reversed_before(on_import *im, gs_term x, uint32_t time, int64_t length,
                int64_t size) {
  if (length < 2)
    return x;
  gs_term front = t_reverse(im, t_slice(im, x, time, 0, length), (int64_t)time);
  return length == size
             ? front
             : t_concat(im, front, t_slice(im, x, time, length, size), time);
}

void
emit_reverse_sequence(on_import *im) {
  gs_type type;
  uint32_t batch, time;
  gs_term x = on_term_in(im, 0), out = GS_NO_TERM;
  const on_array *lengths = on_array_in(im, 1);
  if (!t_type(im, x, &type) || !lengths ||
      !on_axis(im, on_attr_int(im, "batch_axis", 1), type.rank, &batch) ||
      !on_axis(im, on_attr_int(im, "time_axis", 0), type.rank, &time))
    return;
  if (batch == time || lengths->rank != 1 || lengths->n != type.dim[batch] ||
      lengths->n > MOST_SEQUENCES) {
    on_fail(im,
            "its axes are one, or its lengths are not one for each of at "
            "most %d sequences",
            MOST_SEQUENCES);
    return;
  }
  for (int64_t k = 0; k < lengths->n; k++) {
    int64_t length = on_int(lengths, k);
    if (length < 0 || length > type.dim[time]) {
      on_fail(im, "a length is below 0 or above that of the axis");
      return;
    }
    gs_term one = reversed_before(im, t_slice(im, x, batch, k, k + 1), time,
                                  length, type.dim[time]);
    out = gs_term_ok(out) ? t_concat(im, out, one, batch) : one;
  }
  on_out(im, 0, out, on_type_in(im, 0));
}

void
emit_gather_elements(on_import *im) {
  gs_type type, index;
  uint32_t axis;
  gs_term x = on_term_in(im, 0), at = on_term_in(im, 1);
  if (!t_type(im, x, &type) || !t_type(im, at, &index) ||
      !on_axis(im, on_attr_int(im, "axis", 0), type.rank, &axis))
    return;
  if (index.rank != type.rank) {
    on_fail(im, "its indices differ in rank from its data");
    return;
  }
  if (on_is_sized(im, type.dim[axis])) {
    on_fail(im, "its axis has a size that is open");
    return;
  }
  if (!on_check_places(im, 1, type.dim + axis, 1))
    return;
  for (uint32_t k = 0; k < type.rank; k++)
    if (k != axis)
      x = t_slice(im, x, k, 0, index.dim[k]);
  at = t_from_end(im, at, type.dim[axis]);
  x = t_look_up(im, t_axis_last(im, x, axis), t_axis_last(im, at, axis));
  on_out(im, 0, t_axis_back(im, x, axis), on_type_in(im, 0));
}

/* ---- indices that are computed ---- */

/* 0, 1, ... n - 1 */
gs_term
t_iota(on_import *im, gs_dtype d, int64_t n) {
  assert(d < GS_DTYPE_COUNT);
  on_array *a = on_array_new(im,
                             d == GS_F64   ? ON_DOUBLE
                             : d == GS_F32 ? ON_FLOAT
                                           : ON_INT32,
                             &n, 1);
  for (int64_t k = 0; a && k < n; k++)
    if (on_is_real(a))
      on_set_real(a, k, (double)k);
    else
      on_set_int(a, k, k);
  if (!a)
    return GS_NO_TERM;
  a->name = "index";
  return t_constant(im, a);
}

/* 1 where whole numbers, whose difference does not wrap, are equal. */
gs_term
t_same_index(on_import *im, gs_term a, gs_term b) {
  gs_term far = t_clip(im, 0, 1, t_compute(im, "abs", t_fold(im, "sub", a, b)));
  return t_offset(im, 1, t_compute(im, "neg", far));
}

/* The place of the largest or smallest element, of several the first or the
 * last: places of others are beyond all of them. */
void
emit_arg(on_import *im) {
  gs_type t;
  uint32_t axis;
  bool axes[GS_MAX_RANK] = {0}, most = im->row->which == ON_REDUCE_MAX;
  bool last = on_attr_int(im, "select_last_index", 0) != 0;
  gs_term x = t_widened(im, t_compared(im, on_term_in(im, 0)));
  if (!t_type(im, x, &t) ||
      !on_axis(im, on_attr_int(im, "axis", 0), t.rank, &axis))
    return;
  axes[axis] = true;
  x = t_axis_last(im, x, axis);
  gs_term best = t_compute(im, most ? "reduceMax" : "reduceMin", x);
  if (!t_type(im, x, &t))
    return;
  best = t_broadcast(im, t_insert(im, best, t.access), t.dim, t.rank);
  x = t_whole(im, x);
  gs_term behind = t_fold(im, "sub", most ? best : x, most ? x : best);
  int64_t n = t.dim[t.access];
  gs_term place = t_fit(im, t_iota(im, t.dtype, n), t.dim, t.rank);
  gs_term none = t_value(im, t.dtype, last ? -1 : (double)n, t.dim, t.rank);
  x = t_access(im, t_select(im, behind, none, place), t.access);
  x = t_compute(im, last ? "reduceMax" : "reduceMin", x);
  x = t_cast(im, GS_I64, t_whole(im, x));
  if (on_attr_int(im, "keepdims", 1))
    x = t_keep_axes(im, x, axes, t.rank);
  on_out(im, 0, x, ON_INT64);
}
