/* SPDX-License-Identifier: MIT */
/* emit_norm.c - reductions, and what is scaled by them. */
#include "onnx/onnx_import.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- reductions ---- */

typedef struct reduction {
  const char *before, *reduce, *after; /* of the elements, the sum */
} reduction;

static const reduction reductions[] = {
    [ON_REDUCE_SUM] = {NULL, "reduceSum", NULL},
    [ON_REDUCE_MEAN] = {NULL, "reduceMean", NULL},
    [ON_REDUCE_MAX] = {NULL, "reduceMax", NULL},
    [ON_REDUCE_MIN] = {NULL, "reduceMin", NULL},
    [ON_REDUCE_PROD] = {NULL, "reduceProd", NULL},
    [ON_REDUCE_L1] = {"abs", "reduceSum", NULL},
    [ON_REDUCE_L2] = {"square", "reduceSum", "sqrt"},
    [ON_REDUCE_SUM_SQUARE] = {"square", "reduceSum", NULL},
    [ON_REDUCE_LOG_SUM] = {NULL, "reduceSum", "log"},
    [ON_REDUCE_LOG_SUM_EXP] = {"exp", "reduceSum", "log"},
};

static gs_term
reduce(on_import *im, const reduction *r, gs_term x, const bool *axes,
       uint32_t rank, bool keep) {
  assert(rank <= GS_MAX_RANK);
  int64_t order[GS_MAX_RANK];
  if (r->before)
    x = t_compute(im, r->before, x);
  x = t_compute(im, r->reduce, t_axes_last(im, x, axes, order));
  if (r->after)
    x = t_compute(im, r->after, x);
  return keep ? t_keep_axes(im, t_whole(im, x), axes, rank) : x;
}

static double
largest_of(gs_dtype d) {
  return d == GS_F64    ? DBL_MAX
         : d == GS_F16  ? 0x1.ffcp15
         : d == GS_BF16 ? 0x1.fep127
                        : (double)FLT_MAX;
}

/* The largest element is taken out, so that nothing overflows; an infinity as
 * the largest number, so that it is not taken from itself. */
static gs_term
log_sum_exp(on_import *im, gs_term x, const bool *axes, const gs_type *type,
            bool keep) {
  gs_term most =
      reduce(im, &reductions[ON_REDUCE_MAX], x, axes, type->rank, true);
  double end = largest_of(type->dtype);
  most = t_clip(im, -end, end, most);
  x = t_fold(im, "sub", x, t_fit(im, most, type->dim, type->rank));
  x = reduce(im, &reductions[ON_REDUCE_LOG_SUM_EXP], x, axes, type->rank, true);
  x = t_fold(im, "add", x, most);
  for (uint32_t k = type->rank; !keep && k-- > 0;)
    if (axes[k])
      x = t_squeeze(im, x, k);
  return x;
}

void
emit_reduce(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  bool axes[GS_MAX_RANK] = {0}, given;
  if (!t_type(im, x, &type) || !on_axes(im, 1, type.rank, axes, &given))
    return;
  bool keeps = on_no_axes(im, given);
  if (!keeps && type.rank && im->row->which == ON_REDUCE_LOG_SUM_EXP)
    x = log_sum_exp(im, x, axes, &type, on_attr_int(im, "keepdims", 1) != 0);
  else if (!keeps && type.rank)
    x = reduce(im, &reductions[im->row->which], x, axes, type.rank,
               on_attr_int(im, "keepdims", 1) != 0);
  on_out(im, 0, x, on_type_in(im, 0));
}

/* ---- softmax ---- */

gs_term
t_log_softmax(on_import *im, gs_term x, const bool *axes) {
  gs_type type;
  if (!t_type(im, x, &type))
    return GS_NO_TERM;
  gs_term most =
      reduce(im, &reductions[ON_REDUCE_MAX], x, axes, type.rank, true);
  x = t_fold(im, "sub", x, t_fit(im, most, type.dim, type.rank));
  gs_term sum = reduce(im, &reductions[ON_REDUCE_LOG_SUM],
                       t_compute(im, "exp", x), axes, type.rank, true);
  return t_fold(im, "sub", x, t_fit(im, sum, type.dim, type.rank));
}

