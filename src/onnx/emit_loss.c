/* SPDX-License-Identifier: MIT */
/* emit_loss.c - what the chosen class of each place scores. */
#include "onnx/onnx_import.h"

#include <string.h>

typedef struct loss {
  gs_term score;  /* (batch, classes, places...) */
  gs_term target; /* (batch, places...), of i32 */
  gs_term weight; /* of each place */
  gs_type type;
} loss;

/* One number a class, or 1, for each place; 0 where the class is ignored. */
static gs_term
weight_of(on_import *im, const loss *l, const gs_type *places) {
  const Onnx__Attribute *ignored = on_attr(im, "ignore_index");
  gs_dtype d = l->type.dtype;
  gs_term one = t_value(im, d, 1, places->dim, places->rank);
  gs_term zero = t_value(im, d, 0, places->dim, places->rank), w = one;
  if (on_in(im, 2)) {
    int64_t classes = l->type.dim[1];
    gs_term table = t_access(im, on_term_in(im, 2), 0);
    gs_term at = t_reshape(im, t_from_end(im, l->target, classes),
                           (int64_t[]){gs_elements(places)}, 1, NULL, 0);
    w = t_whole(im, t_look_up(im, table, t_access(im, at, 0)));
    w = t_reshape(im, w, places->dim, places->rank, NULL, 0);
  }
  if (!ignored)
    return w;
  gs_type target;
  if (!t_type(im, l->target, &target))
    return GS_NO_TERM;
  gs_term is = t_equal(
      im, l->target,
      t_value(im, target.dtype, (double)ignored->i, places->dim, places->rank));
  return t_select(im, t_cast(im, d, is), zero, w);
}

static gs_term
sum_of(on_import *im, gs_term x) {
  return t_compute(im, "reduceSum", t_access(im, x, 0));
}

static void
give_loss(on_import *im, const loss *l, gs_term each) {
  if (on_attr_is(im, "reduction", "sum", "mean"))
    each = sum_of(im, each);
  else if (on_attr_is(im, "reduction", "mean", "mean"))
    each = t_fold(im, "div", sum_of(im, each), sum_of(im, l->weight));
  on_out(im, 0, each, on_type_in(im, 0));
}

static void
give_chosen(on_import *im, loss *l) {
  gs_type places;
  if (!t_type(im, l->target, &places))
    return;
  if (places.rank != l->type.rank - 1) {
    on_fail(im, "its scores need one dimension more than its classes");
    return;
  }
  l->weight = weight_of(im, l, &places);
  gs_term table = t_axis_last(im, l->score, 1);
  gs_term at = t_from_end(im, l->target, l->type.dim[1]);
  at = t_access(im, t_insert(im, at, places.rank), places.rank);
  gs_term chosen =
      t_squeeze(im, t_whole(im, t_look_up(im, table, at)), places.rank);
  gs_term each = t_fold(im, "mul", t_compute(im, "neg", chosen), l->weight);
  give_loss(im, l, each);
}

void
emit_loss(on_import *im) {
  loss l = {.score = on_term_in(im, 0), .target = on_term_in(im, 1)};
  if (!t_type(im, l.score, &l.type))
    return;
  if (l.type.rank < 2) {
    on_fail(im, "its scores have no classes");
    return;
  }
  gs_type weights;
  if (on_in(im, 2) && (!on_shape_in(im, 2, &weights) || weights.rank != 1 ||
                       weights.dim[0] != l.type.dim[1])) {
    on_fail(im, "it does not have one weight for each class");
    return;
  }
  if (im->row->which == ON_LOG_SOFTMAX) {
    bool axes[GS_MAX_RANK] = {[1] = true};
    l.score = t_log_softmax(im, l.score, axes);
    if (on_wants(im, 1))
      on_out(im, 1, l.score, on_type_in(im, 0));
  }
  give_chosen(im, &l);
}
