/* SPDX-License-Identifier: MIT */
/* shape.c - what operators that only move elements do, as numbers: read alike
 * where the elements are known and where they are terms. */
#include "onnx/sized.h"
#include "base/whole.h"

#include <assert.h>
#include <string.h>

/* As numpy reads [first:end:step] of a dimension. */
static on_range
range_of(int64_t first, int64_t end, int64_t step, int64_t size) {
  int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? size - 1 : size;
  first = bs_clamp(first, -size - 1, size);
  end = bs_clamp(end, -size - 1, size);
  first = bs_clamp(first < 0 ? first + size : first, lowest, highest);
  end = bs_clamp(end < 0 ? end + size : end, lowest, highest);
  int64_t span = step < 0 ? first - end : end - first;
  int64_t by = step < 0 ? -step : step;
  return (on_range){first, step, span > 0 ? (span + by - 1) / by : 0};
}

/* An end that counts from behind, or lies outside, where that is the same for
 * all sizes. */
static bool
bounded(on_import *im, gs_number at, gs_number size, gs_number *out) {
  const gs_numbers *over = on_over(im);
  if (!on_is_sized(im, at))
    at = bs_clamp(at, -GS_MOST_PLAIN / 2, GS_MOST_PLAIN / 2);
  if (on_ask(im, at, false) == 0)
    at = gs_sum(over, at, size);
  int begins = on_ask(im, at, false);
  int ends = on_ask(im, gs_minus(over, size, at), false);
  *out = begins == 0 ? 0 : ends == 0 ? size : at;
  return (begins >= 0 && ends >= 0) ||
         on_fail(im,
                 "whether the bound %s lies within a dimension of %s cannot "
                 "be told for all sizes",
                 on_number(im, at), on_number(im, size));
}

static bool
open_range(on_import *im, gs_number first, gs_number end, int64_t step,
           gs_number size, on_range *out) {
  const gs_numbers *over = on_over(im);
  if (step != 1)
    return on_fail(im, "steps over a dimension that is open are not supported");
  if (!bounded(im, first, size, &first) || !bounded(im, end, size, &end))
    return false;
  gs_number n = gs_minus(over, end, first);
  *out = (on_range){first, 1, on_ask(im, n, false) == 1 ? n : 0};
  return on_ask(im, gs_plus(over, out->n, -1), false) == 1 ||
         on_fail(im, "its result has no elements at some sizes");
}

static bool
next_axis(on_import *im, int64_t axis, uint32_t rank, bool *named,
          uint32_t *out) {
  if (!on_axis(im, axis, rank, out))
    return false;
  if (named[*out])
    return on_fail(im, "an axis is named twice");
  return named[*out] = true;
}

bool
on_slices(on_import *im, const gs_type *type, on_range *out) {
  int64_t first[GS_MAX_RANK], end[GS_MAX_RANK], axis[GS_MAX_RANK],
      step[GS_MAX_RANK];
  int n, n_end, n_axes, n_steps;
  if (!on_list(im, NULL, 1, first, &n) || !on_list(im, NULL, 2, end, &n_end) ||
      !on_list(im, NULL, 3, axis, &n_axes) ||
      !on_list(im, NULL, 4, step, &n_steps))
    return false;
  if (n < 0 || n != n_end || (n_axes >= 0 && n_axes != n) ||
      (n_steps >= 0 && n_steps != n))
    return on_fail(im, "starts, ends, axes and steps differ in number");
  bool named[GS_MAX_RANK] = {false};
  for (uint32_t k = 0; k < type->rank; k++)
    out[k] = (on_range){0, 1, type->dim[k]};
  for (int k = 0; k < n; k++) {
    uint32_t d;
    int64_t by = n_steps < 0 ? 1 : step[k];
    if (by == 0 || by < -INT32_MAX || by > INT32_MAX)
      return on_fail(im, "a step is 0, or too large");
    if (!next_axis(im, n_axes < 0 ? k : axis[k], type->rank, named, &d))
      return false;
    bool open = on_is_sized(im, first[k]) || on_is_sized(im, end[k]) ||
                on_is_sized(im, type->dim[d]);
    if (!open)
      out[d] = range_of(first[k], end[k], by, type->dim[d]);
    else if (!open_range(im, first[k], end[k], by, type->dim[d], &out[d]))
      return false;
  }
  return true;
}

