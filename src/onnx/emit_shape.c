/* SPDX-License-Identifier: MIT */
/* emit_shape.c - operators that only move elements, as views. */
#include "onnx/sized.h"

#include <string.h>

void
emit_identity(on_import *im) {
  on_out(im, 0, on_term_in(im, 0), on_type_in(im, 0));
}

/* All elements are kept, which the mask says. */
void
emit_dropout(on_import *im) {
  gs_type t;
  const on_value *x = on_in(im, 0);
  if (x->array)
    on_out_array(im, 0, x->array);
  else
    on_out(im, 0, on_term_in(im, 0), on_type_in(im, 0));
  if (!on_wants(im, 1) || !on_shape_in(im, 0, &t))
    return;
  on_array *mask = on_array_new(im, ON_BOOL, t.dim, t.rank);
  for (int64_t k = 0; mask && k < mask->n; k++)
    on_set_int(mask, k, 1);
  on_out_array(im, 1, mask);
}

void
emit_reshape(on_import *im) {
  gs_type type, to;
  gs_term x = on_term_in(im, 0);
  if (!t_type(im, x, &type) || !on_new_shape(im, &type, &to))
    return;
  on_out(im, 0, t_reshape(im, x, to.dim, to.rank, NULL, 0), on_type_in(im, 0));
}

/* Ones that are taken out one by one keep the term plainer than a reshape. */
void
emit_squeeze(on_import *im) {
  gs_type type, to;
  gs_term x = on_term_in(im, 0);
  bool axes[GS_MAX_RANK] = {0}, given;
  if (!t_type(im, x, &type) || !on_new_shape(im, &type, &to) ||
      !on_axes(im, 1, type.rank, axes, &given))
    return;
  for (uint32_t k = type.rank; k-- > 0;)
    if (type.dim[k] == 1 && axes[k])
      x = t_squeeze(im, x, k);
  on_out(im, 0, x, on_type_in(im, 0));
}

void
emit_unsqueeze(on_import *im) {
  gs_type type, to;
  gs_term x = on_term_in(im, 0);
  int64_t list[GS_MAX_RANK];
  int n;
  uint32_t axis;
  bool new[GS_MAX_RANK] = {0};
  if (!t_type(im, x, &type) || !on_new_shape(im, &type, &to) ||
      !on_list(im, "axes", 1, list, &n))
    return;
  for (int k = 0; k < n; k++)
    if (on_axis(im, list[k], to.rank, &axis))
      new[axis] = true;
  on_out(im, 0, t_keep_axes(im, x, new, to.rank), on_type_in(im, 0));
}

void
emit_transpose(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  int64_t order[GS_MAX_RANK];
  if (t_type(im, x, &type) && on_order(im, type.rank, order))
    on_out(im, 0, t_transpose(im, x, order, type.rank), on_type_in(im, 0));
}

/* To the right, as the language nests concats. */
void
emit_concat(on_import *im) {
  gs_type type;
  uint32_t axis, n = on_inputs(im);
  gs_term out = on_term_in(im, n - 1);
  if (!t_type(im, out, &type) || !on_joined_axis(im, type.rank, &axis))
    return;
  for (uint32_t k = n - 1; k-- > 0;)
    out = t_concat(im, on_term_in(im, k), out, axis);
  on_out(im, 0, out, on_type_in(im, 0));
}

void
emit_slice(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  const gs_numbers *over = on_over(im);
  on_range r[GS_MAX_RANK];
  if (!t_type(im, x, &type) || !on_slices(im, &type, r))
    return;
  for (uint32_t k = 0; k < type.rank; k++) {
    if (r[k].n < 1) {
      on_fail(im, "its result has no elements");
      return;
    }
    gs_number last =
        gs_combine(over, r[k].step, r[k].n, 1, r[k].first, -r[k].step);
    bool backwards = r[k].step < 0 && r[k].n > 1;
    x = t_slice(im, x, k, backwards ? last : r[k].first,
                gs_plus(over, backwards ? r[k].first : last, 1));
    if (backwards)
      x = t_reverse(im, x, k);
    if (r[k].n > 1)
      x = t_stride(im, x, k, backwards ? -r[k].step : r[k].step);
  }
  on_out(im, 0, x, on_type_in(im, 0));
}

