/* SPDX-License-Identifier: MIT */
/* fold_shape.c - arrays that are made, and what only moves elements, where
 * the elements are known while importing. */
#include "onnx/sized.h"

#include <math.h>
#include <string.h>

/* ---- from shapes and attributes ---- */

void
fold_shape(on_import *im) {
  gs_type type;
  if (!on_shape_in(im, 0, &type))
    return;
  int64_t rank = type.rank, first = on_attr_int(im, "start", 0),
          last = on_attr_int(im, "end", rank);
  first = first < 0 ? first + rank : first;
  last = last < 0 ? last + rank : last;
  first = first < 0 ? 0 : first > rank ? rank : first;
  last = last < first ? first : last > rank ? rank : last;
  on_out_array(im, 0, on_ints(im, type.dim + first, (uint32_t)(last - first)));
}

void
fold_size(on_import *im) {
  gs_type type;
  if (!on_shape_in(im, 0, &type))
    return;
  on_array *out = on_array_new(im, ON_INT64, NULL, 0);
  if (out)
    on_set_int(out, 0, on_product(im, type.dim, type.rank));
  on_out_array(im, 0, out);
}

static on_array *
of_attribute(on_import *im, const Onnx__Attribute *a) {
  bool reals = !strcmp(a->name, "value_floats");
  bool many = reals || !strcmp(a->name, "value_ints");
  bool real = reals || !strcmp(a->name, "value_float");
  int64_t n = (int64_t)(reals ? a->n_floats : a->n_ints);
  on_array *out =
      on_array_new(im, real ? ON_FLOAT : ON_INT64, &n, many ? 1 : 0);
  for (int64_t k = 0; out && k < out->n; k++)
    if (real)
      on_set_real(out, k, (double)(many ? a->floats[k] : a->f));
    else
      on_set_int(out, k, many ? a->ints[k] : a->i);
  return out;
}

void
fold_constant(on_import *im) {
  const Onnx__Attribute *a =
      im->node->n_attribute == 1 ? im->node->attribute[0] : NULL;
  if (!a)
    on_fail(im, "it has no value, or more than one");
  else
    on_out_array(im, 0, a->t ? on_load(im, a->t) : of_attribute(im, a));
}

void
fold_constant_of_shape(on_import *im) {
  int64_t dim[GS_MAX_RANK], stride[GS_MAX_RANK] = {0};
  int n;
  const Onnx__Attribute *a = on_attr(im, "value");
  if (!on_list(im, NULL, 0, dim, &n))
    return;
  int64_t one = 1;
  double zero = 0;
  on_array *v =
      a && a->t ? on_load(im, a->t) : on_reals(im, ON_FLOAT, &zero, &one, 1);
  if (!v || v->n != 1)
    on_fail(im, "its value is not a single element");
  else
    on_out_array(im, 0, on_view(im, v, dim, stride, (uint32_t)n, 0));
}

/* Sums instead of products, as these leave int64 where no element does. */
static void
count_up(on_import *im, on_array *out, int64_t n, int64_t at, int64_t step) {
  for (int64_t k = 0; k < n; k++) {
    on_set_int(out, k, at);
    if (k + 1 < n && __builtin_add_overflow(at, step, &at)) {
      on_fail(im, "its elements leave int64");
      return;
    }
  }
}

/* How many steps lead to the end, or past it; an f64 has not each int64. */
static double
steps_to(const on_array *first, const on_array *end, const on_array *step) {
  if (on_is_real(first))
    return ceil((on_real(end, 0) - on_real(first, 0)) / on_real(step, 0));
  int64_t from = on_int(first, 0), to = on_int(end, 0), by = on_int(step, 0);
  uint64_t apart =
      (uint64_t)(by < 0 ? from : to) - (uint64_t)(by < 0 ? to : from);
  uint64_t length = by < 0 ? 0 - (uint64_t)by : (uint64_t)by;
  return (by < 0 ? from <= to : to <= from)
             ? 0
             : (double)((apart - 1) / length + 1);
}

