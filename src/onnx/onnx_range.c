/* SPDX-License-Identifier: MIT */
/* onnx_range.c - how large the elements of terms can be.
 *
 * Models compute with int64 in f64, which is exact up to 2^53, and the
 * language's i64 ends there.  A node whose result may be larger would give
 * another one than the model means, so it is refused.  What elements of an
 * input are, or numbers that are cast to integers, is not known: masks, indices
 * and lengths are below a million, and if the result is within bounds for all
 * of those, but not for all that an int64 may be, then the node is imported,
 * and a warning says up to where it holds.
 *
 * A term's range is found when it is made, from those of its operands. */
#include "onnx/onnx_range.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* What is not known is usually below this. */
#define USUAL 0x1p20

static on_range_of
of_dtype(gs_dtype d) {
  assert(d < GS_DTYPE_COUNT);
  if (!gs_dtype_table[d].integer)
    return (on_range_of){INFINITY, INFINITY, false};
  double most = -(double)gs_dtype_least(d);
  double up = (double)gs_dtype_most(d);
  most = most > up ? most : up;
  return (on_range_of){most < USUAL ? most : USUAL, most, true};
}

static on_range_of
range_at(const on_import *im, gs_term t) {
  gs_type type;
  if (t.i < im->ranges.len && im->ranges.data[t.i].is_set)
    return im->ranges.data[t.i].range;
  gs_type_at(im->p, t, &type);
  return of_dtype(type.dtype);
}

static void
set_range(on_import *im, gs_term t, on_range_of range) {
  assert(gs_term_ok(t) && t.i < im->p->nodes.len);
  while (im->ranges.len <= t.i)
    bs_push(im->ctx->heap, &im->ranges, (on_ranged){0});
  im->ranges.data[t.i] = (on_ranged){range, true};
}

static on_range_of
number(double v) {
  return (on_range_of){fabs(v), fabs(v), v == floor(v)};
}

void
on_set_number(on_import *im, gs_term t, double v) {
  set_range(im, t, number(v));
}

void
on_set_elements(on_import *im, gs_term t, const on_array *a) {
  on_range_of r = {0, 0, true};
  for (int64_t k = 0; k < a->n; k++) {
    double v = on_real(a, k);
    if (a->type == ON_INT64 &&
        (on_int(a, k) > (int64_t)1 << 53 || on_int(a, k) < -((int64_t)1 << 53)))
      return; /* which is told where they are written */
    r.all = fabs(v) > r.all ? fabs(v) : r.all;
    r.whole &= v == floor(v);
  }
  r.fits = r.all;
  set_range(im, t, r);
}

/* ---- of what is computed ---- */

static on_range_of
larger(on_range_of a, on_range_of b) {
  return (on_range_of){a.fits > b.fits ? a.fits : b.fits,
                       a.all > b.all ? a.all : b.all, a.whole && b.whole};
}

/* Rounded up: of integers, where they are no longer exact. */
static double
plus(double a, double b) {
  double sum = a + b;
  return sum >= 0x1p53 && a > 0 && b > 0 ? nextafter(sum, INFINITY) : sum;
}

static on_range_of
sum(on_range_of a, on_range_of b) {
  return (on_range_of){plus(a.fits, b.fits), plus(a.all, b.all),
                       a.whole && b.whole};
}

/* 0 times what has no bound may be anything. */
static double
times(double a, double b) {
  return isinf(a) || isinf(b) ? INFINITY : a * b;
}

static on_range_of
product(on_range_of a, on_range_of b) {
  return (on_range_of){times(a.fits, b.fits), times(a.all, b.all),
                       a.whole && b.whole};
}

static double
parameter(const bs_values *values, bs_value op, uint32_t k) {
  return bs_as_real(values, gs_compute_param(values, op, k));
}

/* Both parts of a pair. */
static void
parts_of(const on_import *im, gs_term t, on_range_of *a, on_range_of *b) {
  const gs_node *n = gs_at(im->p, t);
  bool two = n->op == GS_PAIR || n->op == GS_CARTPROD;
  *a = range_at(im, two ? n->kids[0] : t);
  *b = range_at(im, two ? n->kids[1] : t);
}

/* What select chooses from: not the sign that it looks at. */
static on_range_of
chosen(const on_import *im, gs_term t) {
  const gs_node *n = gs_at(im->p, t);
  const gs_node *two = n->op == GS_CONCAT ? gs_at(im->p, n->kids[0]) : NULL;
  return two && two->op == GS_PAIR
             ? larger(range_at(im, two->kids[1]), range_at(im, n->kids[1]))
             : range_at(im, t);
}

/* A product of each bound, as many as are summed up. */
static on_range_of
summed(const on_import *im, gs_term t, on_range_of each, bool of_pairs) {
  gs_type type;
  double n = of_pairs ? 0.5 : 1;
  gs_type_at(im->p, t, &type);
  for (uint32_t k = type.access; k < type.rank; k++)
    n *= (double)type.dim[k];
  return product(each, number(n));
}

static on_range_of
quotient(on_range_of a, on_range_of b) {
  return b.whole ? (on_range_of){a.fits, a.all, false}
                 : (on_range_of){INFINITY, INFINITY, false};
}

