/* SPDX-License-Identifier: MIT */
/* tiles.c - loops that kernels of either kind have around them: over tiles, by
 * threads where that pays, and over the elements of one. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "codegen/contract/contract.h"
#include <assert.h>

static bool
runs_parallel(const cg_contract *x) {
  gs_number outer = po_cdims_product(x->over, &x->c->dims[PO_DIM_O], 0);
  double products =
      (double)gs_most_of(x->sizes, x->m) * (double)gs_most_of(x->sizes, x->n) *
      (double)gs_most_of(x->sizes, x->k) * (double)gs_most_of(x->sizes, outer);
  return x->e->options->openmp && gs_cores(x->e->p->target) > 1 &&
         products >= po_least_shared(x->c);
}

/* Extents that are not known decide when the function is called. */
static const char *
when_it_pays(const cg_contract *x) {
  const char *product = "1.0";
  for (uint32_t role = 0; role < 4; role++)
    for (uint32_t d = 0; d < x->c->dims[role].n; d++)
      product =
          bs_arena_printf(&x->e->arena, "%s * %s", product,
                          cg_number_text(x, x->c->dims[role].d[d].extent));
  return bs_arena_printf(&x->e->arena, "%s >= %.1f", product,
                         (double)GS_THREAD_PRODUCTS);
}

void
cg_put_team(const cg_contract *x, uint32_t loops) {
  assert(loops >= 1);
  if (!runs_parallel(x))
    return;
  cg_write_team(x->w, loops, x->n_numbers ? when_it_pays(x) : NULL);
}

void
cg_put_side_team(const cg_contract *x, bool of_x, uint32_t loops) {
  if (cg_is_told_sizes(x, of_x))
    cg_put_team(x, loops);
  else if (runs_parallel(x))
    cg_write_team(x->w, loops, NULL);
}

void
cg_put_tiles(const cg_contract *x, const char *row,
             void (*put_tile)(const cg_contract *)) {
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  const char *index = x->e->index;
  cg_put_team(x, o->n + 2);
  for (uint32_t d = 0; d < o->n; d++)
    cg_write(x->w, "for (%s o%u = 0; o%u < %s; o%u++)", index, d, d,
             cg_number_text(x, o->d[d].extent), d);
  cg_write(x->w, "for (%s n_lo = 0; n_lo < %s; n_lo += %s)", index,
           cg_number_text(x, x->n), cg_block_text(x, "nc"));
  cg_write(x->w, "for (%s %s = 0; %s < %s; %s += %s) {", index, row, row,
           cg_number_text(x, x->m), row, cg_block_text(x, "mc"));
  put_tile(x);
  cg_write(x->w, "}");
}

void
cg_put_elements(const cg_contract *x, bool across) {
  const char *index = x->e->index;
  const char *outer = across ? "row" : "column";
  const char *inner = across ? "column" : "row";
  cg_write(x->w, "for (%s %s = 0; %s < %ss; %s++)", index, outer, outer, outer,
           outer);
  cg_write(x->w, "for (%s %s = 0; %s < %ss; %s++) {", index, inner, inner,
           inner, inner);
}
