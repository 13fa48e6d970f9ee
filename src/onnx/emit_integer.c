/* SPDX-License-Identifier: MIT */
/* emit_integer.c - sums of products of small integers, each with a scale and a
 * zero point. */
#include "onnx/onnx_import.h"

/* Which dimension of an operand its zero points and scales belong to. */
enum { ROWS, COLUMNS, FILTERS, NONE };

/* One number for all, or one a row, a column or a filter, in the shape of x. */
static gs_term
placed(on_import *im, gs_term v, const gs_type *x, int along) {
  gs_type t;
  if (!t_type(im, v, &t))
    return GS_NO_TERM;
  if (t.rank == 1 && t.dim[0] == 1)
    v = t_squeeze(im, v, 0);
  else if (t.rank == 1 && along == ROWS)
    v = t_insert(im, v, 1);
  else if (t.rank == 1 && along == FILTERS)
    for (uint32_t k = 1; k < x->rank; k++)
      v = t_insert(im, v, k);
  return t_fit(im, v, x->dim, x->rank);
}

/* Which dimension of x that is, counted as in its shape; -1: none. */
static int
dimension_along(const gs_type *x, int along) {
  if (along == FILTERS)
    return 0;
  return along == NONE || x->rank < 2 ? -1
         : along == ROWS              ? x->rank - 2
                                      : x->rank - 1;
}

/* Of matrices: broadcast to x, and one number along what is summed over. */
static bool
is_for_matrices(const gs_type *zero, const gs_type *x, int along) {
  uint32_t summed = zero->rank - (along == ROWS ? 1 : 2);
  bool fits = along <= COLUMNS && zero->rank <= x->rank;
  for (uint32_t k = 0; fits && k < zero->rank; k++) {
    int64_t size = x->dim[x->rank - zero->rank + k];
    fits = zero->dim[k] == 1 || (k != summed && zero->dim[k] == size);
  }
  return fits;
}

/* One number, or one an index along the dimension. */
static bool
has_place(const gs_type *zero, const gs_type *x, int along) {
  int d = dimension_along(x, along);
  int64_t n = zero->rank ? zero->dim[0] : 1;
  return zero->rank > 1 ? is_for_matrices(zero, x, along)
                        : n == 1 || (d >= 0 && n == x->dim[d]);
}

/* Zero points have a place in their operand, if there are any: those that are
 * known to be 0 are not looked at again. */
static bool
check_zero(on_import *im, uint32_t input, uint32_t zero, int along) {
  gs_type x, z;
  if (!on_in(im, zero))
    return true;
  if (!on_shape_in(im, input, &x) || !on_shape_in(im, zero, &z))
    return false;
  return has_place(&z, &x, along) ||
         on_fail(im, "the zero points do not fit the shape of their operand");
}

/* It has zero points, and they are not all known to be 0. */
static bool
is_shifted(on_import *im, uint32_t zero) {
  const on_value *v = on_in(im, zero);
  return v && !(v->array && on_is_splat(v->array) && on_int(v->array, 0) == 0);
}

/* Products of int8 are summed as i32 as they are, and so any instruction for
 * bytes can find them. */
static bool
are_bytes(on_import *im, uint32_t a, uint32_t zero_a, uint32_t b,
          uint32_t zero_b) {
  return on_type_in(im, a) == ON_INT8 && on_type_in(im, b) == ON_INT8 &&
         !is_shifted(im, zero_a) && !is_shifted(im, zero_b);
}

/* An operand as i32, less its zero points where it has some. */
static gs_term
centred(on_import *im, bool bytes, uint32_t input, uint32_t zero, int along) {
  gs_type t;
  if (!check_zero(im, input, zero, along))
    return GS_NO_TERM;
  if (bytes)
    return on_term_in(im, input);
  gs_term x = t_cast(im, GS_I32, on_term_in(im, input));
  if (!is_shifted(im, zero) || !t_type(im, x, &t))
    return x;
  gs_term z = t_cast(im, GS_I32, on_term_in(im, zero));
  return t_fold(im, "sub", x, placed(im, z, &t, along));
}

void
emit_matmul_integer(on_import *im) {
  bool bytes = are_bytes(im, 0, 2, 1, 3);
  on_out(im, 0,
         t_matmul(im, centred(im, bytes, 0, 2, ROWS),
                  centred(im, bytes, 1, 3, COLUMNS)),
         ON_INT32);
}

void
emit_conv_integer(on_import *im) {
  bool bytes = are_bytes(im, 0, 2, 1, 3);
  on_out(im, 0,
         t_conv(im, centred(im, bytes, 0, 2, NONE),
                centred(im, bytes, 1, 3, FILTERS), 255),
         ON_INT32);
}

/* ---- with a quantized result ---- */

/* To the nearest, halves to even; then what the zero point adds. */
static gs_term
quantized(on_import *im, gs_term x, uint32_t scale, uint32_t zero) {
  gs_type t;
  int32_t type = on_type_in(im, zero);
  if (!t_type(im, x, &t))
    return GS_NO_TERM;
  x = t_fold(im, "div", x, placed(im, on_term_in(im, scale), &t, ROWS));
  x = t_compute(im, "round", x);
  gs_term z = t_cast(im, t.dtype, on_term_in(im, zero));
  x = t_fold(im, "add", x, placed(im, z, &t, ROWS));
  return t_cast(im, on_type_of(type)->dtype, x);
}

