/* SPDX-License-Identifier: MIT */
/* constant.c - constants: arrays in the file, and elements as literals.
 *
 * An element of a small array whose index is a number is written as its value,
 * so that the compiler need not find out that the array holds it.  A factor of
 * one is left out; a product with zero is left out of a sum of floats where
 * sums may be changed at all (not under --strict-fp: it tells infinities). */
#include "codegen/build/body.h"
#include <math.h>

/* Elements of an array of weights: not of a matrix. */
enum { SMALL = 64 };

static double
element_at(const po_array *array, int64_t i) {
  switch (array->dtype) {
  case GS_F32:
    return (double)((const float *)array->data)[i];
  case GS_F64:
    return ((const double *)array->data)[i];
  case GS_BF16:
    return ((const uint16_t *)array->data)[i];
  case GS_I8:
    return ((const int8_t *)array->data)[i];
  case GS_U8:
    return ((const uint8_t *)array->data)[i];
  case GS_I32:
  case GS_DTYPE_COUNT:
  default:
    return ((const int32_t *)array->data)[i];
  }
}

static void
put_constant(cg_emitter *e, const po_array *array, const char *storage,
             const char *attribute) {
  int64_t n = gs_prod(array->dim, array->rank);
  bs_putf(&e->body, "%s const %s %s[%lld]%s = {", storage,
          gs_dtype_table[array->dtype].c_type, array->name, (long long)n,
          attribute);
  for (int64_t i = 0; i < n; i++) {
    bs_put(&e->body, i % 8 ? " " : "\n  ");
    if (array->dtype == GS_BF16)
      bs_putf(&e->body, "0x%04x", (unsigned)element_at(array, i));
    else
      cg_put_literal(&e->body, array->dtype, element_at(array, i));
    e->uses_math |= !isfinite(element_at(array, i));
    bs_putc(&e->body, ',');
  }
  bs_put(&e->body, "\n};\n\n");
}

bool
cg_is_small_constant(const po_array *array) {
  return array->role == PO_CONSTANT && po_elements(array) <= SMALL;
}

uint32_t
cg_put_constants(cg_emitter *e, const char *storage, const char *attribute) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *array = &e->p->arrays.data[k];
    if (array->role != PO_CONSTANT || (e->mentioned && !e->mentioned[k]))
      continue;
    put_constant(e, array, storage, attribute);
    n++;
  }
  return n;
}

/* ---- literals ---- */

bool
cg_known_value(const cg_body *b, uint32_t k, double *out) {
  const po_expr *x = &b->stmt->exprs[k];
  if (x->kind == PO_LITERAL) {
    *out = x->literal;
    return true;
  }
  if (x->kind != PO_READ || b->places || !b->origin->index[k])
    return false;
  const po_array *array = &b->e->p->arrays.data[x->array];
  int64_t at;
  if (!cg_is_small_constant(array) || array->dtype == GS_BF16 ||
      !cg_is_number(b->origin->index[k], &at) || at < 0 ||
      at >= po_elements(array))
    return false;
  *out = element_at(array, at);
  return true;
}

bool
cg_is_factor(const cg_body *b, uint32_t k, double value) {
  double known;
  return cg_known_value(b, k, &known) && known == value;
}

/* ---- statements without effect ---- */

/* Scalars would be set and never used. */
static bool
reads_memory_only(const cg_emitter *e, const po_stmt *stmt) {
  for (uint32_t j = 0; j < stmt->n_exprs; j++) {
    const po_expr *x = &stmt->exprs[j];
    if (x->kind == PO_GATHER ||
        (x->kind == PO_READ &&
         (!cg_is_indexed(e, x->array) || cg_is_by_name(e, x->array))))
      return false;
  }
  return true;
}

bool
cg_is_void(cg_emitter *e, const cg_origin *origin) {
  const po_stmt *stmt = &e->p->stmts.data[origin->stmt];
  if (stmt->kind != PO_UPDATE || stmt->op != GS_C_ADD)
    return false;
  const po_expr *root = &stmt->exprs[stmt->n_exprs - 1];
  if ((e->p->strict_fp && !cg_is_integer(root->dtype)) ||
      root->kind != PO_BINARY || root->op != GS_C_MUL ||
      !reads_memory_only(e, stmt))
    return false;
  cg_body b = {.e = e, .stmt = stmt, .origin = origin};
  return cg_is_factor(&b, root->kids[0], 0) ||
         cg_is_factor(&b, root->kids[1], 0);
}
