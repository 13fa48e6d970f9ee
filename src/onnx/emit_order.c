/* SPDX-License-Identifier: MIT */
/* emit_order.c - the order of elements along an axis, and sums along it.
 *
 * TopK counts: an element stands behind all that are larger, and behind those
 * before it that are equal.  The one of a given place is then the one whose
 * count it is. */
#include "onnx/onnx_import.h"

#include <string.h>

enum { MOST_COMPARED = 1 << 28 };

/* ((s...), (n)) as (s..., n, n), the element of the last index but one, or of
 * the last. */
static gs_term
against(on_import *im, gs_term x, const gs_type *t, bool last) {
  int64_t dim[GS_MAX_RANK + 1];
  memcpy(dim, t->dim, t->rank * sizeof *dim);
  dim[t->rank] = t->dim[t->rank - 1];
  x = t_insert(im, t_whole(im, x), last ? t->access : t->access + 1);
  return t_broadcast(im, x, dim, t->rank + 1u);
}

static gs_term
counts_of_larger(on_import *im, gs_term x, const gs_type *t, bool largest) {
  gs_type all;
  gs_term mine = against(im, x, t, false), other = against(im, x, t, true);
  gs_term behind =
      t_fold(im, "sub", largest ? other : mine, largest ? mine : other);
  if (!t_type(im, behind, &all))
    return GS_NO_TERM;
  gs_term order = t_iota(im, t->dtype, t->dim[t->access]);
  gs_term row = t_fit(im, t_insert(im, order, 1), all.dim, all.rank);
  gs_term column = t_fit(im, order, all.dim, all.rank);
  gs_term before = t_clip(im, 0, 1, t_fold(im, "sub", row, column));
  gs_term none = t_value(im, t->dtype, 0, all.dim, all.rank);
  gs_term one = t_value(im, t->dtype, 1, all.dim, all.rank);
  before = t_select(im, t_compute(im, "neg", behind), none, before);
  before = t_select(im, behind, one, before);
  return t_compute(im, "reduceSum", t_access(im, before, t->rank));
}

/* Of counts (s..., n) the place of each of 0 .. k - 1: ((s...), (k)). */
static gs_term
places_of(on_import *im, gs_term counts, int64_t k) {
  gs_type t;
  if (!t_type(im, counts, &t))
    return GS_NO_TERM;
  uint32_t s = t.rank - 1u;
  int64_t n = t.dim[s];
  t.dim[s] = k;
  t.dim[s + 1] = n;
  counts = t_broadcast(im, t_insert(im, counts, s), t.dim, s + 2);
  gs_term wanted = t_insert(im, t_iota(im, t.dtype, k), 1);
  wanted = t_fit(im, wanted, t.dim, s + 2);
  gs_term place = t_fit(im, t_iota(im, t.dtype, n), t.dim, s + 2);
  place = t_fold(im, "mul", t_same_index(im, counts, wanted), place);
  place = t_compute(im, "reduceSum", t_access(im, place, s + 1));
  return t_access(im, place, s);
}

void
emit_top_k(on_import *im) {
  gs_type t;
  uint32_t axis;
  gs_term x = on_term_in(im, 0);
  const on_array *k = on_array_in(im, 1);
  bool largest = on_attr_int(im, "largest", 1) != 0;
  if (!k || !t_type(im, x, &t) ||
      !on_axis(im, on_attr_int(im, "axis", -1), t.rank, &axis))
    return;
  int64_t n = t.dim[axis], first = k->n == 1 ? on_int(k, 0) : 0;
  if (first < 1 || first > n || t.rank + 2 > GS_MAX_RANK ||
      gs_elements(&t) > MOST_COMPARED / n) {
    on_fail(im, "k is not within 1 to %lld, or there is too much to compare",
            (long long)n);
    return;
  }
  gs_term table = t_axis_last(im, x, axis);
  x = t_compared(im, gs_is_half(t.dtype) ? t_cast(im, GS_F32, table) : table);
  if (!t_type(im, x, &t))
    return;
  gs_term at = places_of(im, counts_of_larger(im, x, &t, largest), first);
  x = t_look_up(im, table, at);
  on_out(im, 0, t_axis_back(im, x, axis), on_type_in(im, 0));
  if (on_wants(im, 1))
    on_out(im, 1, t_cast(im, GS_I64, t_axis_back(im, at, axis)), ON_INT64);
}