/* 1 at the first of the largest, 0 elsewhere. */
static gs_term
hardmax(on_import *im, gs_term x, uint32_t axis) {
  gs_type t;
  x = t_axis_last(im, x, axis);
  if (!t_type(im, x, &t))
    return GS_NO_TERM;
  gs_term most = t_insert(im, t_compute(im, "reduceMax", x), t.access);
  most = t_broadcast(im, most, t.dim, t.rank);
  gs_term behind = t_fold(im, "sub", most, t_whole(im, x));
  gs_term place = t_iota(im, t.dtype, t.dim[t.access]);
  place = t_fit(im, place, t.dim, t.rank);
  gs_term far = t_value(im, t.dtype, (double)t.dim[t.access], t.dim, t.rank);
  gs_term first = t_select(im, behind, far, place);
  first = t_compute(im, "reduceMin", t_access(im, first, t.access));
  first = t_broadcast(im, t_insert(im, first, t.access), t.dim, t.rank);
  return t_axis_back(im, t_same_index(im, first, place), axis);
}

void
emit_softmax(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  bool axes[GS_MAX_RANK] = {0};
  int64_t order[GS_MAX_RANK], back[GS_MAX_RANK];
  uint32_t axis;
  if (!t_type(im, x, &type) ||
      !on_axis(im, on_attr_int(im, "axis", -1), type.rank, &axis))
    return;
  axes[axis] = true;
  if (im->row->which == ON_LOG_SOFTMAX) {
    on_out(im, 0, t_log_softmax(im, x, axes), on_type_in(im, 0));
    return;
  }
  x = t_axes_last(im, x, axes, order);
  x = t_whole(im, t_compute(im, "softmax", x));
  for (uint32_t k = 0; k < type.rank; k++)
    back[order[k]] = k;
  on_out(im, 0, t_transpose(im, x, back, type.rank), on_type_in(im, 0));
}

void
emit_hardmax(on_import *im) {
  gs_type type;
  uint32_t axis;
  gs_term x = t_widened(im, on_term_in(im, 0)); /* in which places are exact */
  if (t_type(im, x, &type) &&
      on_axis(im, on_attr_int(im, "axis", -1), type.rank, &axis))
    on_out(im, 0, hardmax(im, x, axis), on_type_in(im, 0));
}

/* ---- normalizations ---- */

/* What elements are moved and scaled by, one number for all axes. */
typedef struct moments {
  gs_term mean, by;
} moments;

static gs_term
root_of_mean(on_import *im, gs_term squares, const bool *axes, uint32_t rank,
             double epsilon) {
  gs_term v =
      reduce(im, &reductions[ON_REDUCE_MEAN], squares, axes, rank, true);
  return t_compute(im, "rsqrt", t_offset(im, epsilon, v));
}

/* (x - mean) / sqrt(variance + epsilon) over the axes, or without a mean. */
static gs_term
standardized(on_import *im, gs_term x, const bool *axes, const gs_type *type,
             double epsilon, bool centred, moments *m) {
  m->mean = GS_NO_TERM;
  if (centred) {
    m->mean =
        reduce(im, &reductions[ON_REDUCE_MEAN], x, axes, type->rank, true);
    x = t_fold(im, "sub", x, t_fit(im, m->mean, type->dim, type->rank));
  }
  m->by =
      root_of_mean(im, t_compute(im, "square", x), axes, type->rank, epsilon);
  return t_fold(im, "mul", x, t_fit(im, m->by, type->dim, type->rank));
}

static gs_term
normalized(on_import *im, gs_term x, const bool *axes, const gs_type *type,
           double epsilon) {
  moments m;
  return standardized(im, x, axes, type, epsilon, true, &m);
}

