/* SPDX-License-Identifier: MIT */
/* emit_quantize.c - numbers as small integers, a scale and a zero point. */
#include "onnx/onnx_import.h"

/* A scale or a zero point in the shape of x: one for all, or one an index of
 * the axis. */
static gs_term
along_axis(on_import *im, gs_term v, const gs_type *x) {
  gs_type t;
  uint32_t axis;
  if (!t_type(im, v, &t))
    return GS_NO_TERM;
  if (t.rank == 0 || (t.rank == 1 && t.dim[0] == 1))
    return t_fit(im, t.rank ? t_squeeze(im, v, 0) : v, x->dim, x->rank);
  if (t.rank != 1 || !on_axis(im, on_attr_int(im, "axis", 1), x->rank, &axis)) {
    on_fail(im, "its scale is neither a single number nor one number for "
                "each index");
    return GS_NO_TERM;
  }
  for (uint32_t k = axis + 1; k < x->rank; k++)
    v = t_insert(im, v, 1);
  return t_fit(im, v, x->dim, x->rank);
}

/* To the nearest, halves to even, then held within the dtype. */
void
emit_quantize(on_import *im) {
  gs_type t;
  gs_term x = on_term_in(im, 0);
  int32_t type = on_in(im, 2) ? on_type_in(im, 2) : ON_UINT8;
  gs_dtype to = on_type_of(type)->dtype;
  if (!t_type(im, x, &t))
    return;
  if (type != ON_UINT8 && type != ON_INT8) {
    on_fail(im, "only int8 and uint8 are supported");
    return;
  }
  if (gs_dtype_table[t.dtype].integer)
    t.dtype = GS_F32; /* of sums: as wide as their scale */
  x = t_cast(im, t.dtype, x);
  gs_term scale = t_cast(im, t.dtype, on_term_in(im, 1));
  scale = along_axis(im, scale, &t);
  x = t_compute(im, "round", t_fold(im, "div", x, scale));
  if (on_in(im, 2)) {
    gs_term zero = t_cast(im, t.dtype, on_term_in(im, 2));
    x = t_fold(im, "add", x, along_axis(im, zero, &t));
  }
  on_out(im, 0, t_cast(im, to, x), type);
}

void
emit_dequantize(on_import *im) {
  gs_type t, s;
  gs_term x = on_term_in(im, 0), scale = on_term_in(im, 1);
  if (!t_type(im, x, &t) || !t_type(im, scale, &s))
    return;
  x = t_cast(im, GS_I32, x);
  if (on_in(im, 2)) {
    gs_term zero = t_cast(im, GS_I32, on_term_in(im, 2));
    x = t_fold(im, "sub", x, along_axis(im, zero, &t));
  }
  x = t_fold(im, "mul", t_cast(im, s.dtype, x), along_axis(im, scale, &t));
  on_out(im, 0, x, on_type_in(im, 1));
}