/* The elements that the dtype holds; of an integer, cut off. */
static on_range_of
cast_to(gs_dtype d, on_range_of x) {
  assert(d < GS_DTYPE_COUNT);
  on_range_of own = of_dtype(d);
  if (!gs_dtype_table[d].integer)
    return x;
  return (on_range_of){x.fits < INFINITY ? fmin(x.fits, own.all) : own.fits,
                       fmin(x.all, own.all), true};
}

/* Operators that add and multiply, and those that choose; of others only the
 * dtype is known. */
static on_range_of
of_compute(const on_import *im, const gs_node *n, gs_compute which,
           gs_dtype dtype) {
  gs_term of = n->kids[0];
  on_range_of x = range_at(im, of), a, b;
  const bs_values *values = im->ctx->values;
  bs_value op = bs_item(values, n->attr, 0);
  parts_of(im, of, &a, &b);
  switch ((int)which) {
  case GS_C_CAST:
    return cast_to(dtype, x);
  case GS_C_ADD:
    return sum(a, b);
  case GS_C_SUB: /* of the same term, it is 0 */
    return gs_at(im->p, of)->op == GS_PAIR &&
                   gs_at(im->p, of)->kids[0].i == gs_at(im->p, of)->kids[1].i
               ? number(0)
               : sum(a, b);
  case GS_C_MUL:
    return product(a, b);
  case GS_C_DIV:
    return quotient(a, b);
  case GS_C_SQUARE:
    return product(x, x);
  case GS_C_DOT_PROD:
    return summed(im, of, product(a, b), true);
  case GS_C_REDUCE_SUM:
  case GS_C_REDUCE_MEAN: /* the sum of which is divided */
    return summed(im, of, x, false);
  case GS_C_OFFSET:
    return sum(x, number(parameter(values, op, 0)));
  case GS_C_SCALE:
    return product(x, number(parameter(values, op, 0)));
  case GS_C_FLOOR:
  case GS_C_ROUND:
    return (on_range_of){x.fits + 1, x.all + 1, true};
  case GS_C_SELECT:
    return chosen(im, of);
  case GS_C_CLIP:
    return larger(number(parameter(values, op, 0)),
                  number(parameter(values, op, 1)));
  case GS_C_REDUCE_MAX:
  case GS_C_REDUCE_MIN:
  case GS_C_MAX:
  case GS_C_MIN:
  case GS_C_NEG:
  case GS_C_ABS:
  case GS_C_RELU:
  case GS_C_GATHER:
  case GS_C_LOOKUP:
    return x;
  }
  return of_dtype(dtype);
}

/* Views move elements; a padding by the lowest value adds that. */
static on_range_of
of_view(const on_import *im, const gs_node *n, gs_dtype dtype) {
  on_range_of out = range_at(im, n->kids[0]), lowest = of_dtype(dtype);
  gs_padding kind;
  for (uint32_t k = 1; k < n->n_kids; k++)
    out = larger(out, range_at(im, n->kids[k]));
  lowest.fits = lowest.all;
  return n->op == GS_PAD &&
                 gs_padding_of(im->ctx->values,
                               bs_item(im->ctx->values, n->attr, 0), &kind) &&
                 kind == GS_PADDING_MIN
             ? larger(out, lowest)
             : out;
}

void
on_note_range(on_import *im, gs_term t) {
  const gs_node *n = gs_at(im->p, t);
  gs_compute which;
  gs_type type;
  gs_type_at(im->p, t, &type);
  on_range_of range = of_dtype(type.dtype);
  if (n->op == GS_COMPUTE &&
      gs_compute_of(im->ctx->values, bs_item(im->ctx->values, n->attr, 0),
                    &which))
    range = of_compute(im, n, which, type.dtype);
  else if (gs_op_table[n->op].view)
    range = of_view(im, n, type.dtype);
  set_range(im, t, range);
}

/* ---- what is refused ---- */

bool
on_is_exact(on_import *im, gs_term t) {
  on_range_of r = range_at(im, t);
  if (r.fits > 0x1p53) {
    on_fail(im, "its result may be beyond 2^53, where integers are not exact");
    on_hint(im,
            "cast what it is computed from to a smaller type first, such as "
            "int16 or bool, or compute it in double");
    return false;
  }
  if (r.all > 0x1p53 && im->told_of != im->node) {
    im->exact_for_usual++;
    im->told_of = im->node;
    im->first_told_of = im->first_told_of ? im->first_told_of : im->node;
  }
  return true;
}

void
on_tell_of_ranges(const on_import *im) {
  const Onnx__Node *n = im->first_told_of;
  if (!n)
    return;
  const char *name = n->name && *n->name ? n->name : n->output[0];
  bs_text text;
  bs_text_init(&text, im->ctx->heap);
  on_put_plain(&text, name, strlen(name));
  if (im->exact_for_usual > 1)
    bs_putf(&text, " and %u others", im->exact_for_usual - 1);
  bs_warning(im->ctx->diags, BS_NOWHERE, "onnx-int64",
             "%s: the int64 results of node %s are exact only while the "
             "elements of inputs are below 2^20",
             im->options->path, bs_text_str(&text));
  bs_hint(im->ctx->diags, "a result beyond 2^53 becomes 2^53; to rule it out, "
                          "export the model with inputs of int32");
  bs_text_done(&text);
}
