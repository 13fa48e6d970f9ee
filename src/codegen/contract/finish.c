/* SPDX-License-Identifier: MIT */
/* finish.c - the formula, of sums that are still in registers.
 *
 * Sums that go to memory first and come back for the formula cost as much as a
 * short product does.  What calls a function, and what else reads elements that
 * are neither one for all columns nor side by side, is left to formula.c. */
#include "codegen/build/build.h"
#include "codegen/contract/contract.h"
#include <assert.h>

/* With vectors in the place of elements. */
static const cg_expr *
formula_of(const cg_contract *x) {
  bs_arena *arena = &x->e->arena;
  const po_stmt *s = &x->e->p->stmts.data[x->c->formula];
  const cg_expr **places = cg_places(x->e, s, cg_name(arena, "s"));
  for (uint32_t k = 0; k < x->c->n_extras; k++)
    places[x->c->extras[k].expr] =
        cg_name(arena, bs_arena_printf(arena, "e_%u", k));
  return cg_make_formula(x->e, s, places);
}

/* From lane to lane of a vector of sums. */
static gs_number
lane_stride(const cg_contract *x, uint32_t extra, bool down) {
  return cg_last_stride(&x->c->dims[down ? PO_DIM_M : PO_DIM_N], extra);
}

static bool
can_load_extras(const cg_contract *x) {
  for (uint32_t k = 0; k < x->c->n_extras; k++) {
    gs_number step = lane_stride(x, k, cg_stores_turned(x));
    const po_array *a = &x->e->p->arrays.data[x->c->extras[k].array];
    if (a->dtype != x->c->dtype || (step != 0 && step != 1))
      return false;
  }
  return true;
}

bool
cg_finishes_in_registers(const cg_contract *x) {
  return cg_has_formula(x) && !x->e->p->strict_fp && cg_fits_register(x) &&
         can_load_extras(x) &&
         cg_is_of_vectors(x->e, x->c->dtype, formula_of(x));
}

static cg_vectors
vectors_of(const cg_contract *x) {
  return (cg_vectors){.e = x->e,
                      .w = x->w,
                      .name = x->name,
                      .dtype = x->c->dtype,
                      .lanes = x->c->lanes};
}

void
cg_put_not_finished(const cg_contract *x) {
  cg_vectors v = vectors_of(x);
  cg_put_not_called(&v, formula_of(x));
}

/* What else the formula reads beside the sums `at`; one for all lanes is that
 * less zero, which compilers know to be the same. */
static void
put_extra(const cg_contract *x, uint32_t k, const cg_sums *at) {
  assert(k < x->c->n_extras);
  gs_number along = lane_stride(x, k, at->down);
  const char *name = bs_arena_printf(&x->e->arena, "e_%u", k);
  const char *place = bs_arena_printf(
      &x->e->arena, "e%u + %s", k,
      cg_place_text(x, at->row, cg_last_stride(&x->c->dims[PO_DIM_M], k),
                    at->column, cg_last_stride(&x->c->dims[PO_DIM_N], k)));
  if (!along) {
    cg_write(x->w, "const %s_v %s = *(%s) - (%s_v){0};", x->name, name, place,
             x->name);
  } else if (at->ragged) {
    cg_put_get(x, name, place);
  } else if (at->width < x->c->lanes) {
    cg_write(x->w, "%s_v %s = {0};", x->name, name);
    cg_put_part(x, name, place, CG_SUMS_LOAD, at->width);
  } else {
    cg_write(x->w, "const %s_v %s = *(const %s_v *)(%s);", x->name, name,
             x->name, place);
  }
}

void
cg_put_finish(const cg_contract *x, const char *sums, const cg_sums *at) {
  assert(cg_has_formula(x));
  cg_vectors v = vectors_of(x);
  cg_write(x->w, "{");
  cg_write(x->w, "const %s_v s = %s;", x->name, sums);
  for (uint32_t k = 0; k < x->c->n_extras; k++)
    put_extra(x, k, at);
  cg_write(x->w, "%s = %s;", sums, cg_put_of_vectors(&v, formula_of(x)));
  cg_write(x->w, "}");
}

/* Lines along which it has an element for each sum: the products take long
 * enough for them to come from a far cache. */
static void
put_extra_prefetches(const cg_contract *x, uint32_t k, cg_panel panel) {
  assert(k < x->c->n_extras && panel.rows > 0);
  gs_number row = cg_last_stride(&x->c->dims[PO_DIM_M], k);
  gs_number column = cg_last_stride(&x->c->dims[PO_DIM_N], k);
  int64_t line = x->c->cache_line / gs_dtype_table[x->c->dtype].bytes;
  bool down = cg_stores_turned(x);
  if (!row || !column || lane_stride(x, k, down) != 1)
    return;
  int64_t down_by = down ? line : 1, across_by = down ? 1 : line;
  for (int64_t r = 0; r < panel.rows; r += down_by)
    for (int64_t at = 0; at < panel.columns; at += across_by)
      cg_write(x->w, "GLEN_AHEAD(e%u + %s, 0);", k,
               cg_place_text(x, r, row, at, column));
}

void
cg_put_extra_prefetches(const cg_contract *x, cg_panel panel) {
  for (uint32_t k = 0; k < x->c->n_extras; k++)
    put_extra_prefetches(x, k, panel);
}