void
emit_layer_norm(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  bool axes[GS_MAX_RANK] = {0};
  uint32_t axis;
  if (!t_type(im, x, &type) ||
      !on_axis(im, on_attr_int(im, "axis", -1), type.rank, &axis))
    return;
  for (uint32_t k = axis; k < type.rank; k++)
    axes[k] = true;
  moments m;
  x = standardized(im, x, axes, &type, on_attr_real(im, "epsilon", 1e-5),
                   im->row->which == ON_LAYER_NORM, &m);
  x = t_fold(im, "mul", x, t_fit(im, on_term_in(im, 1), type.dim, type.rank));
  if (on_in(im, 2))
    x = t_fold(im, "add", x, t_fit(im, on_term_in(im, 2), type.dim, type.rank));
  on_out(im, 0, x, on_type_in(im, 0));
  int32_t wide = gs_is_half(type.dtype) ? ON_FLOAT : on_type_in(im, 0);
  if (on_wants(im, 1))
    on_out(im, 1, m.mean, wide);
  if (on_wants(im, 2))
    on_out(im, 2, m.by, wide);
}

/* Over the axes that are named, or all but the channels'. */
void
emit_mean_variance(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  bool axes[GS_MAX_RANK] = {0}, given;
  if (!t_type(im, x, &type) || !on_axes(im, 255, type.rank, axes, &given))
    return;
  if (!given && type.rank > 1)
    axes[1] = false;
  on_out(im, 0, normalized(im, x, axes, &type, 1e-18), on_type_in(im, 0));
}

/* One number a channel, as (C, 1, 1...). */
static gs_term
by_channel(on_import *im, gs_term v, const gs_type *type) {
  for (uint32_t k = 2; k < type->rank; k++)
    v = t_insert(im, v, k - 1);
  return t_fit(im, v, type->dim, type->rank);
}

/* x / norm along an axis; where the norm is 0, so is x, and stays. */
void
emit_lp_norm(on_import *im) {
  gs_type type;
  gs_term x = t_widened(im, on_term_in(im, 0));
  bool axes[GS_MAX_RANK] = {0};
  int64_t p = on_attr_int(im, "p", 2);
  uint32_t axis;
  if (!t_type(im, x, &type) ||
      !on_axis(im, on_attr_int(im, "axis", -1), type.rank, &axis))
    return;
  if (p != 1 && p != 2) {
    on_fail(im, "p is neither 1 nor 2");
    return;
  }
  axes[axis] = true;
  gs_term norm = reduce(im, &reductions[p == 1 ? ON_REDUCE_L1 : ON_REDUCE_L2],
                        x, axes, type.rank, true);
  norm = t_fit(im, norm, type.dim, type.rank);
  x = t_select(im, norm, t_fold(im, "div", x, norm),
               t_fold(im, "mul", x, norm));
  on_out(im, 0, x, on_type_in(im, 0));
}

/* Groups of channels, or each of them, in each image.  Before version 21 there
 * is a factor and a summand a group. */
void
emit_instance_norm(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  bool axes[] = {false, false, true};
  if (!t_type(im, x, &type) || type.rank < 3) {
    on_fail(im, "its input is not a batch of images");
    return;
  }
  int64_t groups = im->row->which == ON_GROUP_NORM
                       ? on_attr_int(im, "num_groups", 0)
                       : type.dim[1];
  if (groups < 1 || type.dim[1] % groups) {
    on_fail(im, "its groups do not divide its channels");
    return;
  }
  gs_type flat = {.rank = 3, .dtype = type.dtype};
  flat.dim[0] = type.dim[0];
  flat.dim[1] = groups;
  flat.dim[2] = gs_elements(&type) / type.dim[0] / groups;
  x = t_reshape(im, x, flat.dim, 3, NULL, 0);
  x = normalized(im, x, axes, &flat, on_attr_real(im, "epsilon", 1e-5));
  bool by_group = im->row->which == ON_GROUP_NORM && im->opset < 21;
  const gs_type *by = by_group ? &flat : &type;
  x = t_reshape(im, x, by->dim, by->rank, NULL, 0);
  x = t_fold(im, "mul", x, by_channel(im, on_term_in(im, 1), by));
  x = t_fold(im, "add", x, by_channel(im, on_term_in(im, 2), by));
  x = t_reshape(im, x, type.dim, type.rank, NULL, 0);
  on_out(im, 0, x, on_type_in(im, 0));
}