void
fold_range(on_import *im) {
  on_array *first = on_array_in(im, 0), *end = on_array_in(im, 1),
           *step = on_array_in(im, 2);
  if (!first || !end || !step || first->n != 1 || end->n != 1 || step->n != 1) {
    on_fail(im, "start, limit and delta have to be one element each");
    return;
  }
  double by = on_real(step, 0), from = on_real(first, 0);
  double many = by == 0 ? -1 : steps_to(first, end, step);
  if (!(by != 0) || !(many < 0x1p40)) {
    on_fail(im, "it has no end");
    return;
  }
  int64_t n = many < 0 ? 0 : (int64_t)many;
  on_array *out = on_array_new(im, first->type, &n, 1);
  if (out && on_is_real(out))
    for (int64_t k = 0; k < n; k++)
      on_set_real(out, k, from + (double)k * by);
  else if (out)
    count_up(im, out, n, on_int(first, 0), on_int(step, 0));
  on_out_array(im, 0, out);
}

/* ---- the same, where sizes are open ---- */

void
emit_constant_of_shape(on_import *im) {
  int64_t dim[GS_MAX_RANK];
  int n;
  const Onnx__Attribute *a = on_attr(im, "value");
  on_array *v = a && a->t ? on_load(im, a->t) : NULL;
  if (!on_list(im, NULL, 0, dim, &n))
    return;
  if (a && (!v || v->n != 1)) {
    on_fail(im, "its value is not a single element");
    return;
  }
  int32_t type = v ? v->type : ON_FLOAT;
  on_out(im, 0,
         t_value(im, on_type_of(type)->dtype, v ? on_real(v, 0) : 0, dim,
                 (uint32_t)n),
         type);
}

/* The longest range that the sizes allow, cut to the length that they give. */
void
emit_range(on_import *im) {
  on_array *first = on_array_in(im, 0), *end = on_array_in(im, 1),
           *step = on_array_in(im, 2);
  if (!first || !end || !step || first->n != 1 || end->n != 1 || step->n != 1 ||
      on_is_real(end) || on_int(step, 0) != 1 || on_holds_sizes(im, first)) {
    on_fail(im, "where sizes are open, it begins at a known integer and has "
                "the step 1");
    return;
  }
  int64_t from = on_int(first, 0);
  gs_number n = gs_plus(on_over(im), on_int(end, 0), -from);
  if (on_ask(im, gs_plus(on_over(im), n, -1), false) != 1) {
    on_fail(im, "it has no elements at some sizes");
    return;
  }
  gs_term x = t_iota(im, GS_I32, gs_most_of(im->p->sizes, n));
  x = t_slice(im, x, 0, 0, n);
  on_out(im, 0, from ? t_offset(im, (double)from, x) : x, first->type);
}

/* ---- moved elements ---- */

void
fold_gather(on_import *im) {
  on_array *a = on_array_in(im, 0), *at = on_array_in(im, 1);
  uint32_t axis;
  if (!a || !at || !on_axis(im, on_attr_int(im, "axis", 0), a->rank, &axis) ||
      a->rank + at->rank > GS_MAX_RANK + 1) {
    on_fail(im, "it has too many dimensions");
    return;
  }
  int64_t dim[2 * GS_MAX_RANK];
  uint32_t rank = a->rank + at->rank - 1;
  memcpy(dim, a->dim, axis * sizeof *dim);
  memcpy(dim + axis, at->dim, at->rank * sizeof *dim);
  memcpy(dim + axis + at->rank, a->dim + axis + 1,
         (a->rank - axis - 1) * sizeof *dim);
  on_array *out = on_array_new(im, a->type, dim, rank);
  int64_t before = gs_prod(a->dim, axis);
  int64_t after = gs_prod(a->dim + axis + 1, a->rank - axis - 1);
  size_t bytes = (size_t)after * on_type_of(a->type)->bytes;
  for (int64_t o = 0; out && o < before; o++)
    for (int64_t k = 0; k < at->n; k++) {
      int64_t i = on_int(at, k);
      i = i < 0 ? i + a->dim[axis] : i;
      if (i < 0 || i >= a->dim[axis]) {
        on_fail(im, "an index is out of range");
        return;
      }
      memcpy((char *)out->data + (size_t)(o * at->n + k) * bytes,
             (char *)a->data + (size_t)(o * a->dim[axis] + i) * bytes, bytes);
    }
  on_out_array(im, 0, out);
}