void
emit_split(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  int64_t size[256], at = 0;
  uint32_t axis;
  if (!t_type(im, x, &type) || !on_parts(im, &type, &axis, size))
    return;
  for (uint32_t k = 0; k < im->node->n_output; at += size[k++])
    if (on_wants(im, k))
      on_out(im, k, t_slice(im, x, axis, at, at + size[k]), on_type_in(im, 0));
}

void
emit_expand(on_import *im) {
  gs_type type, to;
  gs_term x = on_term_in(im, 0);
  if (t_type(im, x, &type) && on_expanded_shape(im, &type, &to))
    on_out(im, 0, t_fit(im, x, to.dim, to.rank), on_type_in(im, 0));
}

/* A dimension is copied by one of size 1 before it. */
void
emit_tile(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  int64_t times[GS_MAX_RANK], dim[GS_MAX_RANK];
  int n;
  if (!t_type(im, x, &type) || !on_list(im, NULL, 1, times, &n) ||
      n != type.rank) {
    on_fail(im, "it does not have a number of copies for each dimension");
    return;
  }
  for (uint32_t k = 0; k < type.rank; k++) {
    if (times[k] == 1)
      continue;
    memcpy(dim, type.dim, sizeof dim);
    memmove(dim + k + 1, dim + k, (type.rank - k) * sizeof *dim);
    dim[k] = times[k];
    x = t_broadcast(im, t_insert(im, x, k), dim, type.rank + 1U);
    if (__builtin_mul_overflow(type.dim[k], times[k], &type.dim[k]))
      type.dim[k] = -1;
    x = t_reshape(im, x, type.dim, type.rank, NULL, 0);
  }
  on_out(im, 0, x, on_type_in(im, 0));
}

/* ---- pad ---- */

static gs_term
edge_slices(on_import *im, gs_term x, int64_t d, int64_t n, bool before,
            bool around) {
  gs_type type;
  if (!t_type(im, x, &type))
    return GS_NO_TERM;
  gs_term out = x;
  int64_t size = type.dim[d];
  if (n > size - (around ? 0 : 1)) {
    on_fail(im, "a pad is longer than what it repeats");
    return GS_NO_TERM;
  }
  for (int64_t k = 0; k < n; k++) {
    int64_t at =
        before ? (around ? size - 1 - k : 1 + k) : (around ? k : size - 2 - k);
    gs_term one = t_slice(im, x, d, at, at + 1);
    out = before ? t_concat(im, one, out, d) : t_concat(im, out, one, d);
  }
  return out;
}

/* New elements of a value, which are none of the kinds that `pad` knows. */
static gs_term
value_part(on_import *im, gs_term x, int64_t d, int64_t n, bool before,
           double v) {
  gs_type type;
  if (!t_type(im, x, &type) || n == 0)
    return x;
  type.dim[d] = n;
  gs_term part = t_value(im, type.dtype, v, type.dim, type.rank);
  return before ? t_concat(im, part, x, d) : t_concat(im, x, part, d);
}

static gs_term
pad_by_value(on_import *im, gs_term x, int64_t d, const int64_t *by, double v) {
  if (v == 0)
    return t_pad(im, x, "zero", d, by[0], by[1]);
  x = t_pad(im, x, "zero", d, by[0] < 0 ? by[0] : 0, by[1] < 0 ? by[1] : 0);
  x = value_part(im, x, d, by[0] > 0 ? by[0] : 0, true, v);
  return value_part(im, x, d, by[1] > 0 ? by[1] : 0, false, v);
}

