/* SPDX-License-Identifier: MIT */
/* lower_step.c - the rows of a part of a view as index maps.
 *
 * The map leads from the view's indices to the child's.  Back there is one
 * where every index of the view is one of the child's, shifted or turned
 * round, or has only one value; where the order of elements is kept there
 * always is. */
#include "poly/lower/lower_view.h"
#include "poly/loops/open.h"
#include <isl/val.h>

typedef struct maker {
  po_pool *pool;
  isl_ctx *isl;
  const gs_view *view;
  const gs_view_part *part;
  const gs_type *child, *type;
  const gs_numbers *over;
} maker;

static isl_aff *
row_map(const maker *m, const gs_view_row *row) {
  uint32_t n = m->type->rank;
  isl_aff *sum = NULL;
  for (uint32_t k = 0; k < row->n; k++) {
    isl_aff *term = po_index(m->isl, n, row->term[k].of, row->term[k].times,
                             k ? 0 : row->offset);
    sum = sum ? isl_aff_add(sum, term) : term;
  }
  if (!sum)
    sum = po_index(m->isl, n, n, 0, row->offset);
  if (row->divided && row->by != 1)
    sum = isl_aff_floor(
        isl_aff_scale_down_val(sum, isl_val_int_from_si(m->isl, row->by)));
  return sum;
}

static isl_multi_aff *
forward(const maker *m) {
  isl_multi_aff *map =
      isl_multi_aff_zero(po_map_space(m->isl, m->type->rank, m->child->rank));
  for (uint32_t k = 0; k < m->child->rank; k++) {
    const gs_view_row *row = &m->part->row[k];
    if (row->n || row->offset)
      map = isl_multi_aff_set_aff(map, (int)k, row_map(m, row));
  }
  return map;
}

static bool
is_cut(const maker *m, uint32_t d) {
  return m->view->n > 1 && m->view->axis == d;
}

/* Does the index have one value in the part, and which? */
static bool
has_one_value(const maker *m, uint32_t d, int64_t *at) {
  *at = is_cut(m, d) ? m->part->from : 0;
  return is_cut(m, d) ? m->part->to == gs_plus(m->over, m->part->from, 1)
                      : m->type->dim[d] == 1;
}

/* The row tells index d of the view, when it has no other term that counts. */
static bool
tells(const maker *m, const gs_view_row *row, uint32_t d, int64_t *times) {
  bool found = false;
  if (row->divided && row->by != 1)
    return false;
  for (uint32_t k = 0; k < row->n; k++) {
    if (row->term[k].of == d)
      *times = row->term[k].times;
    else if (m->type->dim[row->term[k].of] != 1)
      return false;
    found |= row->term[k].of == d;
  }
  return found && (*times == 1 || *times == -1);
}

/* The row that tells index d alone, and told none before; or the child's
 * rank. */
static uint32_t
teller(const maker *m, uint32_t d, uint32_t *used, int64_t *times) {
  for (uint32_t k = 0; k < m->child->rank; k++)
    if (!(*used >> k & 1) && tells(m, &m->part->row[k], d, times)) {
      *used |= 1u << k;
      return k;
    }
  return m->child->rank;
}

static isl_multi_aff *
backward(const maker *m) {
  uint32_t n = m->child->rank, used = 0;
  isl_multi_aff *map =
      isl_multi_aff_zero(po_map_space(m->isl, n, m->type->rank));
  for (uint32_t d = 0; d < m->type->rank; d++) {
    int64_t at = 0, times = 1;
    uint32_t k = teller(m, d, &used, &times);
    if (k == n && !has_one_value(m, d, &at))
      return isl_multi_aff_free(map);
    int64_t offset =
        k == n ? at
               : gs_combine(m->over, -times, m->part->row[k].offset, 0, 0, 0);
    if (k < n || offset)
      map = isl_multi_aff_set_aff(map, (int)d,
                                  po_index(m->isl, n, k, times, offset));
  }
  return map;
}

static void
keep_order(const maker *m, po_step *step) {
  const gs_type *a = m->type, *b = m->child;
  step->map = po_keep_multi_aff(
      m->pool, po_reshape(m->isl, a->dim, a->rank, b->dim, b->rank));
  step->inverse = po_keep_multi_aff(
      m->pool, po_reshape(m->isl, b->dim, b->rank, a->dim, a->rank));
}

static void
follow_rows(const maker *m, po_step *step) {
  isl_multi_aff *inverse = m->part->repeated ? NULL : backward(m);
  step->map = po_keep_multi_aff(m->pool, forward(m));
  if (inverse)
    step->inverse = po_keep_multi_aff(m->pool, inverse);
}

po_step
po_step_of(po_pool *pool, isl_ctx *isl, const gs_view *view,
           const gs_view_part *part, const gs_type *child,
           const gs_type *type) {
  maker m = {pool, isl, view, part, child, type, po_numbers_in(isl)};
  po_step step = {.identity = gs_view_is_identity(view, child, type)};
  uint32_t d = view->axis;
  if (step.identity)
    return step;
  po_pool_reserve(pool, 8);
  if (view->keeps_order)
    keep_order(&m, &step);
  else
    follow_rows(&m, &step);
  if (view->n > 1 && gs_minus(m.over, part->to, part->from) != type->dim[d])
    step.guard = po_keep_set(
        pool, po_range_in(isl, type->dim, type->rank, d, part->from, part->to));
  return step;
}
