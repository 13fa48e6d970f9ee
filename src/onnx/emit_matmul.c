/* SPDX-License-Identifier: MIT */
/* emit_matmul.c - products of matrices. */
#include "onnx/sized.h"

#include <string.h>

/* The last two dimensions change places. */
static gs_term
turned(on_import *im, gs_term a) {
  gs_type type;
  int64_t order[GS_MAX_RANK];
  if (!t_type(im, a, &type))
    return GS_NO_TERM;
  for (uint32_t k = 0; k < type.rank; k++)
    order[k] = k;
  order[type.rank - 1] = type.rank - 2;
  order[type.rank - 2] = type.rank - 1;
  return t_transpose(im, a, order, type.rank);
}

/* Rows of a, of any rank, times one matrix whose rows are b's. */
static gs_term
by_matrix(on_import *im, gs_term a, gs_term b) {
  gs_type type;
  if (!t_type(im, a, &type))
    return GS_NO_TERM;
  gs_term both =
      t_cartprod(im, t_access(im, a, type.rank - 1), t_access(im, b, 1));
  return t_whole(im, t_compute(im, "dotProd", both));
}

/* ((batch..., M, N), (K)), of a side that has one of M or N.  The broadcast
 * stands outermost, where rules that cut batches look for it. */
static gs_term
rows_in(on_import *im, gs_term a, const gs_type *all, uint32_t rank) {
  gs_type type;
  if (!t_type(im, a, &type))
    return GS_NO_TERM;
  for (uint32_t k = type.rank; k < rank; k++)
    a = t_insert(im, a, 0);
  return t_broadcast(im, t_access(im, a, rank - 1), all->dim, rank);
}

/* (batch..., M, N, K) of both sides, of which the rows are paired. */
static gs_term
in_batches(on_import *im, gs_term a, const gs_type *x, gs_term b,
           const gs_type *y) {
  gs_type batch_x = *x, batch_y = *y, all;
  batch_x.rank = (uint8_t)(x->rank - 2);
  batch_y.rank = (uint8_t)(y->rank - 2);
  if (!t_common(im, &batch_x, &batch_y, &all))
    return GS_NO_TERM;
  uint32_t n = all.rank;
  all.dim[n] = x->dim[x->rank - 2];
  all.dim[n + 1] = y->dim[y->rank - 2];
  all.dim[n + 2] = x->dim[x->rank - 1];
  gs_term left = rows_in(im, t_insert(im, a, x->rank - 1), &all, n + 3);
  gs_term right = rows_in(im, t_insert(im, b, y->rank - 2), &all, n + 3);
  return t_compute(im, "dotProd", t_pair(im, left, right));
}

gs_term
t_matmul(on_import *im, gs_term a, gs_term b) {
  gs_type x, y;
  bool row, column;
  if (!t_type(im, a, &x) || !t_type(im, b, &y) || !x.rank || !y.rank) {
    on_fail(im, "its operands are not vectors or matrices");
    return GS_NO_TERM;
  }
  row = x.rank == 1;
  column = y.rank == 1;
  a = row ? t_insert(im, a, 0) : a;
  b = column ? t_insert(im, b, 0) : turned(im, b);
  if (!t_type(im, a, &x) || !t_type(im, b, &y))
    return GS_NO_TERM;
  if (x.dim[x.rank - 1] != y.dim[y.rank - 1]) {
    on_fail(im, "rows of %s elements do not match columns of %s",
            on_number(im, x.dim[x.rank - 1]), on_number(im, y.dim[y.rank - 1]));
    return GS_NO_TERM;
  }
  gs_term out =
      y.rank == 2 ? by_matrix(im, a, b) : in_batches(im, a, &x, b, &y);
  gs_type made;
  out = t_whole(im, out);
  if (!t_type(im, out, &made))
    return GS_NO_TERM;
  if (column)
    out = t_squeeze(im, out, made.rank - 1);
  return row ? t_squeeze(im, out, made.rank - 2) : out;
}

void
emit_matmul(on_import *im) {
  on_out(im, 0, t_matmul(im, on_term_in(im, 0), on_term_in(im, 1)),
         on_type_in(im, 0));
}

static gs_term
scaled(on_import *im, gs_term a, double by) {
  return by == 1 ? a : t_scale(im, by, a);
}

void
emit_gemm(on_import *im) {
  gs_type x, y, made;
  gs_term a = on_term_in(im, 0), b = on_term_in(im, 1);
  if (!t_type(im, a, &x) || !t_type(im, b, &y) || x.rank != 2 || y.rank != 2) {
    on_fail(im, "its operands are not matrices");
    return;
  }
  a = on_attr_int(im, "transA", 0) ? turned(im, a) : a;
  b = on_attr_int(im, "transB", 0) ? b : turned(im, b);
  gs_term out = scaled(im, by_matrix(im, a, b), on_attr_real(im, "alpha", 1));
  double beta = on_attr_real(im, "beta", 1);
  if (on_in(im, 2) && beta != 0 && t_type(im, out, &made)) {
    gs_term c = t_fit(im, scaled(im, on_term_in(im, 2), beta), made.dim, 2);
    out = t_fold(im, "add", out, c);
  }
  on_out(im, 0, out, on_type_in(im, 0));
}