static void
copy_part(on_array *out, const on_array *a, uint32_t axis, int64_t at) {
  int64_t before = gs_prod(a->dim, axis);
  int64_t after = gs_prod(a->dim + axis + 1, a->rank - axis - 1);
  size_t bytes = (size_t)after * on_type_of(a->type)->bytes;
  for (int64_t o = 0; o < before; o++)
    memcpy((char *)out->data + (size_t)(o * out->dim[axis] + at) * bytes,
           (char *)a->data + (size_t)(o * a->dim[axis]) * bytes,
           (size_t)a->dim[axis] * bytes);
}

static bool
parts_fit(on_import *im, const on_array *first, uint32_t axis, int64_t *sum) {
  *sum = 0;
  for (uint32_t k = 0; k < on_inputs(im); k++) {
    const on_array *a = on_array_in(im, k);
    if (!a || a->rank != first->rank || a->type != first->type)
      return on_fail(im, "its parts differ in rank or type");
    for (uint32_t d = 0; d < a->rank; d++)
      if (d != axis && a->dim[d] != first->dim[d])
        return on_fail(im, "its parts differ in a size");
    *sum += a->dim[axis];
  }
  return true;
}

void
fold_concat(on_import *im) {
  on_array *first = on_array_in(im, 0);
  int64_t dim[GS_MAX_RANK], at = 0, sum;
  uint32_t axis;
  if (!first || !on_joined_axis(im, first->rank, &axis) ||
      !parts_fit(im, first, axis, &sum))
    return;
  memcpy(dim, first->dim, sizeof dim);
  dim[axis] = sum;
  on_array *out = on_array_new(im, first->type, dim, first->rank);
  for (uint32_t k = 0; out && k < on_inputs(im); k++) {
    const on_array *a = on_array_in(im, k);
    copy_part(out, a, axis, at);
    at += a->dim[axis];
  }
  on_out_array(im, 0, out);
}

void
fold_slice(on_import *im) {
  on_array *a = on_array_in(im, 0);
  int64_t stride[GS_MAX_RANK], dim[GS_MAX_RANK], offset = 0;
  on_range ranges[GS_MAX_RANK];
  gs_type type;
  if (!a || !on_shape_in(im, 0, &type) || !on_slices(im, &type, ranges))
    return;
  on_strides(a, stride);
  for (uint32_t k = 0; k < a->rank; k++) {
    dim[k] = ranges[k].n;
    offset += ranges[k].n ? ranges[k].first * stride[k] : 0;
    stride[k] *= ranges[k].step;
  }
  on_out_array(im, 0, on_view(im, a, dim, stride, a->rank, offset));
}

void
fold_reshape(on_import *im) {
  on_array *a = on_array_in(im, 0);
  gs_type type, to;
  if (a && on_shape_in(im, 0, &type) && on_new_shape(im, &type, &to))
    on_out_array(im, 0, on_reshaped(im, a, to.dim, to.rank));
}