/* ---- places ---- */

bool
on_check_places(on_import *im, uint32_t k, const int64_t *size,
                uint32_t depth) {
  const on_value *v = on_in(im, k);
  const on_array *at = v ? v->array : NULL;
  for (int64_t i = 0; at && i < at->n; i++) {
    int64_t n = size[i % depth], place = on_int(at, i);
    if (place < -n || place >= n)
      return on_fail(im, "an index is out of range");
  }
  return true;
}

/* Version 1 of the operator has a default. */
bool
on_joined_axis(on_import *im, uint32_t rank, uint32_t *axis) {
  if (im->opset >= 4 && !on_attr(im, "axis"))
    return on_fail(im, "its axis is missing");
  return on_axis(im, on_attr_int(im, "axis", 1), rank, axis);
}

/* ---- new shapes ---- */

/* 0 keeps a size, unless allowzero says otherwise; -1 is what is left. */
static bool
reshaped(on_import *im, const gs_type *type, gs_type *out) {
  gs_number others[GS_MAX_RANK];
  uint32_t n_others = 0;
  int n, free_at = -1;
  if (!on_list(im, NULL, 1, out->dim, &n) || n < 0)
    return on_fail(im, "it has no shape");
  bool keeps = !on_attr_int(im, "allowzero", 0);
  for (int k = 0; k < n; k++) {
    if (out->dim[k] == 0 && keeps && k < type->rank)
      out->dim[k] = type->dim[k];
    if (out->dim[k] == -1 && free_at < 0)
      free_at = k;
    else if (on_ask(im, out->dim[k], false) != 1)
      return on_fail(im, "its shape has a size that is not valid");
    else
      others[n_others++] = out->dim[k];
  }
  out->rank = (uint8_t)n;
  gs_number all = on_product(im, type->dim, type->rank);
  bool fits = free_at >= 0 ? on_divide(im, type->dim, type->rank, others,
                                       n_others, &out->dim[free_at])
                           : on_product(im, others, n_others) == all;
  return fits ||
         on_fail(im, "its shape does not hold %s elements", on_number(im, all));
}

static bool
flattened(on_import *im, const gs_type *type, gs_type *out) {
  int64_t axis = on_attr_int(im, "axis", 1);
  axis = axis < 0 ? axis + type->rank : axis;
  if (axis < 0 || axis > type->rank)
    return on_fail(im, "there is no such axis");
  out->rank = 2;
  out->dim[0] = on_product(im, type->dim, (uint32_t)axis);
  out->dim[1] = on_product(im, type->dim + axis, type->rank - (uint32_t)axis);
  return true;
}

static bool
squeezed(on_import *im, const gs_type *type, gs_type *out) {
  bool axes[GS_MAX_RANK] = {0}, given;
  if (!on_axes(im, 1, type->rank, axes, &given))
    return false;
  out->rank = 0;
  for (uint32_t k = 0; k < type->rank; k++) {
    if (axes[k] && on_ask(im, gs_plus(on_over(im), type->dim[k], -1), true) < 0)
      return on_fail(im,
                     "whether dimension %u, of %s, has size 1 cannot be "
                     "told for all sizes",
                     k, on_number(im, type->dim[k]));
    if (given && axes[k] && type->dim[k] != 1)
      return on_fail(im, "dimension %u does not have size 1", k);
    if (given ? !axes[k] : type->dim[k] != 1)
      out->dim[out->rank++] = type->dim[k];
  }
  return true;
}