/* ---- sums of what stands before ---- */

/* An axis longer than a block is cut into blocks.  What stands before in the
 * same block is summed first, in order; to that the sum of all blocks before is
 * added, which is found in the same way from the sums of whole blocks. */
enum { BLOCK = 16, MOST_LEVELS = 11 };

/* Along the last axis: windows as long as it is, which reach beyond its start
 * or its end. */
static gs_term
sums_in_windows(on_import *im, gs_term x, bool others, bool reverse) {
  gs_type t;
  if (!t_type(im, x, &t))
    return GS_NO_TERM;
  int64_t one = 1, n = t.dim[t.rank - 1], beyond = others ? n : n - 1;
  x = t_access(im, x, t.rank - 1u);
  x = t_pad(im, x, "zero", t.rank - 1u, reverse ? 0 : beyond,
            reverse ? beyond : 0);
  x = t_windows(im, x, &n, &one, &one, 1);
  x = t_compute(im, "reduceSum", x);
  return others ? t_slice(im, x, t.rank - 1u, reverse, n + reverse) : x;
}

/* (s..., n) as (s..., blocks, BLOCK), with zeros behind the end. */
static gs_term
in_blocks(on_import *im, gs_term x) {
  gs_type t;
  if (!t_type(im, x, &t) || t.rank == GS_MAX_RANK)
    return x;
  int64_t *n = &t.dim[t.rank - 1], blocks = (*n + BLOCK - 1) / BLOCK;
  x = t_pad(im, x, "zero", t.rank - 1u, 0, blocks * BLOCK - *n);
  n[0] = blocks;
  n[1] = BLOCK;
  return t_reshape(im, t_whole(im, x), t.dim, t.rank + 1u, NULL, 0);
}

/* What each element has within its block, and each block before it: as one
 * axis of n again. */
static gs_term
from_blocks(on_import *im, gs_term within, gs_term before, int64_t n) {
  gs_type t;
  if (!t_type(im, within, &t))
    return GS_NO_TERM;
  uint32_t last = t.rank - 1u;
  before = t_broadcast(im, t_insert(im, before, last), t.dim, t.rank);
  gs_term sum = t_fold(im, "add", before, within);
  t.dim[last - 1] *= BLOCK;
  return t_slice(im, t_reshape(im, sum, t.dim, last, NULL, 0), last - 1, 0, n);
}

/* Along the last axis, of n. */
static gs_term
sums_before(on_import *im, gs_term x, int64_t n, bool others, bool reverse) {
  gs_term within[MOST_LEVELS];
  int64_t size[MOST_LEVELS];
  uint32_t level = 0;
  gs_type t;
  for (; n > BLOCK && t_type(im, x, &t) && t.rank < GS_MAX_RANK; level++) {
    gs_term blocks = in_blocks(im, x);
    within[level] = t_whole(im, sums_in_windows(im, blocks, others, reverse));
    x = t_compute(im, "reduceSum", t_access(im, blocks, t.rank));
    size[level] = n;
    n = (n + BLOCK - 1) / BLOCK;
    others = true;
  }
  x = t_whole(im, sums_in_windows(im, x, others, reverse));
  while (level-- > 0)
    x = from_blocks(im, within[level], x, size[level]);
  return x;
}

void
emit_cum_sum(on_import *im) {
  gs_type t;
  uint32_t axis;
  gs_term x = on_term_in(im, 0);
  const on_array *a = on_array_in(im, 1);
  bool others = on_attr_int(im, "exclusive", 0) != 0;
  bool reverse = on_attr_int(im, "reverse", 0) != 0;
  if (!a || a->n != 1 || !t_type(im, x, &t) ||
      !on_axis(im, on_int(a, 0), t.rank, &axis))
    return;
  x = t_axis_last(im, x, axis);
  x = t_cast(im, t.dtype, sums_before(im, x, t.dim[axis], others, reverse));
  on_out(im, 0, t_axis_back(im, x, axis), on_type_in(im, 0));
}

