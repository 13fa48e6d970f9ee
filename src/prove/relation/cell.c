/* SPDX-License-Identifier: MIT */
/* cell.c - sums cut into cells of one element or number each.
 *
 * The index box is cut by the domains of the entries.  Where none is, the sum
 * is 0; where numbers are, their sum, if the dtype has it; where one plain
 * element is, that one; anything else is an element of a family. */
#include "prove/relation/relation.h"
#include <assert.h>

void
pv_cells_done(pv_relations *r, pv_cells *cells) {
  bs_vec_done(r->heap, cells);
}

static void
put_region(pv_relations *r, pv_regions *out, isl_set *set, uint64_t active) {
  if (pv_is_true(r, isl_set_is_empty(set)))
    return;
  bs_push(r->heap, out, (pv_region){set, active});
}

/* Every region in two: where the set is, and where it is not. */
static void
cut(pv_relations *r, pv_regions *list, isl_set *by, uint64_t bit) {
  pv_regions out = {0};
  for (uint32_t k = 0; k < list->len && !r->failed; k++) {
    pv_region *x = &list->data[k];
    isl_set *in = PV_PASS_SET(
        r, isl_set_intersect(isl_set_copy(x->set), isl_set_copy(by)));
    isl_set *rest = PV_PASS_SET(
        r, isl_set_subtract(isl_set_copy(x->set), isl_set_copy(by)));
    put_region(r, &out, in, x->active | bit);
    put_region(r, &out, rest, x->active);
  }
  bs_vec_done(r->heap, list);
  *list = out;
  r->failed |= out.len > PV_MAX_CELLS;
}

static isl_map *
within(pv_relations *r, const pv_entry *e, isl_set *set) {
  return PV_PASS(
      r, isl_map_intersect_domain(isl_map_copy(e->map), isl_set_copy(set)));
}

pv_regions
pv_regions_of(pv_relations *r, const gs_type *over, const pv_series *s) {
  pv_regions list = {0};
  r->failed |= s->len > 64;
  isl_set *box = PV_PASS_SET(r, po_box(r->isl, over->dim, over->rank));
  put_region(r, &list, box, 0);
  for (uint32_t k = 0; k < s->len && !r->failed; k++) {
    isl_set *set = PV_PASS_SET(r, isl_map_domain(isl_map_copy(s->data[k].map)));
    cut(r, &list, set, (uint64_t)1 << k);
  }
  return list;
}

uint32_t
pv_region_entries(pv_relations *r, const pv_region *region, const pv_series *s,
                  pv_entry *out) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < s->len && k < 64; k++)
    if (region->active >> k & 1) {
      out[n] = s->data[k];
      out[n++].map = within(r, &s->data[k], region->set);
    }
  return n;
}

static bool
is_plain(pv_relations *r, const pv_entry *e) {
  return e->n == 1 && pv_number_same(e->times, PV_ONE) &&
         pv_is_true(r, isl_map_is_single_valued(e->map));
}

/* The cell of a region in which `n` entries are. */
static bool
cell_of(pv_relations *r, gs_dtype d, const pv_entry *parts, uint32_t n,
        pv_cell *out) {
  assert(d < GS_DTYPE_COUNT);
  out->number = true;
  out->value = PV_ZERO;
  for (uint32_t k = 0; k < n; k++) {
    out->number &= parts[k].n == 0;
    if (out->number &&
        !pv_number_add(d, out->value, parts[k].times, &out->value))
      return false;
  }
  if (out->number)
    return pv_number_is_held(d, out->value);
  if (n == 1 && is_plain(r, &parts[0])) {
    out->atom = parts[0].atoms[0];
    out->map = parts[0].map;
    return true;
  }
  return pv_atom_family(r, PV_ATOM_SUM, d, parts, n, out);
}

pv_cells
pv_cells_of(pv_relations *r, gs_dtype d, const pv_series *s,
            const gs_type *over) {
  assert(d < GS_DTYPE_COUNT);
  pv_cells out = {0};
  pv_entry *parts = bs_alloc(r->heap, (s->len + (size_t)1) * sizeof *parts);
  pv_regions list = pv_regions_of(r, over, s);
  for (uint32_t i = 0; i < list.len && !r->failed; i++) {
    pv_cell cell = {.set = list.data[i].set};
    uint32_t n = pv_region_entries(r, &list.data[i], s, parts);
    if (cell_of(r, d, parts, n, &cell))
      bs_push(r->heap, &out, cell);
    else
      r->failed = true;
  }
  bs_free(r->heap, parts);
  bs_vec_done(r->heap, &list);
  return out;
}

pv_series
pv_series_of_cells(pv_relations *r, gs_dtype d, const pv_cells *cells) {
  assert(d < GS_DTYPE_COUNT);
  pv_series out = {0};
  for (uint32_t k = 0; k < cells->len && !r->failed; k++) {
    const pv_cell *c = &cells->data[k];
    pv_entry e = {.times = PV_ONE, .n = 1, .atoms = {c->atom}, .map = c->map};
    if (c->number) {
      e.times = c->value;
      e.n = 0;
      e.map = PV_PASS(r, isl_map_from_domain(isl_set_copy(c->set)));
    }
    pv_series_put(r, d, &out, &e);
  }
  return out;
}
