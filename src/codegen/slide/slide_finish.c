/* SPDX-License-Identifier: MIT */
/* slide_finish.c - a costly formula, of the results of all tiles at once.
 *
 * An exponential takes dozens of dependent instructions and as many constants.
 * Vector by vector a tile would wait for each of them, or call a function for
 * it; a loop over the results, which the tiles have just stored, overlaps them
 * and loads the constants once.  What is cheap is done in registers
 * (slide_lane.c).
 */
#include "codegen/build/build.h"
#include "codegen/contract/contract.h"
#include "codegen/print/print.h"
#include "codegen/slide/slide.h"
#include <assert.h>

bool
cg_is_finished_later(const cg_slide *x) {
  return x->c->formula != UINT32_MAX &&
         po_is_costly_formula(&x->e->p->stmts.data[x->c->formula]);
}

uint32_t
cg_extras_of_tile(const cg_slide *x) {
  return cg_is_finished_later(x) ? 0 : x->c->n_extras;
}

const char *
cg_extra_type(const cg_slide *x, uint32_t k) {
  assert(k < x->c->n_extras);
  uint32_t array = x->c->extras[k].array;
  return gs_dtype_table[x->e->p->arrays.data[array].dtype].c_type;
}

/* ---- the loops ---- */

static int64_t
step_of(const po_walk *at, uint32_t loop) {
  assert(loop == PO_NO_LOOP || loop < PO_MAX_DIMS);
  return loop == PO_NO_LOOP ? 0 : at->factor[loop];
}

static int64_t
rows_of(const cg_slide *x) {
  return x->c->down == PO_NO_LOOP ? 1 : x->c->extent[x->c->down];
}

/* Rows follow each other, and what else is read is the same for all. */
static bool
is_one_run(const cg_slide *x) {
  const po_slide *c = x->c;
  if (rows_of(x) > 1 && step_of(&c->c, c->down) != c->extent[c->along])
    return false;
  for (uint32_t k = 0; k < c->n_extras; k++)
    if (step_of(&c->extra[k], c->down) != 0 || c->extra[k].factor[c->along])
      return false;
  return true;
}

static const cg_expr *
element_of(const cg_slide *x, uint32_t k) {
  assert(k < x->c->n_extras);
  bs_arena *arena = &x->e->arena;
  const po_walk *at = &x->c->extra[k];
  return cg_extra(x->e, k,
                  cg_infix(arena, CG_OP_ADD,
                           cg_scaled(arena, step_of(at, x->c->down), "row"),
                           cg_scaled(arena, at->factor[x->c->along], "t")));
}

static void
put_value(const cg_slide *x) {
  bs_arena *arena = &x->e->arena;
  const po_stmt *s = &x->e->p->stmts.data[x->c->formula];
  const cg_expr **places = cg_places(x->e, s, cg_quote(arena, "at[t]"));
  for (uint32_t k = 0; k < x->c->n_extras; k++)
    places[x->c->extras[k].expr] = element_of(x, k);
  cg_write_store(x->w, "at[t]", cg_make_formula(x->e, s, places));
}

void
cg_put_finish_function(const cg_slide *x) {
  const po_slide *c = x->c;
  if (!cg_is_finished_later(x))
    return;
  bool one = is_one_run(x);
  long long rows = one ? 1 : rows_of(x);
  long long run = c->extent[c->along] * (one ? rows_of(x) : 1);
  cg_add(x->w, "static void\n%s_finish(%s *restrict c", x->name, x->type);
  for (uint32_t k = 0; k < c->n_extras; k++)
    cg_add(x->w, ", const %s *restrict e%u", cg_extra_type(x, k), k);
  cg_write(x->w, ") {");
  cg_write(x->w, "for (%s row = 0; row < %lld; row++) {", x->e->index, rows);
  cg_write(x->w, "%s *const at = c + %lld * row;", x->type,
           (long long)step_of(&c->c, c->down));
  x->w->simd = true;
  cg_write(x->w, "for (%s t = 0; t < %lld; t++)", x->e->index, run);
  put_value(x);
  cg_write(x->w, "}");
  cg_close_function(x->e, x->w);
}

void
cg_put_finish_call(const cg_slide *x) {
  if (!cg_is_finished_later(x))
    return;
  cg_add(x->w, "%s_finish(c", x->name);
  for (uint32_t k = 0; k < x->c->n_extras; k++)
    cg_add(x->w, ", e%u", k);
  cg_write(x->w, ");");
}