/* ---- batch normalization ---- */

/* Factor and summand of a channel, which are known with their parts. */
static bool
factors(on_import *im, on_array *const *in, double epsilon, on_array *factor,
        on_array *summand) {
  for (int64_t c = 0; c < in[0]->n; c++) {
    double f = on_real(in[0], c) / sqrt(on_real(in[3], c) + epsilon);
    on_set_real(factor, c, f);
    on_set_real(summand, c, on_real(in[1], c) - on_real(in[2], c) * f);
  }
  return !im->failed;
}

/* A statistic of a channel that moves a part of the way to the batch's. */
static void
move_statistic(on_import *im, uint32_t input, uint32_t output, gs_term now) {
  double momentum = on_attr_real(im, "momentum", 0.9);
  gs_term before = on_term_in(im, input);
  gs_term sum = t_fold(im, "add", t_scale(im, momentum, before),
                       t_scale(im, 1 - momentum, now));
  on_out(im, output, sum, on_type_in(im, input));
}

/* By the statistics of the batch itself, as weights are standardized, too. */
static void
batch_norm_by_itself(on_import *im, gs_term x, const gs_type *type) {
  const reduction *mean_of = &reductions[ON_REDUCE_MEAN];
  bool axes[GS_MAX_RANK];
  for (uint32_t k = 0; k < type->rank; k++)
    axes[k] = k != 1;
  gs_term mean = t_whole(im, reduce(im, mean_of, x, axes, type->rank, false));
  x = t_fold(im, "sub", x, by_channel(im, mean, type));
  gs_term variance = t_whole(im, reduce(im, mean_of, t_compute(im, "square", x),
                                        axes, type->rank, false));
  gs_term by = t_compute(
      im, "rsqrt", t_offset(im, on_attr_real(im, "epsilon", 1e-5), variance));
  by = t_fold(im, "mul", by, on_term_in(im, 1));
  x = t_fold(im, "mul", x, by_channel(im, by, type));
  x = t_fold(im, "add", x, by_channel(im, on_term_in(im, 2), type));
  on_out(im, 0, x, on_type_in(im, 0));
  move_statistic(im, 3, 1, mean);
  move_statistic(im, 4, 2, variance);
}

void
emit_batch_norm(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  on_array *in[4];
  if (!t_type(im, x, &type) || type.rank < 2) {
    on_fail(im, "its input is not a batch of images");
    return;
  }
  if (on_attr_int(im, "training_mode", 0)) {
    batch_norm_by_itself(im, x, &type);
    return;
  }
  for (uint32_t k = 0; k < 4; k++) {
    in[k] = on_array_in(im, k + 1);
    if (!in[k] || in[k]->n != type.dim[1]) {
      on_fail(im, "input %u does not have one element for each channel", k + 1);
      return;
    }
  }
  on_array *factor = on_array_new(im, in[0]->type, &type.dim[1], 1);
  on_array *summand = on_array_new(im, in[0]->type, &type.dim[1], 1);
  if (!factor || !summand ||
      !factors(im, in, on_attr_real(im, "epsilon", 1e-5), factor, summand))
    return;
  factor->name = bs_arena_printf(im->ctx->arena, "%s.factor", in[0]->name);
  summand->name = bs_arena_printf(im->ctx->arena, "%s.summand", in[0]->name);
  x = t_fold(im, "mul", x, by_channel(im, t_constant(im, factor), &type));
  x = t_fold(im, "add", x, by_channel(im, t_constant(im, summand), &type));
  on_out(im, 0, x, on_type_in(im, 0));
}