/* The axes are those of the result. */
static bool
unsqueezed(on_import *im, const gs_type *type, gs_type *out) {
  int64_t list[GS_MAX_RANK];
  bool new[GS_MAX_RANK] = {0};
  int n;
  uint32_t axis, from = 0;
  if (!on_list(im, "axes", 1, list, &n) || n < 0 ||
      type->rank + n > GS_MAX_RANK)
    return on_fail(im, "it has no axes, or too many");
  out->rank = (uint8_t)(type->rank + n);
  for (int k = 0; k < n; k++) {
    if (!on_axis(im, list[k], out->rank, &axis) || new[axis])
      return on_fail(im, "an axis is listed twice");
    new[axis] = true;
  }
  for (uint32_t k = 0; k < out->rank; k++)
    out->dim[k] = new[k] ? 1 : type->dim[from++];
  return true;
}

bool
on_new_shape(on_import *im, const gs_type *type, gs_type *out) {
  assert(type->rank <= GS_MAX_RANK);
  *out = (gs_type){.dtype = type->dtype};
  switch (im->row->which) {
  case ON_FLATTEN:
    return flattened(im, type, out);
  case ON_SQUEEZE:
    return squeezed(im, type, out);
  case ON_UNSQUEEZE:
    return unsqueezed(im, type, out);
  default:
    return reshaped(im, type, out);
  }
}

bool
on_expanded_shape(on_import *im, const gs_type *type, gs_type *out) {
  gs_type wanted = {0};
  int n;
  if (!on_list(im, NULL, 1, wanted.dim, &n) || n < 0)
    return on_fail(im, "it has no shape");
  wanted.rank = (uint8_t)n;
  return t_common(im, type, &wanted, out);
}

bool
on_order(on_import *im, uint32_t rank, int64_t *out) {
  assert(rank <= GS_MAX_RANK);
  int n;
  bool there[GS_MAX_RANK] = {0};
  if (!on_list(im, "perm", 255, out, &n))
    return false;
  for (uint32_t k = 0; n < 0 && k < rank; k++)
    out[k] = rank - 1 - k;
  if (n >= 0 && (uint32_t)n != rank)
    return on_fail(im, "perm has %d %s for %u %s", BS_COUNTED(n, "item"),
                   BS_COUNTED(rank, "dimension"));
  for (uint32_t k = 0; k < rank; k++) {
    if (out[k] < 0 || out[k] >= rank || there[out[k]])
      return on_fail(im, "perm is not an order of the dimensions");
    there[out[k]] = true;
  }
  return true;
}

/* As many as outputs; of equal size where nothing is said, the last smaller. */
static bool
equal_parts(on_import *im, int64_t size, int64_t *out) {
  int64_t n = on_attr_int(im, "num_outputs", (int64_t)im->node->n_output);
  if (n != (int64_t)im->node->n_output || n < 1 || n > size)
    return on_fail(im, "num_outputs is not the number of its outputs, or is "
                       "larger than the dimension");
  int64_t each = (size + n - 1) / n;
  for (int64_t k = 0; k < n; k++)
    out[k] = k + 1 < n ? each : size - each * (n - 1);
  return out[n - 1] > 0 || on_fail(im, "its last part would be empty");
}

bool
on_parts(on_import *im, const gs_type *type, uint32_t *axis, int64_t *size) {
  size_t n = im->node->n_output;
  int64_t sum = 0;
  if (!on_axis(im, on_attr_int(im, "axis", 0), type->rank, axis))
    return false;
  if (n > 256)
    return on_fail(im, "it has more than 256 parts");
  if (on_is_sized(im, type->dim[*axis]))
    return on_fail(im, "its axis has a size that is open");
  if (!on_in(im, 1))
    return equal_parts(im, type->dim[*axis], size);
  const on_array *list = on_array_in(im, 1);
  if (!list || list->n != (int64_t)n || on_is_real(list))
    return on_fail(im, "it does not have as many parts as outputs");
  for (size_t k = 0; k < n; k++) {
    size[k] = on_int(list, (int64_t)k);
    if (size[k] < 0 || size[k] > type->dim[*axis]) /* also: a number of sizes */
      return on_fail(im, "a part has a size that is not valid");
    sum += size[k];
  }
  return sum == type->dim[*axis] || on_fail(im, "its parts do not add up to "
                                                "the dimension");
}
