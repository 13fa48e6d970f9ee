/* SPDX-License-Identifier: MIT */
/* extreme.c - maxima and minima over relations.
 *
 * What is looked for is the set of elements that an extremum is taken of; how
 * often each occurs does not matter.  Extrema of extrema are one; of numbers
 * the best stays. */
#include "prove/relation/relation.h"
#include <assert.h>
#include <string.h>

typedef struct extreme {
  pv_relations *r;
  gs_dtype dtype;
  bool max;
  const gs_type *over;
  uint32_t outer;
  pv_series parts; /* sets: the maps may lead to an index many times */
} extreme;

/* Adds to the set of elements; `e` leads from the whole index. */
static void
put_part(extreme *x, pv_entry e) {
  pv_relations *r = x->r;
  e.map =
      PV_PASS(r, isl_map_project_out(isl_map_copy(e.map), isl_dim_in, x->outer,
                                     (unsigned)x->over->rank - x->outer));
  for (uint32_t k = 0; k < x->parts.len; k++) {
    pv_entry *other = &x->parts.data[k];
    if (other->n != e.n || !pv_number_same(other->times, e.times) ||
        (e.n && memcmp(other->atoms, e.atoms, e.n * sizeof *e.atoms)))
      continue;
    other->map =
        PV_PASS(r, isl_map_coalesce(isl_map_union(isl_map_copy(other->map),
                                                  isl_map_copy(e.map))));
    return;
  }
  bs_push(r->heap, &x->parts, e);
}

/* The elements of an extremum of the same kind instead of it. */
static void
put_family(extreme *x, const pv_cell *c) {
  const pv_atom_row row = x->r->atoms.data[c->atom];
  for (uint32_t k = 0; k < row.n; k++) {
    pv_entry e = row.parts[k];
    e.map = PV_PASS(
        x->r, isl_map_apply_range(isl_map_copy(c->map), isl_map_copy(e.map)));
    put_part(x, e);
  }
}

static void
put_cell(extreme *x, const pv_cell *c) {
  pv_relations *r = x->r;
  pv_entry e = {.times = PV_ONE, .n = 1, .atoms = {c->atom}, .map = c->map};
  if (c->number) {
    e.times = c->value;
    e.n = 0;
    e.map = PV_PASS(r, isl_map_from_domain(isl_set_copy(c->set)));
  } else {
    pv_atom_row *row = &r->atoms.data[c->atom];
    if (row->kind == (x->max ? PV_ATOM_MAX : PV_ATOM_MIN) &&
        row->dtype == x->dtype) {
      put_family(x, c);
      return;
    }
    if (row->kind == PV_ATOM_LOWEST)
      r->failed |= !x->max;
  }
  put_part(x, e);
}

/* --- what a region has ---------------------------------------------------- */

static bool
is_neutral(const extreme *x, const pv_entry *e) {
  if (e->n)
    return !e->atoms[0];
  return gs_dtype_table[x->dtype].integer &&
         pv_number_same(e->times, x->max ? pv_number_least(x->dtype)
                                         : pv_number_greatest(x->dtype));
}

/* Only the best of the numbers, and nothing neutral beside others. */
static uint32_t
weigh(const extreme *x, pv_entry *parts, uint32_t n) {
  uint32_t kept = 0, best = UINT32_MAX;
  bool others = false;
  for (uint32_t k = 0; k < n; k++)
    others |= !is_neutral(x, &parts[k]);
  for (uint32_t k = 0; k < n; k++) {
    if ((others || kept) && is_neutral(x, &parts[k]))
      continue;
    if (parts[k].n || best == UINT32_MAX) {
      best = parts[k].n ? best : kept;
      parts[kept++] = parts[k];
      continue;
    }
    int c = pv_number_compare(parts[k].times, parts[best].times);
    if (x->max ? c > 0 : c < 0)
      parts[best].times = parts[k].times;
  }
  return kept;
}

static bool
cell_of(const extreme *x, pv_entry *parts, uint32_t n, pv_cell *out) {
  pv_relations *r = x->r;
  n = weigh(x, parts, n);
  if (!n)
    return false;
  out->number = n == 1 && !parts[0].n;
  out->value = parts[0].times;
  out->atom = parts[0].atoms[0];
  out->map = parts[0].map;
  if (out->number)
    return true;
  if (n == 1 && parts[0].n == 1 &&
      pv_is_true(r, isl_map_is_single_valued(parts[0].map)))
    return true;
  return pv_atom_family(r, x->max ? PV_ATOM_MAX : PV_ATOM_MIN, x->dtype, parts,
                        n, out);
}

static pv_series
resolve(extreme *x) {
  pv_relations *r = x->r;
  gs_type over = *x->over;
  pv_cells cells = {0};
  over.rank = (uint8_t)x->outer;
  pv_entry *parts =
      bs_alloc(r->heap, (x->parts.len + (size_t)1) * sizeof *parts);
  pv_regions list = pv_regions_of(r, &over, &x->parts);
  for (uint32_t k = 0; k < list.len && !r->failed; k++) {
    pv_cell cell = {.set = list.data[k].set};
    uint32_t n = pv_region_entries(r, &list.data[k], &x->parts, parts);
    if (cell_of(x, parts, n, &cell))
      bs_push(r->heap, &cells, cell);
    else
      r->failed = true;
  }
  pv_series out = pv_series_of_cells(r, x->dtype, &cells);
  bs_free(r->heap, parts);
  bs_vec_done(r->heap, &list);
  pv_cells_done(r, &cells);
  return out;
}

pv_series
pv_series_extremum(pv_relations *r, gs_dtype d, bool max,
                   const pv_series *series, uint32_t n, const gs_type *over,
                   uint32_t outer) {
  assert(d < GS_DTYPE_COUNT && (series || !n));
  extreme x = {.r = r, .dtype = d, .max = max, .over = over, .outer = outer};
  for (uint32_t k = 0; k < n && !r->failed; k++) {
    pv_cells cells = pv_cells_of(r, d, &series[k], over);
    for (uint32_t i = 0; i < cells.len && !r->failed; i++)
      put_cell(&x, &cells.data[i]);
    pv_cells_done(r, &cells);
  }
  pv_series out = {0};
  if (!r->failed)
    out = resolve(&x);
  pv_series_done(r, &x.parts);
  return out;
}