/* ---- marks ---- */

/* One value where the index is the place along a new axis, another
 * elsewhere. */
void
emit_one_hot(on_import *im) {
  gs_type t;
  uint32_t axis;
  gs_term at = on_term_in(im, 0), values = on_term_in(im, 2);
  const on_array *depth = on_array_in(im, 1);
  if (!depth || depth->n != 1 || !t_type(im, at, &t) ||
      !on_axis(im, on_attr_int(im, "axis", -1), t.rank + 1u, &axis))
    return;
  int64_t n = on_is_real(depth) ? (int64_t)on_real(depth, 0) : on_int(depth, 0);
  if (n < 1 || n > INT32_MAX || t.rank + 1 > GS_MAX_RANK) {
    on_fail(im, "its depth is out of range");
    return;
  }
  at = t_insert(im, t_from_end(im, at, n), axis);
  memmove(t.dim + axis + 1, t.dim + axis, (t.rank - axis) * sizeof *t.dim);
  t.dim[axis] = n;
  t.rank++;
  gs_term place = t_iota(im, GS_I32, n);
  for (uint32_t k = axis + 1; k < t.rank; k++)
    place = t_insert(im, place, 1);
  gs_term is = t_equal(im, t_broadcast(im, at, t.dim, t.rank),
                       t_fit(im, place, t.dim, t.rank));
  gs_type v;
  if (!t_type(im, values, &v))
    return;
  gs_term on = t_fit(im, t_slice(im, values, 0, 1, 2), t.dim, t.rank);
  gs_term off = t_fit(im, t_slice(im, values, 0, 0, 1), t.dim, t.rank);
  on_out(im, 0, t_select(im, t_cast(im, v.dtype, is), on, off),
         on_type_in(im, 2));
}

/* The triangle above or below a diagonal; the rest is 0. */
void
emit_trilu(on_import *im) {
  gs_type t;
  gs_term x = on_term_in(im, 0);
  const on_array *k = on_in(im, 1) ? on_array_in(im, 1) : NULL;
  if (!t_type(im, x, &t) || t.rank < 2 || (k && k->n != 1)) {
    on_fail(im, "it is not a matrix, or its diagonal is not a number");
    return;
  }
  const int64_t *size = t.dim + t.rank - 2;
  int64_t diagonal = k ? on_int(k, 0) : 0;
  bool upper = on_attr_int(im, "upper", 1) != 0;
  on_array *mask = on_array_new(im, on_type_in(im, 0), size, 2);
  for (int64_t i = 0; mask && i < mask->n; i++) {
    int64_t row = i / size[1], column = i % size[1];
    bool in = upper ? column - row >= diagonal : column - row <= diagonal;
    if (on_is_real(mask))
      on_set_real(mask, i, in);
    else
      on_set_int(mask, i, in);
  }
  if (!mask)
    return;
  mask->name = "triangle";
  gs_term in = t_fit(im, t_constant(im, mask), t.dim, t.rank);
  on_out(im, 0, t_select(im, in, x, t_value(im, t.dtype, 0, t.dim, t.rank)),
         on_type_in(im, 0));
}

/* Ones on a diagonal of a matrix of this shape; a known value. */
void
emit_eye_like(on_import *im) {
  gs_type t;
  if (!on_shape_in(im, 0, &t))
    return;
  int64_t type = on_attr_int(im, "dtype", on_type_in(im, 0));
  int64_t diagonal = on_attr_int(im, "k", 0);
  if (t.rank != 2 || type < 0 || type > 100) {
    on_fail(im, "it is not a matrix");
    return;
  }
  on_array *eye = on_array_new(im, (int32_t)type, t.dim, 2);
  for (int64_t i = 0; eye && i < eye->n; i++) {
    bool on = i % t.dim[1] - i / t.dim[1] == diagonal;
    if (on_is_real(eye))
      on_set_real(eye, i, on);
    else
      on_set_int(eye, i, on);
  }
  on_out_array(im, 0, eye);
}