void
fold_transpose(on_import *im) {
  on_array *a = on_array_in(im, 0);
  int64_t order[GS_MAX_RANK], own[GS_MAX_RANK], dim[GS_MAX_RANK],
      stride[GS_MAX_RANK];
  if (!a || !on_order(im, a->rank, order))
    return;
  on_strides(a, own);
  for (uint32_t k = 0; k < a->rank; k++) {
    dim[k] = a->dim[order[k]];
    stride[k] = own[order[k]];
  }
  on_out_array(im, 0, on_view(im, a, dim, stride, a->rank, 0));
}

void
fold_expand(on_import *im) {
  on_array *a = on_array_in(im, 0);
  gs_type type, to;
  if (a && on_shape_in(im, 0, &type) && on_expanded_shape(im, &type, &to))
    on_out_array(im, 0, on_expanded(im, a, to.dim, to.rank));
}

/* Each dimension is split into copies and elements. */
void
fold_tile(on_import *im) {
  on_array *a = on_array_in(im, 0);
  int64_t times[GS_MAX_RANK], own[GS_MAX_RANK], dim[GS_MAX_RANK],
      split[GS_MAX_RANK], stride[GS_MAX_RANK];
  int n;
  if (!a || !on_list(im, NULL, 1, times, &n) || n != (int)a->rank ||
      2 * a->rank > GS_MAX_RANK) {
    on_fail(im, "it has too many dimensions, or does not have a number of "
                "copies for each");
    return;
  }
  on_strides(a, own);
  for (uint32_t k = 0; k < a->rank; k++) {
    split[2 * k] = times[k];
    split[2 * k + 1] = a->dim[k];
    stride[2 * k] = 0;
    stride[2 * k + 1] = own[k];
    if (__builtin_mul_overflow(times[k], a->dim[k], &dim[k]))
      dim[k] = -1;
  }
  on_array *out = on_view(im, a, split, stride, 2 * a->rank, 0);
  on_out_array(im, 0, out ? on_reshaped(im, out, dim, a->rank) : NULL);
}

void
fold_split(on_import *im) {
  on_array *a = on_array_in(im, 0);
  int64_t size[256], at = 0, stride[GS_MAX_RANK], dim[GS_MAX_RANK];
  uint32_t axis, n = (uint32_t)im->node->n_output;
  gs_type type;
  if (!a || !on_shape_in(im, 0, &type) || !on_parts(im, &type, &axis, size))
    return;
  on_strides(a, stride);
  memcpy(dim, a->dim, sizeof dim);
  for (uint32_t k = 0; k < n; at += size[k++]) {
    dim[axis] = size[k];
    on_out_array(im, k,
                 on_view(im, a, dim, stride, a->rank, at * stride[axis]));
  }
}

void
fold_scatter_nd(on_import *im) {
  on_array *a = on_array_in(im, 0), *at = on_array_in(im, 1),
           *from = on_array_in(im, 2);
  int64_t stride[GS_MAX_RANK];
  if (!a || !at || !from || !at->rank || from->type != a->type) {
    on_fail(im, "its inputs are missing, or differ in type");
    return;
  }
  int64_t depth = at->dim[at->rank - 1];
  if (depth > a->rank || depth < 1 ||
      !on_attr_is(im, "reduction", "none", "none")) {
    on_fail(im, "its indices are too long, or it combines elements");
    return;
  }
  on_strides(a, stride);
  int64_t each = gs_prod(a->dim + depth, a->rank - (uint32_t)depth);
  on_array *out = on_reshaped(im, a, a->dim, a->rank);
  size_t bytes = on_type_of(a->type)->bytes;
  if (!out || from->n != at->n / depth * each) {
    on_fail(im, "it has more or fewer updates than indices");
    return;
  }
  for (int64_t k = 0; k < at->n / depth; k++) {
    int64_t to = 0;
    for (int64_t d = 0; d < depth; d++) {
      int64_t i = on_int(at, k * depth + d);
      i = i < 0 ? i + a->dim[d] : i;
      if (i < 0 || i >= a->dim[d]) {
        on_fail(im, "an index is out of range");
        return;
      }
      to += i * stride[d];
    }
    memcpy((char *)out->data + (size_t)to * bytes,
           (char *)from->data + (size_t)(k * each) * bytes,
           (size_t)each * bytes);
  }
  on_out_array(im, 0, out);
}

