/* SPDX-License-Identifier: MIT */
/* datalayout_cost.c - what a definition pays for the layout of an array that it
 * reads.
 *
 * Reorder cost: where the first two dimensions are read the other way round
 * than the two innermost loops run, every instance pays a price that rises in
 * steps with the size of the plane.  Use distance: how far the next iteration
 * of the innermost loop reads from this one.
 *
 * Whether an index uses a loop is asked of the relation, not of its text: the
 * value may not be the same for two values of the loop. */
#include "glenside/target/tuned.h"
#include "poly/loops/affine.h"
#include "poly/datalayout/datalayout_price.h"
#include <assert.h>

const char *const po_layout_cost_names[] = {"doc", "autokernel", "lines"};

static const struct {
  int64_t elements; /* a plane of up to so many */
  double price;     /* an instance */
} steps[] = {{GS_LAYOUT_PLANE_NEAR, 0},
             {GS_LAYOUT_PLANE_SECOND, GS_LAYOUT_SECOND},
             {GS_LAYOUT_PLANE_THIRD, GS_LAYOUT_THIRD},
             {INT64_MAX, GS_LAYOUT_BEYOND}};

/* What one read pays: loops innermost first, dimensions from the one whose
 * elements are neighbours. */
typedef struct use {
  po_layout_cost cost;
  const po_layout_array *array; /* the original */
  const int64_t *dim;           /* of what is read, row-major */
  uint32_t rank, n_loops;
  const int64_t *extent; /* of the loops, outermost first */
  isl_map *index;
} use;

static bool
uses(const use *u, uint32_t d, uint32_t loop) {
  if (d >= u->rank || loop >= u->n_loops)
    return false;
  uint32_t at = u->rank - 1 - d;
  isl_map *one = isl_map_copy(u->index);
  one = isl_map_project_out(one, isl_dim_out, at + 1, d);
  one = isl_map_project_out(one, isl_dim_out, 0, at);
  one = isl_map_project_out(one, isl_dim_in, u->n_loops - 1 - loop, 1);
  bool fixed = isl_map_is_single_valued(one) == isl_bool_true;
  isl_map_free(one);
  return !fixed;
}

static double
extent_at(const int64_t *dim, uint32_t rank, uint32_t d) {
  return d < rank ? (double)dim[rank - 1 - d] : 1;
}

static double
plane(const int64_t *dim, uint32_t rank) {
  return extent_at(dim, rank, 0) * extent_at(dim, rank, 1);
}

static double
price_of(double elements) {
  uint32_t k = 0;
  while (elements > (double)steps[k].elements &&
         k + 1 < sizeof steps / sizeof *steps)
    k++;
  return steps[k].price;
}

static double
reorder_cost(const use *u, const int64_t *dim, uint32_t rank) {
  double price = price_of(plane(dim, rank));
  if (price == 0 || !uses(u, 0, 1) || !uses(u, 1, 0))
    return 0;
  for (uint32_t k = 0; k < u->n_loops; k++)
    price *= (double)u->extent[k];
  return price;
}

static double
use_distance(const use *u, const int64_t *dim, uint32_t rank) {
  uint32_t d = 0;
  while (d < u->rank && !uses(u, d, 0))
    d++;
  if (d == 0 || d == u->rank)
    return 0;
  double distance = GS_LAYOUT_DISTANCE;
  for (uint32_t k = 0; k < d; k++)
    distance *= extent_at(dim, rank, k);
  return distance;
}

static double
cost_of(const use *u) {
  const po_layout_array *a = u->array;
  bool original = u->cost == PO_COST_AUTOKERNEL;
  const int64_t *dim = original ? a->dim : u->dim;
  uint32_t rank = original ? a->rank : u->rank;
  double cost = reorder_cost(u, dim, rank);
  if (original || price_of(plane(a->dim, a->rank)) > 0)
    cost += use_distance(u, dim, rank);
  return cost;
}

__isl_give isl_map *
po_layout_read_through(const po_layout_read *r, const po_layout *layout) {
  isl_map *index = isl_map_copy(r->index);
  if (!layout->n_steps)
    return index;
  isl_multi_aff *map = isl_multi_aff_copy(layout->map);
  return isl_map_apply_range(index, isl_map_from_multi_aff(map));
}

static double
price_read(po_layout_model *m, po_layout_cost cost, const po_definition *d,
           const po_layout_read *r, const po_layout *layout) {
  uint32_t mark = po_pool_mark(&m->pool);
  po_pool_reserve(&m->pool, 1);
  isl_map *index = po_layout_read_through(r, layout);
  use u = {cost,
           &m->arrays.data[r->array],
           layout->dim,
           layout->rank,
           d->n_loops,
           d->extent,
           po_keep_map(&m->pool, index)};
  double price = u.index ? cost_of(&u) : 0;
  po_pool_release(&m->pool, mark);
  return price;
}

/* Its loops are the dimensions of the copy. */
static double
price_copy(po_layout_model *m, po_layout_cost cost, const po_layout_array *a,
           const po_layout *layout) {
  uint32_t mark = po_pool_mark(&m->pool);
  po_pool_reserve(&m->pool, 1);
  isl_map *index = isl_map_from_multi_aff(isl_multi_aff_copy(layout->back));
  index = isl_map_intersect_range(index, po_box(m->isl, a->dim, a->rank));
  use u = {cost,
           a,
           a->dim,
           a->rank,
           layout->rank,
           layout->dim,
           po_keep_map(&m->pool, index)};
  double price = u.index ? cost_of(&u) : 0;
  po_pool_release(&m->pool, mark);
  return price;
}

/* Everything that it reads, and what it writes of the program's own. */
static double
price_definition(po_layout_model *m, po_layout_cost cost,
                 const po_definition *d, const po_layout *layouts) {
  double total = 0;
  for (uint32_t k = 0; !d->packs && k < d->reads.len; k++) {
    const po_layout_read *r = &d->reads.data[k];
    if (!r->written || m->arrays.data[r->array].own)
      total += price_read(m, cost, d, r, &layouts[r->array]);
  }
  return total;
}

double
po_layout_price(po_layout_model *m, po_layout_cost cost,
                const po_layout *layouts) {
  assert(cost <= PO_COST_LINES);
  double total = 0;
  if (cost == PO_COST_LINES)
    return po_lines_of_program(m, layouts);
  for (uint32_t k = 0; k < m->definitions.len; k++)
    total += price_definition(m, cost, &m->definitions.data[k], layouts);
  for (uint32_t k = 0; k < m->arrays.len; k++)
    if (layouts[k].n_steps && !m->arrays.data[k].own)
      total += price_copy(m, cost, &m->arrays.data[k], &layouts[k]);
  return total;
}
