/* SPDX-License-Identifier: MIT */
/* emit_quantize.c - numbers as small integers, a scale and a zero point. */
#include "onnx/onnx_import.h"

#include <string.h>

/* Each element along the axis stands for a block of those of x; the last block
 * may end earlier. */
static gs_term
along_blocks(on_import *im, gs_term v, const gs_type *x, int64_t block) {
  gs_type t;
  uint32_t axis;
  if (!t_type(im, v, &t) ||
      !on_axis(im, on_attr_int(im, "axis", 1), x->rank, &axis))
    return GS_NO_TERM;
  bool fits = x->rank < GS_MAX_RANK && block > 0 && block <= x->dim[axis] &&
              t.rank == x->rank;
  for (uint32_t k = 0; fits && k < t.rank; k++)
    fits = t.dim[k] == (k == axis ? (x->dim[k] - 1) / block + 1 : x->dim[k]);
  if (!fits) {
    on_fail(im, "its scale does not have one number for each block");
    return GS_NO_TERM;
  }
  gs_type wide = t;
  wide.rank++;
  memmove(wide.dim + axis + 2, wide.dim + axis + 1,
          (t.rank - axis - 1) * sizeof *wide.dim);
  wide.dim[axis + 1] = block;
  v = t_broadcast(im, t_insert(im, v, axis + 1), wide.dim, wide.rank);
  t.dim[axis] *= block;
  v = t_reshape(im, v, t.dim, t.rank, NULL, 0);
  return t_slice(im, v, axis, 0, x->dim[axis]);
}

/* A scale or a zero point in the shape of x: one for all, one an index of the
 * axis, or one a block. */
static gs_term
along_axis(on_import *im, gs_term v, const gs_type *x) {
  gs_type t;
  uint32_t axis;
  int64_t block = on_attr_int(im, "block_size", 0);
  if (!t_type(im, v, &t))
    return GS_NO_TERM;
  if (block)
    return along_blocks(im, v, x, block);
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

/* That of the zero point, or what is named. */
static int32_t
quantized_type(on_import *im) {
  int64_t named = on_attr_int(im, "output_dtype", 0);
  int32_t type = on_in(im, 2) ? on_type_in(im, 2)
                 : named      ? (int32_t)named
                              : ON_UINT8;
  const on_type *t = on_type_of(type);
  if (named && type != named)
    on_fail(im, "output_dtype is not the type of its zero point");
  else if (!t->known || t->real || t->bytes > 2 || type == ON_BOOL)
    on_fail(im, "only int8, uint8, int16 and uint16 are supported");
  return type;
}

/* To the nearest, halves to even, then held within the dtype. */
void
emit_quantize(on_import *im) {
  gs_type t;
  gs_term x = on_term_in(im, 0);
  int32_t type = quantized_type(im);
  gs_dtype to = on_type_of(type)->dtype;
  if (im->failed || !t_type(im, x, &t))
    return;
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