static gs_term
pad_along(on_import *im, gs_term x, int64_t d, const int64_t *by, double v) {
  bool wraps = on_attr_is(im, "mode", "wrap", "constant");
  if (on_attr_is(im, "mode", "constant", "constant"))
    return pad_by_value(im, x, d, by, v);
  if (on_attr_is(im, "mode", "edge", "constant"))
    return t_pad(im, x, "edge", d, by[0], by[1]);
  if (by[0] < 0 || by[1] < 0 || by[0] > 64 || by[1] > 64) {
    on_fail(im, "a pad of this mode is below 0 or above 64");
    return GS_NO_TERM;
  }
  gs_type type;
  if (!t_type(im, x, &type))
    return GS_NO_TERM;
  gs_term after = edge_slices(im, x, d, by[1], false, wraps);
  if (by[0] == 0)
    return after;
  gs_term front = edge_slices(im, x, d, by[0], true, wraps);
  front = t_slice(im, front, d, 0, by[0]);
  return t_concat(im, front, after, d);
}

static bool
pad_amounts(on_import *im, uint32_t rank, int64_t (*by)[2]) {
  const on_array *pads = on_array_in(im, 1);
  int64_t list[GS_MAX_RANK];
  int n = -1;
  if (!pads || !on_list(im, NULL, 3, list, &n))
    return on_fail(im, "its pads are not known");
  uint32_t given = n < 0 ? rank : (uint32_t)n;
  memset(by, 0, rank * sizeof *by);
  if (pads->n != 2 * (int64_t)given)
    return on_fail(im, "it needs two pads for each dimension");
  for (uint32_t k = 0; k < given; k++) {
    uint32_t d;
    if (!on_axis(im, n < 0 ? k : list[k], rank, &d))
      return false;
    by[d][0] = on_int(pads, k);
    by[d][1] = on_int(pads, k + given);
    for (int side = 0; side < 2; side++)
      if (by[d][side] < -INT32_MAX || by[d][side] > INT32_MAX)
        return on_fail(im, "a pad is too large");
  }
  return true;
}

void
emit_pad(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  int64_t by[GS_MAX_RANK][2];
  const on_array *value = on_in(im, 2) ? on_array_in(im, 2) : NULL;
  if (!t_type(im, x, &type) || !pad_amounts(im, type.rank, by))
    return;
  if (value && value->n != 1) {
    on_fail(im, "its value is not a single element");
    return;
  }
  for (uint32_t k = 0; k < type.rank; k++)
    if (by[k][0] || by[k][1])
      x = pad_along(im, x, k, by[k], value ? on_real(value, 0) : 0);
  on_out(im, 0, x, on_type_in(im, 0));
}

/* ---- blocks ---- */

/* Depth to space: (N, b, b, C, H, W) or (N, C, b, b, H, W) to
 * (N, C, H, b, W, b); space to depth the other way round. */
void
emit_depth_space(on_import *im) {
  static const int64_t dcr[] = {0, 3, 4, 1, 5, 2}, crd[] = {0, 1, 4, 2, 5, 3},
                       back[] = {0, 3, 5, 1, 2, 4};
  gs_type t;
  gs_term x = on_term_in(im, 0);
  int64_t b = on_attr_int(im, "blocksize", 0);
  bool deep = im->row->which == ON_SPACE_TO_DEPTH;
  if (!t_type(im, x, &t) || t.rank != 4 || b < 1 || b > 65536 ||
      (deep ? t.dim[2] % b || t.dim[3] % b : t.dim[1] % (b * b))) {
    on_fail(im, "its block size does not divide its shape");
    return;
  }
  bool columns = on_attr_is(im, "mode", "CRD", "DCR");
  int64_t n = t.dim[0], c = t.dim[1], h = t.dim[2], w = t.dim[3];
  int64_t to_dcr[] = {n, b, b, c / (b * b), h, w},
          to_crd[] = {n, c / (b * b), b, b, h, w},
          to_deep[] = {n, c, h / b, b, w / b, b},
          flat[] = {n, c / (b * b), h * b, w * b},
          stacked[] = {n, c * b * b, h / b, w / b};
  x = t_reshape(im, x, deep ? to_deep : columns ? to_crd : to_dcr, 6, NULL, 0);
  x = t_transpose(im, x, deep ? back : columns ? crd : dcr, 6);
  on_out(im, 0, t_reshape(im, x, deep ? stacked : flat, 4, NULL, 0),
         on_type_in(im, 0));
}
