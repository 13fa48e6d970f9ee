/* SPDX-License-Identifier: MIT */
/* emit_logic.c - comparisons, what is made of truth values, and choices.
 *
 * A truth value is 0 or 1.  `select` asks whether something is above 0, so a
 * comparison asks that of a difference, in a dtype in which it is exact as far
 * as its sign goes: of floats their own, of integers one that holds it. */
#include "onnx/onnx_import.h"

#include <math.h>

/* Where differences of integers do not wrap. */
gs_term
t_compared(on_import *im, gs_term x) {
  gs_type type;
  if (!t_type(im, x, &type) || !gs_dtype_table[type.dtype].integer)
    return x;
  bool large = type.dtype == GS_I32 || gs_is_wide(type.dtype);
  return t_cast(im, large ? GS_F64 : GS_I32, x);
}

static gs_term
number_like(on_import *im, gs_term x, double v) {
  gs_type type;
  if (!t_type(im, x, &type))
    return GS_NO_TERM;
  return t_value(im, type.dtype, v, type.dim, type.rank);
}

static gs_term
above_zero(on_import *im, gs_term x) {
  return t_select(im, x, number_like(im, x, 1), number_like(im, x, 0));
}

/* 1 where no operand is a NaN. */
static gs_term
are_numbers(on_import *im, gs_term a, gs_term b) {
  gs_term sizes =
      t_fold(im, "add", t_compute(im, "abs", a), t_compute(im, "abs", b));
  return above_zero(im, t_offset(im, 1, sizes));
}

static gs_term
greater(on_import *im, gs_term a, gs_term b) {
  return above_zero(im,
                    t_fold(im, "sub", t_compared(im, a), t_compared(im, b)));
}

/* Neither is greater; two infinities of one sign are equal. */
gs_term
t_equal(on_import *im, gs_term a, gs_term b) {
  gs_type type;
  if (!t_type(im, a, &type))
    return GS_NO_TERM;
  a = t_compared(im, a);
  b = t_compared(im, b);
  gs_term zero = number_like(im, a, 0);
  gs_term same = gs_dtype_table[type.dtype].integer ? number_like(im, a, 1)
                                                    : are_numbers(im, a, b);
  same = t_select(im, t_fold(im, "sub", b, a), zero, same);
  return t_select(im, t_fold(im, "sub", a, b), zero, same);
}

static gs_term
at_least(on_import *im, gs_term a, gs_term b) {
  return t_fold(im, "max", greater(im, a, b), t_equal(im, a, b));
}

/* Both operands in the shape that they fit. */
static bool
operands(on_import *im, gs_term *a, gs_term *b) {
  gs_type x, y, both;
  *a = on_term_in(im, 0);
  *b = on_term_in(im, 1);
  if (!t_type(im, *a, &x) || !t_type(im, *b, &y) ||
      !t_common(im, &x, &y, &both))
    return false;
  *a = t_fit(im, *a, both.dim, both.rank);
  *b = t_fit(im, *b, both.dim, both.rank);
  return true;
}

static gs_term
comparison(on_import *im, gs_term a, gs_term b) {
  switch (im->row->which) {
  case ON_EQUAL:
    return t_equal(im, a, b);
  case ON_GREATER:
    return greater(im, a, b);
  case ON_LESS:
    return greater(im, b, a);
  case ON_GREATER_EQUAL:
    return at_least(im, a, b);
  default:
    return at_least(im, b, a);
  }
}

void
emit_compare(on_import *im) {
  gs_term a, b;
  if (operands(im, &a, &b))
    on_out(im, 0, t_cast(im, GS_BOOL, comparison(im, a, b)), ON_BOOL);
}

/* ---- truth values ---- */

/* 1 - x, as an integer. */
static gs_term
not_of(on_import *im, gs_term x) {
  x = t_compute(im, "neg", t_cast(im, GS_I8, x));
  return t_cast(im, GS_BOOL, t_offset(im, 1, x));
}

static gs_term
exactly_one(on_import *im, gs_term most, gs_term least) {
  most = t_cast(im, GS_I8, most);
  return t_cast(im, GS_BOOL, t_fold(im, "sub", most, t_cast(im, GS_I8, least)));
}

void
emit_both(on_import *im) {
  gs_term a, b;
  if (!operands(im, &a, &b))
    return;
  gs_term most = t_fold(im, "max", a, b), least = t_fold(im, "min", a, b);
  int which = im->row->which;
  on_out(im, 0,
         which == ON_AND  ? least
         : which == ON_OR ? most
                          : exactly_one(im, most, least),
         ON_BOOL);
}

void
emit_not(on_import *im) {
  on_out(im, 0, not_of(im, on_term_in(im, 0)), ON_BOOL);
}

/* A NaN is no number; an infinity is beyond what is finite. */
void
emit_is_nan(on_import *im) {
  gs_term x = on_term_in(im, 0);
  on_out(im, 0, not_of(im, are_numbers(im, x, x)), ON_BOOL);
}

void
emit_is_inf(on_import *im) {
  bool above = on_attr_int(im, "detect_positive", 1) != 0;
  bool below = on_attr_int(im, "detect_negative", 1) != 0;
  gs_term x = on_term_in(im, 0);
  x = above && below ? t_compute(im, "abs", x)
      : above        ? x
                     : t_compute(im, "neg", x);
  gs_term most = number_like(im, x, INFINITY);
  gs_term is = above || below ? t_equal(im, x, most) : number_like(im, x, 0);
  on_out(im, 0, t_cast(im, GS_BOOL, is), ON_BOOL);
}

/* -1, 0 or 1; what is neither above 0 nor below, a NaN, too, is itself. */
void
emit_sign(on_import *im) {
  gs_type type;
  gs_term x = on_term_in(im, 0);
  if (!t_type(im, x, &type))
    return;
  if (gs_dtype_table[type.dtype].integer)
    x = t_clip(im, gs_is_unsigned(type.dtype) ? 0 : -1, 1, x);
  else
    x = t_select(im, t_compute(im, "abs", x),
                 t_fold(im, "sub", above_zero(im, x),
                        above_zero(im, t_compute(im, "neg", x))),
                 x);
  on_out(im, 0, x, on_type_in(im, 0));
}

/* ---- choices ---- */

void
emit_where(on_import *im) {
  gs_type a, b, c, both, all;
  const on_value *test = on_in(im, 0);
  gs_term x = on_term_in(im, 1), y = on_term_in(im, 2);
  if (!on_shape_in(im, 0, &c) || !t_type(im, x, &a) || !t_type(im, y, &b) ||
      !t_common(im, &a, &b, &both) || !t_common(im, &both, &c, &all))
    return;
  x = t_fit(im, x, all.dim, all.rank);
  y = t_fit(im, y, all.dim, all.rank);
  if (test->array && on_is_splat(test->array)) {
    on_out(im, 0, on_int(test->array, 0) ? x : y, on_type_in(im, 1));
    return;
  }
  gs_term chosen = t_cast(im, a.dtype, on_term_in(im, 0));
  on_out(im, 0, t_select(im, t_fit(im, chosen, all.dim, all.rank), x, y),
         on_type_in(im, 1));
}
