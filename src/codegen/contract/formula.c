/* SPDX-License-Identifier: MIT */
/* formula.c - what the consumer of the sums makes of them.
 *
 * A panel of c holds sums; while it is in the first cache each of them becomes
 * the value of the formula.  What else the formula reads is linear along the
 * panel, as c is.  A function without the attributes of the kernel, so that the
 * helpers of the formula are inlined and its arithmetic is that of a loop of
 * its own. */
#include "codegen/build/build.h"
#include "codegen/contract/contract.h"
#include <assert.h>

static const char *
extra_type(const cg_contract *x, uint32_t k) {
  assert(k < x->c->n_extras);
  const po_array *a = &x->e->p->arrays.data[x->c->extras[k].array];
  return gs_dtype_table[a->dtype].c_type;
}

const char *
cg_restrict(const cg_contract *x) {
  return po_lies_over(x->e->p, x->c) ? "" : "restrict";
}

void
cg_put_extra_parameters(const cg_contract *x) {
  for (uint32_t k = 0; k < x->c->n_extras; k++)
    cg_add(x->w, ", const %s *%s e%u", extra_type(x, k), cg_restrict(x), k);
}

void
cg_put_extra_arguments(const cg_contract *x) {
  for (uint32_t k = 0; k < x->c->n_extras; k++)
    cg_add(x->w, ", e%u", k);
}

static const cg_expr *
scaled(const cg_contract *x, gs_number stride, const char *name) {
  bs_arena *arena = &x->e->arena;
  return gs_is_sized(stride)
             ? cg_infix(arena, CG_OP_MULTIPLY,
                        cg_name(arena, cg_number_text(x, stride)),
                        cg_name(arena, name))
             : cg_scaled(arena, stride, name);
}

/* Each element that the formula reads; sum: that of the sums. */
static const cg_expr *const *
places_of(const cg_contract *x, const po_stmt *s, const cg_expr *sum) {
  bs_arena *arena = &x->e->arena;
  const po_cdims *m = &x->c->dims[PO_DIM_M], *n = &x->c->dims[PO_DIM_N];
  const cg_expr **out = cg_places(x->e, s, sum);
  for (uint32_t k = 0; k < x->c->n_extras; k++)
    out[x->c->extras[k].expr] = cg_extra(
        x->e, k,
        cg_infix(arena, CG_OP_ADD, scaled(x, cg_last_stride(m, k), "row"),
                 scaled(x, cg_last_stride(n, k), "column")));
  return out;
}

const cg_expr *
cg_formula_value(const cg_contract *x, const cg_expr *sum) {
  assert(x->c->formula < x->e->p->stmts.len);
  const po_stmt *s = &x->e->p->stmts.data[x->c->formula];
  return cg_make_result(x->e, s, places_of(x, s, sum));
}

void
cg_put_formula_function(const cg_contract *x) {
  const po_cdims *m = &x->c->dims[PO_DIM_M], *n = &x->c->dims[PO_DIM_N];
  const char *index = x->e->index;
  bool across = cg_last_stride(n, CG_OF_C) == 1;
  cg_add(x->w, "static inline void\n%s_formula(%s *restrict c", x->name,
         x->type);
  cg_put_extra_parameters(x);
  cg_add(x->w, ", %s rows, %s columns", index, index);
  cg_put_number_parameters(x);
  cg_write(x->w, ") {");
  cg_put_number_uses(x);
  cg_put_elements(x, across);
  cg_write(x->w, "%s *const at = c + (%s * row + %s * column);", x->type,
           cg_number_text(x, cg_last_stride(m, CG_OF_C)),
           cg_number_text(x, cg_last_stride(n, CG_OF_C)));
  bs_arena *arena = &x->e->arena;
  const cg_expr *sum =
      cg_prefix(arena, CG_OP_DEREFERENCE, cg_name(arena, "at"));
  cg_write_store(x->w, "*at", cg_formula_value(x, sum));
  cg_write(x->w, "}");
  cg_close_function(x->e, x->w);
}

void
cg_put_formula_call(const cg_contract *x, cg_panel panel) {
  assert(panel.rows > 0 && panel.columns > 0);
  if (!cg_has_formula(x))
    return;
  bool finished = cg_finishes(x);
  cg_write(x->w, finished ? "if (last && !first)" : "if (last)");
  cg_add(x->w, "%s_formula(c", x->name);
  cg_put_extra_arguments(x);
  cg_add(x->w, ", %lld, ", (long long)panel.rows);
  if (panel.ragged)
    cg_add(x->w, "n < %lld ? n : ", (long long)panel.columns);
  cg_add(x->w, "%lld", (long long)panel.columns);
  cg_put_number_arguments(x);
  cg_write(x->w, ");");
}
