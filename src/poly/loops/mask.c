/* SPDX-License-Identifier: MIT */
/* mask.c - see mask.h. */
#include "poly/loops/mask.h"
#include "poly/loops/storage.h"
#include <assert.h>

/* Numbers up to here are exact in every dtype that counts, and so are their
 * differences. */
#define LARGEST 16777216.0

static bool
element_of(const po_array *a, int64_t i, double *out) {
  switch (a->dtype) {
  case GS_F32:
    *out = (double)((const float *)a->data)[i];
    return true;
  case GS_F64:
    *out = ((const double *)a->data)[i];
    return true;
  case GS_I32:
    *out = ((const int32_t *)a->data)[i];
    return true;
  case GS_BF16:
  case GS_F16:
  case GS_I8:
  case GS_U8:
  case GS_I16:
  case GS_U16:
  case GS_BOOL:
  case GS_I64:
  case GS_U32:
  case GS_DTYPE_COUNT:
    break;
  }
  return false;
}

/* Element j is `first` + j * step. */
static bool
goes_by(const po_program *p, uint32_t array, double step, double *first) {
  const po_array *a = &p->arrays.data[array];
  int64_t n = a->role == PO_CONSTANT && a->data ? po_elements(a) : 0;
  double x;
  if (n < 1 || n > (int64_t)LARGEST || !element_of(a, 0, first))
    return false;
  for (int64_t j = 0; j < n; j++)
    if (!element_of(a, j, &x) || x != *first + (double)j * step ||
        !(x > -LARGEST && x < LARGEST))
      return false;
  return true;
}

/* To update by this value changes nothing. */
static bool
is_neutral(const po_program *p, const po_stmt *s, const po_expr *x) {
  double value = x->literal;
  if (x->kind != PO_LITERAL &&
      (x->kind != PO_READ || !goes_by(p, x->array, 0, &value)))
    return false;
  return value == gs_fold_table[gs_compute_table[s->op].fold].start;
}

bool
po_mask_of(const po_program *p, const po_stmt *s, po_mask *out) {
  const po_expr *root = s->n_exprs ? &s->exprs[s->n_exprs - 1] : NULL;
  assert(s->kind != PO_UPDATE || root);
  if (s->kind != PO_UPDATE || root->kind != PO_SELECT ||
      (p->strict_fp && !gs_dtype_table[root->dtype].integer) ||
      !is_neutral(p, s, &s->exprs[root->kids[2]]))
    return false;
  const po_expr *c = &s->exprs[root->kids[0]];
  if (c->kind != PO_BINARY || c->op != GS_C_SUB ||
      (c->dtype != GS_F32 && c->dtype != GS_F64 && c->dtype != GS_I32))
    return false;
  *out = (po_mask){.end = c->kids[0], .count = c->kids[1]};
  const po_expr *count = &s->exprs[out->count];
  return count->kind == PO_READ && goes_by(p, count->array, 1, &out->first);
}