/* ---- reductions ---- */

static double
join(int which, double a, double v) {
  switch (which) {
  case ON_REDUCE_MAX:
    return v > a || v != v ? v : a;
  case ON_REDUCE_MIN:
    return v < a || v != v ? v : a;
  case ON_REDUCE_PROD:
    return a * v;
  case ON_REDUCE_L1:
    return a + fabs(v);
  case ON_REDUCE_L2:
  case ON_REDUCE_SUM_SQUARE:
    return a + v * v;
  default:
    return a + v;
  }
}

static double
start_of(int which) {
  return which == ON_REDUCE_MAX    ? -INFINITY
         : which == ON_REDUCE_MIN  ? INFINITY
         : which == ON_REDUCE_PROD ? 1
                                   : 0;
}

static double
end_of(int which, double v, int64_t n) {
  return which == ON_REDUCE_MEAN      ? v / (double)n
         : which == ON_REDUCE_L2      ? sqrt(v)
         : which == ON_REDUCE_LOG_SUM ? log(v)
                                      : v;
}

/* Integers that reach 2^53 on the way may have lost digits: they are refused.
 */
static double
reduce_all(on_import *im, int which, const on_array *a, int64_t first,
           int64_t n) {
  double v = start_of(which);
  for (int64_t k = 0; k < n; k++) {
    v = join(which, v, on_real(a, first + k));
    if (!on_is_real(a) && !(fabs(v) < 0x1p53)) {
      on_fail(im, "integers of 2^53 and more are not reduced");
      return 0;
    }
  }
  return end_of(which, v, n);
}

/* The largest element is taken out, so that nothing overflows. */
static double
log_sum_exp(on_import *im, const on_array *a, int64_t first, int64_t n) {
  double sum = 0, most = reduce_all(im, ON_REDUCE_MAX, a, first, n);
  for (int64_t k = 0; k < n; k++)
    sum += exp(on_real(a, first + k) - most);
  return isinf(most) ? most : most + log(sum);
}

void
fold_reduce(on_import *im) {
  on_array *a = on_array_in(im, 0);
  bool axes[GS_MAX_RANK] = {0}, given;
  int64_t dim[GS_MAX_RANK], order[GS_MAX_RANK], own[GS_MAX_RANK],
      stride[GS_MAX_RANK], kept[GS_MAX_RANK];
  uint32_t n = 0, n_kept = 0;
  if (!a || !on_axes(im, 1, a->rank, axes, &given))
    return;
  if (on_no_axes(im, given)) {
    on_out_array(im, 0, a);
    return;
  }
  bool keep = on_attr_int(im, "keepdims", 1) != 0;
  for (int last = 0; last < 2; last++)
    for (uint32_t k = 0; k < a->rank; k++)
      if (axes[k] == (last != 0))
        order[n++] = k;
  on_strides(a, own);
  int64_t each = 1, many = 1;
  for (uint32_t k = 0; k < a->rank; k++) {
    dim[k] = a->dim[order[k]];
    stride[k] = own[order[k]];
    *(axes[order[k]] ? &each : &many) *= dim[k];
    if (!axes[k] || keep)
      kept[n_kept++] = axes[k] ? 1 : a->dim[k];
  }
  on_array *in = on_view(im, a, dim, stride, a->rank, 0);
  on_array *out = on_array_new(im, a->type, kept, n_kept);
  for (int64_t o = 0; in && out && o < many; o++)
    on_set_real(out, o,
                im->row->which == ON_REDUCE_LOG_SUM_EXP
                    ? log_sum_exp(im, in, o * each, each)
                    : reduce_all(im, im->row->which, in, o * each, each));
  on_out_array(im, 0, out);
}
