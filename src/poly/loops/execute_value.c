/* SPDX-License-Identifier: MIT */
/* execute_value.c - what an instance computes, one expression at a time. */
#include "poly/loops/execute_state.h"
#include <assert.h>
#include <math.h>

/* As a value that generated code computes with. */
static double
rounded(gs_dtype dtype, double v) {
  if (dtype == GS_F64)
    return v;
  if (!gs_dtype_table[dtype].integer)
    return (double)(float)v;
  return v;
}

double
po_execute_fold(gs_compute op, gs_dtype dtype, double a, double b) {
  assert(op < GS_COMPUTE_COUNT && dtype < GS_DTYPE_COUNT);
  gs_fold by = gs_compute_table[op].fold;
  if (!gs_dtype_table[dtype].integer)
    return rounded(dtype, gs_fold_real(by, a, b));
  return (double)gs_wrap(dtype,
                         gs_fold_table[by].whole((int64_t)a, (int64_t)b));
}

static double
unary(po_execution *x, const po_executed *s, uint32_t k) {
  const po_expr *e = &s->stmt->exprs[k];
  double in = x->values[e->kids[0]], out;
  if (e->op == GS_C_REDUCE_MEAN)
    return po_execute_fold(GS_C_DIV, e->dtype, in, e->literal);
  gs_type one = {.access = 0, .rank = 0, .dtype = s->operators[k].from};
  in_compute(&s->operators[k], &one, &in, &out);
  if (e->op == GS_C_CAST)
    return gs_convert(e->dtype, out);
  return rounded(e->dtype, out);
}

static double
gather(po_execution *x, const po_executed *s, uint32_t k) {
  const po_expr *e = &s->stmt->exprs[k];
  double at = x->values[e->kids[0]];
  int64_t step = !(at > 0)                      ? 0
                 : at >= (double)(e->count - 1) ? e->count - 1
                                                : (int64_t)at;
  return gs_tensor_get(&x->memory[e->array], s->now[k] + e->stride * step);
}

double
po_execute_expr(po_execution *x, const po_executed *s, uint32_t k) {
  assert(k < s->stmt->n_exprs);
  const po_expr *e = &s->stmt->exprs[k];
  const double *v = x->values;
  switch (e->kind) {
  case PO_LITERAL:
    return isinf(e->literal) || gs_dtype_table[e->dtype].integer
               ? gs_convert(e->dtype, e->literal)
               : rounded(e->dtype, e->literal);
  case PO_READ:
    return gs_tensor_get(&x->memory[e->array], s->now[k]);
  case PO_UNARY:
    return unary(x, s, k);
  case PO_BINARY:
    return po_execute_fold(e->op, e->dtype, v[e->kids[0]], v[e->kids[1]]);
  case PO_SELECT:
    return v[e->kids[0]] > 0 ? v[e->kids[1]] : v[e->kids[2]];
  case PO_GATHER:
  default:
    return gather(x, s, k);
  }
}