/* Of a sum of products: what it stands for, by the scales of its operands. */
static gs_term
scaled(on_import *im, gs_term sum, uint32_t a, int along_a, uint32_t b,
       int along_b) {
  gs_type t;
  gs_term x = t_cast(im, GS_F32, sum);
  if (!t_type(im, x, &t))
    return GS_NO_TERM;
  x = t_fold(im, "mul", x, placed(im, on_term_in(im, a), &t, along_a));
  return t_fold(im, "mul", x, placed(im, on_term_in(im, b), &t, along_b));
}

void
emit_qlinear_matmul(on_import *im) {
  bool bytes = are_bytes(im, 0, 2, 3, 5);
  gs_term sum = t_matmul(im, centred(im, bytes, 0, 2, ROWS),
                         centred(im, bytes, 3, 5, COLUMNS));
  sum = scaled(im, sum, 1, ROWS, 4, COLUMNS);
  on_out(im, 0, quantized(im, sum, 6, 7), on_type_in(im, 7));
}

/* One number of each channel of (N, C, ...). */
static gs_term
scaled_by_channel(on_import *im, gs_term x, uint32_t input) {
  gs_type t, own;
  gs_term v = on_term_in(im, input);
  if (!t_type(im, x, &t) || !t_type(im, v, &own))
    return GS_NO_TERM;
  for (uint32_t k = 2; own.rank == 1 && own.dim[0] > 1 && k < t.rank; k++)
    v = t_insert(im, v, 1);
  return t_fold(im, "mul", x, placed(im, v, &t, COLUMNS));
}

void
emit_qlinear_conv(on_import *im) {
  bool bytes = are_bytes(im, 0, 2, 3, 5);
  gs_term sum = t_conv(im, centred(im, bytes, 0, 2, NONE),
                       centred(im, bytes, 3, 5, FILTERS), 8);
  gs_term x = scaled_by_channel(im, t_cast(im, GS_F32, sum), 1);
  x = scaled_by_channel(im, x, 4);
  on_out(im, 0, quantized(im, x, 6, 7), on_type_in(im, 7));
}

/* The range of x and 0 is spread over 0 .. 255. */
void
emit_dynamic_quantize(on_import *im) {
  gs_type t;
  gs_term x = t_access(im, on_term_in(im, 0), 0);
  if (!t_type(im, x, &t))
    return;
  gs_term low = t_compute(im, "reduceMin", x),
          zero = t_value(im, t.dtype, 0, NULL, 0);
  gs_term high = t_compute(im, "relu", t_compute(im, "reduceMax", x));
  low = t_fold(im, "min", low, zero);
  gs_term scale = t_scale(im, 1.0 / 255, t_fold(im, "sub", high, low));
  gs_term point = t_compute(im, "round", t_fold(im, "div", low, scale));
  point = t_clip(im, 0, 255, t_compute(im, "neg", point));
  gs_term by = t_fit(im, scale, t.dim, t.rank);
  x = t_compute(im, "round", t_fold(im, "div", t_whole(im, x), by));
  x = t_fold(im, "add", x, t_fit(im, point, t.dim, t.rank));
  on_out(im, 0, t_cast(im, GS_U8, x), ON_UINT8);
  if (on_wants(im, 1))
    on_out(im, 1, scale, ON_FLOAT);
  if (on_wants(im, 2))
    on_out(im, 2, t_cast(im, GS_U8, point), ON_UINT8);
}

/* ---- shifts ---- */

/* Powers of two that shifts by known numbers multiply or divide by: what is
 * shifted out of an operand of 16 bits leaves nothing. */
static on_array *
powers_of_shifts(on_import *im, const on_array *by, bool left) {
  on_array *a = on_array_new(im, ON_INT32, by->dim, by->rank);
  for (int64_t k = 0; a && k < a->n; k++) {
    int64_t n = on_int(by, k);
    bool out = n < 0 || n > 15;
    on_set_int(a, k, !out ? (int64_t)1 << n : left ? 0 : 1 << 16);
  }
  return a;
}

void
emit_bit_shift(on_import *im) {
  gs_type x, y, both;
  int32_t type = on_type_in(im, 0);
  bool left = on_attr_is(im, "direction", "LEFT", "");
  if (!left && !on_attr_is(im, "direction", "RIGHT", "")) {
    on_fail(im, "its direction is neither LEFT nor RIGHT");
    return;
  }
  if (type != ON_UINT8 && type != ON_UINT16) {
    on_fail(im, "only uint8 and uint16 are shifted");
    return;
  }
  gs_term a = t_cast(im, GS_I32, on_term_in(im, 0));
  const on_array *by = on_array_in(im, 1);
  on_array *power = by ? powers_of_shifts(im, by, left) : NULL;
  gs_term b = power ? t_constant(im, power) : GS_NO_TERM;
  if (!t_type(im, a, &x) || !t_type(im, b, &y) || !t_common(im, &x, &y, &both))
    return;
  a = t_fold(im, left ? "mul" : "div", t_fit(im, a, both.dim, both.rank),
             t_fit(im, b, both.dim, both.rank));
  on_out(im, 0, t_cast(im, on_type_of(type)->dtype, a), type);
}
