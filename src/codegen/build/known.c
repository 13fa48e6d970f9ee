/* SPDX-License-Identifier: MIT */
/* known.c - elements of constants as literals, and what follows from them.
 *
 * An element of a small array whose index is a number is written as its value,
 * so that the compiler need not find out that the array holds it.  A factor of
 * one is left out; a product with zero is left out of a sum of floats where
 * sums may be changed at all (not under --strict-fp: it tells infinities). */
#include "codegen/build/body.h"
#include <assert.h>

/* ---- literals ---- */

bool
cg_known_value(const cg_body *b, uint32_t k, double *out) {
  assert(k < b->stmt->n_exprs);
  const po_expr *x = &b->stmt->exprs[k];
  if (x->kind == PO_LITERAL) {
    *out = x->literal;
    return true;
  }
  if (x->kind != PO_READ || b->places || !b->origin->index[k])
    return false;
  const po_array *array = &b->e->p->arrays.data[x->array];
  int64_t at;
  if (!cg_is_small_constant(array) || gs_is_half(array->dtype) ||
      !cg_is_number(b->origin->index[k], &at) || at < 0 ||
      at >= po_elements(array))
    return false;
  *out = cg_element_at(array, at);
  return true;
}

bool
cg_is_factor(const cg_body *b, uint32_t k, double value) {
  assert(k < b->stmt->n_exprs);
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
  assert(origin->stmt < e->p->stmts.len);
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
